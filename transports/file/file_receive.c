/*
 * pollEnrich: one file of a folder into an exchange that waits. The file is moved, deleted or left
 * as soon as it has been read: what becomes of the exchange afterwards is not known here.
 */
#include "transports/file/file_charset.h"
#include "transports/file/file_disk.h"
#include "transports/file/file_path.h"
#include "transports/file/file_priv.h"
#include "transports/file/file_seen.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <stdlib.h>

enum { LOOK_MS = 100, RECEIVE_SEEN = 1000 };

struct receive {
	struct loop_work work;
	struct file_state *fs;
	struct exchange *ex; /* NULL: it was aborted */
	struct seen *seen;   /* of the endpoint */
	const struct file_conf *conf;
	int64_t until_ms;
	struct engine_timer *timer;
	struct arena arena;
	struct file_scan scan;
	size_t at;
	struct exchange *file; /* with the headers of the file that is tried */
	struct disk_take take;
	struct disk_finish finish;
};

static void look(struct receive *r);
static void next_file(struct receive *r);

static struct engine *
engine_of(struct receive *r)
{
	return worker_engine(r->fs->wk);
}

static void
receive_free(struct receive *r)
{
	if (r->file != NULL)
		worker_exchange_free(r->fs->wk, &r->file);
	blob_put(r->take.blob);
	hash_fini(&r->scan.present);
	arena_fini(&r->arena);
	free(r);
}

static void
aborted(void *arg)
{
	struct receive *r = arg;

	r->ex = NULL;
	if (r->timer == NULL)
		return; /* the job that runs frees it */
	engine_of(r)->ops->timer_cancel(engine_of(r), r->timer);
	receive_free(r);
}

/* The exchange goes on. */
static void
receive_end(struct receive *r)
{
	struct exchange *ex = r->ex;

	engine_on_abort(ex, NULL, NULL);
	receive_free(r);
	if (ex->exception != NULL)
		engine_fail(ex);
	else
		engine_resume(ex);
}

/* Has the process or the exchange ended while the job ran? Then r is gone. */
static struct receive *
job_ended(struct loop_work *work)
{
	struct receive *r = CONTAINER_OF(work, struct receive, work);

	if (r->fs->ended)
		return NULL;
	if (r->ex != NULL)
		return r;
	receive_free(r);
	return NULL;
}

/* ---- a file ---- */

static void
finish_run(struct loop_work *work)
{
	disk_finish(&CONTAINER_OF(work, struct receive, work)->finish);
}

/* The file's body and headers become those of the exchange. */
static void
give(struct receive *r)
{
	struct exchange *ex = r->ex;
	struct blob *blob = r->take.blob;
	struct value v = value_bytes((struct str){ blob->data, blob->size });

	v.blob = arena_hold(&ex->arena, blob);
	if (r->conf->charset != NULL) {
		v.u.s = charset_decode(&ex->arena, v.u.s, r->conf->charset);
		if (v.u.s.p != blob->data)
			v.blob = NULL;
	}
	v.flags = VALUE_INPUT;
	exchange_set_body(ex, v);
	struct file_found f = r->scan.items[r->at];
	f.rel = arena_strdup(&ex->arena, f.rel);
	file_headers(ex, r->conf, &f, r->fs->cwd);
}

static void
finish_done(struct loop_work *work)
{
	struct receive *r = job_ended(work);

	if (r == NULL)
		return;
	if (r->finish.outcome == DISK_FAILED)
		log_error("pollEnrich: %s file %s: %s", r->finish.at, r->finish.path,
		    strerror(r->finish.errnum));
	if (r->take.blob == NULL) { /* it was not to be had */
		r->at++;
		next_file(r);
		return;
	}
	give(r);
	receive_end(r);
}

static void
take_run(struct loop_work *work)
{
	disk_take(&CONTAINER_OF(work, struct receive, work)->take);
}

static void
take_done(struct loop_work *work)
{
	struct receive *r = CONTAINER_OF(work, struct receive, work);
	const struct file_conf *conf = r->conf;

	if (r->fs->ended)
		return;
	r->finish = (struct disk_finish){ .path = r->take.path,
		.marker = r->take.marker,
		.fd = r->take.fd,
		.marker_fd = r->take.marker_fd };
	if (r->take.outcome != DISK_OK && r->take.blob != NULL)
		blob_put(r->take.blob);
	if (r->take.outcome != DISK_OK)
		r->take.blob = NULL;
	if (r->take.outcome == DISK_FAILED || r->take.outcome == DISK_LARGE)
		log_warning("pollEnrich: cannot read file %s: %s", r->take.path,
		    r->take.outcome == DISK_LARGE ? "it is larger than max_body"
						  : strerror(r->take.errnum));
	if (r->take.outcome == DISK_OK && r->ex != NULL) {
		r->finish.delete = conf->delete;
		if (conf->move_expr != NULL)
			r->finish.move_to = file_target(r->file, conf, conf->move_expr, r->take.path);
		if (conf->idempotent)
			seen_add(r->seen, str_of(r->take.path));
	}
	loop_work_start(worker_loop(r->fs->wk), &r->work, finish_run, finish_done);
}

static bool
is_wanted(struct receive *r, const struct file_found *f)
{
	const struct file_conf *conf = r->conf;
	struct str name;

	if (conf->idempotent && seen_has(r->seen, str_of(file_path(&r->arena, conf, f->rel))))
		return false;
	if (conf->name_expr == NULL)
		return true;
	return file_text(conf->name_expr, r->file, &name) &&
	    (str_eq(name, str_of(f->rel)) || str_eq(name, path_last(str_of(f->rel))));
}

static void
try_file(struct receive *r)
{
	r->take = (struct disk_take){ .path = file_path(&r->arena, r->conf, r->scan.items[r->at].rel),
		.max = worker_collect_limits(r->fs->wk).max,
		.fd = -1,
		.marker_fd = -1 };
	if (r->conf->read_lock == FILE_LOCK_MARKER)
		r->take.marker = arena_printf(&r->arena, "%s.camelLock", r->take.path);
	loop_work_start(worker_loop(r->fs->wk), &r->work, take_run, take_done);
}

static void
look_later(void *arg)
{
	struct receive *r = arg;

	r->timer = NULL;
	look(r);
}

static void
next_file(struct receive *r)
{
	struct worker *wk = r->fs->wk;

	for (; r->at < r->scan.n; r->at++) {
		if (r->file != NULL)
			worker_exchange_free(wk, &r->file);
		r->file = worker_exchange_new(wk, r->ex->route);
		r->file->engine = engine_of(r);
		file_headers(r->file, r->conf, &r->scan.items[r->at], r->fs->cwd);
		if (is_wanted(r, &r->scan.items[r->at])) {
			try_file(r);
			return;
		}
	}
	int64_t left = r->until_ms - engine_of(r)->ops->now_ms(engine_of(r));
	if (left <= 0) {
		exchange_set_body(r->ex, value_null());
		receive_end(r);
		return;
	}
	r->timer = engine_of(r)->ops->timer_start(
	    engine_of(r), left < LOOK_MS ? left : LOOK_MS, look_later, r);
}

/* ---- the folder ---- */

static void
scan_run(struct loop_work *work)
{
	file_scan(&CONTAINER_OF(work, struct receive, work)->scan);
}

static void
scan_done(struct loop_work *work)
{
	struct receive *r = job_ended(work);

	if (r == NULL)
		return;
	file_sort(r->fs, r->ex->route, r->conf, &r->arena, r->scan.items, r->scan.n);
	r->at = 0;
	next_file(r);
}

static void
look(struct receive *r)
{
	hash_fini(&r->scan.present);
	arena_reset(&r->arena);
	r->scan = (struct file_scan){
		.conf = r->conf, .dir = r->conf->directory, .arena = &r->arena
	};
	hash_init(&r->scan.present, false);
	loop_work_start(worker_loop(r->fs->wk), &r->work, scan_run, scan_done);
}

/* What a file cannot be received with. */
static const char *
unsupported(const struct file_conf *conf)
{
	const struct {
		bool given;
		const char *name;
	} options[] = {
		{ conf->pre_move != NULL, "preMove" },
		{ conf->move_failed != NULL, "moveFailed" },
		{ conf->done_file_name != NULL, "doneFileName" },
		{ conf->filter_file != NULL, "filterFile" },
		{ conf->idempotent_key != NULL, "idempotentKey" },
		{ conf->read_lock == FILE_LOCK_CHANGED, "readLock=changed" },
		{ conf->send_empty, "sendEmptyMessageWhenIdle" },
		{ conf->shuffle, "shuffle" },
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (options[i].given)
			return options[i].name;
	return NULL;
}

enum step_rc
file_receive(struct worker *wk, struct exchange *ex, struct endpoint *ep, int64_t timeout_ms)
{
	const struct file_conf *conf = ep->conf;
	const char *option = unsupported(conf);

	if (option != NULL) {
		exchange_fail(ex, EXCEPTION_UNSUPPORTED_OPERATION,
		    "%s: a step cannot receive with the option %s", ep->uri, option);
		return STEP_FAILED;
	}
	if (ep->impl == NULL) {
		ep->impl = MEM_NEW(struct seen);
		seen_init(ep->impl, RECEIVE_SEEN);
	}
	struct receive *r = MEM_NEW(struct receive);
	r->fs = file_state_of(wk);
	r->ex = ex;
	r->seen = ep->impl;
	r->conf = conf;
	r->until_ms = engine_of(r)->ops->now_ms(engine_of(r)) + timeout_ms;
	arena_init(&r->arena);
	hash_init(&r->scan.present, false);
	engine_on_abort(ex, aborted, r);
	look(r);
	return STEP_PENDING;
}

void
file_receive_release(struct endpoint *ep)
{
	if (ep->impl == NULL)
		return;
	seen_fini(ep->impl);
	free(ep->impl);
	ep->impl = NULL;
}
