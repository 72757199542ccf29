/* core/eip: recipientList, routingSlip, dynamicRouter, wireTap, enrich, loadBalance,
 * circuitBreaker, throttle, sample, sort, step. */
#include "core/eip/breaker.h"
#include "core/eip/fan_out.h"
#include "core/eip/throttle.h"

#include "tests/lib/program_build.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct eip_desc recipientList_eip, routingSlip_eip, dynamicRouter_eip, wireTap_eip,
    enrich_eip, loadBalance_eip, failoverLoadBalancer_eip, randomLoadBalancer_eip,
    roundRobinLoadBalancer_eip, stickyLoadBalancer_eip, topicLoadBalancer_eip,
    weightedLoadBalancer_eip, circuitBreaker_eip, onFallback_eip, redeliveryPolicy_eip, resilience4jConfiguration_eip,
    throttle_eip, sample_eip, sort_eip, step_eip, toD_eip, stop_eip;
extern const struct bean_class String_bean;

static struct build b;
static struct fake f;
static void *shared;
static uint32_t shared_at;

static void
setup(void)
{
	build_init(&b);
	fake_init(&f, &b);
	shared = calloc(1, 1 << 20);
	assert_non_null(shared);
	f.en.shared = shared;
	shared_at = 0;
}

static void
end(void)
{
	assert_int_equal(f.pool.live, 0);
	assert_int_equal(f.queue_n, 0);
	free(shared);
	fake_fini(&f);
	build_fini(&b);
}

static struct step *
with_state(struct step *st, uint32_t size)
{
	st->shared_size = size;
	st->shared_at = shared_at;
	shared_at += (size + 63) & ~63u;
	assert_true(shared_at <= 1 << 20);
	return st;
}

static enum eval_rc
fn_property(struct exchange *ex, const char *arg, struct value *out)
{
	const struct value *v = exchange_property(ex, str_of(arg));
	*out = v ? *v : value_null();
	return EVAL_OK;
}

/* What compile_send makes. */
static struct step *
send_to(const char *property)
{
	struct step *st = build_step(&b, &toD_eip);
	((struct to_conf *)st->conf)->uri_template = build_expr(&b, fn_property, property);
	return st;
}

static void
run(const struct route *route, const char *body)
{
	int done = f.done;
	(void)fake_start(&f, route, body);
	while (f.done == done)
		fake_answer(&f, NULL);
	assert_int_equal(f.done, done + 1);
}

/* ---- recipientList ---- */

static const struct recipients_row {
	const char *label, *list, *delimiter;
	bool ignore;
	const char *schemes, *body, *exception;
	int sends;
} recipients_rows[] = {
	{ "two", "fake:a, fake:b", ",", false, NULL, "xSxS.", "", 2 },
	{ "another delimiter", "fake:a;fake:b", ";", false, NULL, "xSxS.", "", 2 },
	{ "one that is none", "fake:a,nosuch:b", ",", false, NULL, "x",
	    "NoSuchEndpointException: nosuch:b", 0 },
	{ "which is ignored", "fake:a,nosuch:b", ",", true, NULL, "xS.", "", 1 },
	{ "none", " , ", ",", false, NULL, "x.", "", 0 },
	{ "schemes", "fake:a", ",", false, "http, fake", "xS.", "", 1 },
	{ "a scheme that is not allowed", "fake:a", ",", false, "http,https", "x",
	    "IllegalArgumentException: the scheme of endpoint fake:a is not among the "
	    "allowedSchemes http,https",
	    0 },
};

static void
check_recipients(void **state)
{
	const struct recipients_row *row = *state;
	static const struct aggregation_text_conf text = { NULL };
	static const struct bean joined = { .class = &String_bean, .conf = (void *)&text };
	setup();
	struct step *st = build_step(&b, &recipientList_eip);
	struct recipient_list_conf *conf = st->conf;
	st->expr = build_const(&b, row->list);
	conf->delimiter = row->delimiter;
	conf->ignore_invalid = row->ignore;
	conf->allowed_schemes = row->schemes;
	conf->fan_out.strategy = &joined;
	conf->send = send_to("CamelRecipientListEndpoint");
	run(build_route(&b, "r", st, build_append(&b, "."), NULL), "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(f.exception, row->exception);
	assert_int_equal(f.sends, row->sends);
	end();
}

/* ---- routingSlip, dynamicRouter ---- */

static struct step *
slip(const struct eip_desc *eip, struct expression *e)
{
	struct step *st = build_step(&b, eip);
	struct slip_conf *conf = st->conf;
	st->expr = e;
	conf->asks_again = eip == &dynamicRouter_eip;
	conf->send = (struct block){ send_to("CamelSlipEndpoint"), 1 };
	return st;
}

static void
test_routing_slip(void **state)
{
	static const char *const properties[] = { "CamelSlipEndpoint", "CamelToEndpoint", NULL };
	(void)state;
	setup();
	struct step *st = slip(&routingSlip_eip, build_const(&b, "fake:a,nosuch:x,fake:b"));
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	fake_watch(&f, NULL, properties);
	run(r, "x");
	assert_string_equal(f.exception, "NoSuchEndpointException: nosuch:x");
	assert_string_equal(f.body, "xS");
	((struct slip_conf *)st->conf)->ignore_invalid = true;
	f.send_mode = FAKE_LATER;
	run(r, "x");
	assert_string_equal(f.body, "xSS.");
	assert_string_equal(fake_seen(&f, "CamelSlipEndpoint"), "fake:b");
	assert_string_equal(fake_seen(&f, "CamelToEndpoint"), "fake:b");
	end();
}

/* Two at first, then one, then none. */
static enum eval_rc
fn_router(struct exchange *ex, const char *arg, struct value *out)
{
	size_t n = value_text(&ex->arena, &ex->body).n;
	(void)arg;
	*out = n == 1 ? value_str(STR_LIT("fake:a,fake:b"))
	    : n == 3  ? value_str(STR_LIT("fake:c"))
		      : value_null();
	return EVAL_OK;
}

static void
test_dynamic_router(void **state)
{
	(void)state;
	setup();
	struct route *r = build_route(&b, "r",
	    slip(&dynamicRouter_eip, build_expr(&b, fn_router, "")), build_append(&b, "."), NULL);
	run(r, "x");
	assert_string_equal(f.body, "xSSS.");
	end();
}

/* ---- wireTap, enrich ---- */

static char tapped[256];

static enum step_rc
note_tap(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct str body = value_text(&ex->arena, &ex->body);
	(void)en;
	(void)st;
	(void)snprintf(tapped, sizeof(tapped), "%.*s %d", STR_FMT(body), (int)ex->pattern);
	exchange_set_header(ex, STR_LIT("t"), value_int(1));
	return STEP_DONE;
}

static void
test_wire_tap(void **state)
{
	(void)state;
	setup();
	struct route *tap =
	    build_route(&b, "tap", build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)),
		build_run(&b, note_tap), build_boom(&b, EXCEPTION_IO, "boom", 0), NULL);
	struct step *st = build_step(&b, &wireTap_eip);
	((struct wire_tap_conf *)st->conf)->send = build_to(&b, build_direct(&b, "tap", tap));
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	f.send_mode = FAKE_LATER;
	tapped[0] = 0;
	(void)fake_start(&f, r, "x");
	assert_int_equal(f.done, 1);
	assert_string_equal(f.body, "x.");
	assert_string_equal(tapped, "");
	assert_int_equal(f.pool.live, 1);
	fake_answer(&f, NULL);
	assert_string_equal(tapped, "xS 0");
	assert_non_null(strstr(f.log, "wireTap"));
	assert_non_null(strstr(f.log, "java.io.IOException: boom"));
	end();
}

static void
test_enrich(void **state)
{
	static const char *const headers[] = { "mine", "t", NULL };
	(void)state;
	setup();
	struct step *st = build_step(&b, &enrich_eip);
	struct enrich_conf *conf = st->conf;
	st->expr = build_const(&b, "fake:more");
	conf->send = send_to("CamelToEndpoint");
	struct route *r = build_route(
	    &b, "r", build_set_header(&b, "mine", "m"), st, build_append(&b, "."), NULL);
	fake_watch(&f, headers, NULL);
	for (int later = 0; later < 2; later++) {
		f.send_mode = later ? FAKE_LATER : FAKE_NOW;
		run(r, "x");
		assert_string_equal(f.body, "xS.");
		assert_string_equal(fake_seen(&f, "mine"), "m");
	}
	f.send_mode = FAKE_FAIL;
	run(r, "x");
	assert_string_equal(f.exception, "ConnectException: no fake:more");
	f.send_mode = FAKE_LATER;
	struct exchange *ex = fake_start(&f, r, "x");
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "stop");
	assert_string_equal(f.exception, "RejectedExecutionException: stop");
	end();
}

/* The route's handler may run the step again. */
static void
test_enrich_is_redelivered(void **state)
{
	(void)state;
	setup();
	struct route *more = build_route(&b, "more", build_boom(&b, EXCEPTION_IO, "boom", 1), NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, NULL, NULL);
	struct step *st = build_step(&b, &enrich_eip);
	st->expr = build_const(&b, "fake:more");
	((struct enrich_conf *)st->conf)->send = more->block.first;
	struct route *r = build_route(&b, "r", st, build_append(&b, "!"), NULL);
	build_redelivery(&b, on, 1, 0);
	build_handler(&b, r, on, true);
	run(r, "x");
	assert_string_equal(f.body, "x.!");
	end();
}

/* ---- loadBalance ---- */

static struct step *
balance(struct step *a, struct step *second, struct step *c)
{
	struct step *st = with_state(build_step(&b, &loadBalance_eip), 1 << 18);
	struct load_balance_conf *conf = st->conf;
	struct step *all[] = { a, second, c };
	conf->branches.items = arena_alloc(&b.arena, sizeof(all));
	conf->blocks = arena_zalloc(&b.arena, 3 * sizeof(conf->blocks[0]));
	for (; conf->branches.n < 3 && all[conf->branches.n]; conf->branches.n++) {
		conf->branches.items[conf->branches.n] = all[conf->branches.n];
		conf->blocks[conf->branches.n] = (struct block){ all[conf->branches.n], 1 };
	}
	return st;
}

static void
test_round_robin(void **state)
{
	static const char *const expected[] = { "xa", "xb", "xc", "xa" };
	(void)state;
	setup();
	struct step *st =
	    balance(build_append(&b, "a"), build_append(&b, "b"), build_append(&b, "c"));
	((struct load_balance_conf *)st->conf)->round_robin =
	    build_step(&b, &roundRobinLoadBalancer_eip);
	struct route *r = build_route(&b, "r", st, NULL);
	for (size_t i = 0; i < 4; i++) {
		run(r, "x");
		assert_string_equal(f.body, expected[i]);
	}
	end();
}

static void
test_random_and_sticky(void **state)
{
	(void)state;
	setup();
	int seen[3] = { 0 };
	struct step *st =
	    balance(build_append(&b, "a"), build_append(&b, "b"), build_append(&b, "c"));
	struct load_balance_conf *conf = st->conf;
	conf->random = build_step(&b, &randomLoadBalancer_eip);
	struct route *r = build_route(&b, "r", st, NULL);
	for (int i = 0; i < 300; i++) {
		run(r, "");
		seen[f.body[0] - 'a']++;
	}
	assert_true(seen[0] > 30 && seen[1] > 30 && seen[2] > 30);
	conf->random = NULL;
	conf->sticky = build_step(&b, &stickyLoadBalancer_eip);
	((struct sticky_conf *)conf->sticky->conf)->correlation = build_const(&b, "key");
	run(r, "");
	char first = f.body[0];
	for (int i = 0; i < 10; i++) {
		run(r, "");
		assert_int_equal(f.body[0], first);
	}
	for (int i = 1; i < 3; i++) { /* new values take turns, and keep what they got */
		static const char *const keys[] = { "", "two", "three" };
		struct sticky_conf *sticky = conf->sticky->conf;
		sticky->correlation = build_const(&b, keys[i]);
		run(r, "");
		char got = f.body[0];
		assert_int_equal(got, 'a' + (first - 'a' + i) % 3);
		run(r, "");
		assert_int_equal(f.body[0], got);
	}
	end();
}

static void
test_weighted(void **state)
{
	static uint16_t cycle[] = { 0, 1, 0 };
	char got[8] = "";
	(void)state;
	setup();
	struct step *st = balance(build_append(&b, "a"), build_append(&b, "b"), NULL);
	struct load_balance_conf *conf = st->conf;
	conf->weighted = build_step(&b, &weightedLoadBalancer_eip);
	struct weighted_conf *weighted = conf->weighted->conf;
	*weighted = (struct weighted_conf){ .round_robin = true, .cycle = cycle, .cycle_n = 3 };
	struct route *r = build_route(&b, "r", st, NULL);
	for (int i = 0; i < 6; i++) {
		run(r, "");
		strcat(got, f.body);
	}
	assert_string_equal(got, "abaaba");
	end();
}

static void
test_topic(void **state)
{
	(void)state;
	setup();
	struct step *st = balance(build_append(&b, "a"), build_run(&b, note_tap), NULL);
	((struct load_balance_conf *)st->conf)->topic = build_step(&b, &topicLoadBalancer_eip);
	run(build_route(&b, "r", st, build_append(&b, "."), NULL), "x");
	assert_string_equal(f.body, "x.");
	assert_string_equal(tapped, "x 1");
	end();
}

static const struct failover_row {
	const char *label;
	enum exception_id first, second, listed;
	int64_t attempts;
	const char *body, *exception;
} failover_rows[] = {
	{ "second", EXCEPTION_IO, EXCEPTION_COUNT, EXCEPTION_COUNT, -1, "xb.", "" },
	{ "listed", EXCEPTION_FILE_NOT_FOUND, EXCEPTION_COUNT, EXCEPTION_IO, -1, "xb.", "" },
	{ "not listed", EXCEPTION_ILLEGAL_STATE, EXCEPTION_COUNT, EXCEPTION_IO, -1, "x.",
	    "IllegalStateException: first" },
	{ "all fail", EXCEPTION_IO, EXCEPTION_ILLEGAL_STATE, EXCEPTION_COUNT, -1, "x.",
	    "IllegalStateException: second" },
	{ "no attempt", EXCEPTION_IO, EXCEPTION_COUNT, EXCEPTION_COUNT, 0, "x.",
	    "IOException: first" },
};

static void
check_failover(void **state)
{
	const struct failover_row *row = *state;
	static int listed[1];
	setup();
	struct step *second = row->second == EXCEPTION_COUNT
	    ? build_append(&b, "b")
	    : build_boom(&b, row->second, "second", 0);
	struct step *st = balance(build_boom(&b, row->first, "first", 0), second, NULL);
	struct load_balance_conf *conf = st->conf;
	conf->failover = build_step(&b, &failoverLoadBalancer_eip);
	struct failover_conf *failover = conf->failover->conf;
	failover->attempts = row->attempts;
	listed[0] = (int)row->listed;
	if (row->listed != EXCEPTION_COUNT)
		failover->exception = (struct classes){ listed, 1 };
	run(build_route(&b, "r", st, build_append(&b, "."), NULL), "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(f.exception, row->exception);
	end();
}

/* It begins where the last message went on; without the error handler a failure is not tried again. */
static void
test_sticky_failover(void **state)
{
	(void)state;
	setup();
	struct step *first = build_boom(&b, EXCEPTION_IO, "first", 0),
		    *second = build_boom(&b, EXCEPTION_IO, "second", 0);
	struct step *st = balance(first, second, build_append(&b, "c"));
	struct load_balance_conf *conf = st->conf;
	conf->failover = build_step(&b, &failoverLoadBalancer_eip);
	struct failover_conf *failover = conf->failover->conf;
	*failover = (struct failover_conf){ .attempts = -1, .sticky = true, .inherit = true };
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, build_append(&b, "H"), NULL);
	struct on_exception_conf *on_conf = build_on_exception_conf(on);
	on_conf->redelivery_policy = build_step(&b, &redeliveryPolicy_eip);
	*(struct redelivery_conf *)on_conf->redelivery_policy->conf = redelivery_default;
	((struct redelivery_conf *)on_conf->redelivery_policy->conf)->maximum_redeliveries = 1;
	((struct redelivery_conf *)on_conf->redelivery_policy->conf)->redelivery_delay_ms = 0;
	build_handler(&b, r, on, true);
	struct boom_conf *tried = first->conf;
	failover->inherit = false;
	run(r, "x");
	assert_string_equal(f.body, "xc.");
	assert_int_equal(tried->run, 1); /* no redelivery */
	run(r, "x");
	assert_string_equal(f.body, "xc.");
	assert_int_equal(tried->run, 1); /* the third at once */
	end();
}

/* ---- circuitBreaker ---- */

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
	struct step *st = with_state(build_step(&b, &circuitBreaker_eip), 4096);
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
	setup();
	struct step *boom = build_boom(&b, EXCEPTION_IO, "down", 0);
	struct route *r =
	    build_route(&b, "r", breaker_step(boom, true), build_append(&b, "."), NULL);
	fake_watch(&f, NULL, breaker_properties);
	run(r, "x");
	assert_string_equal(f.body, "xfb."); /* the message as it was */
	assert_string_equal(fake_seen(&f, "CamelExceptionCaught"), "java.io.IOException: down");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerResponseFromFallback"), "true");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerState"), "CLOSED");
	run(r, "x");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerState"), "OPEN");
	int runs = ((struct boom_conf *)boom->conf)->run;
	run(r, "x");
	assert_string_equal(f.body, "xfb.");
	assert_int_equal(((struct boom_conf *)boom->conf)->run, runs);
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerResponseRejected"), "");
	f.now_ms = 1000;
	((struct boom_conf *)boom->conf)->times = 1;
	run(r, "x");
	assert_string_equal(f.body, "x..");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerSuccessfulExecution"), "true");
	assert_string_equal(fake_seen(&f, "CamelCircuitBreakerState"), "HALF_OPEN");
	end();
}

static void
test_circuit_breaker_without_fallback(void **state)
{
	(void)state;
	setup();
	struct step *st = breaker_step(build_boom(&b, EXCEPTION_IO, "down", 0), false);
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, build_append(&b, "H"), NULL);
	build_on_exception_conf(on)->handled = build_predicate(&b, fn_true, "");
	build_handler(&b, r, on, true);
	run(r, "x");
	assert_string_equal(f.exception, "IOException: down"); /* the error handler is off */
	assert_string_equal(f.body, "x");
	run(r, "x");
	run(r, "x");
	assert_false(f.failed); /* open: it goes on unchanged */
	assert_string_equal(f.body, "x.");
	struct circuit_breaker_conf *conf = st->conf;
	((struct resilience_conf *)conf->resilience->conf)->throw_when_open = true;
	run(r, "x");
	assert_non_null(strstr(f.exception, "CallNotPermittedException: CircuitBreaker '"));
	end();
}

static void
test_circuit_breaker_with_a_time_limit(void **state)
{
	(void)state;
	setup();
	struct step *st =
	    breaker_step(build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)), true);
	struct circuit_breaker_conf *conf = st->conf;
	struct resilience_conf *resilience = conf->resilience->conf;
	resilience->timeout_enabled = true;
	resilience->timeout_ms = 50;
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	fake_watch(&f, NULL, breaker_properties);
	f.send_mode = FAKE_LATER;
	run(r, "x");
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
	end();
}

static void
test_bulkhead(void **state)
{
	(void)state;
	setup();
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
	run(r, "6"); /* its place is free again */
	assert_string_equal(f.body, "6S.");
	end();
}

/* With inheritErrorHandler the error handler runs the whole again. */
static void
test_circuit_breaker_with_the_error_handler(void **state)
{
	(void)state;
	setup();
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
	run(r, "x");
	assert_string_equal(f.body, "x..");
	assert_int_equal(((struct boom_conf *)boom->conf)->run, 2);
	end();
}

static void
test_stop_in_a_circuit_breaker(void **state)
{
	(void)state;
	setup();
	struct route *r = build_route(
	    &b, "r", breaker_step(build_step(&b, &stop_eip), false), build_append(&b, "."), NULL);
	run(r, "x");
	assert_string_equal(f.body, "x");
	end();
}

/* ---- throttle, sample ---- */

static void
test_throttle(void **state)
{
	(void)state;
	setup();
	struct step *st = build_step(&b, &throttle_eip);
	struct throttle_conf *conf = st->conf;
	with_state(st, throttle_times_layout(2, false, &conf->layout));
	st->expr = build_const(&b, "2");
	conf->period_ms = 300;
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	f.wakes = false;
	f.now_ms = 1000;
	run(r, "x");
	f.now_ms = 1100;
	run(r, "x");
	assert_int_equal(f.waits_n, 0);
	run(r, "x");
	run(r, "x");
	run(r, "x");
	assert_int_equal(f.waits_n, 3);
	assert_int_equal(f.waits[0], 200); /* at 1300, 1400, 1600 */
	assert_int_equal(f.waits[1], 300);
	assert_int_equal(f.waits[2], 500);
	conf->rejects = true;
	run(r, "x");
	assert_string_equal(f.exception,
	    "ThrottlerRejectedExecutionException: Exceeded the max throttle rate of 2 within "
	    "300ms");
	f.now_ms = 1900;
	run(r, "x");
	assert_string_equal(f.body, "x.");
	st->expr = build_const(&b, "x");
	run(r, "x");
	assert_true(f.failed);
	end();
}

/* Keys have limits of their own; a place is given away when its key limits nobody. */
static void
test_throttle_keys(void **state)
{
	struct throttle_layout layout;
	(void)state;
	struct throttle_state *ts = calloc(1, throttle_times_layout(1, true, &layout));
	assert_non_null(ts);
	assert_int_equal(layout.keys, THROTTLE_KEYS);
	uint64_t a = throttle_hash(STR_LIT("a")), other = throttle_hash(STR_LIT("b"));
	assert_int_not_equal(a, other);
	assert_int_equal(throttle_reserve(ts, &layout, a, 1, 100, false, 1000), 0);
	assert_int_equal(throttle_reserve(ts, &layout, other, 1, 100, false, 1000), 0);
	assert_int_equal(throttle_reserve(ts, &layout, a, 1, 100, false, 1040), 60);
	assert_int_equal(throttle_reserve(ts, &layout, other, 1, 100, true, 1050), THROTTLE_REJECTED);
	/* keys that share a place */
	for (uint64_t i = 0; i < THROTTLE_PROBES; i++)
		assert_int_equal(
		    throttle_reserve(ts, &layout, 7 + i * layout.keys, 1, 100, false, 2000), 0);
	uint64_t one_more = 7 + (uint64_t)THROTTLE_PROBES * layout.keys;
	assert_int_equal(throttle_reserve(ts, &layout, one_more, 1, 100, false, 2050), THROTTLE_FULL);
	assert_int_equal(throttle_reserve(ts, &layout, one_more, 1, 100, false, 2100), 0);
	/* large limits leave room for fewer keys */
	assert_true(throttle_times_layout(THROTTLE_MAX, true, &layout) <= THROTTLE_BYTES + 64);
	assert_true(layout.keys > 10);
	free(ts);
}

static void
test_permits(void **state)
{
	struct throttle_layout layout;
	(void)state;
	struct throttle_state *ts = calloc(1, throttle_permits_layout(true, &layout));
	assert_non_null(ts);
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), 0);
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), 0);
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), THROTTLE_REJECTED);
	assert_int_equal(throttle_acquire(ts, &layout, 6, 2), 0);
	throttle_release(ts, &layout, 5);
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), 0);
	/* those of a process that is gone are taken back */
	struct throttle_permits *tp = (struct throttle_permits *)(ts->keys + 5 * layout.stride);
	assert_int_equal(tp->key, 5);
	assert_int_equal(tp->holders[0].n, 2);
	tp->holders[0].pid = INT32_MAX;
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), 0);
	free(ts);
}

static void
test_throttle_concurrent(void **state)
{
	(void)state;
	setup();
	struct step *st = build_step(&b, &throttle_eip);
	struct throttle_conf *conf = st->conf;
	conf->mode = 1;
	with_state(st, throttle_permits_layout(false, &conf->layout));
	st->expr = build_const(&b, "1");
	struct endpoint *ep = build_endpoint(&b, "fake:x", COMPONENT_PRODUCER);
	struct route *r = build_route(&b, "r", st, build_to(&b, ep), build_append(&b, "."), NULL);
	f.send_mode = FAKE_LATER;
	(void)fake_start(&f, r, "1"); /* sends */
	(void)fake_start(&f, r, "2"); /* waits */
	struct exchange *third = fake_start(&f, r, "3");
	assert_int_equal(f.done, 0);
	assert_int_equal(f.sends, 1);
	engine_abort(third, EXCEPTION_REJECTED_EXECUTION, "stop");
	assert_int_equal(f.done, 1);
	fake_answer(&f, NULL); /* the first is done: the second is let in */
	assert_int_equal(f.done, 2);
	assert_string_equal(f.body, "1S.");
	assert_int_equal(f.sends, 2);
	conf->rejects = true;
	(void)fake_start(&f, r, "4");
	assert_string_equal(f.exception,
	    "ThrottlerRejectedExecutionException: Exceeded the max throttle rate of 1");
	while (f.done < 4)
		fake_answer(&f, NULL);
	assert_string_equal(f.body, "2S.");
	conf->rejects = false;
	f.send_mode = FAKE_NOW;
	run(r, "5");
	assert_string_equal(f.body, "5S.");
	while (f.queue_n > 0) /* a timer that looks at who waits */
		fake_answer(&f, NULL);
	end();
}

static void
test_sample(void **state)
{
	char got[16] = "";
	(void)state;
	setup();
	struct step *st = with_state(build_step(&b, &sample_eip), 64);
	struct sample_conf *conf = st->conf;
	struct route *r = build_route(&b, "r", st, build_set_body(&b, "y"), NULL);
	conf->frequency = 3;
	for (int i = 0; i < 6; i++) {
		run(r, "x");
		strcat(got, f.body);
	}
	assert_string_equal(got, "xxyxxy");
	conf->frequency = 0;
	conf->period_ms = 100;
	f.now_ms = 5000;
	run(r, "x");
	assert_string_equal(f.body, "y");
	f.now_ms = 5099;
	run(r, "x");
	assert_string_equal(f.body, "x");
	f.now_ms = 5100;
	run(r, "x");
	assert_string_equal(f.body, "y");
	end();
}

/* ---- sort, step ---- */

static enum eval_rc
fn_list(struct exchange *ex, const char *arg, struct value *out)
{
	struct str rest = str_of(arg), item;
	*out = value_new_list(&ex->arena, 8);
	while (str_split(&rest, ',', &item)) {
		int64_t i;
		value_list_add(&ex->arena, out->u.list,
		    str_starts(item, "#") &&
			    str_to_int64((struct str){ item.p + 1, item.n - 1 }, &i)
			? value_int(i)
			: value_str(item));
	}
	return EVAL_OK;
}

static const struct sort_row {
	const char *label, *list, *sorted;
} sort_rows[] = {
	{ "texts", "c,a,b,aa,", "[, a, aa, b, c]" },
	{ "numbers", "#10,#9,#100", "[9, 10, 100]" },
	{ "texts of digits", "10,9,100", "[10, 100, 9]" },
	{ "one", "a", "[a]" },
};

static void
check_sort(void **state)
{
	const struct sort_row *row = *state;
	setup();
	struct step *st = build_step(&b, &sort_eip);
	st->expr = build_expr(&b, fn_list, row->list);
	struct route *r = build_route(&b, "r", st, NULL);
	run(r, "x");
	assert_string_equal(f.body, row->sorted);
	st->expr = build_const(&b, "text");
	run(r, "x");
	assert_true(f.failed);
	end();
}

static void
test_step(void **state)
{
	static const char *const properties[] = { "CamelStepId", NULL };
	(void)state;
	setup();
	struct step *st = build_step(&b, &step_eip);
	struct step *set = build_append(&b, "1");
	st->block = (struct block){ set, 1 };
	struct route *r = build_route(&b, "r", st, NULL);
	fake_watch(&f, NULL, properties);
	run(r, "x");
	assert_string_equal(f.body, "x1");
	assert_string_equal(fake_seen(&f, "CamelStepId"), "");
	end();
}

int
main(void)
{
	UNIT_TABLE("recipientList", recipients_rows, check_recipients);
	UNIT_CASE(test_routing_slip);
	UNIT_CASE(test_dynamic_router);
	UNIT_CASE(test_wire_tap);
	UNIT_CASE(test_enrich);
	UNIT_CASE(test_enrich_is_redelivered);
	UNIT_CASE(test_round_robin);
	UNIT_CASE(test_random_and_sticky);
	UNIT_CASE(test_weighted);
	UNIT_CASE(test_topic);
	UNIT_TABLE("failover", failover_rows, check_failover);
	UNIT_CASE(test_sticky_failover);
	UNIT_CASE(test_breaker);
	UNIT_CASE(test_breaker_by_time);
	UNIT_CASE(test_bulkhead);
	UNIT_CASE(test_circuit_breaker_with_the_error_handler);
	UNIT_CASE(test_circuit_breaker);
	UNIT_CASE(test_circuit_breaker_without_fallback);
	UNIT_CASE(test_circuit_breaker_with_a_time_limit);
	UNIT_CASE(test_stop_in_a_circuit_breaker);
	UNIT_CASE(test_throttle);
	UNIT_CASE(test_throttle_keys);
	UNIT_CASE(test_permits);
	UNIT_CASE(test_throttle_concurrent);
	UNIT_CASE(test_sample);
	UNIT_TABLE("sort", sort_rows, check_sort);
	UNIT_CASE(test_step);
	return unit_run("routing");
}
