/* Keys of files that were read. */
#include "transports/file/file_seen.h"

#include "core/base/mem.h"

#include <stdlib.h>

struct seen_key {
	struct list used;
	struct str key;
	char bytes[];
};

void
seen_init(struct seen *s, size_t limit)
{
	hash_init(&s->keys, false);
	list_init(&s->used);
	s->limit = limit;
}

static void
drop(struct seen *s, struct seen_key *k)
{
	list_remove(&k->used);
	(void)hash_remove(&s->keys, k->key);
	free(k);
}

void
seen_fini(struct seen *s)
{
	while (!list_empty(&s->used))
		drop(s, LIST_FIRST(&s->used, struct seen_key, used));
	hash_fini(&s->keys);
}

bool
seen_has(struct seen *s, struct str key)
{
	struct seen_key *k = hash_find(&s->keys, key);

	if (k == NULL)
		return false;
	list_remove(&k->used);
	list_prepend(&s->used, &k->used);
	return true;
}

void
seen_add(struct seen *s, struct str key)
{
	if (seen_has(s, key))
		return;
	struct seen_key *k = mem_alloc(sizeof *k + key.n);
	memcpy(k->bytes, key.p, key.n);
	k->key = (struct str){ k->bytes, key.n };
	(void)hash_put(&s->keys, k->key, k);
	list_prepend(&s->used, &k->used);
	while (s->keys.count > s->limit)
		drop(s, LIST_ENTRY(s->used.prev, struct seen_key, used));
}

void
seen_remove(struct seen *s, struct str key)
{
	struct seen_key *k = hash_find(&s->keys, key);

	if (k != NULL)
		drop(s, k);
}
