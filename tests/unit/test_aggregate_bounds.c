/* core/eip/aggregate*: failures, completed groups that run, bounds. */
#include "core/eip/aggregate_state.h"

#include "tests/lib/aggregate_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct bean_class UseLatest_bean, GroupedBody_bean, GroupedExchange_bean,
    GroupedMessage_bean, String_bean;

/* ---- failures ---- */

/* A message whose group cannot be looked at is not in it, and may come again. */
static void
test_failing_predicate(void **state)
{
	(void)state;
	ag_build();
	ag.conf->size = 3;
	struct expression *fails = build_predicate(&ag.b, fn_fail, "no");
	ag_begin();
	ag_send("a1");
	ag.conf->predicate = fails;
	((struct aggregate_state *)ag.node.state)->groups_read = true;
	ag_send("a2");
	assert_string_equal(ag.f.exception, "IllegalStateException: no");
	ag_send("b1");
	assert_int_equal(ag.node.desc->count(&ag.node), 1);
	ag.conf->predicate = NULL;
	ag_play("a2 a3");
	assert_string_equal(ag.ran, "a1a2a3/3/size/a/- ");
	ag_end();
}

static void
test_failing_block(void **state)
{
	(void)state;
	ag_build();
	ag.conf->size = 1;
	build_block(&ag.st->block, build_boom(&ag.b, EXCEPTION_ILLEGAL_STATE, "bad", 1),
	    build_run(&ag.b, ag_note), NULL);
	struct step *handler = build_on_exception(&ag.b, EXCEPTION_ILLEGAL_STATE, NULL, NULL);
	(void)build_redelivery(&ag.b, handler, 1, 0);
	build_handler(&ag.b, ag.route, handler, true);
	ag_begin();
	ag.f.wakes = true;
	ag_send("a1");
	while (ag.f.queue_n > 0)
		fake_answer(&ag.f, NULL);
	assert_string_equal(ag.ran, "a1./1/size/a/- ");
	assert_false(ag.f.failed);
	ag_end();
}

/* ---- completed groups run one after another, or at once ---- */

static void
ag_run_slowly(bool parallel)
{
	ag_build();
	ag.conf->size = 1;
	ag.conf->parallel = parallel;
	build_block(&ag.st->block,
	    build_to(&ag.b, build_endpoint(&ag.b, "fake:x", COMPONENT_PRODUCER)),
	    build_run(&ag.b, ag_note), NULL);
	ag_begin();
	ag.f.send_mode = FAKE_LATER;
	for (int i = 0; i < 3; i++)
		(void)fake_start(&ag.f, ag.route, "a1");
	assert_int_equal(ag.f.done, 3);
	assert_int_equal(ag.f.sends, parallel ? 3 : 1);
	assert_string_equal(ag.ran, "");
}

static void
test_parallel(void **state)
{
	for (int parallel = 0; parallel < 2; parallel++) {
		(void)state;
		ag_run_slowly(parallel);
		while (ag.f.queue_n > 0)
			fake_answer(&ag.f, NULL);
		assert_int_equal(ag.f.sends, 3);
		assert_string_equal(ag.ran, "a1S/1/size/a/- a1S/1/size/a/- a1S/1/size/a/- ");
		ag_end();
	}
}

/* The state goes while a completed group still runs. */
static void
test_close_while_running(void **state)
{
	(void)state;
	ag_run_slowly(false);
	state_close(&ag.node);
	while (ag.f.queue_n > 0)
		fake_answer(&ag.f, NULL);
	assert_string_equal(ag.ran, "a1S/1/size/a/- ");
	ag_end();
}

static enum step_rc
feed_back(struct engine *en, struct exchange *ex, const struct step *step)
{
	(void)en;
	(void)step;
	return engine_enter_route(ex, step, ag.route);
}

/* A block that sends to its own aggregate does not recurse, and lets the loop turn. */
static void
test_feed_back(void **state)
{
	(void)state;
	ag_build();
	ag.conf->size = 1;
	build_block(&ag.st->block, build_run(&ag.b, ag_note), build_run(&ag.b, feed_back), NULL);
	ag_begin();
	(void)fake_start(&ag.f, ag.route, "a1");
	assert_int_equal(ag.f.done, 1);
	assert_true(strlen(ag.ran) > 100);
	size_t n = strlen(ag.ran);
	assert_int_equal(ag.f.queue_n, 1); /* a pause */
	ag.ran[0] = 0;
	fake_answer(&ag.f, NULL);
	assert_int_equal(strlen(ag.ran), n);
	ag.conf->size = 2; /* it ends */
	while (ag.f.queue_n > 0)
		fake_answer(&ag.f, NULL);
	ag_end();
}

/* ---- bounds ---- */

static void
test_max_groups(void **state)
{
	(void)state;
	ag_build();
	ag.b.program.limits.aggregate_groups = 2;
	ag.conf->size = 2;
	ag_begin();
	ag_play("a1 b1 c1");
	assert_string_equal(ag.f.exception,
	    "RejectedExecutionException: aggregate aggregate1 holds 2 groups, and no more are "
	    "allowed "
	    "(aggregate.max_groups)");
	ag_play("a2 c1 c2");
	assert_false(ag.f.failed);
	assert_string_equal(ag.ran, "a1a2/2/size/a/- c1c2/2/size/c/- ");
	ag_end();
}

static void
fill(const struct bean_class *class)
{
	char text[4096];
	struct aggregate_state *s = ag.node.state;
	int i = 0;
	ag.conf->strategy = s->groups.strategy = ag_bean(class, NULL);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (; i < 1000 && !ag.f.failed; i++)
		ag_send(text);
	assert_in_range(i, 40, 70); /* of 4 KiB in 256 KiB */
	assert_non_null(strstr(ag.f.exception, "(aggregate.max_bytes)"));
	uint64_t bytes = s->groups.bytes;
	assert_in_range(bytes, 192 << 10, 256 << 10);
	for (i = 0; i < 100; i++)
		ag_send(text);
	assert_int_equal(s->groups.bytes, bytes);
}

static const struct fill_row {
	const char *label;
	const struct bean_class *class;
} fill_rows[] = {
	{ "text", &String_bean },
	{ "bodies", &GroupedBody_bean },
	{ "messages", &GroupedMessage_bean },
	{ "exchanges", &GroupedExchange_bean },
};

static void
check_fill(void **state)
{
	const struct fill_row *row = *state;
	ag_build();
	ag.b.program.limits.aggregate_bytes = 256 << 10;
	ag.conf->size = 1000;
	ag_begin();
	fill(row->class);
	ag_end();
}

/* The latest takes no more than one. */
static void
test_latest_is_bounded(void **state)
{
	char text[4096];
	(void)state;
	ag_build();
	ag.conf->size = 100000;
	ag.conf->strategy = ag_bean(&UseLatest_bean, NULL);
	ag_begin();
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < 1000; i++)
		ag_send(text);
	struct aggregate_state *s = ag.node.state;
	assert_in_range(s->groups.bytes, 4096, 20000);
	ag_end();
}

static void
test_discard_on_failure(void **state)
{
	char text[4096];
	(void)state;
	ag_build();
	ag.b.program.limits.aggregate_bytes = 64 << 10;
	ag.conf->size = 1000;
	ag.conf->discard_on_failure = true;
	ag_begin();
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < 100; i++)
		ag_send(text);
	assert_false(ag.f.failed);
	assert_string_equal(ag.ran, "");
	ag_end();
}

/* Completed groups that wait count too, and are given back. */
static void
test_waiting_counts(void **state)
{
	(void)state;
	ag_run_slowly(false);
	struct aggregate_state *s = ag.node.state;
	assert_int_equal(s->groups.taken, 3);
	assert_true(s->groups.bytes > 0);
	while (ag.f.queue_n > 0)
		fake_answer(&ag.f, NULL);
	assert_int_equal(s->groups.taken, 0);
	assert_int_equal(s->groups.bytes, 0);
	ag_end();
}

/* A source that is faster than the steps is held back, the more the fuller it gets. */
static void
test_source_is_held_back(void **state)
{
	(void)state;
	ag_build();
	ag.conf->size = 1;
	build_block(&ag.st->block,
	    build_to(&ag.b, build_endpoint(&ag.b, "fake:x", COMPONENT_PRODUCER)), NULL);
	ag.b.program.limits.aggregate_bytes = 1u << 30;
	ag_begin();
	ag.f.send_mode = FAKE_LATER;
	ag.f.wakes = true;
	for (int i = 0; i < 150; i++)
		(void)fake_start(&ag.f, ag.route, "a1");
	assert_int_equal(ag.f.done, 150);
	assert_in_range(ag.f.waits_n, 40, 60);
	assert_int_equal(ag.f.waits[0], 104); /* 102 of 1000, in hundredths, squared */
	for (int i = 1; i < ag.f.waits_n; i++)
		assert_true(ag.f.waits[i] >= ag.f.waits[i - 1]);
	while (ag.f.queue_n > 0)
		fake_answer(&ag.f, NULL);
	ag.f.waits_n = 0;
	ag_send("a1");
	assert_int_equal(ag.f.waits_n, 0);
	while (ag.f.queue_n > 0)
		fake_answer(&ag.f, NULL);
	ag_end();
}

/* ---- many ---- */

/* Time-outs of many groups, in any order. */
static void
test_many_timeouts(void **state)
{
	enum { N = 500 };
	(void)state;
	ag_setup();
	struct aggregate_state *s = ag.node.state;
	struct groups *gs = &s->groups;
	struct group *g[N];
	unsigned seed = 1;
	for (int i = 0; i < N; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i); /* fits */
		g[i] = groups_new(gs, str_of(key));
	}
	for (int i = 0; i < 5000; i++) {
		struct group *one = g[rand_r(&seed) % N];
		groups_set_deadline(gs, one, i % 7 ? rand_r(&seed) % 10000 : GROUP_NEVER);
	}
	int64_t last = 0;
	size_t n = 0, never = 0;
	for (int64_t now = 0; now <= 10000; now += 10) {
		struct group *due;
		while ((due = groups_due(gs, now)) != NULL) {
			assert_true(due->deadline_ms > last && due->deadline_ms <= now);
			groups_drop(gs, &due);
			n++;
		}
		last = now;
	}
	LIST_FOREACH (&gs->all, it, next)
		never += LIST_ENTRY(it, struct group, node)->deadline_ms == GROUP_NEVER;
	assert_int_equal(n + never, N);
	assert_int_equal(groups_next(gs), GROUP_NEVER);
	ag_end();
}

int
main(void)
{
	UNIT_CASE(test_failing_predicate);
	UNIT_CASE(test_failing_block);
	UNIT_CASE(test_parallel);
	UNIT_CASE(test_close_while_running);
	UNIT_CASE(test_feed_back);
	UNIT_CASE(test_max_groups);
	UNIT_TABLE("max_bytes", fill_rows, check_fill);
	UNIT_CASE(test_latest_is_bounded);
	UNIT_CASE(test_discard_on_failure);
	UNIT_CASE(test_waiting_counts);
	UNIT_CASE(test_source_is_held_back);
	UNIT_CASE(test_many_timeouts);
	return unit_run("aggregate_bounds");
}
