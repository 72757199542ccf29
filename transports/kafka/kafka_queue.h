/*
 * A queue of librdkafka in the loop: its threads write to an eventfd when the queue is no longer
 * empty, and the loop takes out what is there. No thread of ours, no polling.
 */
#ifndef HINNY_KAFKA_KAFKA_QUEUE_H
#define HINNY_KAFKA_KAFKA_QUEUE_H

#include "core/loop/loop.h"

#include <librdkafka/rdkafka.h>

struct kafka_queue;
/* One event, destroyed afterwards. May close the queue. */
typedef void kafka_event_fn(struct kafka_queue *q, rd_kafka_event_t *ev);

struct kafka_queue {
	struct loop_fd watch;
	struct loop_defer again; /* the queue was paused, or a turn had its share */
	struct loop *lp;
	rd_kafka_queue_t *queue;
	kafka_event_fn *fn;
	int fd;
	bool open, paused;
};

enum { KAFKA_QUEUE_SHARE = 256 }; /* events of a turn at most */

/* Takes the reference of `queue`, also when it fails. */
enum hinny_rc kafka_queue_open(struct loop *lp, struct kafka_queue *q, rd_kafka_queue_t *queue,
    kafka_event_fn *fn, struct hinny_error *err);
/* At once, and may be repeated: no event comes afterwards. The client may be destroyed behind it. */
void kafka_queue_close(struct kafka_queue *q);
/* While paused nothing is taken out; what waits then comes at the end of the turn of resume. */
void kafka_queue_pause(struct kafka_queue *q, bool pause);

#endif
