/* Clients of librdkafka that send. */
#include "transports/kafka/kafka_client.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "transports/kafka/kafka_priv.h"
#include "transports/kafka/kafka_props.h"

#include <stdlib.h>
#include <string.h>

/* ---- logs ---- */

bool
kafka_log_event(rd_kafka_event_t *ev)
{
	const char *facility, *text;
	int severity;

	if (rd_kafka_event_type(ev) != RD_KAFKA_EVENT_LOG)
		return false;
	if (rd_kafka_event_log(ev, &facility, &text, &severity) != 0)
		return true;
	/* What is wrong with connections comes as error event too. */
	bool twice = strcmp(facility, "FAIL") == 0 || strcmp(facility, "ERROR") == 0;
	enum log_level level = severity > 4 || twice ? LOG_LEVEL_DEBUG
	    : severity == 4                          ? LOG_LEVEL_WARNING
						     : LOG_LEVEL_ERROR;
	if (level <= log_get_level())
		log_kv(level, text, "librdkafka", facility, NULL);
	return true;
}

void
kafka_log_error(rd_kafka_resp_err_t code, const char *reason, bool fatal)
{
	bool away = code == RD_KAFKA_RESP_ERR__TRANSPORT ||
	    code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || code == RD_KAFKA_RESP_ERR__RESOLVE;

	log_kv(away && !fatal ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR, reason, "kafka",
	    rd_kafka_err2name(code), NULL);
}

/* ---- a client's life ---- */

static void client_event(struct kafka_queue *q, rd_kafka_event_t *ev);

static enum hinny_rc
client_start(struct kafka_client *kc, struct hinny_error *err)
{
	char text[512];
	rd_kafka_conf_t *conf = kafka_props_conf(&kc->props, err);

	if (conf == NULL)
		return HINNY_EINVAL;
	rd_kafka_conf_set_events(
	    conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG);
	kc->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
	if (kc->rk == NULL) {
		rd_kafka_conf_destroy(conf);
		return hinny_error_set(err, HINNY_EINVAL, "%s", text);
	}
	(void)rd_kafka_set_log_queue(kc->rk, NULL); /* to the main queue; fails without log.queue only */
	enum hinny_rc rc = kafka_queue_open(worker_loop(kc->ks->wk), &kc->events,
	    rd_kafka_queue_get_main(kc->rk), client_event, err);
	if (rc != HINNY_OK) {
		rd_kafka_destroy(kc->rk);
		kc->rk = NULL;
	}
	return rc;
}

static void
topic_free(struct kafka_client *kc, struct kafka_topic *t)
{
	list_remove(&t->used);
	(void)hash_remove(&kc->topics, t->name);
	rd_kafka_topic_destroy(t->rkt);
	free(t);
}

static void
client_free(struct kafka_client *kc)
{
	loop_timer_close(&kc->patience, NULL);
	kafka_producer_drop(kc);
	while (!list_empty(&kc->topics_used)) /* no endpoint is left that pins one */
		topic_free(kc, LIST_FIRST(&kc->topics_used, struct kafka_topic, used));
	hash_fini(&kc->topics);
	kafka_queue_close(&kc->events);
	if (kc->rk != NULL) {
		(void)rd_kafka_purge(kc->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
		    RD_KAFKA_PURGE_F_NON_BLOCKING); /* cannot fail for a producer */
		rd_kafka_destroy(kc->rk);
	}
	arena_fini(&kc->arena);
	loop_free_later(worker_loop(kc->ks->wk), kc);
}

static struct str
props_text(struct arena *a, const struct pairs *ps)
{
	const char *text = "";

	for (size_t i = 0; i < ps->n; i++)
		text = arena_printf(a, "%s%s=%s\n", text, ps->items[i].key, ps->items[i].value);
	return str_of(text);
}

static struct kafka_client *
client_find(struct kafka_state *ks, struct str key)
{
	LIST_FOREACH (&ks->clients, it, next) {
		struct kafka_client *kc = LIST_ENTRY(it, struct kafka_client, node);
		if (str_eq(kc->key, key))
			return kc;
	}
	return NULL;
}

enum hinny_rc
kafka_client_get(struct kafka_state *ks, const struct endpoint *ep, struct kafka_client **out,
    struct hinny_error *err)
{
	const struct kafka_conf *conf = ep->conf;
	struct kafka_client *kc = MEM_NEW(struct kafka_client), *old = NULL;

	arena_init(&kc->arena);
	kc->ks = ks;
	kc->partitioning = conf->partitioning;
	enum hinny_rc rc = kafka_props_make(
	    &kc->arena, ep, worker_generation_dir(ks->wk), &kc->props, err);
	if (rc != HINNY_OK)
		goto fail;
	if (kc->partitioning == KAFKA_PARTITIONER_ROUND_ROBIN)
		kafka_props_add(&kc->arena, &kc->props, "partitioner", "consistent_random");
	kc->key = props_text(&kc->arena, &kc->props);
	old = client_find(ks, kc->key);
	if (old != NULL)
		goto found;
	if (ks->clients_n >= KAFKA_CLIENTS_MAX) {
		rc = hinny_error_set(err, HINNY_EINVAL, "more than %d different configurations of kafka: in "
		    "a worker", KAFKA_CLIENTS_MAX);
		goto fail;
	}
	hash_init(&kc->topics, false);
	list_init(&kc->topics_used);
	list_init(&kc->active);
	list_init(&kc->waiting);
	if ((rc = client_start(kc, err)) != HINNY_OK)
		goto fail;
	loop_timer_init(worker_loop(ks->wk), &kc->patience, kafka_producer_patience);
	list_append(&ks->clients, &kc->node);
	ks->clients_n++;
	kc->refs = 1;
	*out = kc;
	return HINNY_OK;
found:
	old->refs++;
	*out = old;
	rc = HINNY_OK;
fail:
	hash_fini(&kc->topics);
	arena_fini(&kc->arena);
	free(kc);
	return rc;
}

void
kafka_client_put(struct kafka_client **kcp)
{
	struct kafka_client *kc = *kcp;

	*kcp = NULL;
	if (kc == NULL || --kc->refs > 0)
		return;
	list_remove(&kc->node);
	list_append(&kc->ks->dying, &kc->node);
	kc->ks->clients_n--;
	loop_defer(worker_loop(kc->ks->wk), &kc->ks->reap);
}

void
kafka_clients_reap(struct kafka_state *ks)
{
	while (!list_empty(&ks->dying)) {
		struct kafka_client *kc = LIST_FIRST(&ks->dying, struct kafka_client, node);
		list_remove(&kc->node);
		client_free(kc);
	}
	while (ks->ended && !list_empty(&ks->clients)) { /* what they were sending is lost */
		struct kafka_client *kc = LIST_FIRST(&ks->clients, struct kafka_client, node);
		list_remove(&kc->node);
		client_free(kc);
	}
}

/* ---- topics ---- */

/* Called by threads of librdkafka. */
static int32_t
round_robin(const rd_kafka_topic_t *rkt, const void *key, size_t keylen, int32_t partitions,
    void *topic, void *message)
{
	struct kafka_client *kc = topic;
	(void)rkt;
	(void)key;
	(void)keylen;
	(void)message;

	uint32_t turn = __atomic_fetch_add(&kc->turn, 1, __ATOMIC_RELAXED);
	return (int32_t)(turn % (uint32_t)partitions);
}

static struct kafka_topic *
topic_new(struct kafka_client *kc, struct str name)
{
	struct kafka_topic *t = mem_zalloc(sizeof *t + name.n + 1);
	char *text = (char *)(t + 1);
	rd_kafka_topic_conf_t *conf = NULL;

	memcpy(text, name.p, name.n);
	t->name = (struct str){ text, name.n };
	list_init(&t->used);
	if (kc->partitioning == KAFKA_PARTITIONER_ROUND_ROBIN) {
		conf = rd_kafka_default_topic_conf_dup(kc->rk);
		rd_kafka_topic_conf_set_partitioner_cb(conf, round_robin);
		rd_kafka_topic_conf_set_opaque(conf, kc);
	}
	t->rkt = rd_kafka_topic_new(kc->rk, text, conf);
	if (t->rkt == NULL) {
		if (conf != NULL)
			rd_kafka_topic_conf_destroy(conf);
		free(t);
		return NULL;
	}
	if (kc->topics.count >= KAFKA_TOPICS_MAX && !list_empty(&kc->topics_used))
		topic_free(kc, LIST_ENTRY(kc->topics_used.prev, struct kafka_topic, used));
	(void)hash_put(&kc->topics, t->name, t);
	return t;
}

struct kafka_topic *
kafka_client_topic(struct kafka_client *kc, struct str name)
{
	struct kafka_topic *t = hash_find(&kc->topics, name);

	if (t == NULL && (t = topic_new(kc, name)) == NULL)
		return NULL;
	if (t->pins == 0) {
		list_remove(&t->used);
		list_prepend(&kc->topics_used, &t->used);
	}
	return t;
}

struct kafka_topic *
kafka_client_pin(struct kafka_client *kc, struct str name)
{
	struct kafka_topic *t = kafka_client_topic(kc, name);

	if (t != NULL && t->pins++ == 0)
		list_remove(&t->used);
	return t;
}

void
kafka_client_unpin(struct kafka_client *kc, struct kafka_topic *t)
{
	if (--t->pins == 0)
		list_prepend(&kc->topics_used, &t->used);
}

/* ---- events ---- */

static void
client_error(struct kafka_client *kc, rd_kafka_event_t *ev)
{
	rd_kafka_resp_err_t code = rd_kafka_event_error(ev);
	const char *text = rd_kafka_event_error_string(ev);

	kafka_log_error(code, text, false);
	if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
		return; /* the reason came before */
	kc->down = code;
	snprintf(kc->reason, sizeof kc->reason, "%s", text);
}

static void
client_event(struct kafka_queue *q, rd_kafka_event_t *ev)
{
	struct kafka_client *kc = CONTAINER_OF(q, struct kafka_client, events);
	const rd_kafka_message_t *msg;

	if (kafka_log_event(ev))
		return;
	if (rd_kafka_event_type(ev) == RD_KAFKA_EVENT_ERROR) {
		client_error(kc, ev);
		return;
	}
	if (rd_kafka_event_type(ev) != RD_KAFKA_EVENT_DR)
		return;
	while ((msg = rd_kafka_event_message_next(ev)) != NULL)
		kafka_producer_report(kc, msg);
	kafka_producer_room(kc);
}
