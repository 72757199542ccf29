/*
 * Partitions come and go. A rebalance is answered when we are ready, while the member goes on
 * telling the group that it lives:
 *
 * - Partitions that come: the group is asked for its offsets, so that it can be told what is left to
 *   do. Where it has none yet and would begin at the end, that end is committed first, so that a
 *   worker that dies right away loses nothing that came after it.
 *   seekTo is done once for each partition in the life of a broker; the run folder keeps which.
 * - Partitions that go: no more is taken, what is in flight is finished and committed, for as long
 *   as shutdownTimeout. Those that are lost are others' already: what is in flight of them ends by
 *   itself, and is committed by whoever has them now.
 */
#include "transports/kafka/kafka_consumer.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ASK_MS = 10000, SEEK_TAG = 16 };

/* ---- what is left of partitions ---- */

/*
 * The queue of a partition that has gone. What librdkafka still puts there holds the partition, and the
 * end of the client would wait for that for ever (before 2.6.1).
 */
struct kafka_rest {
	struct list node; /* of kafka_member.rests */
	rd_kafka_queue_t *queue;
	char *topic;
	int32_t partition;
};

/* Its queue is the rest's from now on. */
static void
rest_add(struct kafka_part *part)
{
	struct kafka_rest *rest = MEM_NEW(struct kafka_rest);

	*rest = (struct kafka_rest){
		.queue = part->queue, .topic = mem_strdup(part->topic), .partition = part->partition
	};
	list_append(&part->m->rests, &rest->node);
}

static void
rest_sweep(struct kafka_rest *rest)
{
	rd_kafka_message_t *msg;

	while ((msg = rd_kafka_consume_queue(rest->queue, 0)) != NULL)
		rd_kafka_message_destroy(msg);
}

static void
rest_free(struct kafka_rest *rest)
{
	list_remove(&rest->node);
	rd_kafka_queue_destroy(rest->queue);
	free(rest->topic);
	free(rest);
}

void
kafka_assign_sweep(struct kafka_member *m)
{
	LIST_FOREACH (&m->rests, node, next)
		rest_sweep(LIST_ENTRY(node, struct kafka_rest, node));
}

void
kafka_assign_fini(struct kafka_member *m)
{
	kafka_assign_sweep(m);
	while (!list_empty(&m->rests))
		rest_free(LIST_FIRST(&m->rests, struct kafka_rest, node));
}

/* The partition has come back: what is in its queue now is for it. */
static void
rest_end(struct kafka_member *m, const struct kafka_part *part)
{
	LIST_FOREACH (&m->rests, node, next) {
		struct kafka_rest *rest = LIST_ENTRY(node, struct kafka_rest, node);
		if (rest->partition != part->partition || strcmp(rest->topic, part->topic) != 0)
			continue;
		rest_sweep(rest);
		rest_free(rest);
		return;
	}
}

/* ---- partitions ---- */

/* By a thread of librdkafka, which holds the queue's lock. */
static void
queue_has_something(rd_kafka_t *rk, void *opaque)
{
	struct kafka_part *part = opaque;
	(void)rk;
	if (!atomic_exchange(&part->ready, true))
		loop_wake_send(&part->m->wake);
}

static void
part_new(struct kafka_member *m, const rd_kafka_topic_partition_t *tp)
{
	struct kafka_source *src = m->src;
	struct kafka_part *part = MEM_NEW(struct kafka_part);
	part->m = m;
	part->topic = mem_strdup(tp->topic);
	part->partition = tp->partition;
	part->committed = tp->offset >= 0 ? tp->offset : -1;
	part->committing = part->end = -1;
	part->more = true;
	kafka_window_init(&part->window, src->cap, src->ordered ? src->route->order_sends : 0);
	part->incoming = mem_zalloc(src->cap * sizeof part->incoming[0]);
	loop_timer_init(worker_loop(m->wk), &part->retry, kafka_part_retry);
	part->page_slot =
	    page_source_take(worker_page(m->wk), src->route->index, part->topic, part->partition);
	list_append(&m->parts, &part->node);
	m->parts_n++;
	rest_end(m, part);
	part->queue = rd_kafka_queue_get_partition(m->rk, part->topic, part->partition);
	rd_kafka_queue_forward(part->queue, NULL); /* before the first record comes */
	rd_kafka_queue_cb_event_enable(part->queue, queue_has_something, part);
	kafka_part_publish(part);
}

static void
retry_closed(struct loop_timer *t)
{
	free(CONTAINER_OF(t, struct kafka_part, retry));
}

void
kafka_part_free(struct kafka_part *part)
{
	list_remove(&part->node);
	kafka_window_fini(&part->window);
	free(part->incoming);
	free(part->topic);
	loop_timer_close(&part->retry, retry_closed);
}

void
kafka_part_stop(struct kafka_part *part)
{
	struct kafka_incoming *in = part->again;
	part->again = NULL;
	loop_timer_stop(&part->retry);
	if (in != NULL)
		kafka_part_give_up(in);
}

/* Its queue is let go, and what was taken from it and not begun. */
static void
part_leave(struct kafka_part *part)
{
	part->leaving = true;
	if (part->queue != NULL) {
		rd_kafka_queue_cb_event_enable(part->queue, NULL, NULL);
		rest_add(part);
	}
	part->queue = NULL;
	part->more = false;
	if (part->ahead != NULL)
		rd_kafka_message_destroy(part->ahead);
	part->ahead = NULL;
	kafka_part_stop(part);
}

/* Not the member's any more. What is in flight of it ends by itself. */
static void
part_gone(struct kafka_part *part)
{
	struct kafka_member *m = part->m;
	part_leave(part);
	part->lost = true;
	m->parts_n--;
	page_source_put(worker_page(m->wk), part->page_slot);
	part->page_slot = -1;
	list_remove(&part->node);
	list_append(&m->lost, &part->node);
	if (part->running == 0)
		kafka_part_free(part);
}

static bool
is_in(const rd_kafka_topic_partition_list_t *list, const struct kafka_part *part)
{
	return rd_kafka_topic_partition_list_find(
		   (rd_kafka_topic_partition_list_t *)list, part->topic, part->partition) != NULL;
}

/* ---- where to begin ---- */

/* The run folder's file of what has been begun: lines "tag topic partition". What is done is done again
 * when another group reads it, or from the other end. */
static int
seek_line(const struct kafka_source *src, const rd_kafka_topic_partition_t *tp, char *line, size_t size)
{
	uint64_t tag = kafka_seek_tag(src->group, (unsigned)src->conf->seek_to);
	return snprintf(line, size, "%016llx %s %d\n", (unsigned long long)tag, tp->topic, (int)tp->partition);
}

/* The last line of the partition counts. */
static bool
seek_is_done(const struct kafka_source *src, const rd_kafka_topic_partition_t *tp)
{
	char line[512], want[512];
	bool found = false;
	int fd = openat(worker_run_dir(src->wk), src->seek_file, O_RDONLY | O_CLOEXEC);
	FILE *f = fd != -1 ? fdopen(fd, "r") : NULL;
	if (f == NULL)
		return false;
	(void)seek_line(src, tp, want, sizeof want);
	while (fgets(line, sizeof line, f) != NULL)
		if (strlen(line) > SEEK_TAG && strcmp(line + SEEK_TAG, want + SEEK_TAG) == 0)
			found = strcmp(line, want) == 0;
	fclose(f);
	return found;
}

static void
seek_note(const struct kafka_source *src, const rd_kafka_topic_partition_t *tp)
{
	char line[512];
	int n = seek_line(src, tp, line, sizeof line);
	int fd = openat(worker_run_dir(src->wk), src->seek_file,
	    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd == -1)
		return; /* it is done again after a restart */
	(void)!write(fd, line, (size_t)n);
	close(fd);
}

static bool
seeks(const struct kafka_source *src, const rd_kafka_topic_partition_t *tp)
{
	return src->conf->seek_to != KAFKA_SEEK_NOT && !seek_is_done(src, tp);
}

static rd_kafka_resp_err_t
set_start(
    struct kafka_member *m, rd_kafka_topic_partition_t *tp, rd_kafka_topic_partition_list_t *chosen)
{
	int64_t first, end;
	bool seek = seeks(m->src, tp), pins = m->conf->auto_offset_reset == KAFKA_RESET_LATEST;
	if (!seek && (tp->offset >= 0 || !pins))
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	rd_kafka_resp_err_t err =
	    rd_kafka_query_watermark_offsets(m->rk, tp->topic, tp->partition, &first, &end, ASK_MS);
	if (err != RD_KAFKA_RESP_ERR_NO_ERROR)
		return err;
	tp->offset = seek && m->conf->seek_to == KAFKA_SEEK_BEGINNING ? first : end;
	rd_kafka_topic_partition_list_add(chosen, tp->topic, tp->partition)->offset = tp->offset;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* On a thread of the pool. */
static void
find_starts(struct loop_work *w)
{
	struct kafka_member *m = CONTAINER_OF(w, struct kafka_member, work);
	struct kafka_rebalance *rb = LIST_FIRST(&m->rebalances, struct kafka_rebalance, node);
	rd_kafka_topic_partition_list_t *chosen = rd_kafka_topic_partition_list_new(rb->list->cnt);
	rb->doing = "ask for the offsets of the group";
	rb->problem = rd_kafka_committed(m->rk, rb->list, ASK_MS);
	for (int i = 0; i < rb->list->cnt && rb->problem == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
		rb->doing = "find where to begin";
		rb->problem = set_start(m, &rb->list->elems[i], chosen);
	}
	if (rb->problem == RD_KAFKA_RESP_ERR_NO_ERROR && chosen->cnt > 0) {
		rb->doing = "commit where to begin";
		rb->problem = rd_kafka_commit(m->rk, chosen, 0);
	}
	for (int i = 0; i < chosen->cnt && rb->problem == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
		if (m->conf->seek_to != KAFKA_SEEK_NOT)
			seek_note(m->src, &chosen->elems[i]);
	rd_kafka_topic_partition_list_destroy(chosen);
}

/* ---- a rebalance ---- */

static void rebalance_next(struct kafka_member *m);

static bool
is_cooperative(const struct kafka_member *m)
{
	return strcmp(rd_kafka_rebalance_protocol(m->rk), "COOPERATIVE") == 0;
}

static void
rebalance_end(struct kafka_member *m, struct kafka_rebalance *rb)
{
	list_remove(&rb->node);
	rd_kafka_topic_partition_list_destroy(rb->list);
	free(rb);
	m->too_late = m->too_late && m->state != KAFKA_MEMBER_RUNNING;
	if (m->state == KAFKA_MEMBER_RUNNING)
		loop_timer_stop(&m->limit);
	rebalance_next(m);
	kafka_pump_soon(m);
	kafka_member_progress(m);
}

/* `list` NULL: none. */
static void
tell(struct kafka_member *m, const rd_kafka_topic_partition_list_t *list, bool comes)
{
	rd_kafka_error_t *error = NULL;
	rd_kafka_resp_err_t err = RD_KAFKA_RESP_ERR_NO_ERROR;
	if (!is_cooperative(m))
		err = rd_kafka_assign(m->rk, comes ? list : NULL);
	else if (comes)
		error = rd_kafka_incremental_assign(m->rk, list);
	else
		error = rd_kafka_incremental_unassign(m->rk, list);
	if (error != NULL)
		err = rd_kafka_error_code(error);
	if (err != RD_KAFKA_RESP_ERR_NO_ERROR)
		log_error("route %s: partitions cannot be %s: %s", m->src->route->id,
		    comes ? "taken" : "given up",
		    error != NULL ? rd_kafka_error_string(error) : rd_kafka_err2str(err));
	if (error != NULL)
		rd_kafka_error_destroy(error);
}

static void
assign_end(struct kafka_member *m, struct kafka_rebalance *rb)
{
	if (rb->problem != RD_KAFKA_RESP_ERR_NO_ERROR) {
		log_warning("route %s: cannot %s: %s", m->src->route->id, rb->doing,
		    rd_kafka_err2str(rb->problem));
		for (int i = 0; i < rb->list->cnt; i++) /* librdkafka finds out by itself */
			rb->list->elems[i].offset = RD_KAFKA_OFFSET_INVALID;
	}
	if (m->state == KAFKA_MEMBER_RUNNING) {
		for (int i = 0; i < rb->list->cnt; i++)
			part_new(m, &rb->list->elems[i]);
		log_info("route %s: member %u has %u partitions", m->src->route->id, m->index,
		    m->parts_n);
	}
	tell(m, rb->list, true);
	rebalance_end(m, rb);
}

static void
starts_found(struct loop_work *w)
{
	struct kafka_member *m = CONTAINER_OF(w, struct kafka_member, work);
	m->working = false;
	assign_end(m, LIST_FIRST(&m->rebalances, struct kafka_rebalance, node));
}

static void
assign_begin(struct kafka_member *m, struct kafka_rebalance *rb)
{
	if (rb->list->cnt == 0 || m->state != KAFKA_MEMBER_RUNNING) {
		assign_end(m, rb);
		return;
	}
	m->working = true;
	loop_work_start(worker_loop(m->wk), &m->work, find_starts, starts_found);
}

static void
revoke_begin(struct kafka_member *m, struct kafka_rebalance *rb)
{
	int64_t limit = m->conf->shutdown_timeout_ms;
	if (m->conf->max_poll_interval_ms > 0 && limit > m->conf->max_poll_interval_ms / 2)
		limit = m->conf->max_poll_interval_ms / 2;
	LIST_FOREACH (&m->parts, node, next) {
		struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
		if (is_in(rb->list, part))
			part_leave(part);
	}
	kafka_batch_flush(m);
	if (m->state == KAFKA_MEMBER_RUNNING)
		loop_timer_start(&m->limit, limit, 0);
	kafka_assign_progress(m);
}

static void
revoke_end(struct kafka_member *m, struct kafka_rebalance *rb)
{
	uint32_t cut = 0;
	LIST_FOREACH (&m->parts, node, next) {
		struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
		if (!is_in(rb->list, part))
			continue;
		cut += part->running;
		part_gone(part);
	}
	if (cut > 0)
		log_warning("route %s: member %u gives up partitions with %u records in flight",
		    m->src->route->id, m->index, cut);
	tell(m, rb->list, false);
	rebalance_end(m, rb);
}

/* Must it still wait for something of the partitions that go? */
static bool
is_unfinished(const struct kafka_member *m)
{
	bool waits = m->committing;
	LIST_FOREACH (&m->parts, node, next) {
		const struct kafka_part *part = LIST_ENTRY(node, struct kafka_part, node);
		if (!part->leaving)
			continue;
		int64_t offset = kafka_part_committable(part);
		waits = waits || part->running > 0 || (offset >= 0 && offset != part->committed);
	}
	return waits;
}

void
kafka_assign_progress(struct kafka_member *m)
{
	if (list_empty(&m->rebalances) || m->working)
		return;
	struct kafka_rebalance *rb = LIST_FIRST(&m->rebalances, struct kafka_rebalance, node);
	if (rb->code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
		return;
	bool gives_up = rb->lost || m->commit_hopeless || (m->too_late && !m->committing);
	if (!gives_up && is_unfinished(m)) {
		if (!m->commit_failed && !m->too_late)
			kafka_commit_now(m);
		return;
	}
	m->commit_hopeless = m->commit_failed = false;
	revoke_end(m, rb);
}

static void
rebalance_next(struct kafka_member *m)
{
	if (list_empty(&m->rebalances))
		return;
	struct kafka_rebalance *rb = LIST_FIRST(&m->rebalances, struct kafka_rebalance, node);
	if (rb->code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
		assign_begin(m, rb);
	else
		revoke_begin(m, rb);
}

void
kafka_assign_event(struct kafka_member *m, rd_kafka_event_t *ev)
{
	struct kafka_rebalance *rb = MEM_NEW(struct kafka_rebalance);
	bool first = list_empty(&m->rebalances);
	rb->code = rd_kafka_event_error(ev);
	const rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(ev);
	rb->list = list != NULL ? rd_kafka_topic_partition_list_copy(list)
				: rd_kafka_topic_partition_list_new(0);
	rb->lost =
	    rb->code != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS && rd_kafka_assignment_lost(m->rk);
	if (rb->code != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS &&
	    rb->code != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
		log_error("route %s: the group failed to share its partitions: %s",
		    m->src->route->id, rd_kafka_err2str(rb->code));
	if (rb->lost)
		log_warning(
		    "route %s: member %u has lost its partitions", m->src->route->id, m->index);
	if (rb->code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
		kafka_member_check_topics(m, rb->list);
	list_append(&m->rebalances, &rb->node);
	if (first)
		rebalance_next(m);
}

void
kafka_assign_drop(struct kafka_member *m)
{
	while (!list_empty(&m->rebalances)) {
		struct kafka_rebalance *rb =
		    LIST_FIRST(&m->rebalances, struct kafka_rebalance, node);
		list_remove(&rb->node);
		rd_kafka_topic_partition_list_destroy(rb->list);
		free(rb);
	}
	while (!list_empty(&m->parts))
		part_gone(LIST_FIRST(&m->parts, struct kafka_part, node));
}
