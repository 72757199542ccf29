/*
 * Linear probing in a table of a power of two that is at most three quarters full; removal moves
 * later entries up.
 */
#include "core/base/hash.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <stdlib.h>

enum { HASH_MIN = 8 };

void
hash_init(struct hash *h, bool nocase)
{
	*h = (struct hash){ .nocase = nocase };
}

void
hash_fini(struct hash *h)
{
	free(h->slots);
	hash_init(h, h->nocase);
}

static uint32_t
key_hash(const struct hash *h, struct str key)
{
	return h->nocase ? str_casehash(key) : str_hash(key);
}

static bool
key_eq(const struct hash *h, struct str a, struct str b)
{
	return h->nocase ? str_caseeq(a, b) : str_eq(a, b);
}

/* The slot of key, or the free one where it would go. The table has a free slot. */
static struct hash_slot *
slot_of(const struct hash *h, struct str key, uint32_t hash)
{
	size_t mask = h->cap - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct hash_slot *s = &h->slots[i];
		if (s->value == NULL || (s->hash == hash && key_eq(h, s->key, key)))
			return s;
	}
}

static void
grow(struct hash *h)
{
	struct hash old = *h;

	h->cap = old.cap ? old.cap * 2 : HASH_MIN;
	ASSERT(h->cap <= SIZE_MAX / sizeof *h->slots);
	h->slots = mem_zalloc(h->cap * sizeof *h->slots);
	for (size_t i = 0; i < old.cap; i++) {
		if (old.slots[i].value != NULL)
			*slot_of(h, old.slots[i].key, old.slots[i].hash) = old.slots[i];
	}
	free(old.slots);
}

void *
hash_find(const struct hash *h, struct str key)
{
	if (h->count == 0)
		return NULL;
	return slot_of(h, key, key_hash(h, key))->value;
}

void *
hash_put(struct hash *h, struct str key, void *value)
{
	ASSERT(value != NULL);
	if (h->count >= h->cap / 4 * 3)
		grow(h);
	uint32_t hash = key_hash(h, key);
	struct hash_slot *s = slot_of(h, key, hash);
	void *before = s->value;
	*s = (struct hash_slot){ .key = key, .value = value, .hash = hash };
	if (before == NULL)
		h->count++;
	return before;
}

/* Fills the hole at `free_at` with later entries of the same run, so that no probe stops early. */
static void
close_hole(struct hash *h, size_t free_at)
{
	size_t mask = h->cap - 1;

	for (size_t i = (free_at + 1) & mask; h->slots[i].value != NULL; i = (i + 1) & mask) {
		size_t home = h->slots[i].hash & mask;
		if (((i - home) & mask) < ((i - free_at) & mask))
			continue;
		h->slots[free_at] = h->slots[i];
		free_at = i;
	}
	h->slots[free_at] = (struct hash_slot){ .value = NULL };
}

void *
hash_remove(struct hash *h, struct str key)
{
	if (h->count == 0)
		return NULL;
	struct hash_slot *s = slot_of(h, key, key_hash(h, key));
	void *value = s->value;
	if (value == NULL)
		return NULL;
	close_hole(h, (size_t)(s - h->slots));
	h->count--;
	return value;
}
