/* Keys that have been seen: a hash table, and a list in the order of their coming. */
#include "core/eip/key_table.h"

#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

void
key_table_init(struct key_table *t, size_t max)
{
	*t = (struct key_table){ .max = max };
	hash_init(&t->keys, false);
	list_init(&t->order);
}

static struct str
text_of(const struct seen_key *k)
{
	return (struct str){ k->text, k->n };
}

static void
drop(struct key_table *t, struct seen_key *k)
{
	(void)hash_remove(&t->keys, text_of(k)); /* it is k */
	list_remove(&k->node);
	free(k);
}

void
key_table_fini(struct key_table *t)
{
	LIST_FOREACH (&t->order, it, next) {
		struct seen_key *k = LIST_ENTRY(it, struct seen_key, node);
		list_remove(it);
		free(k);
	}
	hash_fini(&t->keys);
}

bool
key_table_add(struct key_table *t, struct str key, uint64_t home, uint64_t holder)
{
	if (hash_find(&t->keys, key))
		return false;
	struct seen_key *k = mem_alloc(sizeof(*k) + key.n);
	*k = (struct seen_key){ .home = home, .holder = holder, .n = key.n };
	if (key.n > 0)
		memcpy(k->text, key.p, key.n);
	(void)hash_put(&t->keys, text_of(k), k); /* there was none */
	list_append(&t->order, &k->node);
	if (t->keys.count > t->max)
		drop(t, LIST_FIRST(&t->order, struct seen_key, node));
	return true;
}

uint64_t
key_table_home(const struct key_table *t, struct str key)
{
	const struct seen_key *k = hash_find(&t->keys, key);
	return k ? k->home : 0;
}

bool
key_table_has(const struct key_table *t, struct str key)
{
	return hash_find(&t->keys, key) != NULL;
}

void
key_table_confirm(struct key_table *t, struct str key)
{
	struct seen_key *k = hash_find(&t->keys, key);
	if (k)
		k->home = k->holder = 0;
}

void
key_table_remove(struct key_table *t, struct str key)
{
	struct seen_key *k = hash_find(&t->keys, key);
	if (k)
		drop(t, k);
}

void
key_table_give_back(struct key_table *t, struct str key, uint64_t home, uint64_t holder)
{
	struct seen_key *k = hash_find(&t->keys, key);
	if (k && k->home == home && k->holder == holder)
		drop(t, k);
}

void
key_table_lose(struct key_table *t, uint64_t home)
{
	LIST_FOREACH (&t->order, it, next) {
		struct seen_key *k = LIST_ENTRY(it, struct seen_key, node);
		if (k->home == home)
			drop(t, k);
	}
}
