/*
 * A string-keyed map: open addressing, keys borrowed (they must outlive the map), grows by itself.
 */
#ifndef HINNY_BASE_HASH_H
#define HINNY_BASE_HASH_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	struct str key;
	void *value; /* NULL: the slot is free */
	uint32_t hash;
};

struct hash {
	struct hash_slot *slots;
	size_t cap;
	size_t count;
	bool nocase;
};

void hash_init(struct hash *h, bool nocase);
void hash_fini(struct hash *h);
void *hash_find(const struct hash *h, struct str key); /* NULL when absent */
/* value must not be NULL. Returns the value that was there before, or NULL. */
void *hash_put(struct hash *h, struct str key, void *value);
void *hash_remove(struct hash *h, struct str key);

#endif
