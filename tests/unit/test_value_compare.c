/* core/model/value_compare: equality and ordering, as Camel's Simple has them. */
#include "core/model/value.h"

#include "core/model/value_priv.h"
#include "tests/lib/unit.h"
#include "tests/lib/value_case.h"

#include <stdlib.h>

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
	struct value l = value_case(&a, r->l), right = value_case(&a, r->r);
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
	struct value l = value_case(&a, r->l), right = value_case(&a, r->r);
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

int
main(void)
{
	setenv("TZ", "UTC", 1);
	UNIT_TABLE("equal", equals, check_equal);
	UNIT_TABLE("order", orders, check_order);
	UNIT_TABLE("decimal", decimals, check_decimal);
	UNIT_TABLE("markup", markups, check_markup);
	return unit_run("value_compare");
}
