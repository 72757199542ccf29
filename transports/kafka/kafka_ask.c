/*
 * A topic that the broker makes when it is first asked for is there a moment later, but librdkafka
 * looks for it once a second alone, and what was sent to it waits so long. So it is asked for here,
 * on a thread of the pool: one topic of a worker at a time, for about half a second.
 */
#include "transports/kafka/kafka_ask.h"

#include "core/base/mem.h"
#include "transports/kafka/kafka_priv.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { ASK_TRIES = 8, ASK_PAUSE_MS = 10, ASK_PAUSE_MAX_MS = 80, ASK_WAIT_MS = 500 };

struct kafka_ask {
	struct loop_work work;
	struct kafka_state *ks;
	rd_kafka_t *rk;
	rd_kafka_topic_t *rkt; /* a reference of its own */
	atomic_bool stopped;
	kafka_asked_fn *then;
	void *arg;
};

/* Is it about to be made? */
static bool
is_coming(const struct rd_kafka_metadata *md)
{
	if (md->topic_cnt != 1)
		return false;
	const struct rd_kafka_metadata_topic *t = &md->topics[0];
	bool coming = t->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
	    t->err == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
	for (int i = 0; i < t->partition_cnt; i++)
		coming |= t->partitions[i].err == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
	return coming;
}

static void
ask_run(struct loop_work *w)
{
	struct kafka_ask *ask = CONTAINER_OF(w, struct kafka_ask, work);
	unsigned pause = ASK_PAUSE_MS;
	bool coming = true;

	for (int i = 0; i < ASK_TRIES && coming && !atomic_load(&ask->stopped); i++) {
		const struct rd_kafka_metadata *md;
		if (i > 0)
			(void)usleep(pause * 1000); /* cut short, it asks sooner */
		pause = 2 * pause < ASK_PAUSE_MAX_MS ? 2 * pause : ASK_PAUSE_MAX_MS;
		if (rd_kafka_metadata(ask->rk, 0, ask->rkt, &md, ASK_WAIT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
			return; /* the broker is away: librdkafka asks when it is back */
		coming = is_coming(md);
		rd_kafka_metadata_destroy(md);
	}
}

static void
ask_done(struct loop_work *w)
{
	struct kafka_ask *ask = CONTAINER_OF(w, struct kafka_ask, work);

	rd_kafka_topic_destroy(ask->rkt);
	ask->ks->ask = NULL;
	if (ask->then != NULL)
		ask->then(ask->arg);
	free(ask);
}

void
kafka_ask_topic(struct kafka_state *ks, rd_kafka_t *rk, const char *topic)
{
	if (ks->ask != NULL)
		return;
	rd_kafka_topic_t *rkt = rd_kafka_topic_new(rk, topic, NULL);
	if (rkt == NULL)
		return; /* it would have been asked for; who sends to it is told */
	struct kafka_ask *ask = MEM_NEW(struct kafka_ask);
	ask->ks = ks;
	ask->rk = rk;
	ask->rkt = rkt;
	ks->ask = ask;
	loop_work_start(worker_loop(ks->wk), &ask->work, ask_run, ask_done);
}

bool
kafka_ask_stop(struct kafka_state *ks, rd_kafka_t *rk, kafka_asked_fn *then, void *arg)
{
	struct kafka_ask *ask = ks->ask;

	if (ask == NULL || ask->rk != rk)
		return false;
	atomic_store(&ask->stopped, true);
	ask->then = then;
	ask->arg = arg;
	return true;
}
