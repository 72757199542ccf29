/*
 * The runtime of seda. A queue is shared by all endpoints of its name; what waits in it are copies,
 * exchanges of their own. A sender that waits for the end of the other route has the result copied
 * back. A generation works off its own queues: as long as messages wait, some are under way, and
 * the worker does not end.
 */
#include "transports/seda/seda.h"

#include "core/base/list.h"
#include "core/base/mem.h"
#include "workers/worker.h"

#include <stdlib.h>

enum { SEDA_BURST = 64 }; /* messages begun without giving way to the loop */

struct seda_queue {
	struct worker *wk;
	const char *name;
	uint32_t refs; /* endpoints */
	const struct seda_conf *from; /* of the route that consumes, or NULL */
	const struct route *route;    /* set while it is started */
	bool stopped;
	size_t size, n;
	struct list waiting; /* struct seda_item */
	struct list blocked; /* struct seda_item: senders that wait for room */
	uint32_t running;
	bool pumping, resting;
};

struct seda_item {
	struct list node;
	struct seda_queue *queue;
	const struct seda_conf *conf; /* of the sender */
	struct exchange *ex;          /* the copy; NULL while it is blocked */
	struct exchange *sender;      /* waits for the end, or for room; NULL */
	struct engine_timer *timer;   /* of the sender's patience, or NULL */
};

static void pump(struct seda_queue *q);

/* ---- queues ---- */

static struct seda_queue *
find_queue(struct worker *wk, const struct endpoint *ep)
{
	const struct seda_conf *conf = ep->conf;
	const struct program *p = worker_program(wk);

	for (uint32_t i = 0; i < p->endpoints_n; i++) {
		const struct endpoint *other = p->endpoints[i];
		if (other->component != ep->component || other->impl == NULL)
			continue;
		struct seda_queue *q = other->impl;
		if (strcmp(q->name, conf->name) == 0)
			return q;
	}
	return NULL;
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
		q->name = mem_strdup(conf->name);
		q->size = (size_t)conf->size;
		list_init(&q->waiting);
		list_init(&q->blocked);
	}
	q->refs++;
	ep->impl = q;
	if (ep->consumer) {
		q->from = conf;
		q->size = (size_t)conf->size;
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
seda_release(struct worker *wk, struct endpoint *ep)
{
	struct seda_queue *q = ep->impl;
	(void)wk;

	ep->impl = NULL;
	if (q == NULL || --q->refs > 0)
		return;
	drop_all(&q->waiting);
	drop_all(&q->blocked);
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
	if (it->ex == NULL)
		item_free(it);
}

static void
sender_late(void *arg)
{
	struct seda_item *it = arg;
	it->timer = NULL;
	bool blocked = it->ex == NULL;
	const char *name = it->queue->name;
	int64_t ms = blocked ? it->conf->offer_timeout_ms : it->conf->timeout_ms;
	struct exchange *sender = take_sender(it);

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

/* True: the sender waits for the end. */
static bool
enqueue(struct seda_item *it, struct exchange *sender)
{
	struct seda_queue *q = it->queue;
	bool waits = waits_for_end(it->conf, sender);

	it->ex = worker_exchange_new(q->wk, NULL);
	it->ex->engine = worker_engine(q->wk);
	engine_share_message(it->ex, sender);
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

/* ---- what is worked on ---- */

static void
answer_sender(struct exchange *sender, struct exchange *ex)
{
	if (ex->exception == NULL) {
		engine_take_message(sender, ex);
		engine_resume(sender);
		return;
	}
	sender->exception = exception_share(&sender->arena, ex->exception);
	engine_fail(sender);
}

static void
item_done(struct exchange *ex)
{
	struct seda_item *it = ex->owner;
	struct seda_queue *q = it->queue;
	struct exchange *sender = take_sender(it);

	q->running--;
	if (sender != NULL)
		answer_sender(sender, ex);
	q->refs++; /* what follows may end the worker's last use of it */
	item_free(it);
	pump(q);
	q->refs--;
}

static void
begin(struct seda_queue *q)
{
	struct seda_item *it = LIST_FIRST(&q->waiting, struct seda_item, node);

	list_remove(&it->node);
	q->n--;
	q->running++;
	it->ex->from_route = it->ex->route = q->route;
	it->ex->owner = it;
	it->ex->done = item_done;
	worker_exchange_start(q->wk, it->ex);
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

	if (q->pumping || q->resting || q->route == NULL)
		return;
	q->pumping = true;
	for (int i = 0; !list_empty(&q->waiting) && q->running < (uint32_t)q->from->concurrent; i++) {
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

	q->route = route;
	pump(q);
	return HINNY_OK;
}

/* What waits is worked off. */
static void
seda_stop(struct worker *wk, struct endpoint *ep)
{
	struct seda_queue *q = ep->impl;
	(void)wk;

	if (q == NULL || !q->from->purge)
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
	(void)wk;
	(void)st;

	if (q->from == NULL && conf->fail_if_none) {
		exchange_fail(ex, EXCEPTION_SEDA_NOT_AVAILABLE,
		    "No consumers available on endpoint: %s", ep->key);
		return STEP_FAILED;
	}
	if (q->from == NULL && conf->discard_if_none)
		return STEP_DONE;
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
	.release = seda_release,
};
