/* core/config/placeholder, core/config/properties */
#include "core/config/placeholder.h"

#include "core/config/node.h"
#include "tests/unit/config_fixture.h"

static void
set(struct properties *ps, const char *key, const char *value, bool system)
{
	properties_set(ps, str_of(key), str_of(value), system, true);
}

static void
fill(struct properties *ps)
{
	set(ps, "n", "2", false);
	set(ps, "app.name", "My Shop", false);
	set(ps, "app.full", "{{app.name}}-{{n}}", false);
	set(ps, "greet", "Hi", false);
	set(ps, "loop", "{{pool}}", false);
	set(ps, "pool", "{{loop}}", false);
	set(ps, "hinny.test.win", "file", false);
	set(ps, "given", "cli", true);
	set(ps, "empty", "", false);
	(void)setenv("HINNY_TEST_WIN", "env", 1);
	(void)setenv("HINNY_TEST_BRACES", "{{n}}", 1);
	(void)unsetenv("HINNY_TEST_NONE");
}

static const struct row {
	const char *label;  /* the text */
	const char *result; /* NULL: an error */
	const char *error;
	bool absent;
	unsigned flags;
} rows[] = {
	{ "plain", "plain", NULL, false, 0 },
	{ "{{n}}", "2", NULL, false, 0 },
	{ "{{ n }}", "2", NULL, false, 0 },
	{ "{{n}} ${body} {{?opt}}z", "2 ${body} z", NULL, false, 0 },
	{ "{{zz:a:b}}", "a:b", NULL, false, 0 },
	{ "{{zz:}}.", ".", NULL, false, 0 },
	{ "{{n:x}}", "2", NULL, false, 0 },
	{ "{{empty:x}}", "", NULL, false, 0 },
	{ "{{app.full}}!", "My Shop-2!", NULL, false, 0 },
	{ "{{gr{{x:ee}}t}}", "Hi", NULL, false, 0 },
	{ "{{a:{{b:{{n}}}}}}", "2", NULL, false, 0 },
	{ "{{a:{x}}}", "{x}", NULL, false, 0 },
	{ "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}", NULL, false, 0 },
	{ "'{{n}}'", "'2'", NULL, false, 0 },
	{ "{{?opt}}", "", NULL, true, 0 },
	{ "{{?n}}", "2", NULL, false, 0 },
	{ "{{?opt}}{{?other}}", "", NULL, false, 0 },
	{ "{{hinny.test.win}}", "env", NULL, false, 0 },
	{ "{{hinny-test-win}}", "env", NULL, false, 0 },
	{ "{{env:HINNY_TEST_WIN}}", "env", NULL, false, 0 },
	{ "{{env:hinny.test.win}}", "env", NULL, false, 0 },
	{ "{{env:HINNY_TEST_NONE:d}}", "d", NULL, false, 0 },
	{ "{{env:HINNY_TEST_BRACES}}", "{{n}}", NULL, false, 0 },
	{ "{{?env:HINNY_TEST_NONE}}", "", NULL, true, 0 },
	{ "{{sys:given}}", "cli", NULL, false, 0 },
	{ "{{sys:n:d}}", "d", NULL, false, 0 },
	{ "{{sys:os.name}}", "Linux", NULL, false, 0 },
	{ "{{file:f.txt}}", "from file", NULL, false, 0 },
	{ "x?a={{?o}}&b=1", "x?b=1", NULL, false, PLACEHOLDER_URI },
	{ "x?a=1&b={{?o}}&c={{?n}}", "x?a=1&c=2", NULL, false, PLACEHOLDER_URI },
	{ "x?a={{?o}}", "x", NULL, false, PLACEHOLDER_URI },
	{ "x?a={{?o}}&b={{?o}}", "x", NULL, false, PLACEHOLDER_URI },
	{ "x?a=1{{?o}}", "x?a=1", NULL, false, PLACEHOLDER_URI },
	{ "{{?o}}x", "x", NULL, false, PLACEHOLDER_URI },
	{ "{{env:HINNY_TEST_NONE}}", NULL, "environment variable \"HINNY_TEST_NONE\" is not set",
	    false, 0 },
	{ "{{nope}}", NULL, "property \"nope\" is not defined", false, 0 },
	{ "{{N}}", NULL, "property \"N\" is not defined", false, 0 },
	{ "{{loop}}", NULL, "more than 20 placeholders in one another", false, 0 },
	{ "a {{n", NULL, "\"{{\" has no \"}}\"", false, 0 },
	{ "\\{{n}}", NULL, "there is no escape for placeholders", false, 0 },
	{ "{{file:none.txt}}", NULL, "none.txt", false, 0 },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct config_fixture fx;
	struct properties ps;
	struct hinny_error err = { 0 };
	struct str out;
	bool absent;

	fixture_init(&fx);
	fixture_file(&fx, "f.txt", "from file\n");
	properties_init(&ps, &fx.arena, fx.dir);
	fill(&ps);
	enum hinny_rc rc =
	    placeholder_resolve(&ps, str_of(r->label), r->flags, &out, &absent, &err);
	assert_int_equal(rc == HINNY_OK, r->result != NULL);
	if (rc == HINNY_OK) {
		assert_string_equal(out.p, r->result);
		assert_int_equal(absent, r->absent);
	} else {
		assert_non_null(strstr(err.text, r->error));
	}
	properties_fini(&ps);
	fixture_fini(&fx);
}

static const struct file_row {
	const char *label;
	const char *text;
	const char *result; /* "key=value|…"; NULL: an error */
} file_rows[] = {
	{ "separators", "a=1\nb:2\nc 3\nd = 4\ne\t:\t5\nf", "a=1|b=2|c=3|d=4|e=5|f=|" },
	{ "comments and blank lines", "# x=1\n! y=2\n\n   # z\n  a=1\n\r\n", "a=1|" },
	{ "value keeps blanks at its end and separators", "a = x = y : z  \n", "a=x = y : z  |" },
	{ "continued lines", "a=1,\\\n   2,\\\r\n\t3\nb=\\\n", "a=1,2,3|b=|" },
	{ "escapes", "a\\ b\\=c\\:d=\\t\\\\x\\q\\#\n", "a b=c:d=\t\\xq#|" },
	{ "unicode", "a=\\u00e9\\u20AC\\ud83d\\ude00\\ud800x",
	    "a=\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx|" },
	{ "UTF-8 as it is", "a=\xc3\xa9\n", "a=\xc3\xa9|" },
	{ "byte order mark",
	    "\xef\xbb\xbf"
	    "a=1",
	    "a=1|" },
	{ "line ends", "a=1\rb=2\r\nc=3", "a=1|b=2|c=3|" },
	{ "last one counts", "a=1\na=2\n", "a=2|" },
	{ "no comment behind a value", "a=1 # x", "a=1 # x|" },
	{ "backslash at the end", "a=1\\", "a=1|" },
	{ "empty key", "=x", "=x|" },
	{ "empty", "", "" },
	{ "bad unicode", "ok=1\na=\\u12g4\n", NULL },
	{ "cut unicode", "a=\\u12", NULL },
};

static void
check_file_row(void **state)
{
	const struct file_row *r = *state;
	struct config_fixture fx;
	struct properties ps;
	struct hinny_error err;
	struct buf b;

	fixture_init(&fx);
	properties_init(&ps, &fx.arena, ".");
	buf_init(&b, 0);
	enum hinny_rc rc = properties_parse(&ps, str_of(r->text), true, &err);
	assert_int_equal(rc == HINNY_OK, r->result != NULL);
	for (size_t i = 0; rc == HINNY_OK && i < ps.n; i++)
		(void)buf_printf(&b, "%s=%s|", ps.items[i].key, ps.items[i].value);
	if (rc == HINNY_OK)
		assert_string_equal(buf_cstr(&b), r->result);
	buf_fini(&b);
	properties_fini(&ps);
	fixture_fini(&fx);
}

static void
test_tree(void **state)
{
	struct config_fixture fx;
	struct properties ps;
	(void)state;

	fixture_init(&fx);
	properties_init(&ps, &fx.arena, ".");
	fill(&ps);
	struct node *n = yaml_parse(&fx.arena, "f",
	    STR_LIT("- {uri: 'x?a={{?o}}', '{{n}}': '{{n}}', text: 'x?a={{?o}}', o: '{{?o}}'}\n- "
	            "'{{nope}}'\n- ['{{nope2}}']\n"),
	    &fx.ds);
	placeholder_resolve_tree(&ps, "f", n, &fx.ds);
	assert_string_equal(node_find(&n->items[0], "uri")->text.p, "x");
	assert_string_equal(node_find(&n->items[0], "{{n}}")->text.p, "2"); /* keys stay */
	assert_string_equal(node_find(&n->items[0], "text")->text.p, "x?a=");
	assert_true(node_find(&n->items[0], "o")->flags & NODE_ABSENT);
	assert_true(n->items[1].flags & NODE_BAD);
	assert_int_equal(fx.ds.errors, 2);
	assert_non_null(strstr(fixture_text(&fx), "f:2:3: value: property \"nope\""));
	assert_non_null(strstr(fixture_text(&fx), "f:3:4: [0]: property \"nope2\""));
	properties_fini(&ps);
	fixture_fini(&fx);
}

/* A text that doubles each time ends at the bound, not with the memory. */
static void
test_growth_is_bounded(void **state)
{
	struct config_fixture fx;
	struct properties ps;
	struct hinny_error err;
	struct str out;
	bool absent;
	(void)state;

	fixture_init(&fx);
	properties_init(&ps, &fx.arena, ".");
	char long_text[1001];
	memset(long_text, 'x', 1000);
	long_text[1000] = '\0';
	set(&ps, "p0", long_text, false);
	for (int i = 1; i < 16; i++) {
		char key[8], value[64];
		(void)snprintf(key, sizeof key, "p%d", i);
		(void)snprintf(value, sizeof value, "{{p%d}}{{p%d}}{{p%d}}", i - 1, i - 1, i - 1);
		set(&ps, key, value, false);
	}
	assert_int_equal(
	    placeholder_resolve(&ps, STR_LIT("{{p15}}"), 0, &out, &absent, &err), HINNY_ELIMIT);
	properties_fini(&ps);
	fixture_fini(&fx);
}

int
main(void)
{
	UNIT_TABLE("placeholder", rows, check_row);
	UNIT_TABLE("properties", file_rows, check_file_row);
	UNIT_CASE(test_tree);
	UNIT_CASE(test_growth_is_bounded);
	return unit_run("placeholder");
}
