/*
 * Clients of librdkafka that send: one for each distinct configuration, shared by its endpoints.
 * A client's logs and errors become ours; one that librdkafka gave up is started anew.
 */
#ifndef HINNY_KAFKA_KAFKA_CLIENT_H
#define HINNY_KAFKA_KAFKA_CLIENT_H

#include "core/base/hash.h"
#include "core/base/list.h"
#include "transports/kafka/kafka_conf.h"
#include "transports/kafka/kafka_queue.h"
#include "workers/worker.h"

struct kafka_state;

enum { KAFKA_CLIENTS_MAX = 64, KAFKA_TOPICS_MAX = 1000, KAFKA_REASON_MAX = 512 };

struct kafka_topic {
	struct list used; /* in kafka_client.topics_used, last used first, when no endpoint pins it */
	struct str name;
	struct kafka_client *client;
	rd_kafka_topic_t *rkt; /* NULL: the client starts anew */
	uint32_t pins;
	uint32_t records; /* whose send has not ended */
};

struct kafka_client {
	struct list node; /* of kafka_state.clients */
	struct kafka_state *ks;
	struct arena arena;
	struct pairs props;
	struct str key; /* all of props as text */
	enum kafka_partitioner partitioning;
	uint32_t refs; /* of endpoints and sends */
	uint32_t turn; /* of KAFKA_PARTITIONER_ROUND_ROBIN; threads of librdkafka count it up */
	rd_kafka_t *rk;
	struct kafka_queue events;
	struct hash topics;
	struct list topics_used;
	struct list active;  /* struct kafka_send: whose exchange waits, oldest first */
	struct list called;  /* …of others' calls, which wait less long */
	struct list waiting; /* …of these: there is no room */
	struct list left;    /* struct kafka_send: without an exchange, for librdkafka's reports */
	struct list queued;         /* struct kafka_record: given at the end of the turn */
	struct list again;          /* …before those, to the client that takes a broken one's place */
	uint32_t again_n;
	uint64_t sequence;          /* of the last one that was queued */
	struct loop_defer give;
	struct loop_timer patience; /* of the oldest */
	struct monotime due;        /* when it is over, while the timer runs */
	size_t bytes, bytes_max;    /* of records that nobody has acknowledged */
	uint32_t records, records_max;
	uint32_t given;             /* of these: at librdkafka */
	bool broken;                /* librdkafka gave it up: started anew when nothing is given */
	bool ended;
	uint32_t late; /* records that were acknowledged after their exchange had failed, and not told yet */
	struct monotime late_told;
	rd_kafka_resp_err_t down;   /* why the last try to reach a broker failed, or 0 */
	char reason[KAFKA_REASON_MAX];
};

/* Finds or makes the client for a producer endpoint. HINNY_EINVAL: the options are wrong; HINNY_ELIMIT:
 * as many as may be are in use. */
enum hinny_rc kafka_client_get(struct kafka_state *ks, const struct endpoint *ep,
    struct kafka_client **out, struct hinny_error *err);
/* The last one to put it ends it, when the loop has turned. */
void kafka_client_put(struct kafka_client **kc);
/* At the end of the process: now. */
void kafka_clients_reap(struct kafka_state *ks);
/* Did the brokers let it in at last? Not for its credentials or certificates. */
bool kafka_client_refused(const struct kafka_client *kc);
/* What librdkafka has, and what waits, fails by the client's reason. */
void kafka_client_purge(struct kafka_client *kc);
/* A broken one starts anew, when nothing is given. */
void kafka_client_mend(struct kafka_client *kc);
/* NULL: librdkafka refuses the name (rd_kafka_last_error() says why). Stays while it is pinned or has
 * records. */
struct kafka_topic *kafka_client_topic(struct kafka_client *kc, struct str name);
struct kafka_topic *kafka_client_pin(struct kafka_client *kc, struct str name);
void kafka_client_unpin(struct kafka_client *kc, struct kafka_topic *t);

/* For every client, consumers too: was the event a log line? Then it has been dealt with. */
bool kafka_log_event(rd_kafka_event_t *ev);
void kafka_log_error(rd_kafka_resp_err_t code, const char *reason, bool fatal);

#endif
