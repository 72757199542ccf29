/* A queue of librdkafka in the loop. */
#include "transports/kafka/kafka_queue.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void
take(struct kafka_queue *q)
{
	for (int i = 0; i < KAFKA_QUEUE_SHARE && q->open && !q->paused; i++) {
		rd_kafka_event_t *ev = rd_kafka_queue_poll(q->queue, 0);
		if (ev == NULL)
			return;
		q->fn(q, ev);
		rd_kafka_event_destroy(ev);
	}
	if (q->open && !q->paused)
		loop_defer(q->lp, &q->again);
}

/* The eventfd is never read: each write is an edge of its own. */
static void
written(struct loop_fd *w, unsigned events)
{
	(void)events;
	take(CONTAINER_OF(w, struct kafka_queue, watch));
}

static void
taken_up(struct loop_defer *d)
{
	take(CONTAINER_OF(d, struct kafka_queue, again));
}

enum hinny_rc
kafka_queue_open(struct loop *lp, struct kafka_queue *q, rd_kafka_queue_t *queue,
    kafka_event_fn *fn, struct hinny_error *err)
{
	static const uint64_t one = 1;

	*q = (struct kafka_queue){ .lp = lp, .queue = queue, .fn = fn };
	loop_defer_init(&q->again, taken_up);
	q->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (q->fd == -1) {
		rd_kafka_queue_destroy(queue);
		return hinny_error_errno(err, errno, "cannot make an eventfd");
	}
	enum hinny_rc rc = loop_fd_init(lp, &q->watch, q->fd, written, err);
	if (rc != HINNY_OK) {
		close(q->fd);
		rd_kafka_queue_destroy(queue);
		return rc;
	}
	q->open = true;
	loop_fd_watch(&q->watch, LOOP_READ | LOOP_EDGE);
	rd_kafka_queue_io_event_enable(queue, q->fd, &one, sizeof one);
	loop_defer(lp, &q->again); /* what was there before */
	return HINNY_OK;
}

void
kafka_queue_close(struct kafka_queue *q)
{
	if (!q->open)
		return;
	q->open = false;
	loop_defer_cancel(&q->again);
	rd_kafka_queue_io_event_enable(q->queue, -1, NULL, 0);
	rd_kafka_queue_destroy(q->queue);
	loop_fd_close(&q->watch, NULL);
	close(q->fd);
}

void
kafka_queue_pause(struct kafka_queue *q, bool pause)
{
	if (q->paused && !pause && q->open)
		loop_defer(q->lp, &q->again);
	q->paused = pause;
}
