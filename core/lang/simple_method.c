/*
 * The methods that a dotted path of Simple can call on texts, lists, maps and numbers, as Java has
 * them. A stream (VALUE_INPUT) is no text: of a text's methods it has length() alone.
 */
#include "core/lang/simple_method.h"

#include "core/base/assert.h"
#include "core/lang/document.h"
#include "core/lang/text.h"

#include <ctype.h>

enum receiver { ON_TEXT, ON_LIST, ON_MAP, ON_ENTRY, ON_NUMBER, ON_DATE, ON_BOOL, ON_STREAM, ON_ANY };

struct invocation {
	struct exchange *ex;
	struct value self;
	struct str text; /* ON_TEXT */
	const struct access_step *step;
};

typedef enum eval_rc method_fn(struct invocation *in, struct value *out);

static bool
arg_int(const struct invocation *in, size_t i, int64_t *out)
{
	return str_to_int64(in->step->args[i], out);
}

static enum eval_rc
out_int(struct value *out, int64_t i)
{
	*out = value_int(i);
	return EVAL_OK;
}

static enum eval_rc
out_bool(struct value *out, bool b)
{
	*out = value_bool(b);
	return EVAL_OK;
}

static enum eval_rc
out_text(struct value *out, struct str s)
{
	*out = value_str(s);
	return EVAL_OK;
}

static enum eval_rc
text_m_length(struct invocation *in, struct value *out)
{
	return out_int(out, (int64_t)text_length(in->text));
}

static enum eval_rc
text_m_trim(struct invocation *in, struct value *out)
{
	return out_text(out, text_trim(in->text));
}

static enum eval_rc
text_m_upper(struct invocation *in, struct value *out)
{
	return out_text(out, text_upper(&in->ex->arena, in->text));
}

static enum eval_rc
text_m_lower(struct invocation *in, struct value *out)
{
	return out_text(out, text_lower(&in->ex->arena, in->text));
}

static enum eval_rc
text_m_is_empty(struct invocation *in, struct value *out)
{
	return out_bool(out, in->text.n == 0);
}

static enum eval_rc
text_m_is_blank(struct invocation *in, struct value *out)
{
	return out_bool(out, str_trim(in->text).n == 0);
}

static enum eval_rc
text_m_contains(struct invocation *in, struct value *out)
{
	return out_bool(out, str_find(in->text, in->step->args[0]) != SIZE_MAX);
}

static enum eval_rc
text_m_equals(struct invocation *in, struct value *out)
{
	return out_bool(out, str_eq(in->text, in->step->args[0]));
}

static enum eval_rc
text_m_equals_nocase(struct invocation *in, struct value *out)
{
	struct arena *a = &in->ex->arena;
	return out_bool(out, str_eq(text_lower(a, in->text), text_lower(a, in->step->args[0])));
}

static enum eval_rc
text_m_starts(struct invocation *in, struct value *out)
{
	struct str prefix = in->step->args[0];
	return out_bool(
	    out, in->text.n >= prefix.n && str_eq((struct str){ in->text.p, prefix.n }, prefix));
}

static enum eval_rc
text_m_ends(struct invocation *in, struct value *out)
{
	struct str suffix = in->step->args[0];
	return out_bool(out,
	    in->text.n >= suffix.n &&
		str_eq((struct str){ in->text.p + in->text.n - suffix.n, suffix.n }, suffix));
}

static enum eval_rc
text_m_index_of(struct invocation *in, struct value *out)
{
	size_t at = str_find(in->text, in->step->args[0]);
	return out_int(
	    out, at == SIZE_MAX ? -1 : (int64_t)text_length((struct str){ in->text.p, at }));
}

static enum eval_rc
text_m_last_index_of(struct invocation *in, struct value *out)
{
	struct str what = in->step->args[0];
	for (size_t i = in->text.n + 1; i-- > 0;)
		if (in->text.n - i >= what.n &&
		    str_eq((struct str){ in->text.p + i, what.n }, what))
			return out_int(out, (int64_t)text_length((struct str){ in->text.p, i }));
	return out_int(out, -1);
}

static enum eval_rc
text_m_substring(struct invocation *in, struct value *out)
{
	int64_t from, to, length = (int64_t)text_length(in->text);
	if (!arg_int(in, 0, &from) || (in->step->args_n > 1 && !arg_int(in, 1, &to)))
		return simple_fail(
		    in->ex, EXCEPTION_METHOD_NOT_FOUND, "method substring needs whole numbers");
	if (in->step->args_n == 1)
		to = length;
	if (from < 0 || to > length || from > to)
		return simple_fail(in->ex, EXCEPTION_STRING_INDEX_OUT_OF_BOUNDS,
		    "begin %lld, end %lld, length %lld", (long long)from, (long long)to,
		    (long long)length);
	return out_text(out, text_slice(in->text, (size_t)from, (size_t)to));
}

static enum eval_rc
text_m_char_at(struct invocation *in, struct value *out)
{
	int64_t at, length = (int64_t)text_length(in->text);
	if (!arg_int(in, 0, &at) || at < 0 || at >= length)
		return simple_fail(in->ex, EXCEPTION_STRING_INDEX_OUT_OF_BOUNDS,
		    "index %.*s, length %lld", STR_FMT(in->step->args[0]), (long long)length);
	return out_text(out, text_slice(in->text, (size_t)at, (size_t)at + 1));
}

static enum eval_rc
text_m_replace(struct invocation *in, struct value *out)
{
	if (in->step->args[0].n == 0)
		return out_text(out, in->text);
	return out_text(
	    out, text_replace(&in->ex->arena, in->text, in->step->args[0], in->step->args[1]));
}

/* Compiles the method's first argument as a regular expression. */
static enum eval_rc
method_regex(struct invocation *in, struct regex **re)
{
	struct hinny_error err;
	if (regex_compile(&in->ex->arena, in->step->args[0], 0, re, &err) != HINNY_OK)
		return simple_fail(in->ex, EXCEPTION_PATTERN_SYNTAX, "%s", err.text);
	return EVAL_OK;
}

static enum eval_rc
text_m_matches(struct invocation *in, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	bool yes;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	if (regex_matches(re, in->text, &yes, &err) != HINNY_OK)
		return simple_fail(in->ex, EXCEPTION_RUNTIME, "%s", err.text);
	return out_bool(out, yes);
}

static enum eval_rc
replace_by_pattern(struct invocation *in, bool all, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	struct buf b;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	buf_init(&b, SIMPLE_TEXT_MAX);
	if (regex_replace(re, in->text, in->step->args[1], all, &b, &err) == HINNY_OK)
		rc = out_text(out, arena_str(&in->ex->arena, (struct str){ b.p, b.n }));
	else
		rc = simple_fail(in->ex, EXCEPTION_ILLEGAL_ARGUMENT, "%s", err.text);
	buf_fini(&b);
	return rc;
}

static enum eval_rc
text_m_replace_all(struct invocation *in, struct value *out)
{
	return replace_by_pattern(in, true, out);
}

static enum eval_rc
text_m_replace_first(struct invocation *in, struct value *out)
{
	return replace_by_pattern(in, false, out);
}

/* The position of the next character. */
static size_t
behind(struct str s, size_t i)
{
	size_t length = 1;
	if (i < s.n)
		(void)text_char(s, i, &length);
	return i + length;
}

/* Java's split: pieces between matches, trailing empty ones dropped, an empty first one only by a
 * match that is not empty. */
static enum eval_rc
text_m_split(struct invocation *in, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	struct value list = value_new_list(&in->ex->arena, 4);
	list.flags |= VALUE_ARRAY;
	size_t at = 0, keep = 0, from = 0, begin = 0, end = 0;
	for (;;) {
		bool found = false;
		if (from <= in->text.n &&
		    regex_find(re, in->text, from, &found, &begin, &end, &err) != HINNY_OK)
			return simple_fail(in->ex, EXCEPTION_RUNTIME, "%s", err.text);
		if (found && end == begin && (begin == 0 || begin >= in->text.n)) {
			from = behind(in->text, begin);
			continue;
		}
		struct str piece = { in->text.p + at, (found ? begin : in->text.n) - at };
		value_list_add(&in->ex->arena, list.u.list, value_str(piece));
		if (piece.n > 0)
			keep = list.u.list->n;
		if (!found)
			break;
		at = end;
		from = end > begin ? end : behind(in->text, end);
	}
	list.u.list->n = keep > 0 ? keep : list.u.list->n > 0 && in->text.n == 0 ? 1 : 0;
	*out = list;
	return EVAL_OK;
}

static enum eval_rc
any_m_to_string(struct invocation *in, struct value *out)
{
	return out_text(out, value_text(&in->ex->arena, &in->self));
}

static enum eval_rc
any_m_size(struct invocation *in, struct value *out)
{
	return out_int(out, (int64_t)value_size(&in->self));
}

static enum eval_rc
any_m_is_empty(struct invocation *in, struct value *out)
{
	return out_bool(out, value_size(&in->self) == 0);
}

enum eval_rc
simple_list_index(
    struct exchange *ex, const struct value *list, int64_t index, bool null_safe, struct value *out)
{
	size_t n = document_size(list);
	if (index >= 0 && (size_t)index < n && document_item(&ex->arena, list, (size_t)index, out))
		return EVAL_OK;
	*out = value_null();
	if (null_safe)
		return EVAL_OK;
	return simple_fail(ex, EXCEPTION_INDEX_OUT_OF_BOUNDS,
	    "Index: %lld, Size: %zu out of bounds", (long long)index, n);
}

static enum eval_rc
list_m_get(struct invocation *in, struct value *out)
{
	int64_t index;
	if (!arg_int(in, 0, &index))
		return simple_fail(in->ex, EXCEPTION_METHOD_NOT_FOUND,
		    "method get of a list needs a whole number");
	return simple_list_index(in->ex, &in->self, index, false, out);
}

static enum eval_rc
list_m_contains(struct invocation *in, struct value *out)
{
	struct document_iter it;
	struct str key;
	struct value item, wanted = value_str(in->step->args[0]);
	document_iter_init(&it, &in->ex->arena, &in->self);
	while (document_iter_next(&it, &key, &item))
		if (value_equal(&in->ex->arena, &item, &wanted, false))
			return out_bool(out, true);
	return out_bool(out, false);
}

static enum eval_rc
map_m_get(struct invocation *in, struct value *out)
{
	if (!document_member(&in->ex->arena, &in->self, in->step->args[0], out))
		*out = in->step->args_n > 1 ? value_str(in->step->args[1]) : value_null();
	return EVAL_OK;
}

static enum eval_rc
map_m_contains_key(struct invocation *in, struct value *out)
{
	struct value found;
	return out_bool(out, document_member(&in->ex->arena, &in->self, in->step->args[0], &found));
}

static struct value
map_list(struct invocation *in, bool keys)
{
	struct value list = value_new_list(&in->ex->arena, document_size(&in->self));
	struct document_iter it;
	struct str key;
	struct value item;
	document_iter_init(&it, &in->ex->arena, &in->self);
	while (document_iter_next(&it, &key, &item))
		value_list_add(&in->ex->arena, list.u.list, keys ? value_str(key) : item);
	return list;
}

static enum eval_rc
map_m_keys(struct invocation *in, struct value *out)
{
	*out = map_list(in, true);
	return EVAL_OK;
}

static enum eval_rc
map_m_values(struct invocation *in, struct value *out)
{
	*out = map_list(in, false);
	return EVAL_OK;
}

/* Maps and lists that are changed in place are so for all who hold them, as in Java; parsed JSON
 * that no step has made a map of cannot be. */
static enum eval_rc
cannot_change(struct invocation *in)
{
	return simple_fail(in->ex, EXCEPTION_UNSUPPORTED_OPERATION,
	    "method %.*s: the value cannot be changed", STR_FMT(in->step->name));
}

static enum eval_rc
map_m_put(struct invocation *in, struct value *out)
{
	struct str key = in->step->args[0];
	if (in->self.type != VALUE_MAP)
		return cannot_change(in);
	if (!document_member(&in->ex->arena, &in->self, key, out))
		*out = value_null();
	value_map_set(&in->ex->arena, in->self.u.map, key, value_str(in->step->args[1]));
	in->ex->dirty |= DIRTY_BODY | DIRTY_HEADERS | DIRTY_PROPERTIES | DIRTY_VARIABLES;
	return EVAL_OK;
}

static enum eval_rc
map_m_remove(struct invocation *in, struct value *out)
{
	if (in->self.type != VALUE_MAP)
		return cannot_change(in);
	if (!document_member(&in->ex->arena, &in->self, in->step->args[0], out))
		*out = value_null();
	(void)value_map_remove(in->self.u.map, in->step->args[0]); /* it may not be there */
	in->ex->dirty |= DIRTY_BODY | DIRTY_HEADERS | DIRTY_PROPERTIES | DIRTY_VARIABLES;
	return EVAL_OK;
}

static enum eval_rc
list_m_add(struct invocation *in, struct value *out)
{
	if (in->self.type != VALUE_LIST)
		return cannot_change(in);
	value_list_add(&in->ex->arena, in->self.u.list, value_str(in->step->args[0]));
	in->ex->dirty |= DIRTY_BODY | DIRTY_HEADERS | DIRTY_PROPERTIES | DIRTY_VARIABLES;
	return out_bool(out, true);
}

/* ---- more of texts ---- */

static enum eval_rc
text_m_concat(struct invocation *in, struct value *out)
{
	struct str more = in->step->args[0];
	char *text = arena_alloc(&in->ex->arena, in->text.n + more.n + 1);
	memcpy(text, in->text.p, in->text.n);
	memcpy(text + in->text.n, more.p, more.n);
	return out_text(out, (struct str){ text, in->text.n + more.n });
}

static enum eval_rc
text_m_repeat(struct invocation *in, struct value *out)
{
	int64_t n;
	if (!arg_int(in, 0, &n) || n < 0 ||
	    (uint64_t)n * (in->text.n + 1) > SIMPLE_TEXT_MAX)
		return simple_fail(
		    in->ex, EXCEPTION_ILLEGAL_ARGUMENT, "method repeat needs a count that fits");
	char *text = arena_alloc(&in->ex->arena, (size_t)n * in->text.n + 1);
	for (size_t i = 0; i < (size_t)n; i++)
		memcpy(text + i * in->text.n, in->text.p, in->text.n);
	return out_text(out, (struct str){ text, (size_t)n * in->text.n });
}

/* The difference of the first characters that differ, else of the lengths, in UTF-16 units. */
static int64_t
compare(struct str l, struct str r)
{
	size_t i = 0, k = 0, n, m;
	while (i < l.n && k < r.n) {
		uint32_t x = text_char(l, i, &n), y = text_char(r, k, &m);
		if (x != y)
			return (int64_t)x - (int64_t)y;
		i += n;
		k += m;
	}
	return (int64_t)text_length(l) - (int64_t)text_length(r);
}

static enum eval_rc
text_m_compare(struct invocation *in, struct value *out)
{
	return out_int(out, compare(in->text, in->step->args[0]));
}

static enum eval_rc
text_m_compare_nocase(struct invocation *in, struct value *out)
{
	struct arena *a = &in->ex->arena;
	return out_int(
	    out, compare(text_lower(a, in->text), text_lower(a, in->step->args[0])));
}

/* ---- numbers, Booleans, dates ---- */

static enum eval_rc
number_as(struct invocation *in, enum value_class_id class, struct value *out)
{
	struct hinny_error err;
	if (value_convert(&in->ex->arena, &in->self, class, out, &err) != HINNY_OK)
		return simple_fail(in->ex, EXCEPTION_ARITHMETIC, "%s", err.text);
	return EVAL_OK;
}

static enum eval_rc
number_m_int(struct invocation *in, struct value *out)
{
	return number_as(in, CLASS_INTEGER, out);
}

static enum eval_rc
number_m_long(struct invocation *in, struct value *out)
{
	return number_as(in, CLASS_LONG, out);
}

static enum eval_rc
number_m_double(struct invocation *in, struct value *out)
{
	return number_as(in, CLASS_DOUBLE, out);
}

static enum eval_rc
number_m_float(struct invocation *in, struct value *out)
{
	return number_as(in, CLASS_FLOAT, out);
}

static enum eval_rc
number_m_compare(struct invocation *in, struct value *out)
{
	struct value other = value_str(in->step->args[0]);
	int order;
	if (!value_compare(&in->ex->arena, &in->self, &other, &order))
		return simple_fail(
		    in->ex, EXCEPTION_METHOD_NOT_FOUND, "method compareTo needs a number");
	return out_int(out, order);
}

static enum eval_rc
number_m_equals(struct invocation *in, struct value *out)
{
	struct value other = value_str(in->step->args[0]);
	return out_bool(out, value_equal(&in->ex->arena, &in->self, &other, false));
}

static enum eval_rc
bool_m_value(struct invocation *in, struct value *out)
{
	*out = in->self;
	return EVAL_OK;
}

static enum eval_rc
date_m_time(struct invocation *in, struct value *out)
{
	*out = value_int(in->self.u.i);
	out->flags = VALUE_LONG;
	return EVAL_OK;
}

/* ---- more of lists and maps ---- */

static enum eval_rc
array_m_length(struct invocation *in, struct value *out)
{
	if (!(in->self.flags & VALUE_ARRAY))
		return simple_fail(in->ex, EXCEPTION_METHOD_NOT_FOUND,
		    "Method with name: length not found on bean of type: %s: use size",
		    value_class(&in->self));
	return any_m_size(in, out);
}

static int64_t
index_in(struct invocation *in, bool last)
{
	struct document_iter it;
	struct str key;
	struct value item, wanted = value_str(in->step->args[0]);
	int64_t found = -1;
	document_iter_init(&it, &in->ex->arena, &in->self);
	for (int64_t i = 0; document_iter_next(&it, &key, &item); i++)
		if ((found < 0 || last) && value_equal(&in->ex->arena, &item, &wanted, false))
			found = i;
	return found;
}

static enum eval_rc
list_m_index_of(struct invocation *in, struct value *out)
{
	return out_int(out, index_in(in, false));
}

static enum eval_rc
list_m_last_index_of(struct invocation *in, struct value *out)
{
	return out_int(out, index_in(in, true));
}

static enum eval_rc
list_m_sub_list(struct invocation *in, struct value *out)
{
	int64_t from, to;
	size_t n = document_size(&in->self);
	if (!arg_int(in, 0, &from) || !arg_int(in, 1, &to) || from < 0 || to < from ||
	    (size_t)to > n)
		return simple_fail(in->ex, EXCEPTION_INDEX_OUT_OF_BOUNDS,
		    "subList: beyond the %zu elements", n);
	*out = value_new_list(&in->ex->arena, (size_t)(to - from));
	for (int64_t i = from; i < to; i++) {
		struct value item;
		if (document_item(&in->ex->arena, &in->self, (size_t)i, &item))
			value_list_add(&in->ex->arena, out->u.list, item);
	}
	return EVAL_OK;
}

static enum eval_rc
map_m_contains_value(struct invocation *in, struct value *out)
{
	return out_bool(out, index_in(in, false) >= 0);
}

static enum eval_rc
map_m_entries(struct invocation *in, struct value *out)
{
	return number_as(in, CLASS_ITERATOR, out);
}

static enum eval_rc
entry_m_key(struct invocation *in, struct value *out)
{
	*out = *in->self.u.map->entries[0].value;
	return EVAL_OK;
}

static enum eval_rc
entry_m_value(struct invocation *in, struct value *out)
{
	*out = *in->self.u.map->entries[1].value;
	return EVAL_OK;
}

/* parens: Java has several of that name, so it is found only when called with ( ). */
static const struct method {
	const char *name;
	enum receiver on;
	uint8_t min, max;
	bool parens;
	method_fn *fn;
} methods[] = {
	{ "charAt", ON_TEXT, 1, 1, true, text_m_char_at },
	{ "compareTo", ON_TEXT, 1, 1, true, text_m_compare },
	{ "compareToIgnoreCase", ON_TEXT, 1, 1, true, text_m_compare_nocase },
	{ "concat", ON_TEXT, 1, 1, true, text_m_concat },
	{ "contains", ON_TEXT, 1, 1, true, text_m_contains },
	{ "endsWith", ON_TEXT, 1, 1, true, text_m_ends },
	{ "equals", ON_TEXT, 1, 1, true, text_m_equals },
	{ "equalsIgnoreCase", ON_TEXT, 1, 1, true, text_m_equals_nocase },
	{ "indexOf", ON_TEXT, 1, 1, true, text_m_index_of },
	{ "isBlank", ON_TEXT, 0, 0, false, text_m_is_blank },
	{ "isEmpty", ON_TEXT, 0, 0, false, text_m_is_empty },
	{ "empty", ON_TEXT, 0, 0, false, text_m_is_empty },
	{ "lastIndexOf", ON_TEXT, 1, 1, true, text_m_last_index_of },
	{ "length", ON_TEXT, 0, 0, false, text_m_length },
	{ "matches", ON_TEXT, 1, 1, true, text_m_matches },
	{ "repeat", ON_TEXT, 1, 1, true, text_m_repeat },
	{ "replace", ON_TEXT, 2, 2, true, text_m_replace },
	{ "replaceAll", ON_TEXT, 2, 2, true, text_m_replace_all },
	{ "replaceFirst", ON_TEXT, 2, 2, true, text_m_replace_first },
	{ "split", ON_TEXT, 1, 1, true, text_m_split },
	{ "startsWith", ON_TEXT, 1, 1, true, text_m_starts },
	{ "strip", ON_TEXT, 0, 0, false, text_m_trim },
	{ "substring", ON_TEXT, 1, 2, true, text_m_substring },
	{ "toLowerCase", ON_TEXT, 0, 0, true, text_m_lower },
	{ "toUpperCase", ON_TEXT, 0, 0, true, text_m_upper },
	{ "trim", ON_TEXT, 0, 0, false, text_m_trim },
	{ "add", ON_LIST, 1, 1, true, list_m_add },
	{ "contains", ON_LIST, 1, 1, true, list_m_contains },
	{ "get", ON_LIST, 1, 1, true, list_m_get },
	{ "isEmpty", ON_LIST, 0, 0, false, any_m_is_empty },
	{ "empty", ON_LIST, 0, 0, false, any_m_is_empty },
	{ "indexOf", ON_LIST, 1, 1, true, list_m_index_of },
	{ "lastIndexOf", ON_LIST, 1, 1, true, list_m_last_index_of },
	{ "length", ON_LIST, 0, 0, false, array_m_length },
	{ "size", ON_LIST, 0, 0, false, any_m_size },
	{ "subList", ON_LIST, 2, 2, true, list_m_sub_list },
	{ "containsKey", ON_MAP, 1, 1, true, map_m_contains_key },
	{ "containsValue", ON_MAP, 1, 1, true, map_m_contains_value },
	{ "entrySet", ON_MAP, 0, 0, false, map_m_entries },
	{ "get", ON_MAP, 1, 1, true, map_m_get },
	{ "getOrDefault", ON_MAP, 2, 2, true, map_m_get },
	{ "isEmpty", ON_MAP, 0, 0, false, any_m_is_empty },
	{ "empty", ON_MAP, 0, 0, false, any_m_is_empty },
	{ "keySet", ON_MAP, 0, 0, false, map_m_keys },
	{ "put", ON_MAP, 2, 2, true, map_m_put },
	{ "remove", ON_MAP, 1, 1, true, map_m_remove },
	{ "size", ON_MAP, 0, 0, false, any_m_size },
	{ "values", ON_MAP, 0, 0, false, map_m_values },
	{ "getKey", ON_ENTRY, 0, 0, false, entry_m_key },
	{ "getValue", ON_ENTRY, 0, 0, false, entry_m_value },
	{ "key", ON_ENTRY, 0, 0, false, entry_m_key },
	{ "value", ON_ENTRY, 0, 0, false, entry_m_value },
	{ "compareTo", ON_NUMBER, 1, 1, true, number_m_compare },
	{ "doubleValue", ON_NUMBER, 0, 0, false, number_m_double },
	{ "equals", ON_NUMBER, 1, 1, true, number_m_equals },
	{ "floatValue", ON_NUMBER, 0, 0, false, number_m_float },
	{ "intValue", ON_NUMBER, 0, 0, false, number_m_int },
	{ "longValue", ON_NUMBER, 0, 0, false, number_m_long },
	{ "booleanValue", ON_BOOL, 0, 0, false, bool_m_value },
	{ "getTime", ON_DATE, 0, 0, false, date_m_time },
	{ "time", ON_DATE, 0, 0, false, date_m_time },
	{ "length", ON_STREAM, 0, 0, false, text_m_length },
	{ "toString", ON_ANY, 0, 0, false, any_m_to_string },
};

/* ---- calling ---- */

static enum receiver
receiver_of(const struct value *v)
{
	enum document_kind kind = document_kind(v);
	if (v->type == VALUE_MAP && (v->flags & VALUE_ENTRY) && v->u.map->n == 2)
		return ON_ENTRY;
	if (kind != DOCUMENT_SCALAR)
		return kind == DOCUMENT_ARRAY ? ON_LIST : ON_MAP;
	if (v->type == VALUE_BOOL)
		return ON_BOOL;
	if (v->type == VALUE_INT && (v->flags & VALUE_DATE))
		return ON_DATE;
	if (!value_has_text(v) || v->type == VALUE_DECIMAL)
		return ON_NUMBER;
	return v->type != VALUE_XML && (v->flags & VALUE_INPUT) ? ON_STREAM : ON_TEXT;
}

/*
 * A message or an exchange that a grouping strategy has put into a list: a map here, whose members
 * are read as in Java: ${body[0].body}, ${body[0].getMessage().getHeader('k')}. So is what Kafka's
 * client tells of a record: ${header.CamelKafkaRecordMeta[0].offset}.
 */
static bool
read_grouped(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out)
{
	struct str name = step->name;
	char *text = arena_strndup(&ex->arena, name.p, name.n);
	if (name.n > 3 && str_starts(name, "get")) {
		text += 3;
		name.n -= 3;
		text[0] = (char)tolower((unsigned char)text[0]);
	}
	name.p = text;
	bool header = str_eq(name, STR_LIT("header")), property = str_eq(name, STR_LIT("property"));
	if (str_eq(name, STR_LIT("allProperties")))
		name = STR_LIT("properties");
	if ((!header && !property) || step->args_n != 1)
		return document_member(&ex->arena, v, name, out);
	struct value all;
	if (!document_member(
		&ex->arena, v, header ? STR_LIT("headers") : STR_LIT("properties"), &all))
		return false;
	if (!document_member(&ex->arena, &all, step->args[0], out))
		*out = value_null();
	return true;
}

enum eval_rc
simple_method_call(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out)
{
	enum receiver on = receiver_of(v);
	if (v->type == VALUE_MAP && (v->flags & (VALUE_GROUPED | VALUE_RECORD)) &&
	    read_grouped(step, ex, v, out))
		return EVAL_OK;
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		const struct method *m = &methods[i];
		if ((m->on != on && m->on != ON_ANY) || !str_eq(step->name, str_of(m->name)))
			continue;
		if (step->args_n < m->min || step->args_n > m->max || (m->parens && !step->parens))
			break;
		struct invocation in = { .ex = ex, .self = *v, .step = step };
		if (on == ON_TEXT || on == ON_STREAM)
			in.text = value_text(&ex->arena, v);
		return m->fn(&in, out);
	}
	const char *type = value_class(v);
	return simple_fail(ex, EXCEPTION_METHOD_NOT_FOUND,
	    "Method with name: %.*s not found on bean of type: %s%s", STR_FMT(step->name),
	    type != NULL ? type : "null",
	    on == ON_STREAM ? ": convert the body to String first" : "");
}

/* ---- classes ---- */

static bool
is_named(const struct access_step *step, const char *property, const char *getter)
{
	return step->is_method && step->args_n == 0 &&
	    (str_eq(step->name, str_of(property)) || str_eq(step->name, str_of(getter)));
}

size_t
simple_method_class(
    const struct access_step *step, size_t left, struct exchange *ex, const struct value *v,
    struct value *out)
{
	const char *class = value_class(v);
	if (class == NULL || !is_named(step, "class", "getClass"))
		return 0;
	if (left > 1 && is_named(step + 1, "name", "getName")) {
		*out = value_str(str_of(class));
		return 2;
	}
	if (left > 1 && is_named(step + 1, "simpleName", "getSimpleName")) {
		const char *dot = strrchr(class, '.');
		*out = value_str(str_of(dot != NULL ? dot + 1 : class));
		return 2;
	}
	*out = value_str(str_of(arena_printf(&ex->arena, "class %s", class)));
	return 1;
}
