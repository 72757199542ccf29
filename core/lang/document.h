/* Lists, maps and parsed JSON as one kind of tree: what jsonpath and the [key] access of Simple
 * walk. Nothing is copied but decoded strings. */
#ifndef HINNY_LANG_DOCUMENT_H
#define HINNY_LANG_DOCUMENT_H

#include "core/model/json.h"
#include "core/model/value.h"

#include <stdbool.h>

enum document_kind { DOCUMENT_SCALAR, DOCUMENT_ARRAY, DOCUMENT_OBJECT };

/* The value itself, or the plain value of a JSON scalar; JSON arrays and objects stay VALUE_JSON.
 */
struct value document_plain(struct arena *a, struct value v);

enum document_kind document_kind(const struct value *v);
size_t document_size(const struct value *v); /* items or members; 0 for a scalar */
/* False: no such member (of several in JSON the last counts). */
bool document_member(
    struct arena *a, const struct value *object, struct str key, struct value *out);
bool document_item(struct arena *a, const struct value *array, size_t i, struct value *out);

/* Items in order; members with their keys. */
struct document_iter {
	struct arena *arena;
	const struct value *v;
	const struct json_node *at;
	size_t i, n;
};
void document_iter_init(struct document_iter *it, struct arena *a, const struct value *v);
bool document_iter_next(struct document_iter *it, struct str *key, struct value *out);

#endif
