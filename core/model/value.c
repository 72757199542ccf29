/*
 * Values: containers, access to elements and members, and carrying a value over to another arena.
 * Text forms, comparison and conversion stand in files of their own.
 */
#include "core/model/value.h"

#include "core/base/assert.h"
#include "core/model/json.h"
#include "core/model/value_priv.h"

#include <string.h>

enum { MAP_INDEX_FROM = 32 };

/* ---- lists ---- */

struct value
value_new_list(struct arena *a, size_t cap)
{
	struct value_list *l = ARENA_NEW(a, struct value_list);

	if (cap > 0) {
		ASSERT(cap <= SIZE_MAX / sizeof *l->items);
		l->items = arena_alloc(a, cap * sizeof *l->items);
		l->cap = cap;
	}
	return (struct value){ .type = VALUE_LIST, .u.list = l };
}

/* A larger array with the first n elements of the old one. */
static void *
grown(struct arena *a, const void *items, size_t n, size_t size, size_t *cap)
{
	size_t want = *cap < 8 ? 8 : *cap * 2;

	ASSERT(want <= SIZE_MAX / size);
	void *p = arena_alloc(a, want * size);
	if (n > 0)
		memcpy(p, items, n * size);
	*cap = want;
	return p;
}

void
value_list_add(struct arena *a, struct value_list *l, struct value v)
{
	if (l->n == l->cap)
		l->items = grown(a, l->items, l->n, sizeof *l->items, &l->cap);
	l->items[l->n++] = v;
}

/* ---- maps ---- */

struct value
value_new_map(struct arena *a, size_t cap, bool nocase)
{
	struct value_map *m = ARENA_NEW(a, struct value_map);

	m->nocase = nocase;
	if (cap > 0) {
		ASSERT(cap <= SIZE_MAX / sizeof *m->entries);
		m->entries = arena_alloc(a, cap * sizeof *m->entries);
		m->cap = cap;
	}
	return (struct value){ .type = VALUE_MAP, .u.map = m };
}

static bool
key_matches(const struct value_map *m, const struct value_entry *e, struct str key)
{
	return m->nocase ? str_caseeq(e->key, key) : str_eq(e->key, key);
}

/* Seeded by the map's address: who sends a document cannot choose keys that collide. */
static size_t
index_hash(const struct value_map *m, struct str key)
{
	uint64_t h = 0x9e3779b97f4a7c15u ^ (uintptr_t)m;

	for (size_t i = 0; i < key.n; i++) {
		unsigned char c = (unsigned char)key.p[i];
		if (m->nocase && c >= 'A' && c <= 'Z')
			c = (unsigned char)(c + ('a' - 'A'));
		h = (h ^ c) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return (size_t)h;
}

static void
index_add(struct value_map *m, size_t position)
{
	size_t mask = m->index_cap - 1;
	size_t at = index_hash(m, m->entries[position].key) & mask;

	while (m->index[at] != 0)
		at = (at + 1) & mask;
	m->index[at] = (uint32_t)position + 1;
}

/* Brings the index up to the entries; makes a larger one when it is half full. */
static void
index_extend(struct arena *a, struct value_map *m)
{
	ASSERT(m->n < UINT32_MAX / 4);
	if (m->n * 2 >= m->index_cap) {
		size_t cap = MAP_INDEX_FROM * 4;
		while (cap < m->n * 4)
			cap *= 2;
		m->index = arena_alloc(a, cap * sizeof *m->index);
		m->index_cap = cap;
		m->index_n = 0;
	}
	if (m->index_n == 0)
		memset(m->index, 0, m->index_cap * sizeof *m->index);
	while (m->index_n < m->n)
		index_add(m, m->index_n++);
}

static struct value_entry *
map_find(const struct value_map *m, struct str key)
{
	if (m->n >= MAP_INDEX_FROM && m->index_n == m->n) {
		size_t mask = m->index_cap - 1;
		for (size_t at = index_hash(m, key) & mask; m->index[at] != 0;
		     at = (at + 1) & mask) {
			struct value_entry *e = &m->entries[m->index[at] - 1];
			if (key_matches(m, e, key))
				return e;
		}
		return NULL;
	}
	for (size_t i = 0; i < m->n; i++) {
		if (key_matches(m, &m->entries[i], key))
			return &m->entries[i];
	}
	return NULL;
}

void
value_map_set(struct arena *a, struct value_map *m, struct str key, struct value v)
{
	if (m->n >= MAP_INDEX_FROM && m->index_n != m->n)
		index_extend(a, m);
	struct value_entry *e = map_find(m, key);
	if (e != NULL) {
		*e->value = v;
		return;
	}
	if (m->n == m->cap)
		m->entries = grown(a, m->entries, m->n, sizeof *m->entries, &m->cap);
	e = &m->entries[m->n++];
	e->key = key;
	e->value = arena_alloc(a, sizeof *e->value);
	*e->value = v;
	if (m->n >= MAP_INDEX_FROM)
		index_extend(a, m);
}

struct value *
value_map_find(const struct value_map *m, struct str key)
{
	struct value_entry *e = map_find(m, key);
	return e != NULL ? e->value : NULL;
}

bool
value_map_remove(struct value_map *m, struct str key)
{
	struct value_entry *e = map_find(m, key);
	if (e == NULL)
		return false;
	size_t at = (size_t)(e - m->entries);
	memmove(e, e + 1, (m->n - at - 1) * sizeof *e);
	m->n--;
	m->index_n = 0;
	return true;
}

void
value_map_clear(struct value_map *m)
{
	m->n = 0;
	m->index_n = 0;
}

/* ---- JSON nodes as values ---- */

static struct value
json_number(struct str text, const struct json_node *n)
{
	int64_t i;
	double d;

	if (n->type == JSON_IS_INT && str_to_int64(text, &i)) {
		struct value v = value_int(i);
		v.flags = i < INT32_MIN || i > INT32_MAX ? VALUE_LONG : 0;
		return v;
	}
	if (n->type == JSON_IS_FRACTION && str_to_double(text, &d))
		return value_double(d);
	return (struct value){ .type = VALUE_DECIMAL, .u.s = text };
}

struct value
value_from_json(struct arena *a, const struct json_node *n, struct blob *blob)
{
	struct value v = value_null();

	switch ((enum json_type)n->type) {
	case JSON_IS_NULL:
		return v;
	case JSON_IS_FALSE:
	case JSON_IS_TRUE:
		return value_bool(n->type == JSON_IS_TRUE);
	case JSON_IS_INT:
	case JSON_IS_FRACTION:
		v = json_number((struct str){ n->text, n->length }, n);
		v.blob = v.type == VALUE_DECIMAL ? blob : NULL;
		return v;
	case JSON_IS_STRING:
		v = value_str(json_text(a, n));
		v.blob = n->escaped ? NULL : blob;
		return v;
	case JSON_IS_ARRAY:
	case JSON_IS_OBJECT:
		break;
	}
	return (struct value){ .type = VALUE_JSON, .u.json = n, .blob = blob };
}

bool
value_is_list(const struct value *v)
{
	return v->type == VALUE_LIST || (v->type == VALUE_JSON && v->u.json->type == JSON_IS_ARRAY);
}

bool
value_is_map(const struct value *v)
{
	return v->type == VALUE_MAP || (v->type == VALUE_JSON && v->u.json->type == JSON_IS_OBJECT);
}

struct value
value_json_child(struct arena *a, const struct value *v, const struct json_node *n)
{
	struct value child = value_from_json(a, n, v->blob);

	if (child.type == VALUE_JSON || child.type == VALUE_STRING)
		child.flags |= v->flags & VALUE_NODE;
	return child;
}

bool
value_item(struct arena *a, const struct value *v, size_t i, struct value *out)
{
	if (v->type == VALUE_LIST) {
		if (i >= v->u.list->n)
			return false;
		*out = v->u.list->items[i];
		return true;
	}
	if (v->type != VALUE_JSON || v->u.json->type != JSON_IS_ARRAY || i >= v->u.json->children)
		return false;
	const struct json_node *n = json_first(v->u.json);
	while (i-- > 0)
		n = json_next(n);
	*out = value_json_child(a, v, n);
	return true;
}

bool
value_member(struct arena *a, const struct value *v, struct str key, struct value *out)
{
	if (v->type == VALUE_MAP) {
		struct value *found = value_map_find(v->u.map, key);
		if (found != NULL)
			*out = *found;
		return found != NULL;
	}
	if (v->type != VALUE_JSON || v->u.json->type != JSON_IS_OBJECT)
		return false;
	const struct json_node *n = json_member(v->u.json, key);
	if (n != NULL)
		*out = value_json_child(a, v, n);
	return n != NULL;
}

struct value
value_plain(struct arena *a, const struct value *v)
{
	if (v->type != VALUE_JSON)
		return *v;
	const struct json_node *n = v->u.json;
	struct value out;

	if (n->type == JSON_IS_ARRAY) {
		out = value_new_list(a, n->children);
		const struct json_node *item = json_first(n);
		for (uint32_t i = 0; i < n->children; i++, item = json_next(item)) {
			struct value part = value_from_json(a, item, v->blob);
			value_list_add(a, out.u.list, value_plain(a, &part));
		}
		return out;
	}
	if (n->type != JSON_IS_OBJECT)
		return value_from_json(a, n, v->blob);
	out = value_new_map(a, n->children, false);
	const struct json_node *key = json_first(n);
	for (uint32_t i = 0; i < n->children; i++) {
		const struct json_node *member = json_next(key);
		struct value part = value_from_json(a, member, v->blob);
		value_map_set(a, out.u.map, json_text(a, key), value_plain(a, &part));
		key = json_next(member);
	}
	return out;
}

/* ---- size and sharing ---- */

size_t
value_size(const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_NULL:
		return 0;
	case VALUE_LIST:
		return v->u.list->n;
	case VALUE_MAP:
		return v->u.map->n;
	case VALUE_XML:
		return v->flags & VALUE_NODESET ? v->aux : 1;
	case VALUE_JSON:
		if (v->u.json->type == JSON_IS_NULL)
			return 0;
		return v->u.json->type >= JSON_IS_ARRAY ? v->u.json->children : 1;
	default:
		return 1;
	}
}

static void
hold(struct value_sharer *sh, struct blob *blob)
{
	if (sh->held == blob)
		return;
	sh->held = arena_hold(sh->to, blob);
	if (sh->bytes != NULL)
		*sh->bytes += blob->cap;
}

/* Is so much of the blob worth to keep it all? */
static bool
may_hold(const struct value_sharer *sh, size_t n, const struct blob *blob)
{
	return blob != NULL && (sh->bytes == NULL || n > blob->cap / 2);
}

struct str
value_share_str(struct value_sharer *sh, struct str s, struct blob *blob)
{
	if (!may_hold(sh, s.n, blob))
		return arena_str(sh->to, s);
	hold(sh, blob);
	return s;
}

static struct value
share_list(struct value_sharer *sh, const struct value *v)
{
	struct value out = value_new_list(sh->to, v->u.list->n);

	for (size_t i = 0; i < v->u.list->n; i++)
		out.u.list->items[i] = value_share_with(sh, &v->u.list->items[i]);
	out.u.list->n = v->u.list->n;
	return out;
}

static struct value
share_map(struct value_sharer *sh, const struct value *v)
{
	const struct value_map *from = v->u.map;
	struct value out = value_new_map(sh->to, from->n, from->nocase);
	struct value_map *m = out.u.map;

	for (size_t i = 0; i < from->n; i++) {
		m->entries[i].key = arena_str(sh->to, from->entries[i].key);
		m->entries[i].value = arena_alloc(sh->to, sizeof *m->entries[i].value);
		*m->entries[i].value = value_share_with(sh, from->entries[i].value);
	}
	m->n = from->n;
	if (m->n >= MAP_INDEX_FROM)
		index_extend(sh->to, m);
	return out;
}

struct value
value_share_with(struct value_sharer *sh, const struct value *v)
{
	struct value out = *v;

	ASSERT(v->type != VALUE_STREAM);
	if (value_has_text(v)) {
		out.u.s = value_share_str(sh, v->u.s, v->blob);
		if (out.u.s.p != v->u.s.p)
			out.blob = NULL;
	} else if (v->type == VALUE_LIST) {
		out.u.list = share_list(sh, v).u.list;
	} else if (v->type == VALUE_MAP) {
		out.u.map = share_map(sh, v).u.map;
	} else if (v->type == VALUE_JSON) {
		bool holds = may_hold(sh, v->u.json->length, v->blob);
		if (holds)
			hold(sh, v->blob);
		else
			out.blob = NULL;
		out.u.json = json_node_copy(sh->to, v->u.json, holds);
	}
	return out;
}

struct value
value_share(struct arena *to, const struct value *v)
{
	struct value_sharer sh = { .to = to };
	return value_share_with(&sh, v);
}

struct value
value_keep(struct arena *to, const struct value *v, uint64_t *held)
{
	struct value_sharer sh = { .to = to, .bytes = held };
	return v->type == VALUE_STREAM ? value_null() : value_share_with(&sh, v);
}
