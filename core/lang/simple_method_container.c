/* The methods of lists, maps and entries of maps, as Java has them. */
#include "core/lang/simple_method_priv.h"

#include "core/base/assert.h"
#include "core/lang/document.h"

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
		return simple_fail(
		    in->ex, EXCEPTION_INDEX_OUT_OF_BOUNDS, "subList: beyond the %zu elements", n);
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
	return simple_method_convert(in, CLASS_ITERATOR, out);
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

static const struct method methods[] = {
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
};

const struct method_table simple_methods_container = { methods, ARRAY_LEN(methods) };
