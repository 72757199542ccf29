/*
 * poll() for the threads of librdkafka 2.0.2 that talk to brokers. The poll() of this file, which stands
 * before the C library's, mends two things:
 *
 * - An idempotent producer may have 5 records of a partition on their way; while further ones wait
 *   for them its thread asks poll() for what is there now, again and again, and takes a whole
 *   processor. From the third time on it waits for a millisecond here: an answer of the broker, or a
 *   record of ours, wakes it as ever.
 * - A consumer's thread that has fetched enough ahead sleeps for up to a second, however soon that
 *   is used up. kafka_poll_nudge() wakes it, so little needs to be fetched ahead. (From version 2.2
 *   on there is fetch.queue.backoff.ms beside it, for how long a partition is not even looked at.)
 */
#ifndef HINNY_KAFKA_KAFKA_POLL_H
#define HINNY_KAFKA_KAFKA_POLL_H

#include "core/base/list.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>

/* The threads of a client that talk to brokers. */
struct kafka_poll {
	pthread_mutex_t lock;
	struct list threads;
};

/* Stays until the client is gone; holds nothing then. */
void kafka_poll_init(struct kafka_poll *p);
/* For a client that is to be made. NULL: nobody will nudge it. */
void kafka_poll_watch(rd_kafka_conf_t *conf, struct kafka_poll *p);
/* The threads look anew whether there is something to be fetched. */
void kafka_poll_nudge(struct kafka_poll *p);

#endif
