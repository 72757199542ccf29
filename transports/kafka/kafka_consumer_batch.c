/*
 * batching: one exchange for a list of records of all partitions of a member. A batch ends with
 * maxPollRecords, when no further record has come for pollTimeoutMs, or batchingIntervalMs after
 * its first. One batch is in flight at a time. Offsets move with a batch that has passed.
 */
#include "transports/kafka/kafka_consumer.h"

#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

static void batch_run(struct kafka_member *m);

static void
batch_timer(struct loop_timer *t)
{
	struct kafka_member *m = CONTAINER_OF(t, struct kafka_member, batch.timer);
	if (m->batch.n > 0 && m->batch.ex == NULL)
		batch_run(m);
}

void
kafka_batch_init(struct kafka_member *m)
{
	if (m->conf->batching)
		m->batch.items =
		    mem_zalloc((size_t)m->conf->max_poll_records * sizeof m->batch.items[0]);
	loop_timer_init(worker_loop(m->wk), &m->batch.timer, batch_timer);
}

void
kafka_batch_fini(struct kafka_member *m)
{
	free(m->batch.items);
	m->batch.items = NULL;
	loop_timer_close(&m->batch.timer, NULL);
}

/* ---- done ---- */

/* Is there a partition that stays, with a record that was given up? */
static bool
some_stay(const struct kafka_member *m)
{
	LIST_FOREACH (&m->parts, node, next) {
		const struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
		if (part->sealed && !part->leaving)
			return true;
	}
	return false;
}

static void
batch_end(struct kafka_member *m, bool handled, bool ok)
{
	uint32_t n = m->batch.n;
	m->batch.n = 0;
	m->batch.retry_ms = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (handled)
			kafka_part_end(m->batch.items[i], ok);
		else
			kafka_part_give_up(m->batch.items[i]);
	}
	if (some_stay(m))
		kafka_member_restart(m, "a batch that failed was given up with partitions of it");
	kafka_pump_soon(m);
}

static bool
some_leave(const struct kafka_member *m)
{
	for (uint32_t i = 0; i < m->batch.n; i++)
		if (m->batch.items[i]->part->leaving || m->batch.items[i]->part->lost)
			return true;
	return m->state != KAFKA_MEMBER_RUNNING;
}

static void
batch_done(struct exchange *ex)
{
	struct kafka_member *m = ex->owner;
	bool ok = ex->exception == NULL;
	m->batch.ex = NULL;
	worker_exchange_free(m->wk, &ex);
	if (ok)
		m->batch.retry_ms = 0;
	if (ok || !m->conf->break_on_error)
		batch_end(m, true, ok);
	else if (some_leave(m))
		batch_end(m, false, false);
	else
		loop_timer_start(&m->batch.timer, kafka_backoff(m, &m->batch.retry_ms), 0);
}

/* ---- the exchange ---- */

/* Topic and partition, where all records have the same. */
static void
common_headers(struct kafka_member *m, struct exchange *ex)
{
	const struct kafka_part *first = m->batch.items[0]->part;
	bool topic = true, partition = true;
	for (uint32_t i = 1; i < m->batch.n; i++) {
		const struct kafka_part *part = m->batch.items[i]->part;
		topic = topic && strcmp(part->topic, first->topic) == 0;
		partition = partition && part->partition == first->partition;
	}
	kafka_message_place(
	    m->src, ex, topic ? first->topic : NULL, partition ? first->partition : -1);
}

static void
batch_run(struct kafka_member *m)
{
	struct exchange *ex = worker_exchange_new(m->wk, m->src->route);
	struct value list = value_new_list(&ex->arena, m->batch.n);
	loop_timer_stop(&m->batch.timer);
	ex->pattern = m->conf->pattern == 1 ? PATTERN_IN_OUT : PATTERN_IN_ONLY;
	ex->owner = m;
	ex->done = batch_done;
	m->batch.ex = ex;
	m->batch.ends = false;
	for (uint32_t i = 0; i < m->batch.n; i++) {
		struct value v;
		kafka_message_element(m->src, ex, m->batch.items[i]->msg, &v);
		value_list_add(&ex->arena, list.u.list, v);
	}
	common_headers(m, ex);
	exchange_set_body(ex, list);
	worker_exchange_start(m->wk, ex);
}

/* ---- gathering ---- */

/* A record that cannot be read ends the member: what was gathered is done before. */
static bool
ends_member(const struct kafka_member *m)
{
	return m->conf->poll_on_error == KAFKA_POLL_STOP ||
	    m->conf->poll_on_error == KAFKA_POLL_RECONNECT;
}

/* The next record of the partition; false: there is none now. */
static bool
gather_one(struct kafka_member *m, struct kafka_part *part)
{
	const char *why;
	if (m->batch.ends || !kafka_member_may_take(m) || kafka_window_full(&part->window))
		return false;
	rd_kafka_message_t *msg = kafka_part_take(part);
	if (msg == NULL)
		return false;
	bool ok = kafka_message_check(m->src, msg, &why);
	if (!ok && m->batch.n > 0 && ends_member(m)) {
		part->ahead = msg;
		m->batch.ends = true;
		return false;
	}
	struct kafka_incoming *in = kafka_part_begin(part, msg);
	if (ok)
		m->batch.items[m->batch.n++] = in;
	else
		kafka_part_unreadable(in, why);
	return true;
}

static void
gather(struct kafka_member *m)
{
	uint32_t most = (uint32_t)m->conf->max_poll_records;
	bool more;
	do {
		more = false;
		LIST_FOREACH (&m->parts, node, next) {
			struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
			if (m->batch.n < most)
				more = gather_one(m, part) || more;
		}
	} while (more && m->batch.n < most);
}

static int64_t
wait_ms(const struct kafka_member *m)
{
	struct monotime now = loop_now(worker_loop(m->wk));
	int64_t ms = m->conf->poll_timeout_ms;
	if (m->conf->batching_interval_ms > 0) {
		int64_t left =
		    m->conf->batching_interval_ms - monotime_ms_between(m->batch.began, now);
		ms = left < ms ? left : ms;
	}
	return ms > 0 ? ms : 0;
}

void
kafka_batch_pump(struct kafka_member *m)
{
	uint32_t before = m->batch.n;
	if (m->batch.ex != NULL || m->batch.retry_ms > 0)
		return;
	gather(m);
	if (m->batch.n <= before && !m->batch.ends)
		return;
	if (before == 0)
		m->batch.began = loop_now(worker_loop(m->wk));
	if (m->batch.n == (uint32_t)m->conf->max_poll_records || m->batch.ends || !kafka_member_may_take(m))
		batch_run(m);
	else
		loop_timer_start(&m->batch.timer, wait_ms(m), 0);
}

void
kafka_batch_flush(struct kafka_member *m)
{
	if (m->batch.n == 0 || m->batch.ex != NULL)
		return;
	if (m->batch.retry_ms > 0)
		kafka_batch_drop(m);
	else
		batch_run(m);
}

void
kafka_batch_drop(struct kafka_member *m)
{
	if (m->batch.n == 0 || m->batch.ex != NULL)
		return;
	loop_timer_stop(&m->batch.timer);
	m->batch.retry_ms = 0;
	batch_end(m, false, false);
}
