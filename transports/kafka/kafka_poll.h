/*
 * poll() for librdkafka's threads. An idempotent producer of version 2.0.2 may have 5 records of a
 * partition on their way; while further ones wait for them its thread asks poll() for what is there
 * now, again and again, and takes a whole processor. The poll() of this file, which stands before
 * the C library's, lets such a thread wait for a millisecond from the third time on: an answer of
 * the broker, or a record of ours, wakes it as ever.
 */
#ifndef HINNY_KAFKA_KAFKA_POLL_H
#define HINNY_KAFKA_KAFKA_POLL_H

#include <librdkafka/rdkafka.h>

/* For rd_kafka_conf_interceptor_add_on_new(): the client's threads are known from their start on. */
rd_kafka_resp_err_t kafka_poll_watch(
    rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque, char *text, size_t size);

#endif
