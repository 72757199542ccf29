/*
 * Coarse time-outs for many connections. All time-outs of one duration are a list that is in order
 * by itself, so that setting and cancelling one is a list operation: no timer and no heap per
 * connection. One timer of the loop looks at the heads of the lists; it is set to the earliest
 * deadline that it knew of when it last looked, so a busy server wakes up for it a few times a
 * minute. A time-out may come up to TIMEOUTS_GRAIN_MS late, never early.
 */
#ifndef HINNY_HTTP_TIMEOUTS_H
#define HINNY_HTTP_TIMEOUTS_H

#include "core/base/list.h"
#include "core/loop/loop.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIMEOUTS_GRAIN_MS = 20, TIMEOUTS_QUEUES = 64 };

struct timeouts;
struct timeout;
typedef void timeout_fn(struct timeout *t);

/* All time-outs of one duration. */
struct timeout_queue {
	struct list node; /* in timeouts.queues */
	struct list items;
	struct timeouts *ts;
	int64_t ms;
};

struct timeout {
	struct list node;
	int64_t deadline_ns;
	timeout_fn *fn;
};

struct timeouts {
	struct loop *lp;
	struct loop_timer timer;
	struct list queues;
	unsigned queues_n;
	int64_t armed_ns; /* when the timer fires; INT64_MAX: it is off */
};

void timeouts_init(struct timeouts *ts, struct loop *lp);
void timeouts_fini(struct timeouts *ts); /* every time-out must have been cancelled */
/* The queue of a duration, made when there is none; owned by ts. Beyond TIMEOUTS_QUEUES of them
 * durations are rounded up to powers of two. */
struct timeout_queue *timeouts_queue(struct timeouts *ts, int64_t ms);

static inline void
timeout_init(struct timeout *t, timeout_fn *fn)
{
	list_init(&t->node);
	t->fn = fn;
}
/* Runs t->fn after the queue's duration; restarts when it was set before. q NULL: cancels. */
void timeout_set(struct timeout *t, struct timeout_queue *q);
static inline void
timeout_cancel(struct timeout *t)
{
	list_remove(&t->node);
}
static inline bool
timeout_is_set(const struct timeout *t)
{
	return !list_empty(&t->node);
}

#endif
