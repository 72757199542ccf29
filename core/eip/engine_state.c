/*
 * Operations of steps on their state. Where it is served here, an operation is a function call.
 * Else it is noted with the run of the step, the step gives way (STEP_NEED), and when the answer is
 * there it runs again and finds it: operations that change something by their order, those that
 * only read by node and argument, so that an expression may ask for what the one before it named.
 */
#include "core/eip/state.h"

#include "core/base/assert.h"
#include "core/eip/engine_priv.h"

enum { CALLS_MAX = 10000 }; /* of one step: more must be a step that never asks the same twice */

struct state_call {
	struct state_call *next;
	struct state_node *node;
	unsigned op;
	bool used, sent, filled;
	struct value arg, value;
	struct exception *exception;
};

uint64_t
state_home(const struct exchange *ex)
{
	return ex->home ? ex->home : ex->engine->incarnation;
}

bool
state_home_lives(struct state_node *node, uint64_t home)
{
	struct engine *en = node->engine;
	return home == en->incarnation || en->ops->home_lives == NULL ||
	    en->ops->home_lives(en, home);
}

/* ---- the calls of a step ---- */

void
engine_state_begin(struct engine_run *run)
{
	run->state_asked = NULL;
	for (struct state_call *call = run->states; call; call = call->next)
		call->used = false;
}

void
engine_state_end(struct engine_run *run)
{
	struct state_call **last = &run->states;
	while (*last)
		last = &(*last)->next;
	*last = run->states_spare;
	run->states_spare = run->states;
	run->states = NULL;
	run->state_asked = NULL;
}

static bool
same_arg(struct arena *a, const struct value *l, const struct value *r)
{
	return l->type == r->type && str_eq(value_text(a, l), value_text(a, r));
}

/* The call that the step made when it ran before. */
static struct state_call *
find_call(struct exchange *ex, const struct state_node *node, unsigned op, bool reads,
    const struct value *arg)
{
	for (struct state_call *call = ex->run->states; call; call = call->next) {
		if (call->used || call->node != node || call->op != op)
			continue;
		if (!reads || same_arg(&ex->arena, &call->arg, arg))
			return call;
	}
	return NULL;
}

static struct state_call *
add_call(struct exchange *ex)
{
	struct engine_run *run = ex->run;
	struct state_call *call = run->states_spare, **last = &run->states;
	unsigned n = 0;
	for (; *last; last = &(*last)->next)
		n++;
	if (n >= CALLS_MAX) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE,
		    "a step asked its state more than %d times", CALLS_MAX);
		return NULL;
	}
	if (call)
		run->states_spare = call->next;
	else
		call = ARENA_NEW(&ex->arena, struct state_call);
	*last = call;
	return call;
}

static enum eval_rc
take(struct exchange *ex, struct state_call *call, struct value *out)
{
	if (!call->filled) { /* its answer was not waited for */
		ex->need = NULL;
		ex->run->state_asked = call;
		return EVAL_NEED;
	}
	call->used = true;
	if (call->exception) {
		ex->exception = call->exception;
		return EVAL_ERROR;
	}
	*out = call->value;
	return EVAL_OK;
}

static enum eval_rc
ask(struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg)
{
	if (ex->run == NULL || ex->engine->ops->state == NULL) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE,
		    "the state \"%s\" cannot be asked from here", node->node_id);
		return EVAL_ERROR;
	}
	struct state_call *call = add_call(ex);
	if (call == NULL)
		return EVAL_ERROR;
	*call = (struct state_call){ .node = node, .op = op, .arg = *arg };
	ex->need = NULL;
	ex->run->state_asked = call;
	return EVAL_NEED;
}

enum eval_rc
engine_state(struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg,
    struct value *out)
{
	static const struct value null = { .type = VALUE_NULL };
	ASSERT(op < node->desc->ops);
	if (arg == NULL)
		arg = &null;
	*out = null;
	if (ex->run && ex->run->states) { /* it has asked before, when it was served elsewhere */
		bool reads = (node->desc->read_ops >> op & 1) != 0;
		struct state_call *call = find_call(ex, node, op, reads, arg);
		if (call)
			return take(ex, call, out);
	}
	if (node->serving)
		return node->desc->serve(node, ex, op, arg, out) ? EVAL_OK : EVAL_ERROR;
	return ask(ex, node, op, arg);
}

void
engine_state_ask(struct exchange *ex)
{
	struct engine *en = ex->engine;
	struct engine_run *run = ex->run;
	struct state_call *call = run->state_asked;
	run->wait = WAIT_STATE;
	run->aside = ex->exception; /* so that one of the answer can be told from it */
	ex->exception = NULL;
	ASSERT(!call->sent);
	call->sent = true;
	en->ops->state(en, ex, call->node, call->op, &call->arg);
}

void
engine_state_done(struct exchange *ex, struct value v, struct exception *exception)
{
	struct engine_run *run = ex->run;
	struct state_call *call = run->state_asked;
	ASSERT(run->wait == WAIT_STATE && call != NULL && !call->filled);
	call->value = v;
	call->exception = exception;
	call->filled = true;
	run->state_asked = NULL;
	ex->exception = run->aside;
	run->aside = NULL;
	engine_state_answered(ex);
}

void
engine_state_note(
    struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg)
{
	struct engine *en = ex->engine;
	struct exception *before = ex->exception;
	struct value null = value_null(), out = null;
	ASSERT(op < node->desc->ops && (node->desc->message_ops >> op & 1) == 0);
	if (!node->serving) {
		en->ops->state_note(en, ex, node, op, arg ? arg : &null);
		return;
	}
	(void)node->desc->serve(node, ex, op, arg ? arg : &null, &out); /* nobody wants to know */
	ex->exception = before;
}

/* ---- messages that state holds ---- */

struct exchange *
state_exchange_new(struct state_node *node)
{
	struct engine *en = node->engine;
	struct exchange *ex = en->ops->child_new(en, false);
	ex->engine = en;
	ex->route = ex->from_route = node->step ? node->step->route : NULL;
	return ex;
}

void
state_exchange_free(struct exchange **ex)
{
	engine_child_free(ex);
}

struct starting {
	struct state_node *node;
	struct exchange *ex;
	exchange_done_fn *done;
	void *owner;
};

static void
started_done(struct exchange *ex)
{
	struct starting *s = ex->owner;
	ex->owner = s->owner;
	if (s->done)
		s->done(ex);
	engine_child_free(&ex);
}

static void
start(void *arg)
{
	struct starting *s = arg;
	struct engine *en = s->ex->engine;
	const struct step *first = s->node->step->block.first;
	s->ex->owner = s;
	s->ex->done = started_done;
	if (first == NULL) { /* it stays a detached exchange until here, as any other */
		started_done(s->ex);
		return;
	}
	en->state_nested++;
	engine_start_child(s->ex, first, 0, true);
	en->state_nested--;
}

void
state_exchange_start(
    struct state_node *node, struct exchange **ex, exchange_done_fn *done, void *owner)
{
	struct engine *en = node->engine;
	struct starting *s = ARENA_NEW(&(*ex)->arena, struct starting);
	*s = (struct starting){ node, *ex, done, owner };
	*ex = NULL;
	s->ex->depth = 0;
	if (en->ops->child_detach)
		en->ops->child_detach(en, s->ex);
	if (en->state_nested < STATE_NESTED_MAX)
		start(s);
	else
		(void)en->ops->timer_start(en, 0, start, s); /* nobody cancels it */
}
