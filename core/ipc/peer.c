/*
 * Peers: one link each, frames gathered in a turn of the loop leave together. A lone frame leaves at the end of the turn too: no timer, no waiting. What cannot leave, for
 * the bytes before it still do, or since nobody listens there yet, stays here; nothing blocks.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <stdlib.h>

/*
 * Mostly the peer has died, and the supervisor is about to say so: only then it is known which call ended it. When it can be dialled again later it lives, and only what was
 * sent is lost.
 */
static void
peer_on_broken(struct ipc_peer *peer)
{
	struct ipc *ipc = peer->ipc;
	log_debug("the connection to worker %s.%u is broken", kind_at(peer->kind)->kind, peer->index);
	peer->dialled = false;
	peer->broken = true;
	ipc->redial_ms = IPC_BROKEN_MS;
	loop_timer_start(&ipc->redial, ipc->redial_ms, 0);
}

static void
peer_on_link(void *arg, enum link_event event)
{
	struct ipc_peer *peer = arg;
	if (event == LINK_BROKEN) {
		peer_on_broken(peer);
		return;
	}
	peer_flush(peer);
	call_dispatch(peer->ipc, peer->kind);
}

static void
peer_flush_deferred(struct loop_defer *d)
{
	peer_flush(CONTAINER_OF(d, struct ipc_peer, flush));
}

struct ipc_peer *
peer_find(struct ipc *ipc, uint64_t incarnation)
{
	LIST_FOREACH(&ipc->peers, it, tmp) {
		struct ipc_peer *peer = LIST_ENTRY(it, struct ipc_peer, node);
		if (peer->incarnation == incarnation)
			return peer;
	}
	return NULL;
}

bool
peer_is_dead(const struct ipc *ipc, uint64_t incarnation)
{
	for (size_t i = 0; i < IPC_DEAD; i++)
		if (ipc->dead[i] == incarnation)
			return true;
	return false;
}

static void
peer_dial(struct ipc_peer *peer)
{
	peer->dialled = link_dial(peer->link);
	peer_flush(peer);
}

struct ipc_peer *
peer_open(struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation)
{
	struct hinny_error err;
	char path[IPC_PATH_MAX];
	struct ipc_peer *peer = MEM_NEW(struct ipc_peer);
	ipc_inbox_path(ipc, kind, index, incarnation, path);
	peer->link = link_new(ipc->opt.lp, path, peer_on_link, peer, &err);
	if (peer->link == NULL) {
		log_error("%s", err.text);
		free(peer);
		return NULL;
	}
	peer->ipc = ipc;
	peer->kind = kind;
	peer->index = index;
	peer->incarnation = incarnation;
	list_init(&peer->node);
	list_init(&peer->calls);
	buf_init(&peer->out, 0);
	loop_defer_init(&peer->flush, peer_flush_deferred);
	list_append(&ipc->peers, &peer->node);
	peer_dial(peer);
	if (!peer->dialled && !loop_timer_active(&ipc->redial)) {
		ipc->redial_ms = IPC_REDIAL_MS;
		loop_timer_start(&ipc->redial, ipc->redial_ms, 0);
	}
	return peer;
}

void
peer_close(struct ipc_peer **pp)
{
	struct ipc_peer *peer = *pp;
	*pp = NULL;
	ASSERT(list_empty(&peer->calls));
	list_remove(&peer->node);
	loop_defer_cancel(&peer->flush);
	link_free(peer->link);
	buf_fini(&peer->out);
	free(peer);
}

static void
peer_mended(struct ipc_peer *peer)
{
	log_warning("the connection to worker %s.%u was broken; what was under way there is called again", kind_at(peer->kind)->kind,
	    peer->index);
	peer->broken = false;
	call_peer_again(peer->ipc, peer, "its connection broke");
}

void
ipc_redial(struct loop_timer *t)
{
	struct ipc *ipc = CONTAINER_OF(t, struct ipc, redial);
	bool all = true;
	struct ipc_peer *mended = NULL;
	LIST_FOREACH(&ipc->peers, it, tmp) {
		struct ipc_peer *peer = LIST_ENTRY(it, struct ipc_peer, node);
		if (!peer->dialled)
			peer_dial(peer);
		if (peer->dialled && peer->broken && mended == NULL)
			mended = peer;
		all &= peer->dialled && (peer == mended || !peer->broken);
	}
	if (!all) {
		ipc->redial_ms = ipc->redial_ms * 2 < IPC_REDIAL_MAX_MS ? ipc->redial_ms * 2 : IPC_REDIAL_MAX_MS;
		loop_timer_start(&ipc->redial, ipc->redial_ms, 0);
	}
	if (mended != NULL) /* last: routes go on inside, and peers may come and go; one at a time */
		peer_mended(mended);
}

void
peer_flush(struct ipc_peer *peer)
{
	if (peer->dialled && peer->out.n > 0)
		(void)link_send(peer->link, &peer->out); /* if not, the link tells when it can */
}

struct buf *
peer_out(struct ipc_peer *peer)
{
	if (peer->out.n == 0) {
		peer->since = monotime_now();
		loop_defer(peer->ipc->opt.lp, &peer->flush);
	}
	return &peer->out;
}

void
peer_flush_old(struct ipc *ipc)
{
	struct monotime now = monotime_now();
	LIST_FOREACH(&ipc->peers, it, tmp) {
		struct ipc_peer *peer = LIST_ENTRY(it, struct ipc_peer, node);
		if (peer->out.n > 0 && now.ns - peer->since.ns > IPC_LINGER_NS)
			peer_flush(peer);
	}
}

size_t
peer_queued(const struct ipc_peer *peer)
{
	return peer->out.n + link_unsent(peer->link);
}

bool
peer_has_room(struct ipc_peer *peer)
{
	if (peer->calls_n >= peer->ipc->opt.peer_calls || peer->broken)
		return false;
	if (peer_queued(peer) < peer->ipc->opt.peer_bytes)
		return true;
	link_tell(peer->link);
	return false;
}

struct ipc_peer *
peer_choose(struct ipc *ipc, int kind)
{
	struct ipc_peer *best = NULL;
	LIST_FOREACH(&ipc->peers, it, tmp) {
		struct ipc_peer *peer = LIST_ENTRY(it, struct ipc_peer, node);
		if (peer->kind != kind || !peer->announced)
			continue;
		if (!peer_has_room(peer))
			continue;
		if (best == NULL || peer->calls_n < best->calls_n)
			best = peer;
	}
	return best;
}
