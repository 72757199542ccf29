/* core/lang/jsonpath*: the vectors of the specification, Jayway's rules for what is missing,
 * options, easy predicates, Simple in paths. */
#include "core/lang/jsonpath.h"

#include "tests/lib/lang_case.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#define J1                                                                                         \
	"{\"id\":7,\"name\":\"Jo\",\"n\":null,\"tags\":[\"a\",\"b\"],\"o\":{\"x\":1.5},\"items\":" \
	"[{\"p\":5},{\"p\":15}]}"
#define STORE                                                                                      \
	"{\"store\":{\"name\":\"Corner\",\"open\":true,\"items\":[{\"sku\":\"p1\",\"price\":8.95," \
	"\"tags\":[\"a\",\"b\"]},"                                                                 \
	"{\"sku\":\"p2\",\"price\":12.99,\"tags\":[]},{\"sku\":\"p3\",\"price\":8,\"note\":\"it'"  \
	"s\"}]},\"count\":3,\"empty\":"                                                            \
	"\"\",\"nil\":null}"

struct row {
	const char *label, *body, *path, *expected;
};

static void
run(const struct row *r, bool predicate)
{
	struct lang_case lc;
	lang_case_init(&lc);
	lang_case_header(&lc, "min", value_str(STR_LIT("10")));
	lang_case_header(&lc, "foo", value_str(STR_LIT("abc")));
	lang_case_body(&lc, r->body);
	assert_string_equal(lang_case_run(&lc, "jsonpath", r->path, predicate), r->expected);
	lang_case_fini(&lc);
}

static void
check_path(void **state)
{
	run(*state, false);
}

static void
check_predicate(void **state)
{
	run(*state, true);
}

static const struct row paths[] = {
	{ "whole number", J1, "$.id", "7" },
	{ "text", J1, "$.name", "Jo" },
	{ "array", J1, "$.tags", "[a, b]" },
	{ "all of an array", J1, "$.tags[*]", "[a, b]" },
	{ "first", J1, "$.tags[0]", "a" },
	{ "slice of the last", J1, "$.tags[-1:]", "[b]" },
	{ "length", J1, "$.tags.length()", "2" },
	{ "filter", J1, "$.items[?(@.p > 10)]", "[{p=15}]" },
	{ "behind a filter", J1, "$.items[?(@.p > 10)].p", "[15]" },
	{ "scan", J1, "$..p", "[5, 15]" },
	{ "missing", J1, "$.nope", FAILS },
	{ "null", J1, "$.n", NULL_VALUE },
	{ "two properties", J1, "$['id','n']", "{id=7, n=null}" },
	{ "object", J1, "$.o", "{x=1.5}" },
	{ "Simple in the path", J1, "$.items[?(@.p > ${header.min})].p", "[15]" },
	{ "Simple that makes a wrong path", J1, "$.items[${header.foo}", FAILS },
	{ "the root", "[1,2]", "$", "[1, 2]" },
	{ "without $", J1, "o.x", "1.5" },
	{ "brackets", STORE, "$['store']['name']", "Corner" },
	{ "double quotes", STORE, "$[\"count\"]", "3" },
	{ "last by a negative index", STORE, "$.store.items[-1].sku", "p3" },
	{ "an index beyond", STORE, "$.store.items[9]", FAILS },
	{ "two indexes", STORE, "$.store.items[0,2].sku", "[p1, p3]" },
	{ "an index of two beyond", STORE, "$.store.items[0,9].sku", "[p1]" },
	{ "slice", STORE, "$.store.items[1:3].sku", "[p2, p3]" },
	{ "slice to", STORE, "$.store.items[:2].sku", "[p1, p2]" },
	{ "slice to the last but one", STORE, "$.store.items[:-1].sku", "[p1, p2]" },
	{ "slice of nothing", STORE, "$.store.items[2:1].sku", "[]" },
	{ "scan of names", STORE, "$..sku", "[p1, p2, p3]" },
	{ "scan of numbers", STORE, "$..price", "[8.95, 12.99, 8]" },
	{ "scan with an index", STORE, "$..tags[0]", "[a]" },
	{ "scan below", STORE, "$.store..name", "[Corner]" },
	{ "scan of all", "{\"a\":{\"b\":1}}", "$..*", "[{b=1}, 1]" },
	{ "scan with a filter", STORE, "$..[?(@.price > 10)].sku", "[p2]" },
	{ "wildcard of an object", "{\"a\":{\"x\":1,\"y\":2}}", "$.a.*", "[1, 2]" },
	{ "missing behind a wildcard", STORE, "$.store.items[*].note", "[it's]" },
	{ "missing before a wildcard", STORE, "$.nope[*]", FAILS },
	{ "missing before a filter", STORE, "$.nope[?(@.a == 1)]", FAILS },
	{ "property of a text", STORE, "$.count.x", FAILS },
	{ "property of null", STORE, "$.nil.x", FAILS },
	{ "filter on null", STORE, "$.nil[?(@.x == 1)]", FAILS },
	{ "less", STORE, "$.store.items[?(@.price < 10)].sku", "[p1, p3]" },
	{ "equal decimals", STORE, "$.store.items[?(@.price == 12.99)].sku", "[p2]" },
	{ "equal texts", STORE, "$.store.items[?(@.sku == 'p2')].price", "[12.99]" },
	{ "not equal", STORE, "$.store.items[?(@.sku != 'p2')].sku", "[p1, p3]" },
	{ "and", STORE, "$.store.items[?(@.price > 8 && @.price < 10)].sku", "[p1]" },
	{ "or", STORE, "$.store.items[?(@.sku == 'p1' || @.sku == 'p3')].sku", "[p1, p3]" },
	{ "and before or", STORE, "$.store.items[?(@.sku=='p1'||@.sku=='p3'&&@.price==1)].sku",
	    "[p1]" },
	{ "parentheses and not", STORE, "$.store.items[?(!(@.sku == 'p1' || @.sku == 'p3'))].sku",
	    "[p2]" },
	{ "exists", STORE, "$.store.items[?(@.note)].sku", "[p3]" },
	{ "does not exist", STORE, "$.store.items[?(!@.note)].sku", "[p1, p2]" },
	{ "missing is not null", STORE, "$.store.items[?(@.note == null)].sku", "[]" },
	{ "missing is not equal", STORE, "$.store.items[?(@.note != 'x')].sku", "[p1, p2, p3]" },
	{ "pattern", STORE, "$.store.items[?(@.sku =~ /P[12]/i)].sku", "[p1, p2]" },
	{ "pattern matches the whole", STORE, "$.store.items[?(@.sku =~ /p/)].sku", "[]" },
	{ "in", STORE, "$.store.items[?(@.sku in ['p1','p9'])].sku", "[p1]" },
	{ "nin", STORE, "$.store.items[?(@.sku nin ['p1'])].sku", "[p2, p3]" },
	{ "contains", STORE, "$.store.items[?(@.tags contains 'b')].sku", "[p1]" },
	{ "size", STORE, "$.store.items[?(@.tags size 2)].sku", "[p1]" },
	{ "empty", STORE, "$.store.items[?(@.tags empty true)].sku", "[p2]" },
	{ "subsetof", STORE, "$.store.items[?(@.tags subsetof ['a','b','c'])].sku", "[p1, p2]" },
	{ "anyof", STORE, "$.store.items[?(@.tags anyof ['b','z'])].sku", "[p1]" },
	{ "noneof", STORE, "$.store.items[?(@.tags noneof ['z'])].sku", "[p1, p2]" },
	{ "path on both sides", STORE, "$.store.items[?(@.price > $.count)].sku", "[p1, p2, p3]" },
	{ "function in a filter", STORE, "$.store.items[?(@.tags.length() == 2)].sku", "[p1]" },
	{ "of scalars", J1, "$.tags[?(@ == 'a')]", "[a]" },
	{ "number as text", "{\"a\":[{\"n\":\"5\"},{\"n\":5}]}", "$.a[?(@.n == 5)]",
	    "[{n=5}, {n=5}]" },
	{ "list length", STORE, "$.store.items.length()", "3" },
	{ "max of a scan", STORE, "$..price.max()", "12.99" },
	{ "min of a scan", STORE, "$..price.min()", "8.0" },
	{ "sum", "{\"a\":[1,2,3.5]}", "$.a.sum()", "6.5" },
	{ "avg", "{\"a\":[1,2]}", "$.a.avg()", "1.5" },
	{ "stddev", "{\"a\":[2,4]}", "$.a.stddev()", "1.0" },
	{ "sum of nothing", "{\"a\":[]}", "$.a.sum()", FAILS },
	{ "keys", STORE, "$.store.keys()", "[name, open, items]" },
	{ "first and last", STORE, "$.store.items.first().sku", "p1" },
	{ "index", "[4,5,6]", "$.index(-1)", "6" },
	{ "append", "{\"a\":[1]}", "$.a.append(2)", "[1, 2]" },
	{ "concat", "{\"a\":\"x\",\"b\":\"y\"}", "$.concat($.a, \"-\", $.b)", "x-y" },
	{ "length of a missing property", STORE, "$.nope.length()", FAILS },
	{ "unknown function", STORE, "$.store.foo()", REFUSED },
	{ "keys with dots", "{\"a.b\":1}", "$['a.b']", "1" },
	{ "keys with quotes", "{\"a'b\":1}", "$['a\\'b']", "1" },
	{ "keys with dashes", "{\"e\":{\"f-g\":3}}", "$.e.f-g", "3" },
	{ "keys with escapes", "{\"a\\u0062\":1}", "$.ab", "1" },
	{ "equal keys", "{\"a\":1,\"a\":2}", "$.a", "2" },
	{ "all digits", "{\"a\":12345678901234567890}", "$.a", "12345678901234567890" },
	{ "not JSON", "{\"a\":", "$.a", FAILS },
	{ "text", "plain", "$.a", FAILS },
	{ "empty body", "", "$.a", FAILS },
	{ "blank body", "  ", "$.a", FAILS },
	{ "null body", NULL, "$.a", FAILS },
	{ "empty path", J1, "", REFUSED },
	{ "open bracket", J1, "$.a[", REFUSED },
	{ "open quote", J1, "$['a", REFUSED },
	{ "open filter", J1, "$.items[?(@.p > 1", REFUSED },
	{ "wrong operator", J1, "$.items[?(@.p ~ 1)]", REFUSED },
	{ "a word in a filter", J1, "$.items[?(@.p == abc)]", REFUSED },
	{ "blank in a path", J1, "$.id == 7", REFUSED },
	{ "two dots at the end", J1, "$..", REFUSED },
	{ "slice without bounds", J1, "$.tags[:]", "[a, b]" },
	/* what RFC 9535 has beside Jayway; the cases of its compliance suite that were mended */
	{ "slice with a step", "[0,1,2,3,4,5]", "$[1:5:2]", "[1, 3]" },
	{ "slice backwards", "[0,1,2,3]", "$[::-1]", "[3, 2, 1, 0]" },
	{ "slice backwards with bounds", "[0,1,2,3,4,5]", "$[5:1:-2]", "[5, 3]" },
	{ "slice backwards from beyond", "[0,1,2]", "$[9:-9:-1]", "[2, 1, 0]" },
	{ "slice with step 0", "[0,1,2]", "$[::0]", "[]" },
	{ "slice with blanks", "[0,1,2,3,4,5]", "$[ 1 : 5 : 2 ]", "[1, 3]" },
	{ "slice from far before", "[0,1,2]", "$[-9:2]", "[0, 1]" },
	{ "number with a zero before it", "[0,1]", "$[01]", REFUSED },
	{ "minus zero", "[0,1]", "$[-0]", REFUSED },
	{ "number that no double keeps", "[0]", "$[9007199254740992]", REFUSED },
	{ "index and slice", "[0,1,2,3,4]", "$[0,2:4]", "[0, 2, 3]" },
	{ "name and index", "{\"a\":1}", "$['a',0]", "[1]" },
	{ "wildcard and index", "[5,6]", "$[*,0]", "[5, 6, 5]" },
	{ "two filters", "[1,2,3]", "$[?@==1,?@==3]", "[1, 3]" },
	{ "blanks between segments", "{\"a\":{\"b\":[7]}}", "$ .a ['b'] [0]", "7" },
	{ "bare filter", "[{\"a\":1},{\"a\":2},{}]", "$[?@.a>1]", "[{a=2}]" },
	{ "bare filter asks members", "{\"x\":{\"a\":1},\"y\":{}}", "$[?@.a]", "[{a=1}]" },
	{ "bare filter, equal types only", "[{\"a\":1},{\"a\":\"1\"}]", "$[?@.a=='1']", "[{a=1}]" },
	{ "bare filter, nothing equals nothing", "[{\"a\":1}]", "$[?@.b==@.c]", "[{a=1}]" },
	{ "bare filter, null is no nothing", "[{\"a\":null},{}]", "$[?@.a==null]", "[{a=null}]" },
	{ "bare filter, deep", "[{\"a\":[1,{\"x\":2}],\"b\":[1,{\"x\":2.0}]}]", "$[?@.a==@.b].b[0]", "[1]" },
	{ "bare filter, null is at most null", "[{\"a\":null},{\"a\":1}]", "$[?@.a<=null]",
	    "[{a=null}]" },
	{ "bare filter, empty list of nodes", "[[],[1]]", "$[?@.*]", "[[1]]" },
	{ "bare filter with groups", "[{\"a\":1,\"c\":1},{\"b\":1}]", "$[?(@.a || @.b) && @.c]",
	    "[{a=1, c=1}]" },
	{ "bare filter within a filter", "[[1,5],[2]]", "$[?@[?@>4]]", "[[1, 5]]" },
	{ "open filter behind a dot", "[1]", "1[?(@.header.]", REFUSED },
	{ "open filter in parentheses", "[1]", "$[?(@.a]", REFUSED },
	{ "filter with more behind it", "[1]", "$[?(@.a) x]", REFUSED },
	{ "bare filter, several nodes", "[[1]]", "$[?@.*==1]", REFUSED },
	{ "bare filter, literal alone", "[1]", "$[?true]", REFUSED },
	{ "bare filter, not of a comparison", "[1]", "$[?!@.a==1]", REFUSED },
	{ "bare filter, number", "[1]", "$[?@==01]", REFUSED },
	{ "length()", "[\"\xc3\xa4" "b\",[1,2],{\"x\":1},5]", "$[?length(@)==2]",
	    "[\xc3\xa4" "b, [1, 2]]" },
	{ "count()", "[[1,2],[1]]", "$[?count(@.*)==2]", "[[1, 2]]" },
	{ "count() of two names", "[{\"a\":1,\"d\":2},{\"a\":1}]", "$[?count(@['a','d'])>1]",
	    "[{a=1, d=2}]" },
	{ "count() of a value", "[1]", "$[?count(1)>2]", REFUSED },
	{ "value()", "[[4],[4,4]]", "$[?value(@.*)==4]", "[[4]]" },
	{ "match()", "[\"abc\",\"xabc\",\"a\\nc\"]", "$[?match(@, 'a.c')]", "[abc]" },
	{ "search()", "[\"abc\",\"xabc\"]", "$[?search(@, 'b')]", "[abc, xabc]" },
	{ "match() of a path", "{\"r\":\"a+\",\"v\":[\"aa\",\"b\"]}", "$.v[?match(@, $.r)]", "[aa]" },
	{ "match() by no pattern", "[\"a\"]", "$[?match(@, '(')]", "[]" },
	{ "match() is not compared", "[\"a\"]", "$[?match(@, 'a')==true]", REFUSED },
	{ "length() is compared", "[\"a\"]", "$[?length(@)]", REFUSED },
	{ "escapes in names", "{\"\xe2\x98\xba\":1}", "$['\\u263A']", "1" },
	{ "surrogate pair", "{\"\xf0\x9d\x84\x9e\":1}", "$['\\uD834\\uDD1E']", "1" },
	{ "half a surrogate pair", "{}", "$['\\uD834']", REFUSED },
	{ "unknown escape", "{}", "$['\\x']", REFUSED },
	{ "control character", "{}", "$['a\tb']", REFUSED },
};

static const struct row predicates[] = {
	{ "filter hits", J1, "$.items[?(@.p > 10)]", IS_TRUE },
	{ "filter misses", J1, "$.items[?(@.p > 100)]", IS_FALSE },
	{ "value", J1, "$.id", IS_TRUE },
	{ "missing", J1, "$.nope", FAILS },
	{ "filter on the root", J1, "$[?(@.id == 7)]", IS_TRUE },
	{ "easy on the root", J1, "id == 7", IS_FALSE },
	{ "easy on a list", J1, "items.p > 10", IS_TRUE },
	{ "easy on a list misses", J1, "items.p > 100", IS_FALSE },
	{ "easy anywhere", J1, "p > 10", IS_TRUE },
	{ "easy with Simple", J1, "items.p > ${header.min}", IS_TRUE },
	{ "easy path", J1, "o.x", IS_TRUE },
	{ "$ with an operator", J1, "$.id == 7", REFUSED },
	{ "true", STORE, "$.store.open", IS_TRUE },
	{ "null", STORE, "$.nil", IS_FALSE },
	{ "empty text", STORE, "$.empty", IS_FALSE },
	{ "empty list", STORE, "$.store.items[1].tags", IS_FALSE },
	{ "double quotes", STORE, "$.store.items[?(@.sku == \"p1\")]", IS_TRUE },
	{ "boolean", STORE, "$[?(@.store.open == true)]", IS_TRUE },
	{ "vip", "{\"items\":[{\"qty\":3}],\"vip\":true}", "$[?(@.vip == true)]", IS_TRUE },
};

struct option_row {
	const char *label, *path, *expected;
	bool suppress, write, unpack;
	enum value_class_id type;
};

static const struct option_row options[] = {
	{ "suppressExceptions", "$.nope", NULL_VALUE, .suppress = true },
	{ "suppressExceptions, indefinite", "$.nope[*]", "[]", .suppress = true },
	{ "resultType of a list", "$.tags", "[a, b]", .type = CLASS_STRING },
	{ "resultType of an object", "$.o", "{x=1.5}", .type = CLASS_STRING },
	{ "resultType of a list of one", "$.items[?(@.p > 10)].p", "15", .type = CLASS_STRING },
	{ "writeAsString of a list", "$.tags", "[\"a\", \"b\"]", .write = true },
	{ "writeAsString of objects", "$.items[*]", "[{\"p\":5}, {\"p\":15}]", .write = true },
	{ "writeAsString of an object", "$.o", "{\"x\":1.5}", .write = true },
	{ "writeAsString of a number", "$.id", "7", .write = true },
	{ "unpackArray of one", "$.tags[?(@ == 'a')]", "a", .unpack = true },
	{ "unpackArray of two", "$.tags", "[a, b]", .unpack = true },
};

static void
check_option(void **state)
{
	const struct option_row *r = *state;
	struct lang_case lc;
	lang_case_init(&lc);
	lang_case_body(&lc, J1);
	struct expression *e = compile_fake_new(&lc.c, "jsonpath", r->path, false);
	struct jsonpath_conf *conf = e->conf;
	conf->suppress_exceptions = r->suppress;
	conf->write_as_string = r->write;
	conf->unpack_array = r->unpack;
	e->result_type = r->type;
	assert_true(compile_fake_finish(&lc.c, e));
	assert_string_equal(lang_case_eval(&lc, e), r->expected);
	lang_case_fini(&lc);
}

static const char *
with_option(struct lang_case *lc, const char *path, const char *option)
{
	struct expression *e = compile_fake_new(&lc->c, "jsonpath", path, false);
	struct jsonpath_conf *conf = e->conf;
	conf->option = (struct strings){ .items = &option, .n = 1 };
	return compile_fake_finish(&lc->c, e) ? lang_case_eval(lc, e) : REFUSED;
}

static void
test_option_names(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	lang_case_body(&lc, J1);
	assert_string_equal(with_option(&lc, "$.nope", "DEFAULT_PATH_LEAF_TO_NULL"), NULL_VALUE);
	assert_string_equal(with_option(&lc, "$.id", "ALWAYS_RETURN_LIST"), "[7]");
	assert_string_equal(with_option(&lc, "$.nope", "SUPPRESS_EXCEPTIONS"), NULL_VALUE);
	assert_string_equal(with_option(&lc, "$.items[*].q", "REQUIRE_PROPERTIES"), FAILS);
	assert_string_equal(with_option(&lc, "$.id", "AS_PATH_LIST"), "[$['id']]");
	assert_string_equal(with_option(&lc, "$..p", "AS_PATH_LIST"),
	    "[$['items'][0]['p'], $['items'][1]['p']]");
	assert_string_equal(with_option(&lc, "$.tags[-1:]", "AS_PATH_LIST"), "[$['tags'][1]]");
	assert_string_equal(
	    with_option(&lc, "$.items[?(@.p > 10)]", "AS_PATH_LIST"), "[$['items'][1]]");
	assert_string_equal(with_option(&lc, "$.nope", "AS_PATH_LIST"), FAILS);
	assert_string_equal(with_option(&lc, "$.id", "FOO"), REFUSED);
	lang_case_fini(&lc);
}

static void
test_source(void **state)
{
	static const char *const sources[] = { "header:h", "variable:v", "property:p",
		"exchangeProperty:p", NULL };
	static const char *const expected[] = { "H", "V", "P", "P", "B" };
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	lang_case_header(&lc, "h", value_str(STR_LIT("{\"k\":\"H\"}")));
	exchange_set_variable(lc.ex, STR_LIT("v"), value_str(STR_LIT("{\"k\":\"V\"}")));
	exchange_set_property(lc.ex, STR_LIT("p"), value_str(STR_LIT("{\"k\":\"P\"}")));
	lang_case_body(&lc, "{\"k\":\"B\"}");
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct expression *e = compile_fake_new(&lc.c, "jsonpath", "$.k", false);
		((struct jsonpath_conf *)e->conf)->source_text = sources[i];
		assert_true(compile_fake_finish(&lc.c, e));
		assert_string_equal(lang_case_eval(&lc, e), expected[i]);
		assert_int_equal(e->reads.flags, sources[i] == NULL ? ACCESS_BODY : 0);
	}
	struct expression *e = compile_fake_new(&lc.c, "jsonpath", "$.k", false);
	((struct jsonpath_conf *)e->conf)->source_text = "foo:x";
	assert_false(compile_fake_finish(&lc.c, e));
	lang_case_fini(&lc);
}

static void
test_map_body(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	struct arena *a = &lc.ex->arena;
	struct value map = value_new_map(a, 2, false), list = value_new_list(a, 2);
	value_list_add(a, list.u.list, value_int(5));
	value_list_add(a, list.u.list, value_int(15));
	value_map_set(a, map.u.map, STR_LIT("id"), value_int(7));
	value_map_set(a, map.u.map, STR_LIT("l"), list);
	exchange_set_body(lc.ex, map);
	assert_string_equal(lang_case_run(&lc, "jsonpath", "$.id", false), "7");
	assert_string_equal(lang_case_run(&lc, "jsonpath", "$.l[?(@ > 10)]", false), "[15]");
	assert_string_equal(lang_case_run(&lc, "jsonpath", "$..l", false), "[[5, 15]]");
	exchange_set_body(lc.ex, value_int(5));
	assert_string_equal(lang_case_run(&lc, "jsonpath", "$", false), FAILS);
	lang_case_fini(&lc);
}

/* A result may be read again, and two paths parse once. */
static void
test_parsed_once(void **state)
{
	struct lang_case lc;
	struct value v;
	(void)state;
	lang_case_init(&lc);
	lang_case_body(&lc, J1);
	struct expression *a = compile_fake_new(&lc.c, "jsonpath", "$.o", false);
	struct expression *b = compile_fake_new(&lc.c, "jsonpath", "$.id", false);
	assert_true(compile_fake_finish(&lc.c, a) && compile_fake_finish(&lc.c, b));
	assert_int_equal(expression_eval(a, lc.ex, &v), EVAL_OK);
	assert_int_equal(v.type, VALUE_JSON);
	size_t used = lc.ex->arena.used;
	assert_int_equal(expression_eval(b, lc.ex, &v), EVAL_OK);
	assert_true(v.type == VALUE_INT && v.u.i == 7);
	assert_int_equal(lc.ex->arena.used, used);
	lang_case_header(&lc, "o", value_null());
	assert_int_equal(expression_eval(a, lc.ex, &v), EVAL_OK);
	exchange_set_body(lc.ex, v);
	assert_string_equal(lang_case_run(&lc, "jsonpath", "$.x", false), "1.5");
	assert_string_equal(lang_case_run(&lc, "simple", "${body[x]}", false), "1.5");
	lang_case_fini(&lc);
}

static void
test_error_text(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	lang_case_body(&lc, J1);
	assert_string_equal(lang_case_run(&lc, "jsonpath", "$.nope", false), FAILS);
	assert_int_equal(lc.ex->exception->id, EXCEPTION_PATH_NOT_FOUND);
	assert_true(str_eq(lc.ex->exception->message, STR_LIT("No results for path: $['nope']")));
	assert_string_equal(lang_case_run(&lc, "jsonpath", "$.a[x]", false), REFUSED);
	assert_string_equal(lc.c.errors, "5: a whole number is missing\n");
	lang_case_fini(&lc);
}

static void
test_nesting_is_bounded(void **state)
{
	enum { LEVELS = 3000 };
	char *text = malloc(LEVELS * 6 + 64), *p = text;
	struct lang_case lc;
	(void)state;
	assert_non_null(text);
	lang_case_init(&lc);
	p += sprintf(p, "$[?(");
	for (int i = 0; i < LEVELS; i++)
		*p++ = '(';
	*p = '\0';
	assert_string_equal(lang_case_run(&lc, "jsonpath", text, false), REFUSED);
	p = text;
	for (int i = 0; i < LEVELS; i++)
		p += sprintf(p, "$[?(@");
	assert_string_equal(lang_case_run(&lc, "jsonpath", text, false), REFUSED);
	p = text + sprintf(text, "$[?(@ in ");
	memset(p, '[', LEVELS);
	p[LEVELS] = '\0';
	assert_string_equal(lang_case_run(&lc, "jsonpath", text, false), REFUSED);
	p = text;
	*p++ = '$';
	for (int i = 0; i < LEVELS; i++)
		p += sprintf(p, ".a");
	assert_string_equal(lang_case_run(&lc, "jsonpath", text, false), REFUSED);
	lang_case_fini(&lc);
	free(text);
}

int
main(void)
{
	UNIT_TABLE("path", paths, check_path);
	UNIT_TABLE("predicate", predicates, check_predicate);
	UNIT_TABLE("option", options, check_option);
	UNIT_CASE(test_option_names);
	UNIT_CASE(test_source);
	UNIT_CASE(test_map_body);
	UNIT_CASE(test_parsed_once);
	UNIT_CASE(test_error_text);
	UNIT_CASE(test_nesting_is_bounded);
	return unit_run("jsonpath");
}
