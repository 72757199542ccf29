/* Inside of the kafka worker. */
#ifndef HINNY_KAFKA_KAFKA_PRIV_H
#define HINNY_KAFKA_KAFKA_PRIV_H

#include "transports/kafka/kafka_client.h"
#include "transports/kafka/kafka_record.h"

struct kafka_ask;

/* The worker's own state. */
struct kafka_state {
	struct worker *wk;
	struct list clients; /* struct kafka_client */
	struct list sources; /* struct kafka_source */
	uint32_t clients_n, ending_n; /* …and those of librdkafka whose threads have not ended yet */
	struct list dying; /* …of which nobody has a use any more */
	struct loop_defer reap;
	struct kafka_ask *ask; /* NULL: no topic is asked for */
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
	struct kafka_topic *topic; /* NULL: no topic can be called so (toD) */
};

/* One record of a send: librdkafka gives it back with its fate. */
struct kafka_record {
	struct list node; /* in client.queued or .again */
	struct kafka_send *send;
	uint64_t sequence; /* of its client: as it was queued */
	struct kafka_bytes value;
	int32_t partition; /* where it came to */
	int64_t offset, timestamp;
};

/* All records of one exchange. */
struct kafka_send {
	struct list node; /* in client.active, .called or .left, or of those that are free */
	struct list wait; /* in client.waiting */
	struct kafka_client *client;
	struct exchange *ex; /* NULL: it was aborted, or failed before all were reported */
	const struct kafka_conf *conf;
	struct kafka_topic *topic; /* NULL: none was found */
	struct kafka_parts parts;
	struct str topic_name; /* in the arena */
	size_t n;              /* records */
	size_t open;           /* …whose fate is not known yet */
	size_t ungiven;        /* …of these: not at librdkafka */
	size_t head, bytes;    /* of a record without its value; of all */
	bool counted;          /* its records are queued */
	struct blob *body;     /* held: where the value lies that librdkafka was given */
	struct monotime began;
	int64_t limit_ms; /* deliveryTimeoutMs, or what the call has */
	enum exception_id failure;
	char *failure_text;
	struct kafka_record one, *records;
};

/* ---- kafka_send.c: sends from their beginning to their end ---- */

enum step_rc kafka_send(
    struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep);
/* The first failure of a send counts. */
void kafka_send_fail(struct kafka_send *s, enum exception_id id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A record's fate is known. The send may be gone afterwards. */
void kafka_record_done(struct kafka_record *r);
/* Those that wait for room get it. */
void kafka_sends_room(struct kafka_client *kc);
/* The client's `patience`: too late are … */
void kafka_sends_late(struct loop_timer *t);
/* The broker has a record of an exchange that has failed already. */
void kafka_send_late(struct kafka_send *s);
/* Whatever has not been given to librdkafka fails by the client's reason. */
void kafka_sends_fail_queued(struct kafka_client *kc);
/* The client ends: nothing is told to exchanges any more; then its sends go. */
void kafka_sends_detach(struct kafka_client *kc);
void kafka_sends_drop(struct kafka_client *kc);
void kafka_sends_fini(struct kafka_state *ks);

/* ---- kafka_producer.c: records to librdkafka and back ---- */

/* What has gathered leaves: a loop_defer_fn. */
void kafka_producer_give(struct loop_defer *d);
void kafka_producer_report(struct kafka_client *kc, const rd_kafka_message_t *msg);

#endif
