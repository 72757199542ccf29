/*
 * Offsets. What may be committed of a partition is the offset behind the last record that is done
 * with all before it. One commit of a member is on its way at a time; what comes meanwhile goes
 * with the next, or when commitTimeoutMs is over. With autoCommitEnable that is every autoCommitIntervalMs, without as soon as may
 * be; before a partition is given up, and at the end, in any case.
 */
#include "transports/kafka/kafka_consumer.h"

#include "core/base/log.h"

#include <string.h>

int64_t
kafka_part_committable(const struct kafka_part *part)
{
	if (part->sealed)
		return part->seal;
	return part->m->src->commits_good ? part->window.next_good : part->window.next;
}

static bool
has_news(const struct kafka_part *part)
{
	int64_t offset = kafka_part_committable(part);
	return !part->lost && offset >= 0 && offset != part->committed;
}

bool
kafka_commit_pending(const struct kafka_member *m)
{
	if (m->committing)
		return true;
	LIST_FOREACH (&m->parts, node, next)
		if (has_news(LIST_ENTRY(node, struct kafka_part, node)))
			return true;
	return false;
}

void
kafka_commit_now(struct kafka_member *m)
{
	rd_kafka_topic_partition_list_t *list;
	if (m->committing || m->rk == NULL)
		return;
	list = rd_kafka_topic_partition_list_new((int)m->parts_n);
	LIST_FOREACH (&m->parts, node, next) {
		struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
		if (!has_news(part))
			continue;
		part->committing = kafka_part_committable(part);
		rd_kafka_topic_partition_list_add(list, part->topic, part->partition)->offset =
		    part->committing;
	}
	if (list->cnt > 0) {
		/* with rd_kafka_commit() the outcome would not be told */
		rd_kafka_resp_err_t err =
		    rd_kafka_commit_queue(m->rk, list, m->events.queue, NULL, NULL);
		m->committing = err == RD_KAFKA_RESP_ERR_NO_ERROR;
		m->commit_began = loop_now(worker_loop(m->wk));
		if (err != RD_KAFKA_RESP_ERR_NO_ERROR)
			log_warning("route %s: offsets cannot be committed: %s", m->src->route->id,
			    rd_kafka_err2str(err));
	}
	rd_kafka_topic_partition_list_destroy(list);
}

static struct kafka_part *
find(struct kafka_member *m, const rd_kafka_topic_partition_t *tp)
{
	LIST_FOREACH (&m->parts, node, next) {
		struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
		if (part->partition == tp->partition && strcmp(part->topic, tp->topic) == 0)
			return part;
	}
	return NULL;
}

/* Does another try make sense with what the group says? */
static bool
is_passing(rd_kafka_resp_err_t err)
{
	return err == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS ||
	    err == RD_KAFKA_RESP_ERR__TRANSPORT || err == RD_KAFKA_RESP_ERR__TIMED_OUT ||
	    err == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT ||
	    err == RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE ||
	    err == RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS ||
	    err == RD_KAFKA_RESP_ERR_NOT_COORDINATOR || err == RD_KAFKA_RESP_ERR__WAIT_COORD;
}

/* Once, until a commit passes. */
static bool
is_told(struct kafka_member *m)
{
	bool news = !m->commit_told;
	m->commit_told = true;
	return news;
}

void
kafka_commit_event(struct kafka_member *m, rd_kafka_event_t *ev)
{
	rd_kafka_resp_err_t err = rd_kafka_event_error(ev);
	const rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(ev);
	m->committing = false;
	for (int i = 0; list != NULL && i < list->cnt; i++) {
		struct kafka_part *part = find(m, &list->elems[i]);
		rd_kafka_resp_err_t own = list->elems[i].err;
		if (part != NULL && err == RD_KAFKA_RESP_ERR_NO_ERROR && own == err)
			part->committed = list->elems[i].offset;
		else if (err == RD_KAFKA_RESP_ERR_NO_ERROR)
			err = own;
	}
	if (err == RD_KAFKA_RESP_ERR_NO_ERROR)
		m->commit_told = false;
	else if (err != RD_KAFKA_RESP_ERR__NO_OFFSET && is_told(m))
		log_warning("route %s: offsets were not committed%s: %s", m->src->route->id,
		    is_passing(err) ? ", which is tried again" : "", rd_kafka_err2str(err));
	m->commit_failed = err != RD_KAFKA_RESP_ERR_NO_ERROR;
	m->commit_hopeless = m->commit_failed && !is_passing(err);
	if (m->commit_failed) /* the next tick tries again */
		m->commit_due = loop_now(worker_loop(m->wk));
	if (!m->conf->auto_commit && !m->commit_failed && m->state == KAFKA_MEMBER_RUNNING)
		kafka_commit_now(m);
	kafka_member_progress(m);
}

/* No answer in time: another try, whatever becomes of this one. An answer that comes late is true as
 * well, or tells that this one must be made again. */
static void
give_up_late(struct kafka_member *m, struct monotime now)
{
	if (!m->committing || monotime_ms_between(m->commit_began, now) < m->conf->commit_timeout_ms)
		return;
	if (is_told(m))
		log_warning("route %s: offsets were not committed within %lld ms, which is tried again",
		    m->src->route->id, (long long)m->conf->commit_timeout_ms);
	m->committing = false;
	m->commit_failed = true;
	m->commit_due = now;
}

void
kafka_commit_tick(struct kafka_member *m)
{
	struct monotime now = loop_now(worker_loop(m->wk));
	give_up_late(m, now);
	bool leaves = m->state != KAFKA_MEMBER_RUNNING || !list_empty(&m->rebalances);
	if (m->conf->auto_commit && !leaves && now.ns < m->commit_due.ns)
		return;
	m->commit_due = monotime_add_ms(now, m->conf->auto_commit_interval_ms);
	kafka_commit_now(m);
}
