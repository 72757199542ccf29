/* What the engine asks of its worker: calls to other workers, sends to this one's components, waiting, collecting, logging. */
#include "workers/worker_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/compile.h"
#include "core/eip/steps.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_SPARE_MS = 500 };

static bool
no_callee(struct worker *wk, struct exchange *ex)
{
	if (wk->ipc != NULL)
		return false;
	exchange_fail(ex, EXCEPTION_WORKER_LOST, "this generation has no other workers to call");
	return true;
}

static void
op_call(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct worker *wk = worker_of(en);
	if (no_callee(wk, ex)) {
		engine_call_done(ex, false, NULL);
		return;
	}
	const struct step *last = worker_call_last(st);
	bool streams = last->reply_streams && (last->endpoint == NULL || !last->endpoint->after_call);
	ipc_call(wk->ipc, ex, st, st->call_run, streams);
}

static void
op_evaluate(struct engine *en, struct exchange *ex, struct expression *const *e, uint32_t n, bool first_match)
{
	struct worker *wk = worker_of(en);
	if (no_callee(wk, ex)) {
		engine_evaluate_done(ex);
		return;
	}
	ipc_evaluate(wk->ipc, ex, e, n, first_match);
}

/* An endpoint that another kind of worker runs, found at run time (toD): the callee runs the same step, which finds the endpoint there. */
static enum step_rc
send_by_call(struct worker *wk, struct exchange *ex, const struct step *st, const struct endpoint *ep)
{
	if (no_callee(wk, ex))
		return STEP_FAILED;
	ex->sent_by_call = true;
	ipc_call_kind(wk->ipc, ex, ep->component->owner, st);
	return STEP_PENDING;
}

/* Within the time that a call may take, so that no message is taken for a home that has given up. */
static enum step_rc
receive(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct poll_conf *conf = st->conf;
	const struct value *asked = exchange_property(ex, STR_LIT(POLL_PROPERTY));
	int64_t most = worker_settings(wk)->supervisor.call_timeout_ms - CALL_SPARE_MS;
	int64_t ms = asked != NULL && asked->type == VALUE_INT ? asked->u.i : conf->timeout_ms;
	if (ep->ops == NULL || ep->ops->receive == NULL) {
		exchange_fail(ex, EXCEPTION_UNSUPPORTED_OPERATION, "%s cannot be received from by a step", ep->uri);
		return STEP_FAILED;
	}
	if (ms < 0 || ms > most)
		ms = most > 0 ? most : 0;
	return ep->ops->receive(wk, ex, ep, ms);
}

static enum step_rc
op_send(struct engine *en, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	struct worker *wk = worker_of(en);
	const char *owner = ep->component->owner;
	if (!bind_is_mine(wk, owner) &&
	    (ep->consumer || (ep->component->flags & COMPONENT_PRODUCER)))
		return send_by_call(wk, ex, st, ep);
	if (st->eip->flags & EIP_POLL)
		return receive(wk, ex, st, ep);
	if (ep->ops == NULL || ep->ops->send == NULL) {
		exchange_fail(ex, EXCEPTION_NO_SUCH_ENDPOINT, "%s cannot be sent to from a worker of kind %s", ep->uri,
		    wk->kind->kind);
		return STEP_FAILED;
	}
	return ep->ops->send(wk, ex, st, ep);
}

static bool
op_is_local(struct engine *en, const char *kind)
{
	return strcmp(worker_of(en)->kind->kind, kind) == 0;
}

static void
op_log(struct engine *en, enum log_level level, const char *logger, struct str text, struct exchange *ex)
{
	(void)en;
	if (level > log_get_level())
		return;
	const char *msg = arena_strndup(&ex->arena, text.p, text.n);
	log_text(level, msg, "logger", logger, NULL);
}

static void
op_redelivered(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)st;
	PAGE_ADD(worker_of(en)->page->routes[ex->from_route->index].redelivered, 1);
}

/* ---- waiting ---- */

struct waiting {
	struct loop_timer timer;
	struct exchange *ex;
};

static void
waiting_closed(struct loop_timer *t)
{
	free(CONTAINER_OF(t, struct waiting, timer));
}

static void
waiting_over(struct loop_timer *t)
{
	struct exchange *ex = CONTAINER_OF(t, struct waiting, timer)->ex;
	loop_timer_close(t, waiting_closed);
	engine_wake(ex);
}

static void
op_wait(struct engine *en, struct exchange *ex, int64_t ms)
{
	struct waiting *w = MEM_NEW(struct waiting);
	w->ex = ex;
	loop_timer_init(&worker_of(en)->lp, &w->timer, waiting_over);
	loop_timer_start(&w->timer, ms > 0 ? ms : 0, 0);
}

struct engine_timer {
	struct loop_timer timer;
	engine_timer_fn *fn;
	void *arg;
};

static void
timer_closed(struct loop_timer *t)
{
	free(CONTAINER_OF(t, struct engine_timer, timer));
}

static void
timer_over(struct loop_timer *t)
{
	struct engine_timer *et = CONTAINER_OF(t, struct engine_timer, timer);
	engine_timer_fn *fn = et->fn;
	void *arg = et->arg;
	loop_timer_close(t, timer_closed);
	fn(arg);
}

static struct engine_timer *
op_timer_start(struct engine *en, int64_t ms, engine_timer_fn *fn, void *arg)
{
	struct engine_timer *et = MEM_NEW(struct engine_timer);
	et->fn = fn;
	et->arg = arg;
	loop_timer_init(&worker_of(en)->lp, &et->timer, timer_over);
	loop_timer_start(&et->timer, ms > 0 ? ms : 0, 0);
	return et;
}

static void
op_timer_cancel(struct engine *en, struct engine_timer *et)
{
	(void)en;
	loop_timer_close(&et->timer, timer_closed);
}

static bool
op_home_lives(struct engine *en, uint64_t home)
{
	return worker_lives(worker_of(en), home);
}

static int64_t
op_now_ms(struct engine *en)
{
	return loop_now(&worker_of(en)->lp).ns / 1000000;
}

/* ---- children ---- */

/* One that may outlive its parent is in flight by itself: a worker that drains waits for it. */
static struct exchange *
op_child_new(struct engine *en, bool detached)
{
	struct worker *wk = worker_of(en);
	struct exchange *child = exchange_new(&wk->pool);
	if (detached) {
		wk->inflight++;
		PAGE_SET(wk->page->exchanges, wk->inflight);
	}
	return child;
}

static void
op_child_free(struct engine *en, struct exchange **child)
{
	struct worker *wk = worker_of(en);
	if ((*child)->traced)
		trace_done(wk, *child);
	if ((*child)->detached) {
		wk->inflight--;
		PAGE_SET(wk->page->exchanges, wk->inflight);
	}
	exchange_free(&wk->pool, child);
}

static void
op_child_detach(struct engine *en, struct exchange *child)
{
	struct worker *wk = worker_of(en);
	child->detached = true;
	wk->inflight++;
	PAGE_SET(wk->page->exchanges, wk->inflight);
}

/* ---- bodies that stream ---- */

static void
body_collected(void *arg, struct blob *blob, const struct hinny_error *err)
{
	struct exchange *ex = arg;
	if (err != NULL) {
		enum exception_id id = err->rc == HINNY_ELIMIT ? EXCEPTION_BODY_TOO_LARGE : EXCEPTION_IO;
		exchange_fail(ex, id, "%s", err->text);
		engine_fail(ex);
		return;
	}
	struct value v = value_bytes((struct str){ blob->data, blob->size });
	v.flags = VALUE_INPUT;
	v.blob = arena_hold(&ex->arena, blob);
	blob_put(blob);
	ex->body = v; /* the same message as before: not dirty */
	engine_wake(ex);
}

static void
op_collect(struct engine *en, struct exchange *ex)
{
	struct stream *s = ex->body.u.stream;
	struct collect_limits limits = worker_collect_limits(worker_of(en));
	ASSERT(ex->body.type == VALUE_STREAM);
	ex->body = value_null(); /* the collector has it now */
	collect_start(s, &limits, body_collected, ex);
}

/* ---- endpoints made at run time (toD) ---- */

struct tod_endpoint {
	struct list used;
	struct arena arena;
	struct str uri;
	struct endpoint *ep;
	uint32_t users; /* exchanges that may still look at it */
	bool evicted;
};

void
tod_init(struct worker *wk)
{
	hash_init(&wk->tod, false);
	list_init(&wk->tod_used);
}

static void
tod_free(struct worker *wk, struct tod_endpoint *te)
{
	if (te->ep->ops != NULL && te->ep->ops->release != NULL)
		te->ep->ops->release(wk, te->ep);
	arena_fini(&te->arena);
	free(te);
}

void
tod_fini(struct worker *wk)
{
	while (!list_empty(&wk->tod_used)) {
		struct tod_endpoint *te = LIST_FIRST(&wk->tod_used, struct tod_endpoint, used);
		list_remove(&te->used);
		tod_free(wk, te);
	}
	hash_fini(&wk->tod);
}

/* What releases a tod_endpoint when its exchange's arena goes. */
struct tod_use {
	struct worker *wk;
	struct tod_endpoint *te;
};

static void
tod_unuse(void *arg)
{
	struct tod_use *use = arg;
	if (--use->te->users == 0 && use->te->evicted)
		tod_free(use->wk, use->te);
}

static void
tod_evict(struct worker *wk)
{
	struct tod_endpoint *te = LIST_ENTRY(wk->tod_used.prev, struct tod_endpoint, used);
	list_remove(&te->used);
	hash_remove(&wk->tod, te->uri);
	te->evicted = true;
	if (te->users == 0)
		tod_free(wk, te);
}

/* Gives up the one of this component that was not used for the longest time and that no exchange
 * looks at. False: there is none. */
static bool
tod_evict_idle(struct worker *wk, const struct component_desc *component)
{
	for (struct list *it = wk->tod_used.prev; it != &wk->tod_used; it = it->prev) {
		struct tod_endpoint *te = LIST_ENTRY(it, struct tod_endpoint, used);
		if (te->users > 0 || te->ep->component != component)
			continue;
		list_remove(&te->used);
		hash_remove(&wk->tod, te->uri);
		tod_free(wk, te);
		return true;
	}
	return false;
}

/* A component that has no room for one more (HINNY_ELIMIT) gets it by others that are idle. */
static enum hinny_rc
tod_prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	enum hinny_rc rc;

	if (!bind_is_mine(wk, ep->component->owner) || ep->ops == NULL || ep->ops->prepare == NULL)
		return HINNY_OK;
	do
		rc = ep->ops->prepare(wk, ep, err);
	while (rc == HINNY_ELIMIT && tod_evict_idle(wk, ep->component));
	return rc;
}

static struct tod_endpoint *
tod_make(struct worker *wk, struct str key, struct str uri, bool consumer, struct hinny_error *err)
{
	struct tod_endpoint *te = MEM_NEW(struct tod_endpoint);
	arena_init(&te->arena);
	te->uri = arena_str(&te->arena, key);
	te->ep = consumer ? endpoint_make_consumer(&te->arena, wk->program, uri, err)
			  : endpoint_make(&te->arena, wk->program, uri, err);
	if (te->ep == NULL)
		goto fail;
	te->ep->ops = bind_find_component(wk, te->ep->component);
	if (tod_prepare(wk, te->ep, err) != HINNY_OK)
		goto fail;
	if (wk->tod.count >= WORKER_TOD_MAX)
		tod_evict(wk);
	hash_put(&wk->tod, te->uri, te);
	list_prepend(&wk->tod_used, &te->used);
	return te;
fail:
	arena_fini(&te->arena);
	free(te);
	return NULL;
}

static struct endpoint *
op_endpoint(struct engine *en, struct exchange *ex, const struct step *st, struct str uri)
{
	struct worker *wk = worker_of(en);
	struct hinny_error err;
	bool consumer = (st->eip->flags & EIP_POLL) != 0;
	struct str key = uri;
	if (consumer)
		key = str_of(arena_printf(&ex->arena, "from %.*s", STR_FMT(uri)));
	struct tod_endpoint *te = hash_find(&wk->tod, key);
	if (te == NULL)
		te = tod_make(wk, key, uri, consumer, &err);
	if (te == NULL) {
		exchange_fail(ex, EXCEPTION_NO_SUCH_ENDPOINT, "%s", err.text);
		return NULL;
	}
	list_remove(&te->used);
	list_prepend(&wk->tod_used, &te->used);
	struct tod_use *use = ARENA_NEW(&ex->arena, struct tod_use);
	*use = (struct tod_use){ wk, te };
	te->users++;
	arena_on_reset(&ex->arena, tod_unuse, use);
	return te->ep;
}

const struct engine_ops worker_engine_ops = {
	.call = op_call,
	.evaluate = op_evaluate,
	.send = op_send,
	.endpoint = op_endpoint,
	.wait = op_wait,
	.is_local = op_is_local,
	.log = op_log,
	.collect = op_collect,
	.redelivered = op_redelivered,
	.trace = trace_step,
	.child_new = op_child_new,
	.child_free = op_child_free,
	.child_detach = op_child_detach,
	.state = states_ask,
	.home_lives = op_home_lives,
	.state_note = states_note,
	.timer_start = op_timer_start,
	.timer_cancel = op_timer_cancel,
	.now_ms = op_now_ms,
};
