/* core/eip/aggregate*.c: groups, what completes them, bounds, the hand-over. */
#include "core/eip/aggregate_state.h"

#include "tests/lib/program_build.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct eip_desc aggregate_eip;
extern const struct bean_class UseLatest_bean, UseOriginal_bean, GroupedBody_bean,
    GroupedExchange_bean, GroupedMessage_bean, String_bean;

static struct build b;
static struct fake f;
static struct state_node node;
static struct state_node *nodes[] = { &node };
static struct step *st;
static struct aggregate_conf *conf;
static struct route *route;
static char ran[65536]; /* what completed groups were */

/* ---- the route ---- */

/* A message is "k" and more: k is its key, "" and " …" have none. */
static enum eval_rc
fn_key(struct exchange *ex, const char *arg, struct value *out)
{
	struct str text = value_text(&ex->arena, &ex->body);
	(void)arg;
	*out = text.n > 0 ? value_str((struct str){ text.p, 1 }) : value_null();
	return EVAL_OK;
}

static struct str
property(struct exchange *ex, const char *name)
{
	const struct value *v = exchange_property(ex, str_of(name));
	return v ? value_text(&ex->arena, v) : STR_LIT("-");
}

/* "BODY/SIZE/BY/KEY/TIMEOUT " */
static enum step_rc
note(struct engine *en, struct exchange *ex, const struct step *step)
{
	struct value body = ex->body;
	(void)en;
	(void)step;
	body.flags &= (uint8_t)~VALUE_GROUPED;
	struct str text = value_text(&ex->arena, &body);
	size_t n = strlen(ran);
	(void)snprintf(ran + n, sizeof(ran) - n, "%.*s/%.*s/%.*s/%.*s/%.*s ", STR_FMT(text),
	    STR_FMT(property(ex, "CamelAggregatedSize")),
	    STR_FMT(property(ex, "CamelAggregatedCompletedBy")),
	    STR_FMT(property(ex, "CamelAggregatedCorrelationKey")),
	    STR_FMT(property(ex, "CamelAggregatedTimeout"))); /* fits */
	assert_null(exchange_property(ex, STR_LIT("CamelGroupedExchange")));
	return STEP_DONE;
}

static const struct bean *
bean(const struct bean_class *class, const char *delimiter)
{
	struct bean *bn = ARENA_NEW(&b.arena, struct bean);
	struct aggregation_text_conf *text = ARENA_NEW(&b.arena, struct aggregation_text_conf);
	text->delimiter = delimiter;
	bn->class = class;
	bn->conf = text;
	return bn;
}

static void
build(void)
{
	build_init(&b);
	b.program.limits = (struct state_limits){ 1000, 1 << 20 };
	st = build_step(&b, &aggregate_eip);
	conf = st->conf;
	conf->strategy = bean(&String_bean, NULL);
	conf->correlation = build_expr(&b, fn_key, "");
	conf->all_hash = header_hash(STR_LIT("CamelAggregationCompleteAllGroups"));
	conf->inclusive_hash = header_hash(STR_LIT("CamelAggregationCompleteAllGroupsInclusive"));
	build_block(&st->block, build_run(&b, note), NULL);
	route = build_route(&b, "r", st, build_append(&b, "."), NULL);
	node = (struct state_node){
		.desc = &aggregate_state_desc, .step = st, .route_id = "r", .node_id = "aggregate1"
	};
	st->state = &node;
	b.program.states = nodes;
	b.program.states_n = 1;
	ran[0] = '\0';
}

static void
begin(void)
{
	fake_init(&f, &b);
	state_open(&f.en, &node);
	state_serve(&node);
}

static void
setup(void)
{
	build();
	begin();
}

static void
end(void)
{
	state_close(&node);
	assert_int_equal(f.pool.live, 0);
	assert_int_equal(f.queue_n, 0);
	fake_fini(&f);
	build_fini(&b);
}

static void
send_one(const char *text)
{
	int done = f.done;
	struct exchange *ex = fake_start(&f, route, text);
	while (f.done == done)
		fake_answer(&f, ex);
}

/* Lets timers go off. */
static void
advance(int64_t ms)
{
	int64_t until = f.now_ms + ms;
	while (f.queue_n > 0 && f.now_ms + f.queue[0].ms <= until)
		fake_answer(&f, NULL);
	for (int i = 0; i < f.queue_n; i++)
		f.queue[i].ms -= until - f.now_ms;
	f.now_ms = until;
}

/* Messages with blanks between them; "+N": N ms go by; "!": the broker ends. */
static void
play(const char *script)
{
	char text[256], *save = NULL;
	(void)snprintf(text, sizeof(text), "%s", script); /* fits */
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (word[0] == '+')
			advance(atoll(word + 1));
		else if (word[0] == '!')
			node.desc->end(&node, STATE_END_BROKER);
		else
			send_one(word);
	}
}

/* ---- what completes a group ---- */

static void
by_size2(void)
{
	conf->size = 2;
}
static void
by_size3(void)
{
	conf->size = 3;
}

static void
by_timeout(void)
{
	conf->timeout_ms = 100;
	conf->checker_ms = 10;
}

static void
by_timeout_grid(void)
{
	conf->timeout_ms = 100;
	conf->checker_ms = 1000;
}

static void
by_timeout_discarding(void)
{
	by_timeout();
	conf->discard_on_timeout = true;
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
	by_timeout();
	conf->timeout_by = build_expr(&b, fn_second, "");
}

static void
by_size_expression(void)
{
	conf->size = 4;
	conf->size_by = build_expr(&b, fn_second, "");
}

static void
by_size_expression_eager(void)
{
	by_size_expression();
	conf->eager = true;
}

static void
by_size_expression_at_home(void)
{
	by_size_expression();
	conf->home_size = true;
	conf->eager = true;
}

static void
by_interval(void)
{
	conf->interval_ms = 500;
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
	*out = value_bool(str_eq(property(ex, "CamelAggregatedSize"), str_of(arg)));
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
	conf->predicate = build_predicate(&b, fn_is, "aE");
}

static void
by_predicate_eager(void)
{
	by_predicate();
	conf->eager = true;
}

static void
by_predicate_at_home(void)
{
	by_predicate_eager();
	conf->home_predicate = true;
}

static void
by_predicate_latest(void)
{
	by_predicate();
	conf->strategy = bean(&UseLatest_bean, NULL);
}

static void
by_predicate_size(void)
{
	conf->predicate = build_predicate(&b, fn_size_is, "3");
}

static void
by_predicate_size_eager(void)
{
	by_predicate_size();
	conf->eager = true;
}

static void
by_predicate_grouped(void)
{
	conf->predicate = build_predicate(&b, fn_grouped_is, "2");
	conf->strategy = bean(&GroupedBody_bean, NULL);
}

static void
on_new_group(void)
{
	conf->size = 9;
	conf->on_new_group = true;
}

static void
forced(void)
{
	conf->size = 9;
	conf->force_on_stop = true;
}

static void
completed_on_stop(void)
{
	conf->interval_ms = 60000;
	conf->complete_on_stop = true;
}

static void
joined(void)
{
	conf->size = 2;
	conf->strategy = bean(&String_bean, "+");
}

static void
latest(void)
{
	conf->size = 2;
	conf->strategy = bean(&UseLatest_bean, NULL);
}

static void
original(void)
{
	conf->size = 2;
	conf->strategy = bean(&UseOriginal_bean, NULL);
}

static void
bodies(void)
{
	conf->size = 2;
	conf->strategy = bean(&GroupedBody_bean, NULL);
}

static void
messages(void)
{
	conf->size = 2;
	conf->strategy = bean(&GroupedMessage_bean, NULL);
}

static void
both(void)
{
	by_timeout();
	conf->size = 2;
}

static const struct play_row {
	const char *label;
	void (*options)(void);
	const char *script, *ran;
	size_t left; /* groups */
} play_rows[] = {
	{ "size", by_size2, "a1 b1 a2 a3", "a1a2/2/size/a/- ", 2 },
	{ "size of one key after another", by_size2, "a1 a2 a3 a4",
	    "a1a2/2/size/a/- a3a4/2/size/a/- ", 0 },
	{ "delimiter", joined, "a1 a2", "a1+a2/2/size/a/- ", 0 },
	{ "latest", latest, "a1 a2 a3", "a2/2/size/a/- ", 1 },
	{ "original", original, "a1 a2", "a1/2/size/a/- ", 0 },
	{ "bodies", bodies, "a1 a2", "[a1, a2]/2/size/a/- ", 0 },
	{ "messages", messages, "a1 a2",
	    "[{body=a1, headers={}}, {body=a2, headers={}}]/2/size/a/- ", 0 },
	{ "time-out", by_timeout, "a1 +90 a2 +90 b1 +30 +100",
	    "a1a2/2/timeout/a/100 b1/1/timeout/b/100 ", 0 },
	{ "time-out not yet", by_timeout, "a1 +99", "", 1 },
	{ "time-out on the grid", by_timeout_grid, "+500 a1 +300 a2 +199", "", 1 },
	{ "time-out on the grid, over", by_timeout_grid, "+500 a1 +300 a2 +200",
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
	{ "interval", by_interval, "a1 +400 b1 +50 a2 +100 c1 +499 +1",
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
	{ "nothing at the end", by_size3, "a1 !", "", 1 },
	{ "forced at the end", forced, "a1 b1 a2 !", "a1a2/2/force/a/- b1/1/force/b/- ", 0 },
	{ "forced after the end", forced, "! a1", "a1/1/force/a/- ", 0 },
	{ "completed at the end", completed_on_stop, "a1 b1 a2 !",
	    "a1a2/2/force/a/- b1/1/force/b/- ", 0 },
};

static void
check_play(void **state)
{
	const struct play_row *row = *state;
	build();
	row->options();
	begin();
	play(row->script);
	assert_string_equal(ran, row->ran);
	assert_false(f.failed);
	assert_int_equal(node.desc->count(&node), row->left);
	end();
}

/* The same with the groups in another process. */
static void
check_play_remote(void **state)
{
	const struct play_row *row = *state;
	build();
	row->options();
	begin();
	node.serving = false;
	f.state_mode = FAKE_LATER;
	char text[256], *save = NULL;
	(void)snprintf(text, sizeof(text), "%s", row->script); /* fits */
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		if (word[0] != '+' && word[0] != '!')
			send_one(word);
	assert_false(f.failed);
	assert_true(f.states > 0);
	end();
}

/* The message that was aggregated goes on as it was. */
static void
test_message_goes_on(void **state)
{
	static const char *const properties[] = { "CamelAggregatedSize", "p", NULL };
	(void)state;
	build();
	conf->size = 2;
	conf->eager = true;
	conf->predicate = build_predicate(&b, fn_false, "");
	begin();
	fake_watch(&f, NULL, properties);
	struct exchange *ex = fake_exchange(&f, "a1");
	exchange_set_property(ex, STR_LIT("CamelAggregatedSize"), value_int(77));
	exchange_set_property(ex, STR_LIT("p"), value_str(STR_LIT("v")));
	engine_start(&f.en, ex, route);
	assert_string_equal(f.body, "a1.");
	assert_string_equal(fake_seen(&f, "CamelAggregatedSize"), "77");
	assert_string_equal(fake_seen(&f, "p"), "v");
	end();
}

/* ---- keys ---- */

static void
test_invalid_keys(void **state)
{
	(void)state;
	build();
	conf->size = 2;
	begin();
	send_one(NULL);
	assert_memory_equal(f.exception, "CamelExchangeException: Invalid correlation key", 47);
	send_one(" x");
	assert_true(f.failed);
	conf->ignore_invalid = true;
	send_one(NULL);
	assert_false(f.failed);
	assert_int_equal(node.desc->count(&node), 0);
	end();
}

static void
test_closed_keys(void **state)
{
	(void)state;
	build();
	conf->size = 2;
	conf->closes_keys = true;
	conf->close_keys = 2;
	begin();
	play("a1 a2 a3");
	assert_string_equal(
	    f.exception, "ClosedCorrelationKeyException: The correlation key [a] has been closed. Exchange[]");
	play("b1 b2 c1 c2 a4"); /* a is forgotten */
	assert_false(f.failed);
	send_one("b3");
	assert_true(f.failed);
	end();
}

/* Closed keys are bounded in bytes too. */
static void
test_long_closed_keys(void **state)
{
	char key[8192];
	(void)state;
	build();
	conf->size = 2;
	conf->closes_keys = true;
	b.program.limits.aggregate_bytes = 64 << 10;
	begin();
	struct groups *gs = &((struct aggregate_state *)node.state)->groups;
	memset(key, 'k', sizeof(key));
	for (int i = 0; i < 100; i++) {
		(void)snprintf(key, sizeof(key), "%d", i); /* fits */
		key[strlen(key)] = 'k';
		groups_close_key(gs, (struct str){ key, sizeof(key) });
		assert_true(groups_is_closed(gs, (struct str){ key, sizeof(key) }));
	}
	assert_in_range(gs->closed.count, 6, 8);
	end();
}

/* ---- what a message says ---- */

static void
send_flag(const char *text, const char *header, const char *prop)
{
	struct exchange *ex = fake_exchange(&f, text);
	if (header)
		exchange_set_header(ex, str_of(header), value_str(STR_LIT("true")));
	if (prop)
		exchange_set_property(ex, str_of(prop), value_bool(true));
	engine_start(&f.en, ex, route);
}

static void
test_flags(void **state)
{
	static const char *const headers[] = { "CamelAggregationCompleteAllGroups",
		"CamelAggregationCompleteAllGroupsInclusive", NULL };
	(void)state;
	build();
	conf->size = 9;
	begin();
	fake_watch(&f, headers, NULL);
	play("a1 b1");
	send_flag("c1", headers[0], NULL);
	assert_string_equal(ran, "a1/1/force/a/- b1/1/force/b/- ");
	assert_string_equal(f.body, "c1.");
	assert_string_equal(fake_seen(&f, headers[0]), "");
	play("a2");
	send_flag("b2", headers[1], NULL);
	assert_string_equal(ran, "a1/1/force/a/- b1/1/force/b/- a2/1/force/a/- b2/1/force/b/- ");
	assert_string_equal(fake_seen(&f, headers[1]), "");
	ran[0] = 0;
	play("a3 b3");
	send_flag("a4", NULL, "CamelAggregationCompleteCurrentGroup");
	assert_string_equal(ran, "a3a4/2/strategy/a/- ");
	send_flag("a5", NULL, headers[0]);
	assert_string_equal(ran, "a3a4/2/strategy/a/- b3/1/force/b/- ");
	end();
}

static void
send_of_batch(const char *text, int64_t size)
{
	struct exchange *ex = fake_exchange(&f, text);
	exchange_set_property(ex, STR_LIT("CamelBatchSize"), value_int(size));
	engine_start(&f.en, ex, route);
}

static void
test_batch(void **state)
{
	(void)state;
	build();
	conf->from_batch = true;
	begin();
	send_of_batch("a1", 3);
	send_of_batch("b1", 3);
	assert_string_equal(ran, "");
	send_of_batch("a2", 3);
	assert_string_equal(ran, "a1a2/2/consumer/a/- b1/1/consumer/b/- ");
	send_of_batch("c1", 1);
	assert_string_equal(ran, "a1a2/2/consumer/a/- b1/1/consumer/b/- c1/1/consumer/c/- ");
	end();
}

/* ---- failures ---- */

/* A message whose group cannot be looked at is not in it, and may come again. */
static void
test_failing_predicate(void **state)
{
	(void)state;
	build();
	conf->size = 3;
	struct expression *fails = build_predicate(&b, fn_fail, "no");
	begin();
	send_one("a1");
	conf->predicate = fails;
	((struct aggregate_state *)node.state)->groups_read = true;
	send_one("a2");
	assert_string_equal(f.exception, "IllegalStateException: no");
	send_one("b1");
	assert_int_equal(node.desc->count(&node), 1);
	conf->predicate = NULL;
	play("a2 a3");
	assert_string_equal(ran, "a1a2a3/3/size/a/- ");
	end();
}

static void
test_failing_block(void **state)
{
	(void)state;
	build();
	conf->size = 1;
	build_block(&st->block, build_boom(&b, EXCEPTION_ILLEGAL_STATE, "bad", 1),
	    build_run(&b, note), NULL);
	struct step *handler = build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, NULL, NULL);
	(void)build_redelivery(&b, handler, 1, 0);
	build_handler(&b, route, handler, true);
	begin();
	f.wakes = true;
	send_one("a1");
	while (f.queue_n > 0)
		fake_answer(&f, NULL);
	assert_string_equal(ran, "a1./1/size/a/- ");
	assert_false(f.failed);
	end();
}

/* ---- completed groups run one after another, or at once ---- */

static void
run_slowly(bool parallel)
{
	build();
	conf->size = 1;
	conf->parallel = parallel;
	build_block(&st->block, build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)),
	    build_run(&b, note), NULL);
	begin();
	f.send_mode = FAKE_LATER;
	for (int i = 0; i < 3; i++)
		(void)fake_start(&f, route, "a1");
	assert_int_equal(f.done, 3);
	assert_int_equal(f.sends, parallel ? 3 : 1);
	assert_string_equal(ran, "");
}

static void
test_parallel(void **state)
{
	for (int parallel = 0; parallel < 2; parallel++) {
		(void)state;
		run_slowly(parallel);
		while (f.queue_n > 0)
			fake_answer(&f, NULL);
		assert_int_equal(f.sends, 3);
		assert_string_equal(ran, "a1S/1/size/a/- a1S/1/size/a/- a1S/1/size/a/- ");
		end();
	}
}

/* The state goes while a completed group still runs. */
static void
test_close_while_running(void **state)
{
	(void)state;
	run_slowly(false);
	state_close(&node);
	while (f.queue_n > 0)
		fake_answer(&f, NULL);
	assert_string_equal(ran, "a1S/1/size/a/- ");
	end();
}

static enum step_rc
feed_back(struct engine *en, struct exchange *ex, const struct step *step)
{
	(void)en;
	(void)step;
	return engine_enter_route(ex, step, route);
}

/* A block that sends to its own aggregate does not recurse, and lets the loop turn. */
static void
test_feed_back(void **state)
{
	(void)state;
	build();
	conf->size = 1;
	build_block(&st->block, build_run(&b, note), build_run(&b, feed_back), NULL);
	begin();
	(void)fake_start(&f, route, "a1");
	assert_int_equal(f.done, 1);
	assert_true(strlen(ran) > 100);
	size_t n = strlen(ran);
	assert_int_equal(f.queue_n, 1); /* a pause */
	ran[0] = 0;
	fake_answer(&f, NULL);
	assert_int_equal(strlen(ran), n);
	conf->size = 2; /* it ends */
	while (f.queue_n > 0)
		fake_answer(&f, NULL);
	end();
}

/* ---- bounds ---- */

static void
test_max_groups(void **state)
{
	(void)state;
	build();
	b.program.limits.aggregate_groups = 2;
	conf->size = 2;
	begin();
	play("a1 b1 c1");
	assert_string_equal(f.exception,
	    "RejectedExecutionException: aggregate aggregate1 holds 2 groups, and no more are "
	    "allowed "
	    "(aggregate.max_groups)");
	play("a2 c1 c2");
	assert_false(f.failed);
	assert_string_equal(ran, "a1a2/2/size/a/- c1c2/2/size/c/- ");
	end();
}

static void
fill(const struct bean_class *class)
{
	char text[4096];
	struct aggregate_state *s = node.state;
	int i = 0;
	conf->strategy = s->groups.strategy = bean(class, NULL);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (; i < 1000 && !f.failed; i++)
		send_one(text);
	assert_in_range(i, 40, 70); /* of 4 KiB in 256 KiB */
	assert_non_null(strstr(f.exception, "(aggregate.max_bytes)"));
	uint64_t bytes = s->groups.bytes;
	assert_in_range(bytes, 192 << 10, 256 << 10);
	for (i = 0; i < 100; i++)
		send_one(text);
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
	build();
	b.program.limits.aggregate_bytes = 256 << 10;
	conf->size = 1000;
	begin();
	fill(row->class);
	end();
}

/* The latest takes no more than one. */
static void
test_latest_is_bounded(void **state)
{
	char text[4096];
	(void)state;
	build();
	conf->size = 100000;
	conf->strategy = bean(&UseLatest_bean, NULL);
	begin();
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < 1000; i++)
		send_one(text);
	struct aggregate_state *s = node.state;
	assert_in_range(s->groups.bytes, 4096, 20000);
	end();
}

static void
test_discard_on_failure(void **state)
{
	char text[4096];
	(void)state;
	build();
	b.program.limits.aggregate_bytes = 64 << 10;
	conf->size = 1000;
	conf->discard_on_failure = true;
	begin();
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < 100; i++)
		send_one(text);
	assert_false(f.failed);
	assert_string_equal(ran, "");
	end();
}

/* Completed groups that wait count too, and are given back. */
static void
test_waiting_counts(void **state)
{
	(void)state;
	run_slowly(false);
	struct aggregate_state *s = node.state;
	assert_int_equal(s->groups.taken, 3);
	assert_true(s->groups.bytes > 0);
	while (f.queue_n > 0)
		fake_answer(&f, NULL);
	assert_int_equal(s->groups.taken, 0);
	assert_int_equal(s->groups.bytes, 0);
	end();
}

/* A source that is faster than the steps is held back, the more the fuller it gets. */
static void
test_source_is_held_back(void **state)
{
	(void)state;
	build();
	conf->size = 1;
	build_block(
	    &st->block, build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)), NULL);
	b.program.limits.aggregate_bytes = 1u << 30;
	begin();
	f.send_mode = FAKE_LATER;
	f.wakes = true;
	for (int i = 0; i < 150; i++)
		(void)fake_start(&f, route, "a1");
	assert_int_equal(f.done, 150);
	assert_in_range(f.waits_n, 40, 60);
	assert_int_equal(f.waits[0], 104); /* 102 of 1000, in hundredths, squared */
	for (int i = 1; i < f.waits_n; i++)
		assert_true(f.waits[i] >= f.waits[i - 1]);
	while (f.queue_n > 0)
		fake_answer(&f, NULL);
	f.waits_n = 0;
	send_one("a1");
	assert_int_equal(f.waits_n, 0);
	while (f.queue_n > 0)
		fake_answer(&f, NULL);
	end();
}

/* ---- the hand-over ---- */

static bool
write_records(void *arg, struct str bytes)
{
	return buf_add_str(arg, bytes) == HINNY_OK;
}

/* Another process takes over; `change` may change its options. */
static void
hand_over(void (*change)(void))
{
	struct buf records;
	struct state_writer w;
	struct state_loaded loaded = { 0 };
	buf_init(&records, 0);
	state_writer_init(&w, write_records, &records);
	state_save(&node, &w);
	assert_false(w.failed);
	assert_int_equal(w.lost, 0);
	state_writer_fini(&w);
	state_close(&node);
	if (change)
		change();
	state_open(&f.en, &node);
	struct blob *blob = blob_copy(records.p, records.n);
	assert_true(state_load(&b.program, (struct str){ blob->data, blob->size }, blob, &loaded));
	blob_put(blob);
	assert_int_equal(loaded.refused, 0);
	state_serve(&node);
	buf_fini(&records);
}

static const struct over_row {
	const char *label;
	void (*options)(void), (*change)(void);
	const char *before, *after, *ran;
} over_rows[] = {
	{ "text", by_size3, NULL, "a1 a2 b1", "a3 b2 b3", "a1a2a3/3/size/a/- b1b2b3/3/size/b/- " },
	{ "delimiter", joined, NULL, "a1", "a2", "a1+a2/2/size/a/- " },
	{ "latest", latest, NULL, "a1", "a2", "a2/2/size/a/- " },
	{ "original", original, NULL, "a1", "a2", "a1/2/size/a/- " },
	{ "bodies", bodies, NULL, "a1", "a2", "[a1, a2]/2/size/a/- " },
	{ "messages", messages, NULL, "a1", "a2",
	    "[{body=a1, headers={}}, {body=a2, headers={}}]/2/size/a/- " },
	{ "a time-out goes on", by_timeout, NULL, "a1 +60", "+50", "a1/1/timeout/a/100 " },
	{ "a time-out that was over", by_timeout_grid, NULL, "a1 +200", "+800",
	    "a1/1/timeout/a/100 " },
	{ "a time-out is new", by_size3, by_timeout, "a1 +60", "+110", "a1/1/timeout/a/- " },
	{ "interval", by_interval, NULL, "a1 +400", "+100", "a1/1/interval/a/- " },
	{ "text becomes a list", by_size2, bodies, "a1", "a2", "[a1, a2]/2/size/a/- " },
	{ "a list becomes text", bodies, joined, "a1", "a2", "a1+a2/2/size/a/- " },
	{ "text becomes the latest", by_size3, latest, "a1 a2", "a3", "a3/3/size/a/- " },
	{ "the latest becomes text", latest, joined, "a1", "a2", "a1+a2/2/size/a/- " },
	{ "less makes it complete", by_size3, by_size2, "a1 a2", "a3", "a1a2a3/3/size/a/- " },
};

static void
check_over(void **state)
{
	const struct over_row *row = *state;
	build();
	row->options();
	begin();
	play(row->before);
	assert_string_equal(ran, "");
	uint64_t n = node.desc->count(&node);
	hand_over(row->change);
	assert_int_equal(node.desc->count(&node), n);
	hand_over(NULL);
	play(row->after);
	assert_string_equal(ran, row->ran);
	end();
}

/* Headers, properties, and an item of any size. */
static void
test_hand_over_of_messages(void **state)
{
	static char large[300000];
	(void)state;
	build();
	bodies();
	begin();
	memset(large, 'a', sizeof(large) - 1);
	struct exchange *ex = fake_exchange(&f, large);
	exchange_set_header(ex, STR_LIT("h"), value_str(STR_LIT("1")));
	exchange_set_property(ex, STR_LIT("p"), value_int(2));
	exchange_set_variable(ex, STR_LIT("v"), value_int(3));
	engine_start(&f.en, ex, route);
	hand_over(NULL);
	struct aggregate_state *s = node.state;
	struct group *g = groups_find(&s->groups, STR_LIT("a"));
	assert_non_null(g);
	assert_int_equal(g->gathered.list.u.list->items[0].u.s.n, sizeof(large) - 1);
	assert_int_equal(exchange_property(g->ex, STR_LIT("p"))->u.i, 2);
	assert_int_equal(exchange_variable(g->ex, STR_LIT("v"))->u.i, 3);
	assert_non_null(exchange_header(g->ex, STR_LIT("H")));
	end();
}

static void
test_hand_over_of_the_rest(void **state)
{
	(void)state;
	build();
	conf->size = 1;
	conf->closes_keys = true;
	build_block(&st->block, build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)),
	    build_run(&b, note), NULL);
	begin();
	f.send_mode = FAKE_LATER;
	play("a1 b1 c1");
	assert_int_equal(f.sends, 1);
	hand_over(NULL);
	while (f.queue_n > 0)
		fake_answer(&f, NULL);
	/* one ran in the old process */
	assert_string_equal(ran, "a1S/1/size/a/- b1S/1/size/b/- c1S/1/size/c/- ");
	send_one("b2");
	assert_true(f.failed);
	end();
}

static void
test_bad_records(void **state)
{
	static const char *const kinds[] = { "part", "group", "waiting", "other", "" };
	(void)state;
	setup();
	struct arena a;
	arena_init(&a);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hinny_error err;
		struct state_record r = { .value = value_new_list(&a, 1) };
		value_list_add(&a, r.value.u.list, value_str(str_of(kinds[i])));
		assert_false(node.desc->load(&node, &r, &err));
		r.value = value_int(1);
		assert_false(node.desc->load(&node, &r, &err));
	}
	arena_fini(&a);
	end();
}

/* ---- many ---- */

/* Time-outs of many groups, in any order. */
static void
test_many_timeouts(void **state)
{
	enum { N = 500 };
	(void)state;
	setup();
	struct aggregate_state *s = node.state;
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
	end();
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
	UNIT_TABLE("hand-over", over_rows, check_over);
	UNIT_CASE(test_hand_over_of_messages);
	UNIT_CASE(test_hand_over_of_the_rest);
	UNIT_CASE(test_bad_records);
	UNIT_CASE(test_many_timeouts);
	return unit_run("aggregate");
}
