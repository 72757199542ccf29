/* Names: headers of files, and what the options that are expressions say. */
#include "transports/file/file_path.h"
#include "transports/file/file_priv.h"

#include "core/lang/expression.h"

const char *
file_absolute(struct arena *a, const char *cwd, const char *path)
{
	if (path[0] == '/')
		return path;
	return arena_printf(a, "%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path);
}

const char *
file_path(struct arena *a, const struct file_conf *conf, const char *rel)
{
	return path_join(a, conf->directory, str_of(rel));
}

static void
set_text(struct exchange *ex, const char *name, struct str text)
{
	exchange_set_header(ex, str_of(name), value_str(text));
}

static void
set_long(struct exchange *ex, const char *name, int64_t n)
{
	struct value v = value_int(n);

	v.flags = VALUE_LONG;
	exchange_set_header(ex, str_of(name), v);
}

/* "." for the working folder, so that what is put behind it stays relative. */
static struct str
parent_or_dot(const char *path)
{
	struct str parent = path_parent(str_of(path));

	return parent.n > 0 ? parent : STR_LIT(".");
}

void
file_headers(
    struct exchange *ex, const struct file_conf *conf, const struct file_found *f, const char *cwd)
{
	struct str rel = str_of(f->rel);
	const char *path = file_path(&ex->arena, conf, f->rel);

	set_text(ex, "CamelFileName", rel);
	set_text(ex, "CamelFileNameOnly", path_last(rel));
	set_text(ex, "CamelFileNameConsumed", rel);
	set_text(ex, "CamelFileRelativePath", rel);
	set_text(ex, "CamelFilePath", str_of(path));
	set_text(ex, "CamelFileAbsolutePath", str_of(file_absolute(&ex->arena, cwd, path)));
	exchange_set_header(
	    ex, STR_LIT("CamelFileAbsolute"), value_bool(conf->directory[0] == '/'));
	set_text(ex, "CamelFileParent", parent_or_dot(path));
	set_long(ex, "CamelFileLength", f->size);
	set_long(ex, "CamelFileLastModified", f->modified_ms);
	set_long(ex, "CamelMessageTimestamp", f->modified_ms);
}

bool
file_text(const struct expression *e, struct exchange *ex, struct str *out)
{
	if (expression_text(e, ex, out, NULL) != EVAL_OK)
		return false;
	if (out->n > 0 && memchr(out->p, '\0', out->n) == NULL)
		return true;
	exchange_fail(ex, EXCEPTION_FILE_OPERATION_FAILED, "the name of a file by \"%s\" is %s",
	    e->text, out->n == 0 ? "empty" : "no name");
	return false;
}

static bool
is_below(struct str path, const char *folder)
{
	size_t n = strlen(folder);

	while (n > 0 && folder[n - 1] == '/')
		n--;
	return path.n > n && path.p[n] == '/' && memcmp(path.p, folder, n) == 0;
}

const char *
file_target(
    struct exchange *ex, const struct file_conf *conf, const struct expression *e, const char *path)
{
	struct arena *a = &ex->arena;
	struct str name;

	if (!file_text(e, ex, &name))
		return NULL;
	if (name.p[0] == '/' || is_below(name, conf->directory) || str_starts(name, "./"))
		return path_plain(a, name);
	if (memchr(name.p, '/', name.n) != NULL)
		return path_plain(a, str_of(path_join(a, conf->directory, name)));
	struct str parent = path_parent(str_of(path));
	return path_join(a, arena_strndup(a, parent.p, parent.n), name);
}

const char *
file_done_path(struct exchange *ex, const struct file_conf *conf, const char *path)
{
	struct arena *a = &ex->arena;
	struct str name, parent = path_parent(str_of(path));

	if (!file_text(conf->done_expr, ex, &name))
		return NULL;
	if (parent.n == 0)
		return arena_strndup(a, path_last(name).p, path_last(name).n);
	return path_join(a, arena_strndup(a, parent.p, parent.n), path_last(name));
}
