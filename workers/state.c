/*
 * States of steps in a worker: those that this process owns, and operations that it makes or is asked for.
 *
 * A node that this process owns is first *coming*: what an older generation kept of it has not arrived, and operations wait. Then it is *here*, and served at once. When
 * a newer generation has taken over, and has that node too, it has *moved*: operations that still come are passed on to the new owner.
 */
#include "workers/state_priv.h"

#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* An operation that waits for a node that is coming. */
struct pending {
	struct list node;
	struct state_node *of;
	struct exchange *ex;
	struct ipc_served *sc; /* NULL: of an exchange here, or (note) of nobody */
	bool note;
	unsigned op;
	struct value arg;
};

static bool
is_owned(const struct worker *wk, const struct state_node *node)
{
	return wk->args.index == 0 && strcmp(node->owner, wk->kind->kind) == 0;
}

void
states_open(struct worker *wk)
{
	const struct program *p = wk->program;
	if (p->states_n == 0)
		return;
	wk->states = mem_alloc(sizeof *wk->states + p->states_n * sizeof wk->states->places[0]);
	*wk->states = (struct states){ 0 };
	list_init(&wk->states->pending);
	for (uint32_t i = 0; i < p->states_n; i++) {
		wk->states->places[i] = (struct state_place){ STATE_ELSEWHERE, kind_index(str_of(p->states[i]->owner)), 0 };
		if (!is_owned(wk, p->states[i]))
			continue;
		wk->states->places[i].where = STATE_COMING;
		wk->states->owns = true;
		state_open(&wk->engine, p->states[i]);
	}
}

bool
states_are_owned(const struct worker *wk)
{
	return wk->states != NULL && wk->states->owns;
}

uint32_t
states_pending(const struct worker *wk)
{
	return wk->states != NULL ? wk->states->pending_n : 0;
}

uint64_t
states_held(const struct worker *wk)
{
	uint64_t n = 0;
	for (uint32_t i = 0; wk->states != NULL && i < wk->program->states_n; i++) {
		const struct state_node *node = wk->program->states[i];
		if (node->serving && node->desc->count != NULL)
			n += node->desc->count(node);
	}
	return n;
}

/* ---- operations that wait ---- */

static struct pending *
wait_for(struct worker *wk, struct state_node *node, struct exchange *ex, unsigned op, const struct value *arg)
{
	struct pending *pe = MEM_NEW(struct pending);
	pe->of = node;
	pe->ex = ex;
	pe->op = op;
	pe->arg = *arg;
	list_append(&wk->states->pending, &pe->node);
	return pe;
}

static void
serve_for(struct ipc_served *sc, struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg)
{
	struct value out = value_null();
	if (ipc_state_is_late(sc)) {
		exchange_fail(ex, EXCEPTION_CALL_DEADLINE, "the operation came too late");
		ipc_state_reply(sc, &out, ex->exception);
		return;
	}
	bool ok = node->desc->serve(node, ex, op, arg, &out);
	ipc_state_reply(sc, &out, ok ? NULL : ex->exception);
}

static void
serve_pending(struct worker *wk, struct pending *pe)
{
	struct exchange *ex = pe->ex;
	struct value out = value_null();
	if (pe->sc != NULL) {
		serve_for(pe->sc, ex, pe->of, pe->op, &pe->arg);
		return;
	}
	bool ok = pe->of->desc->serve(pe->of, ex, pe->op, &pe->arg, &out);
	struct exception *exception = ok ? NULL : ex->exception;
	ex->exception = NULL;
	if (pe->note)
		exchange_free(&wk->pool, &ex);
	else
		engine_state_done(ex, out, exception);
}

static void
forget_pending(struct states *ss, struct pending *pe)
{
	list_remove(&pe->node);
	ss->pending_n -= pe->note;
}

static void
pass_on(struct worker *wk, struct pending *pe, const struct state_place *place)
{
	struct exchange *ex = pe->ex;
	if (pe->note) {
		ipc_state_note(wk->ipc, ex->home, pe->of, pe->op, &pe->arg, place->kind, place->generation);
		exchange_free(&wk->pool, &ex);
		return;
	}
	if (pe->sc != NULL)
		ex->owner = pe->sc;
	ipc_state(wk->ipc, ex, pe->of, pe->op, &pe->arg, place->kind, place->generation);
}

void
states_pass_on(struct worker *wk)
{
	struct states *ss = wk->states;
	if (ss == NULL || wk->ipc == NULL)
		return;
	LIST_FOREACH(&ss->pending, it, tmp) {
		struct pending *pe = LIST_ENTRY(it, struct pending, node);
		const struct state_place *place = &ss->places[pe->of->index];
		if (place->where != STATE_MOVED)
			continue;
		forget_pending(ss, pe);
		pass_on(wk, pe, place);
		free(pe);
	}
}

static void
tell_lost(struct states *ss, struct state_node *node)
{
	for (size_t i = 0; i < ss->lost_n && node->desc->home_lost != NULL; i++)
		node->desc->home_lost(node, ss->lost[i]);
}

void
states_serve(struct worker *wk)
{
	struct states *ss = wk->states;
	for (uint32_t i = 0; ss != NULL && i < wk->program->states_n; i++) {
		struct state_node *node = wk->program->states[i];
		if (ss->places[i].where != STATE_COMING)
			continue;
		ss->places[i].where = STATE_HERE;
		state_serve(node);
		tell_lost(ss, node);
	}
	while (ss != NULL && !list_empty(&ss->pending)) {
		struct pending *pe = LIST_FIRST(&ss->pending, struct pending, node);
		forget_pending(ss, pe);
		serve_pending(wk, pe);
		free(pe);
	}
	if (ss != NULL)
		ss->lost_n = 0;
}

/* ---- operations that this worker makes ---- */

static bool
is_unreachable(struct worker *wk, struct exchange *ex)
{
	if (wk->ipc != NULL)
		return false;
	exchange_fail(ex, EXCEPTION_WORKER_LOST, "there is no other worker that keeps the state of this step");
	return true;
}

void
states_ask(struct engine *en, struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg)
{
	struct worker *wk = worker_of(en);
	const struct state_place *place = &wk->states->places[node->index];
	if (place->where == STATE_COMING) {
		(void)wait_for(wk, node, ex, op, arg);
	} else if (is_unreachable(wk, ex)) {
		struct exception *exception = ex->exception;
		ex->exception = NULL;
		engine_state_done(ex, value_null(), exception);
	} else {
		ipc_state(wk->ipc, ex, node, op, arg, place->kind, place->generation);
	}
}

void
states_note(struct engine *en, struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg)
{
	struct worker *wk = worker_of(en);
	const struct state_place *place = &wk->states->places[node->index];
	if (place->where == STATE_COMING) {
		struct exchange *note = exchange_new(&wk->pool);
		note->engine = en;
		note->home = ex->home;
		struct value copy = value_share(&note->arena, arg);
		wait_for(wk, node, note, op, &copy)->note = true;
		wk->states->pending_n++;
	} else if (wk->ipc != NULL) {
		ipc_state_note(wk->ipc, ex->home, node, op, arg, place->kind, place->generation);
	}
}

void
states_done(void *owner, struct exchange *ex, struct value v, struct exception *exception)
{
	(void)owner;
	if (ex->run != NULL)
		engine_state_done(ex, v, exception);
	else /* it was passed on */
		ipc_state_reply(ex->owner, &v, exception);
}

/* ---- operations that it is asked for ---- */

static struct state_node *
find_node(const struct program *p, const struct ipc_operation *op)
{
	for (uint32_t i = 0; i < p->states_n; i++) {
		struct state_node *node = p->states[i];
		if (str_eq(op->node_id, str_of(node->node_id)) && str_eq(op->route_id, str_of(node->route_id)) &&
		    str_eq(op->name, str_of(node->desc->name)) && op->op < node->desc->ops)
			return node;
	}
	return NULL;
}

void
states_served(void *owner, struct ipc_served *sc, struct exchange *ex, const struct ipc_operation *op)
{
	struct worker *wk = owner;
	struct state_node *node = find_node(wk->program, op);
	const struct state_place *place = node != NULL ? &wk->states->places[node->index] : NULL;
	if (place == NULL || place->where == STATE_ELSEWHERE) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "worker %s keeps no state of \"%.*s\"", wk->kind->kind,
		    STR_FMT(op->node_id));
		ipc_state_reply(sc, NULL, ex->exception);
	} else if (place->where == STATE_HERE) {
		serve_for(sc, ex, node, op->op, &op->arg);
	} else if (place->where == STATE_COMING) {
		wait_for(wk, node, ex, op->op, &op->arg)->sc = sc;
	} else {
		ex->owner = sc;
		ipc_state(wk->ipc, ex, node, op->op, &op->arg, place->kind, place->generation);
	}
}

/* ---- deaths, and the end ---- */

void
states_home_lost(struct worker *wk, uint64_t home)
{
	struct states *ss = wk->states;
	bool coming = false;
	for (uint32_t i = 0; ss != NULL && i < wk->program->states_n; i++) {
		struct state_node *node = wk->program->states[i];
		coming = coming || ss->places[i].where == STATE_COMING;
		if (node->serving && node->desc->home_lost != NULL)
			node->desc->home_lost(node, home);
	}
	if (!coming)
		return;
	ss->lost = mem_realloc(ss->lost, (ss->lost_n + 1) * sizeof ss->lost[0]);
	ss->lost[ss->lost_n++] = home;
}

bool
states_end(struct worker *wk, bool final)
{
	bool told = false;
	for (uint32_t i = 0; wk->states != NULL && i < wk->program->states_n; i++) {
		struct state_node *node = wk->program->states[i];
		if (!node->serving || node->desc->end == NULL)
			continue;
		node->desc->end(node, final ? STATE_END_BROKER : STATE_END_GONE);
		told = true;
	}
	return told;
}

void
states_close(struct worker *wk)
{
	struct states *ss = wk->states;
	if (ss == NULL)
		return;
	for (uint32_t i = 0; i < wk->program->states_n; i++)
		state_close(wk->program->states[i]);
	while (!list_empty(&ss->pending)) {
		struct pending *pe = LIST_FIRST(&ss->pending, struct pending, node);
		list_remove(&pe->node);
		if (pe->note)
			exchange_free(&wk->pool, &pe->ex);
		free(pe);
	}
	free(ss->lost);
	free(ss);
	wk->states = NULL;
}
