/* core/lang: the list of languages, the small ones, what every process knows of xpath and
 * xtokenize, regular expressions, text, time zones. */
#include "core/lang/expression.h"

#include "core/lang/regex.h"
#include "core/lang/text.h"
#include "core/lang/timezone.h"
#include "core/lang/xpath.h"
#include "core/lang/tokenize.h"
#include "core/lang/xtokenize.h"
#include "tests/lib/lang_case.h"
#include "tests/lib/unit.h"

#include <stdio.h>

static void
test_list(void **state)
{
	size_t n;
	const struct language_desc *const *all = language_all(&n);
	(void)state;
	assert_true(n >= 9);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(language_find(str_of(all[i]->name)), all[i]);
		assert_true(i == 0 || strcmp(all[i - 1]->name, all[i]->name) < 0);
		assert_non_null(all[i]->help);
		assert_true((all[i]->eval != NULL) == (all[i]->owner == NULL));
		for (const struct option_desc *o = all[i]->options; o != NULL && o->name != NULL;
		     o++)
			assert_true(o->help != NULL && o->offset < all[i]->conf_size);
	}
	assert_null(language_find(STR_LIT("smple")));
}

static const struct small_row {
	const char *label, *language, *text, *expected;
	bool predicate;
} smalls[] = {
	{ "constant", "constant", "${body}", "${body}", false },
	{ "constant abc", "constant", "abc", IS_TRUE, true },
	{ "constant false", "constant", "false", IS_FALSE, true },
	{ "constant empty", "constant", "", "", false },
	{ "header", "header", "FOO", "1", false },
	{ "header absent", "header", "nope", NULL_VALUE, false },
	{ "header absent, predicate", "header", "nope", IS_FALSE, true },
	{ "header without a name", "header", "", REFUSED, false },
	{ "property", "exchangeProperty", "p", "pv", false },
	{ "property in another case", "exchangeProperty", "P", NULL_VALUE, false },
	{ "property without a name", "exchangeProperty", "", REFUSED, false },
	{ "variable", "variable", "v", "vv", false },
	{ "variable of a route, without its name", "variable", "route:v", REFUSED, false },
	{ "variable without a name", "variable", "", REFUSED, false },
};

static void
check_small(void **state)
{
	const struct small_row *r = *state;
	struct lang_case lc;
	lang_case_init(&lc);
	lang_case_header(&lc, "foo", value_str(STR_LIT("1")));
	exchange_set_property(lc.ex, STR_LIT("p"), value_str(STR_LIT("pv")));
	exchange_set_variable(lc.ex, STR_LIT("v"), value_str(STR_LIT("vv")));
	assert_string_equal(lang_case_run(&lc, r->language, r->text, r->predicate), r->expected);
	lang_case_fini(&lc);
}

static void
test_constant_result_type(void **state)
{
	struct lang_case lc;
	struct value v;
	(void)state;
	lang_case_init(&lc);
	struct expression *e = compile_fake_new(&lc.c, "constant", "12", false);
	e->result_type = CLASS_INTEGER;
	assert_true(compile_fake_finish(&lc.c, e));
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	assert_true(v.type == VALUE_INT && v.u.i == 12);
	e = compile_fake_new(&lc.c, "constant", "x", false);
	e->result_type = CLASS_INTEGER;
	assert_false(compile_fake_finish(&lc.c, e));
	lang_case_fini(&lc);
}

static void
test_text_and_truth(void **state)
{
	struct lang_case lc;
	struct str s;
	bool null, truth;
	(void)state;
	lang_case_init(&lc);
	lang_case_header(&lc, "n", value_int(0));
	struct expression *e = compile_fake_new(&lc.c, "header", "n", false),
			  *none = compile_fake_new(&lc.c, "header", "x", false);
	assert_true(compile_fake_finish(&lc.c, e) && compile_fake_finish(&lc.c, none));
	assert_int_equal(expression_text(e, lc.ex, &s, &null), EVAL_OK);
	assert_true(str_eq(s, STR_LIT("0")) && !null);
	assert_int_equal(expression_text(none, lc.ex, &s, &null), EVAL_OK);
	assert_true(s.n == 0 && null);
	assert_int_equal(expression_text(none, lc.ex, &s, NULL), EVAL_OK);
	assert_int_equal(expression_test(e, lc.ex, &truth), EVAL_OK);
	assert_true(truth);
	assert_int_equal(expression_test(none, lc.ex, &truth), EVAL_OK);
	assert_false(truth);
	lang_case_fini(&lc);
}

/* ---- owned languages ---- */

static enum eval_rc
local_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	(void)e;
	(void)ex;
	*out = value_str(STR_LIT("7"));
	return EVAL_OK;
}

static void
test_remote(void **state)
{
	static const struct language_impl impl = { .name = "xpath", .eval = local_eval };
	struct lang_case lc;
	struct value v;
	bool truth;
	(void)state;
	lang_case_init(&lc);
	struct expression *e = compile_fake_new(&lc.c, "xpath", "/a", false),
			  *other = compile_fake_new(&lc.c, "xpath", "/b", false);
	e->result_type = CLASS_INTEGER;
	assert_true(compile_fake_finish(&lc.c, e) && compile_fake_finish(&lc.c, other));
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_NEED);
	assert_ptr_equal(lc.ex->need, e);
	struct eval_slot slots[] = { { .e = other, .filled = true, .value = value_null() },
		{ .e = e } };
	lc.ex->slots = slots;
	lc.ex->slots_n = 2;
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_NEED);
	slots[1].filled = true;
	slots[1].value = value_str(STR_LIT("5"));
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	assert_true(v.type == VALUE_INT && v.u.i == 5);
	assert_ptr_equal(expression_slot(lc.ex, e), &slots[1]);
	slots[1].value = value_str(STR_LIT("x"));
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_ERROR);
	assert_int_equal(lc.ex->exception->id, EXCEPTION_TYPE_CONVERSION);
	assert_int_equal(expression_test(other, lc.ex, &truth), EVAL_OK);
	assert_false(truth);
	e->ops = &impl;
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	assert_true(v.u.i == 7);
	lang_case_fini(&lc);
}

static const struct pair namespaces[] = { { "o", "urn:o" }, { "x", "urn:x" } };

static const struct xpath_row {
	const char *label, *text, *error; /* NULL: right */
} xpaths[] = {
	{ "plain", "/order/@id = 7", NULL },
	{ "declared prefix", "/o:order/x:item[1]", NULL },
	{ "axis", "child::a/ancestor-or-self::node()", NULL },
	{ "prefix in a text", "contains(/a, 'zz:b')", NULL },
	{ "numbers and dots", "../a[. = .5 and position() < 10.25] - 1", NULL },
	{ "camel's functions", "in:header('h') and function:properties(\"p\")", NULL },
	{ "undeclared prefix", "/zz:a", "2: Prefix must resolve to a namespace: zz\n" },
	{ "undeclared prefix of an attribute", "/a/@zz:b",
	    "5: Prefix must resolve to a namespace: zz\n" },
	{ "open bracket", "/a[b", "5: Expected ], but found: (end of expression)\n" },
	{ "open parenthesis", "count(/a", "9: Expected ), but found: (end of expression)\n" },
	{ "wrong bracket", "/a[b)", "5: ) closes nothing\n" },
	{ "open quote", "/a = 'b", "6: misquoted literal: its closing ' is missing\n" },
	{ "$ without a name", "/a = $", "7: a name must follow $\n" },
	{ "empty", "", "0: an expression is missing\n" },
	{ "wrong Simple", "function:simple('${nosuch}')", "3: Unknown function: nosuch\n" },
};

static void
check_xpath(void **state)
{
	const struct xpath_row *r = *state;
	struct lang_case lc;
	lang_case_init(&lc);
	struct expression *e = compile_fake_new(&lc.c, "xpath", r->text, false);
	((struct xpath_conf *)e->conf)->namespaces =
	    (struct pairs){ (struct pair *)(uintptr_t)namespaces, 2 };
	assert_int_equal(compile_fake_finish(&lc.c, e), r->error == NULL);
	assert_string_equal(lc.c.errors, r->error != NULL ? r->error : "");
	lang_case_fini(&lc);
}

static bool
has(const struct strings *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

static void
test_xpath_access(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	struct expression *e = compile_fake_new(&lc.c, "xpath",
	    "/a[@b = $v and in:header('h') = function:properties(\"p\") and "
	    "function:simple('${variable.s}')]",
	    false);
	assert_true(compile_fake_finish(&lc.c, e));
	assert_true(has(&e->reads.headers, "v") && has(&e->reads.properties, "v") &&
	    has(&e->reads.variables, "v"));
	assert_true(has(&e->reads.headers, "h") && has(&e->reads.properties, "p") &&
	    has(&e->reads.variables, "s"));
	assert_int_equal(e->reads.flags, ACCESS_BODY);
	assert_int_equal(e->parts_n, 1);
	assert_string_equal(e->parts[0]->text, "${variable.s}");
	assert_string_equal(e->owner, "xform");
	e = compile_fake_new(&lc.c, "xpath", "/a[in:header($x)]", false);
	((struct xpath_conf *)e->conf)->source_text = "header:src";
	assert_true(compile_fake_finish(&lc.c, e));
	assert_true(has(&e->reads.headers, "src"));
	assert_int_equal(e->reads.flags, ACCESS_HEADERS_ALL);
	lang_case_fini(&lc);
}

static void
test_xpath_refused_options(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	struct expression *e = compile_fake_new(&lc.c, "xpath", "/a", false);
	struct xpath_conf *conf = e->conf;
	conf->saxon = true;
	conf->factory_ref = "x";
	assert_false(compile_fake_finish(&lc.c, e));
	assert_non_null(strstr(lc.c.errors, "option \"saxon\" of language xpath is not supported"));
	assert_non_null(strstr(lc.c.errors, "option \"factoryRef\""));
	lang_case_fini(&lc);
}

static void
test_xtokenize(void **state)
{
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	struct expression *e = compile_fake_new(&lc.c, "xtokenize", "/o/x:i//*", false);
	((struct xtokenize_conf *)e->conf)->namespaces =
	    (struct pairs){ (struct pair *)(uintptr_t)namespaces, 2 };
	assert_true(compile_fake_finish(&lc.c, e));
	const struct xtokenize_path *path = e->code;
	assert_int_equal(path->n, 3);
	assert_true(str_eq(path->steps[0].name, STR_LIT("o")) && path->steps[0].uri == NULL &&
	    !path->steps[0].anywhere);
	assert_string_equal(path->steps[1].uri, "urn:x");
	assert_true(str_eq(path->steps[2].name, STR_LIT("*")) && path->steps[2].anywhere);
	assert_string_equal(lang_case_run(&lc, "xtokenize", "/zz:i", false), REFUSED);
	assert_string_equal(lang_case_run(&lc, "xtokenize", "/a/", false), REFUSED);
	assert_string_equal(lang_case_run(&lc, "xtokenize", "/a[1]", false), REFUSED);
	assert_string_equal(lang_case_run(&lc, "xtokenize", "", false), REFUSED);
	lang_case_fini(&lc);
}

/* ---- tokenize ---- */

static const struct tokenize_row {
	const char *label, *token, *body;
	struct tokenize_conf conf;
	const char *expected; /* with "|" between the parts */
} tokenizes[] = {
	{ "plain", ",", "a , b", { 0 }, "a | b" },
	{ "empty parts", "\n", "a\n\nb\n", { 0 }, "a||b" },
	{ "written line end", "\\n", "a\nb", { 0 }, "a|b" },
	{ "no text", ",", "", { 0 }, "" },
	{ "group", "\n", "a\nb\nc\n", { .group_text = "2" }, "a\nb|c" },
	{ "group by another delimiter", ",", "a,b,c", { .group_text = "2", .group_delimiter = ";" },
	    "a;b|c" },
	{ "skip the first", "\n", "h\na\nb", { .group_text = "2", .skip_first = true }, "a\nb" },
	{ "regex", "[0-9]+", "a1b22c", { .regex = true }, "a|b|c" },
	{ "regex that matches nothing", "x*", "ab", { .regex = true }, "a|b" },
	{ "regex without being told", "[0-9]+", "a1b22c", { 0 }, "a|b|c" },
	{ "alternatives of nothing", "|", "a|b", { 0 }, "a|||b" },
	{ "a token at the start", ",", ",a,,b,", { 0 }, "a||b" },
	{ "tokens alone", ",", ",,", { 0 }, "" },
	{ "a pattern at the start", "[,;]", ";a,b", { 0 }, "a|b" },
	{ "pair", "[", "x[1]y[2]", { .end_token = "]" }, "1|2" },
	{ "pair with tokens", "[", "x[1]y[2", { .end_token = "]", .include_tokens = true },
	    "[1]|[2]" },
	{ "pair without an end", "[", "x[1]y[2", { .end_token = "]" }, "1|2" },
	{ "pair without a beginning", "[", "a]b[1]", { .end_token = "]" }, "" },
	{ "xml", "i", "<o><i>1</i><i a='>'/><x:i>3</x:i><id>4</id></o>", { .xml = true },
	    "<i>1</i>|<i a='>'/>|<x:i>3</x:i>" },
	{ "xml in brackets", "<i>", "<o><i>1</i></o>", { .xml = true }, "<i>1</i>" },
	{ "xml group", "i", "<o><i>1</i><i>2</i><i>3</i></o>",
	    { .xml = true, .group_text = "2" }, "<i>1</i><i>2</i>|<i>3</i>" },
	{ "xml that breaks off", "i", "<o><i>1</i><i>2</o>", { .xml = true }, "<i>1</i>" },
	{ "inherited namespaces", "i", "<o xmlns=\"urn:x\" b='1' xmlns:y='y'><i c='2'>1</i><i "
				       "xmlns:y='z'/></o>",
	    { .xml = true, .inherit = "o" },
	    "<i c='2' xmlns=\"urn:x\" xmlns:y='y'>1</i>|<i xmlns:y='z' xmlns=\"urn:x\"/>" },
	{ "no number of a group", ",", "", { .group_text = "x" }, REFUSED },
	{ "xml and regex", "i", "", { .xml = true, .regex = true }, REFUSED },
	{ "regex that is none", "(", "", { .regex = true }, REFUSED },
	{ "no token", "", "", { 0 }, REFUSED },
	{ "any element", "*", "", { .xml = true }, REFUSED },
	{ "tokens without an end", ",", "", { .include_tokens = true }, REFUSED },
	{ "namespaces without xml", ",", "", { .inherit = "o" }, REFUSED },
};

static void
check_tokenize(void **state)
{
	const struct tokenize_row *row = *state;
	struct lang_case lc;
	struct value v;
	char got[512] = "";
	lang_case_init(&lc);
	lang_case_body(&lc, row->body);
	struct expression *e = compile_fake_new(&lc.c, "tokenize", row->token, false);
	*(struct tokenize_conf *)e->conf = row->conf;
	if (!compile_fake_finish(&lc.c, e)) {
		assert_string_equal(REFUSED, row->expected);
		lang_case_fini(&lc);
		return;
	}
	assert_int_equal(expression_eval(e, lc.ex, &v), EVAL_OK);
	assert_int_equal(v.type, VALUE_LIST);
	for (size_t i = 0; i < v.u.list->n; i++) {
		struct str s = value_text(&lc.ex->arena, &v.u.list->items[i]);
		(void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s", i ? "|" : "",
		    STR_FMT(s));
	}
	assert_string_equal(got, row->expected);
	lang_case_fini(&lc);
}

/* ---- regular expressions ---- */

static const struct regex_row {
	const char *label, *pattern, *text;
	int matches; /* -1: refused */
} regexes[] = {
	{ "whole", "b", "abc", 0 },
	{ "dot and line end", "a.b", "a\nb", 0 },
	{ "posix class", "\\p{Alpha}+", "abc", 1 },
	{ "posix class negated", "\\P{Alpha}+", "12", 1 },
	{ "posix class in a class", "[\\p{Digit}x]+", "1x2", 1 },
	{ "unicode class", "\\p{L}+", "\xC3\xBC", 1 },
	{ "digits are ASCII", "\\d", "\xD9\xA1", 0 },
	{ "quoted", "\\Q[a]&&\\E", "[a]&&", 1 },
	{ "bracket first in a class", "[]a]+", "]a", 1 },
	{ "union of classes", "[a[bc]]+", "abc", 1 },
	{ "union of classes, none", "[a[bc]]", "d", 0 },
	{ "union with a negated class", "[a[^b]]", "b", 0 },
	{ "intersection", "[a-z&&[def]]+", "fed", 1 },
	{ "intersection, none", "[a-z&&[def]]", "a", 0 },
	{ "intersection without brackets", "[a-f&&d-z]+", "df", 1 },
	{ "subtraction", "[a-z&&[^bc]]+", "ad", 1 },
	{ "subtraction, none", "[a-z&&[^bc]]", "b", 0 },
	{ "negation of an intersection", "[^a-z&&[def]]", "a", 1 },
	{ "negation of an intersection, none", "[^a-z&&[def]]", "d", 0 },
	{ "class of a class of a class", "[0[a[x-z]]]+", "0az", 1 },
	{ "class with a line end", "[^a[b]]", "\n", 1 },
	{ "class that is not closed", "[a[b]", "a", -1 },
	{ "empty intersection", "[a&&&&b]", "a", -1 },
	{ "ampersand alone", "[a&b]+", "a&b", 1 },
	{ "class with a quantifier", "x[a[b]]{2}y", "xaby", 1 },
	{ "caret in a class", "[a^]+", "^a", 1 },
	{ "POSIX of PCRE2 is a union", "[[:alpha:]]+", "lap:", 1 },
	{ "POSIX of PCRE2 is a union, none", "[[:alpha:]]", "z", 0 },
	{ "possessive", "a*+a", "aaa", 0 },
	{ "possessive group", "(?:ab)++c", "ababc", 1 },
	{ "atomic group", "(?>a*)b", "aab", 1 },
	{ "quoted in the middle", "a\\Q.*\\E+", "a.***", 1 },
	{ "quoted in a class", "[\\Q]-^\\E]+", "]-^", 1 },
	{ "quoted to the end", "\\Qa(b", "a(b", 1 },
	{ "quoted, a brace", "\\Q{x}\\E", "{x}", 1 },
	{ "\\E alone", "a\\Eb", "ab", 1 },
	{ "javaLowerCase", "\\p{javaLowerCase}+", "\xC3\xBC" "a", 1 },
	{ "javaUpperCase", "\\P{javaUpperCase}", "A", 0 },
	{ "javaWhitespace", "\\p{javaWhitespace}", "\xC2\xA0", 0 },
	{ "javaLetterOrDigit in a class", "[\\p{javaLetterOrDigit}_]+", "\xC3\xA4_7", 1 },
	{ "javaMirrored", "\\p{javaMirrored}", "(", -1 },
	{ "IsAlphabetic", "\\p{IsAlphabetic}+", "\xC3\xA4", 1 },
	{ "IsLatin", "\\p{IsLatin}+", "\xC3\xA4z", 1 },
	{ "script=", "\\p{script=Greek}", "\xCE\xB1", 1 },
	{ "gc=", "\\p{gc=Lu}", "A", 1 },
	{ "block", "\\p{InGreek}", "a", -1 },
	{ "no such property", "\\p{Nope}", "a", -1 },
	{ "\\h", "a\\hb", "a\tb", 1 },
	{ "\\h is not vertical", "\\h", "\n", 0 },
	{ "\\v", "\\v", "\x0b", 1 },
	{ "\\R", "a\\Rb", "a\r\nb", 1 },
	{ "\\z", "a\\z", "a\n", 0 },
	{ "\\Z", "a\\Z\\s", "a\n", 1 },
	{ "\\u", "\\u00e4", "\xC3\xA4", 1 },
	{ "\\u of a pair", "\\uD83D\\uDE00", "\xF0\x9F\x98\x80", 1 },
	{ "\\u of half a pair", "\\uD83D", "x", -1 },
	{ "\\x", "\\x41\\x{e4}", "A\xC3\xA4", 1 },
	{ "octal", "\\0101", "A", 1 },
	{ "octal without digits", "\\0", "A", -1 },
	{ "control", "\\cA", "\x01", 1 },
	{ "(?U)", "(?U)\\w+", "\xC3\xA4", 1 },
	{ "(?U) in the middle", "a(?U)\\w", "ax", -1 },
	{ "(?iu)", "(?iu)\xC3\xA4", "\xC3\x84", 1 },
	{ "(?d)", "(?d)a", "a", -1 },
	{ "(?s)", "(?s)a.b", "a\nb", 1 },
	{ "(?m)", "(?ms)a$.^b", "a\nb", 1 },
	{ "(?x)", "(?x)a b # c", "ab", 1 },
	{ "(?-i:)", "(?i)a(?-i:b)", "Ab", 1 },
	{ "flags of a group", "(?i:a)b", "AB", 0 },
	{ "lookahead", "a(?=b)b", "ab", 1 },
	{ "lookbehind", "a(?<=a)b", "ab", 1 },
	{ "lookbehind of any length", "(?<=a*)b", "b", -1 },
	{ "recursion of PCRE2", "(?R)", "a", -1 },
	{ "Python's name", "(?P<x>a)", "a", -1 },
	{ "verb of PCRE2", "(*ACCEPT)a", "a", -1 },
	{ "\\K of PCRE2", "a\\Kb", "ab", -1 },
	{ "backslash at the end", "a\\", "a", -1 },
	{ "flags", "(?i)AB", "ab", 1 },
	{ "named group", "(?<x>a)\\k<x>", "aa", 1 },
	{ "open", "(a", "a", -1 },
};

static void
check_regex(void **state)
{
	const struct regex_row *r = *state;
	struct arena a;
	struct regex *re;
	struct hinny_error err = { .text = "" };
	bool yes;
	arena_init(&a);
	enum hinny_rc rc = regex_compile(&a, str_of(r->pattern), 0, &re, &err);
	assert_int_equal(rc == HINNY_OK, r->matches >= 0);
	if (rc == HINNY_OK) {
		assert_int_equal(regex_matches(re, str_of(r->text), &yes, &err), HINNY_OK);
		assert_int_equal(yes, r->matches);
	} else {
		assert_true(err.text[0] != '\0');
	}
	arena_fini(&a);
}

static const struct replace_row {
	const char *label, *pattern, *text, *by, *expected; /* NULL: an error */
	bool all;
} replaces[] = {
	{ "all", "b+", "abbcb", "x", "axcx", true },
	{ "first", "b+", "abbcb", "x", "axcb", false },
	{ "group by number", "(\\w)-(\\w)", "a-b c-d", "$2-$1", "b-a d-c", true },
	{ "group by name", "(?<year>\\d+)", "in 2024", "<${year}>", "in <2024>", true },
	{ "whole match", "b", "abc", "[$0]", "a[b]c", true },
	{ "as many digits as there are groups", "(a)", "a", "$10", "a0", true },
	{ "group that took no part", "(a)|b", "b", "<$1>", "<>", true },
	{ "escaped dollar", "a", "a", "\\$1", "$1", true },
	{ "nothing matched", "x", "abc", "$1", "abc", true },
	{ "empty matches", "x*", "\xC3\xA4" "b", "-", "-\xC3\xA4-b-", true },
	{ "no such group", "a", "a", "$1", NULL, true },
	{ "no such name", "a", "a", "${n}", NULL, true },
	{ "dollar alone", "a", "a", "$", NULL, true },
};

static void
check_replace(void **state)
{
	const struct replace_row *r = *state;
	struct hinny_error err = { .text = "" };
	struct arena a;
	struct regex *re;
	struct buf b;
	arena_init(&a);
	buf_init(&b, 0);
	assert_int_equal(regex_compile(&a, str_of(r->pattern), 0, &re, &err), HINNY_OK);
	enum hinny_rc rc = regex_replace(re, str_of(r->text), str_of(r->by), r->all, &b, &err);
	assert_int_equal(rc == HINNY_OK, r->expected != NULL);
	if (rc == HINNY_OK)
		assert_string_equal(b.n > 0 ? buf_cstr(&b) : "", r->expected);
	else
		assert_true(err.text[0] != '\0');
	buf_fini(&b);
	arena_fini(&a);
}

/* ---- text and zones ---- */

static void
test_text(void **state)
{
	struct arena a;
	struct str smile = STR_LIT("a\xF0\x9F\x98\x80z");
	(void)state;
	arena_init(&a);
	assert_int_equal(text_length(smile), 4);
	assert_int_equal(text_offset(smile, 3), 5);
	assert_true(str_eq(text_slice(smile, 3, 9), STR_LIT("z")));
	assert_true(str_eq(text_slice(smile, 2, 1), STR_LIT("")));
	assert_true(str_eq(text_upper(&a, STR_LIT("\xC3\xA9\xC5\x82\xCE\xB1\xD0\xB1\xFFx")),
	    STR_LIT("\xC3\x89\xC5\x81\xCE\x91\xD0\x91\xFFX")));
	assert_true(str_eq(text_lower(&a, STR_LIT("\xC3\x89\xC5\x81\xCE\x91\xD0\x91")),
	    STR_LIT("\xC3\xA9\xC5\x82\xCE\xB1\xD0\xB1")));
	assert_true(str_eq(
	    text_replace(&a, STR_LIT("aXXbX"), STR_LIT("X"), STR_LIT("yy")), STR_LIT("ayyyybyy")));
	assert_true(
	    str_eq(text_replace(&a, STR_LIT("ab"), STR_LIT("ab"), STR_LIT("")), STR_LIT("")));
	assert_true(str_eq(text_trim(STR_LIT("\x01 a \x1f")), STR_LIT("a")));
	arena_fini(&a);
}

static void
test_zones(void **state)
{
	static const char *const bad[] = { "Europe/Nowhere", "../../etc/passwd", "/etc/passwd", "",
		"GMT+99", "Europe" };
	struct arena a;
	struct timezone_rules *tz;
	const char *name;
	(void)state;
	arena_init(&a);
	assert_int_equal(timezone_load(&a, "GMT+5:30", &tz, NULL), HINNY_OK);
	assert_int_equal(timezone_offset(tz, 0, &name), 19800);
	assert_int_equal(timezone_load(&a, "UTC-0330", &tz, NULL), HINNY_OK);
	assert_int_equal(timezone_offset(tz, 0, &name), -12600);
	if (timezone_load(&a, "Europe/Paris", &tz, NULL) == HINNY_OK) {
		assert_int_equal(timezone_offset(tz, 1714557600, &name), 7200);
		assert_string_equal(name, "CEST");
		assert_int_equal(timezone_offset(tz, 1704067200, &name), 3600);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_not_equal(timezone_load(&a, bad[i], &tz, NULL), HINNY_OK);
	arena_fini(&a);
}

int
main(void)
{
	UNIT_CASE(test_list);
	UNIT_TABLE("small", smalls, check_small);
	UNIT_CASE(test_constant_result_type);
	UNIT_CASE(test_text_and_truth);
	UNIT_CASE(test_remote);
	UNIT_TABLE("xpath", xpaths, check_xpath);
	UNIT_CASE(test_xpath_access);
	UNIT_CASE(test_xpath_refused_options);
	UNIT_CASE(test_xtokenize);
	UNIT_TABLE("tokenize", tokenizes, check_tokenize);
	UNIT_TABLE("regex", regexes, check_regex);
	UNIT_TABLE("replace", replaces, check_replace);
	UNIT_CASE(test_text);
	UNIT_CASE(test_zones);
	return unit_run("languages");
}
