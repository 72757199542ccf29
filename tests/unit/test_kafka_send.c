/*
 * Kafka: what a real broker cannot be made to show, on librdkafka's mock cluster: sends that are
 * aborted, a full buffer, a client that librdkafka gives up. The worker and the engine are fakes.
 */
#include "core/base/blob.h"
#include "core/config/option.h"
#include "tests/lib/unit.h"
#include "transports/kafka/kafka_priv.h"

#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <string.h>

static struct loop loop;
static struct kafka_state state_;
static struct exchange_pool pool;
static struct arena memory;
static int resumed, failed;
static engine_timer_fn *abort_fn;
static void *abort_arg;

/* ---- the worker and the engine ---- */

struct loop *
worker_loop(struct worker *wk)
{
	(void)wk;
	return &loop;
}

int
worker_generation_dir(struct worker *wk)
{
	(void)wk;
	return -1;
}

const struct settings *
worker_settings(struct worker *wk)
{
	static struct settings settings;
	(void)wk;

	settings.supervisor.call_timeout_ms = 800;
	return &settings;
}

void
engine_on_abort(struct exchange *ex, engine_timer_fn *fn, void *arg)
{
	(void)ex;
	abort_fn = fn;
	abort_arg = arg;
}

void
engine_resume(struct exchange *ex)
{
	(void)ex;
	resumed++;
}

void
engine_fail(struct exchange *ex)
{
	assert_non_null(ex->exception);
	failed++;
}

/* ---- the endpoint ---- */

static struct endpoint endpoint = { .uri = "kafka:t" };
static struct kafka_target target;
static int64_t linger_ms;

static void
start(int64_t buffer_messages)
{
	struct hinny_error err;
	static struct pair mock = { "test.mock.num.brokers", "1" };

	arena_init(&memory);
	exchange_pool_init(&pool, 4);
	assert_int_equal(loop_init(&loop, &err), HINNY_OK);
	list_init(&state_.clients);
	list_init(&state_.dying);
	list_init(&state_.sends);
	loop_defer_init(&state_.reap, NULL);
	state_.ended = false;
	struct kafka_conf *conf = option_new_conf(&memory, sizeof *conf);
	for (const struct option_desc *o = kafka_options; o->name != NULL; o++)
		option_set_default(&memory, o, conf);
	conf->topic = "t";
	conf->brokers = "mock:1";
	conf->properties = (struct pairs){ &mock, 1 };
	conf->buffer_messages = buffer_messages;
	conf->record_metadata = true;
	conf->linger_ms = linger_ms;
	endpoint.conf = conf;
	endpoint.impl = &target;
	assert_int_equal(kafka_client_get(&state_, &endpoint, &target.client, &err), HINNY_OK);
	target.topic = kafka_client_pin(target.client, STR_LIT("t"));
	assert_non_null(target.topic);
	resumed = failed = 0;
}

static void
stop(void)
{
	state_.ended = true;
	kafka_clients_reap(&state_);
	kafka_sends_fini(&state_);
	loop_fini(&loop);
	exchange_pool_fini(&pool);
	arena_fini(&memory);
}

static struct exchange *
message(const char *text)
{
	struct exchange *ex = exchange_new(&pool);
	struct blob *b = blob_copy(text, strlen(text));

	ex->body = value_bytes((struct str){ b->data, b->size });
	ex->body.blob = arena_hold(&ex->arena, b);
	blob_put(b);
	return ex;
}

static void
turn_until(const int *count, int n)
{
	for (int i = 0; i < 3000 && *count < n; i++)
		loop_turn(&loop, 10);
	assert_int_equal(*count, n);
}

static void
turn_until_sent(void)
{
	for (int i = 0; i < 3000 && state_.unsent > 0; i++)
		loop_turn(&loop, 10);
	assert_int_equal(state_.unsent, 0);
}

/* ---- cases ---- */

static void
test_acknowledged(void **state)
{
	(void)state;
	start(100);
	struct exchange *ex = message("a");
	assert_int_equal(kafka_send(NULL, ex, NULL, &endpoint), STEP_PENDING);
	assert_int_equal(resumed, 0); /* it leaves at the end of the turn */
	turn_until(&resumed, 1);
	const struct value *meta = exchange_header(ex, STR_LIT("CamelKafkaRecordMeta"));
	assert_non_null(meta);
	assert_int_equal(meta->u.list->n, 1);
	assert_int_equal(state_.unsent, 0);
	exchange_free(&pool, &ex);
	stop();
}

/* The exchange and its arena are gone while librdkafka reads the body. */
static void
test_aborted(void **state)
{
	(void)state;
	start(100);
	struct exchange *ex = message("given");
	assert_int_equal(kafka_send(NULL, ex, NULL, &endpoint), STEP_PENDING);
	loop_turn(&loop, 0);
	assert_int_equal(target.client->given, 1);
	abort_fn(abort_arg);
	exchange_free(&pool, &ex);
	ex = message("not given yet");
	assert_int_equal(kafka_send(NULL, ex, NULL, &endpoint), STEP_PENDING);
	abort_fn(abort_arg);
	exchange_free(&pool, &ex);
	turn_until_sent();
	assert_int_equal(resumed + failed, 0);
	stop();
}

static void
test_no_room(void **state)
{
	struct exchange *ex[3];
	(void)state;

	start(1);
	for (int i = 0; i < 3; i++) {
		ex[i] = message("x");
		assert_int_equal(kafka_send(NULL, ex[i], NULL, &endpoint), STEP_PENDING);
	}
	assert_int_equal(target.client->records, 1);
	abort_fn(abort_arg); /* the last one, which waits */
	turn_until(&resumed, 2);
	assert_int_equal(failed, 0);
	for (int i = 0; i < 3; i++)
		exchange_free(&pool, &ex[i]);
	stop();
}

/* At the end of the process nothing is told, and nothing leaks. */
static void
test_ends_with_records(void **state)
{
	(void)state;
	start(1);
	struct exchange *a = message("a"), *b = message("b");
	assert_int_equal(kafka_send(NULL, a, NULL, &endpoint), STEP_PENDING);
	assert_int_equal(kafka_send(NULL, b, NULL, &endpoint), STEP_PENDING);
	loop_turn(&loop, 0);
	state_.ended = true;
	kafka_clients_reap(&state_);
	exchange_free(&pool, &a);
	exchange_free(&pool, &b);
	stop();
	assert_int_equal(resumed + failed, 0);
}

static void
test_given_up_by_librdkafka(void **state)
{
	(void)state;
	start(100);
	struct exchange *a = message("a"), *b = message("b"), *c = message("c");
	assert_int_equal(kafka_send(NULL, a, NULL, &endpoint), STEP_PENDING);
	turn_until(&resumed, 1);
	assert_int_equal(rd_kafka_test_fatal_error(target.client->rk,
			     RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "as the test wants it"),
	    RD_KAFKA_RESP_ERR_NO_ERROR);
	assert_int_equal(kafka_send(NULL, b, NULL, &endpoint), STEP_PENDING);
	turn_until(&resumed, 2); /* it was sent again, by another client */
	assert_int_equal(failed, 0);
	assert_int_equal(rd_kafka_fatal_error(target.client->rk, NULL, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
	assert_int_equal(kafka_send(NULL, c, NULL, &endpoint), STEP_PENDING);
	turn_until(&resumed, 3);
	exchange_free(&pool, &a);
	exchange_free(&pool, &b);
	exchange_free(&pool, &c);
	stop();
}

/* A killed broker has lost the numbers by which it tells repetitions: all that was on its way goes again, in its order and with its headers. */
static void
test_numbers_are_lost(void **state)
{
	(void)state;
	enum { MANY = 50 };
	struct exchange *ex[MANY + 1];
	start(100);
	ex[MANY] = message("first");
	assert_int_equal(kafka_send(NULL, ex[MANY], NULL, &endpoint), STEP_PENDING);
	turn_until(&resumed, 1);
	rd_kafka_resp_err_t refused[MANY];
	for (int i = 0; i < MANY; i++)
		refused[i] = RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER;
	rd_kafka_mock_push_request_errors_array(rd_kafka_handle_mock_cluster(target.client->rk), 0, MANY, refused);
	for (int i = 0; i < MANY; i++) {
		char text[8];
		snprintf(text, sizeof text, "%d", i);
		ex[i] = message(text);
		exchange_set_header(ex[i], STR_LIT("h"), value_int(i));
		exchange_set_header(ex[i], STR_LIT("CamelKafkaPartitionKey"), value_int(0));
		assert_int_equal(kafka_send(NULL, ex[i], NULL, &endpoint), STEP_PENDING);
		if (i % 10 == 0)
			loop_turn(&loop, 0);
	}
	turn_until(&resumed, MANY + 1);
	assert_int_equal(failed, 0);
	assert_int_equal(rd_kafka_fatal_error(target.client->rk, NULL, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
	int64_t last = -1;
	for (int i = 0; i < MANY; i++) {
		const struct value *meta = exchange_header(ex[i], STR_LIT("CamelKafkaRecordMeta"));
		const struct value *offset = value_map_find(meta->u.list->items[0].u.map, STR_LIT("offset"));
		assert_true(offset->u.i > last);
		last = offset->u.i;
	}
	for (int i = 0; i <= MANY; i++)
		exchange_free(&pool, &ex[i]);
	stop();
}

static void
test_larger_than_allowed(void **state)
{
	(void)state;
	start(100);
	char text[3000] = { 0 };
	memset(text, 'x', sizeof text - 1);
	((struct kafka_conf *)endpoint.conf)->max_request_size = 2000;
	struct exchange *ex = message(text);
	assert_int_equal(kafka_send(NULL, ex, NULL, &endpoint), STEP_FAILED);
	assert_int_equal(ex->exception->id, EXCEPTION_KAFKA_RECORD_TOO_LARGE);
	assert_int_equal(state_.unsent, 0);
	exchange_free(&pool, &ex);
	stop();
}

/* A call is told before its time is over, behind a send that has more; what comes of its record later is told in the log. */
static void
test_called(void **state)
{
	(void)state;
	linger_ms = 1500;
	start(100);
	linger_ms = 0;
	struct exchange *home = message("a"), *called = message("b");
	called->home = 7;
	assert_int_equal(kafka_send(NULL, home, NULL, &endpoint), STEP_PENDING);
	assert_int_equal(kafka_send(NULL, called, NULL, &endpoint), STEP_PENDING);
	turn_until(&failed, 1);
	assert_int_equal(called->exception->id, EXCEPTION_KAFKA_TIMEOUT);
	assert_non_null(strstr(called->exception->message.p, "within 400 ms, but may be yet"));
	assert_int_equal(resumed, 0);
	turn_until(&resumed, 1);
	turn_until_sent();
	assert_true(target.client->late_told.ns != 0);
	exchange_free(&pool, &home);
	exchange_free(&pool, &called);
	stop();
}

int
main(void)
{
	UNIT_CASE(test_acknowledged);
	UNIT_CASE(test_aborted);
	UNIT_CASE(test_no_room);
	UNIT_CASE(test_ends_with_records);
	UNIT_CASE(test_given_up_by_librdkafka);
	UNIT_CASE(test_numbers_are_lost);
	UNIT_CASE(test_larger_than_allowed);
	UNIT_CASE(test_called);
	return unit_run("kafka_send");
}
