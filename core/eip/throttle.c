/*
 * throttle. TotalRequests: in any time of the period at most so many messages pass; the others wait
 * for their turn, or are rejected. ConcurrentRequests: at most so many are behind the throttle and
 * have not ended. With a correlationExpression each of its values has a limit of its own.
 *
 * The state is shared by all workers of the generation (throttle_state.c), so the limit is that of
 * the route, not of a process. Who waits for a permit waits in its own process, in order; what
 * another process gives back is noticed when the waiting are looked at again.
 */
#include "core/eip/throttle.h"

#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>
#include <stdlib.h>

#define AT(m) offsetof(struct throttle_conf, m)

enum { MODE_TOTAL, MODE_CONCURRENT };
enum { LOOK_MS = 5, WITHOUT_KEY = 1 };

static int
throttle_check(struct compile *c, struct step *st)
{
	struct throttle_conf *conf = st->conf;
	bool keyed = conf->correlation != NULL;
	int64_t n = THROTTLE_MAX;
	if (strcmp(st->expr->language->name, "constant") == 0 &&
	    (!str_to_int64(str_trim(str_of(st->expr->text)), &n) || n < 0 || n > THROTTLE_MAX))
		return compile_error(c, st->expr->at,
		    "throttle: expected a whole number from 0 to %d, got \"%s\"", THROTTLE_MAX,
		    st->expr->text);
	st->shared_size = conf->mode == MODE_TOTAL
	    ? throttle_times_layout((uint32_t)n, keyed, &conf->layout)
	    : throttle_permits_layout(keyed, &conf->layout);
	return 0;
}

/* ---- the limit and the key ---- */

static enum step_rc
fail_with_limit(struct exchange *ex, const struct value *v)
{
	struct str text = value_text(&ex->arena, v);
	exchange_fail(ex, EXCEPTION_ILLEGAL_STATE,
	    "the maximum of requests of a throttle must be a number from 0 to %d, got \"%.*s\"",
	    THROTTLE_MAX, STR_FMT(text));
	return STEP_FAILED;
}

/* STEP_DONE: both are there. */
static enum step_rc
evaluate(struct exchange *ex, const struct step *st, uint32_t *max, uint64_t *key)
{
	const struct throttle_conf *conf = st->conf;
	struct hinny_error err;
	struct value v, n;
	struct str text = { NULL, 0 };
	enum eval_rc rc = expression_eval(st->expr, ex, &v);
	if (rc == EVAL_OK && conf->correlation)
		rc = expression_text(conf->correlation, ex, &text, NULL);
	if (rc != EVAL_OK)
		return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	if (value_convert_number(&ex->arena, &v, CLASS_LONG, &n, &err) != HINNY_OK ||
	    value_is_null(&n) || n.u.i < 0 || n.u.i > THROTTLE_MAX)
		return fail_with_limit(ex, &v);
	*max = (uint32_t)n.u.i;
	*key = conf->correlation ? throttle_hash(text) : WITHOUT_KEY;
	return STEP_DONE;
}

static enum step_rc
fail_full(struct exchange *ex, const struct step *st)
{
	exchange_fail(ex, EXCEPTION_ILLEGAL_STATE,
	    "throttle %s: more keys or processes are limited at a time than there is room for",
	    st->id);
	return STEP_FAILED;
}

static enum step_rc
fail_rejected(struct exchange *ex, const struct throttle_conf *conf, uint32_t max)
{
	if (conf->mode == MODE_TOTAL)
		exchange_fail(ex, EXCEPTION_THROTTLER_REJECTED,
		    "Exceeded the max throttle rate of %u within %lldms", max,
		    (long long)conf->period_ms);
	else
		exchange_fail(ex, EXCEPTION_THROTTLER_REJECTED,
		    "Exceeded the max throttle rate of %u", max);
	return STEP_FAILED;
}

/* ---- messages at a time ---- */

/* Those of one step that wait in this process. */
struct waiting_room {
	struct engine *en;
	const struct step *st;
	struct list waiting; /* struct waiter */
	struct engine_timer *look;
};

struct waiter {
	struct list node;
	struct waiting_room *room;
	struct exchange *ex;
	uint64_t key;
	uint32_t max;
};

/* Of an exchange that has a permit. */
struct permit {
	struct waiting_room *room;
	uint64_t key;
};

static void let_in(struct waiting_room *room);

static void
room_free(void *room)
{
	free(room); /* who waited was aborted before */
}

static struct waiting_room *
room_of(struct engine *en, const struct step *st)
{
	void **at = engine_local(en, st, room_free);
	if (*at == NULL) {
		struct waiting_room *room = MEM_NEW(struct waiting_room);
		room->en = en;
		room->st = st;
		list_init(&room->waiting);
		*at = room;
	}
	return *at;
}

static int64_t
acquire(const struct waiting_room *room, uint64_t key, uint32_t max)
{
	const struct throttle_conf *conf = room->st->conf;
	return throttle_acquire(engine_shared(room->en, room->st), &conf->layout, key, max);
}

static void
exchange_ended(struct exchange *ex, void *arg)
{
	struct permit *pm = arg;
	const struct throttle_conf *conf = pm->room->st->conf;
	(void)ex;
	throttle_release(engine_shared(pm->room->en, pm->room->st), &conf->layout, pm->key);
	let_in(pm->room);
}

static void
note_permit(struct waiting_room *room, struct exchange *ex, uint64_t key)
{
	struct permit *pm = ARENA_NEW(&ex->arena, struct permit);
	*pm = (struct permit){ room, key };
	engine_on_done(ex, exchange_ended, pm);
}

static void
looked(void *arg)
{
	struct waiting_room *room = arg;
	room->look = NULL;
	let_in(room);
}

/* In order, but nobody waits for another key. What goes on may come back here at once, so each is
 * taken out before. */
static void
let_in(struct waiting_room *room)
{
	struct list *at = room->waiting.next;
	while (at != &room->waiting) {
		struct waiter *w = LIST_ENTRY(at, struct waiter, node);
		int64_t rc = acquire(room, w->key, w->max);
		if (rc == THROTTLE_REJECTED) {
			at = at->next;
			continue;
		}
		struct exchange *ex = w->ex;
		list_remove(&w->node);
		engine_on_abort(ex, NULL, NULL);
		if (rc == 0) {
			note_permit(room, ex, w->key);
			engine_resume(ex);
		} else {
			(void)fail_full(ex, room->st);
			engine_fail(ex);
		}
		at = room->waiting.next;
	}
	if (!list_empty(&room->waiting) && room->look == NULL)
		room->look = room->en->ops->timer_start(room->en, LOOK_MS, looked, room);
}

static void
aborted(void *arg)
{
	struct waiter *w = arg;
	struct waiting_room *room = w->room;
	list_remove(&w->node);
	if (list_empty(&room->waiting) && room->look != NULL) {
		room->en->ops->timer_cancel(room->en, room->look);
		room->look = NULL;
	}
}

static enum step_rc
run_concurrent(
    struct engine *en, struct exchange *ex, const struct step *st, uint32_t max, uint64_t key)
{
	const struct throttle_conf *conf = st->conf;
	struct waiting_room *room = room_of(en, st);
	int64_t rc = acquire(room, key, max);
	if (rc == 0) {
		note_permit(room, ex, key);
		return STEP_DONE;
	}
	if (rc == THROTTLE_FULL)
		return fail_full(ex, st);
	if (conf->rejects)
		return fail_rejected(ex, conf, max);
	struct waiter *w = ARENA_NEW(&ex->arena, struct waiter);
	*w = (struct waiter){ .room = room, .ex = ex, .key = key, .max = max };
	list_append(&room->waiting, &w->node);
	engine_on_abort(ex, aborted, w);
	if (room->look == NULL)
		room->look = en->ops->timer_start(en, LOOK_MS, looked, room);
	return STEP_PENDING;
}

/* ---- the step ---- */

static enum step_rc
throttle_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct throttle_conf *conf = st->conf;
	uint64_t key;
	uint32_t max;
	enum step_rc rc = evaluate(ex, st, &max, &key);
	if (rc != STEP_DONE)
		return rc;
	if (max == 0) /* nobody waits for ever */
		return conf->rejects ? fail_rejected(ex, conf, max) : STEP_DONE;
	if (conf->mode == MODE_CONCURRENT)
		return run_concurrent(en, ex, st, max, key);
	int64_t wait = throttle_reserve(engine_shared(en, st), &conf->layout, key, max,
	    conf->period_ms, conf->rejects, en->ops->now_ms(en));
	if (wait == 0)
		return STEP_DONE;
	if (wait == THROTTLE_FULL)
		return fail_full(ex, st);
	if (wait == THROTTLE_REJECTED)
		return fail_rejected(ex, conf, max);
	en->ops->wait(en, ex, wait);
	return STEP_PENDING;
}

static const struct option_desc options[] = {
	{ .name = "mode",
	    .type = OPTION_ENUM,
	    .values = "TotalRequests|ConcurrentRequests",
	    .dflt = "TotalRequests",
	    .offset = AT(mode),
	    .help = "what is limited: messages in a period, or messages that have not ended" },
	{ .name = "timePeriodMillis",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .min = 1,
	    .max = INT64_MAX / 4,
	    .offset = AT(period_ms),
	    .help = "the period of TotalRequests" },
	{ .name = "correlationExpression",
	    .type = OPTION_EXPRESSION,
	    .offset = AT(correlation),
	    .help = "each of its values has a limit of its own" },
	{ .name = "rejectExecution",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(rejects),
	    .help = "an exception instead of waiting" },
	{ .name = "asyncDelayed",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(async_delayed),
	    .help = "without meaning here: no thread waits" },
	{ .name = "callerRunsWhenRejected",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_LABEL,
	    .offset = AT(caller_runs),
	    .help = "without meaning here: no wait is ever rejected" },
	OPTIONS_END,
};

const struct eip_desc throttle_eip = {
	.name = "throttle",
	.flags = EIP_EXPRESSION,
	.options = options,
	.conf_size = sizeof(struct throttle_conf),
	.check = throttle_check,
	.run = throttle_run,
	.help = "lets so many messages through in a period, or at a time",
};
