/*
 * The headers of a message. Removed ones keep their place and name, with hash 0, until
 * headers_clean: a callee's reply must say which went. A name that comes back takes its own old
 * place, so a loop that sets and removes does not grow the array.
 */
#include "core/model/headers.h"

#include "core/base/assert.h"
#include "core/model/value_priv.h"

#include <string.h>

enum { HEADERS_FIRST = 16, LIST_IS_OURS = 1 };

/* ---- well-known names ---- */

static const struct {
	uint32_t hash;
	uint16_t id;
} ids_by_hash[] = {
#define HEADER_ID(id, number, name, hash) { hash, number },
#include "core/model/header_ids.def"
#undef HEADER_ID
};

static const struct {
	struct str name;
	uint32_t hash;
} ids[HEADER_ID_MAX + 1] = {
#define HEADER_ID(id, number, name, hash) [number] = { { name, sizeof(name) - 1 }, hash },
#include "core/model/header_ids.def"
#undef HEADER_ID
};

uint32_t
header_hash(struct str name)
{
	uint32_t hash = str_casehash(name);
	return hash != 0 ? hash : 1;
}

enum header_id
header_id_find(struct str name, uint32_t hash)
{
	size_t low = 0, high = ARRAY_LEN(ids_by_hash);

	while (low < high) {
		size_t mid = (low + high) / 2;
		if (ids_by_hash[mid].hash < hash)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == ARRAY_LEN(ids_by_hash) || ids_by_hash[low].hash != hash)
		return HEADER_NONE;
	uint16_t id = ids_by_hash[low].id;
	return str_caseeq(ids[id].name, name) ? (enum header_id)id : HEADER_NONE;
}

struct str
header_id_name(enum header_id id)
{
	return (unsigned)id <= HEADER_ID_MAX && ids[id].name.p != NULL ? ids[id].name
								       : (struct str){ "", 0 };
}

uint32_t
header_id_hash(enum header_id id)
{
	return (unsigned)id <= HEADER_ID_MAX ? ids[id].hash : 0;
}

/* ---- access ---- */

void
headers_init(struct headers *hs)
{
	*hs = (struct headers){ 0 };
}

struct header *
headers_find_hashed(const struct headers *hs, struct str name, uint32_t casehash)
{
	uint32_t hash = casehash != 0 ? casehash : 1;

	for (uint32_t i = 0; i < hs->n; i++) {
		struct header *h = &hs->items[i];
		if (h->hash == hash && str_caseeq(h->name, name))
			return h;
	}
	return NULL;
}

struct header *
headers_find(const struct headers *hs, struct str name)
{
	return hs->n > 0 ? headers_find_hashed(hs, name, str_casehash(name)) : NULL;
}

/* The place of a removed header of this name, else a new one at the end. */
static struct header *
new_place(struct headers *hs, struct arena *a, struct str name)
{
	if (hs->removed) {
		for (uint32_t i = 0; i < hs->n; i++) {
			if (hs->items[i].hash == 0 && str_caseeq(hs->items[i].name, name))
				return &hs->items[i];
		}
	}
	if (hs->n == hs->cap) {
		ASSERT(hs->cap < UINT32_MAX / 2);
		uint32_t cap = hs->cap == 0 ? HEADERS_FIRST : hs->cap * 2;
		struct header *items = arena_alloc(a, cap * sizeof *items);
		if (hs->n > 0)
			memcpy(items, hs->items, hs->n * sizeof *items);
		hs->items = items;
		hs->cap = cap;
	}
	return &hs->items[hs->n++];
}

static struct header *
place(struct headers *hs, struct arena *a, struct str name, uint32_t hash, enum header_id id)
{
	struct header *h = new_place(hs, a, name);

	*h = (struct header){ .name = name, .hash = hash, .id = (uint16_t)id, .dirty = 1 };
	hs->live++;
	return h;
}

void
headers_set_id(struct headers *hs, struct arena *a, enum header_id id, struct value v)
{
	struct header *h = NULL;

	for (uint32_t i = 0; i < hs->n && h == NULL; i++) {
		if (hs->items[i].id == id && hs->items[i].hash != 0)
			h = &hs->items[i];
	}
	if (h == NULL)
		h = place(hs, a, ids[id].name, ids[id].hash, id);
	h->value = v;
	h->dirty = 1;
}

void
headers_set_hashed(
    struct headers *hs, struct arena *a, struct str name, uint32_t casehash, struct value v)
{
	uint32_t hash = casehash != 0 ? casehash : 1;
	struct header *h = headers_find_hashed(hs, name, hash);

	if (h == NULL)
		h = place(hs, a, name, hash, header_id_find(name, hash));
	h->value = v;
	h->dirty = 1;
}

void
headers_set(struct headers *hs, struct arena *a, struct str name, struct value v)
{
	headers_set_hashed(hs, a, name, str_casehash(name), v);
}

/* A list that headers_add may append to; one that was set may belong to others, the program's
 * constants for instance. */
static struct value
own_list(struct arena *a, const struct value *v)
{
	struct value list = value_new_list(a, 4);

	list.aux = LIST_IS_OURS;
	if (v->type != VALUE_LIST)
		value_list_add(a, list.u.list, *v);
	for (size_t i = 0; v->type == VALUE_LIST && i < v->u.list->n; i++)
		value_list_add(a, list.u.list, v->u.list->items[i]);
	return list;
}

void
headers_add(struct headers *hs, struct arena *a, struct str name, struct value v)
{
	uint32_t hash = header_hash(name);
	struct header *h = headers_find_hashed(hs, name, hash);

	if (h == NULL) {
		place(hs, a, name, hash, header_id_find(name, hash))->value = v;
		return;
	}
	h->dirty = 1;
	if (h->value.type != VALUE_LIST || h->value.aux != LIST_IS_OURS)
		h->value = own_list(a, &h->value);
	value_list_add(a, h->value.u.list, v);
}

/* ---- removal ---- */

static void
remove_at(struct headers *hs, struct header *h)
{
	h->hash = 0;
	h->value = value_null();
	hs->live--;
	hs->removed = true;
}

bool
headers_remove(struct headers *hs, struct str name)
{
	struct header *h = headers_find(hs, name);

	if (h != NULL)
		remove_at(hs, h);
	return h != NULL;
}

static bool
is_kept(struct str name, const struct pattern *const *keep, size_t keep_n)
{
	for (size_t i = 0; i < keep_n; i++) {
		if (pattern_match(keep[i], name))
			return true;
	}
	return false;
}

size_t
headers_remove_matching(struct headers *hs, const struct pattern *remove,
    const struct pattern *const *keep, size_t keep_n)
{
	size_t n = 0;

	HEADERS_FOREACH (hs, h) {
		if (pattern_match(remove, h->name) && !is_kept(h->name, keep, keep_n)) {
			remove_at(hs, h);
			n++;
		}
	}
	return n;
}

void
headers_clear(struct headers *hs)
{
	HEADERS_FOREACH (hs, h)
		remove_at(hs, h);
}

void
headers_clean(struct headers *hs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hs->n; i++) {
		if (hs->items[i].hash == 0)
			continue;
		if (n != i)
			hs->items[n] = hs->items[i];
		hs->items[n++].dirty = 0;
	}
	hs->n = n;
	hs->removed = false;
}

void
headers_copy(struct headers *to, struct arena *a, const struct headers *from)
{
	struct value_sharer sh = { .to = a };

	*to = (struct headers){ 0 };
	if (from->live == 0)
		return;
	to->cap = from->live < HEADERS_FIRST ? HEADERS_FIRST : from->live;
	to->items = arena_alloc(a, to->cap * sizeof *to->items);
	HEADERS_FOREACH (from, h) {
		struct header *copy = &to->items[to->n++];
		*copy = *h;
		copy->dirty = 1;
		copy->name = h->id != HEADER_NONE && str_eq(h->name, ids[h->id].name)
		    ? ids[h->id].name
		    : arena_str(a, h->name);
		copy->value = value_share_with(&sh, &h->value);
	}
	to->live = to->n;
}
