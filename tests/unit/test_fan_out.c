/* core/eip/fan_out, split, multicast, aggregation, items: children of an exchange. */
#include "core/eip/fan_out.h"
#include "core/eip/items.h"

#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

extern const struct eip_desc stop_eip, filter_eip;
extern const struct bean_class UseLatest_bean, UseOriginal_bean, GroupedBody_bean,
    GroupedExchange_bean, GroupedMessage_bean, String_bean;

static struct build b;
static struct fake f;

static void
setup(void)
{
	build_init(&b);
	fake_init(&f, &b);
}

static void
end(void)
{
	assert_int_equal(f.pool.live, 0);
	assert_int_equal(f.queue_n, 0);
	fake_fini(&f);
	build_fini(&b);
}

/* ---- expressions and steps of the test ---- */

static enum eval_rc
fn_body(struct exchange *ex, const char *arg, struct value *out)
{
	(void)arg;
	*out = ex->body;
	return EVAL_OK;
}

/* The body, the index, the size and whether it is the last, as "<a0/3>" and "<c2/3!>". */
static enum step_rc
mark(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct value *i = exchange_property(ex, STR_LIT("CamelSplitIndex")),
			   *n = exchange_property(ex, STR_LIT("CamelSplitSize")),
			   *last = exchange_property(ex, STR_LIT("CamelSplitComplete"));
	struct str body = value_text(&ex->arena, &ex->body);
	(void)en;
	(void)st;
	exchange_set_body(ex,
	    value_str(str_of(arena_printf(&ex->arena, "<%.*s%d/%d%s>", STR_FMT(body), (int)i->u.i,
		n ? (int)n->u.i : -1, last->u.b ? "!" : ""))));
	exchange_set_header(ex, STR_LIT("item"), value_int(i->u.i));
	return STEP_DONE;
}

/* A list that a strategy made prints its items from here on. */
static enum step_rc
open_list(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	ex->body.flags &= (uint8_t)~VALUE_GROUPED;
	return STEP_DONE;
}

static char ran[256];

static enum step_rc
note_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct str body = value_text(&ex->arena, &ex->body);
	(void)en;
	(void)st;
	strncat(ran, body.p, body.n);
	return STEP_DONE;
}

/* Fails when the body is arg. */
static enum step_rc
fail_at_b(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	if (!str_eq(value_text(&ex->arena, &ex->body), STR_LIT("b")))
		return STEP_DONE;
	exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "bad %s", "b");
	return STEP_FAILED;
}

static const struct bean *
bean(const struct bean_class *class, const char *delimiter)
{
	struct bean *bn = ARENA_NEW(&b.arena, struct bean);
	struct aggregation_text_conf *conf = ARENA_NEW(&b.arena, struct aggregation_text_conf);
	conf->delimiter = delimiter;
	bn->class = class;
	bn->conf = conf;
	return bn;
}

static struct fan_out_conf *
conf_of(struct step *st)
{
	return st->conf; /* it is the first member of both */
}

static struct step *
split_body(struct step *first, struct step *second, struct step *third)
{
	return build_split(&b, build_expr(&b, fn_body, ""), first, second, third, NULL);
}

static struct step *
send(void)
{
	return build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER));
}

static void
run(const struct route *route, const char *body)
{
	int done = f.done;
	ran[0] = 0;
	(void)fake_start(&f, route, body);
	while (f.done == done)
		fake_answer(&f, NULL);
	assert_int_equal(f.done, done + 1);
}

/* ---- strategies ---- */

static const struct strategy_row {
	const char *label;
	const struct bean_class *class;
	const char *delimiter, *input, *body, *header;
} strategy_rows[] = {
	{ "none", NULL, NULL, "a,b,c", "a,b,c.", "" },
	{ "original", &UseOriginal_bean, NULL, "a,b,c", "a,b,c.", "" },
	{ "latest", &UseLatest_bean, NULL, "a,b,c", "<c2/3!>.", "2" },
	{ "text", &String_bean, NULL, "a,b", "<a0/2><b1/2!>.", "0" },
	{ "text with a delimiter", &String_bean, "+", "a,b", "<a0/2>+<b1/2!>.", "0" },
	{ "bodies", &GroupedBody_bean, NULL, "a,b", "[<a0/2>, <b1/2!>].", "0" },
	{ "messages", &GroupedMessage_bean, NULL, "a", "[{body=<a0/1!>, headers={item=0}}].", "0" },
	{ "inner empty items", &String_bean, NULL, "a,,b,", "<a0/3><1/3><b2/3!>.", "0" },
	{ "no item", &String_bean, NULL, "", ".", "" },
	{ "null", &String_bean, NULL, NULL, ".", "" },
};

static void
check_strategy(void **state)
{
	const struct strategy_row *row = *state;
	static const char *const headers[] = { "item", NULL };
	setup();
	struct step *st = split_body(build_run(&b, mark), NULL, NULL);
	if (row->class)
		conf_of(st)->strategy = bean(row->class, row->delimiter);
	struct route *r =
	    build_route(&b, "r", st, build_run(&b, open_list), build_append(&b, "."), NULL);
	fake_watch(&f, headers, NULL);
	run(r, row->input);
	assert_string_equal(f.body, row->body);
	assert_string_equal(fake_seen(&f, "item"), row->header);
	assert_false(f.failed);
	end();
}

static void
test_grouped_exchanges(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_append(&b, "!"), NULL, NULL);
	conf_of(st)->strategy = bean(&GroupedExchange_bean, NULL);
	run(build_route(&b, "r", st, build_run(&b, open_list), NULL), "a,b");
	assert_non_null(strstr(f.body, "in={body=a!"));
	assert_non_null(strstr(f.body, "message={body=b!"));
	assert_non_null(strstr(f.body, ", body=b!, "));
	end();
}

/* As in Camel, the list itself does not print what is in it. */
static void
test_grouped_text(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_append(&b, "!"), NULL, NULL);
	conf_of(st)->strategy = bean(&GroupedBody_bean, NULL);
	run(build_route(&b, "r", st, build_append(&b, "."), NULL), "a,b");
	assert_string_equal(f.body, "List<Exchange>(2 elements).");
	end();
}

/* An item without a body adds nothing to the text, not even a delimiter. */
static enum step_rc
no_b(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	if (str_eq(value_text(&ex->arena, &ex->body), STR_LIT("b")))
		exchange_set_body(ex, value_null());
	return STEP_DONE;
}

static void
test_text_of_null(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_run(&b, no_b), NULL, NULL);
	conf_of(st)->strategy = bean(&String_bean, "+");
	struct route *r = build_route(&b, "r", st, NULL);
	run(r, "a,b,c,b");
	assert_string_equal(f.body, "a+c");
	run(r, "b,c");
	assert_string_equal(f.body, "+c");
	run(r, "b");
	assert_string_equal(f.body, "");
	end();
}

/* ---- items ---- */

static const struct items_row {
	const char *label, *text, *delimiter;
	uint32_t group;
	const char *items; /* with "|" between them */
} items_rows[] = {
	{ "commas", "a, b", ",", 0, "a| b" },
	{ "another", "a#b,c", "#", 0, "a|b,c" },
	{ "long", "a--b--", "--", 0, "a|b" },
	{ "off", "a,b", "false", 0, "a,b" },
	{ "single", "a,b", "single", 0, "a,b" },
	{ "parentheses", "f(a,b),g(c,d),h", ",", 0, "f(a,b)|g(c,d)|h" },
	{ "groups", "a,b,c", ",", 2, "[a, b]|[c]" },
	{ "only delimiters", ",,", ",", 0, "" },
	{ "a delimiter at the start", ",,a", ",", 0, "|a" },
};

static void
check_items(void **state)
{
	const struct items_row *row = *state;
	struct arena a;
	struct items it;
	char got[256] = "";
	arena_init(&a);
	struct value v = value_str(str_of(row->text));
	items_of(&a, &v, row->delimiter, row->group, &it);
	for (uint32_t i = 0; i < it.n; i++) {
		struct value item = items_at(&a, &it, i);
		struct str text = value_text(&a, &item);
		(void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s", i ? "|" : "",
		    STR_FMT(text));
	}
	assert_string_equal(got, row->items);
	arena_fini(&a);
}

static void
test_items_of_other_values(void **state)
{
	(void)state;
	struct arena a;
	struct items it;
	struct hinny_error err;
	const struct json_node *root;
	arena_init(&a);
	struct value v = value_int(5);
	items_of(&a, &v, ",", 0, &it);
	assert_int_equal(it.n, 1);
	v = value_str(STR_LIT("a,b"));
	v.flags = VALUE_INPUT;
	items_of(&a, &v, ",", 0, &it);
	assert_int_equal(it.n, 1);
	assert_int_equal(json_parse(&a, STR_LIT("[1,[2],{}]"), &root, &err), HINNY_OK);
	v = value_from_json(&a, root, NULL);
	items_of(&a, &v, ",", 0, &it);
	assert_int_equal(it.n, 3);
	v = items_at(&a, &it, 1);
	assert_int_equal(v.type, VALUE_JSON);
	assert_int_equal(json_parse(&a, STR_LIT("{\"x\":1,\"y\":2}"), &root, &err), HINNY_OK);
	v = value_from_json(&a, root, NULL);
	items_of(&a, &v, ",", 0, &it);
	assert_int_equal(it.n, 2);
	v = items_at(&a, &it, 1);
	assert_true(str_eq(value_text(&a, &v), STR_LIT("y=2")));
	arena_fini(&a);
}

/* ---- failures ---- */

static void
test_a_failing_item(void **state)
{
	(void)state;
	setup();
	struct route *r = build_route(&b, "r",
	    split_body(build_run(&b, fail_at_b), build_run(&b, note_run), NULL),
	    build_append(&b, "."), NULL);
	run(r, "a,b,c");
	assert_string_equal(ran, "ac");
	assert_string_equal(f.exception, "IllegalStateException: bad b");
	assert_string_equal(f.body, "a,b,c");
	end();
}

static void
test_stop_on_exception(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_run(&b, fail_at_b), build_run(&b, note_run), NULL);
	conf_of(st)->stop_on_exception = true;
	run(build_route(&b, "r", st, NULL), "a,b,c");
	assert_string_equal(ran, "a");
	assert_non_null(strstr(
	    f.exception, "CamelExchangeException: Multicast processing failed for number 1. "));
	assert_non_null(
	    strstr(f.exception, "Caused by: [java.lang.IllegalStateException - bad b]"));
	end();
}

static void
test_tolerated_failures(void **state)
{
	static const char *const properties[] = { "CamelSplitResult", NULL };
	(void)state;
	setup();
	struct step *st = split_body(build_run(&b, fail_at_b), NULL, NULL);
	struct split_conf *conf = st->conf;
	conf->tolerates = true;
	conf->max_failed = 1;
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	fake_watch(&f, NULL, properties);
	run(r, "a,b,c");
	assert_false(f.failed);
	assert_string_equal(f.body, "a,b,c.");
	assert_string_equal(fake_seen(&f, "CamelSplitResult"),
	    "{total=3, processed=3, success=2, failures=1, aborted=false}");
	run(r, "a,b,b,b,c");
	assert_true(f.failed);
	assert_string_equal(fake_seen(&f, "CamelSplitResult"),
	    "{total=5, processed=3, success=1, failures=2, aborted=true}");
	end();
}

/* The error handler of the route runs in the item, and not again for the split. */
static void
test_handlers(void **state)
{
	static const char *const properties[] = { "CamelExceptionCaught", NULL };
	(void)state;
	setup();
	struct step *st = split_body(build_run(&b, fail_at_b), build_run(&b, note_run), NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	struct step *on =
	    build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, build_append(&b, "H"), NULL);
	build_handler(&b, r, on, true);
	fake_watch(&f, NULL, properties);
	run(r, "a,b,c"); /* not handled; of failures the strategy keeps that of the first only */
	assert_string_equal(f.body, "abHc.");
	assert_false(f.failed);
	run(r, "b,c");
	assert_string_equal(f.body, "bHc");
	assert_string_equal(f.exception, "IllegalStateException: bad b");
	build_on_exception_conf(on)->handled = build_predicate(&b, fn_true, "");
	run(r, "a,b,c");
	assert_false(f.failed);
	assert_string_equal(f.body, "abHc.");
	/* the result is the first's, with its properties */
	assert_string_equal(fake_seen(&f, "CamelExceptionCaught"), "");
	run(r, "b,c"); /* … and its end */
	assert_string_equal(f.body, "bHc");
	conf_of(st)->stop_on_exception = true; /* what was handled ends it as well */
	run(r, "a,b,c");
	assert_string_equal(f.body, "bH");
	conf_of(st)->stop_on_exception = false;
	ran[0] = 0;
	run(r, "a,b,c");
	assert_string_equal(ran, "ac");
	conf_of(st)->share_unit_of_work = true;
	run(r, "a,b,c");
	assert_false(f.failed);
	assert_string_equal(f.body, "abHc"); /* and the route ended */
	end();
}

static void
test_redelivery_in_an_item(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_boom(&b, EXCEPTION_IO, "boom", 1), NULL, NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	struct route *r = build_route(&b, "r", st, NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, NULL, NULL);
	build_redelivery(&b, on, 2, 10);
	build_handler(&b, r, on, true);
	f.wakes = false;
	run(r, "a,b");
	assert_false(f.failed);
	assert_string_equal(f.body, "a.b.");
	assert_int_equal(f.redelivered, 1);
	end();
}

static void
test_in_a_try(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_run(&b, fail_at_b), NULL, NULL);
	struct step *catch =
	    build_catch(&b, EXCEPTION_ILLEGAL_STATE, NULL, build_append(&b, "caught"), NULL);
	struct route *r = build_route(
	    &b, "r", build_try(&b, NULL, catch, NULL, st, NULL), build_append(&b, "."), NULL);
	build_handler(&b, r,
	    build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, build_append(&b, "H"), NULL), true);
	run(r, "a,b");
	assert_false(f.failed);
	assert_string_equal(f.body, "a,bcaught.");
	end();
}

static void
test_stop_in_an_item(void **state)
{
	(void)state;
	setup();
	struct step *st =
	    split_body(build_append(&b, "1"), build_step(&b, &stop_eip), build_append(&b, "2"));
	conf_of(st)->strategy = bean(&String_bean, NULL);
	run(build_route(&b, "r", st, build_append(&b, "."), NULL), "a,b");
	assert_string_equal(f.body, "a1b1"); /* the result is the first's, which was stopped */
	end();
}

/* ---- waiting ---- */

static void
test_items_one_after_another(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_run(&b, note_run), send(), NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	struct route *r = build_route(&b, "r", st, NULL);
	f.send_mode = FAKE_LATER;
	ran[0] = 0;
	(void)fake_start(&f, r, "a,b,c");
	assert_string_equal(ran, "a");
	fake_answer(&f, NULL);
	assert_string_equal(ran, "ab");
	fake_answer(&f, NULL);
	fake_answer(&f, NULL);
	assert_int_equal(f.done, 1);
	assert_string_equal(f.body, "aSbScS");
	end();
}

/* Answers come from behind. */
static void
answer_last(void)
{
	struct fake_asked first = f.queue[0];
	f.queue[0] = f.queue[f.queue_n - 1];
	f.queue[f.queue_n - 1] = first;
	fake_answer(&f, NULL);
}

static void
test_parallel(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_run(&b, note_run), send(), NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	conf_of(st)->parallel = true;
	struct route *r = build_route(&b, "r", st, NULL);
	f.send_mode = FAKE_LATER;
	ran[0] = 0;
	(void)fake_start(&f, r, "a,b,c");
	assert_string_equal(ran, "abc");
	assert_int_equal(f.queue_n, 3);
	answer_last();
	answer_last();
	answer_last();
	assert_string_equal(f.body, "aSbScS");
	conf_of(st)->streaming = true;
	(void)fake_start(&f, r, "a,b,c");
	answer_last();
	answer_last();
	answer_last();
	assert_string_equal(f.body, "cSaSbS"); /* in order of arrival */
	end();
}

/* Without parallelProcessing, where nobody sees the difference. */
static void
test_overlap(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(send(), NULL, NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	st->overlaps = true;
	struct route *r = build_route(&b, "r", st, NULL);
	f.send_mode = FAKE_LATER;
	(void)fake_start(&f, r, "a,b,c");
	assert_int_equal(f.queue_n, 3);
	answer_last();
	answer_last();
	answer_last();
	assert_string_equal(f.body, "aSbScS");
	conf_of(st)->stop_on_exception = true;
	(void)fake_start(&f, r, "a,b");
	assert_int_equal(f.queue_n, 1);
	fake_answer(&f, NULL);
	fake_answer(&f, NULL);
	conf_of(st)->stop_on_exception = false;
	build_handler(&b, r, build_on_exception(&b, EXCEPTION_IO, NULL, NULL), true);
	(void)fake_start(&f, r, "a,b");
	assert_int_equal(f.queue_n, 1);
	fake_answer(&f, NULL);
	fake_answer(&f, NULL);
	assert_string_equal(f.body, "aSbS");
	end();
}

static void
test_window(void **state)
{
	static char body[1000];
	(void)state;
	setup();
	for (int i = 0; i < 200; i++)
		strcat(body, "x,");
	struct step *st = split_body(send(), NULL, NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	conf_of(st)->parallel = true;
	struct route *r = build_route(&b, "r", st, NULL);
	f.send_mode = FAKE_LATER;
	(void)fake_start(&f, r, body);
	assert_int_equal(f.queue_n, FAN_OUT_WINDOW);
	while (f.done == 0) {
		assert_true(f.queue_n <= FAN_OUT_WINDOW);
		answer_last();
	}
	assert_int_equal(strlen(f.body), 400);
	assert_int_equal(f.sends, 200);
	end();
}

static void
test_timeout(void **state)
{
	(void)state;
	setup();
	struct step *slow = build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER));
	struct step *st =
	    build_multicast(&b, build_append(&b, "1"), slow, build_append(&b, "3"), NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	conf_of(st)->parallel = true;
	conf_of(st)->timeout_ms = 100;
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	f.send_mode = FAKE_LATER;
	(void)fake_start(&f, r, "x");
	assert_int_equal(f.queue_n, 2);
	answer_last(); /* the send is first in the queue now, behind it the timer */
	assert_int_equal(f.done, 1);
	assert_string_equal(f.body, "x1xSx3.");
	(void)fake_start(&f, r, "x");
	struct fake_asked sending = f.queue[0].kind == PENDING_SEND ? f.queue[0] : f.queue[1];
	f.queue[0] = f.queue[0].kind == PENDING_SEND ? f.queue[1] : f.queue[0];
	f.queue_n = 1;
	fake_answer(&f, NULL); /* the time is up */
	assert_int_equal(f.done, 2);
	assert_string_equal(f.body, "x1x3.");
	assert_int_equal(f.pool.live, 1); /* the slow one goes on */
	f.queue[f.queue_n++] = sending;
	fake_answer(&f, NULL);
	end();
}

static void
test_many_items_let_the_loop_turn(void **state)
{
	static char body[8000];
	(void)state;
	setup();
	for (int i = 0; i < 3500; i++)
		strcat(body + 2 * i, "x,");
	struct step *st = split_body(build_append(&b, ""), NULL, NULL);
	struct route *r = build_route(&b, "r", st, NULL);
	(void)fake_start(&f, r, body);
	assert_int_equal(f.pending, PENDING_TIMER);
	int turns = 0;
	for (; f.done == 0; turns++)
		fake_answer(&f, NULL);
	assert_int_equal(turns, 3);
	end();
}

static void
test_abort(void **state)
{
	(void)state;
	setup();
	struct step *st = split_body(build_append(&b, "1"), send(), NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	conf_of(st)->parallel = true;
	conf_of(st)->timeout_ms = 1000;
	struct route *r = build_route(&b, "r", st, NULL);
	f.send_mode = FAKE_LATER;
	struct exchange *ex = fake_start(&f, r, "a,b,c");
	answer_last();
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "the broker stops");
	assert_int_equal(f.done, 1);
	assert_string_equal(f.exception, "RejectedExecutionException: the broker stops");
	end();
}

/* ---- multicast, nesting ---- */

static void
test_multicast(void **state)
{
	static const char *const headers[] = { "h", NULL };
	static const char *const properties[] = { "CamelMulticastIndex", "CamelMulticastComplete",
		NULL };
	(void)state;
	setup();
	struct step *st =
	    build_multicast(&b, build_set_header(&b, "h", "1"), build_append(&b, "2"), NULL);
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	fake_watch(&f, headers, properties);
	run(r, "x");
	assert_string_equal(f.body, "x2.");
	assert_string_equal(fake_seen(&f, "h"), "");
	assert_string_equal(fake_seen(&f, "CamelMulticastIndex"), "1");
	assert_string_equal(fake_seen(&f, "CamelMulticastComplete"), "true");
	end();
}

static void
test_multicast_with_a_failing_branch(void **state)
{
	(void)state;
	setup();
	struct step *st = build_multicast(
	    &b, build_boom(&b, EXCEPTION_IO, "boom", 0), build_append(&b, "2"), NULL);
	struct route *r = build_route(&b, "r", st, build_append(&b, "never"), NULL);
	run(r, "x");
	assert_string_equal(f.exception, "IOException: boom");
	assert_string_equal(f.body, "x2");
	end();
}

static void
test_split_in_split(void **state)
{
	(void)state;
	setup();
	struct step *inner =
	    build_split(&b, build_expr(&b, fn_body, ""), build_append(&b, "."), NULL);
	((struct split_conf *)inner->conf)->delimiter = "-";
	conf_of(inner)->strategy = bean(&String_bean, NULL);
	struct step *outer = split_body(inner, build_append(&b, ";"), NULL);
	conf_of(outer)->strategy = bean(&String_bean, NULL);
	run(build_route(&b, "r", outer, NULL), "a-b,c");
	assert_string_equal(f.body, "a.b.;c.;");
	end();
}

static void
test_a_route_that_splits_without_end(void **state)
{
	(void)state;
	setup();
	struct route *r = build_route(&b, "r", NULL, NULL);
	struct step *to = build_to(&b, build_direct(&b, "r", r));
	r->block = (struct block){ split_body(to, NULL, NULL), 1 };
	run(r, "a");
	assert_non_null(strstr(f.exception, "StackOverflowError"));
	end();
}

static void
test_remote_list(void **state)
{
	(void)state;
	setup();
	struct step *st =
	    build_split(&b, build_remote(&b, "xform", "p,q", false), build_append(&b, "!"), NULL);
	conf_of(st)->strategy = bean(&String_bean, NULL);
	f.evaluate_mode = FAKE_LATER;
	run(build_route(&b, "r", st, NULL), "x");
	assert_string_equal(f.body, "p!q!");
	end();
}

int
main(void)
{
	UNIT_TABLE("strategy", strategy_rows, check_strategy);
	UNIT_CASE(test_grouped_exchanges);
	UNIT_CASE(test_grouped_text);
	UNIT_CASE(test_text_of_null);
	UNIT_TABLE("items", items_rows, check_items);
	UNIT_CASE(test_items_of_other_values);
	UNIT_CASE(test_a_failing_item);
	UNIT_CASE(test_stop_on_exception);
	UNIT_CASE(test_tolerated_failures);
	UNIT_CASE(test_handlers);
	UNIT_CASE(test_redelivery_in_an_item);
	UNIT_CASE(test_in_a_try);
	UNIT_CASE(test_stop_in_an_item);
	UNIT_CASE(test_items_one_after_another);
	UNIT_CASE(test_parallel);
	UNIT_CASE(test_overlap);
	UNIT_CASE(test_window);
	UNIT_CASE(test_timeout);
	UNIT_CASE(test_many_items_let_the_loop_turn);
	UNIT_CASE(test_abort);
	UNIT_CASE(test_multicast);
	UNIT_CASE(test_multicast_with_a_failing_branch);
	UNIT_CASE(test_split_in_split);
	UNIT_CASE(test_a_route_that_splits_without_end);
	UNIT_CASE(test_remote_list);
	return unit_run("fan_out");
}
