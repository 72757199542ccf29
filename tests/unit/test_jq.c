/* transformers/jq: the vectors of Camel's jq, its functions, results, and programs that are wrong. */
#include "core/lang/jq.h"
#include "transformers/jq/jq_impl.h"
#include "workers/worker.h"

#include "tests/lib/lang_case.h"
#include "tests/lib/unit.h"

#define J "{\"id\":7,\"tags\":[\"a\",\"b\"],\"o\":{\"x\":1},\"name\":\"J\\u00f6\",\"big\":1.5e300}"

struct worker {
	struct jq_runtime *runtime;
};
static struct worker worker;

void *
worker_data(struct worker *wk)
{
	return wk->runtime;
}

/* Compiles as a worker does, and evaluates; what refuses it is the result, too. */
static const char *
run(struct lang_case *lc, const char *text, const char *source, bool predicate,
    enum value_class_id type)
{
	struct expression *e = compile_fake_new(&lc->c, "jq", text, predicate);
	struct hinny_error err;

	((struct jq_conf *)e->conf)->source_text = source;
	e->result_type = type;
	if (!compile_fake_finish(&lc->c, e))
		return lc->c.errors;
	if (jq_impl.prepare(&worker, e, &err) != HINNY_OK)
		return arena_strdup(&lc->c.arena, err.text);
	e->ops = &jq_impl;
	return lang_case_eval(lc, e);
}

struct row {
	const char *label, *body, *text, *want;
	enum value_class_id type;
	bool predicate;
	const char *source;
	bool refused; /* the reason holds `want` */
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct lang_case lc;

	lang_case_init(&lc);
	worker.runtime = jq_runtime_new(1000);
	if (r->body != NULL)
		lang_case_body(&lc, r->body);
	lang_case_header(&lc, "Foo", value_str(STR_LIT("abc")));
	lang_case_header(&lc, "n", value_int(5));
	lang_case_header(&lc, "doc", value_str(STR_LIT("{\"q\":[1,2]}")));
	exchange_set_property(lc.ex, STR_LIT("pp"), value_str(STR_LIT("p1")));
	exchange_set_variable(lc.ex, STR_LIT("vv"), value_bool(true));
	const char *got = run(&lc, r->text, r->source, r->predicate, r->type);
	if (!r->refused)
		assert_string_equal(got, r->want);
	else if (strstr(got, r->want) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", got, r->want);
	jq_runtime_free(worker.runtime);
	lang_case_fini(&lc);
}

static const struct row rows[] = {
	{ "number", J, ".id", "7", .type = CLASS_NONE },
	{ "array prints as JSON", J, ".tags", "[ \"a\", \"b\" ]", .type = CLASS_NONE },
	{ "object prints as JSON", J, ".o", "{\n  \"x\" : 1\n}", .type = CLASS_NONE },
	{ "missing", J, ".nope", NULL_VALUE, .type = CLASS_NONE },
	{ "several outputs", J, ".tags[]", "[\"a\", \"b\"]", .type = CLASS_NONE },
	{ "several objects", "[{\"a\":1},{\"a\":2}]", ".[]", "[{\"a\":1}, {\"a\":2}]", .type = CLASS_NONE },
	{ "no output", J, "empty", NULL_VALUE, .type = CLASS_NONE },
	{ "text has no quotes", J, ".tags[0]", "a", .type = CLASS_STRING },
	{ "text that is no ASCII", J, ".name", "J\xc3\xb6", .type = CLASS_NONE },
	{ "predicate", J, ".id == 7", IS_TRUE, .predicate = true },
	{ "predicate false", J, ".id == 8", IS_FALSE, .predicate = true },
	{ "predicate null", J, ".nope", IS_FALSE, .predicate = true },
	{ "predicate of a value", J, ".o", IS_FALSE, .predicate = true },
	{ "predicate of a number", J, ".id", IS_FALSE, .predicate = true },
	{ "predicate of several", J, ".tags[]", IS_TRUE, .predicate = true },
	{ "alternative", J, ".nope // \"d\"", "d", .type = CLASS_NONE },
	{ "large integers", "{}", "9007199254740991", "9007199254740991", .type = CLASS_NONE },
	{ "fraction", "{\"a\":1.5}", ".a", "1.5", .type = CLASS_NONE },
	{ "result type", J, ".id | tostring", "7", .type = CLASS_INTEGER },
	{ "header", J, ".a = header(\"foo\") | {id, a}", "{\n  \"id\" : 7,\n  \"a\" : \"abc\"\n}", .type = CLASS_NONE },
	{ "a number as header is text", J, "header(\"n\") | type", "string", .type = CLASS_NONE },
	{ "header with default", J, "header(\"zz\"; 4)", "4", .type = CLASS_NONE },
	{ "header that is not there", J, "header(\"zz\")", NULL_VALUE, .type = CLASS_NONE },
	{ "computed name", J, "header(\"f\" + \"oo\")", "abc", .type = CLASS_NONE },
	{ "in an interpolation", J, "\"<\\(header(\"FOO\"))>\"", "<abc>", .type = CLASS_NONE },
	{ "property and variable", J, "[property(\"pp\"), variable(\"vv\")]",
	    "[ \"p1\", \"true\" ]", .type = CLASS_NONE },
	{ "constant", J, "[constant(\"5\"), constant(\"5\"; \"Integer\"), "
			 "constant(\"TRUE\"; \"java.lang.Boolean\")]",
	    "[ \"5\", 5, true ]", .type = CLASS_NONE },
	{ "body is its text", "[1, 2]", "body", "[1, 2]", .type = CLASS_NONE },
	{ "a field is no function", "{\"header\":1}", "{header: .header}", "{\n  \"header\" : 1\n}", .type = CLASS_NONE },
	{ "a key alone is no function", "{\"input\":1,\"debug\":2}", "{input, debug}",
	    "{\n  \"input\" : 1,\n  \"debug\" : 2\n}", .type = CLASS_NONE },
	{ "a comment", J, "# header(\"\n.id", "7", .type = CLASS_NONE },
	{ "now", J, "now > 1000000000", "true", .type = CLASS_NONE },
	{ "source", J, ".q[1]", "2", .source = "header:doc" },
	{ "source that is not there", J, ".q", FAILS, .source = "header:nope" },
	{ "only the first value counts", "{\"a\":1} trailing", ".a", "1", .type = CLASS_NONE },
	{ "no body", NULL, ".", FAILS, .type = CLASS_NONE },
	{ "empty body", "", ".", NULL_VALUE, .type = CLASS_NONE },
	{ "no JSON", "{a", ".", FAILS, .type = CLASS_NONE },
	{ "error()", J, "error(\"x\")", FAILS, .type = CLASS_NONE },
	{ "wrong type", J, ".id.x", FAILS, .type = CLASS_NONE },
	{ "too large", J, "\"x\" * 2000", FAILS, .type = CLASS_NONE },
	{ "too many", J, "range(100000)", FAILS, .type = CLASS_NONE },
	{ "too deep", J, "reduce range(300) as $i (0; [.])", FAILS, .type = CLASS_NONE },
	{ "undefined function", J, ".id | nosuch(1)", "nosuch/1 is not defined at character 7", .refused = true },
	{ "undefined variable", J, ".\n|  $x", "$x is not defined at line 2, character 4", .refused = true },
	{ "syntax", J, ".foo bar", "unexpected IDENT, expecting $end at character 6", .refused = true },
	{ "syntax behind functions", J, "header(\"a\") foo",
	    "unexpected IDENT, expecting $end at character 13", .refused = true },
	{ "open bracket", J, "[.a", "a bracket is not closed", .refused = true },
	{ "open quote", J, ".a | \"x", "a quote is not closed", .refused = true },
	{ "bracket that closes nothing", J, ".a]", "3: unexpected \"]\"", .refused = true },
	{ "modules", J, "import \"a\" as a; .", "import is not available", .refused = true },
	{ "input", J, "[., input]", "input is not available", .refused = true },
	{ "nothing", J, "", "a program is missing", .refused = true },
	{ "bad source", J, ".", "source: expected body", .source = "no:where", .refused = true },
};

static void
test_reads(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	struct expression *e = compile_fake_new(
	    &lc.c, "jq", ".x = header(\"A\") + property( \"b\" ) + variable(\"c\"; \"d\")", false);
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(e->reads.flags, ACCESS_BODY);
	assert_string_equal(e->reads.headers.items[0], "A");
	assert_string_equal(e->reads.properties.items[0], "b");
	assert_string_equal(e->reads.variables.items[0], "c");
	assert_string_equal(e->owner, "jq");
	e = compile_fake_new(&lc.c, "jq", "header(.x)", false);
	((struct jq_conf *)e->conf)->source_text = "header:h";
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(e->reads.flags, ACCESS_HEADERS_ALL);
	lang_case_fini(&lc);
}

/* A message that failed leaves nothing behind for the next. */
static void
test_after_error(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	worker.runtime = jq_runtime_new(0);
	lang_case_body(&lc, "{\"a\":[1,2,3]}");
	for (int i = 0; i < 3; i++) {
		assert_string_equal(run(&lc, ".a[] | if . == 2 then error(\"e\") else . end",
					NULL, false, CLASS_NONE),
		    FAILS);
		lc.ex->exception = NULL;
		assert_string_equal(run(&lc, "[.a[]]", NULL, false, CLASS_NONE), "[ 1, 2, 3 ]");
	}
	jq_runtime_free(worker.runtime);
	lang_case_fini(&lc);
}

/* As the body of a message it is JSON on one line, a text without its quotes. */
static void
test_node(void **state)
{
	struct lang_case lc;
	struct value v, item;
	struct hinny_error err;
	(void)state;
	lang_case_init(&lc);
	worker.runtime = jq_runtime_new(0);
	lang_case_body(&lc, J);
	struct expression *e = compile_fake_new(&lc.c, "jq", ".tags", false);
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(jq_impl.prepare(&worker, e, &err), HINNY_OK);
	assert_int_equal(jq_impl.eval(e, lc.ex, &v), EVAL_OK);
	assert_true(value_item(&lc.ex->arena, &v, 0, &item));
	assert_true(str_eq(value_text(&lc.ex->arena, &item), STR_LIT("a")));
	assert_true(str_eq(value_payload(&lc.ex->arena, &item), STR_LIT("a")));
	assert_true(str_eq(value_payload(&lc.ex->arena, &v), STR_LIT("[\"a\",\"b\"]")));
	jq_runtime_free(worker.runtime);
	lang_case_fini(&lc);
}

int
main(void)
{
	UNIT_TABLE("jq", rows, check_row);
	UNIT_CASE(test_reads);
	UNIT_CASE(test_after_error);
	UNIT_CASE(test_node);
	return unit_run("jq");
}
