/* Functions of Simple on lists, maps and whatever has items. They make new collections; what they
 * are given stays as it is. */
#include "core/lang/simple_fn.h"

#include "core/lang/document.h"
#include "core/lang/text.h"

#include <stdlib.h>

/* ---- items ---- */

/* The parts of a text between commas, as Java's scanner gives them. */
static void
split_commas(struct arena *a, struct str rest, struct value_list *to)
{
	while (rest.n > 0) {
		if (rest.p[0] == ',')
			rest = (struct str){ rest.p + 1, rest.n - 1 };
		if (rest.n == 0)
			break;
		const char *comma = memchr(rest.p, ',', rest.n);
		size_t n = comma != NULL ? (size_t)(comma - rest.p) : rest.n;
		value_list_add(a, to, value_str((struct str){ rest.p, n }));
		rest = (struct str){ rest.p + n, rest.n - n };
	}
}

void
simple_items(struct arena *a, const struct value *v, struct value_list *to)
{
	struct document_iter it;
	struct str key;
	struct value item;
	if (value_is_null(v))
		return;
	if (document_kind(v) != DOCUMENT_SCALAR) {
		document_iter_init(&it, a, v);
		while (document_iter_next(&it, &key, &item))
			value_list_add(a, to, item);
	} else if (v->type == VALUE_STRING && !(v->flags & VALUE_INPUT)) {
		split_commas(a, v->u.s, to);
	} else {
		value_list_add(a, to, *v);
	}
}

enum eval_rc
simple_arg_items(struct simple_call *call, struct value *list)
{
	size_t n = simple_arg_count(call);
	*list = value_new_list(simple_arena(call), n);
	for (size_t i = 0; i < n; i++) {
		struct value v;
		enum eval_rc rc = simple_arg(call, i, &v);
		if (rc != EVAL_OK)
			return rc;
		if (n == 1)
			simple_items(simple_arena(call), &v, list->u.list);
		else
			value_list_add(simple_arena(call), list->u.list, v);
	}
	return EVAL_OK;
}

/* The items of argument i alone. */
static enum eval_rc
items_of(struct simple_call *call, size_t i, struct value *list)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, i, &v);
	if (rc != EVAL_OK)
		return rc;
	*list = value_new_list(simple_arena(call), 8);
	simple_items(simple_arena(call), &v, list->u.list);
	return EVAL_OK;
}

/* ---- making them ---- */

enum eval_rc
simple_fn_list(struct simple_call *call, struct value *out)
{
	*out = value_new_list(simple_arena(call), simple_arg_count(call));
	for (size_t i = 0; i < simple_arg_count(call); i++) {
		struct value v;
		enum eval_rc rc = simple_arg(call, i, &v);
		if (rc != EVAL_OK)
			return rc;
		value_list_add(simple_arena(call), out->u.list, v);
	}
	return EVAL_OK;
}

enum eval_rc
simple_fn_map(struct simple_call *call, struct value *out)
{
	size_t n = simple_arg_count(call);
	if (n % 2 != 0)
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "function map needs pairs of a key and a value");
	*out = value_new_map(simple_arena(call), n / 2, false);
	for (size_t i = 0; i < n; i += 2) {
		struct str key;
		bool null;
		struct value v;
		enum eval_rc rc = simple_arg_text(call, i, &key, &null);
		if (rc == EVAL_OK)
			rc = simple_arg(call, i + 1, &v);
		if (rc != EVAL_OK)
			return rc;
		value_map_set(simple_arena(call), out->u.map, key, v);
	}
	return EVAL_OK;
}

enum eval_rc
simple_fn_empty(struct simple_call *call, struct value *out)
{
	struct str kind;
	bool null;
	enum eval_rc rc = simple_arg_text(call, 0, &kind, &null);
	if (rc != EVAL_OK)
		return rc;
	if (str_caseeq(kind, STR_LIT("list")) || str_caseeq(kind, STR_LIT("set")))
		*out = value_new_list(simple_arena(call), 0);
	else if (str_caseeq(kind, STR_LIT("map")))
		*out = value_new_map(simple_arena(call), 0, false);
	else if (str_caseeq(kind, STR_LIT("string")))
		*out = value_str((struct str){ "", 0 });
	else
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "function %s: list, map, set or string, not %.*s", call->node->u.fn->name,
		    STR_FMT(kind));
	return EVAL_OK;
}

/* ---- asking them ---- */

enum eval_rc
simple_fn_size(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, 0, &v);
	size_t n = rc == EVAL_OK ? value_size(&v) : 0;
	if (v.type == VALUE_BYTES && !(v.flags & VALUE_INPUT))
		n = v.u.s.n;
	else if (v.type == VALUE_JSON && (v.flags & VALUE_NODE))
		n = 1; /* no collection in Java */
	*out = value_int((int64_t)n);
	return rc;
}

enum eval_rc
simple_fn_is_empty(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc != EVAL_OK)
		return rc;
	bool empty = value_is_null(&v) || value_size(&v) == 0;
	if (value_has_text(&v) && !(v.type == VALUE_XML && v.flags & VALUE_NODESET))
		empty = str_trim(value_text(simple_arena(call), &v)).n == 0;
	*out = value_bool(empty);
	return EVAL_OK;
}

/* What is neither number, text nor collection in Java. */
static bool
is_object(const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_INT:
		return v->flags & VALUE_DATE;
	case VALUE_STRING:
	case VALUE_BYTES:
		return v->flags & (VALUE_INPUT | VALUE_NODE);
	case VALUE_LIST:
		return v->flags & VALUE_ARRAY;
	case VALUE_JSON:
		return v->flags & VALUE_NODE;
	default:
		return false;
	}
}

enum eval_rc
simple_fn_kind_of_type(struct simple_call *call, struct value *out)
{
	static const char *const kinds[VALUE_TYPES] = {
		[VALUE_NULL] = "null",
		[VALUE_BOOL] = "boolean",
		[VALUE_INT] = "number",
		[VALUE_DOUBLE] = "number",
		[VALUE_DECIMAL] = "number",
		[VALUE_STRING] = "string",
		[VALUE_BYTES] = "array",
		[VALUE_LIST] = "array",
		[VALUE_MAP] = "array",
		[VALUE_JSON] = "array",
		[VALUE_XML] = "object",
		[VALUE_STREAM] = "object",
	};
	struct value v;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc == EVAL_OK)
		*out = value_str(str_of(is_object(&v) ? "object" : kinds[v.type]));
	return rc;
}

/* ---- lists from lists ---- */

enum eval_rc
simple_fn_distinct(struct simple_call *call, struct value *out)
{
	struct value all;
	enum eval_rc rc = simple_arg_items(call, &all);
	if (rc != EVAL_OK)
		return rc;
	/* a map finds what was there already, also when a message has many items */
	struct value seen = value_new_map(simple_arena(call), all.u.list->n, false);
	*out = value_new_list(simple_arena(call), all.u.list->n);
	for (size_t i = 0; i < all.u.list->n; i++) {
		struct str text = value_text(simple_arena(call), &all.u.list->items[i]);
		if (value_map_find(seen.u.map, text) != NULL)
			continue;
		value_map_set(simple_arena(call), seen.u.map, text, value_null());
		value_list_add(simple_arena(call), out->u.list, all.u.list->items[i]);
	}
	return EVAL_OK;
}

static void
swap(struct value_list *l, size_t i, size_t k)
{
	struct value v = l->items[i];
	l->items[i] = l->items[k];
	l->items[k] = v;
}

enum eval_rc
simple_fn_reverse(struct simple_call *call, struct value *out)
{
	enum eval_rc rc = simple_arg_items(call, out);
	if (rc != EVAL_OK)
		return rc;
	for (size_t i = 0, n = out->u.list->n; i < n / 2; i++)
		swap(out->u.list, i, n - 1 - i);
	return EVAL_OK;
}

enum eval_rc
simple_fn_shuffle(struct simple_call *call, struct value *out)
{
	enum eval_rc rc = simple_arg_items(call, out);
	if (rc != EVAL_OK)
		return rc;
	for (size_t i = out->u.list->n; i > 1; i--)
		swap(out->u.list, i - 1, arc4random_uniform((uint32_t)i));
	return EVAL_OK;
}

struct sorting {
	struct arena *arena;
	bool reverse;
};

static int
compare_items(const void *l, const void *r, void *arg)
{
	const struct sorting *sorting = arg;
	int order;
	if (!value_compare(sorting->arena, l, r, &order)) {
		struct str a = value_text(sorting->arena, l), b = value_text(sorting->arena, r);
		size_t n = a.n < b.n ? a.n : b.n;
		order = n > 0 ? memcmp(a.p, b.p, n) : 0;
		if (order == 0)
			order = (a.n > b.n) - (a.n < b.n);
	}
	return sorting->reverse ? -order : order;
}

enum eval_rc
simple_fn_sort(struct simple_call *call, struct value *out)
{
	struct value reverse;
	enum eval_rc rc = items_of(call, 0, out);
	if (rc == EVAL_OK)
		rc = simple_arg(call, 1, &reverse);
	if (rc != EVAL_OK)
		return rc;
	struct sorting sorting = { .arena = simple_arena(call), .reverse = value_truth(&reverse) };
	if (out->u.list->n > 1)
		qsort_r(out->u.list->items, out->u.list->n, sizeof *out->u.list->items,
		    compare_items, &sorting);
	return EVAL_OK;
}

/* Evaluates argument 1 with each item as body: its values, or (keep) the items for which it is
 * true. */
static enum eval_rc
for_each(struct simple_call *call, bool keep, struct value *out)
{
	struct value all, body = call->ex->body;
	enum eval_rc rc = items_of(call, 0, &all);
	*out = value_new_list(simple_arena(call), rc == EVAL_OK ? all.u.list->n : 0);
	for (size_t i = 0; rc == EVAL_OK && i < all.u.list->n; i++) {
		struct value v;
		bool truth = true;
		call->ex->body = all.u.list->items[i];
		rc = keep ? simple_arg_truth(call, 1, &truth) : simple_arg(call, 1, &v);
		if (rc == EVAL_OK && truth)
			value_list_add(
			    simple_arena(call), out->u.list, keep ? all.u.list->items[i] : v);
	}
	call->ex->body = body;
	return rc;
}

enum eval_rc
simple_fn_for_each(struct simple_call *call, struct value *out)
{
	return for_each(call, false, out);
}

enum eval_rc
simple_fn_filter(struct simple_call *call, struct value *out)
{
	return for_each(call, true, out);
}

/* The number of argument 0, not negative. */
static enum eval_rc
count_arg(struct simple_call *call, int64_t least, int64_t *n)
{
	enum eval_rc rc = simple_arg_int(call, 0, n);
	if (rc == EVAL_OK && *n < least)
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "function %s: a number of %lld or more is needed", call->node->u.fn->name,
		    (long long)least);
	return rc;
}

enum eval_rc
simple_fn_skip(struct simple_call *call, struct value *out)
{
	struct value all;
	int64_t n;
	enum eval_rc rc = count_arg(call, 0, &n);
	if (rc == EVAL_OK)
		rc = items_of(call, 1, &all);
	if (rc != EVAL_OK)
		return rc;
	*out = value_new_list(simple_arena(call), all.u.list->n);
	for (size_t i = 0; i < all.u.list->n; i++)
		if ((int64_t)i >= n)
			value_list_add(simple_arena(call), out->u.list, all.u.list->items[i]);
	return EVAL_OK;
}

enum eval_rc
simple_fn_collate(struct simple_call *call, struct value *out)
{
	struct value all, group = value_null();
	int64_t n;
	enum eval_rc rc = count_arg(call, 1, &n);
	if (rc == EVAL_OK)
		rc = items_of(call, 1, &all);
	if (rc != EVAL_OK)
		return rc;
	*out = value_new_list(simple_arena(call), 8);
	for (size_t i = 0; i < all.u.list->n; i++) {
		if (i % (uint64_t)n == 0) {
			group = value_new_list(simple_arena(call), 8);
			value_list_add(simple_arena(call), out->u.list, group);
		}
		value_list_add(simple_arena(call), group.u.list, all.u.list->items[i]);
	}
	return EVAL_OK;
}

/* ---- text and lists ---- */

enum eval_rc
simple_fn_split(struct simple_call *call, struct value *out)
{
	struct str s, separator = STR_LIT(",");
	bool null;
	enum eval_rc rc =
	    simple_arg_given(call, 1) ? simple_arg_text(call, 1, &separator, &null) : EVAL_OK;
	if (rc == EVAL_OK)
		rc = simple_arg_text(call, 0, &s, &null);
	if (rc != EVAL_OK || null)
		return rc;
	*out = value_new_list(simple_arena(call), 8);
	out->flags |= VALUE_ARRAY;
	size_t at, keep = 0;
	while (separator.n > 0 && (at = str_find(s, separator)) != SIZE_MAX) {
		value_list_add(simple_arena(call), out->u.list, value_str((struct str){ s.p, at }));
		if (at > 0)
			keep = out->u.list->n;
		s = (struct str){ s.p + at + separator.n, s.n - at - separator.n };
	}
	if (s.n > 0 || out->u.list->n == 0) {
		value_list_add(simple_arena(call), out->u.list, value_str(s));
		keep = out->u.list->n;
	}
	out->u.list->n = keep;
	return EVAL_OK;
}

enum eval_rc
simple_fn_join(struct simple_call *call, struct value *out)
{
	struct str separator = STR_LIT(","), prefix = { "", 0 };
	struct value items;
	bool null = false;
	enum eval_rc rc =
	    simple_arg_given(call, 0) ? simple_arg_text(call, 0, &separator, &null) : EVAL_OK;
	if (rc == EVAL_OK)
		rc = simple_arg_text(call, 1, &prefix, &null);
	struct value source = value_null();
	if (rc == EVAL_OK)
		rc = simple_arg(call, 2, &source);
	if (rc != EVAL_OK)
		return rc;
	if (value_is_null(&source))
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT, "function join needs a source");
	items = value_new_list(simple_arena(call), 8);
	if (document_kind(&source) == DOCUMENT_OBJECT)
		(void)value_convert(simple_arena(call), &source, CLASS_ITERATOR, &items, NULL);
	else
		simple_items(simple_arena(call), &source, items.u.list);
	if (items.u.list->n == 0)
		return rc;
	struct buf b;
	buf_init(&b, SIMPLE_TEXT_MAX);
	enum hinny_rc added = HINNY_OK;
	for (size_t i = 0; added == HINNY_OK && i < items.u.list->n; i++) {
		added = i > 0 ? buf_add_str(&b, separator) : HINNY_OK;
		if (added == HINNY_OK)
			added = buf_add_str(&b, prefix);
		if (added == HINNY_OK)
			added = value_print(&b, &items.u.list->items[i]);
	}
	if (added == HINNY_OK)
		*out = value_str(arena_str(simple_arena(call), (struct str){ b.p, b.n }));
	buf_fini(&b);
	return added == HINNY_OK ? EVAL_OK
				 : simple_fail(call->ex, EXCEPTION_EXPRESSION_EVALUATION,
				       "function join: too much text");
}
