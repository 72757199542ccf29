/* core/lang/simple*: what a compiled expression says of itself, its options, parts that another
 * process evaluates, bounds. */
#include "core/lang/simple.h"

#include "core/lang/simple_priv.h"
#include "tests/lib/simple_case.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
test_functions_sorted(void **state)
{
	size_t n;
	const struct simple_function *all = simple_function_all(&n);
	(void)state;
	assert_true(n > 50);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(simple_function_find(str_of(all[i].name)), &all[i]);
		assert_true(i == 0 || strcmp(all[i - 1].name, all[i].name) < 0);
		assert_true(all[i].min <= all[i].max && all[i].help[0] != '\0');
	}
}

static void
test_no_allocation(void **state)
{
	struct lang_case lc;
	struct value v;
	(void)state;
	lang_case_init(&lc);
	simple_case_message(&lc);
	struct expression *e = compile_fake_new(
	    &lc.c, "simple", "${header.foo} == 'abc' && ${header.title} contains 'Action'", true);
	assert_true(compile_fake_finish(&lc.c, e));
	size_t used = lc.ex->arena.used;
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	assert_true(v.type == VALUE_BOOL && v.u.b);
	assert_int_equal(lc.ex->arena.used, used);
	lang_case_fini(&lc);
}

static bool
reads(const struct strings *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

static void
test_access(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	struct expression *e = compile_fake_new(&lc.c, "simple",
	    "${header.a} ${exchangeProperty.p} ${variable.v[0]} ${exception.message} "
	    "${date:header.d:yyyy}",
	    false);
	assert_true(compile_fake_finish(&lc.c, e));
	assert_true(reads(&e->reads.headers, "a") && reads(&e->reads.headers, "d") &&
	    reads(&e->reads.properties, "p"));
	assert_true(reads(&e->reads.variables, "v"));
	assert_int_equal(e->reads.flags, ACCESS_EXCEPTION);
	e = compile_fake_new(&lc.c, "simple", "${trim()} ${header.${variable.v}}", false);
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(e->reads.flags, ACCESS_BODY | ACCESS_HEADERS_ALL);
	lang_case_fini(&lc);
}

static void
test_boolean_result_type(void **state)
{
	struct lang_case lc;
	struct value v;
	(void)state;
	lang_case_init(&lc);
	simple_case_message(&lc);
	struct expression *e = compile_fake_new(&lc.c, "simple", "${header.foo} == 'abc'", false);
	e->result_type = CLASS_BOOLEAN;
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	assert_true(v.type == VALUE_BOOL && v.u.b);
	e = compile_fake_new(&lc.c, "simple", "${header.num}", false);
	e->result_type = CLASS_INTEGER;
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	assert_true(v.type == VALUE_INT && v.u.i == 42);
	lang_case_fini(&lc);
}

static void
test_options(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	simple_case_message(&lc);
	struct expression *e = compile_fake_new(&lc.c, "simple", "  ${header.foo} x ", false);
	((struct simple_conf *)e->conf)->trim_result = true;
	assert_true(compile_fake_finish(&lc.c, e));
	assert_string_equal(lang_case_eval(&lc, e), "abc x");
	e = compile_fake_new(&lc.c, "simple", "${header.map}", false);
	((struct simple_conf *)e->conf)->pretty = true;
	assert_true(compile_fake_finish(&lc.c, e));
	assert_string_equal(lang_case_eval(&lc, e), "{\n\t\"k\": \"v\"\n}");
	e = compile_fake_new(&lc.c, "simple", "x", false);
	((struct simple_conf *)e->conf)->nested = true;
	assert_false(compile_fake_finish(&lc.c, e));
	lang_case_fini(&lc);
}

/* A remote part: wanted, then read from its slot; its exception surfaces when it is read. */
static void
test_remote_part(void **state)
{
	struct lang_case lc;
	struct value v;
	(void)state;
	lang_case_init(&lc);
	simple_case_message(&lc);
	struct expression *e =
	    compile_fake_new(&lc.c, "simple", "${header.int} == 1 || ${xpath(/o/@id)} > 5", true);
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(e->parts_n, 1);
	assert_string_equal(e->parts[0]->text, "/o/@id");
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_NEED);
	assert_ptr_equal(lc.ex->need, e->parts[0]);
	struct eval_slot slot = {
		.e = e->parts[0], .filled = true, .value = value_str(STR_LIT("9"))
	};
	lc.ex->slots = &slot;
	lc.ex->slots_n = 1;
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	assert_true(v.u.b);
	slot.exception = exception_new(&lc.ex->arena, EXCEPTION_XPATH_EXPRESSION, "wrong");
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_ERROR);
	assert_ptr_equal(lc.ex->exception, slot.exception);
	/* not read: no error */
	lang_case_header(&lc, "int", value_int(1));
	lc.ex->exception = NULL;
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	/* before anything is set, all parts must be there */
	lc.ex->slots_n = 0;
	e = compile_fake_new(&lc.c, "simple", "${setHeader(z,1)}${xpath(/a)}", false);
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_NEED);
	assert_null(exchange_header(lc.ex, STR_LIT("z")));
	assert_string_equal(
	    lang_case_run(&lc, "simple", "${body} ~> ${xpath(/a)}", false), REFUSED);
	assert_string_equal(lang_case_run(&lc, "simple", "${xpath(/zz:a)}", false), REFUSED);
	lang_case_fini(&lc);
}

static void
test_exception(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	assert_string_equal(
	    lang_case_run(&lc, "simple", "${exception.message}", false), NULL_VALUE);
	assert_string_equal(lang_case_run(&lc, "simple", "${exception.stacktrace}", false), FAILS);
	lc.ex->caught = exception_new(&lc.ex->arena, EXCEPTION_IO, "broken");
	assert_string_equal(lang_case_run(&lc, "simple", "${exception.message}", false), "broken");
	assert_string_equal(
	    lang_case_run(&lc, "simple", "${exchangeProperty.CamelExceptionCaught.message}", false),
	    "broken");
	assert_string_equal(
	    lang_case_run(&lc, "simple", "${exception.class.name}", false), "java.io.IOException");
	assert_string_equal(lang_case_run(&lc, "simple",
				"${exchangeProperty.CamelExceptionCaught.class.simpleName}", false),
	    "IOException");
	assert_string_equal(
	    lang_case_run(&lc, "simple", "${exception.cause.message}", false), NULL_VALUE);
	lc.ex->caught->cause = exception_new(&lc.ex->arena, EXCEPTION_ILLEGAL_STATE, "deep");
	assert_string_equal(
	    lang_case_run(&lc, "simple",
		"${exception.cause.message} ${exception.cause.class.simpleName}", false),
	    "deep IllegalStateException");
	assert_string_equal(lang_case_run(&lc, "simple", "${exception.cause}", false),
	    "java.lang.IllegalStateException: deep");
	lc.ex->caught->cause = NULL;
	assert_string_equal(
	    lang_case_run(&lc, "simple", "${exception}", false), "java.io.IOException: broken");
	lang_case_fini(&lc);
}

static void
test_nesting_is_bounded(void **state)
{
	enum { LEVELS = 5000 };
	struct lang_case lc;
	char *text = malloc(LEVELS * 8 + 64);
	(void)state;
	assert_non_null(text);
	lang_case_init(&lc);
	char *p = text;
	for (int i = 0; i < LEVELS; i++)
		p += sprintf(p, "${not(");
	for (int i = 0; i < LEVELS; i++)
		p += sprintf(p, ")}");
	assert_string_equal(lang_case_run(&lc, "simple", text, false), REFUSED);
	p = text;
	for (int i = 0; i < LEVELS; i++)
		p += sprintf(p, "${' ");
	assert_string_equal(lang_case_run(&lc, "simple", text, true), REFUSED);
	p = text + sprintf(text, "${");
	for (int i = 0; i < LEVELS; i++)
		p += sprintf(p, "int:");
	(void)sprintf(p, "body}");
	assert_string_equal(lang_case_run(&lc, "simple", text, false), REFUSED);
	lang_case_fini(&lc);
	free(text);
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	UNIT_CASE(test_functions_sorted);
	UNIT_CASE(test_no_allocation);
	UNIT_CASE(test_access);
	UNIT_CASE(test_boolean_result_type);
	UNIT_CASE(test_options);
	UNIT_CASE(test_remote_part);
	UNIT_CASE(test_exception);
	UNIT_CASE(test_nesting_is_bounded);
	return unit_run("simple_expression");
}
