/* core/eip/engine_errors: who takes an exception, and what becomes of the message. */
#include "core/eip/engine.h"

#include "tests/lib/engine_case.h"

#include <string.h>

extern const struct eip_desc stop_eip;

static struct build b;
static struct fake f;

static struct step *
boom(enum exception_id id)
{
	return build_boom(&b, id, "boom", 0);
}

/* An onException that appends its text and handles. */
static struct step *
handling(enum exception_id id, const char *text)
{
	struct step *st = build_on_exception(&b, id, build_append(&b, text), NULL);
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_true, "");
	return st;
}

/* ---- the three outcomes ---- */

static void
test_unhandled(void **state)
{
	static const char *const headers[] = { "CamelRedelivered", "CamelRedeliveryCounter",
		"CamelRedeliveryMaxCounter", NULL };
	static const char *const properties[] = { "CamelExceptionCaught", "CamelFailureEndpoint",
		"CamelFailureRouteId", NULL };
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_append(&b, "1"), boom(EXCEPTION_ILLEGAL_STATE),
	    build_append(&b, "no"), NULL);
	build_handler(&b, r,
	    build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, build_append(&b, "E"), NULL), false);
	case_begin(&f, &b);
	fake_watch(&f, headers, properties);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x1.E");
	assert_string_equal(f.exception, "IllegalStateException: boom");
	assert_string_equal(fake_seen(&f, "CamelRedelivered"), "false");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryCounter"), "0");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryMaxCounter"), "");
	assert_string_equal(
	    fake_seen(&f, "CamelExceptionCaught"), "java.lang.IllegalStateException: boom");
	assert_string_equal(fake_seen(&f, "CamelFailureEndpoint"), "");
	assert_string_equal(fake_seen(&f, "CamelFailureRouteId"), "r");
	assert_non_null(strstr(f.log, "0 r Failed delivery for (MessageId: "));
	assert_non_null(strstr(f.log,
	    "Exhausted after delivery attempt: 1 caught: java.lang.IllegalStateException: boom\n"));
	case_end(&f);
}

static void
test_handled(void **state)
{
	static const char *const headers[] = { "CamelRedelivered", NULL };
	static const char *const properties[] = { "CamelExceptionCaught", NULL };
	(void)state;
	build_init(&b);
	struct route *r =
	    build_route(&b, "r", boom(EXCEPTION_ILLEGAL_STATE), build_append(&b, "no"), NULL);
	build_handler(&b, r, handling(EXCEPTION_EXCEPTION, "E"), false);
	case_begin(&f, &b);
	fake_watch(&f, headers, properties);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.E");
	assert_false(f.failed);
	assert_string_equal(fake_seen(&f, "CamelRedelivered"), "");
	assert_string_equal(
	    fake_seen(&f, "CamelExceptionCaught"), "java.lang.IllegalStateException: boom");
	assert_string_equal(f.log, "");
	case_end(&f);
}

static void
test_handled_is_a_predicate(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_ILLEGAL_STATE), NULL);
	struct step *st = handling(EXCEPTION_EXCEPTION, "E");
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_false, "");
	build_handler(&b, r, st, false);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_true(f.failed);
	case_end(&f);
}

/* Continued goes on behind the failed step, wherever that stands. */
static void
test_continued(void **state)
{
	(void)state;
	build_init(&b);
	struct step *when = build_when(&b, build_predicate(&b, fn_true, ""),
	    boom(EXCEPTION_ILLEGAL_STATE), build_append(&b, "w"), NULL);
	struct route *r =
	    build_route(&b, "r", build_choice(&b, NULL, when, NULL), build_append(&b, "r"), NULL);
	struct step *st =
	    build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, build_append(&b, "E"), NULL);
	build_on_exception_conf(st)->continued = build_predicate(&b, fn_true, "");
	build_handler(&b, r, st, true);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.Ewr");
	assert_false(f.failed);
	case_end(&f);
}

static void
test_without_steps(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r =
	    build_route(&b, "r", boom(EXCEPTION_ILLEGAL_STATE), build_append(&b, "no"), NULL);
	struct step *st = build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, NULL, NULL);
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_true, "");
	build_handler(&b, r, st, true);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.");
	assert_false(f.failed);
	case_end(&f);
}

/* ---- the search ---- */

/* What is thrown (with a cause), and of the handlers for A, B, C in this order the one that takes
 * it. */
static const struct search_row {
	const char *label;
	enum exception_id thrown;
	int cause; /* -1: none */
	enum exception_id handlers[3];
	unsigned own; /* bit i: handler i is the route's own */
	const char *body;
} search_rows[] = {
	{ "exact", EXCEPTION_IO, -1, { EXCEPTION_EXCEPTION, EXCEPTION_IO, EXCEPTION_RUNTIME }, 0,
	    "xb" },
	{ "a superclass first does not hide", EXCEPTION_NUMBER_FORMAT, -1,
	    { EXCEPTION_EXCEPTION, EXCEPTION_ILLEGAL_ARGUMENT, EXCEPTION_RUNTIME }, 0, "xb" },
	{ "nearest superclass", EXCEPTION_FILE_NOT_FOUND, -1,
	    { EXCEPTION_THROWABLE, EXCEPTION_EXCEPTION, EXCEPTION_IO }, 0, "xc" },
	{ "last of equals", EXCEPTION_IO, -1, { EXCEPTION_RUNTIME, EXCEPTION_IO, EXCEPTION_IO }, 0,
	    "xc" },
	{ "none", EXCEPTION_IO, -1, { EXCEPTION_RUNTIME, EXCEPTION_ILLEGAL_STATE, EXCEPTION_ERROR },
	    0, "x!" },
	{ "innermost cause", EXCEPTION_CAMEL_EXECUTION, EXCEPTION_IO,
	    { EXCEPTION_CAMEL_EXECUTION, EXCEPTION_IO, EXCEPTION_RUNTIME }, 0, "xb" },
	{ "outer exact before inner superclass", EXCEPTION_CAMEL_EXECUTION,
	    EXCEPTION_FILE_NOT_FOUND,
	    { EXCEPTION_EXCEPTION, EXCEPTION_CAMEL_EXECUTION, EXCEPTION_IO }, 0, "xb" },
	{ "route before file", EXCEPTION_IO, -1, { EXCEPTION_IO, EXCEPTION_IO, EXCEPTION_RUNTIME },
	    2, "xb" },
	{ "exact of the file before superclass of the route", EXCEPTION_IO, -1,
	    { EXCEPTION_EXCEPTION, EXCEPTION_IO, EXCEPTION_RUNTIME }, 1, "xb" },
};

static const struct search_row *search_row;

static enum step_rc
throw_row(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	exchange_fail(ex, search_row->thrown, "thrown");
	if (search_row->cause >= 0)
		ex->exception->cause =
		    exception_new(&ex->arena, (enum exception_id)search_row->cause, "cause");
	return STEP_FAILED;
}

static void
check_search(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	search_row = *state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_run(&b, throw_row), NULL);
	for (unsigned i = 0; i < 3; i++)
		build_handler(
		    &b, r, handling(search_row->handlers[i], names[i]), search_row->own >> i & 1);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	if (search_row->body[1] == '!')
		assert_true(f.failed);
	else
		assert_string_equal(f.body, search_row->body);
	case_end(&f);
}

static void
test_on_when(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_IO), NULL);
	struct step *soft = handling(EXCEPTION_IO, "soft");
	build_on_exception_conf(soft)->on_when = build_predicate(&b, fn_header_is, "soft=yes");
	build_handler(&b, r, soft, true);
	build_handler(&b, r, handling(EXCEPTION_EXCEPTION, "hard"), true);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.hard");
	struct exchange *ex = fake_exchange(&f, "x");
	exchange_set_header(ex, STR_LIT("soft"), value_str(STR_LIT("yes")));
	engine_start(&f.en, ex, r);
	assert_string_equal(f.body, "x.soft");
	case_end(&f);
}

static void
test_remote_on_when(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_IO), NULL);
	struct step *one = handling(EXCEPTION_IO, "1"), *two = handling(EXCEPTION_IO, "2");
	build_on_exception_conf(one)->on_when = build_remote(&b, "xform", "a", true);
	build_on_exception_conf(two)->on_when = build_remote(&b, "xform", "c", true);
	build_handler(&b, r, one, true);
	build_handler(&b, r, two, true);
	case_begin(&f, &b);
	f.answers = "a=false\nc=true";
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.2");
	assert_int_equal(f.evaluates, 2);
	f.answers = "a=!bad\nc=true";
	case_run_at_once(&f, r, "x"); /* a failing onWhen ends it, with its own exception */
	assert_string_equal(f.exception, "XPathExpressionException: bad");
	case_end(&f);
}

/* ---- the original message ---- */

static void
test_original(void **state)
{
	static const char *const headers[] = { "h", "in", NULL };
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_set_body(&b, "changed"),
	    build_set_header(&b, "h", "v"), boom(EXCEPTION_IO), NULL);
	struct step *st = handling(EXCEPTION_IO, "E");
	build_on_exception_conf(st)->use_original_message = true;
	build_handler(&b, r, st, true);
	case_begin(&f, &b);
	fake_watch(&f, headers, NULL);
	struct exchange *ex = fake_exchange(&f, "x");
	exchange_set_header(ex, STR_LIT("in"), value_str(STR_LIT("1")));
	engine_start(&f.en, ex, r);
	assert_string_equal(f.body, "xE");
	assert_string_equal(fake_seen(&f, "h"), "");
	assert_string_equal(fake_seen(&f, "in"), "1");
	build_on_exception_conf(st)->use_original_message = false;
	build_on_exception_conf(st)->use_original_body = true;
	case_run_at_once(&f, r, "y");
	assert_string_equal(f.body, "yE");
	assert_string_equal(fake_seen(&f, "h"), "v");
	case_end(&f);
}

/* ---- failures in handlers ---- */

static void
test_exception_in_a_handler(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_ILLEGAL_STATE), NULL);
	struct step *st = build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, build_append(&b, "1"),
	    build_boom(&b, EXCEPTION_IO, "again", 0), NULL);
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_true, "");
	build_handler(&b, r, st, true);
	build_handler(&b, r, handling(EXCEPTION_IO, "no"), true);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.exception, "IOException: again");
	assert_string_equal(f.body, "x.1.");
	case_end(&f);
}

static void
test_try_in_a_handler(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_ILLEGAL_STATE), NULL);
	struct step *catch = build_catch(&b, EXCEPTION_IO, NULL, build_append(&b, "C"), NULL);
	struct step *try =
	    build_try(&b, NULL, catch, NULL, build_boom(&b, EXCEPTION_IO, "again", 0), NULL);
	struct step *st =
	    build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, try, build_append(&b, "E"), NULL);
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_true, "");
	build_handler(&b, r, st, true);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x..CE");
	assert_false(f.failed);
	case_end(&f);
}

extern const struct eip_desc stop_eip;

static void
test_stop_in_a_handler(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_IO), build_append(&b, "no"), NULL);
	struct step *st = build_on_exception(&b, EXCEPTION_IO, build_append(&b, "E"),
	    build_step(&b, &stop_eip), build_append(&b, "no"), NULL);
	build_handler(&b, r, st, true);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.E");
	assert_true(f.failed);
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_true, "");
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.E");
	assert_false(f.failed);
	case_end(&f);
}

/* ---- routes that call routes ---- */

static void
test_caller_does_not_handle_again(void **state)
{
	(void)state;
	build_init(&b);
	struct route *inner = build_route(&b, "inner", boom(EXCEPTION_IO), NULL);
	struct route *outer = build_route(&b, "outer",
	    build_to(&b, build_direct(&b, "inner", inner)), build_append(&b, "no"), NULL);
	build_handler(&b, outer, handling(EXCEPTION_IO, "no"), true);
	case_begin(&f, &b);
	case_run_at_once(&f, outer, "x");
	assert_string_equal(f.exception, "IOException: boom");
	assert_string_equal(f.body, "x.");
	case_end(&f);
}

static void
test_handled_in_called_route_ends_the_caller(void **state)
{
	static const char *const properties[] = { "CamelFailureRouteId", "CamelFailureEndpoint",
		NULL };
	(void)state;
	build_init(&b);
	struct route *inner =
	    build_route(&b, "inner", boom(EXCEPTION_IO), build_append(&b, "no"), NULL);
	struct route *outer = build_route(&b, "outer",
	    build_to(&b, build_direct(&b, "inner", inner)), build_append(&b, "no"), NULL);
	build_handler(&b, inner, handling(EXCEPTION_IO, "E"), true);
	case_begin(&f, &b);
	fake_watch(&f, NULL, properties);
	case_run_at_once(&f, outer, "x");
	assert_string_equal(f.body, "x.E");
	assert_false(f.failed);
	assert_string_equal(fake_seen(&f, "CamelFailureRouteId"), "inner");
	assert_string_equal(fake_seen(&f, "CamelFailureEndpoint"), "direct://inner");
	case_end(&f);
}

/* …but its doFinally runs. */
static void
test_handled_in_called_route_runs_finally(void **state)
{
	(void)state;
	build_init(&b);
	struct route *inner = build_route(&b, "inner", boom(EXCEPTION_IO), NULL);
	struct step *to = build_to(&b, build_direct(&b, "inner", inner));
	struct step *catch =
	    build_catch(&b, EXCEPTION_EXCEPTION, NULL, build_append(&b, "no"), NULL);
	struct step *when =
	    build_when(&b, build_predicate(&b, fn_true, ""), to, build_append(&b, "no"), NULL);
	struct step *try = build_try(&b, build_finally(&b, build_append(&b, "F"), NULL), catch,
	    NULL, build_choice(&b, NULL, when, NULL), NULL);
	struct route *outer = build_route(&b, "outer", try, build_append(&b, "no"), NULL);
	build_handler(&b, inner, handling(EXCEPTION_IO, "E"), true);
	case_begin(&f, &b);
	case_run_at_once(&f, outer, "x");
	assert_string_equal(f.body, "x.EF");
	assert_false(f.failed);
	case_end(&f);
}

static void
test_try_around_a_called_route(void **state)
{
	(void)state;
	build_init(&b);
	struct route *inner = build_route(&b, "inner", boom(EXCEPTION_IO), NULL);
	struct step *catch = build_catch(&b, EXCEPTION_IO, NULL, build_append(&b, "C"), NULL);
	struct step *try =
	    build_try(&b, NULL, catch, NULL, build_to(&b, build_direct(&b, "inner", inner)), NULL);
	struct route *outer = build_route(&b, "outer", try, boom(EXCEPTION_ILLEGAL_STATE), NULL);
	build_handler(&b, outer, handling(EXCEPTION_ILLEGAL_STATE, "H"), true);
	case_begin(&f, &b);
	case_run_at_once(&f, outer, "x");
	assert_string_equal(
	    f.body, "x.C.H"); /* what was caught does not keep the next from being handled */
	assert_false(f.failed);
	case_end(&f);
}

/* A called route may use a handler's own error handling: a failure in a route that onException
 * calls is handled there. */
static void
test_handler_calls_a_route_that_handles(void **state)
{
	(void)state;
	build_init(&b);
	struct route *help = build_route(&b, "help", boom(EXCEPTION_IO), NULL);
	build_handler(&b, help, handling(EXCEPTION_IO, "H"), true);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_ILLEGAL_STATE), NULL);
	struct step *st = build_on_exception(&b, EXCEPTION_ILLEGAL_STATE,
	    build_to(&b, build_direct(&b, "help", help)), build_append(&b, "no"), NULL);
	build_handler(&b, r, st, true);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x..H");
	assert_false(f.failed);
	case_end(&f);
}

int
main(void)
{
	UNIT_CASE(test_unhandled);
	UNIT_CASE(test_handled);
	UNIT_CASE(test_handled_is_a_predicate);
	UNIT_CASE(test_continued);
	UNIT_CASE(test_without_steps);
	UNIT_TABLE("search", search_rows, check_search);
	UNIT_CASE(test_on_when);
	UNIT_CASE(test_remote_on_when);
	UNIT_CASE(test_original);
	UNIT_CASE(test_exception_in_a_handler);
	UNIT_CASE(test_try_in_a_handler);
	UNIT_CASE(test_stop_in_a_handler);
	UNIT_CASE(test_caller_does_not_handle_again);
	UNIT_CASE(test_handled_in_called_route_ends_the_caller);
	UNIT_CASE(test_handled_in_called_route_runs_finally);
	UNIT_CASE(test_try_around_a_called_route);
	UNIT_CASE(test_handler_calls_a_route_that_handles);
	return unit_run("errors");
}
