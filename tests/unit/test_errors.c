/* core/eip/engine_errors, core/eip/do_try: who takes an exception, redelivery, and what becomes of
 * the message. */
#include "core/eip/engine.h"

#include "tests/lib/program_build.h"
#include "tests/lib/unit.h"

#include <string.h>

extern const struct eip_desc rollback_eip;

static struct build b;
static struct fake f;

static void
begin(void)
{
	fake_init(&f, &b);
}

static void
end(void)
{
	assert_int_equal(f.pool.live, 0);
	fake_fini(&f);
	build_fini(&b);
}

static void
run(const struct route *route, const char *body)
{
	int done = f.done;
	(void)fake_start(&f, route, body);
	assert_int_equal(f.done, done + 1);
}

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
	begin();
	fake_watch(&f, headers, properties);
	run(r, "x");
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
	end();
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
	begin();
	fake_watch(&f, headers, properties);
	run(r, "x");
	assert_string_equal(f.body, "x.E");
	assert_false(f.failed);
	assert_string_equal(fake_seen(&f, "CamelRedelivered"), "");
	assert_string_equal(
	    fake_seen(&f, "CamelExceptionCaught"), "java.lang.IllegalStateException: boom");
	assert_string_equal(f.log, "");
	end();
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
	begin();
	run(r, "x");
	assert_true(f.failed);
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x.Ewr");
	assert_false(f.failed);
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x.");
	assert_false(f.failed);
	end();
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
	begin();
	run(r, "x");
	if (search_row->body[1] == '!')
		assert_true(f.failed);
	else
		assert_string_equal(f.body, search_row->body);
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x.hard");
	struct exchange *ex = fake_exchange(&f, "x");
	exchange_set_header(ex, STR_LIT("soft"), value_str(STR_LIT("yes")));
	engine_start(&f.en, ex, r);
	assert_string_equal(f.body, "x.soft");
	end();
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
	begin();
	f.answers = "a=false\nc=true";
	run(r, "x");
	assert_string_equal(f.body, "x.2");
	assert_int_equal(f.evaluates, 2);
	f.answers = "a=!bad\nc=true";
	run(r, "x"); /* a failing onWhen ends it, with its own exception */
	assert_string_equal(f.exception, "XPathExpressionException: bad");
	end();
}

/* ---- redelivery ---- */

static void
test_redelivery(void **state)
{
	static const char *const headers[] = { "CamelRedelivered", "CamelRedeliveryCounter",
		"CamelRedeliveryMaxCounter", "h", NULL };
	(void)state;
	build_init(&b);
	struct route *r =
	    build_route(&b, "r", build_append(&b, "1"), build_set_header(&b, "h", "v"),
		build_boom(&b, EXCEPTION_IO, "boom", 2), build_append(&b, "2"), NULL);
	struct step *st = handling(EXCEPTION_IO, "no");
	build_redelivery(&b, st, 3, 50);
	build_handler(&b, r, st, true);
	begin();
	fake_watch(&f, headers, NULL);
	run(r, "x");
	assert_string_equal(
	    f.body, "x1.2"); /* the body of each try is as it was when the step began */
	assert_string_equal(fake_seen(&f, "CamelRedelivered"), "true");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryCounter"), "2");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryMaxCounter"), "3");
	assert_string_equal(fake_seen(&f, "h"), "v");
	assert_int_equal(f.waits_n, 2);
	assert_int_equal(f.waits[0], 50);
	assert_int_equal(f.waits[1], 50);
	assert_int_equal(f.redelivered, 2);
	end();
}

static void
test_redelivery_exhausted(void **state)
{
	static const char *const headers[] = { "CamelRedelivered", "CamelRedeliveryCounter",
		"CamelRedeliveryMaxCounter", NULL };
	(void)state;
	build_init(&b);
	struct step *fails = boom(EXCEPTION_IO);
	struct route *r = build_route(&b, "r", fails, NULL);
	struct step *st = build_on_exception(&b, EXCEPTION_IO, build_append(&b, "E"), NULL);
	build_redelivery(&b, st, 2, 0);
	build_handler(&b, r, st, true);
	begin();
	fake_watch(&f, headers, NULL);
	run(r, "x");
	assert_string_equal(f.body, "x.E");
	assert_string_equal(f.exception, "IOException: boom");
	assert_string_equal(fake_seen(&f, "CamelRedelivered"), "true");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryCounter"), "2");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryMaxCounter"), "2");
	assert_int_equal(f.waits_n, 0);
	assert_non_null(strstr(f.log, "Exhausted after delivery attempt: 3 caught"));
	/* handled: the headers are gone */
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_true, "");
	run(r, "x");
	assert_false(f.failed);
	assert_string_equal(fake_seen(&f, "CamelRedelivered"), "");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryCounter"), "");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryMaxCounter"), "");
	end();
}

static struct delay_group groups[] = { { 0, 10 }, { 2, 70 } };

static const struct delay_row {
	const char *label;
	struct redelivery_conf conf;
	int64_t waits[4];
} delay_rows[] = {
	{ "fixed", { .redelivery_delay_ms = 50, .multiplier = 2 }, { 50, 50, 50, 50 } },
	{ "exponential", { .redelivery_delay_ms = 50, .multiplier = 2, .exponential = true },
	    { 50, 100, 200, 400 } },
	{ "bounded",
	    { .redelivery_delay_ms = 50,
		.multiplier = 3,
		.exponential = true,
		.maximum_delay_ms = 200 },
	    { 50, 150, 200, 200 } },
	{ "pattern",
	    { .redelivery_delay_ms = 50, .multiplier = 2, .groups = groups, .groups_n = 2 },
	    { 10, 70, 70, 70 } },
};

static void
check_delay(void **state)
{
	const struct delay_row *row = *state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_IO), NULL);
	struct step *st = handling(EXCEPTION_IO, "E");
	struct redelivery_conf *conf = build_redelivery(&b, st, 4, 0);
	*conf = row->conf;
	conf->maximum_redeliveries = 4;
	conf->retry_log_interval = 1;
	build_handler(&b, r, st, true);
	begin();
	run(r, "x");
	assert_int_equal(f.waits_n, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(f.waits[i], row->waits[i]);
	end();
}

static void
test_collision_avoidance(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_IO), NULL);
	struct step *st = handling(EXCEPTION_IO, "E");
	struct redelivery_conf *conf = build_redelivery(&b, st, 1, 1000);
	conf->collision_avoidance = true;
	build_handler(&b, r, st, true);
	begin();
	bool differs = false;
	for (int i = 0; i < 20; i++) {
		run(r, "x");
		assert_in_range(f.waits[i], 850, 1150);
		differs = differs || f.waits[i] != f.waits[0];
	}
	assert_true(differs);
	end();
}

static void
test_retry_while(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_IO), NULL);
	struct step *st = handling(EXCEPTION_IO, "E");
	build_on_exception_conf(st)->retry_while = build_predicate(&b, fn_counter_below, "4");
	build_handler(&b, r, st, true);
	begin();
	run(r, "x");
	assert_int_equal(f.redelivered, 3);
	assert_string_equal(f.body, "x.E");
	end();
}

/* What is rolled back is not run again; once it has been handled it is as any other. */
static void
test_rollback_is_not_redelivered(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_step(&b, &rollback_eip), NULL);
	struct step *st = handling(EXCEPTION_ROLLBACK_EXCHANGE, "E");
	build_redelivery(&b, st, 3, 0);
	build_handler(&b, r, st, true);
	begin();
	run(r, "x");
	assert_string_equal(f.body, "xE");
	assert_false(f.failed);
	assert_int_equal(f.redelivered, 0);
	end();
}

static void
test_disabled_redelivery(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_IO), NULL);
	struct step *st = handling(EXCEPTION_IO, "E");
	build_redelivery(&b, st, 5, 0)->disable = true;
	build_handler(&b, r, st, true);
	begin();
	run(r, "x");
	assert_int_equal(f.redelivered, 0);
	end();
}

/* The step waits for its next try; then the process stops. */
static void
test_abort_while_waiting(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(EXCEPTION_IO), NULL);
	struct step *st = handling(EXCEPTION_IO, "E");
	build_redelivery(&b, st, -1, 1000);
	build_handler(&b, r, st, true);
	begin();
	f.wakes = false;
	struct exchange *ex = fake_start(&f, r, "x");
	for (int i = 1; i < 10; i++) {
		assert_int_equal(f.waits_n, i);
		engine_wake(ex);
	}
	assert_int_equal(f.done, 0);
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "stop");
	assert_int_equal(f.done, 1);
	end();
}

/* A redelivered choice would begin anew, but it is the step in it that failed. */
static void
test_only_the_failed_step_is_repeated(void **state)
{
	(void)state;
	build_init(&b);
	struct step *when = build_when(&b, build_predicate(&b, fn_true, ""), build_append(&b, "1"),
	    build_boom(&b, EXCEPTION_IO, "boom", 1), build_append(&b, "2"), NULL);
	struct route *r = build_route(&b, "r", build_choice(&b, NULL, when, NULL), NULL);
	struct step *st = handling(EXCEPTION_IO, "E");
	build_redelivery(&b, st, 1, 0);
	build_handler(&b, r, st, true);
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x1.2");
	end();
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
	begin();
	fake_watch(&f, headers, NULL);
	struct exchange *ex = fake_exchange(&f, "x");
	exchange_set_header(ex, STR_LIT("in"), value_str(STR_LIT("1")));
	engine_start(&f.en, ex, r);
	assert_string_equal(f.body, "xE");
	assert_string_equal(fake_seen(&f, "h"), "");
	assert_string_equal(fake_seen(&f, "in"), "1");
	build_on_exception_conf(st)->use_original_message = false;
	build_on_exception_conf(st)->use_original_body = true;
	run(r, "y");
	assert_string_equal(f.body, "yE");
	assert_string_equal(fake_seen(&f, "h"), "v");
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.exception, "IOException: again");
	assert_string_equal(f.body, "x.1.");
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x..CE");
	assert_false(f.failed);
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x.E");
	assert_true(f.failed);
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_true, "");
	run(r, "x");
	assert_string_equal(f.body, "x.E");
	assert_false(f.failed);
	end();
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
	begin();
	run(outer, "x");
	assert_string_equal(f.exception, "IOException: boom");
	assert_string_equal(f.body, "x.");
	end();
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
	begin();
	fake_watch(&f, NULL, properties);
	run(outer, "x");
	assert_string_equal(f.body, "x.E");
	assert_false(f.failed);
	assert_string_equal(fake_seen(&f, "CamelFailureRouteId"), "inner");
	assert_string_equal(fake_seen(&f, "CamelFailureEndpoint"), "direct://inner");
	end();
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
	begin();
	run(outer, "x");
	assert_string_equal(f.body, "x.EF");
	assert_false(f.failed);
	end();
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
	begin();
	run(outer, "x");
	assert_string_equal(
	    f.body, "x.C.H"); /* what was caught does not keep the next from being handled */
	assert_false(f.failed);
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x..H");
	assert_false(f.failed);
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(f.exception, row->exception);
	end();
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
	begin();
	fake_watch(&f, NULL, properties);
	run(r, "x");
	assert_string_equal(f.body, "boom");
	assert_string_equal(fake_seen(&f, "CamelExceptionCaught"), "java.io.IOException: boom");
	end();
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
	begin();
	f.answers = "a=true";
	run(r, "x");
	assert_string_equal(f.body, "x.1F");
	f.answers = "a=false";
	run(r, "x");
	assert_string_equal(f.body, "x.2F");
	f.answers = "a=!bad"; /* its exception goes on, behind doFinally */
	run(r, "x");
	assert_string_equal(f.body, "x.F");
	assert_string_equal(f.exception, "XPathExpressionException: bad");
	f.evaluate_mode = FAKE_FAIL;
	run(r, "x");
	assert_string_equal(f.body, "x.F");
	assert_non_null(strstr(f.exception, "lost"));
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x.in.fout");
	assert_false(f.failed);
	end();
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
	begin();
	run(both, "x");
	assert_string_equal(f.exception, "IllegalStateException: boom");
	run(last, "x");
	assert_string_equal(f.exception, "IOException: last");
	run(stop, "x");
	assert_string_equal(f.exception, "IllegalStateException: boom");
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x.FH");
	assert_false(f.failed);
	end();
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
	UNIT_CASE(test_redelivery);
	UNIT_CASE(test_redelivery_exhausted);
	UNIT_TABLE("delay", delay_rows, check_delay);
	UNIT_CASE(test_collision_avoidance);
	UNIT_CASE(test_retry_while);
	UNIT_CASE(test_disabled_redelivery);
	UNIT_CASE(test_rollback_is_not_redelivered);
	UNIT_CASE(test_abort_while_waiting);
	UNIT_CASE(test_only_the_failed_step_is_repeated);
	UNIT_CASE(test_original);
	UNIT_CASE(test_exception_in_a_handler);
	UNIT_CASE(test_try_in_a_handler);
	UNIT_CASE(test_stop_in_a_handler);
	UNIT_CASE(test_caller_does_not_handle_again);
	UNIT_CASE(test_handled_in_called_route_ends_the_caller);
	UNIT_CASE(test_handled_in_called_route_runs_finally);
	UNIT_CASE(test_try_around_a_called_route);
	UNIT_CASE(test_handler_calls_a_route_that_handles);
	UNIT_TABLE("doTry", try_rows, check_try);
	UNIT_CASE(test_catch_sees_the_exception);
	UNIT_CASE(test_catch_on_when);
	UNIT_CASE(test_nested_try);
	UNIT_CASE(test_exception_in_finally);
	UNIT_CASE(test_try_in_a_choice);
	return unit_run("errors");
}
