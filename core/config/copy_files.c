/*
 * Copies the files that a program names, and what these include, to the folder of the generation.
 * What an included file is called says where it lies, so the layout below the folder of a named
 * file is kept; nothing outside of that folder is copied, and a name that leads there is an error.
 */
#include "core/config/compile_priv.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/config/copy_scan.h"
#include "core/config/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	COPY_FILE_MAX = 64 << 20, /* bytes of one file */
	COPY_FILES_MAX = 10000,   /* of a generation */
	FOLDER_FILES_MAX = 1000,  /* of a folder that a computed document() may open */
	FOLDER_BYTES_MAX = 64 << 20,
	FOLDER_DEPTH_MAX = 8,
};

struct copying {
	struct bundle *bundle;
	struct arena arena;
	int dirfd;
	const char *cwd; /* absolute, or NULL: what lies below is shown without it */
	struct diagnostics *ds;
	struct hash done; /* "f0/a/b.xsl" */
	size_t files;
};

/* A file in hand. */
struct source {
	struct copying *cp;
	const char *root;  /* folder of the named file: nothing above it */
	const char *copy;  /* "f0" */
	const char *path;  /* of this file */
	const char *shown; /* in messages */
	unsigned line;     /* of the reference that led here, for errors about it */
};

static void copy_one(
    struct copying *cp, const char *root, const char *copy, const char *path, struct position at);

static int
make_folders(int dirfd, struct arena *a, const char *name)
{
	char *path = arena_strdup(a, name);

	for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(dirfd, path, 0755) == -1 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return 0;
}

static int
write_file(int fd, struct str text)
{
	while (text.n > 0) {
		ssize_t n = write(fd, text.p, text.n);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		text = (struct str){ text.p + n, text.n - (size_t)n };
	}
	return 0;
}

static bool
save(struct copying *cp, const char *name, struct str text, struct position at)
{
	int fd = -1, rc = make_folders(cp->dirfd, &cp->arena, name);

	if (rc == 0)
		rc = fd = openat(
		    cp->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd != -1) {
		rc = write_file(fd, text);
		if (close(fd) == -1)
			rc = -1;
	}
	if (rc == -1)
		diagnostics_add(cp->ds, at, false,
		    "cannot write \"%s\" to the generation's folder: %s", name, strerror(errno));
	return rc != -1;
}

/* Is `path` in `root` or below? */
static bool
is_below(const char *root, const char *path)
{
	size_t n = strlen(root);

	return strncmp(path, root, n) == 0 && (path[n] == '/' || (n == 1 && path[0] == '/'));
}

static const char *
shown_path(const struct copying *cp, const char *path)
{
	return cp->cwd != NULL && cp->cwd[1] != '\0' && is_below(cp->cwd, path)
	    ? path + strlen(cp->cwd) + 1
	    : path;
}

/* "a%20b.xsl#x" as a file name. NULL: an address that is no file. */
static const char *
href_path(struct arena *a, struct str href)
{
	size_t colon = str_find(href, STR_LIT(":")), slash = str_find(href, STR_LIT("/")),
	       hash = str_find(href, STR_LIT("#"));

	if (hash != SIZE_MAX)
		href.n = hash;
	if (str_starts(href, "file:"))
		href = (struct str){ href.p + 5, href.n - 5 };
	else if (colon != SIZE_MAX && colon < slash && colon < href.n)
		return NULL;
	if (str_starts(href, "///"))
		href = (struct str){ href.p + 2, href.n - 2 };
	return arena_strndup(a, href.p, href.n);
}

static void
follow(void *arg, struct copy_reference ref)
{
	struct source *src = arg;
	struct copying *cp = src->cp;
	struct position at = { src->shown, ref.line, 1 };
	const char *href = href_path(&cp->arena, ref.href);

	if (href == NULL) {
		diagnostics_add(cp->ds, at, false,
		    "\"%.*s\" is no file: what is included must lie in the folder of \"%s\" or "
		    "below",
		    STR_FMT(ref.href), src->shown);
		return;
	}
	if (href[0] == '\0')
		return; /* document(''): the file itself */
	const char *path = read_normal_path(
	    &cp->arena, read_path(&cp->arena, read_folder(&cp->arena, src->path), href));
	if (!is_below(src->root, path)) {
		diagnostics_add(cp->ds, at, false,
		    "\"%.*s\" lies outside of the folder \"%s\": what is included must lie in the "
		    "folder of the file that the route names, or below",
		    STR_FMT(ref.href), shown_path(cp, src->root));
		return;
	}
	copy_one(cp, src->root, src->copy, path, at);
}

/* What a computed document() may open: the XML files in the folder of the stylesheet and below. */
struct folder_walk {
	struct source *src;
	size_t files, bytes;
};

static void
copy_folder(struct folder_walk *w, const char *folder, unsigned depth)
{
	struct copying *cp = w->src->cp;
	struct position at = { w->src->shown, w->src->line, 1 };
	DIR *dir = depth <= FOLDER_DEPTH_MAX ? opendir(folder) : NULL;
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		const char *path = arena_printf(&cp->arena, "%s/%s", folder, entry->d_name);
		struct stat st;
		if (entry->d_name[0] == '.' || stat(path, &st) == -1)
			continue;
		if (S_ISDIR(st.st_mode))
			copy_folder(w, path, depth + 1);
		if (!S_ISREG(st.st_mode) || !str_ends(str_of(path), ".xml"))
			continue;
		w->files++;
		w->bytes += (size_t)st.st_size;
		if (w->files > FOLDER_FILES_MAX || w->bytes > FOLDER_BYTES_MAX) {
			diagnostics_add(cp->ds, at, false,
			    "document() has a computed argument, and its folder \"%s\" has more "
			    "than %d XML files or %d bytes of them",
			    shown_path(cp, w->src->root), FOLDER_FILES_MAX, FOLDER_BYTES_MAX);
			break;
		}
		copy_one(cp, w->src->root, w->src->copy, path, at);
	}
	if (dir != NULL)
		(void)closedir(dir); /* read only */
}

static void
copy_one(
    struct copying *cp, const char *root, const char *copy, const char *path, struct position at)
{
	const char *below = path + strlen(root) + (root[1] != '\0'),
		   *name = arena_printf(&cp->arena, "%s/%s", copy, below);
	struct hinny_error err;
	struct str text;
	bool computed;

	if (hash_put(&cp->done, str_of(name), cp) != NULL)
		return;
	if (++cp->files > COPY_FILES_MAX) {
		diagnostics_add(
		    cp->ds, at, false, "the routes name more than %d files", COPY_FILES_MAX);
		return;
	}
	if (read_file_shown(&cp->arena, path, shown_path(cp, path), COPY_FILE_MAX, &text, &err) !=
	    HINNY_OK) {
		diagnostics_add(cp->ds, at, false, "%s", err.text);
		return;
	}
	bundle_add_source(cp->bundle, arena_strdup(&cp->bundle->arena, path));
	if (!save(cp, name, text, at))
		return;
	struct source src = { .cp = cp,
		.root = root,
		.copy = copy,
		.path = path,
		.shown = shown_path(cp, path),
		.line = 1 };
	copy_scan(text, follow, &src, &computed);
	if (computed) {
		struct folder_walk w = { .src = &src };
		copy_folder(&w, root, 0);
	}
}

enum hinny_rc
bundle_copy_files(const struct program *p, int dirfd, struct diagnostics *ds)
{
	struct bundle *b = CONTAINER_OF(p, struct program_full, program)->bundle;
	struct copying cp = { .bundle = b, .dirfd = dirfd, .ds = ds };
	size_t errors = ds->errors;
	char absolute[PATH_MAX];

	arena_init(&cp.arena);
	hash_init(&cp.done, false);
	cp.cwd = realpath(b->cwd, absolute) != NULL ? absolute : NULL;
	for (size_t i = 0; i < b->files_n; i++) {
		const struct bundle_file *f = &b->files[i];
		if (f->copy == NULL)
			continue;
		const char *slash = strchr(f->copy, '/');
		copy_one(&cp, read_folder(&cp.arena, f->path),
		    arena_strndup(&cp.arena, f->copy, (size_t)(slash - f->copy)), f->path, f->at);
	}
	hash_fini(&cp.done);
	arena_fini(&cp.arena);
	return ds->errors == errors ? HINNY_OK : HINNY_EINVAL;
}
