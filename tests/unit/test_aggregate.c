/* core/eip/aggregate*: what completes groups, keys, what a message says. */
#include "core/eip/aggregate_state.h"

#include "tests/lib/aggregate_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct bean_class UseLatest_bean, GroupedBody_bean;

/* ---- what completes a group ---- */

static void
by_timeout_discarding(void)
{
	ag_by_timeout();
	ag.conf->discard_on_timeout = true;
}

static enum eval_rc
fn_second(struct exchange *ex, const char *arg, struct value *out)
{
	struct str text = value_text(&ex->arena, &ex->body);
	(void)arg;
	*out = text.n > 1 ? value_str((struct str){ text.p + 1, text.n - 1 }) : value_null();
	return EVAL_OK;
}

static void
by_timeout_expression(void)
{
	ag_by_timeout();
	ag.conf->timeout_by = build_expr(&ag.b, fn_second, "");
}

static void
by_size_expression(void)
{
	ag.conf->size = 4;
	ag.conf->size_by = build_expr(&ag.b, fn_second, "");
}

static void
by_size_expression_eager(void)
{
	by_size_expression();
	ag.conf->eager = true;
}

static void
by_size_expression_at_home(void)
{
	by_size_expression();
	ag.conf->home_size = true;
	ag.conf->eager = true;
}

/* Is the text of the message arg? */
static enum eval_rc
fn_is(struct exchange *ex, const char *arg, struct value *out)
{
	*out = value_bool(str_eq(value_text(&ex->arena, &ex->body), str_of(arg)));
	return EVAL_OK;
}

/* Has the group that many? */
static enum eval_rc
fn_size_is(struct exchange *ex, const char *arg, struct value *out)
{
	(void)arena_alloc(&ex->arena, 100000);
	*out = value_bool(str_eq(ag_property(ex, "CamelAggregatedSize"), str_of(arg)));
	return EVAL_OK;
}

static enum eval_rc
fn_grouped_is(struct exchange *ex, const char *arg, struct value *out)
{
	const struct value *v = exchange_property(ex, STR_LIT("CamelGroupedExchange"));
	*out = value_bool(v && (int64_t)value_size(v) == atoll(arg));
	return EVAL_OK;
}

static void
by_predicate(void)
{
	ag.conf->predicate = build_predicate(&ag.b, fn_is, "aE");
}

static void
by_predicate_eager(void)
{
	by_predicate();
	ag.conf->eager = true;
}

static void
by_predicate_at_home(void)
{
	by_predicate_eager();
	ag.conf->home_predicate = true;
}

static void
by_predicate_latest(void)
{
	by_predicate();
	ag.conf->strategy = ag_bean(&UseLatest_bean, NULL);
}

static void
by_predicate_size(void)
{
	ag.conf->predicate = build_predicate(&ag.b, fn_size_is, "3");
}

static void
by_predicate_size_eager(void)
{
	by_predicate_size();
	ag.conf->eager = true;
}

static void
by_predicate_grouped(void)
{
	ag.conf->predicate = build_predicate(&ag.b, fn_grouped_is, "2");
	ag.conf->strategy = ag_bean(&GroupedBody_bean, NULL);
}

static void
on_new_group(void)
{
	ag.conf->size = 9;
	ag.conf->on_new_group = true;
}

static void
forced(void)
{
	ag.conf->size = 9;
	ag.conf->force_on_stop = true;
}

static void
completed_on_stop(void)
{
	ag.conf->interval_ms = 60000;
	ag.conf->complete_on_stop = true;
}

static void
both(void)
{
	ag_by_timeout();
	ag.conf->size = 2;
}

static const struct play_row {
	const char *label;
	void (*options)(void);
	const char *script, *ran;
	size_t left; /* groups */
} play_rows[] = {
	{ "size", ag_by_size2, "a1 b1 a2 a3", "a1a2/2/size/a/- ", 2 },
	{ "size of one key after another", ag_by_size2, "a1 a2 a3 a4",
	    "a1a2/2/size/a/- a3a4/2/size/a/- ", 0 },
	{ "delimiter", ag_joined, "a1 a2", "a1+a2/2/size/a/- ", 0 },
	{ "latest", ag_latest, "a1 a2 a3", "a2/2/size/a/- ", 1 },
	{ "original", ag_original, "a1 a2", "a1/2/size/a/- ", 0 },
	{ "bodies", ag_bodies, "a1 a2", "[a1, a2]/2/size/a/- ", 0 },
	{ "messages", ag_messages, "a1 a2",
	    "[{body=a1, headers={}}, {body=a2, headers={}}]/2/size/a/- ", 0 },
	{ "time-out", ag_by_timeout, "a1 +90 a2 +90 b1 +30 +100",
	    "a1a2/2/timeout/a/100 b1/1/timeout/b/100 ", 0 },
	{ "time-out not yet", ag_by_timeout, "a1 +99", "", 1 },
	{ "time-out on the grid", ag_by_timeout_grid, "+500 a1 +300 a2 +199", "", 1 },
	{ "time-out on the grid, over", ag_by_timeout_grid, "+500 a1 +300 a2 +200",
	    "a1a2/2/timeout/a/100 ", 0 },
	{ "time-out discards", by_timeout_discarding, "a1 +200 a2", "", 1 },
	{ "time-out by expression", by_timeout_expression, "a30 b500 c +40 +70 +400",
	    "a30/1/timeout/a/30 c/1/timeout/c/100 b500/1/timeout/b/500 ", 0 },
	{ "an earlier time-out", by_timeout_expression, "a500 a30 +40", "a500a30/2/timeout/a/500 ",
	    0 },
	{ "a later time-out", by_timeout_expression, "a30 a500 +499", "", 1 },
	{ "size or time-out", both, "a1 a2 b1 +110", "a1a2/2/size/a/100 b1/1/timeout/b/100 ", 0 },
	{ "time-out of a group that was completed", both, "a1 +50 a2 a3 +90", "a1a2/2/size/a/100 ",
	    1 },
	{ "interval", ag_by_interval, "a1 +400 b1 +50 a2 +100 c1 +499 +1",
	    "a1a2/2/interval/a/- b1/1/interval/b/- c1/1/interval/c/- ", 0 },
	{ "size by expression", by_size_expression, "a2 a9 b x x x x",
	    "a2a9/2/size/a/- xxxx/4/size/x/- ", 1 },
	{ "size by expression, eager", by_size_expression_eager, "a4 a2 b1",
	    "a4a2/2/size/a/- b1/1/size/b/- ", 0 },
	{ "size by expression, at home", by_size_expression_at_home, "a4 a2 b1",
	    "a4a2/2/size/a/- b1/1/size/b/- ", 0 },
	{ "predicate looks at the first", by_predicate, "a1 aE", "", 1 },
	{ "predicate holds at once", by_predicate, "aE", "aE/1/predicate/a/- ", 0 },
	{ "predicate, eager", by_predicate_eager, "a1 aE", "a1aE/2/predicate/a/- ", 0 },
	{ "predicate, at home", by_predicate_at_home, "a1 aE", "a1aE/2/predicate/a/- ", 0 },
	{ "predicate of the latest", by_predicate_latest, "a1 aE", "aE/2/predicate/a/- ", 0 },
	{ "predicate of the size", by_predicate_size, "a1 a2 a3", "a1a2a3/3/predicate/a/- ", 0 },
	{ "predicate of the size, eager", by_predicate_size_eager, "a1 a2 a3",
	    "a1a2a3/3/predicate/a/- ", 0 },
	{ "predicate of what is grouped", by_predicate_grouped, "a1 a2",
	    "[a1, a2]/2/predicate/a/- ", 0 },
	{ "new group", on_new_group, "a1 a2 b1 a3", "a1a2/2/force/a/- b1/1/force/b/- ", 1 },
	{ "nothing at the end", ag_by_size3, "a1 !", "", 1 },
	{ "forced at the end", forced, "a1 b1 a2 !", "a1a2/2/force/a/- b1/1/force/b/- ", 0 },
	{ "forced after the end", forced, "! a1", "a1/1/force/a/- ", 0 },
	{ "completed at the end", completed_on_stop, "a1 b1 a2 !",
	    "a1a2/2/force/a/- b1/1/force/b/- ", 0 },
};

static void
check_play(void **state)
{
	const struct play_row *row = *state;
	ag_build();
	row->options();
	ag_begin();
	ag_play(row->script);
	assert_string_equal(ag.ran, row->ran);
	assert_false(ag.f.failed);
	assert_int_equal(ag.node.desc->count(&ag.node), row->left);
	ag_end();
}

/* The same with the groups in another process. */
static void
check_play_remote(void **state)
{
	const struct play_row *row = *state;
	ag_build();
	row->options();
	ag_begin();
	ag.node.serving = false;
	ag.f.state_mode = FAKE_LATER;
	char text[256], *save = NULL;
	(void)snprintf(text, sizeof(text), "%s", row->script); /* fits */
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (word[0] != '+' && word[0] != '!')
			ag_send(word);
	assert_false(ag.f.failed);
	assert_true(ag.f.states > 0);
	ag_end();
}

/* The message that was aggregated goes on as it was. */
static void
test_message_goes_on(void **state)
{
	static const char *const properties[] = { "CamelAggregatedSize", "p", NULL };
	(void)state;
	ag_build();
	ag.conf->size = 2;
	ag.conf->eager = true;
	ag.conf->predicate = build_predicate(&ag.b, fn_false, "");
	ag_begin();
	fake_watch(&ag.f, NULL, properties);
	struct exchange *ex = fake_exchange(&ag.f, "a1");
	exchange_set_property(ex, STR_LIT("CamelAggregatedSize"), value_int(77));
	exchange_set_property(ex, STR_LIT("p"), value_str(STR_LIT("v")));
	engine_start(&ag.f.en, ex, ag.route);
	assert_string_equal(ag.f.body, "a1.");
	assert_string_equal(fake_seen(&ag.f, "CamelAggregatedSize"), "77");
	assert_string_equal(fake_seen(&ag.f, "p"), "v");
	ag_end();
}

/* ---- keys ---- */

static void
test_invalid_keys(void **state)
{
	(void)state;
	ag_build();
	ag.conf->size = 2;
	ag_begin();
	ag_send(NULL);
	assert_memory_equal(ag.f.exception, "CamelExchangeException: Invalid correlation key", 47);
	ag_send(" x");
	assert_true(ag.f.failed);
	ag.conf->ignore_invalid = true;
	ag_send(NULL);
	assert_false(ag.f.failed);
	assert_int_equal(ag.node.desc->count(&ag.node), 0);
	ag_end();
}

static void
test_closed_keys(void **state)
{
	(void)state;
	ag_build();
	ag.conf->size = 2;
	ag.conf->closes_keys = true;
	ag.conf->close_keys = 2;
	ag_begin();
	ag_play("a1 a2 a3");
	assert_string_equal(ag.f.exception,
	    "ClosedCorrelationKeyException: The correlation key [a] has been closed. Exchange[]");
	ag_play("b1 b2 c1 c2 a4"); /* a is forgotten */
	assert_false(ag.f.failed);
	ag_send("b3");
	assert_true(ag.f.failed);
	ag_end();
}

/* Closed keys are bounded in bytes too. */
static void
test_long_closed_keys(void **state)
{
	char key[8192];
	(void)state;
	ag_build();
	ag.conf->size = 2;
	ag.conf->closes_keys = true;
	ag.b.program.limits.aggregate_bytes = 64 << 10;
	ag_begin();
	struct groups *gs = &((struct aggregate_state *)ag.node.state)->groups;
	memset(key, 'k', sizeof(key));
	for (int i = 0; i < 100; i++) {
		(void)snprintf(key, sizeof(key), "%d", i); /* fits */
		key[strlen(key)] = 'k';
		groups_close_key(gs, (struct str){ key, sizeof(key) });
		assert_true(groups_is_closed(gs, (struct str){ key, sizeof(key) }));
	}
	assert_in_range(gs->closed.count, 6, 8);
	ag_end();
}

/* ---- what a message says ---- */

static void
send_flag(const char *text, const char *header, const char *prop)
{
	struct exchange *ex = fake_exchange(&ag.f, text);
	if (header)
		exchange_set_header(ex, str_of(header), value_str(STR_LIT("true")));
	if (prop)
		exchange_set_property(ex, str_of(prop), value_bool(true));
	engine_start(&ag.f.en, ex, ag.route);
}

static void
test_flags(void **state)
{
	static const char *const headers[] = { "CamelAggregationCompleteAllGroups",
		"CamelAggregationCompleteAllGroupsInclusive", NULL };
	(void)state;
	ag_build();
	ag.conf->size = 9;
	ag_begin();
	fake_watch(&ag.f, headers, NULL);
	ag_play("a1 b1");
	send_flag("c1", headers[0], NULL);
	assert_string_equal(ag.ran, "a1/1/force/a/- b1/1/force/b/- ");
	assert_string_equal(ag.f.body, "c1.");
	assert_string_equal(fake_seen(&ag.f, headers[0]), "");
	ag_play("a2");
	send_flag("b2", headers[1], NULL);
	assert_string_equal(ag.ran, "a1/1/force/a/- b1/1/force/b/- a2/1/force/a/- b2/1/force/b/- ");
	assert_string_equal(fake_seen(&ag.f, headers[1]), "");
	ag.ran[0] = 0;
	ag_play("a3 b3");
	send_flag("a4", NULL, "CamelAggregationCompleteCurrentGroup");
	assert_string_equal(ag.ran, "a3a4/2/strategy/a/- ");
	send_flag("a5", NULL, headers[0]);
	assert_string_equal(ag.ran, "a3a4/2/strategy/a/- b3/1/force/b/- ");
	ag_end();
}

static void
send_of_batch(const char *text, int64_t size)
{
	struct exchange *ex = fake_exchange(&ag.f, text);
	exchange_set_property(ex, STR_LIT("CamelBatchSize"), value_int(size));
	engine_start(&ag.f.en, ex, ag.route);
}

static void
test_batch(void **state)
{
	(void)state;
	ag_build();
	ag.conf->from_batch = true;
	ag_begin();
	send_of_batch("a1", 3);
	send_of_batch("b1", 3);
	assert_string_equal(ag.ran, "");
	send_of_batch("a2", 3);
	assert_string_equal(ag.ran, "a1a2/2/consumer/a/- b1/1/consumer/b/- ");
	send_of_batch("c1", 1);
	assert_string_equal(ag.ran, "a1a2/2/consumer/a/- b1/1/consumer/b/- c1/1/consumer/c/- ");
	ag_end();
}

int
main(void)
{
	UNIT_TABLE("play", play_rows, check_play);
	UNIT_TABLE("elsewhere", play_rows, check_play_remote);
	UNIT_CASE(test_message_goes_on);
	UNIT_CASE(test_invalid_keys);
	UNIT_CASE(test_closed_keys);
	UNIT_CASE(test_long_closed_keys);
	UNIT_CASE(test_flags);
	UNIT_CASE(test_batch);
	return unit_run("aggregate");
}
