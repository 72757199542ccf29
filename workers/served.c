/* Both ends of calls in a worker: what core/ipc asks of it as a home, and the steps and expressions that it runs for others. */
#include "workers/worker_priv.h"

#include "core/base/log.h"

/* What the home has to do itself when a call has brought its reply. False: it failed. */
static bool
after_call(struct worker *wk, struct exchange *ex, const struct step *last)
{
	struct endpoint *ep = last->endpoint;
	if (ep == NULL || !ep->after_call || ep->ops == NULL || ep->ops->after_call == NULL)
		return true;
	return ep->ops->after_call(wk, ex, last, ep) != STEP_FAILED;
}

static void
on_call_done(void *owner, struct exchange *ex, enum ipc_outcome outcome, const struct step *failed)
{
	bool ok = outcome == IPC_OK;
	if (ex->sent_by_call) { /* for the engine it is a send that took its time */
		ex->sent_by_call = false;
		if (ok)
			engine_resume(ex);
		else
			engine_fail(ex);
		return;
	}
	if (ok) {
		const struct step *last = worker_call_last(ex->top->at);
		ok = after_call(owner, ex, last);
		if (!ok)
			failed = last;
	}
	engine_call_done(ex, ok, failed);
}

static void
on_slot(void *owner, struct exchange *ex, const struct expression *e, struct value v, struct exception *exception)
{
	(void)owner;
	engine_slot_fill(ex, e, v, exception);
}

static void
on_evaluate_done(void *owner, struct exchange *ex)
{
	(void)owner;
	engine_evaluate_done(ex);
}

static struct exchange *
on_exchange_new(void *owner)
{
	struct worker *wk = owner;
	struct exchange *ex = exchange_new(&wk->pool);
	ex->engine = &wk->engine;
	return ex;
}

static void
on_exchange_free(void *owner, struct exchange **ex)
{
	struct worker *wk = owner;
	exchange_free(&wk->pool, ex);
}

static void
served_done(struct exchange *ex)
{
	ipc_reply(ex->owner, ex, engine_failed_step(ex));
}

static void
on_serve_call(void *owner, struct ipc_served *sc, struct exchange *ex, const struct step *first, uint32_t n)
{
	struct worker *wk = owner;
	ex->owner = sc;
	ex->done = served_done;
	engine_start_steps(&wk->engine, ex, first, n);
}

static enum eval_rc
on_serve_eval(void *owner, struct exchange *ex, const struct expression *e, struct value *out)
{
	(void)owner;
	if (!e->predicate)
		return expression_eval(e, ex, out);
	bool truth = false;
	enum eval_rc rc = expression_test(e, ex, &truth);
	*out = value_bool(truth);
	return rc;
}

static void
on_poison(void *owner, uint64_t key)
{
	control_say_poison(owner, key);
}

static const struct ipc_ops ipc_ops = {
	.call_done = on_call_done,
	.slot = on_slot,
	.evaluate_done = on_evaluate_done,
	.exchange_new = on_exchange_new,
	.exchange_free = on_exchange_free,
	.serve_call = on_serve_call,
	.serve_eval = on_serve_eval,
	.poison = on_poison,
	.state_done = states_done,
	.serve_state = states_served,
};

enum hinny_rc
worker_ipc_open(struct worker *wk, struct hinny_error *err)
{
	const struct settings *set = wk->program->settings;
	struct ipc_options opt = {
		.lp = &wk->lp,
		.program = wk->program,
		.ops = &ipc_ops,
		.owner = wk,
		.page = wk->page,
		.run_dir = wk->run_dir,
		.kind = kind_index(str_of(wk->kind->kind)),
		.index = wk->args.index,
		.incarnation = wk->args.incarnation,
		.serve_at_once = wk->kind->calls_at_once,
		.call_timeout_ms = set->supervisor.call_timeout_ms,
		.max_tries = (uint32_t)set->xform.max_tries,
		.refuse_ms = set->xform.refuse_ms,
		.peer_calls = (uint32_t)set->call_queue_calls,
		.peer_bytes = set->call_queue_bytes,
		.max_body = set->http.max_body > set->xform.max_size ? set->http.max_body : set->xform.max_size,
		.spool_memory = set->spool_memory,
	};
	return ipc_open(&opt, &wk->ipc, err);
}
