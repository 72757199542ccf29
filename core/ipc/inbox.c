/*
 * The inbox: one a worker, always drained; frames go to the side that they belong to. A frame that is broken, of an unknown type or from a stranger is
 * dropped with a log line.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

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
on_blob(void *arg, struct blob *blob)
{
	struct ipc *ipc = arg;
	struct str batch = { blob->data, blob->size };
	struct frame_reader r = { 0 };
	while (!ipc->closing && frame_next(&batch, &r))
		on_frame(ipc, &r, blob);
	if (r.bad)
		log_error("a broken frame was dropped");
	blob_put(blob);
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
ipc_inbox_path(const struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation, char *path)
{
	snprintf(path, IPC_PATH_MAX, "%s/%s.%u.%llu", ipc->run_dir, kind_at(kind)->kind, index,
	    (unsigned long long)incarnation);
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
	char path[IPC_PATH_MAX];
	ipc_inbox_path(ipc, opt->kind, opt->index, opt->incarnation, path);
	enum hinny_rc rc = intake_new(opt->lp, path, on_blob, ipc, &ipc->intake, err);
	if (rc != HINNY_OK) {
		free(ipc->run_dir);
		free(ipc);
		return rc;
	}
	loop_timer_init(opt->lp, &ipc->tick, ipc_tick);
	loop_timer_init(opt->lp, &ipc->again, ipc_serve_again);
	loop_timer_init(opt->lp, &ipc->redial, ipc_redial);
	*out = ipc;
	return HINNY_OK;
}

void
ipc_close(struct ipc *ipc)
{
	if (ipc == NULL || ipc->closing)
		return;
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
	intake_free(ipc->intake);
	struct loop_timer *const timers[] = { &ipc->tick, &ipc->again, &ipc->redial };
	for (size_t i = 0; i < ARRAY_LEN(timers); i++)
		loop_timer_close(timers[i], NULL);
	free(ipc->run_dir);
	loop_free_later(ipc->opt.lp, ipc);
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
	char path[IPC_PATH_MAX];
	if (ipc == NULL)
		return false;
	LIST_FOREACH(&ipc->peers, it, tmp) {
		const struct ipc_peer *peer = LIST_ENTRY(it, struct ipc_peer, node);
		ipc_inbox_path(ipc, peer->kind, peer->index, peer->incarnation, path);
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
