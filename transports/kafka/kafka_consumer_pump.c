/*
 * Records become exchanges. Everything that begins one goes through kafka_pump(), which runs at the
 * end of a turn of the loop: when a queue has got something, or an exchange is done. Nothing in it
 * recurses: an exchange that is done while it runs is only noted.
 */
#include "transports/kafka/kafka_consumer.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "transports/kafka/kafka_error.h"
#include "transports/kafka/kafka_priv.h"

#include <stdlib.h>

enum { SHARE = 32 }; /* records of one partition before the next has its turn */

void
kafka_pump_soon(struct kafka_member *m)
{
	if (m->state < KAFKA_MEMBER_CLOSED)
		loop_defer(worker_loop(m->wk), &m->pump);
}

/* ---- order ---- */

static void
waiting_aborted(void *arg)
{
	struct kafka_waiting *w = arg;
	list_remove(&w->waiter.node);
}

static void
take_woken(struct kafka_part *part)
{
	struct kafka_member *m = part->m;
	struct kafka_waiter *waiter;
	if (list_empty(&part->window.woken))
		return;
	while ((waiter = kafka_window_woken(&part->window)) != NULL)
		list_append(&m->woken, &waiter->node);
	kafka_pump_soon(m);
}

static bool
may_run(struct order *o, struct exchange *ex, const struct step *st)
{
	struct kafka_incoming *in = CONTAINER_OF(o, struct kafka_incoming, order);
	struct kafka_waiting *w = &in->waiting;
	if (ex != in->ex)
		w = ARENA_NEW(&ex->arena, struct kafka_waiting);
	bool yes = kafka_window_may(&in->part->window, in->slot, st->order_sends, st->order_left,
	    st->order_by_key, &w->waiter);
	if (!yes) {
		w->ex = ex;
		engine_on_abort(ex, waiting_aborted, w);
	}
	take_woken(in->part);
	return yes;
}

static void
ran(struct order *o, const struct step *st)
{
	struct kafka_incoming *in = CONTAINER_OF(o, struct kafka_incoming, order);
	kafka_window_ran(&in->part->window, in->slot, st->order_left);
	take_woken(in->part);
}

/* Those whose turn has come go on. */
static void
run_woken(struct kafka_member *m)
{
	while (!list_empty(&m->woken)) {
		struct list *node = m->woken.next;
		struct kafka_waiting *w = CONTAINER_OF(node, struct kafka_waiting, waiter.node);
		struct exchange *ex = w->ex;
		list_remove(node);
		engine_on_abort(ex, NULL, NULL);
		engine_wake(ex);
	}
}

/* ---- figures ---- */

void
kafka_part_publish(struct kafka_part *part)
{
	struct page_source *ps = page_source_at(worker_page(part->m->wk), part->page_slot);
	int64_t first = -1, end = -1;
	part->dirty = false;
	if (ps == NULL)
		return;
	if (part->queue != NULL) /* it stays unknown when that fails */
		(void)rd_kafka_get_watermark_offsets(
		    part->m->rk, part->topic, part->partition, &first, &end);
	int64_t next = part->window.next >= 0 ? part->window.next : part->committed;
	if (next < 0 && part->m->conf->auto_offset_reset == KAFKA_RESET_EARLIEST)
		next = first;
	PAGE_SET(ps->next, (uint64_t)next);
	PAGE_SET(ps->committed, (uint64_t)part->committed);
	if (end >= 0)
		PAGE_SET(ps->end, (uint64_t)end);
	PAGE_SET(ps->inflight, part->running);
}

/* ---- taking records ---- */

static bool
may_take(const struct kafka_part *part)
{
	return !part->leaving && !part->lost && !part->sealed && part->again == NULL;
}

/* Half of what may be fetched ahead? */
static bool
is_half(const struct kafka_member *m, size_t records, size_t bytes)
{
	return records >= m->ahead.records / 2 || bytes >= m->ahead.bytes / 2;
}

static void
ask_for_more(struct kafka_part *part, struct kafka_amount *since)
{
	*since = (struct kafka_amount){ 0 };
	kafka_poll_nudge(&part->m->poll);
}

/*
 * Librdkafka, when it has fetched as much ahead as it may, does not look by itself whether that has
 * been used up. It is asked when half of it is; and once more when nothing is left, since the sizes
 * of what waits are guessed from what was taken.
 */
static void
count_taken(struct kafka_part *part, const rd_kafka_message_t *msg)
{
	struct kafka_amount *since = &part->since_asked;
	part->since_empty.records++;
	part->since_empty.bytes += msg->len;
	since->records++;
	since->bytes += msg->len;
	if (!is_half(part->m, since->records, since->bytes))
		return;
	size_t left = rd_kafka_queue_length(part->queue);
	if (!is_half(part->m, left, left * (since->bytes / since->records)))
		ask_for_more(part, since);
}

static void
count_empty(struct kafka_part *part)
{
	struct kafka_amount *since = &part->since_empty;
	if (is_half(part->m, since->records, since->bytes))
		ask_for_more(part, since);
	*since = (struct kafka_amount){ 0 };
}

/* Markers of transactions, what was aborted and what was deleted are no records: the offset goes on
 * behind them. All records before the end have been begun. */
static void
at_end(struct kafka_part *part, int64_t offset)
{
	part->end = offset;
	part->dirty = true;
	kafka_window_skip(&part->window, offset);
}

rd_kafka_message_t *
kafka_part_take(struct kafka_part *part)
{
	rd_kafka_message_t *msg = part->ahead;
	part->ahead = NULL;
	if (msg != NULL)
		return msg;
	if (atomic_exchange(&part->ready, false))
		part->more = true;
	while (part->more && may_take(part)) {
		msg = rd_kafka_consume_queue(part->queue, 0);
		if (msg == NULL) {
			part->more = false;
			count_empty(part);
			break;
		}
		if (msg->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
			if (msg->offset < part->end)
				part->end = -1; /* of a topic that was made anew */
			count_taken(part, msg);
			return msg;
		}
		if (msg->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
			at_end(part, msg->offset);
		else
			kafka_member_poll_failed(part->m, part, msg->err, rd_kafka_message_errstr(msg));
		rd_kafka_message_destroy(msg);
	}
	return NULL;
}

bool
kafka_member_may_take(const struct kafka_member *m)
{
	return m->state == KAFKA_MEMBER_RUNNING && m->running < KAFKA_RECORDS_MAX &&
	    (m->bytes < KAFKA_BYTES_MAX || m->running == 0);
}

struct kafka_incoming *
kafka_part_begin(struct kafka_part *part, rd_kafka_message_t *msg)
{
	struct kafka_slot *slot =
	    kafka_window_add(&part->window, msg->offset, msg->key, msg->key_len);
	struct kafka_incoming *in = &part->incoming[slot->seq % part->window.cap];
	*in = (struct kafka_incoming){
		.order = { may_run, ran }, .part = part, .slot = slot, .msg = msg
	};
	part->dirty = true;
	part->running++;
	part->m->running++;
	part->m->bytes += msg->len + msg->key_len;
	return in;
}

/* ---- done ---- */

void
kafka_part_end(struct kafka_incoming *in, bool ok)
{
	struct kafka_part *part = in->part;
	struct kafka_member *m = part->m;
	part->dirty = true;
	part->running--;
	m->running--;
	m->bytes -= in->msg->len + in->msg->key_len;
	rd_kafka_message_destroy(in->msg);
	in->msg = NULL;
	kafka_window_done(&part->window, in->slot, ok);
	if (part->end >= 0)
		kafka_window_skip(&part->window, part->end);
	take_woken(part);
	kafka_pump_soon(m);
	if (part->leaving || part->lost || m->state != KAFKA_MEMBER_RUNNING)
		kafka_member_progress(m);
	else if (!m->conf->auto_commit)
		kafka_commit_now(m);
	if (part->lost && part->running == 0)
		kafka_part_free(part);
}

int64_t
kafka_backoff(struct kafka_member *m, int64_t *ms)
{
	int64_t first = m->conf->retry_backoff_ms > 0 ? m->conf->retry_backoff_ms : 1;
	int64_t most = first < 1000 ? 1000 : first;
	*ms = *ms == 0 ? first : *ms * 2 < most ? *ms * 2 : most;
	return *ms;
}

static void incoming_run(struct kafka_incoming *in);

void
kafka_part_retry(struct loop_timer *t)
{
	struct kafka_part *part = CONTAINER_OF(t, struct kafka_part, retry);
	struct kafka_member *m = part->m;
	struct kafka_incoming *in = part->again;
	part->more = true;
	part->again = NULL;
	if (in != NULL && m->state == KAFKA_MEMBER_RUNNING && !part->leaving && !part->lost)
		incoming_run(in);
	else if (in != NULL)
		kafka_part_give_up(in);
	kafka_pump_soon(m);
}

void
kafka_part_give_up(struct kafka_incoming *in)
{
	struct kafka_part *part = in->part;
	if (!part->sealed)
		part->seal = kafka_part_committable(part);
	part->sealed = true;
	kafka_part_end(in, false);
}

/* breakOnFirstError: the partition stands until the record has passed. One that could not be read is
 * pollOnError's. */
static bool
is_tried_again(const struct kafka_incoming *in)
{
	const struct kafka_part *part = in->part;
	return part->m->conf->break_on_error && !part->lost && !in->unreadable;
}

static void
incoming_done(struct exchange *ex)
{
	struct kafka_incoming *in = ex->owner;
	struct kafka_part *part = in->part;
	bool ok = ex->exception == NULL;
	worker_exchange_free(part->m->wk, &ex);
	in->ex = NULL;
	if (ok)
		part->retry_ms = 0;
	if (ok || !is_tried_again(in)) {
		kafka_part_end(in, ok || in->unreadable); /* which was handled */
		return;
	}
	if (part->leaving || part->m->state != KAFKA_MEMBER_RUNNING) {
		kafka_part_give_up(in);
		return;
	}
	part->again = in;
	loop_timer_start(&part->retry, kafka_backoff(part->m, &part->retry_ms), 0);
}

/* ---- exchanges ---- */

static struct exchange *
exchange_for(struct kafka_incoming *in)
{
	struct kafka_source *src = in->part->m->src;
	struct exchange *ex = worker_exchange_new(src->wk, src->route);
	ex->pattern = src->conf->pattern == 1 ? PATTERN_IN_OUT : PATTERN_IN_ONLY;
	ex->owner = in;
	ex->done = incoming_done;
	ex->order = src->ordered ? &in->order : NULL;
	in->ex = ex;
	return ex;
}

static void
poisoned(struct kafka_incoming *in, struct exchange *ex, const char *why)
{
	struct kafka_part *part = in->part;
	in->unreadable = true;
	const char *text = arena_printf(&ex->arena, KAFKA_BAD_RECORD, part->topic,
	    (int)part->partition, (long long)in->msg->offset, why);
	switch (part->m->conf->poll_on_error) {
	case KAFKA_POLL_DISCARD:
		log_warning("route %s: the record is discarded: %s", ex->from_route->id, text);
		worker_exchange_free(part->m->wk, &ex);
		in->ex = NULL;
		kafka_part_end(in, true);
		return;
	case KAFKA_POLL_ERROR_HANDLER:
		exchange_fail(ex, EXCEPTION_KAFKA_SERIALIZATION, "%s", text);
		worker_exchange_start_failed(part->m->wk, ex);
		return;
	default:
		if (part->retry_ms == 0) /* the same again and again is told once */
			log_error("route %s: %s", ex->from_route->id, text);
		worker_exchange_free(part->m->wk, &ex);
		in->ex = NULL;
		break;
	}
	if (part->m->conf->poll_on_error == KAFKA_POLL_RETRY) {
		part->again = in;
		loop_timer_start(&part->retry, kafka_backoff(part->m, &part->retry_ms), 0);
		return;
	}
	bool ends = part->m->conf->poll_on_error == KAFKA_POLL_STOP;
	kafka_part_give_up(in);
	kafka_member_restart(part->m, ends ? NULL : "a record could not be read");
}

void
kafka_part_unreadable(struct kafka_incoming *in, const char *why)
{
	struct exchange *ex = exchange_for(in);
	kafka_message_headers(in->part->m->src, ex, in->msg);
	poisoned(in, ex, why);
}

/* Has no other partition anything that is known? */
static bool
others_empty(const struct kafka_part *part)
{
	LIST_FOREACH (&part->m->parts, node, next) {
		const struct kafka_part *other = LIST_ENTRY(node, struct kafka_part, node);
		if (other != part && (other->more || other->ahead != NULL))
			return false;
	}
	return true;
}

static void
incoming_run(struct kafka_incoming *in)
{
	struct kafka_source *src = in->part->m->src;
	struct exchange *ex = exchange_for(in);
	const char *why;
	bool ok = kafka_message_fill(src, ex, in->msg, &why);
	if (!src->conf->auto_commit) {
		bool last = in->part->ahead == NULL;
		kafka_message_flags(src, ex, last, last && others_empty(in->part));
	}
	if (ok)
		worker_exchange_start(src->wk, ex);
	else
		poisoned(in, ex, why);
}

/* The one behind it is looked at, so that a message can say that it is the last. */
static void
look_ahead(struct kafka_part *part)
{
	if (!part->m->conf->auto_commit && part->ahead == NULL)
		part->ahead = kafka_part_take(part);
}

/* Returns how many were begun. */
static unsigned
pump_part(struct kafka_part *part, unsigned most)
{
	struct kafka_member *m = part->m;
	unsigned n = 0;
	while (n < most && kafka_member_may_take(m) && may_take(part) &&
	    !kafka_window_full(&part->window)) {
		rd_kafka_message_t *msg = kafka_part_take(part);
		if (msg == NULL)
			break;
		struct kafka_incoming *in = kafka_part_begin(part, msg);
		look_ahead(part);
		incoming_run(in);
		n++;
	}
	return n;
}

/* Up to maxPollRecords; then the loop turns. */
static void
pump_parts(struct kafka_member *m)
{
	unsigned left = (unsigned)m->conf->max_poll_records, n = 1;
	while (n > 0 && left > 0) {
		n = 0;
		LIST_FOREACH (&m->parts, node, next) {
			struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
			unsigned begun = pump_part(part, left < SHARE ? left : SHARE);
			left -= begun;
			n += begun;
		}
	}
	if (left == 0)
		kafka_pump_soon(m);
}

void
kafka_pump(struct kafka_member *m)
{
	run_woken(m);
	if (m->state != KAFKA_MEMBER_RUNNING || m->pumping)
		return;
	m->pumping = true;
	if (m->conf->batching)
		kafka_batch_pump(m);
	else
		pump_parts(m);
	m->pumping = false;
	LIST_FOREACH (&m->parts, node, next) {
		struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
		if (part->dirty)
			kafka_part_publish(part);
	}
}
