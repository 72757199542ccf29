/* Clients of librdkafka that send. */
#include "transports/kafka/kafka_client.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "transports/kafka/kafka_ask.h"
#include "transports/kafka/kafka_error.h"
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
	/* What is wrong with connections and clients comes as error event too. */
	bool twice = strcmp(facility, "FAIL") == 0 || strcmp(facility, "ERROR") == 0 ||
	    strcmp(facility, "FATAL") == 0;
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
	rd_kafka_conf_t *conf = kafka_props_conf(&kc->props, NULL, err);

	if (conf == NULL)
		return HINNY_EINVAL;
	rd_kafka_conf_set_events(
	    conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG);
	enum hinny_rc rc = kafka_props_client(RD_KAFKA_PRODUCER, conf, &kc->rk, err);
	if (rc != HINNY_OK)
		return rc;
	(void)rd_kafka_set_log_queue(kc->rk, NULL); /* to the main queue; fails without log.queue only */
	rc = kafka_queue_open(worker_loop(kc->ks->wk), &kc->events,
	    rd_kafka_queue_get_main(kc->rk), client_event, err);
	if (rc != HINNY_OK) {
		rd_kafka_destroy(kc->rk);
		kc->rk = NULL;
	}
	return rc;
}

static void
topic_free(struct kafka_topic *t)
{
	list_remove(&t->used);
	(void)hash_remove(&t->client->topics, t->name);
	if (t->rkt != NULL)
		rd_kafka_topic_destroy(t->rkt);
	free(t);
}

static void
client_free(struct kafka_client *kc)
{
	kafka_sends_drop(kc); /* librdkafka read their bodies until now */
	for (size_t i = 0; i < kc->topics.cap; i++)
		free(kc->topics.slots[i].value);
	hash_fini(&kc->topics);
	arena_fini(&kc->arena);
	loop_free_later(worker_loop(kc->ks->wk), kc);
}

/* All that it has is reported as failed, soon. */
static void
purge(rd_kafka_t *rk)
{
	(void)rd_kafka_purge(rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
	    RD_KAFKA_PURGE_F_NON_BLOCKING); /* cannot fail for a producer */
}

/* The end of a client of librdkafka waits for its threads: it is done on a thread of the pool. */
struct ending {
	struct loop_work work;
	rd_kafka_t *rk;
	struct kafka_state *ks;
	struct kafka_client *client; /* goes with it; NULL: it stays */
};

static void
ending_run(struct loop_work *w)
{
	rd_kafka_destroy(CONTAINER_OF(w, struct ending, work)->rk);
}

static void
ending_done(struct loop_work *w)
{
	struct ending *e = CONTAINER_OF(w, struct ending, work);

	e->ks->ending_n--;
	if (e->client != NULL)
		client_free(e->client);
	free(e);
}

static void
ending_start(void *arg)
{
	struct ending *e = arg;

	loop_work_start(worker_loop(e->ks->wk), &e->work, ending_run, ending_done);
}

/* librdkafka's part of it; with `all` then all of it. */
static void
client_stop(struct kafka_client *kc, bool all)
{
	struct ending *e = MEM_NEW(struct ending);

	*e = (struct ending){ .rk = kc->rk, .ks = kc->ks, .client = all ? kc : NULL };
	kc->ks->ending_n++;
	kc->rk = NULL;
	kafka_queue_close(&kc->events);
	for (size_t i = 0; i < kc->topics.cap; i++) {
		struct kafka_topic *t = kc->topics.slots[i].value;
		if (t != NULL && t->rkt != NULL)
			rd_kafka_topic_destroy(t->rkt);
		if (t != NULL)
			t->rkt = NULL;
	}
	if (e->rk == NULL) {
		ending_done(&e->work);
		return;
	}
	purge(e->rk);
	if (!kafka_ask_stop(e->ks, e->rk, ending_start, e))
		ending_start(e);
}

static void
client_end(struct kafka_client *kc)
{
	loop_timer_close(&kc->patience, NULL);
	loop_defer_cancel(&kc->give);
	kafka_sends_detach(kc);
	client_stop(kc, true);
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

/* What endpoints share a client by: the properties, and what of the options is ours. */
static void
set_key(struct kafka_client *kc, const struct kafka_conf *conf)
{
	const int64_t ours[] = { conf->partitioning, conf->buffer_memory, conf->buffer_messages,
		conf->max_block_ms, conf->delivery_timeout_ms };
	const char *text = "";

	for (size_t i = 0; i < kc->props.n; i++)
		text = arena_printf(
		    &kc->arena, "%s%s=%s\n", text, kc->props.items[i].key, kc->props.items[i].value);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		text = arena_printf(&kc->arena, "%s%lld ", text, (long long)ours[i]);
	kc->key = str_of(text);
}

static void
client_init(struct kafka_client *kc, struct kafka_state *ks, const struct kafka_conf *conf)
{
	kc->ks = ks;
	kc->partitioning = conf->partitioning;
	kc->bytes_max = (size_t)conf->buffer_memory;
	kc->records_max = (uint32_t)conf->buffer_messages;
	arena_init(&kc->arena);
	hash_init(&kc->topics, false);
	list_init(&kc->topics_used);
	list_init(&kc->active);
	list_init(&kc->called);
	list_init(&kc->waiting);
	list_init(&kc->left);
	list_init(&kc->queued);
	list_init(&kc->again);
	loop_defer_init(&kc->give, kafka_producer_give);
}

enum hinny_rc
kafka_client_get(struct kafka_state *ks, const struct endpoint *ep, struct kafka_client **out,
    struct hinny_error *err)
{
	struct kafka_client *kc = MEM_NEW(struct kafka_client), *old = NULL;

	client_init(kc, ks, ep->conf);
	enum hinny_rc rc = HINNY_OK;
	kafka_props_make(&kc->arena, ep, worker_generation_dir(ks->wk), &kc->props);
	set_key(kc, ep->conf);
	old = client_find(ks, kc->key);
	if (old == NULL && ks->clients_n >= KAFKA_CLIENTS_MAX)
		rc = hinny_error_set(err, HINNY_ELIMIT,
		    "more than %d different configurations of kafka: in use at a time", KAFKA_CLIENTS_MAX);
	if (old == NULL && ks->ending_n >= KAFKA_CLIENTS_MAX)
		rc = hinny_error_set(err, HINNY_EINVAL,
		    "%d clients of Kafka are still on their way out", KAFKA_CLIENTS_MAX);
	if (rc == HINNY_OK && old == NULL)
		rc = client_start(kc, err);
	if (rc != HINNY_OK || old != NULL) {
		hash_fini(&kc->topics);
		arena_fini(&kc->arena);
		free(kc);
	} else {
		loop_timer_init(worker_loop(ks->wk), &kc->patience, kafka_sends_late);
		list_append(&ks->clients, &kc->node);
		ks->clients_n++;
		old = kc;
	}
	if (rc == HINNY_OK) {
		old->refs++;
		*out = old;
	}
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
		client_end(kc);
	}
	while (ks->ended && !list_empty(&ks->clients)) { /* what they were sending is lost */
		struct kafka_client *kc = LIST_FIRST(&ks->clients, struct kafka_client, node);
		list_remove(&kc->node);
		client_end(kc);
	}
}

/* ---- topics ---- */

/* Called by threads of librdkafka. */
static int32_t
round_robin(const rd_kafka_topic_t *rkt, const void *key, size_t key_n, int32_t partitions,
    void *client, void *message)
{
	struct kafka_client *kc = client;
	(void)rkt;
	(void)key;
	(void)key_n;
	(void)message;

	uint32_t turn = __atomic_fetch_add(&kc->turn, 1, __ATOMIC_RELAXED);
	return (int32_t)(turn % (uint32_t)partitions);
}

static bool
topic_start(struct kafka_topic *t)
{
	struct kafka_client *kc = t->client;

	if (kc->rk == NULL)
		return false;
	rd_kafka_topic_conf_t *conf = NULL;
	if (kc->partitioning == KAFKA_PARTITIONER_ROUND_ROBIN) {
		conf = rd_kafka_default_topic_conf_dup(kc->rk);
		rd_kafka_topic_conf_set_partitioner_cb(conf, round_robin);
		rd_kafka_topic_conf_set_opaque(conf, kc);
	}
	t->rkt = rd_kafka_topic_new(kc->rk, t->name.p, conf);
	if (t->rkt == NULL && conf != NULL)
		rd_kafka_topic_conf_destroy(conf);
	return t->rkt != NULL;
}

/* Of those that nobody uses the one that was not used for the longest time. */
static void
topics_evict(struct kafka_client *kc)
{
	for (struct list *it = kc->topics_used.prev; it != &kc->topics_used; it = it->prev) {
		struct kafka_topic *t = LIST_ENTRY(it, struct kafka_topic, used);
		if (t->records == 0) {
			topic_free(t);
			return;
		}
	}
}

static struct kafka_topic *
topic_new(struct kafka_client *kc, struct str name)
{
	struct kafka_topic *t = mem_zalloc(sizeof *t + name.n + 1);
	char *text = (char *)(t + 1);

	memcpy(text, name.p, name.n);
	t->name = (struct str){ text, name.n };
	t->client = kc;
	list_init(&t->used);
	if (!topic_start(t)) {
		free(t);
		return NULL;
	}
	if (kc->topics.count >= KAFKA_TOPICS_MAX)
		topics_evict(kc);
	(void)hash_put(&kc->topics, t->name, t);
	kafka_ask_topic(kc->ks, kc->rk, t->name.p);
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

void
kafka_client_mend(struct kafka_client *kc)
{
	struct hinny_error err;

	client_stop(kc, false);
	if (client_start(kc, &err) != HINNY_OK) {
		log_error("cannot start a Kafka client anew: %s", err.text);
		return; /* what waits fails by its time limit; the next one tries again */
	}
	for (size_t i = 0; i < kc->topics.cap; i++) {
		struct kafka_topic *t = kc->topics.slots[i].value;
		if (t != NULL)
			(void)topic_start(t); /* whose name was taken before */
	}
	kc->broken = false;
}

/* ---- events ---- */

bool
kafka_client_refused(const struct kafka_client *kc)
{
	switch (kc->down) {
	case RD_KAFKA_RESP_ERR__AUTHENTICATION:
	case RD_KAFKA_RESP_ERR__SSL:
	case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
	case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
	case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
		return true;
	default:
		return false;
	}
}

void
kafka_client_purge(struct kafka_client *kc)
{
	purge(kc->rk);
	kafka_sends_fail_queued(kc);
}

static void
client_fatal(struct kafka_client *kc)
{
	kc->down = rd_kafka_fatal_error(kc->rk, kc->reason, sizeof kc->reason);
	kafka_log_error(kc->down, kc->reason, true);
	kc->broken = true;
	/* It reports what it has as failed, but for what came in just then. */
	purge(kc->rk);
	loop_defer(worker_loop(kc->ks->wk), &kc->give);
}

static void
client_error(struct kafka_client *kc, rd_kafka_event_t *ev)
{
	const char *text = rd_kafka_event_error_string(ev);
	rd_kafka_resp_err_t code = kafka_error_code(rd_kafka_event_error(ev), text);

	if (rd_kafka_event_error_is_fatal(ev) || code == RD_KAFKA_RESP_ERR__FATAL) {
		client_fatal(kc);
		return;
	}
	kafka_log_error(code, text, false);
	if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
		return; /* the reason came before */
	kc->down = code;
	snprintf(kc->reason, sizeof kc->reason, "%s", text);
	/* It will not be better in a while: what waits is told at once, as Java's client does. */
	if (kafka_client_refused(kc))
		kafka_client_purge(kc);
}

static void
client_event(struct kafka_queue *q, rd_kafka_event_t *ev)
{
	struct kafka_client *kc = CONTAINER_OF(q, struct kafka_client, events);
	const rd_kafka_message_t *msg;

	if (kafka_log_event(ev))
		return;
	kc->refs++;
	switch (rd_kafka_event_type(ev)) {
	case RD_KAFKA_EVENT_ERROR:
		client_error(kc, ev);
		break;
	case RD_KAFKA_EVENT_DR:
		while ((msg = rd_kafka_event_message_next(ev)) != NULL)
			kafka_producer_report(kc, msg);
		if (kc->broken)
			loop_defer(worker_loop(kc->ks->wk), &kc->give);
		break;
	default:
		break;
	}
	kafka_client_put(&kc);
}
