/*
 * Peers: one PUSH socket each, frames gathered in a turn of the loop leave as one nng message. A lone message leaves at the end of the turn too: no timer, no waiting.
 * What nng cannot take stays here until its send descriptor says so; nothing blocks.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <nng/protocol/pipeline0/push.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * Waits for a moment until the connection stands. A callee that has just been started may be ended by the first message that it gets; when that happens before
 * its dial is through, nng's listener on the other side stops accepting (probe.c).
 */
static void
peer_greet(struct ipc_peer *peer)
{
	nng_msg *msg = probe_greeting(0);
	(void)nng_socket_set_ms(peer->push, NNG_OPT_SENDTIMEO, IPC_GREET_MS); /* an option of every socket */
	if (nng_sendmsg(peer->push, msg, 0) != 0)
		nng_msg_free(msg); /* the home is slow, or gone: replies wait for it as ever */
}

static int
peer_dial(struct ipc_peer *peer)
{
	char url[256];
	snprintf(url, sizeof url, "ipc://%s/%s.%u.%llu", peer->ipc->run_dir, kind_at(peer->kind)->kind, peer->index,
	    (unsigned long long)peer->incarnation);
	int rc = nng_push0_open(&peer->push);
	if (rc != 0)
		return rc;
	(void)nng_socket_set_int(peer->push, NNG_OPT_SENDBUF, 0); /* the queue is ours; not every version has the option */
	(void)nng_socket_set_ms(peer->push, NNG_OPT_RECONNMINT, 2);
	(void)nng_socket_set_ms(peer->push, NNG_OPT_RECONNMAXT, 50);
	rc = nng_dial(peer->push, url, NULL, NNG_FLAG_NONBLOCK);
	if (rc != 0)
		nng_close(peer->push);
	else if ((kind_at(peer->ipc->opt.kind)->flags & KIND_STATELESS) != 0)
		peer_greet(peer);
	return rc;
}

struct ipc_peer *
peer_open(struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation)
{
	struct ipc_peer *peer = MEM_NEW(struct ipc_peer);
	peer->ipc = ipc;
	peer->kind = kind;
	peer->index = index;
	peer->incarnation = incarnation;
	list_init(&peer->node);
	list_init(&peer->calls);
	buf_init(&peer->out, 0);
	loop_defer_init(&peer->flush, peer_flush_deferred);
	int rc = peer_dial(peer);
	if (rc != 0) {
		log_error("cannot dial worker %s.%u: %s", kind_at(kind)->kind, index, nng_strerror(rc));
		buf_fini(&peer->out);
		free(peer);
		return NULL;
	}
	list_append(&ipc->peers, &peer->node);
	return peer;
}

static void
peer_closed(struct loop_fd *w)
{
	struct ipc_peer *peer = CONTAINER_OF(w, struct ipc_peer, writable);
	nng_close(peer->push);
	free(peer);
}

void
peer_close(struct ipc_peer **pp)
{
	struct ipc_peer *peer = *pp;
	*pp = NULL;
	ASSERT(list_empty(&peer->calls));
	list_remove(&peer->node);
	loop_defer_cancel(&peer->flush);
	buf_fini(&peer->out);
	if (peer->unsent != NULL)
		nng_msg_free(peer->unsent);
	peer->unsent = NULL;
	if (peer->watching) {
		loop_fd_close(&peer->writable, peer_closed);
		return;
	}
	nng_close(peer->push);
	free(peer);
}

static void
peer_writable(struct loop_fd *w, unsigned events)
{
	(void)events;
	struct ipc_peer *peer = CONTAINER_OF(w, struct ipc_peer, writable);
	peer_flush(peer);
	if (peer->unsent == NULL)
		call_dispatch(peer->ipc, peer->kind);
}

static void
peer_watch(struct ipc_peer *peer)
{
	if (!peer->watching) {
		int fd = -1;
		int rc = nng_socket_get_int(peer->push, NNG_OPT_SENDFD, &fd);
		struct hinny_error err;
		if (rc != 0)
			fatal("no send descriptor for worker %s.%u: %s", kind_at(peer->kind)->kind, peer->index, nng_strerror(rc));
		if (loop_fd_init(peer->ipc->opt.lp, &peer->writable, fd, peer_writable, &err) != HINNY_OK)
			fatal("cannot watch the send descriptor of a peer: %s", err.text);
		peer->watching = true;
	}
	loop_fd_watch(&peer->writable, LOOP_READ); /* nng makes it readable when a send can go */
}

/* Makes the frames of this turn the message that goes next. */
static void
peer_pack(struct ipc_peer *peer)
{
	if (peer->unsent != NULL || peer->out.n == 0)
		return;
	if (nng_msg_alloc(&peer->unsent, peer->out.n) != 0)
		fatal("out of memory for a message of %zu bytes", peer->out.n);
	memcpy(nng_msg_body(peer->unsent), peer->out.p, peer->out.n);
	buf_clear(&peer->out);
}

void
peer_flush(struct ipc_peer *peer)
{
	for (;;) {
		peer_pack(peer);
		if (peer->unsent == NULL)
			break;
		int rc = nng_sendmsg(peer->push, peer->unsent, NNG_FLAG_NONBLOCK);
		if (rc == NNG_EAGAIN) {
			peer_watch(peer);
			return;
		}
		if (rc != 0) {
			/* the supervisor will announce its death; calls are settled then */
			log_debug("cannot send to worker %s.%u: %s", kind_at(peer->kind)->kind, peer->index, nng_strerror(rc));
			nng_msg_free(peer->unsent);
		}
		peer->unsent = NULL;
	}
	if (peer->watching)
		loop_fd_watch(&peer->writable, 0);
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
	return peer->out.n + (peer->unsent != NULL ? nng_msg_len(peer->unsent) : 0);
}

bool
peer_has_room(const struct ipc_peer *peer)
{
	return peer->calls_n < peer->ipc->opt.peer_calls && peer_queued(peer) < peer->ipc->opt.peer_bytes;
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
