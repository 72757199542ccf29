/*
 * Files that routes name. hinnyd finds them and keeps in the bundle what it found; a worker asks
 * the bundle alone, so that one that is started later works with the same files. Files of one
 * folder are copied to one folder, f0, f1 …, since they may name one another.
 */
#include "core/config/compile_priv.h"

#include "core/config/read.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name without its scheme. */
struct resource {
	const char *name;
	bool classpath;
};

static int
split_name(struct compile *c, const char *name, struct position at, struct resource *out)
{
	static const char *const others[] = {
		"http:", "https:", "ref:", "bean:", "ftp:", "mem:", "jar:", NULL
	};
	struct str s = str_of(name);

	*out = (struct resource){ name, true }; /* Camel's default is the class path */
	if (str_starts(s, "file:"))
		*out = (struct resource){ name + strlen("file:"), false };
	else if (str_starts(s, "classpath:"))
		out->name += strlen("classpath:");
	for (const char *const *p = others; *p != NULL; p++) {
		if (str_casestarts(s, *p))
			return compile_error(c, at,
			    "cannot read \"%s\": only files are supported, as in \"file:a.xsl\"",
			    name);
	}
	if (str_starts(str_of(out->name), "///"))
		out->name += 2; /* file:///path */
	if (out->name[0] == '\0')
		return compile_error(c, at, "expected the name of a file, got \"%s\"", name);
	return 0;
}

static bool
is_file(const char *path, int *errnum)
{
	struct stat st;

	if (stat(path, &st) == -1) {
		*errnum = errno;
		return false;
	}
	if (S_ISREG(st.st_mode) && access(path, R_OK) == 0)
		return true;
	*errnum = S_ISDIR(st.st_mode) ? EISDIR : S_ISREG(st.st_mode) ? errno : EINVAL;
	return false;
}

static const char *
absolute_path(struct arena *a, const char *folder, const char *name)
{
	char here[4096];
	const char *path = read_path(a, folder, name);

	if (path[0] != '/' && getcwd(here, sizeof here) != NULL)
		path = arena_printf(a, "%s/%s", here, path);
	return read_normal_path(a, path);
}

/* Beside the route file (but for "file:"), then from the working folder on. NULL when it is nowhere
 * (reported). */
static const char *
find_path(struct compile *c, const char *name, const struct resource *res, struct position at)
{
	struct bundle *b = c->bundle;
	struct hinny_error err;
	const char *path;
	int errnum = ENOENT;

	if (res->classpath && c->file != NULL) {
		const char *folder = read_folder(&b->arena, read_path(&b->arena, b->cwd, c->file));
		path = absolute_path(
		    &b->arena, folder, res->name[0] == '/' ? res->name + 1 : res->name);
		if (is_file(path, &errnum))
			return path;
	}
	path = absolute_path(&b->arena, b->cwd, res->name);
	if (is_file(path, &errnum))
		return path;
	(void)hinny_error_errno(&err, errnum, "cannot read file \"%s\"", name);
	compile_error(c, at, "%s", err.text);
	return NULL;
}

/* "f0/order.xsl": the folder's number is that of its first file, counted by folders. */
static const char *
copy_name(struct bundle *b, const char *path)
{
	const char *folder = read_folder(&b->arena, path), *base = strrchr(path, '/') + 1;
	unsigned next = 0;

	for (size_t i = 0; i < b->files_n; i++) {
		const struct bundle_file *f = &b->files[i];
		unsigned number;
		if (f->copy == NULL || sscanf(f->copy, "f%u/", &number) != 1)
			continue;
		if (strcmp(read_folder(&b->arena, f->path), folder) == 0)
			return arena_printf(&b->arena, "f%u/%s", number, base);
		if (number >= next)
			next = number + 1;
	}
	return arena_printf(&b->arena, "f%u/%s", next, base);
}

/* The record of a file, made when there is none. NULL: reported. */
static struct bundle_file *
find_file(struct compile *c, const char *name, struct position at)
{
	struct bundle *b = c->bundle;
	struct resource res;

	if (at.file == NULL)
		at = c->at;
	if (split_name(c, name, at, &res) != 0)
		return NULL;
	const char *from = res.classpath && c->file != NULL ? c->file : "";
	struct bundle_file *f = bundle_file_find(b, name, from);
	if (f != NULL)
		return f;
	if (b->loaded || c->ds == NULL) {
		compile_error(c, at, "file \"%s\" is not among those of this generation", name);
		return NULL;
	}
	const char *path = find_path(c, name, &res, at);
	if (path == NULL)
		return NULL;
	return bundle_file_add(b,
	    (struct bundle_file){ .name = arena_strdup(&b->arena, name),
		.from = arena_strdup(&b->arena, from),
		.path = path,
		.at = at });
}

const char *
compile_file(struct compile *c, const char *name, struct position at)
{
	struct bundle_file *f = find_file(c, name, at);

	if (f == NULL)
		return NULL;
	if (f->copy == NULL && (c->bundle->loaded || c->ds == NULL)) {
		compile_error(c, at, "file \"%s\" is not among those of this generation", name);
		return NULL;
	}
	if (f->copy == NULL)
		f->copy = copy_name(c->bundle, f->path);
	return f->copy;
}

const char *
compile_file_text(struct compile *c, const char *name, struct position at)
{
	struct bundle_file *f = find_file(c, name, at);
	struct hinny_error err;
	struct str text;

	if (f == NULL)
		return NULL;
	if (f->text != NULL)
		return f->text;
	if (c->bundle->loaded || c->ds == NULL) {
		compile_error(
		    c, at, "the text of file \"%s\" is not among those of this generation", name);
		return NULL;
	}
	if (read_file(&c->bundle->arena, f->path, BUNDLE_TEXT_MAX, &text, &err) != HINNY_OK) {
		compile_error(c, at, "%s", err.text);
		return NULL;
	}
	if (memchr(text.p, '\0', text.n) != NULL) {
		compile_error(c, at, "file \"%s\" is no text: it has a byte of value 0", name);
		return NULL;
	}
	f->text = text.p;
	f->text_n = text.n;
	return f->text;
}
