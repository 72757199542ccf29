/* Asking for a topic that the broker may be making. */
#ifndef HINNY_KAFKA_KAFKA_ASK_H
#define HINNY_KAFKA_KAFKA_ASK_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

struct kafka_state;
typedef void kafka_asked_fn(void *arg);

/* Until its leader is known, for about half a second, on another thread. While another one is asked
 * for nothing is done: librdkafka asks by itself, once a second. */
void kafka_ask_topic(struct kafka_state *ks, rd_kafka_t *rk, const char *topic);
/* The client goes: false when nothing is asked by it; else `then` is called when that has ended. */
bool kafka_ask_stop(struct kafka_state *ks, rd_kafka_t *rk, kafka_asked_fn *then, void *arg);

#endif
