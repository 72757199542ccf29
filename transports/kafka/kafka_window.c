/*
 * The window is a ring of slots. Those that are not done are also in buckets by their key's hash,
 * each a list in order, so that the one before with the same key is found without a search. Keys
 * are compared by 64 bits of hash: two that share them wait for one another without need, no more.
 */
#include "transports/kafka/kafka_window.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <stdlib.h>

static uint64_t
key_hash(const void *key, size_t n)
{
	const unsigned char *p = key;
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u; /* FNV-1a */
	return h ^ h >> 29;
}

void
kafka_window_init(struct kafka_window *w, uint32_t cap, uint64_t topics)
{
	ASSERT(cap > 0);
	uint32_t buckets = 2;
	while (buckets < cap * 2 && buckets < 1u << 20)
		buckets *= 2;
	*w = (struct kafka_window){ .cap = cap, .buckets_n = buckets, .all = topics };
	w->slots = mem_zalloc(cap * sizeof w->slots[0]);
	w->buckets = mem_zalloc(buckets * sizeof(struct kafka_slot *));
	w->next = w->next_good = -1;
	list_init(&w->woken);
}

void
kafka_window_fini(struct kafka_window *w)
{
	free(w->slots);
	free(w->buckets);
	w->slots = NULL;
	w->buckets = NULL;
}

static struct kafka_slot *
slot_at(const struct kafka_window *w, uint64_t seq)
{
	return &w->slots[seq % w->cap];
}

static struct kafka_slot **
bucket_of(const struct kafka_window *w, uint64_t key)
{
	return &w->buckets[key & (w->buckets_n - 1)];
}

struct kafka_slot *
kafka_window_add(struct kafka_window *w, int64_t offset, const void *key, size_t key_n)
{
	ASSERT(!kafka_window_full(w));
	struct kafka_slot *slot = slot_at(w, w->tail);
	*slot = (struct kafka_slot){ .offset = offset, .seq = w->tail, .left = w->all };
	list_init(&slot->waiting);
	slot->has_key = key != NULL;
	w->tail++;
	if (!slot->has_key)
		return slot;
	slot->key = key_hash(key, key_n);
	struct kafka_slot **last = bucket_of(w, slot->key);
	slot->before = *last;
	if (*last != NULL)
		(*last)->after = slot;
	*last = slot;
	return slot;
}

/* ---- waiting ---- */

/* All that waits for a turn of this slot asks again. */
static void
wake(struct kafka_window *w, struct kafka_slot *slot)
{
	while (!list_empty(&slot->waiting)) {
		struct list *node = slot->waiting.next;
		list_remove(node);
		list_append(&w->woken, node);
	}
}

static void
wake_seq(struct kafka_window *w, uint64_t seq)
{
	if (seq < w->tail)
		wake(w, slot_at(w, seq));
}

struct kafka_waiter *
kafka_window_woken(struct kafka_window *w)
{
	if (list_empty(&w->woken))
		return NULL;
	struct kafka_waiter *waiter = LIST_FIRST(&w->woken, struct kafka_waiter, node);
	list_remove(&waiter->node);
	return waiter;
}

static bool
first_of_key(const struct kafka_window *w, const struct kafka_slot *slot)
{
	if (!slot->has_key)
		return slot->seq == w->head;
	for (const struct kafka_slot *s = slot->before; s != NULL; s = s->before)
		if (s->key == slot->key)
			return false;
	return true;
}

static bool
first_of_topics(const struct kafka_window *w, const struct kafka_slot *slot, uint64_t sends)
{
	for (uint64_t bits = sends & w->all; bits != 0; bits &= bits - 1)
		if (w->turn[__builtin_ctzll(bits)] < slot->seq)
			return false;
	return true;
}

/* It sends to `left` at most from now on. */
static void
narrow(struct kafka_window *w, struct kafka_slot *slot, uint64_t left)
{
	uint64_t gone = slot->left & ~left;
	slot->left &= left;
	for (; gone != 0; gone &= gone - 1) {
		uint64_t bit = gone & -gone, *turn = &w->turn[__builtin_ctzll(gone)];
		if (*turn != slot->seq)
			continue;
		do
			++*turn;
		while (*turn < w->tail && !(slot_at(w, *turn)->left & bit));
		wake_seq(w, *turn);
	}
}

bool
kafka_window_may(struct kafka_window *w, struct kafka_slot *slot, uint64_t sends, uint64_t left,
    bool by_key, struct kafka_waiter *waiter)
{
	narrow(w, slot, sends | left);
	if (first_of_topics(w, slot, sends) && (!by_key || first_of_key(w, slot)))
		return true;
	list_append(&slot->waiting, &waiter->node);
	return false;
}

void
kafka_window_ran(struct kafka_window *w, struct kafka_slot *slot, uint64_t left)
{
	narrow(w, slot, left);
}

/* ---- the end of a record ---- */

static void
leave_bucket(struct kafka_window *w, struct kafka_slot *slot)
{
	struct kafka_slot **last = bucket_of(w, slot->key), *next = slot->after;
	if (slot->before != NULL)
		slot->before->after = slot->after;
	if (slot->after != NULL)
		slot->after->before = slot->before;
	else
		*last = slot->before;
	for (; next != NULL; next = next->after) {
		if (next->key == slot->key) {
			wake(w, next);
			return;
		}
	}
}

void
kafka_window_done(struct kafka_window *w, struct kafka_slot *slot, bool ok)
{
	ASSERT(!slot->done && list_empty(&slot->waiting));
	slot->done = true;
	slot->failed = !ok;
	narrow(w, slot, 0);
	if (slot->has_key)
		leave_bucket(w, slot);
	if (slot->seq != w->head)
		return;
	while (w->head < w->tail && slot_at(w, w->head)->done) {
		const struct kafka_slot *oldest = slot_at(w, w->head++);
		w->next = oldest->offset + 1;
		if (!oldest->failed)
			w->next_good = w->next;
	}
	wake_seq(w, w->head);
}

void
kafka_window_skip(struct kafka_window *w, int64_t offset)
{
	if (w->head != w->tail || offset <= w->next)
		return;
	if (w->next_good == w->next)
		w->next_good = offset;
	w->next = offset;
}
