/* core/eip/breaker, core/eip/circuit_breaker: what opens it, the fallback, time limits, the
 * bulkhead. */
#include "core/eip/breaker.h"

#include "tests/lib/engine_case.h"

#include <stdlib.h>
#include <string.h>

extern const struct eip_desc circuitBreaker_eip, onFallback_eip, redeliveryPolicy_eip,
    resilience4jConfiguration_eip, stop_eip;

static struct build b;
static struct fake f;

static const struct breaker_conf two_of_two = { .failure_rate = 50,
	.slow_rate = 100,
	.window = 2,
	.minimum = 2,
	.half_open_calls = 2,
	.slow_ms = 100,
	.open_ms = 1000 };

static void
note(struct breaker *br, int64_t now, const char *outcomes)
{
	for (; *outcomes; outcomes++) {
		assert_true(breaker_permits(br, &two_of_two, now));
		breaker_note(br, &two_of_two, now, *outcomes == 's' ? 200 : 1,
		    *outcomes == 'f'       ? BREAKER_FAILURE
			: *outcomes == 'i' ? BREAKER_IGNORED
					   : BREAKER_SUCCESS);
	}
}

static void
test_breaker(void **state)
{
	(void)state;
	struct breaker *br = calloc(1, breaker_size(&two_of_two));
	assert_non_null(br);
	note(br, 0, "oof");
	assert_int_equal(breaker_mode(br), BREAKER_OPEN); /* one of the last two */
	assert_false(breaker_permits(br, &two_of_two, 999));
	note(br, 1000, "o");
	assert_int_equal(breaker_mode(br), BREAKER_HALF_OPEN);
	note(br, 1000, "io");
	assert_int_equal(breaker_mode(br), BREAKER_CLOSED);
	note(br, 1000, "ss");
	assert_int_equal(breaker_mode(br), BREAKER_OPEN);
	assert_true(breaker_permits(br, &two_of_two, 2000));
	assert_true(breaker_permits(br, &two_of_two, 2000));
	assert_false(breaker_permits(br, &two_of_two, 2000)); /* two are let through */
	breaker_note(br, &two_of_two, 2000, 1, BREAKER_FAILURE);
	breaker_note(br, &two_of_two, 2000, 1, BREAKER_FAILURE);
	assert_int_equal(breaker_mode(br), BREAKER_OPEN);
	breaker_note(br, &two_of_two, 2000, 1, BREAKER_SUCCESS); /* too late to count */
	assert_int_equal(breaker_mode(br), BREAKER_OPEN);
	free(br);
}

static void
test_breaker_by_time(void **state)
{
	static const struct breaker_conf conf = { .failure_rate = 50,
		.slow_rate = 100,
		.by_time = true,
		.window = 3, /* seconds */
		.minimum = 4,
		.half_open_calls = 1,
		.slow_ms = 100,
		.open_ms = 1000 };
	(void)state;
	struct breaker *br = calloc(1, breaker_size(&conf));
	assert_non_null(br);
	for (int i = 0; i < 10; i++) { /* one a second: never four within three seconds */
		assert_true(breaker_permits(br, &conf, i * 1000));
		breaker_note(br, &conf, i * 1000, 1, BREAKER_FAILURE);
	}
	assert_int_equal(breaker_mode(br), BREAKER_CLOSED);
	breaker_note(br, &conf, 9100, 1, BREAKER_SUCCESS);
	assert_int_equal(breaker_mode(br), BREAKER_OPEN); /* three of four */
	assert_false(breaker_permits(br, &conf, 10000));
	assert_true(breaker_permits(br, &conf, 10200));
	breaker_note(br, &conf, 10200, 1, BREAKER_SUCCESS);
	assert_int_equal(breaker_mode(br), BREAKER_CLOSED);
	for (int i = 0; i < 3; i++)
		breaker_note(br, &conf, 10300, 1, BREAKER_FAILURE);
	breaker_note(br, &conf, 60000, 1, BREAKER_FAILURE); /* those before are long gone */
	assert_int_equal(breaker_mode(br), BREAKER_CLOSED);
	/* the state of another kind of window is not looked at */
	assert_true(breaker_permits(br, &two_of_two, 60000));
	assert_int_equal(breaker_mode(br), BREAKER_CLOSED);
	free(br);
}

static struct step *
breaker_step(struct step *inner, bool fallback)
{
	struct step *st = case_share(&f, build_step(&b, &circuitBreaker_eip), 4096);
	struct circuit_breaker_conf *conf = st->conf;
	st->block = (struct block){ inner, 1 };
	conf->resilience = build_step(&b, &resilience4jConfiguration_eip);
	struct resilience_conf *resilience = conf->resilience->conf;
	resilience->breaker = two_of_two;
	if (!fallback)
		return st;
	conf->fallback = build_step(&b, &onFallback_eip);
	struct step *set = build_append(&b, "fb");
	conf->fallback->block = (struct block){ set, 1 };
	return st;
}

static const char *const breaker_properties[] = { "CamelExceptionCaught",
	"CamelCircuitBreakerState", "CamelCircuitBreakerResponseFromFallback",
	"CamelCircuitBreakerSuccessfulExecution", "CamelCircuitBreakerResponseRejected",
	"CamelCircuitBreakerResponseTimedOut", NULL };

static void
test_circuit_breaker(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *boom = build_boom(&b, EXCEPTION_IO, "down", 0);
	struct route *r =
	    build_route(&b, "r", breaker_step(boom, true), build_append(&b, "."), NULL);
	fake_watch(&f, NULL, breaker_properties);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xfb."); /* the message as it was */
	assert_string_equal(fake_seen(&f, "CamelExceptionCaught"), "java.io.IOException: down");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerResponseFromFallback"), "true");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerState"), "CLOSED");
	case_run(&f, r, "x");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerState"), "OPEN");
	int runs = ((struct boom_conf *)boom->conf)->run;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xfb.");
	assert_int_equal(((struct boom_conf *)boom->conf)->run, runs);
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerResponseRejected"), "");
	f.now_ms = 1000;
	((struct boom_conf *)boom->conf)->times = 1;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x..");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerSuccessfulExecution"), "true");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerState"), "HALF_OPEN");
	case_end(&f);
}

static void
test_circuit_breaker_without_fallback(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = breaker_step(build_boom(&b, EXCEPTION_IO, "down", 0), false);
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, build_append(&b, "H"), NULL);
	build_on_exception_conf(on)->handled = build_predicate(&b, fn_true, "");
	build_handler(&b, r, on, true);
	case_run(&f, r, "x");
	assert_string_equal(f.exception, "IOException: down"); /* the error handler is off */
	assert_string_equal(f.body, "x");
	case_run(&f, r, "x");
	case_run(&f, r, "x");
	assert_false(f.failed); /* open: it goes on unchanged */
	assert_string_equal(f.body, "x.");
	struct circuit_breaker_conf *conf = st->conf;
	((struct resilience_conf *)conf->resilience->conf)->throw_when_open = true;
	case_run(&f, r, "x");
	assert_non_null(strstr(f.exception, "CallNotPermittedException: CircuitBreaker '"));
	case_end(&f);
}

static void
test_circuit_breaker_with_a_time_limit(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st =
	    breaker_step(build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)), true);
	struct circuit_breaker_conf *conf = st->conf;
	struct resilience_conf *resilience = conf->resilience->conf;
	resilience->timeout_enabled = true;
	resilience->timeout_ms = 50;
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	fake_watch(&f, NULL, breaker_properties);
	f.send_mode = FAKE_LATER;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xS.");
	(void)fake_start(&f, r, "x");
	struct fake_asked sending = f.queue[1];
	assert_int_equal(sending.kind, PENDING_SEND);
	f.queue_n = 1;
	fake_answer(&f, NULL);
	assert_string_equal(f.body, "xfb.");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerResponseTimedOut"), "");
	f.queue[f.queue_n++] = sending;
	fake_answer(&f, NULL);
	f.now_ms += 2000; /* it had opened */
	struct exchange *ex = fake_start(&f, r, "x");
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "stop");
	case_end(&f);
}

static void
test_bulkhead(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st =
	    breaker_step(build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)), true);
	struct circuit_breaker_conf *conf = st->conf;
	struct resilience_conf *resilience = conf->resilience->conf;
	resilience->breaker.window = resilience->breaker.minimum = 100; /* it does not open */
	resilience->bulkhead = true;
	resilience->bulkhead_calls = 1;
	conf->bulkhead_at = 2048;
	(void)throttle_permits_layout(false, &conf->bulkhead);
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	f.send_mode = FAKE_LATER;
	(void)fake_start(&f, r, "1");
	(void)fake_start(&f, r, "2"); /* no place: the fallback */
	assert_string_equal(f.body, "2fb.");
	fake_answer(&f, NULL);
	assert_string_equal(f.body, "1S.");
	resilience->bulkhead_wait_ms = 100;
	f.wakes = false;
	(void)fake_start(&f, r, "3");
	(void)fake_start(&f, r, "4"); /* waits */
	assert_int_equal(f.done, 2);
	fake_answer(&f, NULL);
	while (f.done < 4)
		fake_answer(&f, NULL);
	assert_string_equal(f.body, "4S.");
	struct exchange *ex = fake_start(&f, r, "5");
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "stop");
	f.send_mode = FAKE_NOW;
	case_run(&f, r, "6"); /* its place is free again */
	assert_string_equal(f.body, "6S.");
	case_end(&f);
}

/* With inheritErrorHandler the error handler runs the whole again. */
static void
test_circuit_breaker_with_the_error_handler(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *boom = build_boom(&b, EXCEPTION_IO, "down", 1);
	struct step *st = breaker_step(boom, false);
	st->inherits = true;
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, build_append(&b, "H"), NULL);
	struct on_exception_conf *conf = build_on_exception_conf(on);
	conf->redelivery_policy = build_step(&b, &redeliveryPolicy_eip);
	struct redelivery_conf *policy = conf->redelivery_policy->conf;
	*policy = redelivery_default;
	policy->maximum_redeliveries = 2;
	policy->redelivery_delay_ms = 0;
	build_handler(&b, r, on, true);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x..");
	assert_int_equal(((struct boom_conf *)boom->conf)->run, 2);
	case_end(&f);
}

static void
test_stop_in_a_circuit_breaker(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct route *r = build_route(
	    &b, "r", breaker_step(build_step(&b, &stop_eip), false), build_append(&b, "."), NULL);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x");
	case_end(&f);
}

int
main(void)
{
	UNIT_CASE(test_breaker);
	UNIT_CASE(test_breaker_by_time);
	UNIT_CASE(test_bulkhead);
	UNIT_CASE(test_circuit_breaker_with_the_error_handler);
	UNIT_CASE(test_circuit_breaker);
	UNIT_CASE(test_circuit_breaker_without_fallback);
	UNIT_CASE(test_circuit_breaker_with_a_time_limit);
	UNIT_CASE(test_stop_in_a_circuit_breaker);
	return unit_run("circuit_breaker");
}
