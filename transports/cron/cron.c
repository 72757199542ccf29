/*
 * The runtime of cron and quartz: one loop timer a route. Exchanges may overlap, as those of
 * Quartz's threads do; a time at which CRON_RUNNING_MAX are under way (one when stateful) is passed
 * over. The timer wakes at least once a minute, so that a clock that is set is noticed.
 */
#include "transports/cron/cron.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "workers/worker.h"

#include <stdlib.h>

enum { CRON_RUNNING_MAX = 10, CRON_WAIT_MAX_MS = 60000 };

struct cron {
	struct worker *wk;
	const struct route *route;
	const struct cron_conf *conf;
	struct loop_timer timer;
	int64_t due_ms;      /* wall time; -1: never again */
	int64_t previous_ms; /* -1: none */
	int64_t fired;
	uint32_t running;
	bool stopped;
};

static void
timer_closed(struct loop_timer *t)
{
	free(CONTAINER_OF(t, struct cron, timer));
}

static void
cron_done(struct exchange *ex)
{
	struct cron *cr = ex->owner;

	cr->running--;
	worker_exchange_free(cr->wk, &ex);
	if (cr->stopped && cr->running == 0)
		loop_timer_close(&cr->timer, timer_closed);
}

/* The time behind `ms`, or -1. */
static int64_t
next_due(const struct cron *cr, int64_t ms)
{
	const struct cron_conf *conf = cr->conf;

	if (conf->schedule != NULL) {
		int64_t s = cron_next(&conf->expr, conf->tz, ms / 1000);
		return s < 0 ? -1 : s * 1000;
	}
	if (conf->repeat_count >= 0 && cr->fired > conf->repeat_count)
		return -1;
	return ms + conf->repeat_interval_ms;
}

static void
set_date(struct exchange *ex, const char *name, int64_t ms)
{
	struct value v = value_int(ms);

	if (ms < 0)
		return;
	v.flags = VALUE_DATE;
	exchange_set_header(ex, str_of(name), v);
}

static void
fire(struct cron *cr, int64_t scheduled_ms)
{
	const struct cron_conf *conf = cr->conf;
	struct exchange *ex = worker_exchange_new(cr->wk, cr->route);

	ex->pattern = conf->pattern == 1 ? PATTERN_IN_OUT : PATTERN_IN_ONLY;
	ex->owner = cr;
	ex->done = cron_done;
	set_date(ex, "fireTime", walltime_ms());
	set_date(ex, "scheduledFireTime", scheduled_ms);
	set_date(ex, "nextFireTime", cr->due_ms);
	set_date(ex, "previousFireTime", cr->previous_ms);
	exchange_set_header(ex, STR_LIT("refireCount"), value_int(0));
	exchange_set_header(ex, STR_LIT("triggerName"), value_str(str_of(conf->trigger)));
	exchange_set_header(ex, STR_LIT("triggerGroup"), value_str(str_of(conf->group)));
	cr->running++;
	cr->previous_ms = scheduled_ms;
	worker_exchange_start(cr->wk, ex);
}

static void
schedule(struct cron *cr)
{
	int64_t wait = cr->due_ms - walltime_ms();

	if (cr->due_ms < 0)
		return;
	if (wait > CRON_WAIT_MAX_MS)
		wait = CRON_WAIT_MAX_MS;
	loop_timer_start(&cr->timer, wait > 0 ? wait : 0, 0);
}

static void
on_timer(struct loop_timer *t)
{
	struct cron *cr = CONTAINER_OF(t, struct cron, timer);
	int64_t now = walltime_ms(), scheduled = cr->due_ms;
	uint32_t max = cr->conf->stateful ? 1 : CRON_RUNNING_MAX;

	if (now >= scheduled) {
		cr->fired++;
		/* Times that were slept through are passed over but for the last. */
		cr->due_ms = next_due(cr, cr->conf->schedule != NULL ? now : scheduled);
		if (cr->running < max)
			fire(cr, scheduled);
		else
			log_warning("route %s: %u exchanges are under way, one more is passed over",
			    cr->route->id, cr->running);
	}
	schedule(cr);
}

static enum hinny_rc
cron_start(struct worker *wk, struct endpoint *ep, const struct route *route, struct hinny_error *err)
{
	struct cron *cr = MEM_NEW(struct cron);
	(void)err;

	cr->wk = wk;
	cr->route = route;
	cr->conf = ep->conf;
	cr->previous_ms = -1;
	int64_t begin = walltime_ms() + cr->conf->start_delay_ms;
	cr->due_ms = cr->conf->schedule != NULL ? next_due(cr, begin) : begin;
	loop_timer_init(worker_loop(wk), &cr->timer, on_timer);
	ep->impl = cr;
	schedule(cr);
	return HINNY_OK;
}

static void
cron_stop(struct worker *wk, struct endpoint *ep)
{
	struct cron *cr = ep->impl;
	(void)wk;

	if (cr == NULL)
		return;
	ep->impl = NULL;
	cr->stopped = true;
	loop_timer_stop(&cr->timer);
	if (cr->running == 0)
		loop_timer_close(&cr->timer, timer_closed);
}

const struct component_ops cron_ops = {
	.scheme = "cron",
	.start = cron_start,
	.stop = cron_stop,
	.release = cron_stop,
};

const struct component_ops quartz_ops = {
	.scheme = "quartz",
	.start = cron_start,
	.stop = cron_stop,
	.release = cron_stop,
};
