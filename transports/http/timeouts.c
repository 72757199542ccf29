/* Lists of time-outs, one a duration, behind one timer. See timeouts.h for the idea. */
#include "transports/http/timeouts.h"

#include "core/base/mem.h"

#include <stdlib.h>

static void
arm(struct timeouts *ts, int64_t deadline_ns)
{
	int64_t ms = (deadline_ns - loop_now(ts->lp).ns) / 1000000 + TIMEOUTS_GRAIN_MS;

	ts->armed_ns = deadline_ns;
	loop_timer_start(&ts->timer, ms < 1 ? 1 : ms, 0);
}

/* The timer fired: run what is due, then arm for the earliest of the rest. */
static void
look(struct loop_timer *timer)
{
	struct timeouts *ts = CONTAINER_OF(timer, struct timeouts, timer);
	int64_t now = loop_now(ts->lp).ns, next = INT64_MAX;

	ts->armed_ns = INT64_MAX;
	LIST_FOREACH (&ts->queues, it, tmp) {
		struct timeout_queue *q = LIST_ENTRY(it, struct timeout_queue, node);
		while (!list_empty(&q->items)) {
			struct timeout *t = LIST_FIRST(&q->items, struct timeout, node);
			if (t->deadline_ns > now)
				break;
			list_remove(&t->node);
			t->fn(t);
		}
	}
	LIST_FOREACH (&ts->queues, it, tmp) {
		struct timeout_queue *q = LIST_ENTRY(it, struct timeout_queue, node);
		if (list_empty(&q->items))
			continue;
		int64_t deadline = LIST_FIRST(&q->items, struct timeout, node)->deadline_ns;
		if (deadline < next)
			next = deadline;
	}
	if (next < ts->armed_ns)
		arm(ts, next);
}

void
timeouts_init(struct timeouts *ts, struct loop *lp)
{
	ts->lp = lp;
	ts->armed_ns = INT64_MAX;
	ts->queues_n = 0;
	list_init(&ts->queues);
	loop_timer_init(lp, &ts->timer, look);
}

void
timeouts_fini(struct timeouts *ts)
{
	loop_timer_close(&ts->timer, NULL);
	LIST_FOREACH (&ts->queues, it, tmp) {
		struct timeout_queue *q = LIST_ENTRY(it, struct timeout_queue, node);
		ASSERT(list_empty(&q->items));
		list_remove(&q->node);
		free(q);
	}
}

struct timeout_queue *
timeouts_queue(struct timeouts *ts, int64_t ms)
{
	if (ts->queues_n >= TIMEOUTS_QUEUES) {
		int64_t rounded = 1;
		while (rounded < ms && rounded < INT64_MAX / 2)
			rounded *= 2;
		ms = rounded;
	}
	LIST_FOREACH (&ts->queues, it, tmp) {
		struct timeout_queue *q = LIST_ENTRY(it, struct timeout_queue, node);
		if (q->ms == ms)
			return q;
	}
	struct timeout_queue *q = MEM_NEW(struct timeout_queue);
	q->ts = ts;
	q->ms = ms;
	list_init(&q->items);
	list_append(&ts->queues, &q->node);
	ts->queues_n++;
	return q;
}

void
timeout_set(struct timeout *t, struct timeout_queue *q)
{
	list_remove(&t->node);
	if (q == NULL)
		return;
	t->deadline_ns = loop_now(q->ts->lp).ns + q->ms * 1000000;
	list_append(&q->items, &t->node);
	if (t->deadline_ns < q->ts->armed_ns)
		arm(q->ts, t->deadline_ns);
}
