/*
 * Runs the public compliance suite of RFC 9535 (cts.json of
 * jsonpath-standard/jsonpath-compliance-test-suite) against core/lang/jsonpath:
 *
 *   jsonpath_suite cts.json
 *
 * prints a line for each case that differs, and counts. A definite path's value, or its absence,
 * stands for the list of nodes that the suite expects. Which differences are meant is known to the
 * test that calls this.
 */
#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/lang/json_write.h"
#include "core/lang/jsonpath.h"
#include "core/lang/jsonpath_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct str
member_text(struct arena *a, const struct json_node *test, const char *name)
{
	const struct json_node *n = json_member(test, str_of(name));
	return n != NULL ? json_text(a, n) : (struct str){ "", 0 };
}

/* What the path gives, as a list of nodes. */
static struct str
nodes_of(struct exchange *ex, const struct jsonpath_code *code, const struct json_node *document)
{
	struct value from = value_from_json(&ex->arena, document, NULL), out, list;
	struct str text = STR_LIT("failed");

	if (from.type != VALUE_JSON) { /* a scalar is a document, too */
		struct buf b;
		buf_init(&b, 0);
		(void)json_print(&b, document);
		from = value_str(arena_str(&ex->arena, (struct str){ b.p, b.n }));
		buf_fini(&b);
	}
	if (jsonpath_read(code, ex, &from, 0, &out) != EVAL_OK) {
		bool missing = ex->exception->id == EXCEPTION_PATH_NOT_FOUND;
		ex->exception = NULL;
		return missing ? STR_LIT("[]") : STR_LIT("failed");
	}
	if (code->definite) {
		list = value_new_list(&ex->arena, 1);
		value_list_add(&ex->arena, list.u.list, out);
		out = list;
	}
	(void)json_write_text(&ex->arena, &out, false, &text); /* says failed otherwise */
	return text;
}

static bool
is_expected(struct exchange *ex, const struct json_node *test, struct str got)
{
	const struct json_node *one = json_member(test, STR_LIT("result")),
			       *any = json_member(test, STR_LIT("results"));
	const struct json_node *n = any != NULL ? json_first(any) : one;

	for (uint32_t i = 0; i < (any != NULL ? any->children : 1); i++, n = json_next(n)) {
		struct value v = value_from_json(&ex->arena, n, NULL);
		struct str want;
		if (json_write_text(&ex->arena, &v, false, &want) == HINNY_OK && str_eq(want, got))
			return true;
	}
	return false;
}

static bool
run(struct exchange *ex, const struct json_node *test)
{
	struct str name = member_text(&ex->arena, test, "name"),
		   selector = member_text(&ex->arena, test, "selector");
	bool invalid = json_member(test, STR_LIT("invalid_selector")) != NULL;
	struct jsonpath_code *code;
	struct hinny_error err;
	size_t at;

	bool compiles = jsonpath_parse(&ex->arena, selector, &code, &at, &err) == HINNY_OK;
	if (invalid || !compiles) {
		if (compiles != invalid)
			return true;
		printf("%s | %.*s | %.*s | %s\n", invalid ? "accepted" : "refused", STR_FMT(name),
		    STR_FMT(selector), compiles ? "" : err.text);
		return false;
	}
	struct str got = nodes_of(ex, code, json_member(test, STR_LIT("document")));
	if (is_expected(ex, test, got))
		return true;
	printf("differs | %.*s | %.*s | %.*s\n", STR_FMT(name), STR_FMT(selector), STR_FMT(got));
	return false;
}

static bool
read_all(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	char bytes[65536];
	size_t n;

	while (f != NULL && (n = fread(bytes, 1, sizeof bytes, f)) > 0)
		(void)buf_add(out, bytes, n); /* no bound */
	return f != NULL && fclose(f) == 0;
}

int
main(int argc, char **argv)
{
	struct exchange_pool pool;
	const struct json_node *root;
	struct hinny_error err;
	struct arena a;
	struct buf text;
	unsigned passed = 0, failed = 0;

	buf_init(&text, 0);
	arena_init(&a);
	if (argc != 2 || !read_all(argv[1], &text))
		fatal("usage: jsonpath_suite cts.json");
	if (json_parse(&a, (struct str){ text.p, text.n }, &root, &err) != HINNY_OK)
		fatal("%s: %s", argv[1], err.text);
	const struct json_node *tests = json_member(root, STR_LIT("tests"));
	if (tests == NULL)
		fatal("%s: no tests in it", argv[1]);
	exchange_pool_init(&pool, 1);
	const struct json_node *test = json_first(tests);
	for (uint32_t i = 0; i < tests->children; i++, test = json_next(test)) {
		struct exchange *ex = exchange_new(&pool);
		if (run(ex, test))
			passed++;
		else
			failed++;
		exchange_free(&pool, &ex);
	}
	printf("%u passed, %u differ\n", passed, failed);
	exchange_pool_fini(&pool);
	arena_fini(&a);
	buf_fini(&text);
	return EXIT_SUCCESS;
}
