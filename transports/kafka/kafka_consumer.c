/* Sources and their members: start, stop, what goes wrong. */
#include "transports/kafka/kafka_consumer.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "transports/kafka/kafka_client.h"
#include "transports/kafka/kafka_error.h"
#include "transports/kafka/kafka_java.h"
#include "transports/kafka/kafka_priv.h"
#include "transports/kafka/kafka_props.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	COMPLAINT_MS = 30000, /* the same error is told again after so long */
	/* Before a member begins anew, and at most; one that has run for so long begins with the first. */
	RESTART_MS = 1000,
	RESTART_MAX_MS = 30000,
	RESTART_FORGET_MS = 60000,
	/* What a partition has fetched ahead, more or less. */
	AHEAD_KBYTES = 256,
	AHEAD_RECORDS = 1000,
	RECEIVE_DEFAULT = 99000000, /* answers up to here are taken without being told */
};

static void member_open(struct kafka_member *m);

/* ---- the end ---- */

/* Before the next one may begin. */
static void
leave_place(struct kafka_source *src)
{
	if (src->place_fd != -1)
		close(src->place_fd);
	src->place_fd = -1;
}

static void
source_closed(struct kafka_source *src)
{
	if (--src->open_n > 0 || !src->stopped)
		return;
	leave_place(src);
	worker_source_stopped(src->wk);
}

static int64_t
restart_delay(struct kafka_member *m)
{
	int64_t ran = monotime_ms_between(m->opened, loop_now(worker_loop(m->wk)));
	if (m->restart_ms == 0 || ran >= RESTART_FORGET_MS)
		m->restart_ms = RESTART_MS;
	else
		m->restart_ms = m->restart_ms * 2 < RESTART_MAX_MS ? m->restart_ms * 2 : RESTART_MAX_MS;
	return m->restart_ms;
}

static void
destroyed(struct loop_work *w)
{
	struct kafka_member *m = CONTAINER_OF(w, struct kafka_member, work);
	m->working = false;
	if (m->restarts && !m->src->stopped && !kafka_state_of(m->wk)->ended)
		loop_timer_start(&m->restart, restart_delay(m), 0);
}

static void
destroy(struct loop_work *w)
{
	struct kafka_member *m = CONTAINER_OF(w, struct kafka_member, work);
	kafka_assign_fini(m);
	rd_kafka_queue_destroy(m->heartbeat);
	m->heartbeat = NULL;
	rd_kafka_destroy_flags(m->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	m->rk = NULL;
}

/* The client goes when nothing of it is held any more. */
static void
member_destroy(struct kafka_member *m)
{
	if (m->state != KAFKA_MEMBER_CLOSED || m->rk == NULL || m->working || m->running > 0)
		return;
	m->working = true;
	loop_work_start(worker_loop(m->wk), &m->work, destroy, destroyed);
}

static void
member_closed(struct kafka_member *m)
{
	kafka_assign_drop(m);
	loop_timer_stop(&m->tick);
	loop_timer_stop(&m->limit);
	kafka_queue_close(&m->events);
	m->state = KAFKA_MEMBER_CLOSED;
	for (unsigned i = 0; i < m->src->members_n; i++) /* which may have waited for it */
		if (m->src->members[i].state == KAFKA_MEMBER_FINISHING)
			kafka_member_progress(&m->src->members[i]);
	source_closed(m->src);
	member_destroy(m);
}

static void
member_close(struct kafka_member *m)
{
	m->state = KAFKA_MEMBER_CLOSING;
	rd_kafka_error_t *error = rd_kafka_consumer_close_queue(m->rk, m->events.queue);
	loop_timer_start(&m->tick, KAFKA_CLOSING_MS, KAFKA_CLOSING_MS); /* its end is no event */
	if (error == NULL)
		return;
	log_debug("route %s: member %u closes: %s", m->src->route->id, m->index,
	    rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
	member_closed(m);
}

/* One that leaves while it is joining must be let in first, which needs those that are in. */
static bool
others_leave(const struct kafka_member *m)
{
	for (unsigned i = 0; i < m->src->members_n && !m->leaves; i++) {
		const struct kafka_member *other = &m->src->members[i];
		if (other->leaves && other->state != KAFKA_MEMBER_CLOSED)
			return true;
	}
	return false;
}

/* Nothing is in flight and nothing to be committed, or it takes too long. */
static bool
may_close(struct kafka_member *m)
{
	if (m->working || !list_empty(&m->rebalances))
		return false; /* which is answered first */
	if (m->too_late || m->commit_hopeless)
		return !m->committing;
	if (m->running > 0 || others_leave(m))
		return false;
	if (!kafka_commit_pending(m))
		return true;
	if (!m->commit_failed)
		kafka_commit_now(m);
	return false;
}

static void
member_progress(struct kafka_member *m)
{
	kafka_assign_progress(m);
	if (m->state == KAFKA_MEMBER_FINISHING && may_close(m)) {
		if (m->leaves && !m->commit_hopeless && !m->yields)
			kafka_member_leave(m);
		else
			member_close(m);
	}
	if (m->state == KAFKA_MEMBER_LEAVING && kafka_member_has_left(m))
		member_close(m);
	if (m->state == KAFKA_MEMBER_CLOSING && rd_kafka_consumer_closed(m->rk))
		member_closed(m);
	if (m->state == KAFKA_MEMBER_CLOSED)
		member_destroy(m);
}

void
kafka_member_progress(struct kafka_member *m)
{
	m->asks = true;
	loop_defer(worker_loop(m->wk), &m->pump);
}

static void
member_finish(struct kafka_member *m)
{
	if (m->state != KAFKA_MEMBER_RUNNING)
		return;
	m->state = KAFKA_MEMBER_FINISHING;
	kafka_batch_drop(m);
	LIST_FOREACH (&m->parts, node, next)
		kafka_part_stop(LIST_ENTRY(node, struct kafka_part, node));
	loop_timer_start(&m->limit, m->conf->shutdown_timeout_ms, 0);
	kafka_member_progress(m);
}

static void
limit_over(struct loop_timer *t)
{
	struct kafka_member *m = CONTAINER_OF(t, struct kafka_member, limit);
	m->too_late = true;
	kafka_commit_now(m); /* what is done */
	if (m->state != KAFKA_MEMBER_RUNNING && m->running > 0)
		log_warning("route %s: member %u ends with %u records in flight, which come again",
		    m->src->route->id, m->index, m->running);
	kafka_member_progress(m);
}

void
kafka_member_restart(struct kafka_member *m, const char *why)
{
	if (m->state != KAFKA_MEMBER_RUNNING)
		return;
	if (why == NULL)
		log_error("route %s: member %u of its consumer stops", m->src->route->id, m->index);
	else if (m->fenced)
		log_error("route %s: member %u is fenced: another client has its name \"%s\" in the group "
			  "\"%s\"; it waits until that has gone",
		    m->src->route->id, m->index, m->name, m->src->group);
	else
		log_warning("route %s: member %u of its consumer begins anew: %s",
		    m->src->route->id, m->index, why);
	m->restarts = why != NULL;
	m->leaves = why == NULL; /* others go on, or come to the same end */
	member_finish(m);
}

/* ---- what goes wrong ---- */

/* The same again and again is told now and then. */
static bool
is_news(struct kafka_member *m, rd_kafka_resp_err_t code)
{
	struct monotime now = loop_now(worker_loop(m->wk));
	bool news = code != m->complaint || monotime_ms_between(m->complained, now) >= COMPLAINT_MS;
	if (news) {
		m->complaint = code;
		m->complained = now;
	}
	return news;
}

/* Librdkafka goes on by itself: with the next broker, the next try, the topic when it is there. */
static bool
is_connection(rd_kafka_resp_err_t code)
{
	return code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__RESOLVE ||
	    code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || code == RD_KAFKA_RESP_ERR__TIMED_OUT ||
	    code == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED;
}

static void
failed_done(struct exchange *ex)
{
	struct kafka_member *m = ex->owner;
	worker_exchange_free(m->wk, &ex);
}

static void
to_error_handler(struct kafka_member *m, rd_kafka_resp_err_t code, const char *text)
{
	struct exchange *ex = worker_exchange_new(m->wk, m->src->route);
	ex->owner = m;
	ex->done = failed_done;
	exchange_fail(ex, kafka_error_exception(code), "%s", text);
	worker_exchange_start_failed(m->wk, ex);
}

void
kafka_member_poll_failed(
    struct kafka_member *m, struct kafka_part *part, rd_kafka_resp_err_t code, const char *text)
{
	const char *route = m->src->route->id;
	if (m->state != KAFKA_MEMBER_RUNNING || !is_news(m, code))
		return;
	if (part != NULL)
		log_error("route %s: %s-%d: %s", route, part->topic, (int)part->partition, text);
	else if (is_connection(code))
		log_warning("route %s: %s", route, text);
	else
		log_error("route %s: %s", route, text);
	if (is_connection(code))
		return;
	switch (m->conf->poll_on_error) {
	case KAFKA_POLL_ERROR_HANDLER:
		to_error_handler(m, code, text);
		break;
	case KAFKA_POLL_RECONNECT:
		kafka_member_restart(m, text);
		break;
	case KAFKA_POLL_STOP:
		kafka_member_restart(m, NULL);
		break;
	default: /* DISCARD, RETRY: the client goes on */
		break;
	}
}

static void
member_error(struct kafka_member *m, rd_kafka_event_t *ev)
{
	const char *text = rd_kafka_event_error_string(ev);
	rd_kafka_resp_err_t code = kafka_error_code(rd_kafka_event_error(ev), text);
	char fatal[512];
	if (rd_kafka_event_error_is_fatal(ev) || code == RD_KAFKA_RESP_ERR__FATAL) {
		code = rd_kafka_fatal_error(m->rk, fatal, sizeof fatal);
		m->commit_hopeless = true;
		m->fenced = code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
		if (m->state == KAFKA_MEMBER_RUNNING && !m->fenced)
			log_error("route %s: %s", m->src->route->id, fatal);
		kafka_member_restart(m, rd_kafka_err2str(code));
		kafka_member_progress(m);
		return;
	}
	kafka_member_poll_failed(m, NULL, code, text);
}

static void
member_event(struct kafka_queue *q, rd_kafka_event_t *ev)
{
	struct kafka_member *m = CONTAINER_OF(q, struct kafka_member, events);
	if (kafka_log_event(ev))
		return;
	switch (rd_kafka_event_type(ev)) {
	case RD_KAFKA_EVENT_REBALANCE:
		kafka_assign_event(m, ev);
		break;
	case RD_KAFKA_EVENT_OFFSET_COMMIT:
		kafka_commit_event(m, ev);
		break;
	case RD_KAFKA_EVENT_ERROR:
		member_error(m, ev);
		break;
	case RD_KAFKA_EVENT_DESCRIBECONSUMERGROUPS_RESULT:
		kafka_name_answer(m, ev);
		break;
	default:
		break;
	}
	if (m->state == KAFKA_MEMBER_CLOSING)
		kafka_member_progress(m);
}

/* ---- the loop ---- */

static void
member_woken(struct loop_wake *w)
{
	kafka_pump(CONTAINER_OF(w, struct kafka_member, wake));
}

static void
member_pump(struct loop_defer *d)
{
	struct kafka_member *m = CONTAINER_OF(d, struct kafka_member, pump);
	kafka_pump(m);
	if (m->asks) {
		m->asks = false;
		member_progress(m);
	}
}

static void
member_tick(struct loop_timer *t)
{
	struct kafka_member *m = CONTAINER_OF(t, struct kafka_member, tick);
	(void)rd_kafka_consume_queue(m->heartbeat, 0); /* empty: it only counts as a poll */
	kafka_assign_sweep(m);
	kafka_commit_tick(m);
	kafka_name_tick(m);
	LIST_FOREACH (&m->parts, node, next)
		kafka_part_publish(LIST_ENTRY(node, struct kafka_part, node));
	kafka_member_progress(m);
}

/* ---- the beginning ---- */

/* The user may have given another. */
static size_t
number_of(const rd_kafka_conf_t *conf, const char *name)
{
	char text[32] = "0";
	size_t n = sizeof text;
	(void)rd_kafka_conf_get(conf, name, text, &n); /* it has that one */
	return strtoul(text, NULL, 10);
}

static rd_kafka_conf_t *
member_conf(struct kafka_member *m, struct hinny_error *err)
{
	rd_kafka_conf_t *conf = kafka_props_conf(&m->src->props, &m->poll, err);
	char text[256];
	if (conf == NULL)
		return NULL;
	if (rd_kafka_conf_set(conf, "group.id", m->src->group, text, sizeof text) !=
		RD_KAFKA_CONF_OK ||
	    rd_kafka_conf_set(conf, "group.instance.id", m->name, text, sizeof text) !=
		RD_KAFKA_CONF_OK) {
		hinny_error_set(err, HINNY_EINVAL, "%s", text);
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	m->ahead.records = number_of(conf, "queued.min.messages");
	m->ahead.bytes = number_of(conf, "queued.max.messages.kbytes") * 1024;
	rd_kafka_conf_set_events(conf,
	    RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_ERROR |
		RD_KAFKA_EVENT_LOG);
	return conf;
}

static enum hinny_rc
client_new(struct kafka_member *m, struct hinny_error *err)
{
	rd_kafka_conf_t *conf = member_conf(m, err);
	if (conf == NULL)
		return HINNY_EINVAL;
	enum hinny_rc rc = kafka_props_client(RD_KAFKA_CONSUMER, conf, &m->rk, err);
	if (rc != HINNY_OK)
		return rc;
	(void)rd_kafka_poll_set_consumer(m->rk);   /* fails without a group only */
	(void)rd_kafka_set_log_queue(m->rk, NULL); /* to the main queue */
	rc = kafka_queue_open(
	    worker_loop(m->wk), &m->events, rd_kafka_queue_get_consumer(m->rk), member_event, err);
	if (rc == HINNY_OK && !m->yields)
		rc = kafka_member_subscribe(m, err);
	if (rc == HINNY_OK) {
		m->heartbeat = rd_kafka_queue_new(m->rk);
		return HINNY_OK;
	}
	kafka_queue_close(&m->events);
	rd_kafka_destroy(m->rk);
	m->rk = NULL;
	return rc;
}

static void
member_open(struct kafka_member *m)
{
	struct hinny_error err;
	m->yields = m->fenced;
	m->restarts = m->leaves = m->fenced = m->too_late = m->committing = m->commit_failed =
	    m->commit_hopeless = false;
	if (client_new(m, &err) != HINNY_OK) {
		log_error("route %s: member %u of its consumer cannot be started: %s",
		    m->src->route->id, m->index, err.text);
		loop_timer_start(&m->restart, COMPLAINT_MS, 0);
		return;
	}
	m->state = KAFKA_MEMBER_RUNNING;
	m->src->open_n++;
	m->opened = m->ask_due = loop_now(worker_loop(m->wk));
	m->commit_due = monotime_add_ms(m->opened, m->conf->auto_commit_interval_ms);
	loop_timer_start(&m->tick, KAFKA_TICK_MS, KAFKA_TICK_MS);
}

static void
restart_now(struct loop_timer *t)
{
	member_open(CONTAINER_OF(t, struct kafka_member, restart));
}

static enum hinny_rc
member_init(struct kafka_source *src, unsigned i, struct hinny_error *err)
{
	struct kafka_member *m = &src->members[i];
	struct loop *lp = worker_loop(src->wk);
	m->src = src;
	m->wk = src->wk;
	m->conf = src->conf;
	m->index = i;
	m->name = kafka_instance_name(&src->arena, src->wk, src->route, src->place, src->conf, i);
	m->state = KAFKA_MEMBER_CLOSED;
	list_init(&m->parts);
	list_init(&m->lost);
	list_init(&m->rests);
	list_init(&m->woken);
	list_init(&m->rebalances);
	loop_defer_init(&m->pump, member_pump);
	loop_timer_init(lp, &m->tick, member_tick);
	loop_timer_init(lp, &m->limit, limit_over);
	loop_timer_init(lp, &m->restart, restart_now);
	kafka_poll_init(&m->poll);
	kafka_batch_init(m);
	return loop_wake_init(lp, &m->wake, member_woken, err);
}

/* ---- sources ---- */

/* What librdkafka is given beside the options that are named alike. */
static void
source_props(struct kafka_source *src)
{
	static const char *const resets[] = { "latest", "earliest", "error" };
	const struct kafka_conf *conf = src->conf;
	struct arena *a = &src->arena;
	struct pairs own = { 0 };
	kafka_props_add(
	    a, &own, "queued.max.messages.kbytes", arena_printf(a, "%d", AHEAD_KBYTES));
	kafka_props_add(a, &own, "queued.min.messages", arena_printf(a, "%d", AHEAD_RECORDS));
	if (conf->fetch_max_bytes > RECEIVE_DEFAULT)
		kafka_props_add(a, &own, "receive.message.max.bytes",
		    arena_printf(a, "%lld", (long long)conf->fetch_max_bytes + 512));
	kafka_props_add(a, &own, "auto.offset.reset", resets[conf->auto_offset_reset]);
	kafka_props_add(a, &own, "partition.assignment.strategy", src->assignor);
	kafka_props_add(a, &own, "enable.partition.eof", "true");
	kafka_props_add(a, &own, "enable.auto.commit", "false");
	kafka_props_add(a, &own, "enable.auto.offset.store", "false");
	for (size_t i = 0; i < own.n; i++)
		kafka_props_add(a, &src->props, own.items[i].key, own.items[i].value);
	/* what the user has given wins */
	for (size_t i = 0; i < conf->properties.n; i++)
		if (strncmp(conf->properties.items[i].key, "queued.", 7) == 0)
			kafka_props_add(a, &src->props, conf->properties.items[i].key,
			    conf->properties.items[i].value);
}

static void
source_names(struct kafka_source *src)
{
	const struct kafka_conf *conf = src->conf;
	struct arena *a = &src->arena;
	const char *why;
	src->group =
	    conf->group_id != NULL ? conf->group_id : kafka_group_name(a, src->wk, src->route);
	src->place = kafka_place_name(a, src->wk, src->route, src->group, &src->place_fd);
	src->seek_file = arena_printf(a, "kafka-seek.%08x", str_hash(str_of(src->route->id)));
	if (conf->topic_is_pattern)
		src->pattern = kafka_topic_pattern(a, conf->topic, &why); /* checked at load */
	kafka_message_names(src);
}

static uint32_t
records_at_once(const struct kafka_conf *conf)
{
	if (conf->batching)
		return (uint32_t)conf->max_poll_records;
	return conf->break_on_error ? 1 : (uint32_t)conf->max_in_flight;
}

/* What can be wrong with keys and properties shows when a client is made of them. */
enum hinny_rc
kafka_consumer_prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	const struct kafka_conf *opts = ep->conf;
	struct arena a;
	struct pairs props;
	rd_kafka_t *rk;
	arena_init(&a);
	kafka_props_make(&a, ep, worker_generation_dir(wk), &props);
	kafka_props_add(&a, &props, "bootstrap.servers", ""); /* nothing is asked of a broker yet */
	rd_kafka_conf_t *conf = kafka_props_conf(&props, NULL, err);
	enum hinny_rc rc = conf != NULL ? HINNY_OK : HINNY_EINVAL;
	if (conf != NULL && (opts->tls || opts->properties.n > 0)) {
		rc = kafka_props_client(RD_KAFKA_CONSUMER, conf, &rk, err);
		if (rc == HINNY_OK)
			rd_kafka_destroy(rk);
	} else if (conf != NULL) {
		rd_kafka_conf_destroy(conf);
	}
	arena_fini(&a);
	return rc;
}

enum hinny_rc
kafka_consumer_start(
    struct worker *wk, struct endpoint *ep, const struct route *route, struct hinny_error *err)
{
	struct kafka_source *src = MEM_NEW(struct kafka_source);
	const struct kafka_conf *conf = ep->conf;
	src->wk = wk;
	src->ep = ep;
	src->route = route;
	src->conf = conf;
	src->place_fd = -1;
	arena_init(&src->arena);
	ep->impl = src;
	list_append(&kafka_state_of(wk)->sources, &src->node);
	src->cap = records_at_once(conf);
	src->ordered = conf->key_order && src->cap > 1 && !conf->batching;
	src->names_both = worker_settings(wk)->kafka_headers == 1;
	src->commits_good = conf->batching || (conf->allow_manual_commit && !conf->auto_commit);
	src->assignor = kafka_assignor(conf->partition_assignor);
	enum hinny_rc rc = HINNY_OK;
	kafka_props_make(&src->arena, ep, worker_generation_dir(wk), &src->props);
	source_props(src);
	source_names(src);
	src->members_n = (uint32_t)conf->consumers;
	src->members = mem_zalloc(src->members_n * sizeof src->members[0]);
	for (unsigned i = 0; i < src->members_n; i++)
		if ((rc = member_init(src, i, err)) != HINNY_OK)
			return rc;
	for (unsigned i = 0; i < src->members_n; i++)
		member_open(&src->members[i]);
	return HINNY_OK;
}

void
kafka_consumer_stop(struct worker *wk, struct endpoint *ep)
{
	struct kafka_source *src = ep->impl;
	if (src == NULL || src->stopped)
		return;
	src->stopped = true;
	kafka_members_choose(src);
	if (src->open_n > 0)
		worker_source_stopping(wk);
	else
		leave_place(src);
	for (unsigned i = 0; i < src->members_n; i++) {
		loop_timer_stop(&src->members[i].restart);
		member_finish(&src->members[i]);
	}
}

/* The process ends. A client that still has records in flight goes with it. */
void
kafka_consumer_release(struct worker *wk, struct endpoint *ep)
{
	struct kafka_source *src = ep->impl;
	if (src == NULL)
		return;
	ep->impl = NULL;
	list_remove(&src->node);
	for (unsigned i = 0; i < src->members_n; i++) {
		struct kafka_member *m = &src->members[i];
		if (m->wk == NULL)
			break; /* never begun */
		if (m->state != KAFKA_MEMBER_CLOSED)
			kafka_queue_close(&m->events);
		kafka_assign_drop(m);
		if (m->rk != NULL && !m->working)
			kafka_assign_fini(m);
		kafka_batch_fini(m);
		loop_defer_cancel(&m->pump);
		loop_timer_close(&m->tick, NULL);
		loop_timer_close(&m->limit, NULL);
		loop_timer_close(&m->restart, NULL);
		loop_wake_close(&m->wake);
	}
	leave_place(src);
	arena_fini(&src->arena);
	loop_free_later(worker_loop(wk), src->members);
	loop_free_later(worker_loop(wk), src);
}
