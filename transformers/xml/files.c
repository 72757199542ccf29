/* Files of the generation under the folder rule: see files.h. Nothing here writes, and nothing
 * follows a name out of the folder. */
#include "transformers/xml/files.h"

#include "core/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libxml/uri.h>

struct xml_file {
	char *data; /* NULL: forgotten */
	size_t size;
	bool kept;
};

void
xml_files_init(struct xml_files *fs, int dirfd)
{
	memset(fs, 0, sizeof *fs);
	fs->dirfd = dirfd;
	arena_init(&fs->arena);
	hash_init(&fs->files, false);
	hash_init(&fs->roots, false);
}

static void
file_forget(struct xml_files *fs, struct xml_file *f)
{
	fs->bytes -= f->data ? f->size : 0;
	free(f->data);
	f->data = NULL;
}

void
xml_files_fini(struct xml_files *fs)
{
	for (size_t i = 0; i < fs->files.cap; i++)
		if (fs->files.slots[i].value)
			file_forget(fs, fs->files.slots[i].value);
	hash_fini(&fs->files);
	hash_fini(&fs->roots);
	arena_fini(&fs->arena);
}

const char *
xml_files_folder(struct xml_files *fs, const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? arena_strndup(&fs->arena, name, (size_t)(slash - name) + 1) : "/";
}

const char *
xml_files_shown(const char *name)
{
	size_t digits = strncmp(name, "/f", 2) == 0 ? strspn(name + 2, "0123456789") : 0;

	return digits > 0 && name[digits + 2] == '/' ? name + digits + 3 : name;
}

const char *
xml_files_set_root(struct xml_files *fs, const char *root)
{
	const char *before = fs->root;

	fs->root = root;
	return before;
}

void
xml_files_keep(struct xml_files *fs, const char *folder)
{
	(void)hash_put(&fs->roots, str_of(folder), fs); /* a set: the value means nothing */
}

/* Is it an absolute name without empty, "." and ".." parts? */
static bool
name_is_plain(const char *name)
{
	struct str rest = str_of(name), part;

	if (name[0] != '/' || rest.n > 1024)
		return false;
	rest.p++;
	rest.n--;
	while (str_split(&rest, '/', &part))
		if (part.n == 0 || str_eq(part, STR_LIT(".")) || str_eq(part, STR_LIT("..")))
			return false;
	return true;
}

/* The name that a URL means; the caller frees it. NULL: none of ours. */
static char *
url_to_name(const char *url)
{
	char *name;

	if (strncmp(url, "file://", 7) == 0)
		url += 7;
	if (url[0] != '/')
		return NULL;
	name = xmlURIUnescapeString(url, 0, NULL);
	if (name && !name_is_plain(name)) {
		xmlFree(name);
		name = NULL;
	}
	return name;
}

static enum hinny_rc
read_whole(
    struct xml_files *fs, int fd, const char *name, struct xml_file *f, struct hinny_error *err)
{
	struct stat st;
	size_t n = 0;

	if (fstat(fd, &st) == -1)
		return hinny_error_errno(err, errno, "cannot read \"%s\"", xml_files_shown(name));
	if (!S_ISREG(st.st_mode))
		return hinny_error_set(err, HINNY_EREFUSED,
		    "cannot read \"%s\": not a regular file", xml_files_shown(name));
	if ((uint64_t)st.st_size > XML_FILES_MAX - fs->bytes)
		return hinny_error_set(err, HINNY_ELIMIT,
		    "cannot read \"%s\": stylesheets, schemas and their documents take more than "
		    "%d MiB",
		    xml_files_shown(name), XML_FILES_MAX >> 20);
	f->data = mem_alloc((size_t)st.st_size + 1);
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, f->data + n, (size_t)st.st_size - n);

		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	f->data[n] = '\0';
	f->size = n;
	fs->bytes += n;
	return HINNY_OK;
}

static struct xml_file *
file_load(struct xml_files *fs, const char *name, struct hinny_error *err)
{
	struct xml_file *f = hash_find(&fs->files, str_of(name));
	int fd;

	if (f && f->data)
		return f;
	fd = fs->sealed ? -1
			: openat(fs->dirfd, name + 1, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1) {
		(void)hinny_error_set(err, HINNY_ENOENT, "cannot read \"%s\": %s",
		    xml_files_shown(name),
		    fs->sealed ? "no such file in the generation" : strerror(errno));
		return NULL;
	}
	if (!f) {
		f = ARENA_NEW(&fs->arena, struct xml_file);
		(void)hash_put(
		    &fs->files, str_of(arena_strdup(&fs->arena, name)), f); /* was not there */
	}
	if (read_whole(fs, fd, name, f, err) != HINNY_OK)
		f = NULL;
	(void)close(fd); /* was only read */
	return f;
}

enum hinny_rc
xml_files_read(struct xml_files *fs, const char *url, struct str *out, struct hinny_error *err)
{
	struct hinny_error own;
	struct xml_file *f;
	char *name = url_to_name(url);

	if (!err)
		err = &own;
	if (!name || !fs->root || strncmp(name, fs->root, strlen(fs->root)) != 0) {
		xmlFree(name);
		return hinny_error_set(err, HINNY_EREFUSED,
		    "\"%s\" may not be opened: it lies outside the folder of its stylesheet or "
		    "schema",
		    xml_files_shown(url));
	}
	f = file_load(fs, name, err);
	xmlFree(name);
	if (!f)
		return err->rc;
	*out = (struct str){ f->data, f->size };
	if (!fs->sealed) {
		fs->scanned_document |= str_find(*out, STR_LIT("document")) != SIZE_MAX;
		fs->scanned_element_available |=
		    str_find(*out, STR_LIT("element-available")) != SIZE_MAX;
	}
	return HINNY_OK;
}

/* Loads all regular files of a folder ("/", "/a/") and below. */
static enum hinny_rc
keep_folder(struct xml_files *fs, const char *folder, unsigned depth, struct hinny_error *err)
{
	enum hinny_rc rc = HINNY_OK;
	int fd =
	    openat(fs->dirfd, folder[1] ? folder + 1 : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd == -1 ? NULL : fdopendir(fd);

	if (!dir) {
		rc = hinny_error_errno(
		    err, errno, "cannot read folder \"%s\"", xml_files_shown(folder));
		if (fd != -1)
			(void)close(fd); /* was only read */
		return rc;
	}
	for (struct dirent *e; rc == HINNY_OK && (e = readdir(dir)) != NULL;) {
		char *name;

		if (e->d_name[0] == '.')
			continue;
		name = arena_printf(&fs->arena, "%s%s", folder, e->d_name);
		if (e->d_type == DT_REG) {
			struct xml_file *f = file_load(fs, name, err);

			rc = f ? HINNY_OK : err->rc;
			if (f)
				f->kept = true;
		} else if (e->d_type == DT_DIR && depth < XML_FILES_DEPTH) {
			rc = keep_folder(fs, arena_printf(&fs->arena, "%s/", name), depth + 1, err);
		}
	}
	(void)closedir(dir); /* was only read */
	return rc;
}

enum hinny_rc
xml_files_seal(struct xml_files *fs, struct hinny_error *err)
{
	struct hinny_error own;

	if (!err)
		err = &own;
	for (size_t i = 0; i < fs->roots.cap; i++) {
		enum hinny_rc rc = fs->roots.slots[i].value
		    ? keep_folder(fs, fs->roots.slots[i].key.p, 0, err)
		    : HINNY_OK;

		if (rc != HINNY_OK)
			return rc;
	}
	for (size_t i = 0; i < fs->files.cap; i++) {
		struct xml_file *f = fs->files.slots[i].value;

		if (f && !f->kept)
			file_forget(fs, f);
	}
	fs->sealed = true;
	return HINNY_OK;
}
