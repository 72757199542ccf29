/*
 * Records to librdkafka and back. What gathered within a turn of the loop is given at its end, in one
 * go, so that it shares requests; what comes while requests are on their way gathers in librdkafka.
 * The reports of a request come as one event.
 */
#include "core/base/blob.h"
#include "core/base/mem.h"
#include "transports/kafka/kafka_error.h"
#include "transports/kafka/kafka_priv.h"

#include <stdlib.h>

/* The last record of a send takes the headers, those before it copies. */
static rd_kafka_headers_t *
headers_of(const struct kafka_send *s)
{
	if (s->parts.headers == NULL || s->ungiven == 1)
		return s->parts.headers;
	return rd_kafka_headers_copy(s->parts.headers);
}

static rd_kafka_resp_err_t
produce(struct kafka_record *r)
{
	struct kafka_send *s = r->send;
	const struct kafka_parts *p = &s->parts;
	struct blob *blob = s->n == 1 ? r->value.blob : NULL;
	rd_kafka_headers_t *headers = headers_of(s);
	int copy = blob == NULL ? RD_KAFKA_MSG_F_COPY : 0;
	rd_kafka_resp_err_t code = rd_kafka_producev(s->client->rk, RD_KAFKA_V_RKT(s->topic->rkt),
	    RD_KAFKA_V_PARTITION(p->partition), RD_KAFKA_V_MSGFLAGS(copy),
	    RD_KAFKA_V_VALUE((void *)(uintptr_t)r->value.p, r->value.n),
	    RD_KAFKA_V_KEY(p->key.p, p->key.n), RD_KAFKA_V_TIMESTAMP(p->timestamp),
	    RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(r), RD_KAFKA_V_END);
	if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
		if (headers == s->parts.headers)
			s->parts.headers = NULL;
		if (blob != NULL && s->body == NULL)
			s->body = blob_get(blob);
		s->ungiven--;
		s->client->given++;
	} else if (headers != s->parts.headers) {
		rd_kafka_headers_destroy(headers);
	}
	return code;
}

static bool
is_purge(rd_kafka_resp_err_t code)
{
	return code == RD_KAFKA_RESP_ERR__PURGE_QUEUE || code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
}

/*
 * A broker that was killed may have lost what it knew of the numbers by which it tells repetitions.
 * librdkafka then gives up, since it cannot tell whether the broker has the record; here it is sent
 * again, as Java's client does: at least once.
 */
static bool
numbers_are_lost(const struct kafka_client *kc, rd_kafka_resp_err_t code)
{
	if (code == RD_KAFKA_RESP_ERR__FATAL || is_purge(code))
		code = rd_kafka_fatal_error(kc->rk, NULL, 0); /* of all that went with the first one */
	return code == RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER ||
	    code == RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID ||
	    code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
}

static int
by_sequence(const void *a, const void *b)
{
	const struct kafka_record *x = *(struct kafka_record *const *)a, *y = *(struct kafka_record *const *)b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* In front of those that came later: they are reported as they are found, not as they were sent. */
static void
queue_again(struct kafka_client *kc)
{
	struct kafka_record **all = mem_alloc(kc->again_n * sizeof(struct kafka_record *));
	size_t n = 0;

	LIST_FOREACH (&kc->again, node, next) /* some may have been aborted */
		all[n++] = LIST_ENTRY(node, struct kafka_record, node);
	qsort(all, n, sizeof all[0], by_sequence);
	while (n-- > 0) {
		list_remove(&all[n]->node);
		list_prepend(&kc->queued, &all[n]->node);
	}
	free(all);
	kc->again_n = 0;
}

void
kafka_producer_give(struct loop_defer *d)
{
	struct kafka_client *kc = CONTAINER_OF(d, struct kafka_client, give);

	kc->refs++; /* failures may put it */
	if (kc->broken && kc->given == 0)
		kafka_client_mend(kc);
	kafka_sends_room(kc);
	if (!kc->broken && !list_empty(&kc->again))
		queue_again(kc);
	while (!kc->broken && !list_empty(&kc->queued)) {
		struct kafka_record *r = LIST_FIRST(&kc->queued, struct kafka_record, node);
		list_remove(&r->node);
		rd_kafka_resp_err_t code = produce(r);
		if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
			continue;
		if (numbers_are_lost(kc, code)) { /* which has not been told yet */
			list_prepend(&kc->queued, &r->node);
			kc->broken = true;
			loop_defer(worker_loop(kc->ks->wk), &kc->give);
			break;
		}
		kafka_send_fail(r->send, kafka_error_exception(code), "cannot send to topic %.*s: %s",
		    STR_FMT(r->send->topic_name), rd_kafka_err2str(code));
		r->send->ungiven--;
		kafka_record_done(r);
	}
	kafka_client_put(&kc);
}

/* ---- reports ---- */

static void
report_failure(struct kafka_send *s, rd_kafka_resp_err_t code)
{
	const struct kafka_client *kc = s->client;

	if (s->ex == NULL)
		return;
	if (code == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT)
		kafka_send_fail(s, EXCEPTION_KAFKA_TIMEOUT,
		    "record for topic %.*s was not acknowledged within %lld ms%s%s",
		    STR_FMT(s->topic_name), (long long)s->conf->delivery_timeout_ms,
		    kc->down ? ": " : "", kc->down ? kc->reason : "");
	else if (is_purge(code) && kc->down)
		kafka_send_fail(s, kafka_error_exception(kc->down), "%s", kc->reason);
	else
		kafka_send_fail(s, kafka_error_exception(code), "record for topic %.*s: %s",
		    STR_FMT(s->topic_name), rd_kafka_err2str(code));
}

static void
send_again(struct kafka_client *kc, struct kafka_record *r, const rd_kafka_message_t *msg)
{
	struct kafka_send *s = r->send;
	rd_kafka_headers_t *headers;

	if (s->parts.headers == NULL &&
	    rd_kafka_message_detach_headers((rd_kafka_message_t *)(uintptr_t)msg, &headers) ==
		RD_KAFKA_RESP_ERR_NO_ERROR) /* the report is ours */
		s->parts.headers = headers;
	s->ungiven++;
	list_append(&kc->again, &r->node);
	kc->again_n++;
	kc->broken = true; /* if librdkafka has not said so yet, it is about to */
	loop_defer(worker_loop(kc->ks->wk), &kc->give);
}

void
kafka_producer_report(struct kafka_client *kc, const rd_kafka_message_t *msg)
{
	struct kafka_record *r = msg->_private;
	struct kafka_send *s = r->send;

	kc->given--;
	if (s->ex != NULL && !kc->ended && numbers_are_lost(kc, msg->err)) {
		send_again(kc, r, msg);
		return;
	}
	if (msg->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
		report_failure(s, msg->err);
	} else {
		kc->down = RD_KAFKA_RESP_ERR_NO_ERROR;
		if (s->ex == NULL && !kc->ended)
			kafka_send_late(s);
		r->partition = msg->partition;
		r->offset = msg->offset >= 0 ? msg->offset : -1; /* requestRequiredAcks=0: not known */
		if (s->conf->record_metadata)
			r->timestamp = rd_kafka_message_timestamp(msg, NULL);
	}
	kafka_record_done(r);
}
