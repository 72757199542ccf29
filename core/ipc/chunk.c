/*
 * Bodies over FRAME_INLINE cross in chunks with credit, in both directions, with END and ABORT. The sender's bytes stay where they are until they left; the
 * receiver is a stream that gives credit back as its sink takes the bytes.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <stdlib.h>

struct ipc_chunk {
	struct list node;
	struct blob *blob;
};

/* ---- sending ---- */

static void
put_simple(struct ipc *ipc, uint64_t to, enum frame_type type, uint64_t call_id)
{
	struct ipc_peer *peer = peer_find(ipc, to);
	if (peer == NULL)
		return;
	struct frame_writer w = frame_begin(peer_out(peer), type, 0);
	frame_put_u64(&w, call_id);
	(void)frame_finish(&w); /* cannot pass a bound */
}

static void
sender_pump(struct ipc_sender *s)
{
	struct ipc_peer *peer = peer_find(s->ipc, s->to);
	if (peer == NULL)
		return; /* its death settles the call */
	while (s->credit > 0 && s->rest.n > 0) {
		size_t n = s->rest.n < IPC_CHUNK ? s->rest.n : IPC_CHUNK;
		struct frame_writer w = frame_begin(peer_out(peer), FRAME_CHUNK, 0);
		frame_put_u64(&w, s->call_id);
		frame_put_str(&w, (struct str){ s->rest.p, n });
		(void)frame_finish(&w); /* below FRAME_MAX */
		s->rest.p += n;
		s->rest.n -= n;
		s->credit--;
	}
	if (s->rest.n > 0)
		return;
	put_simple(s->ipc, s->to, FRAME_END, s->call_id);
	list_remove(&s->node);
	if (s->finished != NULL)
		s->finished(s);
}

void
sender_start(struct ipc_sender *s, struct ipc *ipc, uint64_t call_id, uint64_t to, struct str bytes)
{
	s->ipc = ipc;
	s->call_id = call_id;
	s->to = to;
	s->rest = bytes;
	s->credit = IPC_CREDIT;
	list_append(&ipc->senders, &s->node);
	sender_pump(s);
}

void
sender_drop(struct ipc_sender *s)
{
	list_remove(&s->node);
	s->rest.n = 0;
}

void
sender_credit(struct ipc *ipc, uint64_t call_id, uint32_t n)
{
	LIST_FOREACH(&ipc->senders, it, tmp) {
		struct ipc_sender *s = LIST_ENTRY(it, struct ipc_sender, node);
		if (s->call_id != call_id)
			continue;
		if (n > IPC_CREDIT || s->credit + n > IPC_CREDIT) {
			log_error("a peer gave more credit than it may");
			return;
		}
		s->credit += n;
		sender_pump(s);
		return;
	}
}

void
ipc_send_abort(struct ipc *ipc, uint64_t to, uint64_t call_id, enum hinny_rc rc, const char *why)
{
	struct ipc_peer *peer = peer_find(ipc, to);
	if (peer == NULL)
		return;
	struct frame_writer w = frame_begin(peer_out(peer), FRAME_ABORT, 0);
	frame_put_u64(&w, call_id);
	frame_put_u8(&w, (uint8_t)rc);
	frame_put_str(&w, str_of(why));
	(void)frame_finish(&w); /* cannot pass a bound */
}

/* ---- receiving ---- */

static void
receiver_free_queue(struct ipc_receiver *r)
{
	LIST_FOREACH(&r->queued, it, tmp) {
		struct ipc_chunk *c = LIST_ENTRY(it, struct ipc_chunk, node);
		list_remove(&c->node);
		blob_put(c->blob);
		free(c);
	}
}

/* The owner forgets it; the memory goes when no delivery is on the stack. */
static void
receiver_retire(struct ipc_receiver *r)
{
	if (r->dead)
		return;
	r->dead = true;
	list_remove(&r->node);
	receiver_free_queue(r);
	if (r->gone != NULL)
		r->gone(r);
	loop_free_later(r->ipc->opt.lp, r);
}

static void
receiver_give_credit(struct ipc_receiver *r, uint32_t n)
{
	struct ipc_peer *peer = peer_find(r->ipc, r->from);
	if (peer == NULL)
		return;
	struct frame_writer w = frame_begin(peer_out(peer), FRAME_CREDIT, 0);
	frame_put_u64(&w, r->call_id);
	frame_put_u32(&w, n);
	(void)frame_finish(&w); /* cannot pass a bound */
}

static void
receiver_deliver(struct ipc_receiver *r)
{
	if (r->delivering || r->stream.sink == NULL)
		return;
	r->delivering = true;
	while (!r->dead && !r->stream.paused && !list_empty(&r->queued)) {
		struct ipc_chunk *c = LIST_FIRST(&r->queued, struct ipc_chunk, node);
		list_remove(&c->node);
		receiver_give_credit(r, 1);
		r->stream.sink->data(r->stream.sink, (struct str){ c->blob->data, c->blob->size }, c->blob);
		blob_put(c->blob);
		free(c);
	}
	r->delivering = false;
	if (r->dead || r->stream.paused || !list_empty(&r->queued) || !(r->ended || r->failed))
		return;
	struct stream_sink *sink = r->stream.sink;
	struct hinny_error err = r->error;
	bool failed = r->failed;
	receiver_retire(r);
	if (failed)
		sink->fail(sink, &err);
	else
		sink->end(sink);
}

static void
receiver_resume(struct stream *s)
{
	receiver_deliver(CONTAINER_OF(s, struct ipc_receiver, stream));
}

static void
receiver_pause(struct stream *s)
{
	(void)s; /* receiver_deliver looks at stream.paused */
}

static void
receiver_cancel(struct stream *s)
{
	struct ipc_receiver *r = CONTAINER_OF(s, struct ipc_receiver, stream);
	bool home = r->call_id >> 40 == r->ipc->opt.incarnation; /* a callee says itself why it gives up */
	if (home && !r->ended && !r->failed)
		ipc_send_abort(r->ipc, r->from, r->call_id, HINNY_ECLOSED, "the rest of the body is not wanted");
	receiver_retire(r);
}

static const struct stream_ops receiver_ops = {
	.attach = receiver_resume,
	.pause = receiver_pause,
	.resume = receiver_resume,
	.cancel = receiver_cancel,
};

struct ipc_receiver *
receiver_new(struct ipc *ipc, uint64_t call_id, uint64_t from, uint64_t length)
{
	struct ipc_receiver *r = MEM_NEW(struct ipc_receiver);
	r->stream.ops = &receiver_ops;
	r->stream.length = (int64_t)length;
	r->ipc = ipc;
	r->call_id = call_id;
	r->from = from;
	r->expected = length;
	list_init(&r->queued);
	list_append(&ipc->receivers, &r->node);
	return r;
}

struct ipc_receiver *
receiver_find(struct ipc *ipc, uint64_t call_id)
{
	LIST_FOREACH(&ipc->receivers, it, tmp) {
		struct ipc_receiver *r = LIST_ENTRY(it, struct ipc_receiver, node);
		if (r->call_id == call_id)
			return r;
	}
	return NULL;
}

void
receivers_lost(struct ipc *ipc, uint64_t from, const char *why)
{
	struct list lost; /* a failing stream may run a route that makes and drops others */
	list_init(&lost);
	LIST_FOREACH(&ipc->receivers, it, tmp) {
		struct ipc_receiver *r = LIST_ENTRY(it, struct ipc_receiver, node);
		if (r->from != from)
			continue;
		list_remove(&r->node);
		list_append(&lost, &r->node);
	}
	while (!list_empty(&lost)) {
		struct ipc_receiver *r = LIST_FIRST(&lost, struct ipc_receiver, node);
		list_remove(&r->node);
		list_append(&ipc->receivers, &r->node);
		receiver_fail(r, HINNY_ECLOSED, why);
	}
}

void
receiver_chunk(struct ipc_receiver *r, struct str bytes)
{
	if (r->ended || r->failed)
		return;
	r->got += bytes.n;
	if (r->got > r->expected) {
		receiver_fail(r, HINNY_EPROTO, "a body is longer than was announced");
		return;
	}
	struct ipc_chunk *c = MEM_NEW(struct ipc_chunk);
	c->blob = blob_copy(bytes.p, bytes.n);
	list_append(&r->queued, &c->node);
	receiver_deliver(r);
}

void
receiver_end(struct ipc_receiver *r)
{
	if (r->ended || r->failed)
		return;
	if (r->got != r->expected) {
		receiver_fail(r, HINNY_EPROTO, "a body is shorter than was announced");
		return;
	}
	r->ended = true;
	receiver_deliver(r);
}

void
receiver_fail(struct ipc_receiver *r, enum hinny_rc rc, const char *why)
{
	if (r->ended || r->failed)
		return;
	r->failed = true;
	hinny_error_set(&r->error, rc, "%s", why);
	receiver_deliver(r);
}
