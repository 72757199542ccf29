/* core/eip/engine_errors: a failed step runs again. */
#include "core/eip/engine.h"

#include "tests/lib/engine_case.h"

#include <string.h>

extern const struct eip_desc rollback_eip;

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
	case_begin(&f, &b);
	fake_watch(&f, headers, NULL);
	case_run_at_once(&f, r, "x");
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
	case_end(&f);
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
	case_begin(&f, &b);
	fake_watch(&f, headers, NULL);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.E");
	assert_string_equal(f.exception, "IOException: boom");
	assert_string_equal(fake_seen(&f, "CamelRedelivered"), "true");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryCounter"), "2");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryMaxCounter"), "2");
	assert_int_equal(f.waits_n, 0);
	assert_non_null(strstr(f.log, "Exhausted after delivery attempt: 3 caught"));
	/* handled: the headers are gone */
	build_on_exception_conf(st)->handled = build_predicate(&b, fn_true, "");
	case_run_at_once(&f, r, "x");
	assert_false(f.failed);
	assert_string_equal(fake_seen(&f, "CamelRedelivered"), "");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryCounter"), "");
	assert_string_equal(fake_seen(&f, "CamelRedeliveryMaxCounter"), "");
	case_end(&f);
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
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_int_equal(f.waits_n, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(f.waits[i], row->waits[i]);
	case_end(&f);
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
	case_begin(&f, &b);
	bool differs = false;
	for (int i = 0; i < 20; i++) {
		case_run_at_once(&f, r, "x");
		assert_in_range(f.waits[i], 850, 1150);
		differs = differs || f.waits[i] != f.waits[0];
	}
	assert_true(differs);
	case_end(&f);
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
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_int_equal(f.redelivered, 3);
	assert_string_equal(f.body, "x.E");
	case_end(&f);
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
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "xE");
	assert_false(f.failed);
	assert_int_equal(f.redelivered, 0);
	case_end(&f);
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
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_int_equal(f.redelivered, 0);
	case_end(&f);
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
	case_begin(&f, &b);
	f.wakes = false;
	struct exchange *ex = fake_start(&f, r, "x");
	for (int i = 1; i < 10; i++) {
		assert_int_equal(f.waits_n, i);
		engine_wake(ex);
	}
	assert_int_equal(f.done, 0);
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "stop");
	assert_int_equal(f.done, 1);
	case_end(&f);
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
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x1.2");
	case_end(&f);
}

int
main(void)
{
	UNIT_CASE(test_redelivery);
	UNIT_CASE(test_redelivery_exhausted);
	UNIT_TABLE("delay", delay_rows, check_delay);
	UNIT_CASE(test_collision_avoidance);
	UNIT_CASE(test_retry_while);
	UNIT_CASE(test_disabled_redelivery);
	UNIT_CASE(test_rollback_is_not_redelivered);
	UNIT_CASE(test_abort_while_waiting);
	UNIT_CASE(test_only_the_failed_step_is_repeated);
	return unit_run("redelivery");
}
