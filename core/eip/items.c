/* The items of a value. */
#include "core/eip/items.h"

#include "core/model/json.h"

#include <string.h>

/* ---- texts ---- */

/* Is the comma at p within parentheses: is the next parenthesis a closing one? */
static bool
is_in_parentheses(const char *p, const char *end)
{
	for (; p < end; p++)
		if (*p == '(' || *p == ')')
			return *p == ')';
	return false;
}

/* Where the next delimiter begins, or `end`. */
static const char *
next_delimiter(const char *p, const char *end, struct str delimiter, bool parentheses)
{
	while (p < end) {
		size_t at = str_find((struct str){ p, (size_t)(end - p) }, delimiter);
		if (at == SIZE_MAX)
			return end;
		p += at;
		if (!parentheses || !is_in_parentheses(p, end))
			return p;
		p += delimiter.n;
	}
	return end;
}

/* A delimiter at the start is skipped, as Java's scanner does. Inner empty parts are kept, a
 * trailing one is not. */
static struct value
split_text(struct arena *a, const struct value *v, const char *delimiter_text)
{
	struct str delimiter = str_of(delimiter_text);
	struct value list = value_new_list(a, 8);
	const char *p = v->u.s.p, *end = p + v->u.s.n;
	bool parentheses =
	    str_eq(delimiter, STR_LIT(",")) && memchr(p, '(', v->u.s.n) && memchr(p, ')', v->u.s.n);
	if (str_starts(v->u.s, delimiter_text))
		p += delimiter.n;
	while (p < end) {
		const char *at = next_delimiter(p, end, delimiter, parentheses);
		struct value part = value_str((struct str){ p, (size_t)(at - p) });
		part.blob = v->blob;
		value_list_add(a, list.u.list, part);
		p = at < end ? at + delimiter.n : end;
	}
	return list;
}

/* ---- maps ---- */

static struct value
entries(struct arena *a, const struct value *v)
{
	struct value map = value_plain(a, v);
	return value_map_entries(a, map.u.map);
}

/* A JSON array, so that each element is found at once. */
static struct value
elements(struct arena *a, const struct value *v)
{
	struct value list = value_new_list(a, v->u.json->children);
	const struct json_node *n = v->u.json->children ? json_first(v->u.json) : NULL;
	for (uint32_t i = 0; i < v->u.json->children; i++, n = json_next(n))
		value_list_add(a, list.u.list, value_json_child(a, v, n));
	return list;
}

/* Nothing is no item. */
static struct value
without_nulls(struct arena *a, const struct value *v)
{
	const struct value_list *from = v->u.list;
	size_t i = 0;
	while (i < from->n && !value_is_null(&from->items[i]))
		i++;
	if (i == from->n)
		return *v;
	struct value list = value_new_list(a, from->n);
	for (i = 0; i < from->n; i++)
		if (!value_is_null(&from->items[i]))
			value_list_add(a, list.u.list, from->items[i]);
	return list;
}

/* ---- all ---- */

void
items_of(struct arena *a, const struct value *v, const char *delimiter, uint32_t group,
    struct items *out)
{
	struct str by = str_of(delimiter);
	bool whole =
	    by.n == 0 || str_caseeq(by, STR_LIT("false")) || str_caseeq(by, STR_LIT("single"));
	bool text = v->type == VALUE_STRING && !(v->flags & VALUE_INPUT);
	*out = (struct items){ .v = *v, .n = 1, .group = group };
	if (v->type == VALUE_MAP || (v->type == VALUE_JSON && v->u.json->type == JSON_IS_OBJECT))
		out->v = entries(a, v);
	else if (v->type == VALUE_JSON)
		out->v = elements(a, v);
	else if (text && !whole)
		out->v = split_text(a, v, delimiter);
	if (out->v.type == VALUE_LIST)
		out->v = without_nulls(a, &out->v);
	if (value_is_null(v) || (value_has_text(v) && v->u.s.n == 0))
		out->n = 0;
	else if (out->v.type == VALUE_LIST)
		out->n = (uint32_t)out->v.u.list->n;
	out->in_group_n = out->n;
	if (group > 0)
		out->n = (out->n + group - 1) / group;
}

static struct value
one_at(const struct items *it, uint32_t i)
{
	return it->v.type == VALUE_LIST ? it->v.u.list->items[i] : it->v;
}

struct value
items_at(struct arena *a, const struct items *it, uint32_t i)
{
	if (it->group == 0)
		return one_at(it, i);
	uint32_t from = i * it->group;
	struct value list = value_new_list(a, it->group);
	for (uint32_t k = from; k < from + it->group && k < it->in_group_n; k++)
		value_list_add(a, list.u.list, one_at(it, k));
	return list;
}
