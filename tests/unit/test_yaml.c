/* core/config/yaml */
#include "core/config/node.h"

#include "tests/unit/config_fixture.h"

/* "{a: [b, 'c']}": quoted scalars in quotes, null ones as ~. */
static void
print(struct buf *b, const struct node *n)
{
	if (n->kind == NODE_SCALAR) {
		const char *quote = n->flags & NODE_QUOTED ? "'" : "";
		(void)buf_printf(b, "%s%s%s", quote, node_is_null(n) ? "~" : n->text.p, quote);
		return;
	}
	(void)buf_add_char(b, n->kind == NODE_MAP ? '{' : '[');
	for (uint32_t i = 0; i < n->n; i++) {
		(void)buf_printf(b, "%s", i > 0 ? ", " : "");
		if (n->kind == NODE_MAP) {
			print(b, node_key(n, i));
			(void)buf_printf(b, ": ");
			print(b, node_value(n, i));
		} else {
			print(b, &n->items[i]);
		}
	}
	(void)buf_add_char(b, n->kind == NODE_MAP ? '}' : ']');
}

static const struct row {
	const char *label;
	const char *text;
	const char *tree;  /* NULL: none */
	const char *error; /* "": none */
} rows[] = {
	{ "list of maps", "- a: 1\n- b: {c: d}\n", "[{a: 1}, {b: {c: d}}]", "" },
	{ "words stay words", "[yes, on, 0777, 0x1f, 1_000, .5]",
	    "[yes, on, 0777, 0x1f, 1_000, .5]", "" },
	{ "null", "[~, null, Null, NULL, '', \"~\", nul, a: ]",
	    "[~, ~, ~, ~, '', '~', nul, {a: ~}]", "" },
	{ "styles", "- 'a ''b'\n- \"a\\tb\\u00e9\"\n- |\n  x\n  y\n- >-\n  x\n  y\n",
	    "['a 'b', 'a\tb\xc3\xa9', 'x\ny\n', 'x y']", "" },
	{ "alias", "- &a {x: [1]}\n- *a\n- y: *a\n", "[{x: [1]}, {x: [1]}, {y: {x: [1]}}]", "" },
	{ "anchor twice", "[&a 1, *a, &a 2, *a]", "[1, 1, 2, 2]", "" },
	{ "merge key is a key", "{<<: x}", "{<<: x}", "" },
	{ "comments, marks", "# c\n---\na: b # d\n...\n", "{a: b}", "" },
	{ "byte order mark",
	    "\xef\xbb\xbf"
	    "a: b",
	    "{a: b}", "" },
	{ "empty file", "", NULL, "f:1:1: the file is empty\n" },
	{ "comment alone", "# nothing\n", NULL, "f:1:1: the file is empty\n" },
	{ "empty document", "---\n", "~", "" },
	{ "second document", "a: b\n---\nc: d\n", NULL,
	    "f:2:1: a second document begins: a file has one\n" },
	{ "duplicate key", "a: 1\nb: 2\na: 3\n", "{a: 1, b: 2}",
	    "f:3:1: key \"a\" is given twice\n" },
	{ "duplicate key, quoted", "{a: 1, 'a': 2}", "{a: 1}",
	    "f:1:8: key \"a\" is given twice\n" },
	{ "key is a list", "{[a]: 1, b: 2}", "{b: 2}", "f:1:2: a key must be text, got a list\n" },
	{ "open bracket", "a: [b\nc: d", NULL,
	    "f:2:2: cannot read YAML: while parsing a flow sequence: did not find expected ',' or "
	    "']'\n" },
	{ "tab", "a:\n\tb: c\n", NULL,
	    "f:2:1: cannot read YAML: while scanning for the next token: found character that "
	    "cannot "
	    "start any token (a tab cannot be used for indentation)\n" },
	{ "no anchor", "a: *b", NULL,
	    "f:1:4: cannot read YAML: alias \"b\" has no anchor before it\n" },
	{ "anchor of itself", "&a [*a]", NULL,
	    "f:1:5: cannot read YAML: alias \"a\" has no anchor before it\n" },
	{ "not UTF-8", "a: b\nc: \xff\n", NULL,
	    "f:2:4: cannot read YAML: invalid leading UTF-8 octet\n" },
	{ "control character", "a: \x01", NULL,
	    "f:1:4: cannot read YAML: control characters are not allowed\n" },
	{ "character 0", "- \"a\\0b\"\n- c\n", "['a', c]",
	    "f:1:3: a text cannot have a character of value 0 in it\n" },
	{ "scalar", "hello", "hello", "" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct config_fixture fx;
	struct buf b;

	fixture_init(&fx);
	buf_init(&b, 0);
	struct node *n = yaml_parse(&fx.arena, "f", str_of(r->text), &fx.ds);
	assert_string_equal(fixture_text(&fx), r->error);
	assert_int_equal(n != NULL, r->tree != NULL);
	if (n != NULL) {
		print(&b, n);
		assert_string_equal(buf_cstr(&b), r->tree);
	}
	buf_fini(&b);
	fixture_fini(&fx);
}

static void
test_positions(void **state)
{
	struct config_fixture fx;
	(void)state;

	fixture_init(&fx);
	struct node *n =
	    yaml_parse(&fx.arena, "f", STR_LIT("- a: b\n- \xc3\xa9: {x:   'y'}\n"), &fx.ds);
	assert_non_null(n);
	const struct node *map = &n->items[1], *inner = node_value(map, 0);
	assert_int_equal(map->line, 2);
	assert_int_equal(map->column, 3);
	assert_int_equal(inner->column, 6); /* characters, not bytes */
	assert_int_equal(node_find(inner, "x")->column, 12);
	assert_null(node_find(inner, "z"));
	assert_null(node_find(node_find(inner, "x"), "z"));
	fixture_fini(&fx);
}

/* Ten aliases of ten aliases …: more nodes than there may be. */
static void
test_expansion_is_bounded(void **state)
{
	struct config_fixture fx;
	struct buf b;
	(void)state;

	fixture_init(&fx);
	buf_init(&b, 0);
	(void)buf_printf(&b, "- &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 10; i++) {
		(void)buf_printf(&b, "- &a%d [", i);
		for (int j = 0; j < 10; j++)
			(void)buf_printf(&b, "%s*a%d", j > 0 ? ", " : "", i - 1);
		(void)buf_printf(&b, "]\n");
	}
	assert_null(yaml_parse(&fx.arena, "f", (struct str){ b.p, b.n }, &fx.ds));
	assert_non_null(strstr(fixture_text(&fx), "cannot read YAML: more than 1048576 nodes"));
	buf_fini(&b);
	fixture_fini(&fx);
}

static void
test_depth_is_bounded(void **state)
{
	struct config_fixture fx;
	char text[2 * NODE_DEPTH_MAX + 10];
	(void)state;

	fixture_init(&fx);
	memset(text, '[', NODE_DEPTH_MAX);
	memset(text + NODE_DEPTH_MAX, ']', NODE_DEPTH_MAX);
	assert_non_null(
	    yaml_parse(&fx.arena, "f", (struct str){ text, 2 * NODE_DEPTH_MAX }, &fx.ds));
	assert_int_equal(fx.ds.errors, 0);
	memset(text, '[', NODE_DEPTH_MAX + 1);
	memset(text + NODE_DEPTH_MAX + 1, ']', NODE_DEPTH_MAX + 1);
	assert_null(
	    yaml_parse(&fx.arena, "f", (struct str){ text, 2 * NODE_DEPTH_MAX + 2 }, &fx.ds));
	assert_string_equal(
	    fixture_text(&fx), "f:1:101: cannot read YAML: more than 100 levels of nesting\n");
	fixture_fini(&fx);
}

/* More keys than are looked through one by one. */
static void
test_many_keys(void **state)
{
	struct config_fixture fx;
	struct buf b;
	(void)state;

	fixture_init(&fx);
	buf_init(&b, 0);
	for (int i = 0; i < 100; i++)
		(void)buf_printf(&b, "key%d: %d\n", i, i);
	(void)buf_printf(&b, "key7: x\nkey99: x\n");
	struct node *n = yaml_parse(&fx.arena, "f", (struct str){ b.p, b.n }, &fx.ds);
	assert_non_null(n);
	assert_int_equal(n->n, 100);
	assert_string_equal(fixture_text(&fx),
	    "f:101:1: key \"key7\" is given twice\nf:102:1: key \"key99\" is given twice\n");
	buf_fini(&b);
	fixture_fini(&fx);
}

/* In order of file and line, each once. */
static void
test_diagnostics_order(void **state)
{
	struct config_fixture fx;
	(void)state;

	fixture_init(&fx);
	diagnostics_add(&fx.ds, (struct position){ "b", 1, 1 }, false, "one");
	diagnostics_add(&fx.ds, (struct position){ "a", 9, 2 }, true, "two");
	diagnostics_add(&fx.ds, (struct position){ "a", 9, 1 }, false, "three");
	diagnostics_add(&fx.ds, (struct position){ "b", 1, 1 }, false, "one");
	diagnostics_add(&fx.ds, (struct position){ 0 }, false, "four");
	diagnostics_add(&fx.ds, (struct position){ .file = "--set" }, false, "five");
	assert_string_equal(fixture_text(&fx),
	    "four\n--set: five\na:9:1: three\na:9:2: warning: two\nb:1:1: one\n");
	assert_int_equal(fx.ds.errors, 5);
	fixture_fini(&fx);
}

int
main(void)
{
	UNIT_TABLE("yaml", rows, check_row);
	UNIT_CASE(test_positions);
	UNIT_CASE(test_expansion_is_bounded);
	UNIT_CASE(test_depth_is_bounded);
	UNIT_CASE(test_many_keys);
	UNIT_CASE(test_diagnostics_order);
	return unit_run("yaml");
}
