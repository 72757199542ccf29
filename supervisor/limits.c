/*
 * The time limit of one transformation, held from outside: the worker writes what it works on and
 * since when into its shared page, and is killed when that takes too long. Nothing that a document
 * or a stylesheet does can get around it.
 */
#include "supervisor/watchdogs.h"

#include "core/base/log.h"
#include "core/config/settings.h"
#include "supervisor/generation.h"
#include "supervisor/supervisor_priv.h"

#include <inttypes.h>

enum { TICK_LEAST_MS = 10, TICK_MOST_MS = 1000, TICKS_A_LIMIT = 8 };

static void
look_at(struct process *pr, int64_t limit_ms)
{
	uint64_t call = PAGE_GET(pr->page->call_id);
	struct monotime began = { (int64_t)PAGE_GET(pr->page->call_started_ns) };

	if ((pr->kind->flags & KIND_STATELESS) == 0)
		return; /* what it does may wait for others */
	if (call == 0 || began.ns == 0 || pr->pid == 0 || pr->killed_for != NULL)
		return;
	if (monotime_ms_between(began, monotime_now()) <= limit_ms ||
	    PAGE_GET(pr->page->call_id) != call)
		return;
	log_error("worker %s has worked on one call for more than %" PRId64 " ms and is killed",
	    pr->name, limit_ms);
	pr->late_call = call;
	process_kill(pr, "a transformation took longer than xform.time_limit");
}

static void
on_tick(struct loop_timer *t)
{
	struct supervisor *sv = CONTAINER_OF(t, struct supervisor, limits);

	LIST_FOREACH (&sv->generations, node, tmp) {
		struct generation *gen = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < gen->n; i++)
			look_at(gen->processes[i], generation_settings(gen)->xform.time_limit_ms);
	}
}

/* Only where there is somebody to look after: an idle broker without transformers sleeps. */
static bool
is_needed(const struct supervisor *sv)
{
	LIST_FOREACH (&sv->generations, node, tmp) {
		const struct generation *gen = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < gen->n; i++) {
			if ((gen->processes[i]->kind->flags & KIND_STATELESS) != 0)
				return true;
		}
	}
	return false;
}

void
limits_start(struct supervisor *sv)
{
	int64_t ms = generation_settings(sv->serving)->xform.time_limit_ms / TICKS_A_LIMIT;

	if (!sv->limits.open)
		loop_timer_init(&sv->lp, &sv->limits, on_tick);
	ms = ms < TICK_LEAST_MS ? TICK_LEAST_MS : ms > TICK_MOST_MS ? TICK_MOST_MS : ms;
	if (!is_needed(sv))
		ms = 0;
	if (ms == 0)
		loop_timer_stop(&sv->limits);
	else if (sv->limits_ms != ms) /* reloads in a row must not put it off for ever */
		loop_timer_start(&sv->limits, ms, ms);
	sv->limits_ms = ms;
}
