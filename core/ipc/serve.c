/*
 * The callee's side: calls that arrived, one or several at a time, and their replies. Before a call is begun its id and start time stand in the shared page, so that
 * the supervisor can tell the homes which one a dead worker was working on.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <stdlib.h>

static void
served_free_items(struct ipc_served *sc)
{
	LIST_FOREACH(&sc->items, it, tmp) {
		struct ipc_pending_item *item = LIST_ENTRY(it, struct ipc_pending_item, node);
		list_remove(&item->node); /* its memory is the exchange's */
	}
	sc->items_n = 0;
}

void
served_free(struct ipc_served *sc)
{
	struct ipc *ipc = sc->ipc;
	list_remove(&sc->node);
	if (sc->sending)
		sender_drop(&sc->sender);
	if (sc->collect != NULL)
		collect_cancel(sc->collect);
	served_free_items(sc);
	if (sc->ex != NULL)
		ipc->opt.ops->exchange_free(ipc->opt.owner, &sc->ex);
	ipc->served_n--;
	free(sc->exprs);
	free(sc);
}

/* Ends what is not being worked on right now. */
void
served_drop(struct ipc_served *sc)
{
	ASSERT(sc->state != SERVED_RUNNING || sc->ipc->closing);
	served_free(sc);
}

struct ipc_served *
served_find(struct ipc *ipc, uint64_t id)
{
	struct list *const lists[] = { &ipc->served_all, &ipc->served_ready };
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		LIST_FOREACH(lists[i], it, tmp) {
			struct ipc_served *sc = LIST_ENTRY(it, struct ipc_served, node);
			if (sc->id == id)
				return sc;
		}
	return NULL;
}

/* ---- replies ---- */

struct ipc_peer *
served_peer(struct ipc_served *sc)
{
	struct ipc_peer *peer = peer_find(sc->ipc, sc->home);
	return peer != NULL ? peer : peer_open(sc->ipc, sc->home_kind, sc->home_index, sc->home);
}

static void
served_begin(struct ipc_served *sc)
{
	struct page *pg = sc->ipc->opt.page;
	sc->state = SERVED_RUNNING;
	sc->ipc->running++;
	list_append(&sc->ipc->served_all, &sc->node);
	PAGE_SET(pg->call_home, sc->home);
	PAGE_SET(pg->call_step, sc->evaluate ? 1ull << 32 | sc->exprs[0]->slot : sc->first->index);
	PAGE_SET(pg->call_started_ns, (uint64_t)monotime_now().ns);
	atomic_store_explicit(&pg->call_id, sc->id, memory_order_release);
}

static void
served_end(struct ipc_served *sc, bool ok)
{
	struct page *pg = sc->ipc->opt.page;
	sc->ipc->running--;
	PAGE_SET(pg->call_id, 0);
	PAGE_ADD(pg->calls_done, 1);
	if (!ok)
		PAGE_ADD(pg->calls_failed, 1);
}

static void
reply_sent(struct ipc_sender *s)
{
	struct ipc_served *sc = s->owner;
	sc->sending = false;
	served_free(sc);
}

static const struct access access_message = { .flags = ACCESS_ALL };

static void
put_reply_head(struct frame_writer *w, struct ipc_served *sc, const struct step *failed)
{
	frame_put_u64(w, sc->id);
	frame_put_u8(w, failed != NULL);
	frame_put_u32(w, failed != NULL ? failed->index : UINT32_MAX);
	frame_put_exception(w, failed != NULL ? sc->ex->exception : NULL);
}

static enum hinny_rc
put_reply(struct buf *out, struct ipc_served *sc, const struct step *failed)
{
	struct frame_writer w = frame_begin(out, FRAME_REPLY, 0);
	put_reply_head(&w, sc, failed);
	frame_put_message(&w, sc->ex, &access_message, true);
	return frame_finish(&w);
}

/* A reply that says only that it could not be made. */
static void
put_failure(struct buf *out, struct ipc_served *sc, const char *why)
{
	exchange_fail(sc->ex, EXCEPTION_CAMEL_EXCHANGE, "%s", why);
	exchange_clean(sc->ex);
	struct frame_writer w = frame_begin(out, FRAME_REPLY, 0);
	put_reply_head(&w, sc, sc->first);
	frame_put_message(&w, sc->ex, &(struct access){ 0 }, true);
	(void)frame_finish(&w); /* small */
}

static void
reply_now(struct ipc_served *sc, const struct step *failed)
{
	struct ipc_peer *peer = served_peer(sc);
	served_end(sc, failed == NULL);
	if (peer == NULL || sc->aborted) {
		served_free(sc);
		return;
	}
	sc->state = SERVED_REPLYING;
	struct buf *out = peer_out(peer);
	struct str bytes = { 0 }; /* of a body that follows in chunks; its blob is the exchange's */
	struct blob *blob;
	bool follows = (sc->ex->dirty & DIRTY_BODY) && !frame_body_inline(&sc->ex->body);
	bool fits = !follows || frame_body_bytes(&sc->ex->arena, &sc->ex->body, &bytes, &blob) == HINNY_OK;
	if (!fits || put_reply(out, sc, failed) != HINNY_OK) {
		put_failure(out, sc, "the result is too large for a reply");
		served_free(sc);
		return;
	}
	if (bytes.p != NULL) {
		sc->sending = true;
		sc->sender.owner = sc;
		sc->sender.finished = reply_sent;
		sender_start(&sc->sender, sc->ipc, sc->id, sc->home, bytes);
		return;
	}
	served_free(sc);
}

static void
reply_body_collected(void *arg, struct blob *blob, const struct hinny_error *err)
{
	struct ipc_served *sc = arg;
	sc->collect = NULL;
	if (err != NULL) {
		sc->ex->body = value_null();
		exchange_fail(sc->ex, EXCEPTION_CAMEL_EXCHANGE, "%s", err->text);
		reply_now(sc, sc->first);
		return;
	}
	struct value v = value_bytes((struct str){ blob->data, blob->size });
	v.flags = VALUE_INPUT;
	v.blob = arena_hold(&sc->ex->arena, blob);
	blob_put(blob);
	exchange_set_body(sc->ex, v);
	reply_now(sc, NULL);
}

void
ipc_reply(struct ipc_served *sc, struct exchange *ex, const struct step *failed)
{
	struct ipc *ipc = sc->ipc;
	ASSERT(sc->state == SERVED_RUNNING && sc->ex == ex);
	if (failed == NULL && ex->body.type == VALUE_STREAM) {
		struct stream *s = ex->body.u.stream;
		struct collect_limits limits = { .memory = ipc->opt.spool_memory, .max = ipc->opt.max_body, .spool_dir = -1 };
		ex->body = value_null(); /* the collector has it now */
		sc->collect = collect_start(s, &limits, reply_body_collected, sc);
	} else {
		reply_now(sc, failed);
	}
	serve_run(ipc);
}

/* ---- evaluate calls ---- */

static bool
put_value(struct frame_writer *w, struct ipc_served *sc, const struct expression *e)
{
	struct ipc *ipc = sc->ipc;
	struct value v = value_null();
	sc->ex->exception = NULL;
	enum eval_rc rc = ipc->opt.ops->serve_eval(ipc->opt.owner, sc->ex, e, &v);
	if (rc == EVAL_ERROR)
		v = value_null();
	frame_put_u32(w, e->slot);
	frame_put_exception(w, rc == EVAL_ERROR ? sc->ex->exception : NULL);
	frame_put_value(w, &v);
	return rc == EVAL_OK && v.type == VALUE_BOOL && v.u.b;
}

/* The values of all expressions, up to the first true one; a result that no frame can hold becomes an exception of the call. */
static void
serve_evaluate(struct ipc_served *sc)
{
	struct ipc *ipc = sc->ipc;
	struct buf body; /* the count comes first, and is known last */
	buf_init(&body, FRAME_MAX);
	struct frame_writer values = { .out = &body };
	uint32_t n = 0;
	while (n < sc->exprs_n)
		if (put_value(&values, sc, sc->exprs[n++]) && sc->first_match)
			break;
	served_end(sc, true);
	struct ipc_peer *peer = served_peer(sc);
	if (peer != NULL && !sc->aborted) {
		struct frame_writer w = frame_begin(peer_out(peer), FRAME_VALUES, 0);
		frame_put_u64(&w, sc->id);
		frame_put_u32(&w, n);
		bool fits = values.rc == HINNY_OK && body.n < FRAME_MAX - 1024 && buf_add(w.out, body.p, body.n) == HINNY_OK;
		if (!fits || frame_finish(&w) != HINNY_OK)
			ipc_send_abort(ipc, sc->home, sc->id, HINNY_ELIMIT, "the result of an expression is too large or too deep");
	}
	buf_fini(&body);
	served_free(sc);
}

/* ---- running ---- */

static void
serve_one(struct ipc_served *sc)
{
	struct ipc *ipc = sc->ipc;
	list_remove(&sc->node);
	if (sc->aborted || sc->deadline.ns < loop_now(ipc->opt.lp).ns) {
		served_free(sc); /* the home has given it up, or is about to */
		return;
	}
	if (sc->is_state) {
		operation_serve(sc);
		return;
	}
	served_begin(sc);
	exchange_clean(sc->ex);
	if (sc->evaluate)
		serve_evaluate(sc);
	else
		ipc->opt.ops->serve_call(ipc->opt.owner, sc, sc->ex, sc->first, sc->n);
}

void
serve_run(struct ipc *ipc)
{
	if (ipc->serving)
		return; /* the loop below goes on */
	ipc->serving = true;
	unsigned burst = 0;
	while (!list_empty(&ipc->served_ready) && !ipc->closing) {
		if (ipc->opt.serve_at_once != 0 && ipc->running >= ipc->opt.serve_at_once)
			break;
		if (burst++ == IPC_SERVE_BURST) {
			loop_timer_start(&ipc->again, 0, 0);
			break;
		}
		if (burst > 1)
			peer_flush_old(ipc);
		serve_one(LIST_FIRST(&ipc->served_ready, struct ipc_served, node));
	}
	ipc->serving = false;
}

static void
served_ready(struct ipc_served *sc)
{
	sc->state = SERVED_READY;
	list_remove(&sc->node);
	list_append(&sc->ipc->served_ready, &sc->node);
	serve_run(sc->ipc);
}

static void
served_body_collected(void *arg, struct blob *blob, const struct hinny_error *err)
{
	struct ipc_served *sc = arg;
	sc->collect = NULL;
	if (err != NULL) {
		ipc_send_abort(sc->ipc, sc->home, sc->id, err->rc, err->text);
		served_free(sc);
		return;
	}
	struct value v;
	enum hinny_rc rc = frame_body_value(&sc->body, &sc->ex->arena, (struct str){ blob->data, blob->size },
	    arena_hold(&sc->ex->arena, blob), &v);
	blob_put(blob);
	if (rc != HINNY_OK) {
		ipc_send_abort(sc->ipc, sc->home, sc->id, rc, "the body of the call is broken");
		served_free(sc);
		return;
	}
	exchange_set_body(sc->ex, v);
	served_ready(sc);
}

static bool
get_slots(struct ipc_served *sc, struct frame_reader *r)
{
	const struct program *p = sc->ipc->opt.program;
	sc->first_match = frame_get_u8(r) != 0;
	uint32_t n = frame_get_u32(r);
	if (r->bad || n == 0 || n > p->remotes_n)
		return false;
	sc->exprs = mem_alloc(n * sizeof *sc->exprs);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = frame_get_u32(r);
		if (r->bad || slot >= p->remotes_n || p->remotes[slot]->ops == NULL)
			return false;
		sc->exprs[i] = p->remotes[slot];
	}
	sc->exprs_n = n;
	return true;
}

static bool
get_steps(struct ipc_served *sc, struct frame_reader *r)
{
	const struct program *p = sc->ipc->opt.program;
	uint32_t step = frame_get_u32(r);
	sc->n = frame_get_u32(r);
	sc->ex->pattern = frame_get_u8(r) ? PATTERN_IN_OUT : PATTERN_IN_ONLY;
	if (r->bad || step >= p->steps_n || sc->n == 0 || sc->n > p->steps_n)
		return false;
	sc->first = p->steps[step];
	sc->ex->route = sc->ex->from_route = sc->first->route;
	return true;
}

static bool
get_call_head(struct ipc_served *sc, struct frame_reader *r)
{
	sc->id = frame_get_u64(r);
	sc->home_kind = frame_get_u8(r);
	sc->home_index = frame_get_u32(r);
	sc->home = frame_get_u64(r);
	sc->deadline = monotime_add_ms(loop_now(sc->ipc->opt.lp), frame_get_u32(r));
	sc->ex->transaction = frame_get_u64(r);
	sc->ex->home = sc->home;
	return !r->bad && sc->home_kind < kind_count();
}

void
serve_on_call(struct ipc *ipc, struct frame_reader *r, struct blob *blob, enum served_what what)
{
	struct ipc_served *sc = MEM_NEW(struct ipc_served);
	sc->ipc = ipc;
	sc->evaluate = what == SERVE_EVALUATE;
	sc->is_state = what == SERVE_STATE;
	sc->item_credit = IPC_CREDIT * 4;
	list_init(&sc->items);
	list_append(&ipc->served_all, &sc->node);
	sc->ex = ipc->opt.ops->exchange_new(ipc->opt.owner);
	ipc->served_n++;
	struct frame_body body = { 0 };
	bool ok = get_call_head(sc, r);
	if (ok && what == SERVE_STATE)
		ok = operation_get(sc, r, blob);
	else if (ok)
		ok = what == SERVE_EVALUATE ? get_slots(sc, r) : get_steps(sc, r);
	if (ok)
		frame_get_message(r, sc->ex, blob, &body);
	if (!ok || !frame_end(r)) {
		log_error("a broken call was dropped");
		served_free(sc);
		return;
	}
	if (peer_is_dead(ipc, sc->home)) {
		served_free(sc);
		return;
	}
	if (!body.follows) {
		served_ready(sc);
		return;
	}
	sc->body = body;
	if (served_peer(sc) == NULL) { /* credit goes there */
		served_free(sc);
		return;
	}
	struct ipc_receiver *rc = receiver_new(ipc, sc->id, sc->home, body.length);
	struct collect_limits limits = { .memory = ipc->opt.spool_memory, .max = ipc->opt.max_body, .spool_dir = -1 };
	sc->collect = collect_start(&rc->stream, &limits, served_body_collected, sc);
}

void
serve_on_abort(struct ipc_served *sc)
{
	switch (sc->state) {
	case SERVED_RUNNING:
		sc->aborted = true;
		if (sc->ipc->opt.ops->serve_abort != NULL)
			sc->ipc->opt.ops->serve_abort(sc->ipc->opt.owner, sc);
		return;
	case SERVED_BODY:
	case SERVED_READY:
	case SERVED_REPLYING:
		served_free(sc);
		return;
	}
	UNREACHABLE();
}

void
serve_home_lost(struct ipc *ipc, uint64_t incarnation)
{
	struct list *const lists[] = { &ipc->served_all, &ipc->served_ready };
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		LIST_FOREACH(lists[i], it, tmp) {
			struct ipc_served *sc = LIST_ENTRY(it, struct ipc_served, node);
			if (sc->home == incarnation)
				serve_on_abort(sc);
		}
}

/* ---- items ---- */

static void
item_put(struct ipc_served *sc, struct ipc_peer *peer, const struct value *v)
{
	struct frame_writer w = frame_begin(peer_out(peer), FRAME_ITEM, 0);
	frame_put_u64(&w, sc->id);
	frame_put_u64(&w, sc->item_seq++);
	frame_put_value(&w, v);
	if (frame_finish(&w) != HINNY_OK) {
		ipc_send_abort(sc->ipc, sc->home, sc->id, HINNY_ELIMIT, "an item is too large");
		sc->aborted = true;
	}
	sc->item_credit--;
}

bool
ipc_item(struct ipc_served *sc, struct value item, ipc_items_more_fn *more, void *arg, bool *full)
{
	struct ipc_peer *peer = served_peer(sc);
	*full = false;
	if (sc->aborted || peer == NULL)
		return false;
	sc->more = more;
	sc->more_arg = arg;
	if (sc->item_credit > 0 && sc->items_n == 0) {
		item_put(sc, peer, &item);
		return !sc->aborted;
	}
	struct ipc_pending_item *pending = ARENA_NEW(&sc->ex->arena, struct ipc_pending_item);
	pending->value = item;
	list_append(&sc->items, &pending->node);
	sc->items_n++;
	*full = sc->items_n >= IPC_ITEMS_QUEUED;
	return true;
}

void
serve_item_credit(struct ipc_served *sc, uint32_t n)
{
	struct ipc_peer *peer = served_peer(sc);
	if (peer == NULL)
		return;
	sc->item_credit += n;
	while (sc->item_credit > 0 && sc->items_n > 0 && !sc->aborted) {
		struct ipc_pending_item *item = LIST_FIRST(&sc->items, struct ipc_pending_item, node);
		list_remove(&item->node);
		sc->items_n--;
		item_put(sc, peer, &item->value);
	}
	if (sc->items_n == 0 && sc->more != NULL) {
		ipc_items_more_fn *more = sc->more;
		sc->more = NULL;
		more(sc->more_arg);
	}
}
