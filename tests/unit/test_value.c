/* core/model/value*: text forms, truth, equality, ordering, conversion, containers, sharing. The
 * vectors are those of Camel's Simple language and its converters. */
#include "core/model/value.h"

#include "core/base/assert.h"
#include "core/model/json.h"
#include "core/model/value_priv.h"

#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Values as text: a kind, a colon, the rest.
 *   n: null   b: Boolean   i: Integer   l: Long   t: Date (ms)   d: Double   f: Float   N: decimal
 * s: String   c: cached stream   y: bytes j: JSON (scalars too)   x: XML   xN: node-set of N nodes
 * L: list of strings, split at "|"   A: array likewise   M: map "k=v|k=v"
 */
static struct value
parts_value(struct arena *a, const char *rest, bool map)
{
	struct value v = map ? value_new_map(a, 0, false) : value_new_list(a, 0);
	struct str text = str_of(rest), item;

	while (text.n > 0 && str_split(&text, '|', &item)) {
		if (!map) {
			value_list_add(a, v.u.list, value_str(item));
			continue;
		}
		struct str key;
		assert_true(str_split(&item, '=', &key));
		value_map_set(a, v.u.map, key, value_str(item));
	}
	return v;
}

static struct value
make_int(const char *rest, unsigned flags)
{
	struct value v = value_int(strtoll(rest, NULL, 10));
	v.flags = (uint8_t)flags;
	return v;
}

static struct value
make_xml(const char *spec, const char *rest)
{
	struct value v = { .type = VALUE_XML, .u.s = str_of(rest) };

	if (spec[1] != ':') {
		v.flags = VALUE_NODESET;
		v.aux = (uint32_t)(spec[1] - '0');
	}
	return v;
}

static struct value
make_json(struct arena *a, const char *rest)
{
	const struct json_node *root;
	struct hinny_error err;

	if (json_parse(a, str_of(rest), &root, &err) != HINNY_OK)
		fail_msg("%s", err.text);
	return (struct value){ .type = VALUE_JSON, .u.json = root };
}

static struct value
make(struct arena *a, const char *spec)
{
	const char *rest = strchr(spec, ':') + 1;
	struct value v;

	switch (spec[0]) {
	case 'b':
		return value_bool(strcmp(rest, "true") == 0);
	case 'i':
		return make_int(rest, 0);
	case 'l':
		return make_int(rest, VALUE_LONG);
	case 't':
		return make_int(rest, VALUE_DATE);
	case 'd':
		return value_double(strtod(rest, NULL));
	case 'f':
		v = value_double((double)strtof(rest, NULL));
		v.flags = VALUE_FLOAT;
		return v;
	case 'N':
		return (struct value){ .type = VALUE_DECIMAL, .u.s = str_of(rest) };
	case 's':
		return value_str(str_of(rest));
	case 'c':
		v = value_str(str_of(rest));
		v.flags = VALUE_INPUT;
		return v;
	case 'y':
		return value_bytes(str_of(rest));
	case 'j':
		return make_json(a, rest);
	case 'x':
		return make_xml(spec, rest);
	case 'L':
		return parts_value(a, rest, false);
	case 'A':
		v = parts_value(a, rest, false);
		v.flags = VALUE_ARRAY;
		return v;
	case 'M':
		return parts_value(a, rest, true);
	default:
		return value_null();
	}
}

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
	{ "stream", "c:false", "false", "org.apache.camel.converter.stream.ByteArrayInputStreamCache", 1,
	    true },
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
	struct value v = make(&a, r->value);
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

/* ---- equality and ordering ---- */

enum { NO = 0, YES = 1 };

static const struct equal_row {
	const char *label, *l, *r;
	int equal, nocase;
} equals[] = {
	{ "null null", "n:", "n:", YES, YES },
	{ "null and empty text", "n:", "s:", NO, NO },
	{ "empty text and null", "s:", "n:", NO, NO },
	{ "missing and text", "n:", "s:x", NO, NO },
	{ "text 42 literal 42", "s:42", "i:42", YES, YES },
	{ "int 42 text 42", "i:42", "s:42", YES, YES },
	{ "int 42 literal 42.0", "i:42", "d:42.0", YES, YES },
	{ "int 7 text 7.0", "i:7", "s:7.0", NO, NO },
	{ "text 007 text 7", "s:007", "s:7", YES, YES },
	{ "text 3.5 text 3.50", "s:3.5", "s:3.50", NO, NO },
	{ "text -0 text 0", "s:-0", "s:0", YES, YES },
	{ "a lone minus", "s:-", "s:-", YES, YES },
	{ "a plus is no integer", "s:+7", "s:7", NO, NO },
	{ "blanks are no integer", "s: 7", "s:7", NO, NO },
	{ "text and integer literal", "s:abc", "i:5", NO, NO },
	{ "text 7.0 and integer literal", "s:7.0", "i:7", NO, NO },
	{ "text 10.5 literal 10.50", "s:10.5", "d:10.50", YES, YES },
	{ "text 10 literal 10.0", "s:10", "d:10.0", YES, YES },
	{ "double 3.5 text 3.50", "d:3.5", "s:3.50", YES, YES },
	{ "double 3.5 text x", "d:3.5", "s:x", NO, NO },
	{ "double 7.5 integer 7 is cut", "d:7.5", "i:7", YES, YES },
	{ "integer 7 double 7.5", "i:7", "d:7.5", NO, NO },
	{ "NaN", "d:nan", "d:nan", NO, NO },
	{ "NaN integer", "d:nan", "i:0", NO, NO },
	{ "Boolean true text true", "b:true", "s:true", YES, YES },
	{ "Boolean true text TRUE", "b:true", "s:TRUE", YES, YES },
	{ "text true text TRUE", "s:true", "s:TRUE", NO, YES },
	{ "text yes Boolean false", "s:yes", "b:false", YES, YES },
	{ "text true Boolean true", "s:true", "b:true", YES, YES },
	{ "Boolean integer", "b:true", "i:1", YES, YES },
	{ "integer Boolean", "i:-5", "b:false", YES, YES },
	{ "Boolean long", "b:true", "l:1", NO, NO },
	{ "stream Boolean", "c:x", "b:false", NO, NO },
	{ "abc ABC", "s:abc", "s:ABC", NO, YES },
	{ "bytes text", "y:bytes", "s:bytes", YES, YES },
	{ "text bytes", "s:bytes", "y:bytes", YES, YES },
	{ "bytes bytes", "y:a", "y:a", YES, YES },
	{ "stream text", "c:Hello", "s:Hello", YES, YES },
	{ "stream integer", "c:7", "i:7", YES, YES },
	{ "list text", "L:a|b|c", "s:[a, b, c]", YES, YES },
	{ "text list", "s:[a, b, c]", "L:a|b|c", YES, YES },
	{ "list list", "L:a|b", "L:a|b", YES, YES },
	{ "list other list", "L:a|b", "L:b|a", NO, NO },
	{ "list json", "L:a|b", "j:[\"a\",\"b\"]", YES, YES },
	{ "list does not coerce", "L:1", "j:[1]", NO, NO },
	{ "map text", "M:k=v", "s:{k=v}", YES, YES },
	{ "map map", "M:k=v|l=w", "M:l=w|k=v", YES, YES },
	{ "map json", "M:k=v", "j:{\"k\":\"v\"}", YES, YES },
	{ "map list", "M:k=v", "L:k=v", NO, NO },
	{ "json deep", "j:{\"a\":[1,{\"b\":2.5}]}", "j:{\"a\":[1,{\"b\":2.5}]}", YES, YES },
	{ "json deep other", "j:{\"a\":[1,{\"b\":2.5}]}", "j:{\"a\":[1,{\"b\":2.6}]}", NO, NO },
	{ "json text escaped", "j:\"\\u0061\"", "s:a", YES, YES },
	{ "json null", "j:null", "n:", YES, YES },
	{ "json int", "j:7", "s:7", YES, YES },
	{ "xml element text", "x2:<item>Brake</item><item>Seat</item>", "s:Brake", NO, NO },
	{ "xml attribute text", "x1:Brake", "s:Brake", YES, YES },
	{ "xml attribute integer", "x1:7", "i:7", YES, YES },
	{ "empty node-set null", "x0:", "n:", NO, NO },
	{ "empty node-set empty text", "x0:", "s:", YES, YES },
	{ "date date", "t:1000", "t:1000", YES, YES },
	{ "date text", "t:0", "s:Thu Jan 01 00:00:00 UTC 1970", YES, YES },
	{ "B04 equal digits", "s:12345678901234567890", "s:12345678901234567890", YES, YES },
	{ "B04 digits that differ", "s:12345678901234567890", "s:12345678901234567891", NO, NO },
	{ "B04 zeros in front", "s:00012345678901234567890", "s:12345678901234567890", YES, YES },
	{ "B04 text decimal", "s:12345678901234567890", "N:12345678901234567890", YES, YES },
	{ "B04 text decimal other", "s:12345678901234567890", "N:12345678901234567891", NO, NO },
	{ "B04 negative", "s:-12345678901234567890", "s:12345678901234567890", NO, NO },
	{ "decimal decimal", "N:1.50", "N:1.5", YES, YES },
	{ "decimal double", "N:1.5", "d:1.5", YES, YES },
};

static void
check_equal(void **state)
{
	const struct equal_row *r = *state;
	struct arena a;

	arena_init(&a);
	struct value l = make(&a, r->l), right = make(&a, r->r);
	assert_int_equal(value_equal(&a, &l, &right, false), r->equal);
	assert_int_equal(value_equal(&a, &l, &right, true), r->nocase);
	arena_fini(&a);
}

static const struct order_row {
	const char *label, *l, *r, *order; /* "<", "=", ">", "" not ordered */
} orders[] = {
	{ "null", "n:", "i:5", "" },
	{ "null right", "i:5", "n:", "" },
	{ "both null", "n:", "n:", "" },
	{ "NaN", "d:nan", "i:5", "" },
	{ "NaN double", "d:5.5", "d:nan", "" },
	{ "text 10 text 9", "s:10", "s:9", ">" },
	{ "text 007 text 08", "s:007", "s:08", "<" },
	{ "text 3.5 integer 3", "s:3.5", "i:3", ">" },
	{ "double 3.5 integer 3 is cut", "d:3.5", "i:3", "=" },
	{ "double 3.5 double 3.0", "d:3.5", "d:3.0", ">" },
	{ "double 3.5 text 3 is cut", "d:3.5", "s:3", "=" },
	{ "double 3.5 text 3.4", "d:3.5", "s:3.4", ">" },
	{ "integer 42 double 41.5", "i:42", "d:41.5", ">" },
	{ "integer 41 double 41.5 is cut", "i:41", "d:41.5", "=" },
	{ "text abc integer 5", "s:abc", "i:5", ">" },
	{ "integer 5 text abc", "i:5", "s:abc", "<" },
	{ "text 10 integer 9", "s:10", "i:9", ">" },
	{ "integer 10 text 9", "i:10", "s:9", ">" },
	{ "texts with fractions", "s:3.50", "s:3.5", "=" },
	{ "text with fraction and integer", "s:10", "s:9.5", ">" },
	{ "text 3.5 double 3.4", "s:3.5", "d:3.4", ">" },
	{ "text order", "s:abc", "s:abd", "<" },
	{ "prefix", "s:ab", "s:abc", "<" },
	{ "capital letters first", "s:Z", "s:a", "<" },
	{ "beyond U+FFFF sorts before U+E000", "s:\xF0\x9F\x98\x80", "s:\xEE\x80\x80", "<" },
	{ "Boolean text", "b:true", "s:false", ">" },
	{ "text Boolean", "s:true", "b:true", "=" },
	{ "Boolean Boolean", "b:false", "b:true", "<" },
	{ "dates", "t:1000", "t:2000", "<" },
	{ "date long", "t:1000", "l:999", ">" },
	{ "xml attribute", "x1:7", "i:5", ">" },
	{ "stream", "c:10", "i:9", ">" },
	{ "list text", "L:b", "s:[a]", ">" },
	{ "json int", "j:10", "s:9", ">" },
	{ "B04 large text decimal", "s:12345678901234567890", "N:12345678901234567889", ">" },
	{ "B04 large text text", "s:12345678901234567890", "s:12345678901234567891", "<" },
	{ "B04 small text large text", "s:7", "s:99999999999", "<" },
	{ "B04 beyond 64 bits against small", "s:99999999999999999999", "i:9", ">" },
	{ "B04 far beyond", "s:-99999999999999999999999999999999999999999", "i:-9", "<" },
	{ "B04 small against large", "i:9", "s:99999999999999999999", "<" },
	{ "B04 zeros", "s:0000000000000000000000000000001", "s:1", "=" },
	{ "large decimal fraction", "N:1e400", "i:5", ">" },
	{ "decimal and double", "N:12345678901234567890.5", "d:1.5", ">" },
	{ "decimal and text", "N:-99999999999999999999", "s:-5", "<" },
	{ "decimal beyond double", "N:-1e400", "d:5.5", "<" },
	{ "long digits and double", "s:99999999999999999999", "d:5.5", ">" },
	{ "Boolean and list", "b:true", "L:a", ">" },
};

static void
check_order(void **state)
{
	const struct order_row *r = *state;
	struct arena a;
	int order = 99;

	arena_init(&a);
	struct value l = make(&a, r->l), right = make(&a, r->r);
	bool ordered = value_compare(&a, &l, &right, &order);
	if (r->order[0] == '\0')
		assert_false(ordered);
	else
		assert_true(ordered &&
		    (r->order[0] == '<'          ? order < 0
			    : r->order[0] == '>' ? order > 0
						 : order == 0));
	arena_fini(&a);
}

static const struct decimal_row {
	const char *label, *l, *r;
	int order;
} decimals[] = {
	{ "equal", "1.50", "1.5", 0 },
	{ "zeros", "000.000", "-0", 0 },
	{ "zero with exponent", "0e99", "0.0", 0 },
	{ "a point at the end", "5.", "5", 0 },
	{ "a point at the start", ".5", "0.5", 0 },
	{ "small fractions", "0.05", "0.5", -1 },
	{ "smaller fractions", "0.0500001", "0.05", 1 },
	{ "zeros in front", "0012.5", "12.50", 0 },
	{ "exponent", "1.5e3", "1500", 0 },
	{ "exponent with plus", "1.5E+3", "1499.9", 1 },
	{ "negative exponent", "15e-1", "1.5", 0 },
	{ "absurd exponents", "1e99999999999999999999999", "1e99999999999999999999998", 0 },
	{ "absurd and small", "1e99999999999999999999999", "1", 1 },
	{ "absurdly small", "1e-99999999999999999999999", "0", 1 },
	{ "signs", "-1", "1", -1 },
	{ "both negative", "-2", "-1", -1 },
	{ "negative fractions", "-0.25", "-0.5", 1 },
	{ "plus sign", "+7", "7", 0 },
	{ "one digit more", "12345678901234567890", "1234567890123456789", 1 },
	{ "last digit", "12345678901234567890.1", "12345678901234567890.2", -1 },
	{ "zero and negative", "0", "-0.001", 1 },
};

static void
check_decimal(void **state)
{
	const struct decimal_row *r = *state;
	int order = value_compare_decimals(str_of(r->l), str_of(r->r));
	int back = value_compare_decimals(str_of(r->r), str_of(r->l));

	assert_int_equal((order > 0) - (order < 0), r->order);
	assert_int_equal((back > 0) - (back < 0), -r->order);
}

static const struct markup_row {
	const char *label, *markup, *text;
} markups[] = {
	{ "empty", "", "" },
	{ "text", "abc", "abc" },
	{ "element", "<a>abc</a>", "abc" },
	{ "several", "<i>1</i><i>2</i>", "12" },
	{ "nested", "<a>x<b c='1'>y</b>z</a>", "xyz" },
	{ "bracket in an attribute", "<a b='>' c=\"<>\">x</a>", "x" },
	{ "named references", "&lt;&gt;&amp;&quot;&apos;", "<>&\"'" },
	{ "numbers", "&#65;&#xe9;&#x20AC;&#x1F600;", "Aé€😀" },
	{ "no reference", "a & b &nope; &#; &#x; &#xD800; &#x110000;",
	    "a & b &nope; &#; &#x; &#xD800; &#x110000;" },
	{ "comment", "a<!-- <b> -->c", "ac" },
	{ "instruction", "<?xml version='1.0'?><a/>x", "x" },
	{ "CDATA", "<a><![CDATA[<&]]]]>x</a>", "<&]]x" },
	{ "CDATA at the end", "<![CDATA[x]]>", "x" },
	{ "open CDATA", "<![CDATA[x", "x" },
	{ "open comment", "x<!-- y", "x" },
	{ "open tag", "x<a b='", "x" },
};

static void
check_markup(void **state)
{
	const struct markup_row *r = *state;
	struct arena a;

	arena_init(&a);
	struct str text = value_xml_text(&a, str_of(r->markup));
	assert_string_equal(arena_strndup(&a, text.p, text.n), r->text);
	arena_fini(&a);
}

/* ---- conversion ---- */

#define NOCONV "No type converter available"
#define CONVERR "Error during type conversion"

static const struct convert_row {
	const char *label, *value, *class, *text; /* "!…": an error with this text */
} converts[] = {
	{ "null", "n:", "Integer", "" },
	{ "int of text with blanks", "s: 12 ", "int", "!" CONVERR },
	{ "int of x", "s:x", "int", "!" CONVERR },
	{ "int of empty", "s:", "int", "!" CONVERR },
	{ "int of 12.5 text", "s:12.5", "int", "!" CONVERR },
	{ "int of true", "b:true", "int", "!" NOCONV },
	{ "int of list", "L:5", "int", "!" NOCONV },
	{ "int of map", "M:a=5", "int", "!" NOCONV },
	{ "int of double", "d:3.7", "int", "3 java.lang.Integer" },
	{ "int of negative double", "d:-3.7", "int", "-3 java.lang.Integer" },
	{ "int of huge double", "d:1e300", "int", "!" CONVERR },
	{ "int of NaN", "d:nan", "int", "!" CONVERR },
	{ "int of long", "l:5", "Integer", "5 java.lang.Integer" },
	{ "int of large long", "l:5000000000", "Integer", "!" CONVERR },
	{ "int of large text", "s:5000000000", "Integer", "!NumberFormat" },
	{ "int of bytes", "y:7", "Integer", "7 java.lang.Integer" },
	{ "int of stream", "c:7", "java.lang.Integer", "!" NOCONV },
	{ "int of xml text", "x1:7", "Integer", "7 java.lang.Integer" },
	{ "int of xml element", "x1:<n a='>'>&#x37;<!-- c --></n>", "Integer",
	    "7 java.lang.Integer" },
	{ "int of json", "j:7", "Integer", "7 java.lang.Integer" },
	{ "int of json object", "j:{}", "Integer", "!" NOCONV },
	{ "int of date", "t:5", "Integer", "!" NOCONV },
	{ "long of int", "i:5", "long", "5 java.lang.Long" },
	{ "long of date", "t:5", "long", "5 java.lang.Long" },
	{ "long of decimal", "N:12345678901234567890", "long", "!" CONVERR },
	{ "long of decimal fraction", "N:5.9", "long", "5 java.lang.Long" },
	{ "short of large", "i:40000", "short", "!" CONVERR },
	{ "byte", "i:-128", "byte", "-128 java.lang.Integer" },
	{ "double of text", "s: 3.50 ", "Double", "3.5 java.lang.Double" },
	{ "double of exponent", "s:1e3", "Double", "1000.0 java.lang.Double" },
	{ "double of int", "i:7", "Double", "7.0 java.lang.Double" },
	{ "double of NaN", "s:NaN", "Double", "NaN java.lang.Double" },
	{ "double of x", "s:x", "Double", "!" CONVERR },
	{ "double of list", "L:1", "Double", "!" NOCONV },
	{ "float", "d:0.1", "float", "0.1 java.lang.Float" },
	{ "Boolean of TRUE", "s:TRUE", "boolean", "true java.lang.Boolean" },
	{ "Boolean of false", "s:false", "boolean", "false java.lang.Boolean" },
	{ "Boolean of yes", "s:yes", "boolean", "!" CONVERR },
	{ "Boolean of int", "i:1", "boolean", "true java.lang.Boolean" },
	{ "Boolean of zero", "i:0", "boolean", "false java.lang.Boolean" },
	{ "Boolean of long", "l:1", "boolean", "!" NOCONV },
	{ "Boolean of stream", "c:true", "boolean", "!" CONVERR },
	{ "Boolean of xml", "x1:<a>true</a>", "boolean", "true java.lang.Boolean" },
	{ "String of map", "M:a=1", "String", "{a=1} java.lang.String" },
	{ "String of json", "j:{\"a\":[1]}", "String", "{a=[1]} java.lang.String" },
	{ "String of double", "d:1e10", "java.lang.String", "1.0E10 java.lang.String" },
	{ "String of bytes", "y:abc", "String", "abc java.lang.String" },
	{ "String of bytes that are no UTF-8", "y:a\xFFz\xE2\x82", "String",
	    "a\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD java.lang.String" },
	{ "String of stream", "c:abc", "String", "abc java.lang.String" },
	{ "String of elements", "x2:<i>1</i><i>2</i>", "String",
	    "<i>1</i><i>2</i> java.lang.String" },
	{ "bytes of text", "s:abc", "byte[]", "abc byte[]" },
	{ "bytes of number", "i:5", "byte[]", "!" NOCONV },
	{ "bytes of list", "L:a", "byte[]", "!" NOCONV },
	{ "bytes of json object", "j:{}", "byte[]", "!" NOCONV },
	{ "stream of text", "s:abc", "java.io.InputStream",
	    "abc org.apache.camel.converter.stream.ByteArrayInputStreamCache" },
	{ "stream of map", "M:a=1", "java.io.InputStream", "!" NOCONV },
	{ "List of text", "s:5", "java.util.List", "!" NOCONV },
	{ "List of array", "A:a|b", "java.util.List", "[a, b] java.util.ArrayList" },
	{ "List of json", "j:[1,[2]]", "java.util.List", "[1, [2]] java.util.ArrayList" },
	{ "Set of list", "L:a|b|a", "java.util.Set", "[a, b] java.util.ArrayList" },
	{ "Set of mixed", "j:[1,\"1\",1,null,null]", "java.util.Set", "[1, 1, null] java.util.ArrayList" },
	{ "Map of json", "j:{\"a\":{\"b\":1},\"a\":2}", "java.util.Map", "{a=2} java.util.LinkedHashMap" },
	{ "Map of text", "s:a", "java.util.Map", "!" NOCONV },
	{ "Iterator of map", "M:a=1|b=2", "java.util.Iterator", "[a=1, b=2] java.util.ArrayList" },
	{ "Iterator of text", "s:a,b", "java.util.Iterator", "[a,b] java.util.ArrayList" },
	{ "BigInteger", "s:12345678901234567890", "java.math.BigInteger",
	    "12345678901234567890 java.math.BigInteger" },
	{ "BigInteger of x", "s:x", "java.math.BigInteger", "!" CONVERR },
	{ "BigDecimal of double", "d:2.50", "java.math.BigDecimal", "2.5 java.math.BigDecimal" },
	{ "BigInteger of double", "d:2.50", "java.math.BigInteger", "2 java.math.BigInteger" },
	{ "BigInteger of NaN", "d:nan", "java.math.BigInteger", "!" CONVERR },
	{ "Date of int", "i:5", "java.util.Date", "!" NOCONV },
	{ "Date of long", "l:0", "java.util.Date", "Thu Jan 01 00:00:00 UTC 1970 java.util.Date" },
	{ "Date of text", "s:2024-01-01", "java.util.Date", "!" NOCONV },
	{ "Document of text", "s:<a/>", "org.w3c.dom.Document", "<a/> org.w3c.dom.Document" },
	{ "Document of list", "L:a", "org.w3c.dom.Document", "!" NOCONV },
	{ "Character", "s:é", "char", "é java.lang.String" },
	{ "Character of two", "s:ab", "char", "!" CONVERR },
	{ "Character of list", "L:a", "char", "!" NOCONV },
	{ "Double of Infinity", "s:-Infinity", "Double", "-Infinity java.lang.Double" },
	{ "Boolean of Boolean", "b:false", "Boolean", "false java.lang.Boolean" },
	{ "BigDecimal of list", "L:1", "java.math.BigDecimal", "!" NOCONV },
	{ "BigDecimal of text", "s:-1.50e3", "java.math.BigDecimal", "!" NOCONV },
	{ "BigDecimal of x", "s:1.x", "java.math.BigDecimal", "!" NOCONV },
	{ "BigInteger of huge double", "d:1e300", "java.math.BigInteger", "!" CONVERR },
	{ "Set of text", "s:a", "java.util.Set", "!" NOCONV },
	{ "Iterator of list", "L:a|b", "java.util.Iterator", "[a, b] java.util.ArrayList" },
	{ "Object", "i:5", "java.lang.Object", "5 java.lang.Integer" },
};

static void
check_convert(void **state)
{
	const struct convert_row *r = *state;
	struct arena a;
	struct value out;
	struct hinny_error err = { 0 };

	arena_init(&a);
	enum value_class_id class = value_class_find(str_of(r->class));
	assert_int_not_equal(class, CLASS_NONE);
	assert_non_null(value_class_name(class));
	struct value v = make(&a, r->value);
	enum hinny_rc rc = value_convert(&a, &v, class, &out, &err);
	if (r->text[0] == '!') {
		assert_int_equal(rc,
		    strcmp(r->text + 1, NOCONV) == 0 ? HINNY_ENOENT : HINNY_EINVAL);
		if (strstr(err.text, r->text + 1) == NULL)
			fail_msg("%s", err.text);
	} else if (r->text[0] == '\0') {
		assert_int_equal(rc, HINNY_OK);
		assert_int_equal(out.type, VALUE_NULL);
	} else {
		if (rc != HINNY_OK)
			fail_msg("%s", err.text);
		struct str text = value_text(&a, &out);
		assert_string_equal(
		    arena_printf(&a, "%.*s %s", STR_FMT(text), value_class(&out)), r->text);
	}
	arena_fini(&a);
}

static void
test_class_names(void **state)
{
	(void)state;
	assert_int_equal(value_class_find(STR_LIT("nosuch")), CLASS_NONE);
	assert_int_equal(value_class_find(STR_LIT("")), CLASS_NONE);
	assert_int_equal(value_class_find(STR_LIT("string")), CLASS_NONE);
	assert_null(value_class_name(CLASS_NONE));
	for (int id = CLASS_STRING; id <= CLASS_ITERATOR; id++)
		assert_int_equal(
		    value_class_find(str_of(value_class_name((enum value_class_id)id))), id);
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
	struct value json = make(&a, "j:[1,[2,3],\"x\"]");
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
	struct value v = make(&a, "j:{\"a\":1,\"\\u0062\":{\"c\":2},\"a\":3}");
	assert_true(value_member(&a, &v, STR_LIT("a"), &out) && out.u.i == 3);
	assert_true(value_member(&a, &v, STR_LIT("b"), &out) && out.type == VALUE_JSON);
	assert_false(value_member(&a, &v, STR_LIT("zz"), &out));
	struct value list = make(&a, "L:a");
	assert_false(value_member(&a, &list, STR_LIT("a"), &out));
	arena_fini(&a);
}

static void
test_plain(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	struct value v = make(&a, "j:{\"a\":[1,{\"b\":null}],\"c\":\"\\n\",\"a\":true}");
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
	struct value v = make(&a, "L:aaa|bbb|ccc");
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
	struct value v = make(&from, r->label);
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
	UNIT_TABLE("equal", equals, check_equal);
	UNIT_TABLE("order", orders, check_order);
	UNIT_TABLE("decimal", decimals, check_decimal);
	UNIT_TABLE("markup", markups, check_markup);
	UNIT_TABLE("convert", converts, check_convert);
	UNIT_CASE(test_class_names);
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
