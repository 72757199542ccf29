/* core/model/value*: text forms, containers, depth, sharing. The vectors are those of Camel's
 * Simple language and its converters. */
#include "core/model/value.h"

#include "core/model/json.h"
#include "core/model/value_priv.h"
#include "tests/lib/unit.h"
#include "tests/lib/value_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static const struct text_row {
	const char *label, *value, *text, *class;
	size_t size;
	bool truth;
} texts[] = {
	{ "null", "n:", "", NULL, 0, false },
	{ "true", "b:true", "true", "java.lang.Boolean", 1, true },
	{ "false", "b:false", "false", "java.lang.Boolean", 1, false },
	{ "zero is true", "i:0", "0", "java.lang.Integer", 1, true },
	{ "negative", "i:-5", "-5", "java.lang.Integer", 1, true },
	{ "long by flag", "l:5", "5", "java.lang.Long", 1, true },
	{ "long by size", "i:2147483648", "2147483648", "java.lang.Long", 1, true },
	{ "smallest", "i:-9223372036854775808", "-9223372036854775808", "java.lang.Long", 1, true },
	{ "date", "t:1714557600000", "Wed May 01 10:00:00 UTC 2024", "java.util.Date", 1, true },
	{ "date before 1970", "t:-1", "Wed Dec 31 23:59:59 UTC 1969", "java.util.Date", 1, true },
	{ "date 0", "t:0", "Thu Jan 01 00:00:00 UTC 1970", "java.util.Date", 1, true },
	{ "date beyond the years", "t:9223372036854775807", "Sun Aug 17 07:12:55 UTC 292278994",
	    "java.util.Date", 1, true },
	{ "double", "d:3.5", "3.5", "java.lang.Double", 1, true },
	{ "float", "f:0.1", "0.1", "java.lang.Float", 1, true },
	{ "big integer", "N:12345678901234567890", "12345678901234567890", "java.math.BigInteger",
	    1, true },
	{ "big decimal", "N:1.50", "1.50", "java.math.BigDecimal", 1, true },
	{ "text", "s:Hello", "Hello", "java.lang.String", 1, true },
	{ "empty text", "s:", "", "java.lang.String", 1, false },
	{ "blank text", "s:  ", "  ", "java.lang.String", 1, false },
	{ "text true", "s:TRUE", "TRUE", "java.lang.String", 1, true },
	{ "text false", "s:False", "False", "java.lang.String", 1, false },
	{ "text no", "s:no", "no", "java.lang.String", 1, true },
	{ "text 0", "s:0", "0", "java.lang.String", 1, true },
	{ "stream", "c:false", "false",
	    "org.apache.camel.converter.stream.ByteArrayInputStreamCache", 1, true },
	{ "bytes", "y:abc", "abc", "byte[]", 1, true },
	{ "list", "L:a|b|c", "[a, b, c]", "java.util.ArrayList", 3, true },
	{ "empty list", "L:", "[]", "java.util.ArrayList", 0, false },
	{ "array", "A:Hello|World", "[Hello, World]", "java.lang.Object[]", 2, true },
	{ "map", "M:k=v", "{k=v}", "java.util.LinkedHashMap", 1, true },
	{ "empty map", "M:", "{}", "java.util.LinkedHashMap", 0, true },
	{ "json object", "j:{\"a\":1,\"b\":{\"c\":[1,2]}}", "{a=1, b={c=[1, 2]}}",
	    "java.util.LinkedHashMap", 2, true },
	{ "json nulls", "j:[null,{\"a\":null}]", "[null, {a=null}]", "java.util.ArrayList", 2,
	    true },
	{ "json empty array", "j:[]", "[]", "java.util.ArrayList", 0, false },
	{ "json empty object", "j:{}", "{}", "java.util.LinkedHashMap", 0, true },
	{ "json duplicate keys", "j:{\"a\":1,\"b\":2,\"a\":3}", "{a=3, b=2}",
	    "java.util.LinkedHashMap", 3, true },
	{ "json escapes", "j:{\"\\u00e9\":\"\\ud83d\\ude00\\n\"}", "{é=😀\n}",
	    "java.util.LinkedHashMap", 1, true },
	{ "json numbers", "j:[1e10,0.00001,100.0,1.10,12345678.9]",
	    "[1.0E10, 1.0E-5, 100.0, 1.1, 1.23456789E7]", "java.util.ArrayList", 5, true },
	{ "json big", "j:[12345678901234567890]", "[12345678901234567890]", "java.util.ArrayList",
	    1, true },
	{ "json text", "j:\"x\"", "x", "java.lang.String", 1, true },
	{ "json null", "j:null", "", NULL, 0, false },
	{ "json false", "j:false", "false", "java.lang.Boolean", 1, false },
	{ "json text false", "j:\"false\"", "false", "java.lang.String", 1, false },
	{ "json long", "j:2147483648", "2147483648", "java.lang.Long", 1, true },
	{ "json int", "j:2147483647", "2147483647", "java.lang.Integer", 1, true },
	{ "json big integer", "j:9223372036854775808", "9223372036854775808",
	    "java.math.BigInteger", 1, true },
	{ "node-set", "x2:<i>1</i><i>2</i>", "<i>1</i><i>2</i>", "org.w3c.dom.NodeList", 2, true },
	{ "empty node-set", "x0:", "", "org.w3c.dom.NodeList", 0, false },
	{ "document", "x:<a/>", "<a/>", "org.w3c.dom.Document", 1, true },
};

static void
check_text(void **state)
{
	const struct text_row *r = *state;
	struct arena a;
	struct buf b;

	arena_init(&a);
	buf_init(&b, 0);
	struct value v = value_case(&a, r->value);
	struct str text = value_text(&a, &v);
	assert_string_equal(arena_strndup(&a, text.p, text.n), r->text);
	assert_int_equal(value_print(&b, &v), HINNY_OK);
	assert_string_equal(buf_cstr(&b), r->text);
	if (r->class == NULL)
		assert_null(value_class(&v));
	else
		assert_string_equal(value_class(&v), r->class);
	assert_int_equal(value_size(&v), r->size);
	assert_int_equal(value_truth(&v), r->truth);
	buf_fini(&b);
	arena_fini(&a);
}

static const struct double_row {
	const char *label;
	double d;
	bool single;
} doubles[] = {
	{ "0.0", 0.0, false },
	{ "-0.0", -0.0, false },
	{ "1.0", 1, false },
	{ "-1.0", -1, false },
	{ "100.0", 100, false },
	{ "0.1", 0.1, false },
	{ "0.001", 0.001, false },
	{ "9.99E-4", 0.000999, false },
	{ "1.0E-5", 0.00001, false },
	{ "1.1", 1.10, false },
	{ "9999999.0", 9999999, false },
	{ "1.0E7", 1e7, false },
	{ "1.0E10", 1e10, false },
	{ "1.23456789E7", 12345678.9, false },
	{ "1234567.8", 1234567.8, false },
	{ "123456.789", 123456.789, false },
	{ "0.3", 0.3, false },
	{ "0.30000000000000004", 0.1 + 0.2, false },
	{ "3.141592653589793", M_PI, false },
	{ "1.7976931348623157E308", 1.7976931348623157e308, false },
	{ "2.2250738585072014E-308", 0x1p-1022, false },
	{ "2.225073858507201E-308", 0x0.fffffffffffffp-1022, false },
	{ "4.9E-324", 4.9e-324, false },
	{ "9.9E-324", 9.9e-324, false },
	{ "1.0E23", 1e23, false },
	{ "2.0E-3", 0, false },                      /* see check_double: 0.002 prints plainly */
	{ "5.684341886080802E-14", 0x1p-44, false }, /* powers of two */
	{ "5.986310706507379E51", 0x1p172, false },
	{ "9.007199254740993E15", 9007199254740993.0, false },
	{ "NaN", NAN, false },
	{ "Infinity", INFINITY, false },
	{ "-Infinity", -INFINITY, false },
	{ "0.1", 0.1f, true },
	{ "3.4028235E38", 3.4028234663852886e38, true },
	{ "1.4E-45", 0x1p-149, true },
	{ "1.6777216E7", 16777216, true },
	{ "0.33333334", 1.0f / 3, true },
};

static void
check_double(void **state)
{
	const struct double_row *r = *state;
	char text[VALUE_DOUBLE_TEXT];

	if (strcmp(r->label, "2.0E-3") == 0) {
		text[value_double_text(0.002, false, text)] = '\0';
		assert_string_equal(text, "0.002");
		return;
	}
	text[value_double_text(r->d, r->single, text)] = '\0';
	if (r->d == 9007199254740993.0 && !r->single) /* not a double: it is ...992 */
		assert_string_equal(text, "9.007199254740992E15");
	else
		assert_string_equal(text, r->label);
}

/* What is printed reads back as the same number, and no shorter text does. */
static void
test_doubles_read_back(void **state)
{
	uint64_t x = 88172645463325252u;
	char text[VALUE_DOUBLE_TEXT];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		double d;
		memcpy(&d, &x, sizeof d);
		if (i % 2 == 0)
			d = (double)(int64_t)(x % 2000000000) / 1000.0;
		if (!isfinite(d))
			continue;
		size_t n = value_double_text(d, false, text);
		assert_true(n < sizeof text);
		text[n] = '\0';
		assert_true(strtod(text, NULL) == d);
	}
}

/* ---- containers ---- */

static void
test_list(void **state)
{
	struct arena a;
	struct value out;

	(void)state;
	arena_init(&a);
	struct value v = value_new_list(&a, 0);
	for (int i = 0; i < 1000; i++)
		value_list_add(&a, v.u.list, value_int(i));
	assert_int_equal(value_size(&v), 1000);
	assert_true(value_item(&a, &v, 999, &out) && out.u.i == 999);
	assert_false(value_item(&a, &v, 1000, &out));
	struct value json = value_case(&a, "j:[1,[2,3],\"x\"]");
	assert_true(value_item(&a, &json, 2, &out) && str_eq(out.u.s, STR_LIT("x")));
	assert_true(value_item(&a, &json, 1, &out) && out.type == VALUE_JSON);
	assert_false(value_item(&a, &json, 3, &out));
	struct value text = value_str(STR_LIT("a"));
	assert_false(value_item(&a, &text, 0, &out));
	arena_fini(&a);
}

/* What Kafka's client tells of a record prints as Java's RecordMetadata. */
static void
test_record(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	struct value v = value_new_map(&a, 4, false), list = value_new_list(&a, 1);
	value_map_set(&a, v.u.map, STR_LIT("topic"), value_str(STR_LIT("t")));
	value_map_set(&a, v.u.map, STR_LIT("partition"), value_int(3));
	value_map_set(&a, v.u.map, STR_LIT("offset"), value_int(17));
	v.flags = VALUE_RECORD;
	value_list_add(&a, list.u.list, v);
	assert_true(str_eq(value_text(&a, &list), STR_LIT("[t-3@17]")));
	assert_string_equal(value_class(&v), "org.apache.kafka.clients.producer.RecordMetadata");
	arena_fini(&a);
}

static void
test_map(void **state)
{
	struct arena a;
	struct value out;

	(void)state;
	arena_init(&a);
	struct value v = value_new_map(&a, 0, false);
	for (int i = 0; i < 5000; i++)
		value_map_set(&a, v.u.map, str_of(arena_printf(&a, "key%d", i)), value_int(i));
	for (int i = 0; i < 5000; i += 2)
		assert_true(value_map_remove(v.u.map, str_of(arena_printf(&a, "key%d", i))));
	assert_false(value_map_remove(v.u.map, STR_LIT("key0")));
	value_map_set(&a, v.u.map, STR_LIT("key1"), value_str(STR_LIT("one")));
	assert_int_equal(value_size(&v), 2500);
	for (int i = 0; i < 5000; i++) {
		struct value *found = value_map_find(v.u.map, str_of(arena_printf(&a, "key%d", i)));
		assert_int_equal(found != NULL, i % 2);
	}
	assert_true(value_member(&a, &v, STR_LIT("key1"), &out) && str_eq(out.u.s, STR_LIT("one")));
	assert_true(str_eq(v.u.map->entries[0].key, STR_LIT("key1")));
	assert_true(str_eq(v.u.map->entries[2499].key, STR_LIT("key4999")));
	value_map_clear(v.u.map);
	assert_null(value_map_find(v.u.map, STR_LIT("key1")));
	value_map_set(&a, v.u.map, STR_LIT("key1"), value_null());
	assert_int_equal(v.u.map->n, 1);
	arena_fini(&a);
}

static void
test_map_without_case(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	struct value v = value_new_map(&a, 2, true);
	for (int i = 0; i < 100; i++)
		value_map_set(&a, v.u.map,
		    str_of(arena_printf(&a, "%s%d", i % 2 ? "KEY" : "key", i / 2)), value_int(i));
	assert_int_equal(v.u.map->n, 50);
	assert_int_equal(value_map_find(v.u.map, STR_LIT("Key49"))->u.i, 99);
	assert_true(str_eq(v.u.map->entries[49].key, STR_LIT("key49")));
	arena_fini(&a);
}

static void
test_member_of_json(void **state)
{
	struct arena a;
	struct value out;

	(void)state;
	arena_init(&a);
	struct value v = value_case(&a, "j:{\"a\":1,\"\\u0062\":{\"c\":2},\"a\":3}");
	assert_true(value_member(&a, &v, STR_LIT("a"), &out) && out.u.i == 3);
	assert_true(value_member(&a, &v, STR_LIT("b"), &out) && out.type == VALUE_JSON);
	assert_false(value_member(&a, &v, STR_LIT("zz"), &out));
	struct value list = value_case(&a, "L:a");
	assert_false(value_member(&a, &list, STR_LIT("a"), &out));
	arena_fini(&a);
}

static void
test_plain(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	struct value v = value_case(&a, "j:{\"a\":[1,{\"b\":null}],\"c\":\"\\n\",\"a\":true}");
	struct value plain = value_plain(&a, &v);
	assert_int_equal(plain.type, VALUE_MAP);
	struct str text = value_text(&a, &plain);
	assert_true(str_eq(text, STR_LIT("{a=true, c=\n}")));
	arena_fini(&a);
}

/* ---- depth and bounds ---- */

static void
test_deep(void **state)
{
	struct arena a;
	struct buf b;

	(void)state;
	arena_init(&a);
	struct value v = value_int(1), w = value_int(1);
	for (int i = 0; i < VALUE_DEPTH_MAX + 10; i++) {
		struct value outer = value_new_list(&a, 1), other = value_new_list(&a, 1);
		value_list_add(&a, outer.u.list, v);
		value_list_add(&a, other.u.list, w);
		v = outer;
		w = other;
	}
	buf_init(&b, 0);
	assert_int_equal(value_print(&b, &v), HINNY_OK);
	assert_int_equal(b.n, 2 * VALUE_DEPTH_MAX + 3);
	assert_false(value_equal(&a, &v, &w, false));
	buf_fini(&b);
	arena_fini(&a);
}

static void
test_print_bound(void **state)
{
	struct arena a;
	struct buf b;

	(void)state;
	arena_init(&a);
	buf_init(&b, 8);
	assert_int_equal(buf_add(&b, "x", 1), HINNY_OK);
	struct value v = value_case(&a, "L:aaa|bbb|ccc");
	assert_int_equal(value_print(&b, &v), HINNY_ELIMIT);
	assert_int_equal(b.n, 1);
	buf_fini(&b);
	arena_fini(&a);
}

/* ---- sharing ---- */

static const struct share_row {
	const char *label;
} shares[] = {
	{ "n:" },
	{ "b:true" },
	{ "i:5" },
	{ "t:5" },
	{ "d:1.5" },
	{ "N:12345678901234567890" },
	{ "s:abc" },
	{ "s:" },
	{ "y:abc" },
	{ "c:abc" },
	{ "L:a|b" },
	{ "M:a=b|c=d" },
	{ "j:{\"a\":[1,\"\\n\",{}],\"b\":\"x\"}" },
	{ "j:\"x\"" },
	{ "x1:<a/>" },
};

static void
check_share(void **state)
{
	const struct share_row *r = *state;
	struct arena from, to;

	arena_init(&from);
	arena_init(&to);
	struct value v = value_case(&from, r->label);
	if (v.type == VALUE_STRING) /* so that a slice that was not copied is seen */
		v.u.s = arena_str(&from, v.u.s);
	struct str before = arena_str(&to, value_text(&from, &v));
	struct value w = value_share(&to, &v);
	arena_fini(&from);
	assert_int_equal(w.type, v.type);
	assert_int_equal(w.flags, v.flags);
	assert_true(str_eq(value_text(&to, &w), before));
	arena_fini(&to);
}

static void
test_share_large_map(void **state)
{
	struct arena from, to;

	(void)state;
	arena_init(&from);
	arena_init(&to);
	struct value v = value_new_map(&from, 0, false);
	for (int i = 0; i < 100; i++)
		value_map_set(&from, v.u.map, str_of(arena_printf(&from, "k%d", i)), value_int(i));
	struct value w = value_share(&to, &v);
	arena_fini(&from);
	assert_int_equal(value_map_find(w.u.map, STR_LIT("k77"))->u.i, 77);
	assert_null(value_map_find(w.u.map, STR_LIT("k100")));
	arena_fini(&to);
}

static void
test_share_blob(void **state)
{
	struct arena from, to;

	(void)state;
	arena_init(&from);
	arena_init(&to);
	struct blob *blob = arena_hold(&from, blob_copy("{\"a\":\"bc\"}", 10));
	blob_put(blob);
	struct value text = value_str((struct str){ blob->data, blob->size });
	text.blob = blob;
	struct value list = value_new_list(&from, 2);
	value_list_add(&from, list.u.list, text);
	value_list_add(&from, list.u.list, text);
	const struct json_node *root;
	assert_int_equal(json_parse(&from, text.u.s, &root, NULL), HINNY_OK);
	struct value json = { .type = VALUE_JSON, .u.json = root, .blob = blob };
	struct value l2 = value_share(&to, &list), j2 = value_share(&to, &json), member;
	arena_fini(&from);
	assert_int_equal(blob->refs, 2);
	assert_ptr_equal(l2.u.list->items[1].u.s.p, blob->data);
	assert_true(
	    value_member(&to, &j2, STR_LIT("a"), &member) && str_eq(member.u.s, STR_LIT("bc")));
	assert_ptr_equal(member.blob, blob);
	arena_fini(&to);
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	UNIT_TABLE("text", texts, check_text);
	UNIT_TABLE("double", doubles, check_double);
	UNIT_CASE(test_doubles_read_back);
	UNIT_CASE(test_list);
	UNIT_CASE(test_record);
	UNIT_CASE(test_map);
	UNIT_CASE(test_map_without_case);
	UNIT_CASE(test_member_of_json);
	UNIT_CASE(test_plain);
	UNIT_CASE(test_deep);
	UNIT_CASE(test_print_bound);
	UNIT_TABLE("share", shares, check_share);
	UNIT_CASE(test_share_large_map);
	UNIT_CASE(test_share_blob);
	return unit_run("value");
}
