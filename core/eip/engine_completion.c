/*
 * The onCompletion of the routes that an exchange went through. The first of BeforeConsumer whose
 * condition holds runs on the exchange each time it leaves the route; the others run on copies that
 * are made when the exchange is done, when the loop has turned: the consumer has its answer by then.
 */
#include "core/eip/engine_priv.h"
#include "core/eip/steps.h"

enum { COMPLETIONS_MAX = 10000 };

/* Of AfterConsumer: the last one that was entered is the first. */
struct completion {
	struct completion *next;
	const struct step *st;
	const struct route *route;
};

void
engine_note_completions(struct exchange *ex, const struct route *route)
{
	struct engine_run *run = ex->run;
	for (uint32_t i = 0; i < route->completions_n; i++) {
		const struct on_completion_conf *conf = route->completions[i]->conf;
		if (conf->mode == COMPLETION_BEFORE || run->completions_n == COMPLETIONS_MAX)
			continue;
		struct completion *c = ARENA_NEW(&ex->arena, struct completion);
		*c = (struct completion){ run->completions, route->completions[i], route };
		run->completions = c;
		if (++run->completions_n == COMPLETIONS_MAX)
			ex->engine->ops->log(ex->engine, LOG_LEVEL_WARNING, route->id,
			    STR_LIT("onCompletion runs for the first 10000 entries of routes alone"),
			    ex);
	}
}

/* ---- functions ---- */

struct done_call {
	struct done_call *next;
	engine_done_fn *fn;
	void *arg;
};

void
engine_on_done(struct exchange *ex, engine_done_fn *fn, void *arg)
{
	struct done_call *call = ARENA_NEW(&ex->arena, struct done_call);
	*call = (struct done_call){ ex->run->done_calls, fn, arg };
	ex->run->done_calls = call;
}

struct end_call {
	struct end_call *next;
	engine_end_fn *fn;
	void *arg;
};

void
engine_on_end(struct exchange *ex, engine_end_fn *fn, void *arg)
{
	struct end_call *call = ARENA_NEW(&ex->arena, struct end_call);
	*call = (struct end_call){ ex->run->end_calls, fn, arg };
	ex->run->end_calls = call;
}

bool
engine_end_waits(struct exchange *ex)
{
	struct engine_run *run = ex->run;
	if (run->end_calls == NULL)
		return false;
	engine_state_begin(run);
	for (; run->end_calls; run->end_calls = run->end_calls->next)
		if (run->end_calls->fn(ex, run->end_calls->arg) == EVAL_NEED) {
			engine_state_ask(ex);
			return true;
		}
	engine_state_end(run);
	return false;
}

void *
engine_done_arg(const struct exchange *ex, engine_done_fn *fn)
{
	const struct done_call *call = ex->run->done_calls;
	while (call && call->fn != fn)
		call = call->next;
	return call ? call->arg : NULL;
}

struct exchange *
engine_unit(struct exchange *ex)
{
	while (ex->shares_unit && ex->parent)
		ex = ex->parent;
	return ex;
}

void
engine_call_done_fns(struct exchange *ex)
{
	while (ex->run->done_calls) {
		struct done_call *call = ex->run->done_calls;
		ex->run->done_calls = call->next;
		call->fn(ex, call->arg);
	}
}

/* ---- onCompletion ---- */

static bool
is_wanted(const struct on_completion_conf *conf, bool failed)
{
	return !(failed && conf->complete_only) && !(!failed && conf->failure_only);
}

/* The exception of the exchange is in its property only. */
static void
hide_exception(struct exchange *ex, struct exception *e)
{
	if (e == NULL)
		return;
	const char *text =
	    arena_printf(&ex->arena, "%s: %.*s", exception_class(e->id)->name, STR_FMT(e->message));
	ex->exception = NULL;
	ex->caught = e;
	exchange_set_property(ex, STR_LIT("CamelExceptionCaught"), value_str(str_of(text)));
}

static void
use_original(
    struct exchange *ex, const struct exchange *from, const struct on_completion_conf *conf)
{
	const struct snapshot *original = from->run->original;
	if (!conf->use_original || original == NULL || original->body.type == VALUE_STREAM)
		return;
	ex->body = ex == from ? original->body : value_share(&ex->arena, &original->body);
	headers_copy(&ex->headers, &ex->arena, &original->headers);
	ex->dirty |= DIRTY_BODY | DIRTY_HEADERS;
}

/* ---- before ---- */

bool
engine_complete_before(struct exchange *ex, enum leaving how)
{
	struct engine_run *run = ex->run;
	struct activation *top = ex->top;
	if (top->kind != ACTIVATION_ROUTE || top->completed)
		return false;
	const struct route *route = top->route;
	while (top->completion < route->completions_n) {
		const struct step *st = route->completions[top->completion++];
		const struct on_completion_conf *conf = st->conf;
		if (conf->mode != COMPLETION_BEFORE || !is_wanted(conf, how == LEAVING_FAILED))
			continue;
		struct block block = { (struct step *)st, 1 };
		struct activation *act = engine_push(ex, ACTIVATION_COMPLETION, st, &block);
		act->n = 1;
		act->outcome = (uint8_t)how;
		act->saved = ex->exception;
		act->stopped = ex->stop;
		act->failed_over = ex->failed_over;
		act->handled = run->handled;
		hide_exception(ex, ex->exception);
		ex->stop = false;
		ex->failed_over = false;
		run->completing = false;
		run->op = OP_STEP;
		return true;
	}
	return false;
}

void
engine_completed(struct exchange *ex, struct activation *act)
{
	struct engine_run *run = ex->run;
	enum leaving how = act->outcome;
	ex->top->completed = run->completing; /* one is enough */
	ex->stop = act->stopped;
	run->handled = act->handled;
	if (act->saved)
		ex->exception = act->saved; /* whatever has failed since */
	if (act->saved || ex->exception == NULL)
		ex->failed_over = act->failed_over;
	engine_release(ex, act);
	if (ex->exception)
		engine_leave_failed(ex);
	else
		run->op = how == LEAVING_DONE ? OP_STEP : OP_UNWIND;
}

void
engine_completion_runs(struct exchange *ex, const struct on_completion_conf *conf)
{
	if (conf->mode != COMPLETION_BEFORE)
		return;
	ex->run->completing = true;
	use_original(ex, ex, conf);
	exchange_set_property(ex, STR_LIT("CamelOnCompletion"), value_bool(true));
}

/* ---- after ---- */

static void
copy_done(struct exchange *copy)
{
	const struct step *st = copy->owner;
	const struct exception *e = copy->exception;
	if (e) {
		const char *text = arena_printf(&copy->arena,
		    "Error occurred during onCompletion %s, which is ignored: %s%s%.*s", st->id,
		    exception_class(e->id)->name, e->message.n ? ": " : "", STR_FMT(e->message));
		copy->engine->ops->log(copy->engine, LOG_LEVEL_WARNING,
		    copy->route ? copy->route->id : "", str_of(text), copy);
	}
	engine_child_free(&copy);
}

static void
start_copy(void *arg)
{
	struct exchange *copy = arg;
	engine_start_child(copy, copy->owner, 1, false);
}

/* Made before the exchange is done, since it is gone then; they run later. */
void
engine_complete_after(struct exchange *ex)
{
	for (struct completion *c = ex->run->completions; c; c = c->next) {
		const struct on_completion_conf *conf = c->st->conf;
		if (!is_wanted(conf, ex->exception != NULL))
			continue;
		struct exchange *copy = engine_child_new(ex, true);
		if (ex->exception)
			hide_exception(copy, exception_share(&copy->arena, ex->exception));
		use_original(copy, ex, conf);
		copy->depth = 0;
		copy->route = c->route;
		copy->owner = (void *)c->st;
		copy->done = copy_done;
		exchange_set_property(copy, STR_LIT("CamelOnCompletion"), value_bool(true));
		(void)ex->engine->ops->timer_start(ex->engine, 0, start_copy, copy);
	}
}
