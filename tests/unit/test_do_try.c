/* core/eip/do_try: doCatch, doFinally, and what comes out of them. */
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

/* ---- doTry ---- */

static const struct try_row {
	const char *label;
	int throws; /* exception of the body, -1: none */
	enum exception_id catches[2];
	bool finally;
	const char *body, *exception;
} try_rows[] = {
	{ "nothing thrown", -1, { EXCEPTION_IO, EXCEPTION_EXCEPTION }, true, "xtF.", "" },
	{ "first catch", EXCEPTION_IO, { EXCEPTION_IO, EXCEPTION_EXCEPTION }, true, "x.1F.", "" },
	{ "a child class", EXCEPTION_FILE_NOT_FOUND, { EXCEPTION_IO, EXCEPTION_EXCEPTION }, true,
	    "x.1F.", "" },
	{ "second catch", EXCEPTION_ILLEGAL_STATE, { EXCEPTION_IO, EXCEPTION_EXCEPTION }, true,
	    "x.2F.", "" },
	{ "order counts, not nearness", EXCEPTION_IO, { EXCEPTION_EXCEPTION, EXCEPTION_IO }, false,
	    "x.1.", "" },
	{ "not caught", EXCEPTION_ERROR, { EXCEPTION_IO, EXCEPTION_EXCEPTION }, true, "x.F",
	    "Error: boom" },
	{ "not caught, no finally", EXCEPTION_ERROR, { EXCEPTION_IO, EXCEPTION_EXCEPTION }, false,
	    "x.", "Error: boom" },
};

static void
check_try(void **state)
{
	const struct try_row *row = *state;
	build_init(&b);
	struct step *first = build_catch(&b, row->catches[0], NULL, build_append(&b, "1"), NULL);
	struct step *second = build_catch(&b, row->catches[1], NULL, build_append(&b, "2"), NULL);
	struct step *finally = row->finally ? build_finally(&b, build_append(&b, "F"), NULL) : NULL;
	struct step *fails = row->throws >= 0 ? boom((enum exception_id)row->throws) : NULL;
	struct step *try = fails
	    ? build_try(&b, finally, first, second, fails, build_append(&b, "t"), NULL)
	    : build_try(&b, finally, first, second, build_append(&b, "t"), NULL);
	struct route *r = build_route(&b, "r", try, build_append(&b, "."), NULL);
	build_handler(&b, r, handling(EXCEPTION_THROWABLE, "no"),
	    true); /* off within doTry, and for doTry itself */
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(f.exception, row->exception);
	case_end(&f);
}

static void
test_catch_sees_the_exception(void **state)
{
	static const char *const properties[] = { "CamelExceptionCaught", NULL };
	(void)state;
	build_init(&b);
	struct step *message = build_set_body(&b, "");
	message->expr = build_expr(&b, fn_message, "");
	struct step *catch = build_catch(&b, EXCEPTION_IO, NULL, message, NULL);
	struct route *r =
	    build_route(&b, "r", build_try(&b, NULL, catch, NULL, boom(EXCEPTION_IO), NULL), NULL);
	case_begin(&f, &b);
	fake_watch(&f, NULL, properties);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "boom");
	assert_string_equal(fake_seen(&f, "CamelExceptionCaught"), "java.io.IOException: boom");
	case_end(&f);
}

static void
test_catch_on_when(void **state)
{
	(void)state;
	build_init(&b);
	struct step *one = build_catch(
	    &b, EXCEPTION_IO, build_remote(&b, "xform", "a", true), build_append(&b, "1"), NULL);
	struct step *two = build_catch(&b, EXCEPTION_IO, NULL, build_append(&b, "2"), NULL);
	struct step *finally = build_finally(&b, build_append(&b, "F"), NULL);
	struct route *r =
	    build_route(&b, "r", build_try(&b, finally, one, two, boom(EXCEPTION_IO), NULL), NULL);
	case_begin(&f, &b);
	f.answers = "a=true";
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.1F");
	f.answers = "a=false";
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.2F");
	f.answers = "a=!bad"; /* its exception goes on, behind doFinally */
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.F");
	assert_string_equal(f.exception, "XPathExpressionException: bad");
	f.evaluate_mode = FAKE_FAIL;
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.F");
	assert_non_null(strstr(f.exception, "lost"));
	case_end(&f);
}

static void
test_nested_try(void **state)
{
	(void)state;
	build_init(&b);
	struct step *in_catch = build_catch(&b, EXCEPTION_ILLEGAL_STATE, NULL,
	    build_append(&b, "in"), build_boom(&b, EXCEPTION_IO, "second", 0), NULL);
	struct step *in_finally = build_finally(&b, build_append(&b, "f"), NULL);
	struct step *in =
	    build_try(&b, in_finally, in_catch, NULL, boom(EXCEPTION_ILLEGAL_STATE), NULL);
	struct step *out_catch = build_catch(&b, EXCEPTION_IO, NULL, build_append(&b, "out"), NULL);
	struct route *r =
	    build_route(&b, "r", build_try(&b, NULL, out_catch, NULL, in, NULL), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.in.fout");
	assert_false(f.failed);
	case_end(&f);
}

static struct route *
try_with_finally(struct step *fails, struct step *last)
{
	struct step *try = build_try(&b, build_finally(&b, last, NULL), NULL, NULL, fails, NULL);
	return build_route(&b, "r", try, NULL);
}

/* The first exception outlives what happens in doFinally. */
static void
test_exception_in_finally(void **state)
{
	(void)state;
	build_init(&b);
	struct route *both = try_with_finally(
	    boom(EXCEPTION_ILLEGAL_STATE), build_boom(&b, EXCEPTION_IO, "last", 0));
	struct route *last =
	    try_with_finally(build_append(&b, "1"), build_boom(&b, EXCEPTION_IO, "last", 0));
	struct route *stop =
	    try_with_finally(boom(EXCEPTION_ILLEGAL_STATE), build_step(&b, &stop_eip));
	case_begin(&f, &b);
	case_run_at_once(&f, both, "x");
	assert_string_equal(f.exception, "IllegalStateException: boom");
	case_run_at_once(&f, last, "x");
	assert_string_equal(f.exception, "IOException: last");
	case_run_at_once(&f, stop, "x");
	assert_string_equal(f.exception, "IllegalStateException: boom");
	case_end(&f);
}

/* A doTry in a branch that lets an exception out: the branch's choice is a step of the route, so
 * its handler takes it. */
static void
test_try_in_a_choice(void **state)
{
	(void)state;
	build_init(&b);
	struct step *try = build_try(&b, build_finally(&b, build_append(&b, "F"), NULL), NULL, NULL,
	    boom(EXCEPTION_IO), NULL);
	struct step *when = build_when(&b, build_predicate(&b, fn_true, ""), try, NULL);
	struct route *r = build_route(&b, "r", build_choice(&b, NULL, when, NULL), NULL);
	build_handler(&b, r, handling(EXCEPTION_IO, "H"), true);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.FH");
	assert_false(f.failed);
	case_end(&f);
}

int
main(void)
{
	UNIT_TABLE("doTry", try_rows, check_try);
	UNIT_CASE(test_catch_sees_the_exception);
	UNIT_CASE(test_catch_on_when);
	UNIT_CASE(test_nested_try);
	UNIT_CASE(test_exception_in_finally);
	UNIT_CASE(test_try_in_a_choice);
	return unit_run("do_try");
}
