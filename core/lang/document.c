/* Lists, maps and parsed JSON as one kind of tree. */
#include "core/lang/document.h"

struct value
document_plain(struct arena *a, struct value v)
{
	return v.type == VALUE_JSON ? value_json_child(a, &v, v.u.json) : v;
}

enum document_kind
document_kind(const struct value *v)
{
	if (v->type == VALUE_LIST)
		return DOCUMENT_ARRAY;
	if (v->type == VALUE_MAP)
		return DOCUMENT_OBJECT;
	if (v->type != VALUE_JSON)
		return DOCUMENT_SCALAR;
	return v->u.json->type == JSON_IS_ARRAY ? DOCUMENT_ARRAY
	    : v->u.json->type == JSON_IS_OBJECT ? DOCUMENT_OBJECT
						: DOCUMENT_SCALAR;
}

size_t
document_size(const struct value *v)
{
	if (v->type == VALUE_LIST)
		return v->u.list->n;
	if (v->type == VALUE_MAP)
		return v->u.map->n;
	return document_kind(v) != DOCUMENT_SCALAR ? v->u.json->children : 0;
}

bool
document_member(struct arena *a, const struct value *object, struct str key, struct value *out)
{
	if (!value_member(a, object, key, out))
		return false;
	*out = document_plain(a, *out);
	return true;
}

bool
document_item(struct arena *a, const struct value *array, size_t i, struct value *out)
{
	if (!value_item(a, array, i, out))
		return false;
	*out = document_plain(a, *out);
	return true;
}

void
document_iter_init(struct document_iter *it, struct arena *a, const struct value *v)
{
	*it = (struct document_iter){ .arena = a, .v = v, .n = document_size(v) };
	if (v->type == VALUE_JSON && it->n > 0)
		it->at = json_first(v->u.json);
}

bool
document_iter_next(struct document_iter *it, struct str *key, struct value *out)
{
	if (it->i >= it->n)
		return false;
	*key = (struct str){ NULL, 0 };
	if (it->v->type == VALUE_LIST) {
		*out = document_plain(it->arena, it->v->u.list->items[it->i]);
	} else if (it->v->type == VALUE_MAP) {
		const struct value_entry *entry = &it->v->u.map->entries[it->i];
		*key = entry->key;
		*out = document_plain(it->arena, *entry->value);
	} else {
		if (it->v->u.json->type == JSON_IS_OBJECT) {
			*key = json_text(it->arena, it->at);
			it->at = json_next(it->at);
		}
		*out = value_json_child(it->arena, it->v, it->at);
		it->at = json_next(it->at);
	}
	it->i++;
	return true;
}
