/* core/model/json: what is JSON and what is not, where it is wrong, nodes, strings, members,
 * printing, copies. */
#include "core/model/json.h"

#include "core/base/assert.h"

#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

/* ---- parsing and printing ---- */

static const struct good_row {
	const char *label, *text, *printed; /* NULL: as text */
} goods[] = {
	{ "null", "null", NULL },
	{ "true", "true", NULL },
	{ "false", "false", NULL },
	{ "zero", "0", NULL },
	{ "minus zero", "-0", NULL },
	{ "integer", "-123", NULL },
	{ "all digits stay", "12345678901234567890", NULL },
	{ "fraction", "1.50", "1.5" },
	{ "exponent", "1e3", "1000.0" },
	{ "exponent with sign", "1E+10", "1.0E10" },
	{ "negative exponent", "25e-2", "0.25" },
	{ "beyond double", "1e999", "1e999" },
	{ "empty string", "\"\"", NULL },
	{ "string", "\"abc\"", NULL },
	{ "long string", "\"abcdefghijklmnopqrstuvwxyz 0123456789 abcdefghijklmnopqrstuvwxyz\"",
	    NULL },
	{ "UTF-8", "\"é€😀\"", NULL },
	{ "escapes", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
	{ "unicode escape", "\"\\u00e9\\u20AC\"", "\"é€\"" },
	{ "surrogate pair", "\"\\ud83d\\ude00\"", "\"😀\"" },
	{ "half a pair", "\"\\ud83dx\"", "\"\xEF\xBF\xBDx\"" },
	{ "the other half", "\"\\ude00\"", "\"\xEF\xBF\xBD\"" },
	{ "two first halves", "\"\\ud83d\\ud83d\\ude00\"", "\"\xEF\xBF\xBD😀\"" },
	{ "NUL", "\"a\\u0000b\"", "\"a\\u0000b\"" },
	{ "control escape", "\"\\u001f\"", "\"\\u001F\"" },
	{ "DEL is a character", "\"\x7F\"", NULL },
	{ "empty array", "[]", NULL },
	{ "empty array with blanks", " [ \t\r\n ] ", "[]" },
	{ "array", "[1, 2 ,3]", "[1,2,3]" },
	{ "nested arrays", "[[],[[]],[1,[2]]]", NULL },
	{ "empty object", "{ }", "{}" },
	{ "object", "{ \"a\" : 1 , \"b\" : [ true , null ] }", "{\"a\":1,\"b\":[true,null]}" },
	{ "nested objects", "{\"a\":{\"b\":{\"c\":{}}},\"d\":{}}", NULL },
	{ "duplicate keys", "{\"a\":1,\"b\":2,\"a\":{\"x\":3}}", "{\"a\":{\"x\":3},\"b\":2}" },
	{ "duplicate keys by escape", "{\"a\":1,\"\\u0061\":2}", "{\"a\":2}" },
	{ "escaped key", "{\"\\n\":1}", NULL },
	{ "byte order mark", "\xEF\xBB\xBF[1]", "[1]" },
	{ "order", "{\"id\":7,\"name\":\"Jo\",\"items\":[{\"p\":5},{\"p\":15}]}", NULL },
};

static void
check_good(void **state)
{
	const struct good_row *r = *state;
	struct arena a;
	struct buf b;
	struct hinny_error err;
	const struct json_node *root, *again;

	arena_init(&a);
	buf_init(&b, 0);
	/* in memory of exactly its size, so that a read behind it is seen */
	char *exact = malloc(strlen(r->text));
	assert_non_null(exact);
	memcpy(exact, r->text, strlen(r->text));
	if (json_parse(&a, (struct str){ exact, strlen(r->text) }, &root, &err) != HINNY_OK)
		fail_msg("%s", err.text);
	assert_int_equal(json_print(&b, root), HINNY_OK);
	assert_string_equal(buf_cstr(&b), r->printed != NULL ? r->printed : r->text);
	/* what is printed is JSON again, and prints the same */
	struct str printed = arena_str(&a, (struct str){ b.p, b.n });
	assert_int_equal(json_parse(&a, printed, &again, &err), HINNY_OK);
	buf_clear(&b);
	assert_int_equal(json_print(&b, again), HINNY_OK);
	assert_true(str_eq((struct str){ b.p, b.n }, printed));
	free(exact);
	buf_fini(&b);
	arena_fini(&a);
}

static const struct bad_row {
	const char *label, *text, *error;
} bads[] = {
	{ "empty", "", "line 1, column 1: the text is empty" },
	{ "blank", " \n ", "line 2, column 2: the text is empty" },
	{ "mark alone", "\xEF\xBB\xBF", "the text is empty" },
	{ "word", "nope", "line 1, column 1: expected a value" },
	{ "cut word", "tru", "expected a value" },
	{ "two values", "1 2", "line 1, column 3: text behind the value" },
	{ "bracket behind", "[1]]", "line 1, column 4: text behind the value" },
	{ "comma at the end", "[1,]", "line 1, column 4: expected a value" },
	{ "comma at the start", "[,1]", "line 1, column 2: expected a value" },
	{ "no comma", "[1 2]", "line 1, column 4: expected \",\" or \"]\"" },
	{ "wrong bracket", "[1}", "line 1, column 3: expected \",\" or \"]\"" },
	{ "open array", "[1", "line 1, column 3: the text ends within an array" },
	{ "open array after comma", "[1,", "the text ends where a value is expected" },
	{ "open object", "{\"a\":1", "the text ends within an object" },
	{ "open object after brace", "{", "the text ends within an object" },
	{ "bare key", "{a:1}", "line 1, column 2: expected a name in quotes" },
	{ "single quotes", "{'a':1}", "expected a name in quotes" },
	{ "no colon", "{\"a\" 1}", "line 1, column 6: expected \":\"" },
	{ "key alone", "{\"a\"}", "expected \":\"" },
	{ "comma at the end of an object", "{\"a\":1,}",
	    "line 1, column 8: expected a name in quotes" },
	{ "no value", "{\"a\":}", "expected a value" },
	{ "second line", "{\n \"a\": x}", "line 2, column 7: expected a value" },
	{ "columns are characters", "[\"éé\" x]", "line 1, column 7: expected \",\" or \"]\"" },
	{ "zero in front", "[012]", "line 1, column 3: a number with a zero in front" },
	{ "plus", "+1", "expected a value" },
	{ "minus alone", "-", "expected a digit" },
	{ "point at the end", "1.", "expected a digit" },
	{ "point at the start", ".5", "expected a value" },
	{ "exponent without digits", "1e", "expected a digit" },
	{ "exponent with sign alone", "1e+", "expected a digit" },
	{ "hexadecimal", "0x10", "text behind the value" },
	{ "NaN", "NaN", "expected a value" },
	{ "open string", "\"abc", "the text ends within a string" },
	{ "open escape", "\"abc\\", "the text ends within a string" },
	{ "unknown escape", "\"\\x\"", "line 1, column 3: unknown escape" },
	{ "short unicode escape", "\"\\u12\"", "four hexadecimal digits" },
	{ "unicode escape cut by the end", "\"\\u12", "four hexadecimal digits" },
	{ "unicode escape without digits", "\"\\u00g0\"", "four hexadecimal digits" },
	{ "newline in a string", "\"a\nb\"", "line 1, column 3: control character in a string" },
	{ "tab far in a string", "\"abcdefghijklmnop\tq\"",
	    "line 1, column 18: control character" },
	{ "overlong UTF-8", "\"\xC0\xAF\"", "line 1, column 2: bytes that are no UTF-8" },
	{ "surrogate in UTF-8", "[\"abc\xED\xA0\x80\"]",
	    "line 1, column 6: bytes that are no UTF-8" },
	{ "Latin-1", "{\"name\":\"caf\xE9 au lait\"}",
	    "line 1, column 13: bytes that are no UTF-8" },
	{ "cut UTF-8 at the end", "\"\xE2\x82", "line 1, column 2: bytes that are no UTF-8" },
	{ "Latin-1 far away", "{\"a\":\"éééééééééééééééééééééééééééééé\",\n\"b\":\"ééé\xE9\"}",
	    "line 2, column 9: bytes that are no UTF-8" },
	{ "comment", "[1 /* x */]", "expected \",\" or \"]\"" },
};

static void
check_bad(void **state)
{
	const struct bad_row *r = *state;
	struct arena a;
	struct hinny_error err;
	const struct json_node *root;

	arena_init(&a);
	assert_int_equal(json_parse(&a, str_of(r->text), &root, &err), HINNY_EINVAL);
	if (strstr(err.text, r->error) == NULL)
		fail_msg("got \"%s\"", err.text);
	assert_int_equal(json_parse(&a, str_of(r->text), &root, NULL), HINNY_EINVAL);
	arena_fini(&a);
}

static void
test_nul_byte(void **state)
{
	struct arena a;
	const struct json_node *root;

	(void)state;
	arena_init(&a);
	assert_int_equal(json_parse(&a, STR_LIT("[1]\0"), &root, NULL), HINNY_EINVAL);
	assert_int_equal(json_parse(&a, (struct str){ NULL, 0 }, &root, NULL), HINNY_EINVAL);
	arena_fini(&a);
}

static enum hinny_rc
parse_nested(struct arena *a, size_t depth, const char *open, const char *inner, const char *close,
    const struct json_node **root)
{
	struct buf b;

	buf_init(&b, 0);
	for (size_t i = 0; i < depth; i++)
		(void)buf_add(&b, open, strlen(open));
	(void)buf_add(&b, inner, strlen(inner));
	for (size_t i = 0; i < depth; i++)
		(void)buf_add(&b, close, strlen(close));
	struct str text = arena_str(a, (struct str){ b.p, b.n });
	buf_fini(&b);
	return json_parse(a, text, root, NULL);
}

static void
test_depth(void **state)
{
	struct arena a;
	const struct json_node *root;
	struct buf b;

	(void)state;
	arena_init(&a);
	buf_init(&b, 0);
	assert_int_equal(parse_nested(&a, JSON_DEPTH_MAX, "[", "", "]", &root), HINNY_OK);
	assert_int_equal(root->skip, JSON_DEPTH_MAX);
	assert_int_equal(json_print(&b, root), HINNY_OK);
	assert_int_equal(b.n, 2 * JSON_DEPTH_MAX);
	assert_int_equal(parse_nested(&a, JSON_DEPTH_MAX, "{\"a\":", "1", "}", &root), HINNY_OK);
	assert_int_equal(parse_nested(&a, JSON_DEPTH_MAX + 1, "[", "", "]", &root), HINNY_ELIMIT);
	assert_int_equal(
	    parse_nested(&a, JSON_DEPTH_MAX + 1, "{\"a\":", "1", "}", &root), HINNY_ELIMIT);
	assert_int_equal(parse_nested(&a, 1000000, "[", "", "", &root), HINNY_ELIMIT);
	buf_fini(&b);
	arena_fini(&a);
}

/* More nodes than fit on the stack; a wide object with 100,000 keys prints in no time. */
static void
test_large(void **state)
{
	struct arena a;
	struct buf b, out;
	const struct json_node *root;

	(void)state;
	arena_init(&a);
	buf_init(&b, 0);
	buf_init(&out, 0);
	(void)buf_add_char(&b, '{');
	for (int i = 0; i < 100000; i++)
		(void)buf_printf(&b, "%s\"key%d\":[%d]", i > 0 ? "," : "", i, i);
	(void)buf_add_char(&b, '}');
	assert_int_equal(json_parse(&a, (struct str){ b.p, b.n }, &root, NULL), HINNY_OK);
	assert_int_equal(root->children, 100000);
	assert_int_equal(root->skip, 300001);
	const struct json_node *n = json_member(root, STR_LIT("key99999"));
	assert_true(n != NULL && n->type == JSON_IS_ARRAY && n->children == 1);
	assert_true(
	    str_eq((struct str){ json_first(n)->text, json_first(n)->length }, STR_LIT("99999")));
	assert_int_equal(json_print(&out, root), HINNY_OK);
	assert_true(str_eq((struct str){ out.p, out.n }, (struct str){ b.p, b.n }));
	buf_fini(&b);
	buf_fini(&out);
	arena_fini(&a);
}

/* ---- nodes ---- */

static void
test_nodes(void **state)
{
	struct arena a;
	const struct json_node *root;
	struct str text = STR_LIT(" {\"a\":[1,{\"b\":2}], \"c\":\"x\\ny\"} ");

	(void)state;
	arena_init(&a);
	assert_int_equal(json_parse(&a, text, &root, NULL), HINNY_OK);
	assert_int_equal(root->type, JSON_IS_OBJECT);
	assert_int_equal(root->children, 2);
	assert_int_equal(root->skip, 9);
	assert_true(root->text == text.p + 1 && root->length == text.n - 2);
	const struct json_node *key = json_first(root), *list = json_next(key);
	assert_true(str_eq(json_text(&a, key), STR_LIT("a")));
	assert_true(str_eq((struct str){ list->text, list->length }, STR_LIT("[1,{\"b\":2}]")));
	assert_int_equal(list->children, 2);
	assert_int_equal(json_next(json_first(list))->type, JSON_IS_OBJECT);
	key = json_next(list);
	assert_true(str_eq(json_text(&a, json_next(key)), STR_LIT("x\ny")));
	assert_ptr_equal(json_next(json_next(key)), json_next(root));
	assert_null(json_member(root, STR_LIT("nope")));
	assert_null(json_member(list, STR_LIT("a")));
	arena_fini(&a);
}

static void
test_first_value(void **state)
{
	struct arena a;
	const struct json_node *root;
	size_t end;

	(void)state;
	arena_init(&a);
	assert_int_equal(
	    json_parse_first(&a, STR_LIT("{\"a\":1,\"a\":2} x"), &root, &end, NULL), HINNY_OK);
	assert_int_equal(end, 13);
	assert_int_equal(json_parse_first(&a, STR_LIT("12,"), &root, NULL, NULL), HINNY_OK);
	assert_true(str_eq((struct str){ root->text, root->length }, STR_LIT("12")));
	assert_int_equal(json_parse_first(&a, STR_LIT("x"), &root, &end, NULL), HINNY_EINVAL);
	arena_fini(&a);
}

static void
test_print_string(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	assert_int_equal(json_print_string(&b, STR_LIT("a\"b\\c\nd\x01/é")), HINNY_OK);
	assert_string_equal(buf_cstr(&b), "\"a\\\"b\\\\c\\nd\\u0001/é\"");
	buf_fini(&b);
	buf_init(&b, 4);
	assert_int_equal(json_print_string(&b, STR_LIT("abcdef")), HINNY_ELIMIT);
	buf_fini(&b);
}

static void
test_print_bound(void **state)
{
	struct arena a;
	struct buf b;
	const struct json_node *root;

	(void)state;
	arena_init(&a);
	buf_init(&b, 10);
	assert_int_equal(
	    json_parse(&a, STR_LIT("[\"aaaaaaaaaa\",{\"a\":1}]"), &root, NULL), HINNY_OK);
	assert_int_equal(json_print(&b, root), HINNY_ELIMIT);
	assert_int_equal(b.n, 0);
	buf_fini(&b);
	arena_fini(&a);
}

static void
test_copy(void **state)
{
	struct arena a, to;
	struct buf b;
	const struct json_node *root;

	(void)state;
	arena_init(&a);
	arena_init(&to);
	buf_init(&b, 0);
	struct str text = arena_str(&a, STR_LIT("[{\"a\":[1,2.5,\"\\u0041\"]},\"s\"]"));
	assert_int_equal(json_parse(&a, text, &root, NULL), HINNY_OK);
	const struct json_node *object = json_node_copy(&to, json_first(root), false);
	const struct json_node *string = json_node_copy(&to, json_next(json_first(root)), false);
	assert_ptr_equal(json_node_copy(&to, root, true)->text, root->text);
	arena_fini(&a);
	assert_int_equal(json_print(&b, object), HINNY_OK);
	assert_int_equal(json_print(&b, string), HINNY_OK);
	assert_string_equal(buf_cstr(&b), "{\"a\":[1,2.5,\"A\"]}\"s\"");
	buf_fini(&b);
	arena_fini(&to);
}

int
main(void)
{
	UNIT_TABLE("good", goods, check_good);
	UNIT_TABLE("bad", bads, check_bad);
	UNIT_CASE(test_nul_byte);
	UNIT_CASE(test_depth);
	UNIT_CASE(test_large);
	UNIT_CASE(test_nodes);
	UNIT_CASE(test_first_value);
	UNIT_CASE(test_print_string);
	UNIT_CASE(test_print_bound);
	UNIT_CASE(test_copy);
	return unit_run("json");
}
