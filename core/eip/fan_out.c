/*
 * Branches of a step as children of its exchange.
 *
 * All that happens goes through pump(): it takes the results that are next, begins branches while
 * there is room, and at the end lets the exchange go on. A child that is done while pump() runs is
 * only noted, so nothing recurses. After many branches without a pause the loop turns first.
 */
#include "core/eip/fan_out.h"

#include "core/base/assert.h"
#include "core/config/compile.h"

#include <stddef.h>

enum slot_state { SLOT_FREE, SLOT_RUNNING, SLOT_DONE };

static void pump(struct fan_out *fo);

/* ---- results ---- */

/* Of stopOnException: the failure of one ends the whole. */
static void
stop_at(struct fan_out *fo, const struct exchange *child, uint32_t index)
{
	struct exchange *ex = fo->ex;
	struct exception *cause = exception_share(&ex->arena, child->exception);
	fo->stopped = exception_new(&ex->arena, EXCEPTION_CAMEL_EXCHANGE,
	    "Multicast processing failed for number %u. Exchange[]. Caused by: [%s - %.*s]", index,
	    exception_class(cause->id)->name, STR_FMT(cause->message));
	fo->stopped->cause = cause;
	fo->halted = true;
}

/* The result of a slot that is done. */
static void
take(struct fan_out *fo, struct fan_out_slot *slot)
{
	struct exchange *child = slot->child;
	slot->child = NULL;
	slot->state = SLOT_FREE;
	if (fo->stopped || fo->last || (fo->halted && fo->ex->exception)) {
		engine_child_free(&child);
		return;
	}
	if (engine_was_handled(child) && fo->conf->share_unit_of_work)
		fo->shared_handled = true;
	if (child->exception) {
		fo->failures++;
		if (fo->conf->stop_on_exception) {
			stop_at(fo, child, slot->index);
			engine_child_free(&child);
			return;
		}
		if (fo->ops->failed && fo->ops->failed(fo, slot->index))
			fo->halted = true;
	}
	if (fo->conf->stop_on_exception && engine_was_ended(child)) { /* its message is the result */
		fo->last = child;
		fo->halted = true;
		return;
	}
	if (!aggregation_add(&fo->ag, &child))
		fo->halted = true;
	engine_child_free(&child);
}

/* Those that are next in order; when time is up, all that are done. */
static void
take_in_order(struct fan_out *fo)
{
	for (; fo->taken < fo->begun; fo->taken++) {
		struct fan_out_slot *slot = &fo->slots[fo->taken % fo->window];
		if (slot->state == SLOT_RUNNING)
			return;
		if (slot->state == SLOT_DONE)
			take(fo, slot);
	}
}

/* ---- the end ---- */

static void
stop_timers(struct fan_out *fo)
{
	struct engine *en = fo->ex->engine;
	if (fo->timer)
		en->ops->timer_cancel(en, fo->timer);
	if (fo->pause)
		en->ops->timer_cancel(en, fo->pause);
	fo->timer = fo->pause = NULL;
}

/* Lets the exchange go on. */
static void
end(struct fan_out *fo)
{
	struct exchange *ex = fo->ex;
	struct exception *exception = fo->stopped;
	bool failed_over = true;
	stop_timers(fo);
	engine_on_abort(ex, NULL, NULL);
	if (exception) {
		aggregation_fini(&fo->ag);
	} else if (fo->last) {
		aggregation_fini(&fo->ag);
		engine_take_result(ex, fo->last);
	} else {
		exception = ex->exception ? ex->exception : fo->ag.exception;
		failed_over = ex->exception || fo->ag.failed_over;
		ex->exception = NULL;
		aggregation_finish(&fo->ag);
	}
	engine_child_free(&fo->last);
	if (fo->ops->ended)
		fo->ops->ended(fo, &exception);
	if (exception == NULL) {
		if (fo->shared_handled)
			engine_end(ex);
		engine_resume(ex);
		return;
	}
	ex->exception = exception;
	ex->failed_over = failed_over; /* where the error handler has had its say in the branch */
	engine_fail(ex);
}

/* ---- children ---- */

static void
orphan_done(struct exchange *child)
{
	engine_child_free(&child);
}

static void
child_done(struct exchange *child)
{
	struct fan_out_slot *slot = child->owner;
	struct fan_out *fo = slot->fo;
	slot->state = SLOT_DONE;
	fo->running--;
	if (fo->conf->streaming && fo->conf->parallel)
		take(fo, slot);
	pump(fo);
}

/* Those that have not ended go on by themselves. */
static void
let_go(struct fan_out *fo)
{
	for (uint32_t i = 0; i < fo->window; i++) {
		struct fan_out_slot *slot = &fo->slots[i];
		if (slot->state != SLOT_RUNNING)
			continue;
		slot->child->done = orphan_done;
		slot->child->owner = NULL;
		slot->child = NULL;
		slot->state = SLOT_FREE;
		fo->running--;
	}
}

static void
time_is_up(void *arg)
{
	struct fan_out *fo = arg;
	fo->timer = NULL;
	fo->timed_out = true;
	let_go(fo);
	pump(fo);
}

static void
pause_is_over(void *arg)
{
	struct fan_out *fo = arg;
	fo->pause = NULL;
	fo->burst = 0;
	pump(fo);
}

/* The exchange is dropped: so are the children. */
static void
aborted(void *arg)
{
	struct fan_out *fo = arg;
	stop_timers(fo);
	aggregation_fini(&fo->ag);
	engine_child_free(&fo->last);
	for (uint32_t i = 0; i < fo->window; i++) {
		struct exchange *child = fo->slots[i].child;
		enum slot_state state = fo->slots[i].state;
		if (child == NULL)
			continue;
		fo->slots[i].child = NULL;
		child->done = orphan_done;
		child->parent = NULL;
		if (state == SLOT_DONE)
			engine_child_free(&child);
		else
			engine_abort(
			    child, EXCEPTION_REJECTED_EXECUTION, "the exchange was aborted");
	}
}

static void
begin(struct fan_out *fo)
{
	struct fan_out_slot *slot = &fo->slots[fo->begun % fo->window];
	struct branch branch = { 0 };
	ASSERT(slot->state == SLOT_FREE);
	struct exchange *child = engine_child_new(fo->ex, fo->detached);
	*slot = (struct fan_out_slot){ fo, child, fo->begun, SLOT_RUNNING };
	child->owner = slot;
	child->done = child_done;
	fo->ops->branch(fo, child, fo->begun, &branch);
	fo->begun++;
	fo->running++;
	fo->burst++;
	engine_start_child(child, branch.first, branch.n, fo->handles);
}

static bool
may_begin(const struct fan_out *fo)
{
	return fo->begun < fo->total && !fo->halted && !fo->timed_out && fo->running < fo->window &&
	    fo->slots[fo->begun % fo->window].state == SLOT_FREE;
}

static void
pump(struct fan_out *fo)
{
	struct engine *en = fo->ex->engine;
	if (fo->pumping || fo->pause)
		return;
	fo->pumping = true;
	for (;;) {
		take_in_order(fo);
		if (!may_begin(fo))
			break;
		if (fo->burst >= FAN_OUT_BURST) {
			fo->pause = en->ops->timer_start(en, 0, pause_is_over, fo);
			break;
		}
		begin(fo);
	}
	fo->pumping = false;
	if (fo->pause == NULL && fo->running == 0)
		end(fo);
}

/* Would nobody see that branches run at the same time? What a failure sets off might be seen. */
static bool
may_overlap(const struct exchange *ex, const struct step *st, const struct fan_out_conf *conf)
{
	const struct route *route = ex->route;
	return st->overlaps && !conf->in_order && !conf->stop_on_exception && route &&
	    route->handlers_n == 0 && route->error_handler == NULL && route->interceptors_n == 0;
}

enum step_rc
fan_out_run(struct exchange *ex, const struct step *st, const struct fan_out_conf *conf,
    enum aggregation_kind otherwise, const struct fan_out_ops *ops, void *source, uint32_t total)
{
	struct engine *en = ex->engine;
	if (total == 0) {
		struct exception *none = NULL;
		struct fan_out empty = { .ex = ex, .st = st, .conf = conf, .ops = ops };
		if (ops->ended)
			ops->ended(&empty, &none);
		return STEP_DONE;
	}
	if (!engine_child_allowed(ex))
		return STEP_FAILED;
	struct fan_out *fo = arena_zalloc(&ex->arena, sizeof(*fo));
	*fo = (struct fan_out){ .ex = ex, .st = st, .conf = conf, .ops = ops, .source = source };
	fo->total = total;
	fo->overlaps = conf->parallel || may_overlap(ex, st, conf);
	fo->window = !fo->overlaps ? 1 : total < FAN_OUT_WINDOW ? total : FAN_OUT_WINDOW;
	fo->slots = arena_zalloc(&ex->arena, fo->window * sizeof(fo->slots[0]));
	fo->handles = engine_handles_errors(ex);
	fo->detached = conf->timeout_ms > 0;
	aggregation_init(&fo->ag, ex, conf->strategy, otherwise);
	engine_on_abort(ex, aborted, fo);
	if (conf->timeout_ms > 0)
		fo->timer = en->ops->timer_start(en, conf->timeout_ms, time_is_up, fo);
	pump(fo);
	return STEP_PENDING;
}

int
fan_out_check(struct compile *c, struct step *st, const struct fan_out_conf *conf)
{
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	if (conf->timeout_ms > 0 && !conf->parallel)
		return compile_error(c, st->at,
		    "timeout: timeout is used but parallelProcessing has not been enabled");
	return 0;
}
