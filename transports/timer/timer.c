/*
 * The runtime of timer: one loop timer a route. Exchanges of one timer do not overlap: a period that passes while one is under way is made up for when it ends
 * (fixedRate: all of them, otherwise one), as a timer thread of Camel's does.
 */
#include "transports/timer/timer.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "workers/worker.h"

#include <stdlib.h>

struct timer {
	struct worker *wk;
	const struct route *route;
	const struct timer_conf *conf;
	struct loop_timer fire;
	struct exchange *running;
	int64_t count;          /* exchanges begun */
	int64_t idle, errors;   /* scheduler: one after another */
	struct monotime due;    /* when the next one should begin */
	bool stopped;
};

static void
timer_closed(struct loop_timer *t)
{
	free(CONTAINER_OF(t, struct timer, fire));
}

static void timer_schedule(struct timer *tm);

/* A scheduler looks at what its exchange came to: with greedy the next follows at once while there
 * was something to do, and with a backoffMultiplier times are passed over when there was nothing,
 * or only failures. */
static void
look_back(struct timer *tm, struct exchange *ex)
{
	const struct timer_conf *conf = tm->conf;
	const struct value *v = exchange_property(ex, STR_LIT("CamelSchedulerPolledMessages"));
	bool polled = v == NULL || value_truth(v);
	if (!conf->is_scheduler)
		return;
	tm->errors = ex->exception != NULL ? tm->errors + 1 : 0;
	tm->idle = ex->exception == NULL && !polled ? tm->idle + 1 : 0;
	if (conf->greedy && polled && ex->exception == NULL)
		tm->due = loop_now(worker_loop(tm->wk));
	if (conf->backoff_multiplier > 0 &&
	    ((conf->backoff_idle > 0 && tm->idle >= conf->backoff_idle) ||
		(conf->backoff_error > 0 && tm->errors >= conf->backoff_error))) {
		tm->due = monotime_add_ms(tm->due, conf->backoff_multiplier * conf->period_ms);
		tm->idle = tm->errors = 0;
	}
}

static void
timer_done(struct exchange *ex)
{
	struct timer *tm = ex->owner;
	tm->running = NULL; /* a failure has been logged by the engine */
	if (tm->conf->fixed_delay) /* counted from the end */
		tm->due = monotime_add_ms(loop_now(worker_loop(tm->wk)), tm->conf->period_ms);
	look_back(tm, ex);
	worker_exchange_free(tm->wk, &ex);
	if (tm->stopped)
		loop_timer_close(&tm->fire, timer_closed);
	else
		timer_schedule(tm);
}

static void
timer_metadata(struct timer *tm, struct exchange *ex)
{
	struct value now = value_int(walltime_ms());
	struct value stamp = now;
	stamp.flags = VALUE_LONG;
	now.flags = VALUE_DATE;
	struct value counter = value_int(tm->count), period = value_int(tm->conf->period_ms);
	counter.flags = period.flags = VALUE_LONG;
	exchange_set_property(ex, STR_LIT("CamelTimerName"), value_str(str_of(tm->conf->name)));
	exchange_set_property(ex, STR_LIT("CamelTimerCounter"), counter);
	exchange_set_property(ex, STR_LIT("CamelTimerPeriod"), period);
	exchange_set_header(ex, STR_LIT("CamelTimerFiredTime"), now);
	exchange_set_header(ex, STR_LIT("CamelMessageTimestamp"), stamp);
}

static void
timer_fire(struct loop_timer *t)
{
	struct timer *tm = CONTAINER_OF(t, struct timer, fire);
	struct exchange *ex = worker_exchange_new(tm->wk, tm->route);
	tm->count++;
	ex->pattern = tm->conf->pattern == 1 ? PATTERN_IN_OUT : PATTERN_IN_ONLY;
	ex->owner = tm;
	ex->done = timer_done;
	if (tm->conf->include_metadata)
		timer_metadata(tm, ex);
	tm->running = ex;
	struct monotime now = loop_now(worker_loop(tm->wk));
	tm->due = monotime_add_ms(tm->conf->fixed_rate ? tm->due : now, tm->conf->delay_ms < 0 ? 0 : tm->conf->period_ms);
	worker_exchange_start(tm->wk, ex);
}

static void
timer_schedule(struct timer *tm)
{
	if (tm->conf->repeat_count > 0 && tm->count >= tm->conf->repeat_count)
		return;
	int64_t wait_ns = tm->due.ns - loop_now(worker_loop(tm->wk)).ns;
	loop_timer_start(&tm->fire, wait_ns > 0 ? (wait_ns + 999999) / 1000000 : 0, 0);
}

/* From now on. */
static int64_t
first_wait(const struct timer_conf *conf)
{
	int64_t left = conf->time != NULL ? conf->first_ms - walltime_ms() : conf->delay_ms;
	return left > 0 ? left : 0;
}

static enum hinny_rc
timer_start(struct worker *wk, struct endpoint *ep, const struct route *route, struct hinny_error *err)
{
	(void)err;
	const struct timer_conf *conf = ep->conf;
	if (conf->is_scheduler && !conf->start) /* startScheduler=false */
		return HINNY_OK;
	struct timer *tm = MEM_NEW(struct timer);
	tm->wk = wk;
	tm->route = route;
	tm->conf = ep->conf;
	tm->due = monotime_add_ms(loop_now(worker_loop(wk)), first_wait(tm->conf));
	loop_timer_init(worker_loop(wk), &tm->fire, timer_fire);
	ep->impl = tm;
	timer_schedule(tm);
	return HINNY_OK;
}

static void
timer_stop(struct worker *wk, struct endpoint *ep)
{
	(void)wk;
	struct timer *tm = ep->impl;
	if (tm == NULL)
		return;
	ep->impl = NULL;
	tm->stopped = true;
	loop_timer_stop(&tm->fire);
	if (tm->running == NULL)
		loop_timer_close(&tm->fire, timer_closed);
}

const struct component_ops timer_ops = {
	.scheme = "timer",
	.start = timer_start,
	.stop = timer_stop,
	.release = timer_stop,
};

const struct component_ops scheduler_ops = {
	.scheme = "scheduler",
	.start = timer_start,
	.stop = timer_stop,
	.release = timer_stop,
};
