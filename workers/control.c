/*
 * What the supervisor tells a worker, and what the worker says. The table at the end is all of it. The end of the socket is the end of hinnyd: then nothing new is
 * taken in, what is in flight is finished for a few seconds, and the process exits.
 */
#include "workers/worker_priv.h"

#include "core/base/log.h"
#include "workers/fds.h"

#include <unistd.h>

enum { ORPHAN_QUIET_MS = 500, ORPHAN_LAST_MS = 1000 };

static void
say(struct worker *wk, const struct control_message *m)
{
	struct hinny_error err;
	if (channel_send(wk->control, m, &err) != HINNY_OK)
		log_error("cannot tell the supervisor of %s: %s", control_name(m->type), err.text);
}

/* May the process end? Nothing is in flight and nothing waits to be written. */
static bool
is_idle(struct worker *wk)
{
	return wk->inflight == 0 && wk->sends == 0 && wk->sources_stopping == 0 && ipc_calls_out(wk->ipc) == 0 && ipc_calls_in(wk->ipc) == 0 && states_pending(wk) == 0 &&
	    (wk->kind->busy == NULL || !wk->kind->busy(wk));
}

static void
on_start(struct worker *wk, const struct control_message *m)
{
	(void)m;
	if (wk->state != WORKER_READY)
		return;
	wk->state = WORKER_SERVING;
	consumers_start(wk, false);
	if (wk->kind->start != NULL)
		wk->kind->start(wk);
}

static void
on_start_sources(struct worker *wk, const struct control_message *m)
{
	(void)m;
	if (wk->state == WORKER_SERVING && !wk->exclusive_started)
		consumers_start(wk, true);
}

static void
begin_drain(struct worker *wk)
{
	wk->state = WORKER_DRAINING;
	consumers_stop(wk);
	if (wk->kind->drain != NULL)
		wk->kind->drain(wk);
}

static void
on_drain(struct worker *wk, const struct control_message *m)
{
	wk->drain_final = wk->engine.stopping = m->drain.final;
	wk->drain_pings = 0;
	begin_drain(wk);
	wk->says_stopped = true;
	control_say_stopped(wk);
}

static void
all_drain(struct worker *wk)
{
	if (wk->kind->all_drain != NULL)
		wk->kind->all_drain(wk);
}

/* The second round of pings begins when all have answered the first, behind their DRAIN. */
static void
on_ping(struct worker *wk, const struct control_message *m)
{
	if (wk->state == WORKER_DRAINING && wk->drain_final && ++wk->drain_pings == 2)
		all_drain(wk);
	struct control_message pong = { .type = FRAME_PONG, .fd = -1 };
	bool busy = wk->kind->busy != NULL && wk->kind->busy(wk);
	pong.pong = (struct control_pong){
		.sequence = m->ping.sequence,
		.exchanges = wk->inflight + (busy && wk->inflight == 0),
		.calls = ipc_calls_out(wk->ipc) + ipc_calls_in(wk->ipc) + states_pending(wk),
		.connections = PAGE_GET(wk->page->connections),
		.held = states_held(wk),
		.draining = wk->state == WORKER_DRAINING,
	};
	say(wk, &pong);
}

static void
on_stop(struct worker *wk, const struct control_message *m)
{
	(void)m;
	loop_stop(&wk->lp);
}

static void
on_peer_up(struct worker *wk, const struct control_message *m)
{
	int kind = kind_index(m->peer_up.kind);
	if (wk->ipc == NULL || kind < 0)
		return;
	if (m->peer_up.successor != 0)
		ipc_successor_up(wk->ipc, kind, m->peer_up.index, m->peer_up.incarnation, m->peer_up.successor);
	else if (m->peer_up.inbox.n > 0)
		ipc_peer_up(wk->ipc, kind, m->peer_up.index, m->peer_up.incarnation);
}

static void
on_peer_down(struct worker *wk, const struct control_message *m)
{
	int kind = kind_index(m->peer_down.kind);
	states_home_lost(wk, m->peer_down.incarnation);
	if (wk->ipc == NULL)
		return;
	char reason[256];
	snprintf(reason, sizeof reason, "%.*s", STR_FMT(m->peer_down.reason));
	ipc_peer_down(wk->ipc, m->peer_down.incarnation, m->peer_down.call_id, reason, m->peer_down.time_limit);
	if (m->peer_down.last && m->peer_down.index == 0 && kind >= 0)
		ipc_peer_last(wk->ipc, kind);
}

static void
on_listener(struct worker *wk, const struct control_message *m)
{
	/* A socket that lost its worker comes at the point of hand-over, just before START: what waits there is
	 * served by routes that run. */
	on_start(wk, m);
	if (wk->kind->listener != NULL && m->fd != -1)
		wk->kind->listener(wk, m->fd, m->listener.until_empty);
	else if (m->fd != -1)
		close(m->fd);
}

static void
on_log_level(struct worker *wk, const struct control_message *m)
{
	(void)wk;
	if (m->log_level.level <= LOG_LEVEL_DEBUG)
		log_set_level((enum log_level)m->log_level.level);
}

static void
on_send(struct worker *wk, const struct control_message *m)
{
	if (m->fd != -1)
		send_start(wk, m->send.endpoint, m->send.headers, m->fd);
}

static void
on_question(struct worker *wk, const struct control_message *m)
{
	struct buf out;
	buf_init(&out, 0);
	const struct component_desc *desc = component_find(m->question.name);
	const struct component_ops *ops = desc != NULL ? bind_find_component(wk, desc) : NULL;
	if (ops != NULL && ops->question != NULL) {
		(void)buf_add_str(&out, STR_LIT("{\"ok\":true,\"result\":")); /* no bound */
		ops->question(wk, m->question.argument, &out);
		(void)buf_add_str(&out, STR_LIT("}\n"));
	} else {
		(void)buf_add_str(&out, STR_LIT("{\"ok\":false,\"error\":\"unknown question\"}\n"));
	}
	reply_start(wk, m->fd, &out);
}

static void
on_trace(struct worker *wk, const struct control_message *m)
{
	if (m->fd != -1)
		trace_start(wk, &m->trace, m->fd);
}

static void
on_poison(struct worker *wk, const struct control_message *m)
{
	if (wk->ipc != NULL)
		ipc_note_poison(wk->ipc, m->poison.key);
}

/* ---- states ---- */

static void
on_state_save(struct worker *wk, const struct control_message *m)
{
	states_save(wk, m->state_save.generation, m->state_save.nodes);
}

static void
on_state_file(struct worker *wk, const struct control_message *m)
{
	if (m->fd == -1)
		return;
	states_load(wk, m->fd, m->state_file.bytes);
	close(m->fd);
}

static void
on_state_serve(struct worker *wk, const struct control_message *m)
{
	struct hinny_error err;
	if (m->state_serve.older && wk->ipc == NULL && worker_ipc_open(wk, &err) != HINNY_OK)
		log_error("older generations cannot ask for states: %s", err.text);
	states_serve(wk);
}

static void
on_state_end(struct worker *wk, const struct control_message *m)
{
	(void)states_end(wk, m->state_end.final);
}

static const struct {
	enum frame_type type;
	void (*fn)(struct worker *wk, const struct control_message *m);
} reactions[] = {
	{ FRAME_START, on_start },
	{ FRAME_START_SOURCES, on_start_sources },
	{ FRAME_DRAIN, on_drain },
	{ FRAME_PING, on_ping },
	{ FRAME_STOP, on_stop },
	{ FRAME_PEER_UP, on_peer_up },
	{ FRAME_PEER_DOWN, on_peer_down },
	{ FRAME_LISTENER, on_listener },
	{ FRAME_LOG_LEVEL, on_log_level },
	{ FRAME_SEND, on_send },
	{ FRAME_EVALUATE_ONE, evaluate_one },
	{ FRAME_QUESTION, on_question },
	{ FRAME_TRACE, on_trace },
	{ FRAME_POISON, on_poison },
	{ FRAME_STATE_SAVE, on_state_save },
	{ FRAME_STATE_FILE, on_state_file },
	{ FRAME_STATE_SERVE, on_state_serve },
	{ FRAME_STATE_END, on_state_end },
};

static void
control_message(void *owner, const struct control_message *m)
{
	for (size_t i = 0; i < ARRAY_LEN(reactions); i++) {
		if (reactions[i].type == m->type) {
			reactions[i].fn(owner, m);
			return;
		}
	}
	log_error("the supervisor sent a %s, which this worker does not know", control_name(m->type));
	if (m->fd != -1)
		close(m->fd);
}

/* ---- without a supervisor ---- */

/* One that others call must not go before them: it waits until nobody has called for a while; an owner of states until the others have gone, but leaves itself a moment
 * for what it does with them then. */
static bool
is_needed(struct worker *wk)
{
	uint64_t calls = PAGE_GET(wk->page->calls_done) + PAGE_GET(wk->page->calls_failed);
	if (!is_idle(wk) || calls != wk->orphan_calls) {
		wk->orphan_calls = calls;
		wk->orphan_quiet = loop_now(&wk->lp);
	}
	bool called = (kind_find(str_of(wk->kind->kind))->flags & KIND_STATELESS) != 0 || states_are_owned(wk);
	if (!is_idle(wk) || (called && monotime_ms_between(wk->orphan_quiet, loop_now(&wk->lp)) < ORPHAN_QUIET_MS))
		return true;
	return states_are_owned(wk) && !wk->states_ended && ipc_peers_left(wk->ipc) &&
	    monotime_ms_between(wk->orphaned_at, loop_now(&wk->lp)) < WORKER_ORPHAN_MS - ORPHAN_LAST_MS;
}

static void
orphan_tick(struct loop_timer *t)
{
	struct worker *wk = CONTAINER_OF(t, struct worker, orphan);
	bool late = monotime_ms_between(wk->orphaned_at, loop_now(&wk->lp)) >= WORKER_ORPHAN_MS;
	if (late && !is_idle(wk))
		log_warning("exchanges were cut off: the supervisor is gone and %u did not end in time", wk->inflight);
	if (!late && is_needed(wk))
		return;
	if (!late && !wk->states_ended && states_end(wk, true))
		wk->states_ended = true; /* what this has begun is finished, too */
	else
		loop_stop(&wk->lp);
}

static void
control_closed(void *owner, const struct hinny_error *err)
{
	struct worker *wk = owner;
	if (wk->args.evaluate) { /* hinny eval has what it wanted */
		loop_stop(&wk->lp);
		return;
	}
	log_warning("the supervisor is gone (%s); finishing", err->text);
	channel_free(wk->control);
	wk->control = NULL;
	wk->orphaned_at = wk->orphan_quiet = loop_now(&wk->lp);
	if (wk->state >= WORKER_SERVING) {
		wk->drain_final = wk->engine.stopping = true;
		begin_drain(wk);
		all_drain(wk); /* nobody says when */
	}
	loop_timer_init(&wk->lp, &wk->orphan, orphan_tick);
	loop_timer_start(&wk->orphan, 0, 20);
}

static const struct channel_ops control_ops = { .message = control_message, .closed = control_closed };

enum hinny_rc
control_open(struct worker *wk, struct hinny_error *err)
{
	wk->control = channel_new(&wk->lp, WORKER_FD_CONTROL, CONTROL_WORKER, &control_ops, wk, err);
	if (wk->control == NULL)
		return err->rc;
	struct control_message hello = { .type = FRAME_HELLO, .fd = -1 };
	hello.hello = (struct control_hello){
		.build = str_of(control_build),
		.kind = str_of(wk->kind->kind),
		.index = wk->args.index,
		.incarnation = wk->args.incarnation,
		.generation = wk->args.generation,
		.page_route = sizeof(struct page_route),
	};
	return channel_send(wk->control, &hello, err);
}

void
control_say_refused(struct worker *wk, const char *text, size_t problems)
{
	struct control_message m = { .type = FRAME_REFUSED, .fd = -1 };
	m.refused = (struct control_refused){ .text = str_of(text), .problems = (uint32_t)problems };
	say(wk, &m);
	channel_flush(wk->control, 1000);
}

void
control_say_ready(struct worker *wk)
{
	char inbox[300] = "";
	if (wk->ipc != NULL)
		snprintf(inbox, sizeof inbox, "%s/%s.%u.%llu", wk->run_dir, wk->kind->kind, wk->args.index,
		    (unsigned long long)wk->args.incarnation);
	struct control_message m = { .type = FRAME_READY, .fd = -1 };
	m.ready = (struct control_ready){
		.kind = str_of(wk->kind->kind),
		.incarnation = wk->args.incarnation,
		.generation = wk->args.generation,
		.inbox = str_of(inbox),
	};
	say(wk, &m);
	if (wk->args.check)
		channel_flush(wk->control, 1000);
}

void
control_say_state_saved(struct worker *wk, int fd, uint64_t bytes, uint64_t records, uint64_t lost)
{
	struct control_message m = { .type = FRAME_STATE_SAVED, .fd = fd };
	m.state_saved = (struct control_state_saved){ .bytes = bytes, .records = records, .lost = lost };
	if (wk->control != NULL)
		say(wk, &m);
}

void
control_say_stopped(struct worker *wk)
{
	if (wk->control == NULL || !wk->says_stopped || wk->sources_stopping > 0)
		return;
	wk->says_stopped = false;
	(void)channel_send_type(wk->control, FRAME_SOURCES_STOPPED); /* a full channel is noticed by the ping */
}

void
control_say_poison(struct worker *wk, uint64_t key)
{
	struct control_message m = { .type = FRAME_POISON, .fd = -1 };
	m.poison.key = key;
	if (wk->control != NULL)
		say(wk, &m);
}
