/* The JSON reader: whatever it takes must print, parse again to the same text, and be told apart
 * from nothing by its own accessors. */
#include "core/model/json.h"

#include "core/base/assert.h"
#include "core/model/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nodes lie inside one another, their texts inside the input. */
static void
check_nodes(const struct json_node *root, struct str text)
{
	for (uint32_t i = 0; i < root->skip; i++) {
		const struct json_node *n = root + i;
		ASSERT(n->skip >= 1 && n->skip <= root->skip - i);
		ASSERT(n->text >= text.p && n->text + n->length <= text.p + text.n);
		ASSERT(n->type <= JSON_IS_OBJECT &&
		    (n->type >= JSON_IS_ARRAY || (n->skip == 1 && n->children == 0)));
		uint32_t parts = n->type == JSON_IS_OBJECT ? 2 * n->children : n->children;
		const struct json_node *at = n + 1;
		for (uint32_t k = 0; k < parts; k++)
			at = json_next(at);
		ASSERT(at == json_next(n));
	}
}

static void
check_members(struct arena *a, const struct json_node *root)
{
	const struct json_node **keys, **values;

	if (root->type != JSON_IS_OBJECT || root->children > 64)
		return;
	size_t n = json_members(a, root, &keys, &values);
	for (size_t i = 0; i < n; i++)
		ASSERT(json_member(root, json_text(a, keys[i])) == values[i]);
}

static void
check_values(struct arena *a, const struct json_node *root)
{
	struct value v = value_from_json(a, root, NULL), plain = value_plain(a, &v),
		     copy = value_share(a, &v);

	ASSERT(str_eq(value_text(a, &v), value_text(a, &plain)));
	ASSERT(str_eq(value_text(a, &v), value_text(a, &copy)));
	ASSERT(value_truth(&v) == value_truth(&plain));
	ASSERT(value_equal(a, &v, &copy, false));
}

static void
check(struct arena *a, struct str text, const struct json_node *root)
{
	struct buf b, again;
	const struct json_node *second;

	check_nodes(root, text);
	check_members(a, root);
	check_values(a, root);
	buf_init(&b, 0);
	buf_init(&again, 0);
	ASSERT(json_print(&b, root) == HINNY_OK);
	ASSERT(json_parse(a, (struct str){ b.p, b.n }, &second, NULL) == HINNY_OK);
	ASSERT(json_print(&again, second) == HINNY_OK);
	ASSERT(str_eq((struct str){ b.p, b.n }, (struct str){ again.p, again.n }));
	buf_fini(&b);
	buf_fini(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct hinny_error err;
	const struct json_node *root;
	struct arena a;
	size_t end;

	arena_init(&a);
	bool whole = json_parse(&a, text, &root, &err) == HINNY_OK;
	if (whole)
		check(&a, text, root);
	else
		ASSERT(str_find(str_of(err.text), STR_LIT("no JSON: line ")) == 0);
	if (json_parse_first(&a, text, &root, &end, NULL) == HINNY_OK)
		ASSERT(end <= size);
	else
		ASSERT(!whole);
	arena_fini(&a);
	return 0;
}
