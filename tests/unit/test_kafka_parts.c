/* transports/kafka: names of Java and topics, patterns, deserializers. */
#include "transports/kafka/kafka_consumer.h"
#include "transports/kafka/kafka_java.h"
#include "transports/kafka/kafka_names.h"

#include "tests/lib/unit.h"

#include <string.h>

static const struct pattern_row {
	const char *label, *java, *posix, *why;
} pattern_rows[] = {
	{ "plain", "orders.*", "^(orders.*)$", NULL },
	{ "alternatives", "a|b", "^(a|b)$", NULL },
	{ "classes", "t\\d+-\\w", "^(t[0-9]+-[A-Za-z0-9_])$", NULL },
	{ "escaped", "a\\.b\\-c", "^(a\\.b\\-c)$", NULL },
	{ "group", "(?:x|y)z", "^((x|y)z)$", NULL },
	{ "brackets", "[a-z_]{2,3}", "^([a-z_]{2,3})$", NULL },
	{ "look-ahead", "a(?!b)", NULL, "(?" },
	{ "lazy", "a*?b", NULL, "lazy" },
	{ "possessive", "a++b", NULL, "possessive" },
	{ "escape in brackets", "[\\d]", NULL, "brackets" },
	{ "unknown escape", "\\bx", NULL, "backslash" },
	{ "open bracket", "[a", NULL, "not closed" },
	{ "ends in a backslash", "a\\", NULL, "backslash" },
};

static void
check_pattern(void **state)
{
	const struct pattern_row *row = *state;
	struct arena a;
	const char *why = NULL;
	arena_init(&a);
	const char *got = kafka_topic_pattern(&a, row->java, &why);
	if (row->posix != NULL) {
		assert_non_null(got);
		assert_string_equal(got, row->posix);
	} else {
		assert_null(got);
		assert_non_null(strstr(why, row->why));
	}
	arena_fini(&a);
}

static void
test_assignor(void **state)
{
	(void)state;
	assert_string_equal(
	    kafka_assignor("org.apache.kafka.clients.consumer.RangeAssignor"), "range");
	assert_string_equal(kafka_assignor("CooperativeStickyAssignor"), "cooperative-sticky");
	assert_null(kafka_assignor("org.apache.kafka.clients.consumer.StickyAssignor"));
	assert_null(kafka_assignor("com.example.RangeAssignor"));
}

static const struct value_row {
	const char *label;
	enum kafka_serde serde;
	const char *bytes;
	size_t n;
	const char *text; /* NULL: refused */
} value_rows[] = {
	{ "string", KAFKA_SERDE_STRING, "abc", 3, "abc" },
	{ "empty string", KAFKA_SERDE_STRING, "", 0, "" },
	{ "bytes", KAFKA_SERDE_BYTES, "\xff\x00z", 3, "\xff\x00z" },
	{ "short", KAFKA_SERDE_SHORT, "\xff\xfe", 2, "-2" },
	{ "integer", KAFKA_SERDE_INTEGER, "\x00\x00\x01\x00", 4, "256" },
	{ "negative integer", KAFKA_SERDE_INTEGER, "\xff\xff\xff\xff", 4, "-1" },
	{ "integer of 3 bytes", KAFKA_SERDE_INTEGER, "\x00\x01\x00", 3, NULL },
	{ "long", KAFKA_SERDE_LONG, "\x80\0\0\0\0\0\0\0", 8, "-9223372036854775808" },
	{ "long of none", KAFKA_SERDE_LONG, "", 0, NULL },
	{ "float", KAFKA_SERDE_FLOAT, "\x3f\x00\x00\x00", 4, "0.5" },
	{ "double", KAFKA_SERDE_DOUBLE, "\x3f\xe0\0\0\0\0\0\0", 8, "0.5" },
	{ "boolean", KAFKA_SERDE_BOOLEAN, "\x01", 1, "true" },
	{ "boolean of 2", KAFKA_SERDE_BOOLEAN, "\x02", 1, NULL },
	{ "uuid", KAFKA_SERDE_UUID, "123e4567-e89b-12d3-a456-426614174000", 36,
	    "123e4567-e89b-12d3-a456-426614174000" },
	{ "short uuid", KAFKA_SERDE_UUID, "123e4567", 8, NULL },
	{ "void", KAFKA_SERDE_VOID, "x", 1, NULL },
};

static void
check_value(void **state)
{
	const struct value_row *row = *state;
	struct arena a;
	struct value v;
	const char *why = NULL;
	arena_init(&a);
	bool ok = kafka_message_value(row->serde, row->bytes, row->n, &v, &why);
	assert_int_equal(ok, row->text != NULL);
	if (ok) {
		struct str s = value_text(&a, &v);
		assert_int_equal(s.n, row->serde <= KAFKA_SERDE_BYTES ? row->n : strlen(row->text));
		assert_memory_equal(s.p, row->text, s.n);
	} else {
		assert_non_null(why);
	}
	assert_true(kafka_message_value(row->serde, NULL, 0, &v, &why)); /* null is null */
	assert_true(value_is_null(&v));
	arena_fini(&a);
}

static void
test_topic_names(void **state)
{
	char longest[251];

	(void)state;
	memset(longest, 'x', sizeof longest);
	assert_true(kafka_is_topic_name(STR_LIT("Orders_2.new-1")));
	assert_true(kafka_is_topic_name(STR_LIT("...")));
	assert_true(kafka_is_topic_name((struct str){ longest, 249 }));
	assert_false(kafka_is_topic_name((struct str){ longest, 250 }));
	assert_false(kafka_is_topic_name(STR_LIT("")));
	assert_false(kafka_is_topic_name(STR_LIT(".")));
	assert_false(kafka_is_topic_name(STR_LIT("..")));
	assert_false(kafka_is_topic_name(STR_LIT("a b")));
	assert_false(kafka_is_topic_name(STR_LIT("a/b")));
	assert_false(kafka_is_topic_name(STR_LIT("a\0b")));
	assert_false(kafka_is_topic_name(STR_LIT("gr\xc3\xbcn")));
}

static void
test_names_stay(void **state)
{
	(void)state;
	assert_int_equal(kafka_broker_life(), kafka_broker_life());
}

int
main(void)
{
	UNIT_TABLE("pattern", pattern_rows, check_pattern);
	UNIT_CASE(test_assignor);
	UNIT_TABLE("value", value_rows, check_value);
	UNIT_CASE(test_topic_names);
	UNIT_CASE(test_names_stay);
	return unit_run("kafka parts");
}
