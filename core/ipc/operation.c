/*
 * Operations of states (core/eip/state.h), from both sides. For the home one is a call to one process, the owner of the node, which is known by route id and node id,
 * as these outlive a generation. For the owner it is a call that it serves at once, or keeps until its own state is there. They are made once: when the owner dies
 * unanswered ones fail, unless they only read.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/mem.h"

#include <stdlib.h>

static const struct access everything = { .flags = ACCESS_ALL }, nothing = { 0 };

/* ---- home ---- */

const struct access *
operation_access(const struct ipc_call *c)
{
	return (c->state_node->desc->message_ops >> c->op & 1) != 0 ? &everything : &nothing;
}

void
operation_put(struct frame_writer *w, const struct ipc_call *c)
{
	frame_put_u64(w, c->ex->home != 0 ? c->ex->home : c->ipc->opt.incarnation);
	frame_put_str(w, str_of(c->state_node->route_id));
	frame_put_str(w, str_of(c->state_node->node_id));
	frame_put_str(w, str_of(c->state_node->desc->name));
	frame_put_u8(w, (uint8_t)c->op);
	frame_put_value(w, &c->arg);
}

/* ---- who is asked ---- */

void
ipc_successor_up(struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation, uint64_t generation)
{
	if (index != 0 || peer_is_dead(ipc, incarnation))
		return;
	struct ipc_successor *s = MEM_NEW(struct ipc_successor);
	*s = (struct ipc_successor){ .kind = kind, .incarnation = incarnation, .generation = generation };
	list_append(&ipc->successors, &s->node);
	operation_dispatch(ipc, kind);
}

void
operation_successor_lost(struct ipc *ipc, uint64_t incarnation)
{
	LIST_FOREACH(&ipc->successors, it, tmp) {
		struct ipc_successor *s = LIST_ENTRY(it, struct ipc_successor, node);
		if (s->incarnation != incarnation)
			continue;
		list_remove(&s->node);
		free(s);
	}
}

/* The owner, when it is there and has room. */
static struct ipc_peer *
choose_owner(struct ipc *ipc, const struct ipc_call *c)
{
	struct ipc_peer *owner = NULL;
	LIST_FOREACH(&ipc->successors, it, tmp) {
		const struct ipc_successor *s = LIST_ENTRY(it, struct ipc_successor, node);
		if (s->kind != c->kind || s->generation != c->generation)
			continue;
		owner = peer_find(ipc, s->incarnation);
		if (owner == NULL)
			owner = peer_open(ipc, s->kind, 0, s->incarnation);
	}
	LIST_FOREACH(&ipc->peers, it, tmp) {
		struct ipc_peer *peer = LIST_ENTRY(it, struct ipc_peer, node);
		if (c->generation == 0 && peer->announced && peer->kind == c->kind && peer->index == 0)
			owner = peer;
	}
	return owner != NULL && peer_has_room(owner) ? owner : NULL;
}

static struct list *
waiting_list(const struct ipc_call *c)
{
	return c->generation != 0 ? &c->ipc->waiting_successors : &c->ipc->waiting_states[c->kind];
}

void
operation_place(struct ipc_call *c)
{
	struct ipc *ipc = c->ipc;
	struct ipc_peer *peer = choose_owner(ipc, c);
	if (peer != NULL && list_empty(waiting_list(c))) {
		call_send_to(c, peer);
		return;
	}
	if (c->generation == 0 && ipc->kind_lost[c->kind]) {
		call_fail_later(c, EXCEPTION_WORKER_LOST, "the worker that keeps the state of this step is gone for good");
		return;
	}
	list_remove(&c->node);
	list_append(waiting_list(c), &c->node);
}

/* Those that wait, in order; with `all` those behind one that has to wait on, too. */
static void
dispatch_list(struct ipc *ipc, struct list *waiting, bool all)
{
	LIST_FOREACH(waiting, it, tmp) {
		struct ipc_call *c = LIST_ENTRY(it, struct ipc_call, node);
		struct ipc_peer *peer = choose_owner(ipc, c);
		if (peer == NULL && !all)
			return;
		if (peer == NULL)
			continue;
		list_remove(&c->node);
		call_send_to(c, peer);
	}
}

void
operation_dispatch(struct ipc *ipc, int kind)
{
	dispatch_list(ipc, &ipc->waiting_states[kind], false);
	dispatch_list(ipc, &ipc->waiting_successors, true); /* they are for different owners, and few */
}

static struct ipc_call *
new_operation(struct ipc *ipc, struct exchange *ex, const struct state_node *node, unsigned op, int kind, uint64_t generation)
{
	struct ipc_call *c = call_new(ipc, ex, kind);
	c->state_node = node;
	c->op = op;
	c->generation = generation;
	return c;
}

void
ipc_state(struct ipc *ipc, struct exchange *ex, const struct state_node *node, unsigned op, const struct value *arg, int kind,
    uint64_t generation)
{
	struct ipc_call *c = new_operation(ipc, ex, node, op, kind, generation);
	c->arg = *arg;
	call_place(c);
}

void
ipc_state_note(struct ipc *ipc, uint64_t home, const struct state_node *node, unsigned op, const struct value *arg, int kind,
    uint64_t generation)
{
	struct exchange *ex = ipc->opt.ops->exchange_new(ipc->opt.owner);
	ex->home = home;
	struct ipc_call *c = new_operation(ipc, ex, node, op, kind, generation);
	c->note = true;
	c->arg = value_share(&ex->arena, arg);
	call_place(c);
}

void
ipc_state_moved(struct ipc *ipc, const struct state_node *node, int kind, uint64_t generation)
{
	LIST_FOREACH(&ipc->waiting_successors, it, tmp) {
		struct ipc_call *c = LIST_ENTRY(it, struct ipc_call, node);
		if (c->state_node != node)
			continue;
		c->kind = kind;
		c->generation = generation;
	}
	operation_dispatch(ipc, kind);
}

void
ipc_peer_last(struct ipc *ipc, int kind)
{
	struct list *waiting = &ipc->waiting_states[kind];
	ipc->kind_lost[kind] = true;
	while (!list_empty(waiting)) {
		struct ipc_call *c = LIST_FIRST(waiting, struct ipc_call, node);
		call_fail_with(c, EXCEPTION_WORKER_LOST, "the worker that keeps the state of this step is gone for good");
	}
}

void
operation_on_value(struct ipc *ipc, struct frame_reader *r, struct blob *blob)
{
	struct ipc_call *c = call_find(ipc, frame_get_u64(r));
	if (c == NULL || c->state_node == NULL)
		return; /* late */
	struct exception *exception = frame_get_exception(r, &c->ex->arena);
	struct value v = frame_get_value(r, &c->ex->arena, blob);
	arena_hold(&c->ex->arena, blob); /* the value lies in it */
	if (!frame_end(r)) {
		call_fail_with(c, EXCEPTION_CAMEL_EXCHANGE, "a worker sent a broken reply");
		return;
	}
	c->ex->exception = exception;
	c->arg = v;
	call_settle(c, true, NULL);
}

/* ---- owner ---- */

bool
operation_get(struct ipc_served *sc, struct frame_reader *r, struct blob *blob)
{
	struct ipc_operation *op = &sc->operation;
	sc->ex->home = frame_get_u64(r);
	op->route_id = frame_get_str(r);
	op->node_id = frame_get_str(r);
	op->name = frame_get_str(r);
	op->op = frame_get_u8(r);
	op->arg = frame_get_value(r, &sc->ex->arena, blob);
	arena_hold(&sc->ex->arena, blob); /* texts and value lie in it */
	return !r->bad && sc->ex->home != 0;
}

void
operation_serve(struct ipc_served *sc)
{
	struct ipc *ipc = sc->ipc;
	sc->state = SERVED_RUNNING;
	ipc->running++;
	list_append(&ipc->served_all, &sc->node);
	exchange_clean(sc->ex);
	ipc->opt.ops->serve_state(ipc->opt.owner, sc, sc->ex, &sc->operation);
}

bool
ipc_state_is_late(const struct ipc_served *sc)
{
	return sc->aborted || sc->deadline.ns < loop_now(sc->ipc->opt.lp).ns;
}

static bool
put_value(struct ipc_peer *peer, const struct ipc_served *sc, const struct value *v, const struct exception *exception)
{
	struct frame_writer w = frame_begin(peer_out(peer), FRAME_STATE_VALUE, 0);
	frame_put_u64(&w, sc->id);
	frame_put_exception(&w, exception);
	frame_put_value(&w, exception != NULL ? &(struct value){ .type = VALUE_NULL } : v);
	return frame_finish(&w) == HINNY_OK;
}

void
ipc_state_reply(struct ipc_served *sc, const struct value *v, const struct exception *exception)
{
	struct ipc *ipc = sc->ipc;
	struct ipc_peer *peer = sc->aborted ? NULL : served_peer(sc);
	ipc->running--;
	PAGE_ADD(ipc->opt.page->calls_done, 1);
	if (exception != NULL)
		PAGE_ADD(ipc->opt.page->calls_failed, 1);
	if (peer != NULL && !put_value(peer, sc, v, exception))
		ipc_send_abort(ipc, sc->home, sc->id, HINNY_ELIMIT, "the answer of a state is too large or too deep");
	served_free(sc);
}
