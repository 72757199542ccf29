/*
 * The engine: activations, and the loop that runs one exchange until it has to wait.
 *
 * What comes next is run->op. An op ends as a step does: done, failed, or having entered a block;
 * or it waits. All answers to a wait come by engine_answer(): when the engine is on the call stack
 * (the answer came from inside ops->x) it is only noted and the loop goes on by itself, so nothing
 * recurses.
 */
#include "core/eip/engine.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/eip/engine_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- activations ---- */

struct activation *
engine_push(struct exchange *ex, enum activation_kind kind, const struct step *owner,
    const struct block *block)
{
	struct engine_run *run = ex->run;
	struct activation *act = run->free;
	struct snapshot *began = NULL;
	if (act) {
		run->free = act->below;
		began = act->began;
	} else {
		act = arena_alloc(&ex->arena, sizeof(*act));
	}
	*act = (struct activation){
		.below = ex->top,
		.owner = owner,
		.at = block ? block->first : NULL,
		.route = ex->route,
		.kind = (uint8_t)kind,
		.began = began,
	};
	ex->top = act;
	return act;
}

void
engine_release(struct exchange *ex, struct activation *act)
{
	act->below = ex->run->free;
	ex->run->free = act;
}

static struct activation *
pop(struct exchange *ex)
{
	struct activation *act = ex->top;
	ex->top = act->below;
	if (act->kind == ACTIVATION_ROUTE && ex->top) {
		ex->depth--;
		ex->route = ex->top->route;
	}
	return act;
}

enum step_rc
engine_enter(
    struct exchange *ex, const struct step *st, const struct block *block, uint32_t n, void *state)
{
	if ((block == NULL || block->first == NULL) && st->eip->after == NULL)
		return STEP_DONE;
	/* no step within a doTry is ever run again, and of a call's run only whole steps are */
	bool keeps =
	    ex->top->keeps && ex->top->kind != ACTIVATION_STEPS && !(st->eip->flags & EIP_CATCHES);
	struct activation *act = engine_push(ex, ACTIVATION_BLOCK, st, block);
	act->keeps = keeps;
	act->n = n;
	act->state = state;
	return STEP_ENTER;
}

enum step_rc
engine_enter_route(struct exchange *ex, const struct step *st, const struct route *route)
{
	if (ex->depth >= ENGINE_DEPTH_MAX) {
		exchange_fail(ex, EXCEPTION_STACK_OVERFLOW_ERROR,
		    "more than %d routes deep by direct, at route %s", ENGINE_DEPTH_MAX, route->id);
		return STEP_FAILED;
	}
	ex->depth++;
	ex->route = route;
	engine_note_completions(ex, route);
	engine_push(ex, ACTIVATION_ROUTE, st, &route->block)->keeps =
	    engine_route_redelivers(route);
	return STEP_ENTER;
}

enum step_rc
engine_need_body(struct exchange *ex)
{
	ex->need = NULL;
	ex->run->state_asked = NULL;
	return STEP_NEED;
}

/* ---- what comes next ---- */

void
engine_advance(struct exchange *ex)
{
	struct activation *top = ex->top;
	top->tries = 0;
	top->delay_ms = 0;
	bool counts = top->kind == ACTIVATION_STEPS || top->kind == ACTIVATION_COMPLETION ||
	    (top->kind == ACTIVATION_CHILD && top->n);
	if (counts && --top->n == 0)
		top->at = NULL;
	else if (top->at)
		top->at = top->at->next;
	ex->run->op = ex->stop || ex->run->leaves ? OP_UNWIND : OP_STEP;
	ex->run->leaves = false;
}

void
engine_leave_failed(struct exchange *ex)
{
	if (engine_complete_before(ex, LEAVING_FAILED))
		return;
	struct activation *act = pop(ex);
	if (act->kind == ACTIVATION_HANDLER) {
		engine_handler_ended(ex, act, true);
		return;
	}
	if (act->kind == ACTIVATION_COMPLETION) {
		engine_completed(ex, act);
		return;
	}
	ex->run->act = act;
	ex->run->op = ex->top ? OP_CAUGHT : OP_UNWIND;
}

void
engine_fail_here(struct exchange *ex)
{
	struct activation *top = ex->top;
	const struct step *st = top->at;
	ASSERT(ex->exception != NULL);
	ex->run->ending = false;
	if (st && ex->exception->step_id == NULL)
		ex->exception->step_id = st->id;
	if (st && engine_handler_applies(ex)) {
		ex->run->op = OP_HANDLE;
		return;
	}
	if (top->kind == ACTIVATION_STEPS && st) {
		ex->run->failed_step = st;
		snapshot_restore(ex, top->began);
	}
	engine_leave_failed(ex);
}

/* The top block has ended. */
static void
leave_done(struct exchange *ex)
{
	if (engine_complete_before(ex, LEAVING_DONE))
		return;
	struct activation *act = pop(ex);
	if (ex->top == NULL) {
		ex->run->op = OP_UNWIND;
	} else if (act->kind == ACTIVATION_COMPLETION) {
		engine_completed(ex, act);
	} else if (act->kind == ACTIVATION_HANDLER) {
		engine_handler_ended(ex, act, false);
	} else if (act->owner->eip->after || act->ends) {
		ex->run->act = act;
		ex->run->ending = act->ends;
		ex->run->op = OP_AFTER;
	} else {
		engine_release(ex, act);
		engine_advance(ex);
	}
}

/* Leaves blocks without an exception: a stop, or a failure that was handled, ends the routes that
 * called this one too. Only the doFinally of a doTry runs, and for a stop not even that. True:
 * there is something to run first. */
static bool
unwind(struct exchange *ex)
{
	struct engine_run *run = ex->run;
	while (ex->top) {
		if (engine_complete_before(ex, LEAVING_UNWOUND))
			return true;
		struct activation *act = pop(ex);
		if (act->kind == ACTIVATION_COMPLETION) {
			engine_completed(ex, act);
			return true;
		}
		if (ex->stop && act->saved && act->outcome == OUTCOME_NONE)
			ex->exception = act->saved; /* which nobody has handled */
		if (!ex->stop && ex->top && act->owner && (act->owner->eip->flags & EIP_CATCHES)) {
			run->act = act;
			run->ending = true;
			run->op = OP_AFTER;
			return true;
		}
		engine_release(ex, act);
	}
	return false;
}

/* ---- running ---- */

/* The body that a call needs must be whole. */
static bool
call_reads_body(const struct step *st)
{
	for (uint32_t i = 0; st && i < st->call_run; i++, st = st->next)
		if (st->reads.flags & ACCESS_BODY)
			return true;
	return false;
}

static enum step_rc
run_step(struct exchange *ex)
{
	struct engine *en = ex->engine;
	struct activation *top = ex->top;
	const struct step *st = top->at;
	bool streams = ex->body.type == VALUE_STREAM;
	struct order *order = st->ordered ? ex->order : NULL;
	if (top->keeps && top->tries == 0)
		snapshot_take(ex, &top->began);
	if (order && !order->may_run(order, ex, st)) {
		ex->run->wait = WAIT_AGAIN;
		return STEP_PENDING;
	}
	if (ex->traced && ex->slots_n == 0 && en->ops->trace)
		en->ops->trace(en, ex, st);
	if (st->owner && !en->ops->is_local(en, st->owner)) {
		if (streams && call_reads_body(st))
			return engine_need_body(ex);
		if (order)
			order->ran(order, st);
		ex->run->wait = WAIT_CALL;
		ex->run->call_failed = NULL;
		en->ops->call(en, ex, st);
		return STEP_PENDING;
	}
	if (streams && step_evaluates_body(st))
		return engine_need_body(ex);
	enum step_rc rc = st->eip->run(en, ex, st);
	if (order && rc != STEP_NEED)
		order->ran(order, st);
	return rc;
}

static enum step_rc
run_op(struct exchange *ex)
{
	struct engine *en = ex->engine;
	struct engine_run *run = ex->run;
	struct activation *act = run->act;
	run->wait = WAIT_STEP;
	if (run->states)
		engine_state_begin(run);
	switch (run->op) {
	case OP_STEP:
		return run_step(ex);
	case OP_AFTER:
		return act->owner->eip->after ? act->owner->eip->after(en, ex, act->owner, act)
					      : STEP_DONE;
	case OP_CAUGHT:
		return act->owner->eip->caught ? act->owner->eip->caught(en, ex, act->owner, act)
					       : STEP_FAILED;
	case OP_HANDLE:
		return engine_handle(ex);
	case OP_UNWIND:
		break;
	}
	UNREACHABLE();
}

/* OP_AFTER or OP_CAUGHT is over: what it worked on can go. */
static void
release_act(struct exchange *ex, enum engine_op op)
{
	struct engine_run *run = ex->run;
	if (op == OP_AFTER || op == OP_CAUGHT) {
		engine_release(ex, run->act);
		run->act = NULL;
	}
}

/* The op has ended with rc: sets what comes next (the error handler has done so itself). */
static void
settle(struct exchange *ex, enum engine_op op, enum step_rc rc)
{
	struct engine_run *run = ex->run;
	run->wait = WAIT_NOTHING;
	ex->slots_n = 0;
	if (run->states)
		engine_state_end(run);
	if (op == OP_HANDLE) {
		if (rc ==
		    STEP_FAILED) { /* deciding has failed: that ends it, with the new exception */
			ex->failed_over = true;
			engine_fail_here(ex);
		}
		return;
	}
	bool ending = run->ending && op == OP_AFTER;
	release_act(ex, op);
	run->ending = false;
	switch (rc) {
	case STEP_DONE:
		if (ending)
			run->op = OP_UNWIND;
		else
			engine_advance(ex);
		return;
	case STEP_ENTER:
		ex->top->ends = ending;
		run->op = OP_STEP;
		return;
	case STEP_FAILED:
		engine_fail_here(ex);
		return;
	case STEP_PENDING:
	case STEP_NEED:
		break;
	}
	UNREACHABLE();
}

/* A call has ended: behind its run, or at the step that failed. */
static void
settle_call(struct exchange *ex, bool ok)
{
	struct activation *top = ex->top;
	const struct step *first = top->at, *failed = ex->run->call_failed;
	uint32_t n = first->call_run > 0 ? first->call_run : 1;
	ex->run->wait = WAIT_NOTHING;
	for (uint32_t i = 0; i < n && top->at && (ok || (failed && top->at != failed)); i++)
		engine_advance(ex);
	if (ok)
		return;
	if (top->at == NULL || (failed && top->at != failed))
		top->at = first; /* no step of this run */
	if (top->at != first && top->keeps)
		snapshot_take(ex, &top->began); /* the message is as it was when that step began */
	engine_fail_here(ex);
}

/* The answer to the wait is there. */
static void
take_answer(struct exchange *ex)
{
	struct engine_run *run = ex->run;
	enum engine_wait wait = run->wait;
	bool refused = run->refused;
	run->answered = run->refused = false;
	switch (wait) {
	case WAIT_CALL:
		settle_call(ex, !refused);
		return;
	case WAIT_EVALUATE:
	case WAIT_COLLECT:
		if (engine_take_answer(ex))
			run->wait = WAIT_NOTHING; /* the op runs again */
		else
			settle(ex, run->op, STEP_FAILED);
		return;
	case WAIT_STATE:
	case WAIT_AGAIN:
		run->wait = WAIT_NOTHING;
		return;
	case WAIT_STEP:
		settle(ex, run->op, refused ? STEP_FAILED : STEP_DONE);
		return;
	case WAIT_NOTHING:
		break;
	}
	UNREACHABLE();
}

static void
finish(struct exchange *ex)
{
	ex->top = NULL;
	ex->slots_n = 0;
	ex->need = NULL;
	ex->run->active = false;
	ex->run->wait = WAIT_NOTHING;
	if (ex->run->done_calls)
		engine_call_done_fns(ex);
	if (ex->run->completions && !ex->run->aborted)
		engine_complete_after(ex);
	if (ex->exception && ex->run->routed && !ex->run->reported && !ex->failed_over &&
	    !ex->run->aborted)
		engine_report_failure(ex);
	ex->done(ex); /* may free it */
}

/* A long loop lets others run. */
static bool
burst_is_over(struct exchange *ex)
{
	struct engine_run *run = ex->run;
	if (run->op != OP_STEP || ++run->burst < ENGINE_BURST)
		return false;
	run->burst = 0;
	run->wait = WAIT_AGAIN;
	ex->engine->ops->wait(ex->engine, ex, 0);
	return true;
}

void
engine_loop(struct exchange *ex)
{
	struct engine_run *run = ex->run;
	run->active = true;
	for (;;) {
		if (run->aborted)
			break;
		if (run->wait != WAIT_NOTHING) {
			if (!run->answered) {
				run->active = false;
				return;
			}
			take_answer(ex);
			continue;
		}
		if (run->op == OP_UNWIND) {
			if (!unwind(ex) && !engine_end_waits(ex))
				break;
			continue;
		}
		if (run->op == OP_STEP && ex->top->at == NULL) {
			leave_done(ex);
			continue;
		}
		if (burst_is_over(ex))
			continue;
		enum engine_op op = run->op;
		enum step_rc rc = run_op(ex);
		if (rc == STEP_NEED && run->state_asked && ex->need == NULL)
			engine_state_ask(ex);
		else if (rc == STEP_NEED)
			engine_ask(ex);
		else if (rc != STEP_PENDING)
			settle(ex, op, rc);
	}
	finish(ex);
}

/* ---- from outside ---- */

static void
answer(struct exchange *ex, bool refused)
{
	struct engine_run *run = ex->run;
	ASSERT(run->wait != WAIT_NOTHING && !run->answered);
	run->answered = true;
	run->refused = refused;
	if (!run->active) {
		run->burst = 0;
		engine_loop(ex);
	}
}

void
engine_resume(struct exchange *ex)
{
	answer(ex, false);
}

void
engine_wake(struct exchange *ex)
{
	answer(ex, false);
}

void
engine_fail(struct exchange *ex)
{
	ASSERT(ex->exception != NULL);
	answer(ex, true);
}

void
engine_call_done(struct exchange *ex, bool ok, const struct step *failed)
{
	ASSERT(ex->run->wait == WAIT_CALL);
	ASSERT(ok || ex->exception != NULL);
	ex->run->call_failed = failed;
	answer(ex, !ok);
}

void
engine_state_answered(struct exchange *ex)
{
	ASSERT(ex->run->wait == WAIT_STATE);
	answer(ex, false);
}

void
engine_evaluate_done(struct exchange *ex)
{
	ASSERT(ex->run->wait == WAIT_EVALUATE);
	answer(ex, ex->exception != NULL);
}

bool
engine_waits(const struct exchange *ex)
{
	return ex->run && ex->run->wait != WAIT_NOTHING && !ex->run->answered;
}

const struct step *
engine_failed_step(const struct exchange *ex)
{
	return ex->run ? ex->run->failed_step : NULL;
}

void
engine_begin(struct engine *en, struct exchange *ex)
{
	ex->engine = en;
	ex->run = arena_zalloc(&ex->arena, sizeof(*ex->run));
	ex->top = NULL;
	ex->slots = NULL;
	ex->slots_n = 0;
	ex->need = NULL;
	ex->exception = NULL;
	ex->stop = false;
	ex->failed_over = false;
	ex->depth = 0;
}

void
engine_start(struct engine *en, struct exchange *ex, const struct route *route)
{
	engine_begin(en, ex);
	ex->run->routed = true;
	if (ex->from_route == NULL)
		ex->from_route = route;
	ex->route = route;
	if (en->keeps_original)
		snapshot_take(ex, &ex->run->original);
	engine_note_completions(ex, route);
	engine_push(ex, ACTIVATION_ROUTE, NULL, &route->block)->keeps =
	    engine_route_redelivers(route);
	engine_loop(ex);
}

void
engine_start_failed(struct engine *en, struct exchange *ex, const struct route *route)
{
	struct exception *exception = ex->exception;
	ASSERT(exception != NULL);
	engine_begin(en, ex);
	ex->exception = exception;
	ex->route = route;
	if (en->keeps_original)
		snapshot_take(ex, &ex->run->original);
	engine_note_completions(ex, route);
	engine_push(ex, ACTIVATION_ROUTE, NULL, &route->block); /* keeps nothing: no redelivery */
	engine_fail_here(ex);
	engine_loop(ex);
}

void
engine_start_steps(struct engine *en, struct exchange *ex, const struct step *first, uint32_t n)
{
	struct block block = { .first = first == NULL || n == 0 ? NULL : (struct step *)first,
		.n = n };
	engine_begin(en, ex);
	if (first && first->route)
		ex->route = first->route;
	struct activation *act = engine_push(ex, ACTIVATION_STEPS, NULL, &block);
	act->keeps = true;
	act->n = n;
	engine_loop(ex);
}

void
engine_abort(struct exchange *ex, enum exception_id id, const char *why)
{
	exchange_fail(ex, id, "%s", why);
	if (ex->run == NULL) { /* not started */
		ex->done(ex);
		return;
	}
	struct engine_run *run = ex->run;
	engine_timer_fn *on_abort = run->on_abort;
	run->aborted = true;
	run->on_abort = NULL;
	if (on_abort)
		on_abort(run->on_abort_arg);
	if (!run->active)
		finish(ex);
}

void
engine_on_abort(struct exchange *ex, engine_timer_fn *fn, void *arg)
{
	ex->run->on_abort = fn;
	ex->run->on_abort_arg = arg;
}

enum step_rc
engine_again(struct exchange *ex)
{
	ex->run->wait = WAIT_AGAIN;
	return STEP_PENDING;
}

void
engine_end(struct exchange *ex)
{
	ex->run->leaves = true;
}

bool
engine_was_handled(const struct exchange *ex)
{
	return ex->run && ex->run->handled;
}

void *
engine_shared(struct engine *en, const struct step *st)
{
	ASSERT(en->shared && st->shared_size);
	return (char *)en->shared + st->shared_at;
}

struct engine_local {
	struct engine_local *next;
	const struct step *st;
	engine_timer_fn *free_fn;
	void *data;
};

void **
engine_local(struct engine *en, const struct step *st, engine_timer_fn *free_fn)
{
	struct engine_local **at = &en->locals;
	while (*at && (*at)->st != st)
		at = &(*at)->next;
	if (*at == NULL) {
		*at = MEM_NEW(struct engine_local);
		(*at)->st = st;
		(*at)->free_fn = free_fn;
	}
	return &(*at)->data;
}

static void
free_locals(struct engine *en)
{
	while (en->locals) {
		struct engine_local *local = en->locals;
		en->locals = local->next;
		if (local->data)
			local->free_fn(local->data);
		free(local);
	}
}

void
engine_init(
    struct engine *en, const struct engine_ops *ops, void *owner, const struct program *program)
{
	*en = (struct engine){
		.ops = ops,
		.owner = owner,
		.program = program,
		.keeps_original = engine_program_wants_original(program),
	};
}

void
engine_fini(struct engine *en)
{
	free_locals(en);
	*en = (struct engine){ .ops = NULL };
}
