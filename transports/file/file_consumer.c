/*
 * from: file: polls a folder. Of the files of one poll one after the other is taken (locked, moved
 * by preMove, read), becomes an exchange, and when that is done is moved, deleted or left. All that
 * touches the disk runs on a thread of the pool; one job of a consumer at a time. A file is locked
 * for as long as its exchange runs, so that a worker of another generation passes over it.
 */
#include "transports/file/file_charset.h"
#include "transports/file/file_disk.h"
#include "transports/file/file_path.h"
#include "transports/file/file_priv.h"
#include "transports/file/file_seen.h"
#include "transports/file/file_store.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/lang/expression.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { SEEN_MIN = 1000 };

struct consumer {
	struct file_state *fs;
	struct worker *wk;
	struct endpoint *ep;
	const struct route *route;
	const struct file_conf *conf;
	struct loop_timer timer;
	void (*on_timer)(struct consumer *fc);
	struct loop_work work;
	bool working; /* a job runs */
	bool stopped;
	bool complained; /* about the folder: once, until it is there again */
	struct seen seen;
	struct store store;
	int64_t polls;

	/* of a poll */
	struct arena arena;
	struct file_scan scan;
	struct file_found *items;
	size_t n, at;

	/* of a file */
	struct exchange *ex;
	struct str key; /* in the exchange's arena; p NULL: none */
	struct disk_take take;
	struct disk_finish finish;
	/* readLock=changed */
	int64_t look_size, look_modified_ms, looked_size, looked_modified_ms, look_from_ms;
	bool look_there, looked;
};

static void poll_begin(struct consumer *fc);
static void next_file(struct consumer *fc);

/* ---- life ---- */

static void
timer_closed(struct loop_timer *t)
{
	free(CONTAINER_OF(t, struct consumer, timer));
}

/* Frees it, when nothing of it runs any more. */
static void
consumer_end(struct consumer *fc)
{
	if (fc->working || fc->ex != NULL)
		return;
	seen_fini(&fc->seen);
	store_close(&fc->store);
	hash_fini(&fc->scan.present);
	arena_fini(&fc->arena);
	loop_timer_close(&fc->timer, timer_closed);
}

static void
timer_fired(struct loop_timer *t)
{
	struct consumer *fc = CONTAINER_OF(t, struct consumer, timer);

	fc->on_timer(fc);
}

static void
wait_for(struct consumer *fc, int64_t ms, void (*then)(struct consumer *fc))
{
	fc->on_timer = then;
	loop_timer_start(&fc->timer, ms, 0);
}

static void
start_job(struct consumer *fc, loop_work_fn *run, loop_work_fn *done)
{
	fc->working = true;
	loop_work_start(worker_loop(fc->wk), &fc->work, run, done);
}

/* The job has ended; false: the process ends, and nothing must be touched but the consumer. */
static struct consumer *
job_ended(struct loop_work *work)
{
	struct consumer *fc = CONTAINER_OF(work, struct consumer, work);

	fc->working = false;
	return fc->fs->ended ? NULL : fc;
}

static void
poll_end(struct consumer *fc, bool found)
{
	const struct file_conf *conf = fc->conf;

	if (fc->stopped) {
		consumer_end(fc);
		return;
	}
	if (conf->repeat_count > 0 && fc->polls >= conf->repeat_count)
		return;
	wait_for(fc, found && conf->greedy ? 0 : conf->delay_ms, poll_begin);
}

/* What other workers have read, of the last store_read. */
static void
learn_keys(struct consumer *fc)
{
	size_t position = 0;
	struct str key;

	while (store_next(&fc->store, &position, &key))
		seen_add(&fc->seen, key);
	buf_clear(&fc->store.news);
}

/* ---- what a poll has found ---- */

static struct exchange *
new_exchange(struct consumer *fc, const struct file_found *f)
{
	struct exchange *ex = worker_exchange_new(fc->wk, fc->route);

	ex->engine = worker_engine(fc->wk);
	ex->pattern = fc->conf->pattern == 1 ? PATTERN_IN_OUT : PATTERN_IN_ONLY;
	if (f != NULL)
		file_headers(ex, fc->conf, f, fc->fs->cwd);
	return ex;
}

/* An option that could not be evaluated for a file: the file is passed over. */
static bool
pass_over(struct consumer *fc, struct exchange *ex, const struct file_found *f)
{
	if (ex->exception != NULL)
		log_warning("route %s: file %s is passed over: %.*s", fc->route->id, f->rel,
		    STR_FMT(ex->exception->message));
	ex->exception = NULL;
	return false;
}

static bool
key_of(struct consumer *fc, struct exchange *ex, const struct file_found *f, struct str *key)
{
	if (fc->conf->key_expr != NULL)
		return file_text(fc->conf->key_expr, ex, key);
	*key = str_of(file_absolute(
	    &ex->arena, fc->fs->cwd, file_path(&ex->arena, fc->conf, f->rel)));
	return true;
}

static bool
has_done_file(struct consumer *fc, struct exchange *ex, const struct file_found *f)
{
	const char *done = file_done_path(ex, fc->conf, f->rel);

	if (done == NULL)
		return pass_over(fc, ex, f);
	return strcmp(done, f->rel) != 0 && hash_find(&fc->scan.present, str_of(done)) != NULL;
}

static bool
is_wanted(struct consumer *fc, struct exchange *ex, const struct file_found *f)
{
	const struct file_conf *conf = fc->conf;
	struct str text;
	bool yes;

	if (conf->name_expr != NULL) {
		if (!file_text(conf->name_expr, ex, &text))
			return pass_over(fc, ex, f);
		if (!str_eq(text, str_of(f->rel)) && !str_eq(text, path_last(str_of(f->rel))))
			return false;
	}
	if (conf->filter_expr != NULL) {
		if (expression_test(conf->filter_expr, ex, &yes) != EVAL_OK)
			return pass_over(fc, ex, f);
		if (!yes)
			return false;
	}
	if (conf->done_expr != NULL && !has_done_file(fc, ex, f))
		return false;
	if (!conf->idempotent)
		return true;
	if (!key_of(fc, ex, f, &text))
		return pass_over(fc, ex, f);
	return !seen_has(&fc->seen, text);
}

/* Those that are to be read, in their order. */
static void
select_files(struct consumer *fc)
{
	const struct file_conf *conf = fc->conf;
	size_t max = conf->max_messages > 0 ? (size_t)conf->max_messages : SIZE_MAX;

	fc->items = fc->scan.items;
	fc->n = 0;
	if (2 * fc->scan.n > fc->seen.limit)
		fc->seen.limit = 2 * fc->scan.n; /* files that stay are not read twice */
	learn_keys(fc);
	for (size_t i = 0; i < fc->scan.n && (!conf->eager_max || fc->n < max); i++) {
		struct exchange *ex = new_exchange(fc, &fc->scan.items[i]);
		if (is_wanted(fc, ex, &fc->scan.items[i]))
			fc->items[fc->n++] = fc->scan.items[i];
		worker_exchange_free(fc->wk, &ex);
	}
	file_sort(fc->fs, fc->route, conf, &fc->arena, fc->items, fc->n);
	if (conf->shuffle)
		file_shuffle(fc->items, fc->n);
	if (fc->n > max)
		fc->n = max;
}

/* ---- the end of a file ---- */

static void
finish_run(struct loop_work *work)
{
	disk_finish(&CONTAINER_OF(work, struct consumer, work)->finish);
}

static void
finish_done(struct loop_work *work)
{
	struct consumer *fc = job_ended(work);

	if (fc == NULL)
		return;
	if (fc->finish.outcome == DISK_FAILED)
		log_error("route %s: %s file %s%s%s: %s", fc->route->id, fc->finish.at, fc->finish.path,
		    fc->finish.move_to != NULL ? " to " : "",
		    fc->finish.move_to != NULL ? fc->finish.move_to : "", strerror(fc->finish.errnum));
	worker_exchange_free(fc->wk, &fc->ex);
	fc->at++;
	next_file(fc);
}

/* Lets go of the file that was taken, or could not be, without doing anything to it. */
static void
finish_start(struct consumer *fc)
{
	fc->finish.path = fc->take.path;
	fc->finish.marker = fc->take.marker;
	fc->finish.fd = fc->take.fd;
	fc->finish.marker_fd = fc->take.marker_fd;
	if (fc->take.blob != NULL)
		blob_put(fc->take.blob);
	fc->take.blob = NULL;
	start_job(fc, finish_run, finish_done);
}

/* The names for the end, with the headers as they were at the beginning. */
static void
finish_names(struct consumer *fc, bool failed)
{
	const struct file_conf *conf = fc->conf;
	struct exchange *ex = fc->ex;
	const struct file_found *f = &fc->items[fc->at];
	struct exception *exception = ex->exception;
	const struct expression *to = failed ? conf->move_failed_expr : conf->move_expr;

	ex->exception = NULL;
	file_headers(ex, conf, f, fc->fs->cwd);
	fc->finish.delete = !failed && conf->delete;
	if (to != NULL &&
	    (fc->finish.move_to = file_target(ex, conf, to, fc->take.path)) == NULL)
		(void)pass_over(fc, ex, f);
	bool last = fc->at + 1 == fc->n;
	if (!failed && conf->done_expr != NULL && (!conf->done_is_for_all || last))
		fc->finish.done =
		    file_done_path(ex, conf, file_path(&ex->arena, conf, f->rel));
	ex->exception = exception;
}

static void
file_done(struct exchange *ex)
{
	struct consumer *fc = ex->owner;
	bool failed = ex->exception != NULL || ex->rollback_only;

	if (failed && fc->key.p != NULL)
		seen_remove(&fc->seen, fc->key);
	else if (fc->key.p != NULL)
		store_add(&fc->store, fc->key); /* before the file's lock goes */
	fc->finish = (struct disk_finish){ .fd = -1, .marker_fd = -1 };
	finish_names(fc, failed);
	finish_start(fc);
}

/* ---- the beginning of a file ---- */

static void
take_run(struct loop_work *work)
{
	struct consumer *fc = CONTAINER_OF(work, struct consumer, work);

	disk_take(&fc->take);
	store_read(&fc->store); /* who had the lock before may have read it */
}

static void
set_body(struct consumer *fc)
{
	struct exchange *ex = fc->ex;
	struct blob *blob = fc->take.blob;
	struct value v = value_bytes((struct str){ blob->data, blob->size });

	v.blob = arena_hold(&ex->arena, blob);
	if (fc->conf->charset != NULL) {
		v.u.s = charset_decode(&ex->arena, v.u.s, fc->conf->charset);
		if (v.u.s.p != blob->data)
			v.blob = NULL;
	}
	v.flags = VALUE_INPUT;
	ex->body = v;
}

static void
run_exchange(struct consumer *fc)
{
	struct exchange *ex = fc->ex;

	ex->owner = fc;
	ex->done = file_done;
	if (fc->key.p != NULL)
		seen_add(&fc->seen, fc->key);
	worker_exchange_start(fc->wk, ex);
}

/* A file that is too large to be read fails as its exchange would. */
static void
too_large(struct consumer *fc)
{
	exchange_fail(fc->ex, EXCEPTION_BODY_TOO_LARGE, "file %s is larger than max_body (%llu)",
	    fc->take.path, (unsigned long long)fc->take.max);
	log_error("route %s: %.*s", fc->route->id, STR_FMT(fc->ex->exception->message));
	fc->ex->owner = fc;
	file_done(fc->ex);
}

static void
take_done(struct loop_work *work)
{
	struct consumer *fc = job_ended(work);

	if (fc == NULL)
		return;
	learn_keys(fc);
	if (fc->take.outcome == DISK_OK && fc->key.p != NULL && seen_has(&fc->seen, fc->key))
		fc->take.outcome = DISK_BUSY;
	switch (fc->take.outcome) {
	case DISK_OK:
		set_body(fc);
		run_exchange(fc);
		return;
	case DISK_LARGE:
		too_large(fc);
		return;
	case DISK_FAILED:
		log_warning("route %s: %s file %s: %s", fc->route->id, fc->take.at, fc->take.path,
		    strerror(fc->take.errnum));
		break;
	default:
		break;
	}
	fc->finish = (struct disk_finish){ .fd = -1, .marker_fd = -1 };
	finish_start(fc);
}

static void
skip_file(struct consumer *fc)
{
	worker_exchange_free(fc->wk, &fc->ex);
	fc->at++;
	next_file(fc);
}

static void
take_file(struct consumer *fc)
{
	start_job(fc, take_run, take_done);
}

/* readLock=changed: looks until size and time stay the same from one look to the next. */
static void
look_run(struct loop_work *work)
{
	struct consumer *fc = CONTAINER_OF(work, struct consumer, work);

	fc->look_there = disk_look(fc->take.path, &fc->look_size, &fc->look_modified_ms);
}

static void look_done(struct loop_work *work);

static void
look_again(struct consumer *fc)
{
	start_job(fc, look_run, look_done);
}

static void
look_done(struct loop_work *work)
{
	struct consumer *fc = job_ended(work);

	if (fc == NULL)
		return;
	const struct file_conf *conf = fc->conf;
	int64_t now = walltime_ms();
	bool same = fc->looked && fc->look_size == fc->looked_size &&
	    fc->look_modified_ms == fc->looked_modified_ms;
	if (fc->look_there && same && fc->look_size >= conf->lock_min_length &&
	    now - fc->look_modified_ms >= conf->lock_min_age_ms) {
		take_file(fc);
		return;
	}
	if (!fc->look_there || fc->stopped ||
	    (conf->lock_timeout_ms > 0 && now - fc->look_from_ms >= conf->lock_timeout_ms)) {
		skip_file(fc);
		return;
	}
	fc->looked = true;
	fc->looked_size = fc->look_size;
	fc->looked_modified_ms = fc->look_modified_ms;
	wait_for(fc, conf->lock_check_ms, look_again);
}

static void
batch_properties(struct consumer *fc)
{
	exchange_set_property(fc->ex, STR_LIT("CamelBatchIndex"), value_int((int64_t)fc->at));
	exchange_set_property(fc->ex, STR_LIT("CamelBatchSize"), value_int((int64_t)fc->n));
	exchange_set_property(
	    fc->ex, STR_LIT("CamelBatchComplete"), value_bool(fc->at + 1 == fc->n));
}

static bool
prepare_take(struct consumer *fc, const struct file_found *f)
{
	const struct file_conf *conf = fc->conf;
	struct exchange *ex = fc->ex;
	bool marks = conf->read_lock == FILE_LOCK_MARKER ||
	    (conf->read_lock == FILE_LOCK_CHANGED && conf->lock_marker);

	fc->key = (struct str){ NULL, 0 };
	fc->take = (struct disk_take){
		.path = file_path(&ex->arena, conf, f->rel),
		.max = worker_collect_limits(fc->wk).max,
		.fd = -1,
		.marker_fd = -1,
	};
	if (marks)
		fc->take.marker = arena_printf(&ex->arena, "%s.camelLock", fc->take.path);
	if (conf->pre_move_expr != NULL &&
	    (fc->take.move_to = file_target(ex, conf, conf->pre_move_expr, fc->take.path)) == NULL)
		return pass_over(fc, ex, f);
	if (!conf->idempotent)
		return true;
	/* One of the same key may have come before it in this poll. */
	return key_of(fc, ex, f, &fc->key) ? !seen_has(&fc->seen, fc->key) : pass_over(fc, ex, f);
}

static void
next_file(struct consumer *fc)
{
	if (fc->stopped || fc->at == fc->n) {
		poll_end(fc, fc->n > 0);
		return;
	}
	const struct file_found *f = &fc->items[fc->at];
	fc->ex = new_exchange(fc, f);
	if (!prepare_take(fc, f)) {
		worker_exchange_free(fc->wk, &fc->ex);
		fc->at++;
		wait_for(fc, 0, next_file); /* no recursion */
		return;
	}
	batch_properties(fc);
	fc->looked = false;
	fc->look_from_ms = walltime_ms();
	if (fc->conf->read_lock == FILE_LOCK_CHANGED)
		look_again(fc);
	else
		take_file(fc);
}

/* ---- a poll ---- */

static void
empty_done(struct exchange *ex)
{
	struct consumer *fc = ex->owner;

	worker_exchange_free(fc->wk, &fc->ex);
	poll_end(fc, false);
}

static void
scan_run(struct loop_work *work)
{
	struct consumer *fc = CONTAINER_OF(work, struct consumer, work);

	if (fc->conf->auto_create && fc->polls == 1)
		(void)disk_make_folder(fc->conf->directory, 0); /* the scan says so */
	store_read(&fc->store);
	file_scan(&fc->scan);
}

static void
complain(struct consumer *fc)
{
	const struct file_scan *s = &fc->scan;

	if (s->cut)
		log_warning("route %s: folder %s has more than %d files; the rest waits", fc->route->id,
		    s->dir, FILE_SCAN_MAX);
	if (s->errnum != 0 && (!s->missing || fc->conf->must_exist) && !fc->complained)
		log_error("route %s: cannot read folder %s: %s", fc->route->id, s->dir,
		    strerror(s->errnum));
	fc->complained = s->errnum != 0;
}

static void
scan_done(struct loop_work *work)
{
	struct consumer *fc = job_ended(work);

	if (fc == NULL)
		return;
	complain(fc);
	fc->at = fc->n = 0;
	if (!fc->stopped)
		select_files(fc);
	if (fc->n > 0 || !fc->conf->send_empty || fc->stopped) {
		next_file(fc);
		return;
	}
	fc->ex = new_exchange(fc, NULL);
	fc->ex->owner = fc;
	fc->ex->done = empty_done;
	worker_exchange_start(fc->wk, fc->ex);
}

static void
poll_begin(struct consumer *fc)
{
	fc->polls++;
	hash_fini(&fc->scan.present);
	arena_reset(&fc->arena);
	fc->scan = (struct file_scan){
		.conf = fc->conf, .dir = fc->conf->directory, .arena = &fc->arena
	};
	hash_init(&fc->scan.present, false);
	start_job(fc, scan_run, scan_done);
}

/* ---- what the worker calls ---- */

enum hinny_rc
file_start(struct worker *wk, struct endpoint *ep, const struct route *route, struct hinny_error *err)
{
	const struct file_conf *conf = ep->conf;
	if (conf->starting_must_exist && access(conf->directory, R_OK | X_OK) == -1)
		return hinny_error_errno(err, errno, "cannot read folder %s", conf->directory);
	struct consumer *fc = mem_zalloc(sizeof *fc);
	fc->fs = file_state_of(wk);
	fc->wk = wk;
	fc->ep = ep;
	fc->route = route;
	fc->conf = conf;
	arena_init(&fc->arena);
	hash_init(&fc->scan.present, false);
	seen_init(&fc->seen, SEEN_MIN);
	fc->store.fd = -1;
	if (conf->idempotent && !store_open(&fc->store, worker_run_dir(wk), ep->key))
		log_warning("route %s: keys of files cannot be kept in the run folder: %s", route->id,
		    strerror(errno));
	loop_timer_init(worker_loop(wk), &fc->timer, timer_fired);
	ep->impl = fc;
	wait_for(fc, conf->initial_delay_ms, poll_begin);
	return HINNY_OK;
}

void
file_stop(struct worker *wk, struct endpoint *ep)
{
	struct consumer *fc = ep->impl;
	(void)wk;

	if (fc == NULL)
		return;
	ep->impl = NULL;
	fc->stopped = true;
	bool looking = loop_timer_active(&fc->timer) && fc->ex != NULL;
	loop_timer_stop(&fc->timer);
	if (looking)
		worker_exchange_free(fc->wk, &fc->ex);
	consumer_end(fc);
}
