/*
 * The records of one partition that are in flight: how many may be, which of them must wait for
 * others before they do something that can be seen, and up to where all are done, which is the
 * offset that may be committed. Pure: no broker, no loop, no exchange.
 *
 * A record takes the next slot, in the order of offsets. It may be done out of order. Its places of
 * order are two:
 *   by key    before an effect it waits until every earlier record with the same key is done; one
 *             without a key until every earlier record is
 *   by topic  before it sends to a topic of this very cluster it waits until no earlier record can
 *             send there any more. Bit i of a mask stands for a topic (core/config/plan_order.c)
 * All operations take constant time, but for the slots that one of them lets go on.
 */
#ifndef HINNY_KAFKA_WINDOW_H
#define HINNY_KAFKA_WINDOW_H

#include "core/base/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kafka_slot {
	int64_t offset;
	uint64_t seq;  /* position in the window's life: 0, 1, 2 … */
	uint64_t key;  /* hash of the key */
	uint64_t left; /* topics that it may still send to */
	bool has_key, done, failed;
	struct kafka_slot *before, *after; /* not done, in this order: of the same bucket */
	struct list waiting;               /* struct kafka_waiter */
	void *owner;                       /* the caller's */
};

/* Something of a record that waits. */
struct kafka_waiter {
	struct list node;
};

struct kafka_window {
	struct kafka_slot *slots;    /* a ring */
	uint32_t cap, buckets_n;     /* buckets_n: a power of two */
	struct kafka_slot **buckets; /* the last one of each */
	uint64_t head, tail; /* [head, tail) are in it; head is the oldest that is not done */
	uint64_t all;        /* topics that records of the route send to */
	uint64_t turn[64];   /* per topic: the first record that may still send there */
	int64_t next;        /* offset behind the last record that is done with all before it; -1 */
	int64_t next_good;   /* …behind the last one of these that has not failed; -1 */
	struct list woken;   /* struct kafka_waiter: they ask again */
};

/* At most `cap` (>= 1) records; topics: those that a record may send to. */
void kafka_window_init(struct kafka_window *w, uint32_t cap, uint64_t topics);
/* Waiters must be gone. */
void kafka_window_fini(struct kafka_window *w);

static inline uint32_t
kafka_window_count(const struct kafka_window *w)
{
	return (uint32_t)(w->tail - w->head);
}
static inline bool
kafka_window_full(const struct kafka_window *w)
{
	return w->tail - w->head >= w->cap;
}

/* Takes the next slot, which must be free. key NULL: the record has none. The slot stays until its
 * record and all before it are done. */
struct kafka_slot *kafka_window_add(
    struct kafka_window *w, int64_t offset, const void *key, size_t key_n);
/* It has come to a step that sends to `sends` (0: its effect is another) and behind which it may
 * still send to `left`. True: it may run it. False: not yet, and `waiter` is kept until it turns up
 * in w->woken. */
bool kafka_window_may(struct kafka_window *w, struct kafka_slot *slot, uint64_t sends,
    uint64_t left, bool by_key, struct kafka_waiter *waiter);
/* It has run that step. */
void kafka_window_ran(struct kafka_window *w, struct kafka_slot *slot, uint64_t left);
/* It is done; ok: without a failure. Its slot is gone as soon as all before it are. */
void kafka_window_done(struct kafka_window *w, struct kafka_slot *slot, bool ok);
/* There is nothing before `offset` that was not begun: when all is done, it is the next offset. */
void kafka_window_skip(struct kafka_window *w, int64_t offset);
/* The next one that may ask again, NULL: none. */
struct kafka_waiter *kafka_window_woken(struct kafka_window *w);

#endif
