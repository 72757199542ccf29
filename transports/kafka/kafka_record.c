/* A message as a record. */
#include "transports/kafka/kafka_record.h"

#include "core/base/blob.h"

#include <string.h>

/* ---- keys and values ---- */

static void
big_endian(char *out, uint64_t bits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(bits >> 8 * (n - 1 - i));
}

static void
set_number(struct exchange *ex, uint64_t bits, size_t n, struct kafka_bytes *out)
{
	char *p = arena_alloc(&ex->arena, 8);

	big_endian(p, bits, n);
	*out = (struct kafka_bytes){ p, n, NULL };
}

static void
set_text(struct exchange *ex, const struct value *v, struct kafka_bytes *out)
{
	struct str s = value_text(&ex->arena, v);
	const struct blob *b = v->blob;

	*out = (struct kafka_bytes){ s.n > 0 ? s.p : "", s.n, NULL };
	if (b != NULL && s.n > 0 && s.p >= b->data && s.p + s.n <= b->data + b->size)
		out->blob = v->blob;
}

/* What a number is for its serializer. */
static const struct {
	enum value_class_id class;
	size_t size;
	const char *name;
} numbers[] = {
	[KAFKA_SERDE_SHORT] = { CLASS_SHORT, 2, "ShortSerializer" },
	[KAFKA_SERDE_INTEGER] = { CLASS_INTEGER, 4, "IntegerSerializer" },
	[KAFKA_SERDE_LONG] = { CLASS_LONG, 8, "LongSerializer" },
	[KAFKA_SERDE_FLOAT] = { CLASS_DOUBLE, 4, "FloatSerializer" },
	[KAFKA_SERDE_DOUBLE] = { CLASS_DOUBLE, 8, "DoubleSerializer" },
	[KAFKA_SERDE_BOOLEAN] = { CLASS_BOOLEAN, 1, "BooleanSerializer" },
	[KAFKA_SERDE_VOID] = { CLASS_NONE, 0, "VoidSerializer" },
};

static uint64_t
number_bits(enum kafka_serde serde, const struct value *v)
{
	uint64_t bits = 0;

	if (serde == KAFKA_SERDE_BOOLEAN)
		return v->u.b;
	if (serde == KAFKA_SERDE_DOUBLE) {
		memcpy(&bits, &v->u.d, 8);
	} else if (serde == KAFKA_SERDE_FLOAT) {
		float f = (float)v->u.d;
		uint32_t small;
		memcpy(&small, &f, 4);
		bits = small;
	} else {
		bits = (uint64_t)v->u.i;
	}
	return bits;
}

bool
kafka_serialize(struct exchange *ex, enum kafka_serde serde, const char *what,
    const struct value *v, struct kafka_bytes *out)
{
	struct value number;
	struct hinny_error err;

	*out = (struct kafka_bytes){ 0 };
	if (value_is_null(v))
		return true;
	if (serde == KAFKA_SERDE_STRING || serde == KAFKA_SERDE_BYTES || serde == KAFKA_SERDE_UUID) {
		set_text(ex, v, out);
		return true;
	}
	const char *name = numbers[serde].name;
	if (numbers[serde].class == CLASS_NONE ||
	    value_convert_number(&ex->arena, v, numbers[serde].class, &number, &err) != HINNY_OK ||
	    value_is_null(&number)) {
		exchange_fail(ex, EXCEPTION_KAFKA_SERIALIZATION,
		    "Can't convert %s of class %s to class org.apache.kafka.common.serialization.%s "
		    "specified in %s.serializer",
		    what, value_class(v), name, what);
		return false;
	}
	set_number(ex, number_bits(serde, &number), numbers[serde].size, out);
	return true;
}

/* ---- headers ---- */

enum { HEADER_OVERHEAD = 10 }; /* two lengths */

/* Java's header serializer: false for what it passes over. */
static bool
header_bytes(struct exchange *ex, const struct value *v, struct kafka_bytes *out)
{
	uint64_t bits;

	switch (v->type) {
	case VALUE_INT:
		if (v->flags & VALUE_DATE)
			return false;
		set_number(ex, (uint64_t)v->u.i, v->flags & VALUE_LONG ? 8 : 4, out);
		return true;
	case VALUE_DOUBLE:
		if (v->flags & VALUE_FLOAT)
			return false;
		memcpy(&bits, &v->u.d, 8);
		set_number(ex, bits, 8, out);
		return true;
	case VALUE_BOOL:
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_XML:
		set_text(ex, v, out);
		return true;
	default:
		return false;
	}
}

/* The headers of a message that say what becomes of it. */
struct known {
	const struct value *key, *partition, *topic, *timestamp;
	const struct value *old_key, *old_partition, *old_topic, *old_timestamp;
};

/* Notes the header when it is one of those, or one that is not sent. */
static bool
is_ours(const struct header *h, struct known *k)
{
	static const char camel[] = "camel", old[] = "kafka.", package[] = "org.apache.camel.";

	switch (h->name.n > 0 ? h->name.p[0] | 0x20 : 0) {
	case 'c':
		if (!str_casestarts(h->name, camel))
			return false;
		if (str_caseeq(h->name, STR_LIT("CamelKafkaKey")))
			k->key = &h->value;
		else if (str_caseeq(h->name, STR_LIT("CamelKafkaPartitionKey")))
			k->partition = &h->value;
		else if (str_caseeq(h->name, STR_LIT("CamelKafkaOverrideTopic")))
			k->topic = &h->value;
		else if (str_caseeq(h->name, STR_LIT("CamelKafkaOverrideTimestamp")))
			k->timestamp = &h->value;
		return true;
	case 'k':
		if (!str_casestarts(h->name, old))
			return false;
		if (str_caseeq(h->name, STR_LIT("kafka.KEY")))
			k->old_key = &h->value;
		else if (str_caseeq(h->name, STR_LIT("kafka.PARTITION_KEY")))
			k->old_partition = &h->value;
		else if (str_caseeq(h->name, STR_LIT("kafka.OVERRIDE_TOPIC")))
			k->old_topic = &h->value;
		else if (str_caseeq(h->name, STR_LIT("kafka.OVERRIDE_TIMESTAMP")))
			k->old_timestamp = &h->value;
		return true;
	case 'o':
		return str_casestarts(h->name, package);
	default:
		return false;
	}
}

static void
add_headers(struct exchange *ex, struct known *k, struct kafka_parts *out)
{
	struct kafka_bytes b;

	HEADERS_FOREACH (&ex->headers, h) {
		if (is_ours(h, k) || !header_bytes(ex, &h->value, &b))
			continue;
		if (out->headers == NULL)
			out->headers = rd_kafka_headers_new(ex->headers.live);
		/* fails for headers that are read-only alone */
		(void)rd_kafka_header_add(
		    out->headers, h->name.p, (ssize_t)h->name.n, b.p, (ssize_t)b.n);
		out->headers_size += h->name.n + b.n + HEADER_OVERHEAD;
	}
}

static const struct value *
either(const struct value *v, const struct value *old)
{
	if (v != NULL && !value_is_null(v))
		return v;
	return old != NULL && !value_is_null(old) ? old : NULL;
}

/* ---- where to ---- */

static bool
set_int(struct exchange *ex, const char *header, const struct value *v, enum value_class_id class,
    int64_t *out)
{
	struct hinny_error err;
	struct value n;

	if (value_convert_number(&ex->arena, v, class, &n, &err) != HINNY_OK) {
		exchange_fail(ex, EXCEPTION_TYPE_CONVERSION, "header %s: %s", header, err.text);
		return false;
	}
	if (n.type != VALUE_INT || n.u.i < 0) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "header %s: expected a number that is not negative, got %.*s", header,
		    STR_FMT(value_text(&ex->arena, v)));
		return false;
	}
	*out = n.u.i;
	return true;
}

static bool
set_partition(struct exchange *ex, const struct kafka_conf *conf, const struct known *k,
    struct kafka_parts *out)
{
	const struct value *v = either(k->partition, k->old_partition);
	int64_t n = conf->partition_key;

	out->partition = RD_KAFKA_PARTITION_UA;
	if (n < 0 && v != NULL && !set_int(ex, "CamelKafkaPartitionKey", v, CLASS_INTEGER, &n))
		return false;
	if (n >= 0)
		out->partition = (int32_t)n;
	return true;
}

static void
set_topic(struct exchange *ex, const struct known *k, struct kafka_parts *out)
{
	const struct value *v = either(k->topic, k->old_topic);

	if (v == NULL)
		return;
	out->topic = value_text(&ex->arena, v);
	if (out->topic.p == NULL)
		out->topic.p = "";
}

static bool
set_key(struct exchange *ex, const struct kafka_conf *conf, const struct known *k,
    struct kafka_parts *out)
{
	const struct value *v = either(k->key, k->old_key);
	struct value option;

	if (conf->key != NULL) {
		option = value_str(str_of(conf->key));
		v = &option;
	}
	return v == NULL || kafka_serialize(ex, conf->key_serde, "key", v, &out->key);
}

bool
kafka_record_parts(struct exchange *ex, const struct kafka_conf *conf, struct kafka_parts *out)
{
	struct known k = { 0 };

	*out = (struct kafka_parts){ .partition = RD_KAFKA_PARTITION_UA };
	add_headers(ex, &k, out);
	const struct value *timestamp = either(k.timestamp, k.old_timestamp);
	set_topic(ex, &k, out);
	bool ok = set_partition(ex, conf, &k, out) &&
	    set_key(ex, conf, &k, out) &&
	    (timestamp == NULL ||
		set_int(ex, "CamelKafkaOverrideTimestamp", timestamp, CLASS_LONG, &out->timestamp));
	if (!ok) {
		if (out->headers != NULL)
			rd_kafka_headers_destroy(out->headers);
		out->headers = NULL;
		return false;
	}
	if (k.topic != NULL)
		(void)exchange_remove_header(ex, STR_LIT("CamelKafkaOverrideTopic"));
	if (k.old_topic != NULL)
		(void)exchange_remove_header(ex, STR_LIT("kafka.OVERRIDE_TOPIC"));
	if (k.timestamp != NULL)
		(void)exchange_remove_header(ex, STR_LIT("CamelKafkaOverrideTimestamp"));
	if (k.old_timestamp != NULL)
		(void)exchange_remove_header(ex, STR_LIT("kafka.OVERRIDE_TIMESTAMP"));
	return true;
}
