/* Kafka: what a message is as a record, user and password of JAAS, error codes as exceptions. */
#include "core/model/exchange.h"
#include "tests/lib/unit.h"
#include "transports/kafka/kafka_error.h"
#include "transports/kafka/kafka_jaas.h"
#include "transports/kafka/kafka_record.h"

#include <string.h>

/* ---- JAAS ---- */

#define PLAIN "org.apache.kafka.common.security.plain.PlainLoginModule"
#define SCRAM "org.apache.kafka.common.security.scram.ScramLoginModule"

static const struct jaas_row {
	const char *label, *text, *username, *password; /* username NULL: refused */
	bool scram;
} jaas_rows[] = {
	{ "plain", PLAIN " required username=\"u\" password=\"p\";", "u", "p", false },
	{ "scram", SCRAM " required username=\"u\" password=\"p\";", "u", "p", true },
	{ "over lines", PLAIN "\n  required\n\tusername = 'u'\n password= \"p q\"\n;", "u", "p q", false },
	{ "escapes", PLAIN " required username=\"a\\\"b\" password=\"\\\\\";", "a\"b", "\\", false },
	{ "bare words", PLAIN " required password=p username=u;", "u", "p", false },
	{ "no semicolon", PLAIN " required username=u password=p", "u", "p", false },
	{ "other options", SCRAM " required tokenauth=true username=u password=p;", "u", "p", true },
	{ "empty password", PLAIN " required username=u password=\"\";", "u", "", false },
	{ "empty", "", NULL, NULL, false },
	{ "another module", "com.sun.security.auth.module.Krb5LoginModule required;", NULL, NULL, false },
	{ "optional", PLAIN " optional username=u password=p;", NULL, NULL, false },
	{ "no password", PLAIN " required username=u;", NULL, NULL, false },
	{ "open quote", PLAIN " required username=u password=\"p;", NULL, NULL, false },
	{ "backslash at the end", PLAIN " required username=u password=\"p\\", NULL, NULL, false },
	{ "no value", PLAIN " required username", NULL, NULL, false },
	{ "no name", PLAIN " required =u;", NULL, NULL, false },
};

static void
check_jaas(void **state)
{
	const struct jaas_row *r = *state;
	struct kafka_jaas jaas;
	struct arena a;
	const char *why = NULL;

	arena_init(&a);
	bool ok = kafka_jaas_parse(&a, str_of(r->text), &jaas, &why);
	assert_int_equal(ok, r->username != NULL);
	if (ok) {
		assert_string_equal(jaas.username, r->username);
		assert_string_equal(jaas.password, r->password);
		assert_int_equal(jaas.scram, r->scram);
	} else {
		assert_non_null(why);
	}
	arena_fini(&a);
}

/* ---- serializers ---- */

static const struct serde_row {
	const char *label;
	enum kafka_serde serde;
	struct value value;
	const char *bytes; /* NULL: null */
	size_t n;
	bool refused;
} serde_rows[] = {
	{ "null", KAFKA_SERDE_STRING, { .type = VALUE_NULL }, NULL, 0, false },
	{ "null as a number", KAFKA_SERDE_LONG, { .type = VALUE_NULL }, NULL, 0, false },
	{ "text", KAFKA_SERDE_STRING, { .type = VALUE_STRING, .u.s = { "abc", 3 } }, "abc", 3, false },
	{ "no text", KAFKA_SERDE_STRING, { .type = VALUE_STRING, .u.s = { "", 0 } }, "", 0, false },
	{ "number as text", KAFKA_SERDE_STRING, { .type = VALUE_INT, .u.i = 42 }, "42", 2, false },
	{ "bytes", KAFKA_SERDE_BYTES, { .type = VALUE_BYTES, .u.s = { "\xff\0a", 3 } }, "\xff\0a", 3,
	    false },
	{ "integer", KAFKA_SERDE_INTEGER, { .type = VALUE_INT, .u.i = 258 }, "\0\0\1\2", 4, false },
	{ "integer of text", KAFKA_SERDE_INTEGER, { .type = VALUE_STRING, .u.s = { "-1", 2 } },
	    "\xff\xff\xff\xff", 4, false },
	{ "short", KAFKA_SERDE_SHORT, { .type = VALUE_INT, .u.i = 258 }, "\1\2", 2, false },
	{ "long", KAFKA_SERDE_LONG, { .type = VALUE_INT, .u.i = 1 }, "\0\0\0\0\0\0\0\1", 8, false },
	{ "double", KAFKA_SERDE_DOUBLE, { .type = VALUE_DOUBLE, .u.d = 1.5 }, "\x3f\xf8\0\0\0\0\0\0", 8,
	    false },
	{ "float", KAFKA_SERDE_FLOAT, { .type = VALUE_DOUBLE, .u.d = 1.5 }, "\x3f\xc0\0\0", 4, false },
	{ "boolean", KAFKA_SERDE_BOOLEAN, { .type = VALUE_BOOL, .u.b = true }, "\1", 1, false },
	{ "words as a number", KAFKA_SERDE_LONG, { .type = VALUE_STRING, .u.s = { "many", 4 } }, NULL, 0,
	    true },
	{ "beyond an integer", KAFKA_SERDE_INTEGER, { .type = VALUE_INT, .u.i = INT64_MAX }, NULL, 0,
	    true },
	{ "something as nothing", KAFKA_SERDE_VOID, { .type = VALUE_STRING, .u.s = { "a", 1 } }, NULL, 0,
	    true },
};

static struct exchange *
exchange_of(struct exchange_pool *pool)
{
	exchange_pool_init(pool, 1);
	return exchange_new(pool);
}

static void
check_serde(void **state)
{
	const struct serde_row *r = *state;
	struct exchange_pool pool;
	struct exchange *ex = exchange_of(&pool);
	struct kafka_bytes b;

	assert_int_equal(kafka_serialize(ex, r->serde, "value", &r->value, &b), !r->refused);
	if (r->refused) {
		assert_int_equal(ex->exception->id, EXCEPTION_KAFKA_SERIALIZATION);
	} else if (r->bytes == NULL) {
		assert_null(b.p);
	} else {
		assert_non_null(b.p);
		assert_int_equal(b.n, r->n);
		assert_memory_equal(b.p, r->bytes, r->n);
	}
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
}

/* ---- headers ---- */

static void
set(struct exchange *ex, const char *name, struct value v)
{
	exchange_set_header(ex, str_of(name), v);
}

static void
test_parts(void **state)
{
	static const struct kafka_conf conf = { .partition_key = -1 };
	struct exchange_pool pool;
	struct exchange *ex = exchange_of(&pool);
	struct kafka_parts p;
	const void *bytes;
	size_t n;
	(void)state;

	set(ex, "CamelKafkaKey", value_str(STR_LIT("k")));
	set(ex, "kafka.KEY", value_str(STR_LIT("old")));
	set(ex, "kafka.PARTITION_KEY", value_str(STR_LIT("2")));
	set(ex, "CamelKafkaOverrideTopic", value_str(STR_LIT("other")));
	set(ex, "kafka.OVERRIDE_TIMESTAMP", value_int(5));
	set(ex, "camelot", value_str(STR_LIT("x")));
	set(ex, "kafkaesque", value_str(STR_LIT("x")));
	set(ex, "none", value_null());
	set(ex, "true", value_bool(true));
	assert_true(kafka_record_parts(ex, &conf, &p));
	assert_int_equal(p.key.n, 1);
	assert_int_equal(p.partition, 2);
	assert_true(str_eq(p.topic, STR_LIT("other")));
	assert_int_equal(p.timestamp, 5);
	assert_int_equal(rd_kafka_header_cnt(p.headers), 2);
	assert_int_equal(rd_kafka_header_get_last(p.headers, "kafkaesque", &bytes, &n), 0);
	assert_int_equal(rd_kafka_header_get_last(p.headers, "true", &bytes, &n), 0);
	assert_int_equal(n, 4);
	assert_null(exchange_header(ex, STR_LIT("CamelKafkaOverrideTopic")));
	assert_null(exchange_header(ex, STR_LIT("kafka.OVERRIDE_TIMESTAMP")));
	assert_non_null(exchange_header(ex, STR_LIT("CamelKafkaKey")));
	rd_kafka_headers_destroy(p.headers);
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
}

static const struct bad_row {
	const char *label, *name, *value;
	enum exception_id exception;
} bad_rows[] = {
	{ "negative partition", "CamelKafkaPartitionKey", "-1", EXCEPTION_ILLEGAL_ARGUMENT },
	{ "no partition", "CamelKafkaPartitionKey", "x", EXCEPTION_TYPE_CONVERSION },
	{ "no timestamp", "CamelKafkaOverrideTimestamp", "now", EXCEPTION_TYPE_CONVERSION },
};

static void
check_bad(void **state)
{
	static const struct kafka_conf conf = { .partition_key = -1 };
	const struct bad_row *r = *state;
	struct exchange_pool pool;
	struct exchange *ex = exchange_of(&pool);
	struct kafka_parts p;

	set(ex, "other", value_str(STR_LIT("x"))); /* its headers are freed */
	set(ex, r->name, value_str(str_of(r->value)));
	assert_false(kafka_record_parts(ex, &conf, &p));
	assert_int_equal(ex->exception->id, r->exception);
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
}

static void
test_errors(void **state)
{
	(void)state;
	assert_int_equal(
	    kafka_error_exception(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT), EXCEPTION_KAFKA_TIMEOUT);
	assert_int_equal(
	    kafka_error_exception(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE), EXCEPTION_KAFKA_RECORD_TOO_LARGE);
	assert_int_equal(kafka_error_exception(RD_KAFKA_RESP_ERR_INVALID_CONFIG), EXCEPTION_KAFKA);
	int io = exception_find(STR_LIT("org.apache.kafka.common.errors.RetriableException"));
	assert_true(exception_is_a(EXCEPTION_KAFKA_TIMEOUT, (enum exception_id)io));
}

int
main(void)
{
	UNIT_TABLE("jaas", jaas_rows, check_jaas);
	UNIT_TABLE("serializer", serde_rows, check_serde);
	UNIT_CASE(test_parts);
	UNIT_TABLE("header", bad_rows, check_bad);
	UNIT_CASE(test_errors);
	return unit_run("kafka_record");
}
