/*
 * to: kafka: gives records to librdkafka, and lets the exchange go on when the broker has
 * acknowledged them all. Exchanges do not wait for one another: what they give within a turn of the
 * loop leaves together, since librdkafka's thread sends what has gathered while its last request
 * was on its way. When its buffer is full, sends wait in order, and their exchanges with them.
 */
#include "core/base/assert.h"
#include "core/base/blob.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "transports/kafka/kafka_error.h"
#include "transports/kafka/kafka_priv.h"
#include "transports/kafka/kafka_record.h"

#include <stdlib.h>
#include <string.h>

enum { SENDS_KEPT = 4096, TEXT_MAX = 400 };

struct kafka_send;

/* One record of a send: librdkafka gives it back with its fate. */
struct record {
	struct kafka_send *send;
	int64_t offset, timestamp;
	int32_t partition;
};

/* All records of one exchange. */
struct kafka_send {
	struct list node; /* in client.active, or of those that are free */
	struct list wait; /* in client.waiting */
	struct kafka_client *client;
	struct exchange *ex; /* NULL: it was aborted; its records are sent all the same */
	const struct kafka_conf *conf;
	struct kafka_parts parts;
	struct str topic; /* in the arena */
	bool waits, is_list;
	size_t n, next;   /* records in all; how many of them librdkafka has been given */
	size_t pending;   /* …and has not reported */
	struct blob *body; /* held: where the value lies that librdkafka was given */
	struct monotime deadline;
	enum exception_id failure;
	char *failure_text;
	struct record one, *records;
};

/* ---- memory ---- */

static struct kafka_send *
send_new(struct kafka_state *ks)
{
	struct kafka_send *s;

	if (list_empty(&ks->sends)) {
		s = MEM_NEW(struct kafka_send);
	} else {
		s = LIST_FIRST(&ks->sends, struct kafka_send, node);
		list_remove(&s->node);
		ks->sends_free--;
		memset(s, 0, sizeof *s);
	}
	list_init(&s->node);
	list_init(&s->wait);
	return s;
}

static void
send_free(struct kafka_send *s)
{
	struct kafka_state *ks = s->client->ks;

	list_remove(&s->node);
	list_remove(&s->wait);
	if (s->parts.headers != NULL)
		rd_kafka_headers_destroy(s->parts.headers);
	blob_put(s->body);
	free(s->failure_text);
	if (s->records != &s->one)
		free(s->records);
	kafka_client_put(&s->client);
	if (ks->sends_free >= SENDS_KEPT) {
		free(s);
		return;
	}
	list_append(&ks->sends, &s->node);
	ks->sends_free++;
}

/* ---- the end of a send ---- */

static void __attribute__((format(printf, 3, 4)))
send_fail(struct kafka_send *s, enum exception_id id, const char *fmt, ...)
{
	char text[KAFKA_REASON_MAX + TEXT_MAX];
	va_list ap;

	if (s->failure_text != NULL)
		return; /* the first one counts */
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
		const struct record *r = &s->records[i];
		struct value map = value_new_map(a, 4, false), offset = value_int(r->offset),
			     timestamp = value_int(r->timestamp);
		offset.flags = timestamp.flags = VALUE_LONG;
		value_map_set(a, map.u.map, STR_LIT("topic"), value_str(s->topic));
		value_map_set(a, map.u.map, STR_LIT("partition"), value_int(r->partition));
		value_map_set(a, map.u.map, STR_LIT("offset"), offset);
		value_map_set(a, map.u.map, STR_LIT("timestamp"), timestamp);
		value_list_add(a, list.u.list, map);
	}
	exchange_set_header(s->ex, STR_LIT("CamelKafkaRecordMeta"), list);
}

/* Nothing of it is at librdkafka any more. */
static void
send_end(struct kafka_send *s)
{
	struct exchange *ex = s->ex;

	if (ex == NULL) {
		send_free(s);
		return;
	}
	engine_on_abort(ex, NULL, NULL);
	if (s->failure_text != NULL) {
		exchange_fail(ex, s->failure, "%s", s->failure_text);
		send_free(s);
		engine_fail(ex);
		return;
	}
	if (s->conf->record_metadata)
		set_metadata(s);
	send_free(s);
	engine_resume(ex);
}

static void
aborted(void *arg)
{
	struct kafka_send *s = arg;

	s->ex = NULL;
	s->topic = STR_LIT("?");
	s->next = s->n; /* what librdkafka has not, it will not get */
	s->waits = false;
	list_remove(&s->wait);
	if (s->pending == 0)
		send_free(s);
}

/* ---- giving records to librdkafka ---- */

static void
too_large(struct kafka_send *s, size_t size)
{
	send_fail(s, EXCEPTION_KAFKA_RECORD_TOO_LARGE,
	    "The message is %zu bytes when serialized which is larger than %lld, which is the value of "
	    "the max.request.size configuration.",
	    size, (long long)s->conf->max_request_size);
}

static void
refused(struct kafka_send *s, rd_kafka_resp_err_t code)
{
	send_fail(s, kafka_error_exception(code), "cannot send to topic %.*s: %s", STR_FMT(s->topic),
	    rd_kafka_err2str(code));
}

/* The last record takes the headers, those before it copies. */
static rd_kafka_headers_t *
headers_of(const struct kafka_send *s)
{
	if (s->parts.headers == NULL || s->next + 1 == s->n)
		return s->parts.headers;
	return rd_kafka_headers_copy(s->parts.headers);
}

static rd_kafka_resp_err_t
produce(struct kafka_send *s, rd_kafka_topic_t *rkt, const struct kafka_bytes *value)
{
	const struct kafka_parts *p = &s->parts;
	struct record *r = &s->records[s->next];
	int copy = value->blob == NULL || s->is_list ? RD_KAFKA_MSG_F_COPY : 0;
	rd_kafka_headers_t *headers = headers_of(s);

	r->send = s;
	rd_kafka_resp_err_t code = rd_kafka_producev(s->client->rk, RD_KAFKA_V_RKT(rkt),
	    RD_KAFKA_V_PARTITION(p->partition), RD_KAFKA_V_MSGFLAGS(copy),
	    RD_KAFKA_V_VALUE((void *)(uintptr_t)value->p, value->n),
	    RD_KAFKA_V_KEY(p->key.p, p->key.n), RD_KAFKA_V_TIMESTAMP(p->timestamp),
	    RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(r), RD_KAFKA_V_END);
	if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
		if (headers == s->parts.headers)
			s->parts.headers = NULL;
		if (!copy)
			s->body = blob_get(value->blob);
	} else if (headers != s->parts.headers) {
		rd_kafka_headers_destroy(headers);
	}
	return code;
}

static bool
value_at(struct kafka_send *s, struct kafka_bytes *out)
{
	struct exchange *ex = s->ex;
	struct value item, *v = &ex->body;

	if (s->is_list) {
		(void)value_item(&ex->arena, &ex->body, s->next, &item); /* it has that many */
		v = &item;
	}
	if (kafka_serialize(ex, s->conf->value_serde, "value", v, out))
		return true;
	send_fail(s, ex->exception->id, "%.*s", STR_FMT(ex->exception->message));
	ex->exception = NULL;
	return false;
}

enum { RECORD_OVERHEAD = 82 }; /* as Java's client reckons: that of a batch of one */

/* False: there is no room, and it waits. */
static bool
give(struct kafka_send *s)
{
	struct kafka_topic *topic = kafka_client_topic(s->client, s->topic);
	struct kafka_bytes value;

	if (topic == NULL)
		refused(s, rd_kafka_last_error());
	while (s->failure_text == NULL && s->next < s->n) {
		if (!value_at(s, &value))
			break;
		size_t size = RECORD_OVERHEAD + s->parts.key.n + value.n + s->parts.headers_size;
		if (size > (size_t)s->conf->max_request_size) {
			too_large(s, size);
			break;
		}
		rd_kafka_resp_err_t code = produce(s, topic->rkt, &value);
		if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL)
			return false;
		if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
			refused(s, code);
			break;
		}
		s->next++;
		s->pending++;
		s->client->ks->unsent++;
	}
	s->next = s->n;
	return true;
}

/* ---- waiting for room ---- */

static void
wait_for_room(struct kafka_send *s)
{
	struct kafka_client *kc = s->client;

	s->waits = true;
	list_append(&kc->waiting, &s->wait);
	if (!loop_timer_active(&kc->patience))
		loop_timer_start(&kc->patience, s->conf->max_block_ms, 0);
}

void
kafka_producer_room(struct kafka_client *kc)
{
	while (!list_empty(&kc->waiting)) {
		struct kafka_send *s = LIST_FIRST(&kc->waiting, struct kafka_send, wait);
		if (!give(s))
			return;
		list_remove(&s->wait);
		s->waits = false;
		if (s->pending == 0)
			send_end(s);
	}
	loop_timer_stop(&kc->patience);
}

void
kafka_producer_patience(struct loop_timer *t)
{
	struct kafka_client *kc = CONTAINER_OF(t, struct kafka_client, patience);
	struct monotime now = loop_now(worker_loop(kc->ks->wk));
	struct list late;
	int64_t next_ms = -1;

	list_init(&late);
	LIST_FOREACH (&kc->waiting, it, next) {
		struct kafka_send *s = LIST_ENTRY(it, struct kafka_send, wait);
		int64_t ms = monotime_ms_between(now, s->deadline);
		if (ms <= 0) {
			list_remove(&s->wait);
			list_append(&late, &s->wait);
		} else if (next_ms < 0 || ms < next_ms) {
			next_ms = ms;
		}
	}
	if (next_ms >= 0)
		loop_timer_start(&kc->patience, next_ms + 1, 0);
	while (!list_empty(&late)) {
		struct kafka_send *s = LIST_FIRST(&late, struct kafka_send, wait);
		list_remove(&s->wait);
		s->waits = false;
		s->next = s->n;
		send_fail(s, EXCEPTION_KAFKA_TIMEOUT,
		    "Failed to allocate memory within the configured max blocking time %lld ms.%s%s",
		    (long long)s->conf->max_block_ms, kc->down ? " " : "", kc->down ? kc->reason : "");
		if (s->pending == 0)
			send_end(s);
	}
}

/* ---- what became of them ---- */

static void
report_failure(struct kafka_send *s, const rd_kafka_message_t *msg)
{
	const struct kafka_client *kc = s->client;
	bool timed_out = msg->err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT;

	if (timed_out)
		send_fail(s, EXCEPTION_KAFKA_TIMEOUT,
		    "record for topic %.*s was not acknowledged within %lld ms%s%s", STR_FMT(s->topic),
		    (long long)s->conf->delivery_timeout_ms, kc->down ? ": " : "",
		    kc->down ? kc->reason : "");
	else
		send_fail(s, kafka_error_exception(msg->err), "record for topic %.*s: %s",
		    STR_FMT(s->topic), rd_kafka_err2str(msg->err));
}

void
kafka_producer_report(struct kafka_client *kc, const rd_kafka_message_t *msg)
{
	struct record *r = msg->_private;
	struct kafka_send *s = r->send;

	ASSERT(s->pending > 0);
	s->pending--;
	kc->ks->unsent--;
	if (msg->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
		report_failure(s, msg);
	} else {
		kc->down = 0;
		r->partition = msg->partition;
		r->offset = msg->offset;
		if (s->conf->record_metadata && s->ex != NULL)
			r->timestamp = rd_kafka_message_timestamp(msg, NULL);
	}
	if (s->pending == 0 && !s->waits && s->next == s->n)
		send_end(s);
}

/* ---- the step ---- */

static bool
is_list(const struct kafka_conf *conf, const struct value *v)
{
	return conf->use_iterator &&
	    (v->type == VALUE_LIST || (v->type == VALUE_JSON && v->u.json->type == JSON_IS_ARRAY));
}

enum step_rc
kafka_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	struct kafka_target *target = ep->impl;
	struct kafka_client *kc = target->client;
	const struct kafka_conf *conf = ep->conf;
	struct kafka_parts parts;
	bool list = is_list(conf, &ex->body);
	size_t n = list ? value_size(&ex->body) : 1;
	(void)st;

	if (!kafka_record_parts(ex, conf, &parts))
		return STEP_FAILED;
	struct kafka_send *s = send_new(kc->ks);
	s->client = kc;
	kc->refs++;
	list_append(&kc->active, &s->node);
	s->ex = ex;
	s->conf = conf;
	s->parts = parts;
	s->topic = parts.topic.p != NULL ? parts.topic : str_of(conf->topic);
	s->is_list = list;
	s->n = n;
	s->records = n == 1 ? &s->one : mem_zalloc((n + 1) * sizeof *s->records);
	s->deadline = monotime_add_ms(loop_now(worker_loop(wk)), conf->max_block_ms);
	if (!list_empty(&kc->waiting) || !give(s))
		wait_for_room(s);
	if (!s->waits && s->pending == 0) { /* nothing to wait for: an empty list, or a failure */
		bool ok = s->failure_text == NULL;
		if (!ok)
			exchange_fail(ex, s->failure, "%s", s->failure_text);
		else if (conf->record_metadata)
			set_metadata(s);
		send_free(s);
		return ok ? STEP_DONE : STEP_FAILED;
	}
	engine_on_abort(ex, aborted, s);
	return STEP_PENDING;
}

void
kafka_producer_drop(struct kafka_client *kc)
{
	kc->refs = UINT32_MAX; /* it ends already, by no put */
	while (!list_empty(&kc->active)) {
		struct kafka_send *s = LIST_FIRST(&kc->active, struct kafka_send, node);
		if (s->ex != NULL)
			engine_on_abort(s->ex, NULL, NULL);
		kc->ks->unsent -= (uint32_t)s->pending;
		send_free(s);
	}
}

void
kafka_producer_fini(struct kafka_state *ks)
{
	while (!list_empty(&ks->sends)) {
		struct kafka_send *s = LIST_FIRST(&ks->sends, struct kafka_send, node);
		list_remove(&s->node);
		free(s);
	}
	ks->sends_free = SENDS_KEPT; /* those that still come are freed */
}
