/*
 * The runtime of seda and stub. A queue is shared by all endpoints of its name; what waits in it
 * are copies, exchanges of their own. A sender that waits for the end of the other route has the
 * result copied back. Of several routes that consume (multipleConsumers) each gets a copy, and a
 * message has ended when all of them have. A generation works off its own queues: as long as
 * messages wait, some are under way, and the worker does not end.
 *
 * What a step takes out (poll, pollEnrich) counts as done: a sender that waits goes on with its
 * message as it was.
 */
#include "transports/seda/seda.h"

#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "workers/worker.h"

#include <stdlib.h>

enum { SEDA_BURST = 64 }; /* messages begun without giving way to the loop */

struct seda_queue {
	struct list node; /* of all of the worker */
	struct worker *wk;
	const struct component_desc *component; /* seda and stub have queues of their own */
	const char *name;
	uint32_t refs;         /* endpoints */
	struct list consumers; /* struct seda_consumer: of the program */
	uint32_t started;      /* of them */
	int64_t concurrent;    /* messages at a time, of all that are started */
	size_t size, n;
	struct list waiting;   /* struct seda_item */
	struct list blocked;   /* struct seda_item: senders that wait for room */
	struct list receivers; /* struct seda_receiver */
	uint32_t running;
	bool pumping, resting;
};

struct seda_consumer {
	struct list node;
	const struct endpoint *ep;
	const struct seda_conf *conf;
	const struct route *route; /* set while it is started */
};

struct seda_item {
	struct list node;
	struct seda_queue *queue;
	const struct seda_conf *conf; /* of the sender */
	struct exchange *ex;          /* the copy; NULL while it is blocked */
	struct exchange *sender;      /* waits for the end, or for room; NULL */
	struct engine_timer *timer;   /* of the sender's patience, or NULL */
	uint32_t pending;             /* routes that work on it */
	struct exception *failure;    /* of one of several routes; in the sender's arena */
};

/* A step that waits for a message. */
struct seda_receiver {
	struct list node;
	struct seda_queue *queue;
	struct exchange *ex;
	struct engine_timer *timer;
};

static void pump(struct seda_queue *q);

/* ---- queues ---- */

static struct list *
queues_of(struct worker *wk)
{
	void **at = worker_slot(wk, WORKER_SLOT_QUEUES);

	if (*at == NULL) {
		*at = MEM_NEW(struct list);
		list_init(*at);
	}
	return *at;
}

static void
seda_fini(struct worker *wk)
{
	void **at = worker_slot(wk, WORKER_SLOT_QUEUES);

	free(*at); /* the queues have gone with their endpoints */
	*at = NULL;
}

static struct seda_queue *
find_queue(struct worker *wk, const struct endpoint *ep)
{
	const struct seda_conf *conf = ep->conf;

	LIST_FOREACH (queues_of(wk), node, tmp) {
		struct seda_queue *q = LIST_ENTRY(node, struct seda_queue, node);
		if (q->component == ep->component && strcmp(q->name, conf->name) == 0)
			return q;
	}
	return NULL;
}

/* Is it the from of a route, and not what a step receives from? */
static bool
is_source(const struct endpoint *ep)
{
	return ep->consumer && ep->index != UINT32_MAX;
}

static enum hinny_rc
seda_prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	const struct seda_conf *conf = ep->conf;
	struct seda_queue *q = find_queue(wk, ep);
	(void)err;

	if (q == NULL) {
		q = MEM_NEW(struct seda_queue);
		q->wk = wk;
		q->component = ep->component;
		list_append(queues_of(wk), &q->node);
		q->name = mem_strdup(conf->name);
		q->size = (size_t)conf->size;
		list_init(&q->consumers);
		list_init(&q->waiting);
		list_init(&q->blocked);
		list_init(&q->receivers);
	}
	q->refs++;
	ep->impl = q;
	if (is_source(ep)) {
		struct seda_consumer *cs = MEM_NEW(struct seda_consumer);
		cs->ep = ep;
		cs->conf = conf;
		if (list_empty(&q->consumers))
			q->size = (size_t)conf->size;
		list_append(&q->consumers, &cs->node);
	}
	return HINNY_OK;
}

static void
item_free(struct seda_item *it)
{
	list_remove(&it->node);
	if (it->timer != NULL) {
		struct engine *en = worker_engine(it->queue->wk);
		en->ops->timer_cancel(en, it->timer);
	}
	if (it->sender != NULL)
		engine_on_abort(it->sender, NULL, NULL);
	if (it->ex != NULL)
		worker_exchange_free(it->queue->wk, &it->ex);
	free(it);
}

static void
drop_all(struct list *items)
{
	while (!list_empty(items))
		item_free(LIST_FIRST(items, struct seda_item, node));
}

static void
receiver_free(struct seda_receiver *rc)
{
	struct engine *en = worker_engine(rc->queue->wk);

	list_remove(&rc->node);
	if (rc->timer != NULL)
		en->ops->timer_cancel(en, rc->timer);
	engine_on_abort(rc->ex, NULL, NULL);
	free(rc);
}

static void
seda_release(struct worker *wk, struct endpoint *ep)
{
	struct seda_queue *q = ep->impl;
	(void)wk;

	ep->impl = NULL;
	if (q == NULL || --q->refs > 0)
		return;
	if (q->n > 0)
		log_warning("%zu messages of the queue %s are dropped: nobody names it any more", q->n,
		    q->name);
	list_remove(&q->node);
	drop_all(&q->waiting);
	drop_all(&q->blocked);
	while (!list_empty(&q->receivers))
		receiver_free(LIST_FIRST(&q->receivers, struct seda_receiver, node));
	while (!list_empty(&q->consumers)) {
		struct seda_consumer *cs = LIST_FIRST(&q->consumers, struct seda_consumer, node);
		list_remove(&cs->node);
		free(cs);
	}
	free((char *)q->name);
	free(q);
}

/* ---- what waits ---- */

/* The sender does not wait any more. */
static struct exchange *
take_sender(struct seda_item *it)
{
	struct exchange *sender = it->sender;
	struct engine *en = worker_engine(it->queue->wk);

	it->sender = NULL;
	if (it->timer != NULL)
		en->ops->timer_cancel(en, it->timer);
	it->timer = NULL;
	if (sender != NULL)
		engine_on_abort(sender, NULL, NULL);
	return sender;
}

static void
sender_aborted(void *arg)
{
	struct seda_item *it = arg;

	it->sender = NULL;
	it->failure = NULL;
	if (it->ex == NULL && it->pending == 0)
		item_free(it);
}

static void
sender_late(void *arg)
{
	struct seda_item *it = arg;
	it->timer = NULL;
	bool blocked = it->ex == NULL && it->pending == 0;
	const char *name = it->queue->name;
	int64_t ms = blocked ? it->conf->offer_timeout_ms : it->conf->timeout_ms;
	struct exchange *sender = take_sender(it);

	it->failure = NULL;
	if (blocked)
		item_free(it);
	if (blocked)
		exchange_fail(sender, EXCEPTION_ILLEGAL_STATE,
		    "Fails to insert element into queue, after timeout of %lld milliseconds",
		    (long long)ms);
	else
		exchange_fail(sender, EXCEPTION_EXCHANGE_TIMED_OUT,
		    "The OUT message was not received within: %lld millis on the exchange: %.*s, at "
		    "seda://%s",
		    (long long)ms, STR_FMT(exchange_id(sender)), name);
	engine_fail(sender);
}

static void
wait_as_sender(struct seda_item *it, struct exchange *sender, int64_t ms)
{
	struct engine *en = worker_engine(it->queue->wk);

	it->sender = sender;
	engine_on_abort(sender, sender_aborted, it);
	if (ms > 0)
		it->timer = en->ops->timer_start(en, ms, sender_late, it);
}

static bool
waits_for_end(const struct seda_conf *conf, const struct exchange *ex)
{
	return conf->wait == SEDA_WAIT_ALWAYS ||
	    (conf->wait == SEDA_WAIT_IF_REPLY_EXPECTED && ex->pattern == PATTERN_IN_OUT);
}

static struct exchange *
copy_of(struct seda_queue *q, const struct exchange *ex)
{
	struct exchange *copy = worker_exchange_new(q->wk, NULL);

	copy->engine = worker_engine(q->wk);
	engine_share_message(copy, ex);
	copy->pattern = ex->pattern;
	return copy;
}

/* True: the sender waits for the end. */
static bool
enqueue(struct seda_item *it, struct exchange *sender)
{
	struct seda_queue *q = it->queue;
	bool waits = waits_for_end(it->conf, sender);

	it->ex = copy_of(q, sender);
	it->ex->pattern = waits ? sender->pattern : PATTERN_IN_ONLY;
	list_append(&q->waiting, &it->node);
	q->n++;
	if (waits)
		wait_as_sender(it, sender, it->conf->timeout_ms);
	return waits;
}

/* There is room again: the first that waits for it comes in. */
static void
let_in(struct seda_queue *q)
{
	while (q->n < q->size && !list_empty(&q->blocked)) {
		struct seda_item *it = LIST_FIRST(&q->blocked, struct seda_item, node);
		struct exchange *sender = take_sender(it);
		list_remove(&it->node);
		if (!enqueue(it, sender))
			engine_resume(sender);
	}
}

/* ---- what is received by a step ---- */

static void
receiver_aborted(void *arg)
{
	struct seda_receiver *rc = arg;
	struct engine *en = worker_engine(rc->queue->wk);

	list_remove(&rc->node);
	if (rc->timer != NULL)
		en->ops->timer_cancel(en, rc->timer);
	free(rc);
}

/* The first one's body becomes that of the receiver, its headers are added. */
static void
receive_item(struct seda_queue *q, struct exchange *ex)
{
	struct seda_item *it = LIST_FIRST(&q->waiting, struct seda_item, node);
	struct exchange *sender = take_sender(it);
	struct arena *a = &ex->arena;

	q->n--;
	exchange_set_body(ex, value_share(a, &it->ex->body));
	HEADERS_FOREACH (&it->ex->headers, h)
		exchange_set_header(ex, arena_str(a, h->name), value_share(a, &h->value));
	item_free(it);
	if (sender != NULL)
		engine_resume(sender);
}

static void
receiver_late(void *arg)
{
	struct seda_receiver *rc = arg;
	struct exchange *ex = rc->ex;

	rc->timer = NULL;
	receiver_free(rc);
	exchange_set_body(ex, value_null());
	engine_resume(ex);
}

static enum step_rc
seda_receive(struct worker *wk, struct exchange *ex, struct endpoint *ep, int64_t timeout_ms)
{
	struct seda_queue *q = ep->impl;
	struct engine *en = worker_engine(wk);

	if (!list_empty(&q->waiting)) {
		receive_item(q, ex);
		let_in(q);
		return STEP_DONE;
	}
	if (timeout_ms == 0) {
		exchange_set_body(ex, value_null());
		return STEP_DONE;
	}
	struct seda_receiver *rc = MEM_NEW(struct seda_receiver);
	rc->queue = q;
	rc->ex = ex;
	rc->timer = en->ops->timer_start(en, timeout_ms, receiver_late, rc);
	list_append(&q->receivers, &rc->node);
	engine_on_abort(ex, receiver_aborted, rc);
	return STEP_PENDING;
}

/* Those that wait come before the routes. */
static void
serve_receivers(struct seda_queue *q)
{
	while (!list_empty(&q->waiting) && !list_empty(&q->receivers)) {
		struct seda_receiver *rc = LIST_FIRST(&q->receivers, struct seda_receiver, node);
		struct exchange *ex = rc->ex;
		receiver_free(rc);
		receive_item(q, ex);
		engine_resume(ex);
	}
}

/* ---- what is worked on ---- */

static void
answer_sender(struct exchange *sender, struct exchange *ex, struct exception *failure)
{
	if (failure == NULL && ex->exception == NULL) {
		engine_take_message(sender, ex);
		engine_resume(sender);
		return;
	}
	sender->exception =
	    failure != NULL ? failure : exception_share(&sender->arena, ex->exception);
	engine_fail(sender);
}

/* One route has ended; it was the last one, or the only one. */
static void
item_ended(struct seda_item *it, struct exchange *ex)
{
	struct seda_queue *q = it->queue;
	struct exchange *sender = take_sender(it);

	q->running--;
	if (sender != NULL)
		answer_sender(sender, ex, it->failure);
	q->refs++; /* what follows may end the worker's last use of it */
	item_free(it);
	pump(q);
	q->refs--;
}

static void
item_done(struct exchange *ex)
{
	struct seda_item *it = ex->owner;
	bool own = ex == it->ex; /* else one of several copies */

	if (--it->pending > 0) {
		if (ex->exception != NULL && it->sender != NULL && it->failure == NULL)
			it->failure = exception_share(&it->sender->arena, ex->exception);
	} else {
		struct worker *wk = it->queue->wk;
		item_ended(it, ex);
		if (!own)
			worker_exchange_free(wk, &ex);
		return;
	}
	if (own)
		it->ex = NULL;
	worker_exchange_free(it->queue->wk, &ex);
}

static void
begin_in(struct seda_item *it, struct exchange *ex, const struct route *route)
{
	ex->from_route = ex->route = route;
	ex->owner = it;
	ex->done = item_done;
	worker_exchange_start(it->queue->wk, ex);
}

/* Copies for all routes but the last, which gets the message itself. */
static void
begin_copies(struct seda_queue *q, struct seda_item *it)
{
	const struct route *last = NULL;
	struct exchange **copies = mem_alloc(q->started * sizeof(struct exchange *));
	const struct route **routes = mem_alloc(q->started * sizeof(struct route *));
	uint32_t n = 0;

	LIST_FOREACH (&q->consumers, node, tmp) {
		struct seda_consumer *cs = LIST_ENTRY(node, struct seda_consumer, node);
		if (cs->route == NULL)
			continue;
		if (last != NULL) {
			routes[n] = last;
			copies[n++] = copy_of(q, it->ex);
		}
		last = cs->route;
	}
	it->pending = n + 1;
	struct exchange *own = it->ex;
	for (uint32_t i = 0; i < n; i++)
		begin_in(it, copies[i], routes[i]);
	begin_in(it, own, last);
	free(copies);
	free(routes);
}

static void
begin(struct seda_queue *q)
{
	struct seda_item *it = LIST_FIRST(&q->waiting, struct seda_item, node);

	list_remove(&it->node);
	q->n--;
	q->running++;
	if (q->started > 1) {
		begin_copies(q, it);
		return;
	}
	it->pending = 1;
	LIST_FOREACH (&q->consumers, node, tmp) {
		struct seda_consumer *cs = LIST_ENTRY(node, struct seda_consumer, node);
		if (cs->route == NULL)
			continue;
		begin_in(it, it->ex, cs->route);
		return;
	}
}

static void
rested(void *arg)
{
	struct seda_queue *q = arg;

	q->resting = false;
	pump(q);
}

/* Begins what may be begun. Not from inside itself: a message may be done before begin() returns. */
static void
pump(struct seda_queue *q)
{
	struct engine *en = worker_engine(q->wk);

	if (q->pumping || q->resting)
		return;
	q->pumping = true;
	serve_receivers(q);
	for (int i = 0; !list_empty(&q->waiting) && q->running < q->concurrent; i++) {
		if (i == SEDA_BURST) {
			q->resting = true;
			(void)en->ops->timer_start(en, 0, rested, q);
			break;
		}
		begin(q);
		let_in(q);
	}
	q->pumping = false;
}

/* ---- the component ---- */

static enum hinny_rc
seda_start(struct worker *wk, struct endpoint *ep, const struct route *route, struct hinny_error *err)
{
	struct seda_queue *q = ep->impl;
	(void)wk;
	(void)err;

	LIST_FOREACH (&q->consumers, node, tmp) {
		struct seda_consumer *cs = LIST_ENTRY(node, struct seda_consumer, node);
		if (cs->ep != ep || cs->route != NULL)
			continue;
		cs->route = route;
		q->started++;
		q->concurrent += cs->conf->concurrent;
	}
	pump(q);
	return HINNY_OK;
}

/* What waits is worked off. */
static void
seda_stop(struct worker *wk, struct endpoint *ep)
{
	struct seda_queue *q = ep->impl;
	const struct seda_conf *conf = ep->conf;
	(void)wk;

	if (q == NULL || !conf->purge)
		return;
	while (!list_empty(&q->waiting)) {
		struct seda_item *it = LIST_FIRST(&q->waiting, struct seda_item, node);
		struct exchange *sender = take_sender(it);
		item_free(it);
		q->n--;
		if (sender == NULL)
			continue;
		exchange_fail(sender, EXCEPTION_ILLEGAL_STATE, "the queue %s was purged", q->name);
		engine_fail(sender);
	}
}

static enum step_rc
when_full(struct seda_queue *q, struct exchange *ex, const struct seda_conf *conf)
{
	if (conf->discard_when_full)
		return STEP_DONE;
	if (!conf->block_when_full) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "Queue full");
		return STEP_FAILED;
	}
	struct seda_item *it = MEM_NEW(struct seda_item);
	it->queue = q;
	it->conf = conf;
	list_append(&q->blocked, &it->node);
	wait_as_sender(it, ex, conf->offer_timeout_ms);
	return STEP_PENDING;
}

static enum step_rc
seda_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct seda_conf *conf = ep->conf;
	struct seda_queue *q = ep->impl;
	bool none = list_empty(&q->consumers) && list_empty(&q->receivers);
	(void)wk;
	(void)st;

	if (none && conf->fail_if_none) {
		exchange_fail(ex, EXCEPTION_SEDA_NOT_AVAILABLE,
		    "No consumers available on endpoint: %s. Exchange[]", ep->key);
		return STEP_FAILED;
	}
	if (none && conf->discard_if_none)
		return STEP_DONE;
	if (none && strcmp(ep->component->scheme, "stub") == 0 && ex->pattern == PATTERN_IN_OUT)
		return STEP_DONE; /* it stands for what is not there, and nobody would answer */
	if (q->n >= q->size)
		return when_full(q, ex, conf);
	struct seda_item *it = MEM_NEW(struct seda_item);
	it->queue = q;
	it->conf = conf;
	list_init(&it->node);
	bool waits = enqueue(it, ex);
	if (waits) { /* what is worked on begins when this has returned */
		if (!q->resting) {
			struct engine *en = worker_engine(q->wk);
			q->resting = true;
			(void)en->ops->timer_start(en, 0, rested, q);
		}
		return STEP_PENDING;
	}
	pump(q);
	return STEP_DONE;
}

const struct component_ops seda_ops = {
	.scheme = "seda",
	.prepare = seda_prepare,
	.start = seda_start,
	.stop = seda_stop,
	.send = seda_send,
	.receive = seda_receive,
	.release = seda_release,
	.fini = seda_fini,
};

const struct component_ops stub_ops = {
	.scheme = "stub",
	.prepare = seda_prepare,
	.start = seda_start,
	.stop = seda_stop,
	.send = seda_send,
	.receive = seda_receive,
	.release = seda_release,
};
