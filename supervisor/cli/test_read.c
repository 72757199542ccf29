/* See test_read.h. */
#include "supervisor/cli/test_read.h"

#include "core/base/assert.h"
#include "core/base/units.h"
#include "core/lang/regex.h"

#include <stdarg.h>
#include <stdio.h>

void
test_wrong(struct test_reading *r, const struct node *at, const char *fmt, ...)
{
	char text[HINNY_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap); /* a cut text still tells */
	va_end(ap);
	diagnostics_add(r->ds, node_at(r->tf->file, at), false, "%s", text);
}

static const struct test_key *
find_key(const struct test_key *keys, struct str name)
{
	for (; keys->name != NULL; keys++) {
		if (str_eq(name, str_of(keys->name)))
			return keys;
	}
	return NULL;
}

static void
unknown_key(
    struct test_reading *r, const struct node *key, const struct test_key *keys, const char *what)
{
	const char *names[32];
	size_t n = 0;

	for (const struct test_key *k = keys; k->name != NULL && n < ARRAY_LEN(names) - 1; k++)
		names[n++] = k->name;
	names[n] = NULL;
	const char *near = str_nearest(key->text, names);
	test_wrong(r, key, "unknown key \"%s\" of %s%s%s%s", key->text.p, what,
	    near ? ", did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

bool
test_read_map(struct test_reading *r, const struct node *map, const struct test_key *keys, void *to,
    const char *what)
{
	if (map->kind != NODE_MAP) {
		test_wrong(r, map, "expected a map for %s, got %s", what, node_kind_name(map));
		return false;
	}
	for (uint32_t i = 0; i < map->n; i++) {
		const struct test_key *k = find_key(keys, node_key(map, i)->text);
		if (k == NULL)
			unknown_key(r, node_key(map, i), keys, what);
		else
			k->fn(r, to, node_value(map, i));
	}
	return true;
}

uint32_t
test_item_count(const struct node *v)
{
	return v->kind == NODE_LIST ? v->n : node_is_null(v) ? 0 : 1;
}

const struct node *
test_item_at(const struct node *v, uint32_t i)
{
	return v->kind == NODE_LIST ? &v->items[i] : v;
}

const char *
test_text(struct test_reading *r, const struct node *v, const char *what)
{
	if (v->kind == NODE_SCALAR && !node_is_null(v))
		return arena_strndup(&r->tf->arena, v->text.p, v->text.n);
	test_wrong(r, v, "%s: expected text, got %s", what, node_kind_name(v));
	return NULL;
}

int64_t
test_number(struct test_reading *r, const struct node *v, const char *what)
{
	int64_t n;

	if (v->kind == NODE_SCALAR && str_to_int64(v->text, &n) && n >= 0)
		return n;
	test_wrong(r, v, "%s: expected a whole number from 0 on, got %s%s%s", what,
	    v->kind == NODE_SCALAR ? "\"" : "",
	    v->kind == NODE_SCALAR ? v->text.p : node_kind_name(v),
	    v->kind == NODE_SCALAR ? "\"" : "");
	return 0;
}

struct regex *
test_regex(struct test_reading *r, const struct node *v, const char *what)
{
	struct hinny_error err;
	struct regex *re = NULL;
	const char *text = test_text(r, v, what);

	if (text != NULL &&
	    regex_compile(&r->tf->arena, str_of(text), REGEX_DOTALL, &re, &err) != HINNY_OK)
		test_wrong(r, v, "%s: %s", what, err.text);
	return re;
}

void
test_strings(struct test_reading *r, struct strings *out, const struct node *v, const char *what)
{
	out->items = arena_alloc(&r->tf->arena, (test_item_count(v) + 1) * sizeof(char *));
	out->n = 0;
	for (uint32_t i = 0; i < test_item_count(v); i++) {
		const char *text = test_text(r, test_item_at(v, i), what);
		if (text != NULL)
			out->items[out->n++] = text;
	}
	out->items[out->n] = NULL;
}
