/*
 * to: file: works out the names, then has the file written on a thread of the pool while the
 * exchange waits. Writes to one file come one after the other, in the order of their exchanges.
 */
#include "transports/file/file_charset.h"
#include "transports/file/file_disk.h"
#include "transports/file/file_path.h"
#include "transports/file/file_priv.h"

#include "core/base/mem.h"

#include <stdlib.h>

struct write_op {
	struct loop_work work;
	struct disk_write disk; /* of what lies in the arena, or is held by it */
	struct arena arena;
	struct file_state *fs;
	struct exchange *ex;   /* NULL: it was aborted; the file is written all the same */
	struct write_op *next; /* waits for the same file */
};

static bool
cannot(struct exchange *ex, const char *what, const char *name)
{
	exchange_fail(ex, EXCEPTION_FILE_OPERATION_FAILED, "%s: %s", what, name);
	return false;
}

/* ---- names ---- */

/* The file's name below the folder. */
static bool
target_name(struct exchange *ex, const struct file_conf *conf, struct str *name)
{
	const struct value *overrule = exchange_header(ex, STR_LIT("CamelOverruleFileName")),
			   *given = exchange_header(ex, STR_LIT("CamelFileName"));

	if (overrule != NULL && !value_is_null(overrule)) {
		*name = value_text(&ex->arena, overrule);
		exchange_remove_header(ex, STR_LIT("CamelOverruleFileName"));
	} else if (conf->name_expr != NULL) {
		if (!file_text(conf->name_expr, ex, name))
			return false;
	} else if (given != NULL && !value_is_null(given)) {
		*name = value_text(&ex->arena, given);
	} else {
		*name = exchange_id(ex);
	}
	if (conf->flatten)
		*name = path_last(*name);
	const char *text = arena_strndup(&ex->arena, name->p, name->n);
	if (name->n == 0 || memchr(name->p, '\0', name->n) != NULL || name->p[name->n - 1] == '/')
		return cannot(ex, "Cannot write file: this is no name", text);
	if (conf->jail && path_leads_up(*name)) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "Cannot write file with name: %s as the filename is jailed to the starting "
		    "directory: %s",
		    text, conf->directory);
		return false;
	}
	return true;
}

/* With the header CamelFileName being the file's name, as the options' expressions see it. */
static bool
other_names(struct exchange *ex, const struct file_conf *conf, struct disk_write *w)
{
	struct str last = path_last(str_of(w->path)), parent = path_parent(str_of(w->path));
	const char *folder = arena_strndup(&ex->arena, parent.p, parent.n);

	if (conf->temp_prefix != NULL)
		w->temp = path_join(&ex->arena, folder,
		    str_of(arena_printf(&ex->arena, "%s%.*s", conf->temp_prefix, STR_FMT(last))));
	if (conf->temp_expr != NULL) {
		struct str name;
		if (!file_text(conf->temp_expr, ex, &name))
			return false;
		if (conf->jail && path_leads_up(name))
			return cannot(ex, "the temporary file leads out of the folder", w->path);
		w->temp = memchr(name.p, '/', name.n) != NULL
		    ? path_join(&ex->arena, conf->directory, name)
		    : path_join(&ex->arena, folder, name);
	}
	if (conf->move_existing_expr != NULL &&
	    (w->existing = file_target(ex, conf, conf->move_existing_expr, w->path)) == NULL)
		return false;
	if (conf->done_expr != NULL && (w->done = file_done_path(ex, conf, w->path)) == NULL)
		return false;
	return true;
}

static bool
all_names(struct exchange *ex, const struct file_conf *conf, struct disk_write *w)
{
	struct str name;

	if (!target_name(ex, conf, &name))
		return false;
	w->path = path_plain(&ex->arena, str_of(path_join(&ex->arena, conf->directory, name)));
	struct value *old = exchange_header(ex, STR_LIT("CamelFileName"));
	struct value *old_parent = exchange_header(ex, STR_LIT("CamelFileParent"));
	struct value before = old != NULL ? *old : value_null();
	struct value parent_before = old_parent != NULL ? *old_parent : value_null();
	bool was = old != NULL, parent_was = old_parent != NULL;
	struct str parent = path_parent(str_of(w->path));
	exchange_set_header(ex, STR_LIT("CamelFileName"), value_str(name));
	exchange_set_header(ex, STR_LIT("CamelFileParent"),
	    value_str(parent.n > 0 ? parent : STR_LIT(".")));
	bool ok = other_names(ex, conf, w);
	if (was)
		exchange_set_header(ex, STR_LIT("CamelFileName"), before);
	else
		exchange_remove_header(ex, STR_LIT("CamelFileName"));
	if (parent_was)
		exchange_set_header(ex, STR_LIT("CamelFileParent"), parent_before);
	else
		exchange_remove_header(ex, STR_LIT("CamelFileParent"));
	return ok;
}

/* ---- the body ---- */

static bool
is_container(const struct value *v)
{
	return v->type == VALUE_LIST || v->type == VALUE_MAP ||
	    (v->type == VALUE_JSON && !(v->flags & VALUE_NODE) &&
		(v->u.json->type == JSON_IS_ARRAY || v->u.json->type == JSON_IS_OBJECT));
}

static bool
set_body(struct exchange *ex, const struct file_conf *conf, struct disk_write *w)
{
	const struct value *v = &ex->body;

	w->body = w->tail = (struct str){ "", 0 };
	if (value_is_null(v)) {
		if (conf->allow_null)
			return true;
		return cannot(ex, "Cannot write null body to file", w->path);
	}
	if (is_container(v)) {
		exchange_fail(ex, EXCEPTION_FILE_OPERATION_FAILED,
		    "Cannot store file: %s: no type converter available to convert from type: %s to the "
		    "required type: java.io.InputStream",
		    w->path, value_class(v));
		return false;
	}
	w->body = value_payload(&ex->arena, v);
	if (conf->append_chars != NULL)
		w->tail = str_of(conf->append_chars);
	if (conf->charset != NULL) {
		w->body = charset_encode(&ex->arena, w->body, conf->charset);
		w->tail = charset_encode(&ex->arena, w->tail, conf->charset);
	}
	return true;
}

static int64_t
modified_of(struct exchange *ex, const struct file_conf *conf)
{
	const struct value *v = exchange_header(ex, STR_LIT("CamelFileLastModified"));
	struct value n;

	if (!conf->keep_modified || v == NULL ||
	    value_convert(&ex->arena, v, CLASS_LONG, &n, NULL) != HINNY_OK || n.type != VALUE_INT)
		return -1;
	return n.u.i;
}

/* ---- writing ---- */

static void
op_run(struct loop_work *work)
{
	disk_write(&CONTAINER_OF(work, struct write_op, work)->disk);
}

static void op_done(struct loop_work *work);

static void
tell(struct exchange *ex, const struct disk_write *w)
{
	switch (w->outcome) {
	case DISK_OK:
	case DISK_IGNORED:
		exchange_set_header(ex, STR_LIT("CamelFileNameProduced"),
		    value_str(arena_str(&ex->arena, str_of(w->path))));
		engine_resume(ex);
		return;
	case DISK_EXISTS:
		exchange_fail(ex, EXCEPTION_FILE_OPERATION_FAILED,
		    "File already exist: %s. Cannot write new file.", w->path);
		break;
	default:
		exchange_fail(ex, EXCEPTION_FILE_OPERATION_FAILED, "Cannot store file: %s: %s it: %s",
		    w->path, w->at, strerror(w->errnum));
	}
	engine_fail(ex);
}

static void
op_done(struct loop_work *work)
{
	struct write_op *op = CONTAINER_OF(work, struct write_op, work);
	struct file_state *fs = op->fs;
	struct exchange *ex = op->ex;
	struct disk_write w = op->disk;

	(void)hash_remove(&fs->writing, str_of(w.path)); /* before its key goes */
	if (op->next != NULL && !fs->ended) {
		(void)hash_put(&fs->writing, str_of(op->next->disk.path), op->next);
		loop_work_start(worker_loop(fs->wk), &op->next->work, op_run, op_done);
	}
	if (!fs->ended && ex != NULL) {
		engine_on_abort(ex, NULL, NULL);
		w.path = arena_strdup(&ex->arena, w.path);
	}
	bool ended = fs->ended;
	arena_fini(&op->arena);
	free(op);
	if (!ended && ex != NULL)
		tell(ex, &w);
}

static void
aborted(void *arg)
{
	struct write_op *op = arg;

	op->ex = NULL;
}

static const char *
copy_text(struct arena *a, const char *text)
{
	return text != NULL ? arena_strdup(a, text) : NULL;
}

/* What the job needs must outlive the exchange, which may be aborted meanwhile. */
static struct write_op *
op_new(struct file_state *fs, struct exchange *ex, const struct disk_write *w)
{
	struct write_op *op = mem_zalloc(sizeof *op);
	struct blob *blob = ex->body.blob;

	arena_init(&op->arena);
	op->fs = fs;
	op->ex = ex;
	op->disk = *w;
	op->disk.path = copy_text(&op->arena, w->path);
	op->disk.temp = copy_text(&op->arena, w->temp);
	op->disk.existing = copy_text(&op->arena, w->existing);
	op->disk.done = copy_text(&op->arena, w->done);
	op->disk.tail = arena_str(&op->arena, w->tail);
	if (blob != NULL && w->body.p >= blob->data && w->body.p + w->body.n <= blob->data + blob->size)
		(void)arena_hold(&op->arena, blob);
	else
		op->disk.body = arena_str(&op->arena, w->body);
	engine_on_abort(ex, aborted, op);
	return op;
}

enum step_rc
file_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct file_conf *conf = ep->conf;
	struct file_state *fs = file_state_of(wk);
	struct disk_write w = {
		.exist = (enum file_exist)conf->exist,
		.make_folders = conf->auto_create,
		.mode = conf->mode,
		.dir_mode = conf->dir_mode,
	};
	(void)st;

	if (!all_names(ex, conf, &w) || !set_body(ex, conf, &w))
		return STEP_FAILED;
	w.modified_ms = modified_of(ex, conf);
	struct write_op *op = op_new(fs, ex, &w), *first = hash_find(&fs->writing, str_of(w.path));
	if (first != NULL) {
		while (first->next != NULL)
			first = first->next;
		first->next = op;
	} else {
		(void)hash_put(&fs->writing, str_of(op->disk.path), op);
		loop_work_start(worker_loop(wk), &op->work, op_run, op_done);
	}
	return STEP_PENDING;
}
