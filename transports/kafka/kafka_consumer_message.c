/*
 * A record as a message. Body, key and header values lie in librdkafka's buffer, which stays until
 * the exchange is done; whatever outlives the exchange copies them.
 */
#include "transports/kafka/kafka_consumer.h"

#include <string.h>

/* The names that this release of Camel has, and those before. */
static const struct {
	struct str name, older;
} names[KAFKA_HEADERS_N] = {
	[KAFKA_HEADER_TOPIC] = { STR_LIT("CamelKafkaTopic"), STR_LIT("kafka.TOPIC") },
	[KAFKA_HEADER_PARTITION] = { STR_LIT("CamelKafkaPartition"), STR_LIT("kafka.PARTITION") },
	[KAFKA_HEADER_OFFSET] = { STR_LIT("CamelKafkaOffset"), STR_LIT("kafka.OFFSET") },
	[KAFKA_HEADER_TIMESTAMP] = { STR_LIT("CamelKafkaTimestamp"), STR_LIT("kafka.TIMESTAMP") },
	[KAFKA_HEADER_KEY] = { STR_LIT("CamelKafkaKey"), STR_LIT("kafka.KEY") },
	[KAFKA_HEADER_HEADERS] = { STR_LIT("CamelKafkaHeaders"), STR_LIT("kafka.HEADERS") },
	[KAFKA_HEADER_LAST_BEFORE_COMMIT] = { STR_LIT("CamelKafkaLastRecordBeforeCommit"),
	    STR_LIT("kafka.LAST_RECORD_BEFORE_COMMIT") },
	[KAFKA_HEADER_LAST_OF_POLL] = { STR_LIT("CamelKafkaLastPollRecord"),
	    STR_LIT("kafka.LAST_POLL_RECORD") },
};

void
kafka_message_names(struct kafka_source *src)
{
	for (int i = 0; i < KAFKA_HEADERS_N; i++) {
		src->hashes[i] = header_hash(names[i].name);
		src->older_hashes[i] = header_hash(names[i].older);
	}
}

static void
set(const struct kafka_source *src, struct exchange *ex, enum kafka_header which, struct value v)
{
	headers_set_hashed(&ex->headers, &ex->arena, names[which].name, src->hashes[which], v);
	if (src->names_both)
		headers_set_hashed(
		    &ex->headers, &ex->arena, names[which].older, src->older_hashes[which], v);
}

static struct value
long_value(int64_t i)
{
	struct value v = value_int(i);
	v.flags = VALUE_LONG;
	return v;
}

/* ---- deserializers ---- */

static bool
number(const unsigned char *p, size_t n, size_t want, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; n == want && i < n; i++)
		*out = *out << 8 | p[i];
	return n == want;
}

static bool
wrong_size(const char **why, const char *text)
{
	*why = text;
	return false;
}

static bool
float_value(const unsigned char *p, size_t n, bool single, struct value *out, const char **why)
{
	uint64_t bits;
	if (!number(p, n, single ? 4 : 8, &bits))
		return wrong_size(why, single ? "a Float has 4 bytes" : "a Double has 8 bytes");
	if (single) {
		uint32_t half = (uint32_t)bits;
		float f;
		memcpy(&f, &half, sizeof f);
		*out = value_double((double)f);
		out->flags = VALUE_FLOAT;
	} else {
		double d;
		memcpy(&d, &bits, sizeof d);
		*out = value_double(d);
	}
	return true;
}

bool
kafka_message_value(
    enum kafka_serde serde, const void *p, size_t n, struct value *out, const char **why)
{
	struct str s = { p, n };
	uint64_t bits;
	*out = value_null();
	if (p == NULL)
		return true;
	switch (serde) {
	case KAFKA_SERDE_STRING:
		*out = value_str(s);
		return true;
	case KAFKA_SERDE_BYTES:
		*out = value_bytes(s);
		return true;
	case KAFKA_SERDE_SHORT:
		if (!number(p, n, 2, &bits))
			return wrong_size(why, "a Short has 2 bytes");
		*out = value_int((int16_t)bits);
		return true;
	case KAFKA_SERDE_INTEGER:
		if (!number(p, n, 4, &bits))
			return wrong_size(why, "an Integer has 4 bytes");
		*out = value_int((int32_t)bits);
		return true;
	case KAFKA_SERDE_LONG:
		if (!number(p, n, 8, &bits))
			return wrong_size(why, "a Long has 8 bytes");
		*out = long_value((int64_t)bits);
		return true;
	case KAFKA_SERDE_FLOAT:
		return float_value(p, n, true, out, why);
	case KAFKA_SERDE_DOUBLE:
		return float_value(p, n, false, out, why);
	case KAFKA_SERDE_BOOLEAN:
		if (n != 1 || s.p[0] < 0 || s.p[0] > 1)
			return wrong_size(why, "a Boolean is a byte of 0 or 1");
		*out = value_bool(s.p[0] == 1);
		return true;
	case KAFKA_SERDE_UUID:
		if (n != 36)
			return wrong_size(why, "a UUID has 36 characters");
		*out = value_str(s);
		return true;
	case KAFKA_SERDE_VOID:
		return wrong_size(why, "a Void is null");
	}
	return wrong_size(why, "there is no such deserializer");
}

/* ---- headers ---- */

/* Camel's own names come from no record: they steer the message. */
static bool
is_filtered(struct str name)
{
	return (name.n >= 5 && strncasecmp(name.p, "camel", 5) == 0) ||
	    (name.n >= 6 && strncasecmp(name.p, "kafka.", 6) == 0) ||
	    (name.n >= 16 && strncasecmp(name.p, "org.apache.camel", 16) == 0);
}

static void
record_headers(const struct kafka_source *src, struct exchange *ex, const rd_kafka_message_t *msg)
{
	struct value all = value_new_map(&ex->arena, 0, false);
	rd_kafka_headers_t *hdrs;
	const char *name;
	const void *p;
	size_t n;

	if (rd_kafka_message_headers(msg, &hdrs) == RD_KAFKA_RESP_ERR_NO_ERROR) {
		for (size_t i = 0; rd_kafka_header_get_all(hdrs, i, &name, &p, &n) == 0; i++) {
			struct value v =
			    p != NULL ? value_bytes((struct str){ p, n }) : value_null();
			struct str s = str_of(name);
			value_map_set(&ex->arena, all.u.map, s, v);
			if (!is_filtered(s))
				headers_set(&ex->headers, &ex->arena, s, v);
		}
	}
	set(src, ex, KAFKA_HEADER_HEADERS, all);
}

void
kafka_message_place(
    const struct kafka_source *src, struct exchange *ex, const char *topic, int32_t partition)
{
	if (topic != NULL)
		set(src, ex, KAFKA_HEADER_TOPIC, value_str(arena_str(&ex->arena, str_of(topic))));
	if (partition >= 0)
		set(src, ex, KAFKA_HEADER_PARTITION, value_int(partition));
}

void
kafka_message_headers(
    const struct kafka_source *src, struct exchange *ex, const rd_kafka_message_t *msg)
{
	rd_kafka_timestamp_type_t type;
	struct value stamp = long_value(rd_kafka_message_timestamp(msg, &type));

	record_headers(src, ex, msg);
	kafka_message_place(src, ex, rd_kafka_topic_name(msg->rkt), msg->partition);
	set(src, ex, KAFKA_HEADER_OFFSET, long_value(msg->offset));
	set(src, ex, KAFKA_HEADER_TIMESTAMP, stamp);
	headers_set_id(&ex->headers, &ex->arena, HEADER_CAMEL_MESSAGE_TIMESTAMP, stamp);
}

bool
kafka_message_check(const struct kafka_source *src, const rd_kafka_message_t *msg, const char **why)
{
	struct value v;

	return kafka_message_value(src->conf->key_serde, msg->key, msg->key_len, &v, why) &&
	    kafka_message_value(src->conf->value_serde, msg->payload, msg->len, &v, why);
}

bool
kafka_message_fill(const struct kafka_source *src, struct exchange *ex,
    const rd_kafka_message_t *msg, const char **why)
{
	struct value key, body;

	kafka_message_headers(src, ex, msg);
	if (!kafka_message_value(src->conf->key_serde, msg->key, msg->key_len, &key, why) ||
	    !kafka_message_value(src->conf->value_serde, msg->payload, msg->len, &body, why))
		return false;
	if (!value_is_null(&key))
		set(src, ex, KAFKA_HEADER_KEY, key);
	exchange_set_body(ex, body);
	return true;
}

void
kafka_message_flags(
    const struct kafka_source *src, struct exchange *ex, bool last_of_part, bool last_of_poll)
{
	set(src, ex, KAFKA_HEADER_LAST_BEFORE_COMMIT, value_bool(last_of_part));
	set(src, ex, KAFKA_HEADER_LAST_OF_POLL, value_bool(last_of_poll));
}

/* ---- batches ---- */

static void
member(struct arena *a, struct value *map, const char *name, struct value v)
{
	value_map_set(a, map->u.map, str_of(name), v);
}

/* The message is built in the exchange itself, which is empty before and after. */
void
kafka_message_element(const struct kafka_source *src, struct exchange *ex,
    const rd_kafka_message_t *msg, struct value *out)
{
	struct arena *a = &ex->arena;
	const char *why;
	(void)kafka_message_fill(src, ex, msg, &why); /* it passes: it has been checked */
	struct value map = value_new_map(a, 4, false), message = value_new_map(a, 2, false);
	struct value headers = value_new_map(a, ex->headers.live, true);

	HEADERS_FOREACH (&ex->headers, h)
		value_map_set(a, headers.u.map, h->name, h->value);
	member(a, &message, "body", ex->body);
	member(a, &message, "headers", headers);
	member(a, &map, "exchangeId", value_str(exchange_id(ex)));
	member(a, &map, "message", message);
	member(a, &map, "in", message);
	member(a, &map, "properties", value_new_map(a, 0, false));
	headers_clear(&ex->headers);
	headers_init(&ex->headers);
	exchange_set_body(ex, value_null());
	*out = map;
}
