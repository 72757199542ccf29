/* The kafka worker as a kind: what it makes at its start, how it ends. */
#include "transports/kafka/kafka.h"

#include "core/base/mem.h"
#include "transports/kafka/kafka_consumer.h"
#include "transports/kafka/kafka_names.h"
#include "transports/kafka/kafka_priv.h"
#include "transports/kafka/kafka_scram.h"

#include <stdlib.h>

static void
reap(struct loop_defer *d)
{
	kafka_clients_reap(CONTAINER_OF(d, struct kafka_state, reap));
}

static enum hinny_rc
kind_init(struct worker *wk, struct hinny_error *err)
{
	struct kafka_state *ks = MEM_NEW(struct kafka_state);
	(void)err;

	kafka_scram_init();
	ks->wk = wk;
	list_init(&ks->clients);
	list_init(&ks->sources);
	list_init(&ks->dying);
	list_init(&ks->sends);
	loop_defer_init(&ks->reap, reap);
	worker_set_data(wk, ks);
	return HINNY_OK;
}

static bool
kind_busy(struct worker *wk)
{
	return kafka_state_of(wk)->unsent > 0;
}

static enum hinny_rc
kafka_prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	struct kafka_state *ks = kafka_state_of(wk);
	const struct kafka_conf *conf = ep->conf;

	if (ep->consumer)
		return kafka_consumer_prepare(wk, ep, err);
	struct kafka_target *target = MEM_NEW(struct kafka_target);
	enum hinny_rc rc = kafka_client_get(ks, ep, &target->client, err);
	bool named = kafka_is_topic_name(str_of(conf->topic));
	if (rc == HINNY_OK && named)
		target->topic = kafka_client_pin(target->client, str_of(conf->topic));
	if (rc == HINNY_OK && named && target->topic == NULL) {
		rc = hinny_error_set(err, HINNY_EINVAL, "topic \"%s\": %s", conf->topic,
		    rd_kafka_err2str(rd_kafka_last_error()));
		kafka_client_put(&target->client);
	}
	if (rc != HINNY_OK) {
		free(target);
		return rc;
	}
	ep->impl = target;
	return HINNY_OK;
}

static void
kafka_release(struct worker *wk, struct endpoint *ep)
{
	struct kafka_target *target = ep->impl;

	if (target == NULL)
		return;
	if (ep->consumer) {
		kafka_consumer_release(wk, ep);
		return;
	}
	ep->impl = NULL;
	if (target->topic != NULL)
		kafka_client_unpin(target->client, target->topic);
	kafka_client_put(&target->client);
	free(target);
}

static void
kind_fini(struct worker *wk)
{
	struct kafka_state *ks = kafka_state_of(wk);

	if (ks == NULL)
		return;
	for (uint32_t i = 0; i < worker_program(wk)->endpoints_n; i++)
		kafka_release(wk, worker_program(wk)->endpoints[i]);
	ks->ended = true;
	kafka_clients_reap(ks);
	kafka_sends_fini(ks);
	loop_free_later(worker_loop(wk), ks);
}

static const struct component_ops kafka_ops = {
	.scheme = "kafka",
	.prepare = kafka_prepare,
	.start = kafka_consumer_start,
	.stop = kafka_consumer_stop,
	.send = kafka_send,
	.release = kafka_release,
};

static const struct component_ops *const components[] = { &kafka_ops, NULL };

const struct worker_kind kafka_kind = {
	.kind = "kafka",
	.components = components,
	.init = kind_init,
	.jail = kafka_members_note,
	.busy = kind_busy,
	.fini = kind_fini,
};
