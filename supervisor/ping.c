/* Asks every worker whether it lives; one that has not answered for too long is hung and killed,
 * and its successor takes over. */
#include "supervisor/watchdogs.h"

#include "core/base/log.h"
#include "core/config/settings.h"
#include "supervisor/generation.h"
#include "supervisor/supervisor_priv.h"

static bool
is_hung(const struct process *pr, int64_t timeout_ms)
{
	if (pr->ping_since.ns == 0 || PAGE_GET(pr->page->call_id) != 0)
		return false; /* one that works on a call answers when it is done: limits.c looks
		                 after it */
	return monotime_ms_between(pr->ping_since, monotime_now()) > timeout_ms;
}

static void
ping_generation(const struct generation *gen)
{
	int64_t timeout_ms = generation_settings(gen)->supervisor.ping_timeout_ms;

	for (size_t i = 0; i < gen->n; i++) {
		struct process *pr = gen->processes[i];
		if (!process_is_up(pr))
			continue;
		if (is_hung(pr, timeout_ms)) {
			log_error("worker %s hangs: no answer for %lld ms", pr->name,
			    (long long)timeout_ms);
			process_kill(pr, "it did not answer in time (supervisor.ping_timeout)");
		} else if (gen->state != GENERATION_DRAINING ||
		    gen->drained) { /* the rounds of a drain are pings */
			process_ping(pr);
		}
	}
}

static void
on_ping(struct loop_timer *t)
{
	struct supervisor *sv = CONTAINER_OF(t, struct supervisor, ping);

	LIST_FOREACH (&sv->generations, node, tmp)
		ping_generation(LIST_ENTRY(node, struct generation, node));
}

void
ping_start(struct supervisor *sv)
{
	int64_t ms = generation_settings(sv->serving)->supervisor.ping_interval_ms;

	if (!sv->ping.open)
		loop_timer_init(&sv->lp, &sv->ping, on_ping);
	if (sv->ping_ms != ms) /* reloads in a row must not put it off for ever */
		loop_timer_start(&sv->ping, ms, ms);
	sv->ping_ms = ms;
}
