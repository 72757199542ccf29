/* supervisor/process_table */
#include "supervisor/process_table.h"

#include "tests/lib/unit.h"

#include <signal.h>

#define S(x) PROCESS_##x
#define E(x) PROCESS_EVENT_##x
#define A(x) PROCESS_ACTION_##x

static const struct life_row {
	const char *label;
	enum process_state state;
	enum process_event event;
	enum process_state next;
	enum process_action action;
} lives[] = {
	{ "spawned", S(DEAD), E(SPAWN), S(STARTING), A(SPAWN) },
	{ "ready", S(STARTING), E(SAID_READY), S(READY), A(ANNOUNCE) },
	{ "refused", S(STARTING), E(SAID_REFUSED), S(STARTING), A(REFUSE) },
	{ "late", S(STARTING), E(TIMEOUT), S(STARTING), A(KILL) },
	{ "dies at start", S(STARTING), E(EXIT_EARLY), S(BACKOFF), A(RETRY) },
	{ "says no more at start", S(STARTING), E(EXIT_FINAL), S(DEGRADED), A(GIVE_UP) },
	{ "not wanted before it was ready", S(STARTING), E(STOP), S(STOPPING), A(KILL) },
	{ "serves", S(READY), E(START), S(SERVING), A(START) },
	{ "ready, dies early", S(READY), E(EXIT_EARLY), S(BACKOFF), A(RETRY) },
	{ "serving, dies with nothing served", S(SERVING), E(EXIT_EARLY), S(BACKOFF), A(RETRY) },
	{ "serving, dies: replaced at once", S(SERVING), E(EXIT_PROVEN), S(DEAD), A(REPLACE) },
	{ "serving, says no more", S(SERVING), E(EXIT_FINAL), S(DEGRADED), A(GIVE_UP) },
	{ "hangs", S(SERVING), E(TIMEOUT), S(SERVING), A(KILL) },
	{ "drains", S(SERVING), E(DRAIN), S(DRAINING), A(DRAIN) },
	{ "drains for good", S(DRAINING), E(DRAIN), S(DRAINING), A(DRAIN) },
	{ "draining, dies", S(DRAINING), E(EXIT_PROVEN), S(DEAD), A(REPLACE_CALLEE) },
	{ "stops", S(DRAINING), E(STOP), S(STOPPING), A(STOP) },
	{ "has stopped", S(STOPPING), E(EXIT_PROVEN), S(DEAD), A(GONE) },
	{ "ready crossed with stop", S(STOPPING), E(SAID_READY), S(STOPPING), A(NONE) },
	{ "tries again", S(BACKOFF), E(SPAWN), S(STARTING), A(SPAWN) },
	{ "back-off ends with its generation", S(BACKOFF), E(STOP), S(DEAD), A(GONE) },
	{ "tries are used up", S(BACKOFF), E(EXIT_FINAL), S(DEGRADED), A(GIVE_UP) },
	{ "degraded stays so", S(DEGRADED), E(START), S(DEGRADED), A(NONE) },
	{ "degraded is not spawned", S(DEGRADED), E(SPAWN), S(DEGRADED), A(IMPOSSIBLE) },
	{ "ready twice", S(SERVING), E(SAID_READY), S(SERVING), A(IMPOSSIBLE) },
	{ "a dead one says nothing", S(DEAD), E(SAID_READY), S(DEAD), A(IMPOSSIBLE) },
};

static void
check_life(void **state)
{
	const struct life_row *r = *state;
	struct process_step step = process_table_step(r->state, r->event);

	assert_int_equal(step.next, r->next);
	assert_int_equal(step.action, r->action);
}

/* Whatever the state, a generation can tell it to drain and to stop, and a process that ends is
 * dealt with. */
static void
test_no_holes(void **state)
{
	(void)state;
	for (int s = 0; s < PROCESS_STATES; s++) {
		assert_int_not_equal(process_table_step(s, E(STOP)).action, A(IMPOSSIBLE));
		assert_int_not_equal(process_table_step(s, E(DRAIN)).action, A(IMPOSSIBLE));
		assert_int_not_equal(process_table_step(s, E(START)).action,
		    s == S(DRAINING) || s == S(STOPPING) ? -1 : A(IMPOSSIBLE));
		if (!process_table_alive(s))
			continue;
		assert_int_not_equal(process_table_step(s, E(EXIT_EARLY)).action, A(IMPOSSIBLE));
		assert_int_not_equal(process_table_step(s, E(EXIT_FINAL)).action, A(IMPOSSIBLE));
		assert_false(process_table_alive(process_table_step(s, E(EXIT_EARLY)).next));
		assert_false(process_table_alive(process_table_step(s, E(EXIT_FINAL)).next));
	}
}

/* After STOP no event brings a process back. */
static void
test_stop_is_final(void **state)
{
	(void)state;
	for (int s = 0; s < PROCESS_STATES; s++) {
		enum process_state at = process_table_step(s, E(STOP)).next;
		assert_true(at == S(DEAD) || at == S(STOPPING));
		for (int e = 0; e < PROCESS_EVENTS; e++) {
			if (e != E(SPAWN))
				assert_false(process_table_step(at, e).next == S(SERVING) ||
				    process_table_step(at, e).next == S(STARTING));
		}
	}
}

#define EXITED(n) ((n) << 8)

static const struct exit_row {
	const char *label;
	int64_t ms;
	bool served;
	int status;
	enum process_event event;
} exits[] = {
	{ "before ready", -1, false, EXITED(1), E(EXIT_EARLY) },
	{ "before ready, status 0", -1, false, EXITED(0), E(EXIT_EARLY) },
	{ "before ready, 125", -1, false, EXITED(125), E(EXIT_FINAL) },
	{ "at once after ready", 0, false, SIGSEGV, E(EXIT_EARLY) },
	{ "within a second", 999, false, SIGSEGV, E(EXIT_EARLY) },
	{ "within a second, but it had served", 5, true, SIGSEGV, E(EXIT_PROVEN) },
	{ "after a second", 1000, false, SIGKILL, E(EXIT_PROVEN) },
	{ "later, 125", 100000, true, EXITED(125), E(EXIT_FINAL) },
	{ "killed by signal 125 is no exit status", 2000, false, 125, E(EXIT_PROVEN) },
};

static void
check_exit(void **state)
{
	const struct exit_row *r = *state;

	assert_int_equal(process_table_exit(r->ms, r->served, r->status), r->event);
}

static const struct retry_row {
	const char *label;
	unsigned early;
	int64_t limit, first_ms, max_ms, ms;
} retries[] = {
	{ "first", 1, 10, 100, 10000, 100 },
	{ "second", 2, 10, 100, 10000, 200 },
	{ "eighth is at the bound", 8, 10, 100, 10000, 10000 },
	{ "ninth", 9, 10, 100, 10000, 10000 },
	{ "the limit", 10, 10, 100, 10000, -1 },
	{ "no second try", 1, 1, 100, 10000, -1 },
	{ "huge numbers do not overflow", 900, 1000, INT64_MAX / 4, INT64_MAX / 2, INT64_MAX / 2 },
};

static void
check_retry(void **state)
{
	const struct retry_row *r = *state;

	assert_int_equal(process_table_retry(r->early, r->limit, r->first_ms, r->max_ms), r->ms);
}

int
main(void)
{
	UNIT_TABLE("life", lives, check_life);
	UNIT_CASE(test_no_holes);
	UNIT_CASE(test_stop_is_final);
	UNIT_TABLE("exit", exits, check_exit);
	UNIT_TABLE("retry", retries, check_retry);
	return unit_run("process_table");
}
