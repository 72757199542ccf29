/* Listing of folders, with all the filters that need no exchange. */
#include "transports/file/file_path.h"
#include "transports/file/file_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
matches(const struct regex *re, struct str text)
{
	struct hinny_error err;
	bool yes = false;

	/* A pattern that takes too long for a name does not match it. */
	return regex_matches(re, text, &yes, &err) == HINNY_OK && yes;
}

static bool
is_wanted(const struct file_conf *conf, struct str rel, unsigned depth)
{
	struct str name = path_last(rel), ext = path_extension(rel);

	if (name.p[0] == '.' && !conf->hidden_files)
		return false;
	if (str_ends(name, ".camelLock") || str_ends(name, ".camelExclusiveReadLock"))
		return false;
	if ((int64_t)depth < conf->min_depth || (int64_t)depth > conf->max_depth)
		return false;
	if (conf->ant_exclude != NULL &&
	    path_ant_matches(str_of(conf->ant_exclude), rel, conf->ant_case))
		return false;
	if (conf->ant_include != NULL &&
	    !path_ant_matches(str_of(conf->ant_include), rel, conf->ant_case))
		return false;
	if (conf->exclude_re != NULL && matches(conf->exclude_re, name))
		return false;
	if (conf->include_re != NULL && !matches(conf->include_re, name))
		return false;
	if (conf->exclude_ext != NULL && path_word_in(str_of(conf->exclude_ext), ext))
		return false;
	return conf->include_ext == NULL || path_word_in(str_of(conf->include_ext), ext);
}

static void
add_found(struct file_scan *s, const char *rel, const struct stat *st)
{
	if (s->n == FILE_SCAN_MAX) {
		s->cut = true;
		return;
	}
	if (s->n == s->cap) {
		size_t cap = s->cap > 0 ? s->cap * 2 : 64;
		struct file_found *items = arena_alloc(s->arena, cap * sizeof *items);
		if (s->n > 0)
			memcpy(items, s->items, s->n * sizeof *items);
		s->items = items;
		s->cap = cap;
	}
	s->items[s->n++] = (struct file_found){
		.rel = rel,
		.size = st->st_size,
		.modified_ms =
		    (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
	};
}

static void scan_folder(struct file_scan *s, int fd, const char *rel, unsigned depth);

static void
scan_entry(struct file_scan *s, int dir, const char *rel, const char *name, unsigned depth)
{
	const struct file_conf *conf = s->conf;
	const char *path = path_join(s->arena, rel, str_of(name));
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return; /* it went meanwhile */
	bool link = S_ISLNK(st.st_mode);
	if (link && fstatat(dir, name, &st, 0) == -1)
		return; /* it leads nowhere */
	if (S_ISREG(st.st_mode)) {
		if (conf->done_expr != NULL)
			(void)hash_put(&s->present, str_of(path), (void *)path);
		if (is_wanted(conf, str_of(path), depth))
			add_found(s, path, &st);
		return;
	}
	/* Folders that links lead to could be above this one. */
	if (!S_ISDIR(st.st_mode) || link || !conf->recursive ||
	    (name[0] == '.' && !conf->hidden_dirs) || (int64_t)depth >= conf->max_depth ||
	    depth >= FILE_DEPTH_MAX)
		return;
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd != -1)
		scan_folder(s, fd, path, depth + 1);
}

/* Owns fd. Recursion is bounded by FILE_DEPTH_MAX. */
static void
scan_folder(struct file_scan *s, int fd, const char *rel, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;

	if (dir == NULL) {
		(void)close(fd); /* read only */
		return;
	}
	while (!s->cut && (e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			scan_entry(s, fd, rel, e->d_name, depth);
	}
	(void)closedir(dir); /* read only */
}

void
file_scan(struct file_scan *s)
{
	int fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1) {
		s->missing = errno == ENOENT;
		s->errnum = errno;
		return;
	}
	scan_folder(s, fd, "", 1);
}
