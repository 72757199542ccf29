/*
 * to: kafka: a send is the records of one exchange, from the step to its end. The exchange goes on
 * when the broker has acknowledged them all, or fails: with the broker's reason, or when
 * deliveryTimeoutMs is over, whatever becomes of its records then. A send for which there is no room waits for
 * it, and its exchange with it, up to maxBlockMs.
 */
#include "core/base/assert.h"
#include "core/base/blob.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "transports/kafka/kafka_error.h"
#include "transports/kafka/kafka_names.h"
#include "transports/kafka/kafka_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENDS_KEPT = 4096, TEXT_MAX = 400 };

/* ---- memory ---- */

static struct kafka_send *
send_new(struct kafka_client *kc, struct exchange *ex)
{
	struct kafka_state *ks = kc->ks;
	struct kafka_send *s;

	if (list_empty(&ks->sends)) {
		s = MEM_NEW(struct kafka_send);
	} else {
		s = LIST_FIRST(&ks->sends, struct kafka_send, node);
		list_remove(&s->node);
		ks->sends_free--;
		memset(s, 0, sizeof *s);
	}
	list_init(&s->wait);
	s->client = kc;
	kc->refs++;
	s->ex = ex;
	list_append(ex->home != 0 ? &kc->called : &kc->active, &s->node);
	s->records = &s->one;
	return s;
}

/* Its records are counted from queueing on. */
static void
count(struct kafka_send *s, bool more)
{
	struct kafka_client *kc = s->client;

	if (more) {
		kc->records += (uint32_t)s->n;
		kc->bytes += s->bytes;
		kc->ks->unsent += (uint32_t)s->n;
		s->topic->records += (uint32_t)s->n;
	} else {
		kc->records -= (uint32_t)s->n;
		kc->bytes -= s->bytes;
		kc->ks->unsent -= (uint32_t)s->n;
		s->topic->records -= (uint32_t)s->n;
	}
}

static void
send_free(struct kafka_send *s)
{
	struct kafka_client *kc = s->client;
	struct kafka_state *ks = kc->ks;

	list_remove(&s->node);
	list_remove(&s->wait);
	if (s->counted)
		count(s, false);
	if (s->parts.headers != NULL)
		rd_kafka_headers_destroy(s->parts.headers);
	blob_put(s->body);
	free(s->failure_text);
	if (s->records != &s->one)
		free(s->records);
	if (!list_empty(&kc->waiting) && !kc->ended)
		loop_defer(worker_loop(ks->wk), &kc->give); /* there may be room */
	kafka_client_put(&kc);
	if (ks->sends_free >= SENDS_KEPT) {
		free(s);
		return;
	}
	list_append(&ks->sends, &s->node);
	ks->sends_free++;
}

/* ---- the end of a send ---- */

void
kafka_send_fail(struct kafka_send *s, enum exception_id id, const char *fmt, ...)
{
	char text[KAFKA_REASON_MAX + TEXT_MAX];
	va_list ap;

	if (s->failure_text != NULL || s->ex == NULL)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap); /* a cut text still tells */
	va_end(ap);
	s->failure = id;
	s->failure_text = mem_strdup(text);
}

static void
set_metadata(struct kafka_send *s)
{
	struct arena *a = &s->ex->arena;
	struct value list = value_new_list(a, s->n);

	for (size_t i = 0; i < s->n; i++) {
		const struct kafka_record *r = &s->records[i];
		struct value map = value_new_map(a, 4, false), offset = value_int(r->offset),
			     timestamp = value_int(r->timestamp);
		offset.flags = timestamp.flags = VALUE_LONG;
		value_map_set(a, map.u.map, STR_LIT("topic"), value_str(s->topic_name));
		value_map_set(a, map.u.map, STR_LIT("partition"), value_int(r->partition));
		value_map_set(a, map.u.map, STR_LIT("offset"), offset);
		value_map_set(a, map.u.map, STR_LIT("timestamp"), timestamp);
		map.flags = VALUE_RECORD;
		value_list_add(a, list.u.list, map);
	}
	exchange_set_header(s->ex, STR_LIT("CamelKafkaRecordMeta"), list);
}

/* What of it librdkafka does not have will not be sent. */
static void
unqueue(struct kafka_send *s)
{
	if (!s->counted)
		s->ungiven = s->open = 0;
	for (size_t i = 0; i < s->n && s->ungiven > 0; i++) {
		if (list_empty(&s->records[i].node))
			continue;
		list_remove(&s->records[i].node);
		s->ungiven--;
		s->open--;
	}
}

/* Takes the exchange from it; its outcome is set. */
static bool
outcome(struct kafka_send *s, struct exchange *ex)
{
	if (s->failure_text != NULL)
		exchange_fail(ex, s->failure, "%s", s->failure_text);
	else if (s->conf->record_metadata)
		set_metadata(s);
	s->ex = NULL;
	return s->failure_text == NULL;
}

/* The exchange goes on, the send ends when librdkafka has none of it any more. */
static void
conclude(struct kafka_send *s)
{
	struct exchange *ex = s->ex;
	bool ok = false;

	if (ex != NULL) {
		engine_on_abort(ex, NULL, NULL);
		ok = outcome(s, ex);
	}
	if (s->open == 0) {
		send_free(s);
	} else {
		list_remove(&s->node);
		list_append(&s->client->left, &s->node);
	}
	if (ex != NULL && ok)
		engine_resume(ex);
	else if (ex != NULL)
		engine_fail(ex);
}

void
kafka_record_done(struct kafka_record *r)
{
	struct kafka_send *s = r->send;

	ASSERT(s->open > 0);
	if (--s->open == 0)
		conclude(s);
}

enum { LATE_TOLD_MS = 10000 };

void
kafka_send_late(struct kafka_send *s)
{
	struct kafka_client *kc = s->client;
	struct monotime now = loop_now(worker_loop(kc->ks->wk));

	kc->late++;
	if (kc->late_told.ns != 0 && monotime_ms_between(kc->late_told, now) < LATE_TOLD_MS)
		return;
	log_warning("topic %s: %u records were acknowledged after the exchanges that sent them had failed",
	    s->topic->name.p, kc->late);
	kc->late = 0;
	kc->late_told = now;
}

/* Its exchange does not wait any longer, whatever becomes of what librdkafka has of it. */
static void
give_up(struct kafka_send *s)
{
	list_remove(&s->wait);
	unqueue(s);
	conclude(s);
}

static void
aborted(void *arg)
{
	struct kafka_send *s = arg;

	s->ex = NULL;
	give_up(s);
}

/* ---- records ---- */

enum { RECORD_OVERHEAD = 82 }; /* as Java's client reckons: that of a batch of one */

static bool
make_record(struct kafka_send *s, struct kafka_record *r, const struct value *v)
{
	struct exchange *ex = s->ex;

	list_init(&r->node);
	r->send = s;
	if (!kafka_serialize(ex, s->conf->value_serde, "value", v, &r->value))
		return false;
	size_t size = s->head + r->value.n;
	s->bytes += size;
	if (size <= (size_t)s->conf->max_request_size)
		return true;
	exchange_fail(ex, EXCEPTION_KAFKA_RECORD_TOO_LARGE,
	    "The message is %zu bytes when serialized which is larger than %lld, which is the value of "
	    "the max.request.size configuration.",
	    size, (long long)s->conf->max_request_size);
	return false;
}

static bool
is_list(const struct kafka_conf *conf, const struct value *v)
{
	return conf->use_iterator &&
	    (v->type == VALUE_LIST || (v->type == VALUE_JSON && v->u.json->type == JSON_IS_ARRAY));
}

/* All of them, before any is sent. False: the exception is set. */
static bool
make_records(struct kafka_send *s, const struct value *body)
{
	struct value item;

	if (!is_list(s->conf, body)) {
		s->n = 1;
		return make_record(s, &s->one, body);
	}
	size_t n = value_size(body);
	if (n != 1)
		s->records = mem_zalloc((n + 1) * sizeof *s->records);
	for (s->n = 0; s->n < n; s->n++) {
		(void)value_item(&s->ex->arena, body, s->n, &item); /* it has that many */
		if (!make_record(s, &s->records[s->n], &item))
			return false;
		s->records[s->n].value.blob = NULL; /* copied: one blob may have many */
	}
	return true;
}

/* ---- room ---- */

static void
queue_all(struct kafka_send *s)
{
	s->counted = true;
	count(s, true);
	for (size_t i = 0; i < s->n; i++) {
		s->records[i].sequence = ++s->client->sequence;
		list_append(&s->client->queued, &s->records[i].node);
	}
	loop_defer(worker_loop(s->client->ks->wk), &s->client->give);
}

/* A send larger than the room there is goes when there is nothing else. */
static bool
has_room(const struct kafka_client *kc, const struct kafka_send *s)
{
	return kc->records == 0 ||
	    (kc->bytes + s->bytes <= kc->bytes_max && kc->records + s->n <= kc->records_max);
}

void
kafka_sends_room(struct kafka_client *kc)
{
	while (!list_empty(&kc->waiting)) {
		struct kafka_send *s = LIST_FIRST(&kc->waiting, struct kafka_send, wait);
		if (!has_room(kc, s))
			return;
		list_remove(&s->wait);
		queue_all(s);
	}
}

/* ---- time ---- */

static struct kafka_send *
oldest(struct list *head, bool by_wait)
{
	if (list_empty(head))
		return NULL;
	return by_wait ? LIST_FIRST(head, struct kafka_send, wait)
		       : LIST_FIRST(head, struct kafka_send, node);
}

/* librdkafka says once that a client is refused, and goes on trying: one that still is after this
 * time will be. */
enum { REFUSED_MS = 3000, CALL_SPARE_MS = 500 };

/* Who calls waits no longer than supervisor.call_timeout: it is told the reason before that. */
static int64_t
limit_of(struct worker *wk, const struct exchange *ex, const struct kafka_conf *conf)
{
	int64_t ms = conf->delivery_timeout_ms;

	if (ex->home != 0) {
		int64_t call = worker_settings(wk)->supervisor.call_timeout_ms;
		int64_t most = call > 2 * CALL_SPARE_MS ? call - CALL_SPARE_MS : call / 2;
		ms = ms < most ? ms : most;
	}
	return ms;
}

static int64_t
time_of(const struct kafka_client *kc, const struct kafka_send *s)
{
	return kafka_client_refused(kc) && s->limit_ms > REFUSED_MS ? REFUSED_MS : s->limit_ms;
}

/* Of kc->active or kc->called: how long the oldest may wait yet, -1: there is none. */
static int64_t
expire(struct kafka_client *kc, struct list *head, struct monotime now)
{
	struct kafka_send *s;

	while ((s = oldest(head, false)) != NULL) {
		int64_t left = time_of(kc, s) - monotime_ms_between(s->began, now);
		if (left > 0)
			return left;
		if (kafka_client_refused(kc)) {
			kafka_client_purge(kc);
			return -1;
		}
		bool may_come = s->counted && s->ungiven < s->open;
		kafka_send_fail(s, EXCEPTION_KAFKA_TIMEOUT,
		    "record for topic %.*s was not acknowledged within %lld ms%s%s%s",
		    STR_FMT(s->topic_name), (long long)s->limit_ms,
		    may_come && s->limit_ms < s->conf->delivery_timeout_ms ? ", but may be yet" : "",
		    kc->down ? ": " : "", kc->down ? kc->reason : "");
		give_up(s);
	}
	return -1;
}

static int64_t
expire_waiting(struct kafka_client *kc, struct monotime now)
{
	struct kafka_send *s;

	while ((s = oldest(&kc->waiting, true)) != NULL) {
		int64_t left = s->conf->max_block_ms - monotime_ms_between(s->began, now);
		if (left > 0)
			return left;
		kafka_send_fail(s, EXCEPTION_KAFKA_TIMEOUT,
		    "Failed to allocate memory within the configured max blocking time %lld ms.%s%s",
		    (long long)s->conf->max_block_ms, kc->down ? " " : "", kc->down ? kc->reason : "");
		give_up(s);
	}
	return -1;
}

/* Of two times, -1: none. */
static int64_t
sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* No longer than for ms. */
static void
be_patient(struct kafka_client *kc, struct monotime now, int64_t ms)
{
	struct monotime due = monotime_add_ms(now, ms);

	if (loop_timer_active(&kc->patience) && due.ns >= kc->due.ns)
		return;
	kc->due = due;
	loop_timer_start(&kc->patience, ms, 0);
}

void
kafka_sends_late(struct loop_timer *t)
{
	struct kafka_client *kc = CONTAINER_OF(t, struct kafka_client, patience);
	struct monotime now = loop_now(worker_loop(kc->ks->wk));

	kc->refs++;
	int64_t next = sooner(expire(kc, &kc->active, now), expire(kc, &kc->called, now));
	next = sooner(next, expire_waiting(kc, now));
	if (next >= 0)
		be_patient(kc, now, next);
	kafka_client_put(&kc);
}

/* ---- the step ---- */

static struct kafka_topic *
find_topic(struct kafka_target *target, struct kafka_send *s)
{
	if (s->parts.topic.p == NULL && target->topic != NULL)
		return target->topic;
	if (!kafka_is_topic_name(s->topic_name)) { /* as Java's client has it */
		exchange_fail(s->ex, EXCEPTION_KAFKA_INVALID_TOPIC, "Invalid topics: [%.*s]",
		    STR_FMT(s->topic_name));
		return NULL;
	}
	struct kafka_topic *t = kafka_client_topic(target->client, s->topic_name);
	if (t == NULL)
		exchange_fail(s->ex, EXCEPTION_KAFKA_INVALID_TOPIC, "cannot send to topic \"%.*s\": %s",
		    STR_FMT(s->topic_name), rd_kafka_err2str(rd_kafka_last_error()));
	return t;
}

enum step_rc
kafka_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	struct kafka_target *target = ep->impl;
	struct kafka_client *kc = target->client;
	const struct kafka_conf *conf = ep->conf;
	struct kafka_parts parts;
	(void)st;

	if (!kafka_record_parts(ex, conf, &parts))
		return STEP_FAILED;
	struct kafka_send *s = send_new(kc, ex);
	s->conf = conf;
	s->limit_ms = limit_of(wk, ex, conf);
	s->parts = parts;
	s->topic_name = parts.topic.p != NULL ? parts.topic : str_of(conf->topic);
	s->head = RECORD_OVERHEAD + parts.key.n + parts.headers_size;
	s->began = loop_now(worker_loop(wk));
	s->topic = find_topic(target, s);
	if (s->topic == NULL || !make_records(s, &ex->body)) {
		send_free(s);
		return STEP_FAILED;
	}
	s->open = s->ungiven = s->n;
	if (s->n == 0) { /* an empty list */
		(void)outcome(s, ex);
		send_free(s);
		return STEP_DONE;
	}
	engine_on_abort(ex, aborted, s);
	be_patient(kc, s->began, time_of(kc, s));
	if (list_empty(&kc->waiting) && has_room(kc, s)) {
		queue_all(s);
	} else {
		if (list_empty(&kc->waiting))
			be_patient(kc, s->began, 0); /* finds when it is too late for it */
		list_append(&kc->waiting, &s->wait);
	}
	return STEP_PENDING;
}

/* ---- the client's end ---- */

static void
fail_queued(struct kafka_client *kc, struct list *head)
{
	struct list mine;

	list_init(&mine);
	if (!list_empty(head)) {
		list_append(head, &mine);
		list_remove(head);
	}
	while (!list_empty(&mine)) {
		struct kafka_send *s = LIST_FIRST(&mine, struct kafka_send, node);
		list_remove(&s->node);
		list_append(head, &s->node);
		if (s->ungiven == 0)
			continue;
		kafka_send_fail(s, kafka_error_exception(kc->down), "%s", kc->reason);
		give_up(s);
	}
}

void
kafka_sends_fail_queued(struct kafka_client *kc)
{
	fail_queued(kc, &kc->active);
	fail_queued(kc, &kc->called);
}

static void
detach(struct kafka_client *kc, struct list *head)
{
	while (!list_empty(head)) {
		struct kafka_send *s = LIST_FIRST(head, struct kafka_send, node);
		engine_on_abort(s->ex, NULL, NULL);
		s->ex = NULL;
		list_remove(&s->node);
		list_append(&kc->left, &s->node);
		list_remove(&s->wait);
		unqueue(s);
	}
}

void
kafka_sends_detach(struct kafka_client *kc)
{
	kc->ended = true;
	kc->refs = UINT32_MAX; /* it ends already, by no put */
	detach(kc, &kc->active);
	detach(kc, &kc->called);
}

void
kafka_sends_drop(struct kafka_client *kc)
{
	while (!list_empty(&kc->left))
		send_free(LIST_FIRST(&kc->left, struct kafka_send, node));
}

void
kafka_sends_fini(struct kafka_state *ks)
{
	while (!list_empty(&ks->sends)) {
		struct kafka_send *s = LIST_FIRST(&ks->sends, struct kafka_send, node);
		list_remove(&s->node);
		free(s);
	}
	ks->sends_free = SENDS_KEPT; /* those that still come are freed */
}
