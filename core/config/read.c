/* Files and paths of the configuration. */
#include "core/config/read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static enum hinny_rc
read_all(
    struct arena *a, int fd, const char *path, size_t max, struct str *out, struct hinny_error *err)
{
	struct stat st;
	size_t n = 0;

	if (fstat(fd, &st) == -1)
		return hinny_error_errno(err, errno, "cannot read file \"%s\"", path);
	if (!S_ISREG(st.st_mode))
		return hinny_error_set(
		    err, HINNY_EIO, "cannot read file \"%s\": it is no regular file", path);
	if ((uint64_t)st.st_size > max)
		return hinny_error_set(
		    err, HINNY_ELIMIT, "file \"%s\" is larger than %zu bytes", path, max);
	size_t size = (size_t)st.st_size;
	char *p = arena_alloc(a, size + 1);
	while (n < size) {
		ssize_t got = read(fd, p + n, size - n);
		if (got == -1 && errno == EINTR)
			continue;
		if (got == -1)
			return hinny_error_errno(err, errno, "cannot read file \"%s\"", path);
		if (got == 0)
			break; /* it has become shorter meanwhile */
		n += (size_t)got;
	}
	p[n] = '\0';
	*out = (struct str){ p, n };
	return HINNY_OK;
}

enum hinny_rc
read_file_shown(struct arena *a, const char *path, const char *shown, size_t max, struct str *out,
    struct hinny_error *err)
{
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	while (fd == -1 && errno == EINTR);
	if (fd == -1)
		return hinny_error_errno(err, errno, "cannot open file \"%s\"", shown);
	enum hinny_rc rc = read_all(a, fd, shown, max, out, err);
	(void)close(fd); /* read only: nothing can be lost */
	return rc;
}

enum hinny_rc
read_file(struct arena *a, const char *path, size_t max, struct str *out, struct hinny_error *err)
{
	return read_file_shown(a, path, path, max, out, err);
}

const char *
read_path(struct arena *a, const char *folder, const char *name)
{
	if (name[0] == '/' || folder == NULL || strcmp(folder, ".") == 0)
		return arena_strdup(a, name);
	return arena_printf(a, "%s/%s", folder, name);
}

const char *
read_normal_path(struct arena *a, const char *path)
{
	bool absolute = path[0] == '/';
	struct str rest = str_of(path), part;
	char *out = arena_alloc(a, rest.n + 2);
	size_t n = 0, fixed = 0; /* what ".." cannot take away */

	if (absolute)
		out[n++] = '/';
	fixed = n;
	while (str_split(&rest, '/', &part)) {
		bool up = str_eq(part, STR_LIT(".."));
		if (part.n == 0 || str_eq(part, STR_LIT(".")))
			continue;
		if (up && n > fixed) {
			while (n > fixed && out[n - 1] != '/')
				n--;
			if (n > fixed)
				n--; /* the slash before it */
			continue;
		}
		if (up && absolute)
			continue;
		if (n > 0 && out[n - 1] != '/')
			out[n++] = '/';
		memcpy(out + n, part.p, part.n);
		n += part.n;
		if (up)
			fixed = n;
	}
	if (n == 0)
		out[n++] = '.';
	out[n] = '\0';
	return out;
}

const char *
read_folder(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return ".";
	return slash == path ? "/" : arena_strndup(a, path, (size_t)(slash - path));
}
