/*
 * The inbox: one PULL socket a worker, always drained; frames go to the side that they belong to. A frame that is broken, of an unknown type or from a stranger is
 * dropped with a log line.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <nng/protocol/pipeline0/pull.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t
id_incarnation(uint64_t call_id)
{
	return call_id >> 40;
}

static void
on_chunk(struct ipc *ipc, uint64_t id, struct frame_reader *r)
{
	struct str bytes = frame_get_str(r);
	struct ipc_receiver *rc = receiver_find(ipc, id);
	if (rc != NULL && frame_end(r))
		receiver_chunk(rc, bytes);
}

static void
on_credit(struct ipc *ipc, uint64_t id, struct frame_reader *r)
{
	uint32_t n = frame_get_u32(r);
	if (!frame_end(r))
		return;
	struct ipc_served *sc = id_incarnation(id) != ipc->opt.incarnation ? served_find(ipc, id) : NULL;
	if (sc != NULL && sc->state == SERVED_RUNNING)
		serve_item_credit(sc, n);
	else
		sender_credit(ipc, id, n);
}

static void
on_abort(struct ipc *ipc, uint64_t id, struct frame_reader *r)
{
	enum hinny_rc rc = frame_get_u8(r);
	struct str why = frame_get_str(r);
	if (!frame_end(r))
		return;
	char text[256];
	snprintf(text, sizeof text, "%.*s", STR_FMT(why));
	if (id_incarnation(id) == ipc->opt.incarnation) {
		call_on_abort(ipc, id, rc, text);
		return;
	}
	struct ipc_served *sc = served_find(ipc, id);
	if (sc != NULL)
		serve_on_abort(sc);
}

static void
on_frame(struct ipc *ipc, struct frame_reader *r, struct blob *blob)
{
	switch ((enum frame_type)r->type) {
	case FRAME_CALL:
	case FRAME_EVALUATE:
		serve_on_call(ipc, r, blob, r->type == FRAME_EVALUATE ? SERVE_EVALUATE : SERVE_STEPS);
		return;
	case FRAME_STATE:
		serve_on_call(ipc, r, blob, SERVE_STATE);
		return;
	case FRAME_STATE_VALUE:
		operation_on_value(ipc, r, blob);
		return;
	case FRAME_REPLY:
		call_on_reply(ipc, r, blob);
		return;
	case FRAME_VALUES:
		call_on_values(ipc, r, blob);
		return;
	case FRAME_ITEM:
		call_on_item(ipc, r, blob);
		return;
	case FRAME_CHUNK:
		on_chunk(ipc, frame_get_u64(r), r);
		return;
	case FRAME_CREDIT:
		on_credit(ipc, frame_get_u64(r), r);
		return;
	case FRAME_ABORT:
		on_abort(ipc, frame_get_u64(r), r);
		return;
	case FRAME_GREETING:
		probe_heard(ipc, frame_get_u64(r));
		return;
	case FRAME_END: {
		struct ipc_receiver *rc = receiver_find(ipc, frame_get_u64(r));
		if (rc != NULL && frame_end(r))
			receiver_end(rc);
		return;
	}
	default:
		log_error("a frame of type %u does not belong into an inbox", r->type);
	}
}

static void
on_message(struct ipc *ipc, nng_msg *msg)
{
	struct blob *blob = blob_copy(nng_msg_body(msg), nng_msg_len(msg));
	nng_msg_free(msg);
	struct str batch = { blob->data, blob->size };
	struct frame_reader r;
	while (!ipc->closing && frame_next(&batch, &r))
		on_frame(ipc, &r, blob);
	if (r.bad)
		log_error("a broken frame was dropped");
	blob_put(blob);
}

void
ipc_inbox_drain(struct ipc *ipc)
{
	nng_msg *msg;
	int rc;
	while (!ipc->closing && (rc = nng_recvmsg(ipc->pull, &msg, NNG_FLAG_NONBLOCK)) == 0)
		on_message(ipc, msg);
	if (!ipc->closing && rc != NNG_EAGAIN)
		log_error("cannot receive from the inbox: %s", nng_strerror(rc));
}

static void
inbox_readable(struct loop_fd *w, unsigned events)
{
	(void)events;
	ipc_inbox_drain(CONTAINER_OF(w, struct ipc, readable));
}

static void
ipc_tick(struct loop_timer *t)
{
	call_expire(CONTAINER_OF(t, struct ipc, tick));
}

static void
ipc_serve_again(struct loop_timer *t)
{
	serve_run(CONTAINER_OF(t, struct ipc, again));
}

void
ipc_inbox_url(const struct ipc *ipc, char *url)
{
	snprintf(url, IPC_URL_MAX, "ipc://%s/%s.%u.%llu", ipc->run_dir, kind_at(ipc->opt.kind)->kind, ipc->opt.index,
	    (unsigned long long)ipc->opt.incarnation);
}

enum hinny_rc
ipc_inbox_listen_again(struct ipc *ipc, struct hinny_error *err)
{
	char url[IPC_URL_MAX];
	ipc_inbox_url(ipc, url);
	nng_listener_close(ipc->listener);
	int rc = nng_listen(ipc->pull, url, &ipc->listener, 0);
	return rc == 0 ? HINNY_OK : hinny_error_set(err, HINNY_EIO, "cannot open the inbox %s again: %s", url, nng_strerror(rc));
}

static enum hinny_rc
inbox_listen(struct ipc *ipc, struct hinny_error *err)
{
	char url[IPC_URL_MAX];
	ipc_inbox_url(ipc, url);
	int rc = nng_pull0_open(&ipc->pull);
	if (rc != 0)
		return hinny_error_set(err, HINNY_EIO, "cannot open the inbox: %s", nng_strerror(rc));
	int fd = -1;
	rc = nng_socket_set_size(ipc->pull, NNG_OPT_RECVMAXSZ, IPC_MESSAGE_MAX);
	if (rc == 0)
		rc = nng_listen(ipc->pull, url, &ipc->listener, 0);
	if (rc == 0)
		rc = nng_socket_get_int(ipc->pull, NNG_OPT_RECVFD, &fd);
	if (rc != 0) {
		nng_close(ipc->pull);
		return hinny_error_set(err, HINNY_EIO, "cannot open the inbox %s: %s", url, nng_strerror(rc));
	}
	enum hinny_rc hrc = loop_fd_init(ipc->opt.lp, &ipc->readable, fd, inbox_readable, err);
	if (hrc != HINNY_OK)
		nng_close(ipc->pull);
	else
		loop_fd_watch(&ipc->readable, LOOP_READ);
	return hrc;
}

enum hinny_rc
ipc_open(const struct ipc_options *opt, struct ipc **out, struct hinny_error *err)
{
	ASSERT(opt->incarnation < 1u << 24);
	struct ipc *ipc = MEM_NEW(struct ipc);
	ipc->opt = *opt;
	ipc->run_dir = mem_strdup(opt->run_dir);
	struct list *const lists[] = { &ipc->peers, &ipc->by_age, &ipc->senders, &ipc->receivers, &ipc->served_ready,
		&ipc->served_all, &ipc->completions };
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		list_init(lists[i]);
	for (size_t i = 0; i < IPC_KINDS; i++) {
		list_init(&ipc->waiting[i]);
		list_init(&ipc->waiting_states[i]);
	}
	list_init(&ipc->waiting_successors);
	list_init(&ipc->successors);
	call_init(ipc);
	enum hinny_rc rc = inbox_listen(ipc, err);
	if (rc != HINNY_OK) {
		free(ipc->run_dir);
		free(ipc);
		return rc;
	}
	loop_timer_init(opt->lp, &ipc->tick, ipc_tick);
	loop_timer_init(opt->lp, &ipc->again, ipc_serve_again);
	*out = ipc;
	return HINNY_OK;
}

static void
inbox_closed(struct loop_fd *w)
{
	struct ipc *ipc = CONTAINER_OF(w, struct ipc, readable);
	nng_close(ipc->pull);
	loop_timer_close(&ipc->tick, NULL);
	loop_timer_close(&ipc->again, NULL);
	free(ipc->run_dir);
	loop_free_later(ipc->opt.lp, ipc);
}

void
ipc_close(struct ipc *ipc)
{
	if (ipc == NULL || ipc->closing)
		return;
	probe_close(ipc);
	ipc->closing = true;
	while (!list_empty(&ipc->by_age))
		call_drop(LIST_FIRST(&ipc->by_age, struct ipc_call, age));
	struct list *const served[] = { &ipc->served_all, &ipc->served_ready };
	for (size_t i = 0; i < ARRAY_LEN(served); i++)
		while (!list_empty(served[i]))
			served_drop(LIST_FIRST(served[i], struct ipc_served, node));
	while (!list_empty(&ipc->receivers))
		stream_cancel(&LIST_FIRST(&ipc->receivers, struct ipc_receiver, node)->stream);
	while (!list_empty(&ipc->peers)) {
		struct ipc_peer *peer = LIST_FIRST(&ipc->peers, struct ipc_peer, node);
		peer_close(&peer);
	}
	while (!list_empty(&ipc->successors))
		operation_successor_lost(ipc, LIST_FIRST(&ipc->successors, struct ipc_successor, node)->incarnation);
	loop_defer_cancel(&ipc->complete);
	loop_fd_close(&ipc->readable, inbox_closed);
}

void
ipc_peer_up(struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation)
{
	struct ipc_peer *peer = peer_find(ipc, incarnation);
	if (peer == NULL)
		peer = peer_open(ipc, kind, index, incarnation);
	if (peer == NULL)
		return;
	peer->announced = true;
	ipc->kind_lost[kind] = ipc->kind_lost[kind] && index != 0;
	call_dispatch(ipc, kind);
}

void
ipc_peer_down(struct ipc *ipc, uint64_t incarnation, uint64_t running, const char *reason, bool time_limit)
{
	ipc->dead[ipc->dead_at++ % IPC_DEAD] = incarnation;
	serve_home_lost(ipc, incarnation);
	operation_successor_lost(ipc, incarnation);
	probe_inbox(ipc);
	struct ipc_peer *peer = peer_find(ipc, incarnation);
	if (peer == NULL)
		return;
	call_peer_lost(ipc, peer, running, reason, time_limit);
	receivers_lost(ipc, incarnation, reason);
	peer_close(&peer);
}

bool
ipc_peers_left(const struct ipc *ipc)
{
	char path[IPC_URL_MAX];
	if (ipc == NULL)
		return false;
	LIST_FOREACH(&ipc->peers, it, tmp) {
		const struct ipc_peer *peer = LIST_ENTRY(it, struct ipc_peer, node);
		snprintf(path, sizeof path, "%s/%s.%u.%llu", ipc->run_dir, kind_at(peer->kind)->kind, peer->index,
		    (unsigned long long)peer->incarnation);
		if (peer->announced && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

uint32_t
ipc_calls_out(const struct ipc *ipc)
{
	return ipc != NULL ? ipc->calls_n : 0;
}

uint32_t
ipc_calls_in(const struct ipc *ipc)
{
	return ipc != NULL ? ipc->served_n : 0;
}
