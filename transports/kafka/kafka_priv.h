/* Inside of the kafka worker. */
#ifndef HINNY_KAFKA_KAFKA_PRIV_H
#define HINNY_KAFKA_KAFKA_PRIV_H

#include "transports/kafka/kafka_client.h"

/* The worker's own state. */
struct kafka_state {
	struct worker *wk;
	struct list clients; /* struct kafka_client */
	uint32_t clients_n;
	struct list dying; /* …of which nobody has a use any more */
	struct loop_defer reap;
	struct list sends; /* struct kafka_send that are free */
	uint32_t sends_free;
	bool ended;
	uint32_t unsent; /* records that nobody has acknowledged yet */
};

static inline struct kafka_state *
kafka_state_of(struct worker *wk)
{
	return worker_data(wk);
}

/* endpoint.impl of a producer endpoint. */
struct kafka_target {
	struct kafka_client *client;
	struct kafka_topic *topic;
};

/* ---- kafka_producer.c ---- */

enum step_rc kafka_send(
    struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep);
/* A record's fate is known. */
void kafka_producer_report(struct kafka_client *kc, const rd_kafka_message_t *msg);
/* After reports: those that wait for room get it. */
void kafka_producer_room(struct kafka_client *kc);
/* The client's `patience` is over. */
void kafka_producer_patience(struct loop_timer *t);
/* The client ends: its sends go without a word. */
void kafka_producer_drop(struct kafka_client *kc);
void kafka_producer_fini(struct kafka_state *ks);

#endif
