/* The table of a worker's life, and the two rules that need numbers. */
#include "supervisor/process_table.h"

#include "core/base/assert.h"

#include <sys/wait.h>

#define TO(state, action)                                                                          \
	{                                                                                          \
		PROCESS_##state, PROCESS_ACTION_##action                                           \
	}
#define ON(event) [PROCESS_EVENT_##event]

/* What is not named here is PROCESS_ACTION_IMPOSSIBLE. */
static const struct process_step steps[PROCESS_STATES][PROCESS_EVENTS] = {
	[PROCESS_DEAD] = {
		ON(SPAWN) = TO(STARTING, SPAWN),
		ON(START) = TO(DEAD, NONE),
		ON(DRAIN) = TO(DEAD, NONE),
		ON(STOP) = TO(DEAD, NONE),
		ON(TIMEOUT) = TO(DEAD, NONE),
	},
	[PROCESS_STARTING] = {
		ON(SAID_READY) = TO(READY, ANNOUNCE),
		ON(SAID_REFUSED) = TO(STARTING, REFUSE), /* exits by itself */
		ON(START) = TO(STARTING, NONE), /* gets it when it is ready */
		ON(DRAIN) = TO(STARTING, NONE), /* likewise */
		ON(STOP) = TO(STOPPING, KILL),  /* has nothing to finish */
		ON(TIMEOUT) = TO(STARTING, KILL),
		ON(EXIT_EARLY) = TO(BACKOFF, RETRY),
		ON(EXIT_FINAL) = TO(DEGRADED, GIVE_UP),
	},
	[PROCESS_READY] = {
		ON(START) = TO(SERVING, START),
		ON(DRAIN) = TO(DRAINING, DRAIN),
		ON(STOP) = TO(STOPPING, STOP),
		ON(TIMEOUT) = TO(READY, KILL),
		ON(EXIT_PROVEN) = TO(DEAD, REPLACE),
		ON(EXIT_EARLY) = TO(BACKOFF, RETRY),
		ON(EXIT_FINAL) = TO(DEGRADED, GIVE_UP),
	},
	[PROCESS_SERVING] = {
		ON(START) = TO(SERVING, NONE),
		ON(DRAIN) = TO(DRAINING, DRAIN),
		ON(STOP) = TO(STOPPING, STOP),
		ON(TIMEOUT) = TO(SERVING, KILL),
		ON(EXIT_PROVEN) = TO(DEAD, REPLACE),
		ON(EXIT_EARLY) = TO(BACKOFF, RETRY),
		ON(EXIT_FINAL) = TO(DEGRADED, GIVE_UP),
	},
	[PROCESS_DRAINING] = {
		ON(START) = TO(DRAINING, NONE),
		ON(DRAIN) = TO(DRAINING, DRAIN), /* a second one may be final */
		ON(STOP) = TO(STOPPING, STOP),
		ON(TIMEOUT) = TO(DRAINING, KILL),
		ON(EXIT_PROVEN) = TO(DEAD, REPLACE_CALLEE),
		ON(EXIT_EARLY) = TO(DEAD, REPLACE_CALLEE),
		ON(EXIT_FINAL) = TO(DEGRADED, GIVE_UP),
	},
	[PROCESS_STOPPING] = {
		ON(SAID_READY) = TO(STOPPING, NONE), /* crossed with the order to stop */
		ON(SAID_REFUSED) = TO(STOPPING, NONE),
		ON(START) = TO(STOPPING, NONE),
		ON(DRAIN) = TO(STOPPING, NONE),
		ON(STOP) = TO(STOPPING, NONE),
		ON(TIMEOUT) = TO(STOPPING, KILL),
		ON(EXIT_PROVEN) = TO(DEAD, GONE),
		ON(EXIT_EARLY) = TO(DEAD, GONE),
		ON(EXIT_FINAL) = TO(DEAD, GONE),
	},
	[PROCESS_BACKOFF] = {
		ON(SPAWN) = TO(STARTING, SPAWN),
		ON(START) = TO(BACKOFF, NONE),
		ON(DRAIN) = TO(BACKOFF, NONE), /* whether it is needed shows when the back-off is over */
		ON(STOP) = TO(DEAD, GONE),
		ON(TIMEOUT) = TO(BACKOFF, NONE),
		ON(EXIT_FINAL) = TO(DEGRADED, GIVE_UP), /* its tries are used up */
	},
	[PROCESS_DEGRADED] = {
		ON(START) = TO(DEGRADED, NONE),
		ON(DRAIN) = TO(DEGRADED, NONE),
		ON(STOP) = TO(DEAD, GONE),
		ON(TIMEOUT) = TO(DEGRADED, NONE),
	},
};

static const char *const state_names[] = {
	[PROCESS_DEAD] = "dead",
	[PROCESS_STARTING] = "starting",
	[PROCESS_READY] = "ready",
	[PROCESS_SERVING] = "serving",
	[PROCESS_DRAINING] = "draining",
	[PROCESS_STOPPING] = "stopping",
	[PROCESS_BACKOFF] = "backoff",
	[PROCESS_DEGRADED] = "degraded",
};

struct process_step
process_table_step(enum process_state state, enum process_event event)
{
	ASSERT(state < PROCESS_STATES && event < PROCESS_EVENTS);
	struct process_step s = steps[state][event];
	if (s.action == PROCESS_ACTION_IMPOSSIBLE)
		s.next = (uint8_t)state;
	return s;
}

const char *
process_table_state_name(enum process_state state)
{
	return state < PROCESS_STATES ? state_names[state] : "unknown";
}

bool
process_table_alive(enum process_state state)
{
	return state == PROCESS_STARTING || state == PROCESS_READY || state == PROCESS_SERVING ||
	    state == PROCESS_DRAINING || state == PROCESS_STOPPING;
}

enum process_event
process_table_exit(int64_t ms, bool served, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == PROCESS_EXIT_NO_RESTART)
		return PROCESS_EVENT_EXIT_FINAL;
	if (ms >= 0 && (served || ms >= PROCESS_PROVEN_MS))
		return PROCESS_EVENT_EXIT_PROVEN;
	return PROCESS_EVENT_EXIT_EARLY;
}

int64_t
process_table_retry(unsigned early, int64_t limit, int64_t first_ms, int64_t max_ms)
{
	int64_t ms = first_ms;

	if (early >= limit)
		return -1;
	for (unsigned i = 1; i < early && ms < max_ms; i++)
		ms *= 2;
	return ms < max_ms ? ms : max_ms;
}
