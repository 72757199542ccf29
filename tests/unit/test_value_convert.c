/* core/model/value_convert: conversions, as Camel's converters do them. */
#include "core/model/value.h"

#include "core/model/value_priv.h"
#include "tests/lib/unit.h"
#include "tests/lib/value_case.h"

#include <stdlib.h>
#include <string.h>

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
	{ "Set of mixed", "j:[1,\"1\",1,null,null]", "java.util.Set",
	    "[1, 1, null] java.util.ArrayList" },
	{ "Map of json", "j:{\"a\":{\"b\":1},\"a\":2}", "java.util.Map",
	    "{a=2} java.util.LinkedHashMap" },
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
	struct value v = value_case(&a, r->value);
	enum hinny_rc rc = value_convert(&a, &v, class, &out, &err);
	if (r->text[0] == '!') {
		assert_int_equal(
		    rc, strcmp(r->text + 1, NOCONV) == 0 ? HINNY_ENOENT : HINNY_EINVAL);
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

int
main(void)
{
	setenv("TZ", "UTC", 1);
	UNIT_TABLE("convert", converts, check_convert);
	UNIT_CASE(test_class_names);
	return unit_run("value_convert");
}
