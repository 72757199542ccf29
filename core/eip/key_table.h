/*
 * Keys that have been seen, up to a number: the one that was added first is forgotten first (a key
 * that is asked for, or added again, stays in its place, as in Camel). A key is held by an exchange
 * until it is confirmed; what a dead process held is given back.
 */
#ifndef HINNY_EIP_KEY_TABLE_H
#define HINNY_EIP_KEY_TABLE_H

#include "core/base/hash.h"
#include "core/base/list.h"

struct key_table {
	struct hash keys;
	struct list order; /* struct seen_key, the oldest first */
	size_t max;
};

struct seen_key {
	struct list node;
	uint64_t home; /* process whose exchange holds it; 0: confirmed */
	uint64_t holder; /* that exchange */
	size_t n;
	char text[];
};

void key_table_init(struct key_table *t, size_t max);
void key_table_fini(struct key_table *t);
/* False: it is there already. home 0: confirmed at once. */
bool key_table_add(struct key_table *t, struct str key, uint64_t home, uint64_t holder);
/* Who holds the key: an incarnation; 0: nobody, or there is no such key. */
uint64_t key_table_home(const struct key_table *t, struct str key);
bool key_table_has(const struct key_table *t, struct str key);
/* Of keys that are not there: nothing. */
void key_table_confirm(struct key_table *t, struct str key);
void key_table_remove(struct key_table *t, struct str key);
/* Removes it if that exchange holds it. */
void key_table_give_back(struct key_table *t, struct str key, uint64_t home, uint64_t holder);
/* Removes all that exchanges of this process hold. */
void key_table_lose(struct key_table *t, uint64_t home);

#endif
