/*
 * Draining: no new work, every exchange finished, then all workers of the generation stop together.
 *
 * DRAIN goes to all. From then on they are asked in rounds of pings what they still have:
 * exchanges, calls, open connections. A round is complete when all have answered; two complete
 * rounds in a row (at the end of the broker four) with nothing in flight anywhere, so that no call
 * can have been on its way between two answers, end it. At the end of the broker connections that
 * wait for a request are closed then, and it is asked once more. The drain timeout ends it too,
 * with a log line. A worker that a home's calls may need is replaced meanwhile when it dies; others
 * are not.
 */
#include "supervisor/generation_priv.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "supervisor/handover.h"
#include "supervisor/states.h"
#include "supervisor/supervisor_priv.h"

#include <inttypes.h>

enum {
	ROUND_FIRST_MS = 5, /* first wait between two rounds; grows */
	ROUND_LAST_MS = 200,
	QUIET_ROUNDS = 2,
	/* At the end of the broker connections are let in until the second one, and what came over
	 * those has to show. */
	FINAL_QUIET_ROUNDS = 4,
};

static void
begin_round(struct generation *gen)
{
	for (size_t i = 0; i < gen->n; i++)
		process_ping(gen->processes[i]);
	gen->round = gen->sv->next_sequence;
	loop_timer_start(&gen->rounds, gen->round_ms, 0);
	gen->round_ms = gen->round_ms * 3 / 2 + 1;
	if (gen->round_ms > ROUND_LAST_MS)
		gen->round_ms = ROUND_LAST_MS;
}

/* Has everyone answered the ping of this round? */
static bool
round_complete(const struct generation *gen)
{
	for (size_t i = 0; i < gen->n; i++) {
		const struct process *pr = gen->processes[i];
		if (pr->channel != NULL && pr->pong_seen != pr->ping_sent)
			return false;
	}
	return true;
}

static uint64_t
in_flight(const struct generation *gen)
{
	uint64_t n = 0;

	for (size_t i = 0; i < gen->n; i++) {
		n += gen->processes[i]->exchanges + gen->processes[i]->calls;
		if (!gen->final) /* those that wait for a request end with the broker */
			n += gen->processes[i]->connections;
	}
	return n;
}

/* Is somebody on the way up, or has not stopped its sources yet? */
static bool
is_unsettled(const struct generation *gen)
{
	for (size_t i = 0; i < gen->n; i++) {
		const struct process *pr = gen->processes[i];
		if (pr->state == PROCESS_STARTING || pr->state == PROCESS_BACKOFF)
			return true;
		if (pr->state == PROCESS_DRAINING && !pr->sources_stopped)
			return true;
	}
	return states_are_unsettled(gen);
}

static void
drain_again(struct generation *gen)
{
	for (size_t i = 0; i < gen->n; i++)
		process_event(gen->processes[i], PROCESS_EVENT_DRAIN);
}

static void
ask_again(struct generation *gen)
{
	gen->quiet_rounds = 0;
	gen->round_ms = ROUND_FIRST_MS;
	begin_round(gen);
}

static void
is_drained(struct generation *gen)
{
	struct supervisor *sv = gen->sv;

	if (sv->phase == SUPERVISOR_DRAINED && gen == sv->serving) {
		gen->drained = true; /* it stays for those who want to look at it */
		drain_again(gen);    /* what is idle goes now */
		log_info("generation %" PRIu64 " is drained", gen->number);
		sdnotify_status(&sv->notify, "drained");
		return;
	}
	if (gen->final && !gen->idle_closed) { /* no request comes behind the last answer */
		gen->idle_closed = true;
		drain_again(gen);
	} else if (!states_end(gen)) {
		generation_stop(gen, false);
		return;
	}
	ask_again(gen);
}

static void
drain_timed_out(struct generation *gen)
{
	uint64_t exchanges = 0, connections = 0;

	for (size_t i = 0; i < gen->n; i++) {
		exchanges += gen->processes[i]->exchanges;
		connections += gen->processes[i]->connections;
	}
	if (exchanges > 0)
		log_warning("generation %" PRIu64 ": drain timeout has passed, %" PRIu64
			    " exchanges are cut",
		    gen->number, exchanges);
	else
		log_info("generation %" PRIu64 ": drain timeout has passed, %" PRIu64
			 " idle connections are closed",
		    gen->number, connections);
	generation_stop(gen, false);
}

void
drain_on_round(struct loop_timer *t)
{
	struct generation *gen = CONTAINER_OF(t, struct generation, rounds);

	if (gen->state == GENERATION_STARTING && gen->n == 0) {
		handover_commit(gen);
		return;
	}
	if (gen->state != GENERATION_DRAINING)
		return;
	if (monotime_now().ns >= gen->drain_deadline.ns) {
		drain_timed_out(gen);
		return;
	}
	if (!round_complete(gen)) { /* a slow one is the business of ping.c */
		loop_timer_start(&gen->rounds, gen->round_ms, 0);
		return;
	}
	gen->quiet_rounds = in_flight(gen) == 0 && !is_unsettled(gen) ? gen->quiet_rounds + 1 : 0;
	if (gen->quiet_rounds >= (gen->final ? FINAL_QUIET_ROUNDS : QUIET_ROUNDS))
		is_drained(gen);
	else
		begin_round(gen);
}

void
generation_process_pong(struct generation *gen, struct process *pr)
{
	/* The last answer of a round ends it: no need to wait for the timer when there is nothing
	 * left to do. */
	if (gen->state == GENERATION_DRAINING && !gen->drained && pr->pong_seen == pr->ping_sent &&
	    in_flight(gen) == 0 && round_complete(gen))
		loop_timer_start(&gen->rounds, 1, 0);
}

void
generation_drain(struct generation *gen, bool final)
{
	if (gen->state != GENERATION_SERVING && !(gen->state == GENERATION_DRAINING && final))
		return;
	if (gen->state == GENERATION_SERVING || gen->drained)
		gen->drain_deadline = monotime_add_ms(
		    monotime_now(), generation_settings(gen)->supervisor.drain_timeout_ms);
	gen->state = GENERATION_DRAINING;
	gen->final |= final;
	gen->drained = false;
	gen->quiet_rounds = 0;
	gen->round_ms = ROUND_FIRST_MS;
	for (size_t i = 0; i < gen->n; i++)
		process_event(gen->processes[i], PROCESS_EVENT_DRAIN);
	begin_round(gen);
}
