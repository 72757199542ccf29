/*
 * The home's side of calls. A call waits for a peer with room, is sent, and is settled by its reply, its deadline, or the death of its peer. After a death only
 * the call that the dead one was working on has used up a try; the others are made again uncounted. Steps with an effect are never repeated by the bus.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <stdlib.h>

static void
call_free(struct ipc_call *c)
{
	list_remove(&c->node);
	list_remove(&c->age);
	list_remove(&c->bucket);
	if (c->sending)
		sender_drop(&c->sender);
	if (c->collect != NULL)
		collect_cancel(c->collect); /* cancels its stream, too */
	else if (c->receiver != NULL)
		stream_cancel(&c->receiver->stream);
	if (c->peer != NULL)
		c->peer->calls_n--;
	c->ipc->calls_n--;
	PAGE_SET(c->ipc->opt.page->calls_out, c->ipc->calls_n);
	free(c->exprs);
	free(c);
}

void
call_drop(struct ipc_call *c)
{
	struct ipc *ipc = c->ipc;
	struct exchange *note = c->note ? c->ex : NULL;
	c->ex->call = NULL;
	call_free(c);
	if (note != NULL)
		ipc->opt.ops->exchange_free(ipc->opt.owner, &note);
}

/* Takes the call off its peer, so that it can be placed again. */
static void
call_unplace(struct ipc_call *c)
{
	list_remove(&c->node);
	list_remove(&c->bucket);
	if (c->peer != NULL)
		c->peer->calls_n--;
	c->peer = NULL;
	if (c->sending)
		sender_drop(&c->sender);
	c->sending = false;
	if (c->collect != NULL)
		collect_cancel(c->collect);
	else if (c->receiver != NULL)
		stream_cancel(&c->receiver->stream);
	c->collect = NULL;
	c->receiver = NULL;
	c->state = CALL_WAITING;
}

/* What fails is told by the exception of the exchange; here it belongs to the answer. */
static void
state_settle(struct ipc *ipc, struct exchange *ex, struct value v)
{
	struct exception *exception = ex->exception;
	ex->exception = NULL;
	ipc->opt.ops->state_done(ipc->opt.owner, ex, v, exception);
}

/* The call is over. The exchange goes on inside. */
void
call_settle(struct ipc_call *c, bool ok, const struct step *failed)
{
	struct ipc *ipc = c->ipc;
	struct exchange *ex = c->ex;
	bool evaluate = c->first == NULL, state = c->state_node != NULL, note = c->note;
	struct value answer = c->arg;
	int kind = c->kind;
	ex->call = NULL;
	call_free(c);
	call_dispatch(ipc, kind); /* room for those that wait */
	if (note)
		ipc->opt.ops->exchange_free(ipc->opt.owner, &ex);
	else if (state)
		state_settle(ipc, ex, ok ? answer : value_null());
	else if (evaluate)
		ipc->opt.ops->evaluate_done(ipc->opt.owner, ex);
	else
		ipc->opt.ops->call_done(ipc->opt.owner, ex, ok ? IPC_OK : IPC_FAILED, failed);
}

void
call_fail_with(struct ipc_call *c, enum exception_id id, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	exchange_fail(c->ex, id, "%s", text);
	call_settle(c, false, c->first);
}

static void
complete_deferred(struct loop_defer *d)
{
	struct ipc *ipc = CONTAINER_OF(d, struct ipc, complete);
	while (!list_empty(&ipc->completions)) {
		struct ipc_call *c = LIST_FIRST(&ipc->completions, struct ipc_call, node);
		list_remove(&c->node);
		call_settle(c, false, c->first); /* the exception was set when it was put here */
	}
}

/* As call_fail, but told at the end of the turn: for what goes wrong inside ipc_call(). */
void
call_fail_later(struct ipc_call *c, enum exception_id id, const char *why)
{
	exchange_fail(c->ex, id, "%s", why);
	list_remove(&c->node);
	list_append(&c->ipc->completions, &c->node);
	loop_defer(c->ipc->opt.lp, &c->ipc->complete);
}

void
call_init(struct ipc *ipc)
{
	loop_defer_init(&ipc->complete, complete_deferred);
	for (size_t i = 0; i < IPC_BUCKETS; i++)
		list_init(&ipc->by_id[i]);
}

/* ---- making a call ---- */

static const struct access access_everything = { .flags = ACCESS_ALL };

static const struct access *
call_access(const struct ipc_call *c)
{
	if (c->state_node != NULL)
		return operation_access(c);
	if (c->first != NULL)
		return c->n == 1 ? &c->first->reads : &access_everything;
	if (c->exprs_n == 1)
		return &c->exprs[0]->reads;
	for (uint32_t i = 0; i < c->exprs_n; i++) {
		const struct access *ac = &c->exprs[i]->reads;
		if (ac->flags != ACCESS_BODY || ac->headers.n + ac->properties.n + ac->variables.n > 0)
			return &access_everything;
	}
	return &c->exprs[0]->reads;
}

void
call_put_head(struct frame_writer *w, const struct ipc_call *c)
{
	const struct ipc_options *opt = &c->ipc->opt;
	int64_t left = monotime_ms_between(loop_now(opt->lp), c->deadline);
	frame_put_u64(w, c->id);
	frame_put_u8(w, (uint8_t)opt->kind);
	frame_put_u32(w, opt->index);
	frame_put_u64(w, opt->incarnation);
	frame_put_u32(w, left > 0 ? (uint32_t)left : 0);
	frame_put_u64(w, c->ex->transaction);
}

static enum hinny_rc
put_call(struct ipc_call *c, struct buf *out)
{
	const struct access *ac = call_access(c);
	struct frame_writer w;
	if (c->state_node != NULL) {
		w = frame_begin(out, FRAME_STATE, 0);
		call_put_head(&w, c);
		operation_put(&w, c);
	} else if (c->first != NULL) {
		w = frame_begin(out, FRAME_CALL, 0);
		call_put_head(&w, c);
		frame_put_u32(&w, c->first->index);
		frame_put_u32(&w, c->n);
		frame_put_u8(&w, (uint8_t)c->ex->pattern);
	} else {
		w = frame_begin(out, FRAME_EVALUATE, 0);
		call_put_head(&w, c);
		frame_put_u8(&w, c->first_match);
		frame_put_u32(&w, c->exprs_n);
		for (uint32_t i = 0; i < c->exprs_n; i++)
			frame_put_u32(&w, c->exprs[i]->slot);
	}
	frame_put_message(&w, c->ex, ac, false);
	return frame_finish(&w);
}

static void
call_sender_finished(struct ipc_sender *s)
{
	((struct ipc_call *)s->owner)->sending = false;
}

void
call_send_to(struct ipc_call *c, struct ipc_peer *peer)
{
	struct ipc *ipc = c->ipc;
	c->id = ipc->opt.incarnation << 40 | (ipc->next_call++ & 0xffffffffffull);
	struct str bytes = { 0 }; /* of a body that follows in chunks; its blob is the exchange's */
	struct blob *blob;
	bool follows = (call_access(c)->flags & ACCESS_BODY) && !frame_body_inline(&c->ex->body);
	if ((follows && frame_body_bytes(&c->ex->arena, &c->ex->body, &bytes, &blob) != HINNY_OK) ||
	    put_call(c, peer_out(peer)) != HINNY_OK) {
		call_fail_later(c, EXCEPTION_CAMEL_EXCHANGE, "the message is too large for a call");
		return;
	}
	c->peer = peer;
	c->state = CALL_SENT;
	c->sent_once = true;
	peer->calls_n++;
	list_remove(&c->node);
	list_append(&peer->calls, &c->node);
	list_append(&ipc->by_id[c->id & (IPC_BUCKETS - 1)], &c->bucket);
	if (bytes.p != NULL) {
		c->sending = true;
		c->sender.owner = c;
		c->sender.finished = call_sender_finished;
		sender_start(&c->sender, ipc, c->id, peer->incarnation, bytes);
	}
	if (peer->out.n > IPC_CHUNK)
		peer_flush(peer);
}

void
call_place(struct ipc_call *c)
{
	struct ipc *ipc = c->ipc;
	if (c->state_node != NULL) {
		operation_place(c);
		return;
	}
	if (ipc->poisons > 0 && poison_kills(ipc, poison_key(c)) >= ipc->opt.max_tries) {
		call_fail_later(c, EXCEPTION_POISON,
		    "refused: this step has ended too many workers with this message");
		return;
	}
	struct ipc_peer *peer = peer_choose(ipc, c->kind);
	if (peer != NULL) {
		call_send_to(c, peer);
		return;
	}
	c->state = CALL_WAITING;
	list_remove(&c->node);
	list_append(&ipc->waiting[c->kind], &c->node);
}

void
call_dispatch(struct ipc *ipc, int kind)
{
	struct ipc_peer *peer;
	while (!list_empty(&ipc->waiting[kind]) && (peer = peer_choose(ipc, kind)) != NULL) {
		struct ipc_call *c = LIST_FIRST(&ipc->waiting[kind], struct ipc_call, node);
		list_remove(&c->node);
		call_send_to(c, peer);
	}
	operation_dispatch(ipc, kind);
}

struct ipc_call *
call_new(struct ipc *ipc, struct exchange *ex, int kind)
{
	ASSERT(ex->call == NULL);
	struct ipc_call *c = MEM_NEW(struct ipc_call);
	c->ipc = ipc;
	c->ex = ex;
	c->kind = kind;
	ASSERT(c->kind >= 0 && c->kind < IPC_KINDS);
	c->deadline = monotime_add_ms(loop_now(ipc->opt.lp), ipc->opt.call_timeout_ms);
	list_init(&c->node);
	list_init(&c->bucket);
	list_append(&ipc->by_age, &c->age);
	if (!loop_timer_active(&ipc->tick))
		loop_timer_start(&ipc->tick, IPC_TICK_MS, IPC_TICK_MS);
	ex->call = c;
	ipc->calls_n++;
	PAGE_SET(ipc->opt.page->calls_out, ipc->calls_n);
	return c;
}

void
ipc_call(struct ipc *ipc, struct exchange *ex, const struct step *first, uint32_t n, bool stream)
{
	struct ipc_call *c = call_new(ipc, ex, kind_index(str_of(first->owner)));
	c->first = first;
	c->n = n;
	c->stream = stream;
	call_place(c);
}

void
ipc_call_kind(struct ipc *ipc, struct exchange *ex, const char *kind, const struct step *st)
{
	struct ipc_call *c = call_new(ipc, ex, kind_index(str_of(kind)));
	c->first = st;
	c->n = 1;
	call_place(c);
}

void
ipc_call_items(struct ipc *ipc, struct exchange *ex, const struct step *first, uint32_t n, ipc_item_fn *item, void *arg)
{
	struct ipc_call *c = call_new(ipc, ex, kind_index(str_of(first->owner)));
	c->first = first;
	c->n = n;
	c->item = item;
	c->item_arg = arg;
	call_place(c);
}

void
ipc_evaluate(struct ipc *ipc, struct exchange *ex, struct expression *const *e, uint32_t n, bool first_match)
{
	ASSERT(n > 0);
	struct ipc_call *c = call_new(ipc, ex, kind_index(str_of(e[0]->owner)));
	c->exprs = mem_alloc(n * sizeof *c->exprs);
	memcpy(c->exprs, e, n * sizeof *c->exprs);
	c->exprs_n = n;
	c->first_match = first_match;
	call_place(c);
}

void
ipc_cancel(struct ipc *ipc, struct exchange *ex)
{
	struct ipc_call *c = ex->call;
	if (c == NULL)
		return;
	if (c->state == CALL_SENT && c->peer != NULL)
		ipc_send_abort(ipc, c->peer->incarnation, c->id, HINNY_ECLOSED, "the call is given up");
	call_drop(c);
}

/* ---- replies ---- */

struct ipc_call *
call_find(struct ipc *ipc, uint64_t id)
{
	struct list *bucket = &ipc->by_id[id & (IPC_BUCKETS - 1)];
	LIST_FOREACH(bucket, it, tmp) {
		struct ipc_call *c = LIST_ENTRY(it, struct ipc_call, bucket);
		if (c->id == id)
			return c;
	}
	return NULL;
}

static void
reply_collected(void *arg, struct blob *blob, const struct hinny_error *err)
{
	struct ipc_call *c = arg;
	c->collect = NULL;
	c->receiver = NULL;
	if (err != NULL) {
		call_fail_with(c, EXCEPTION_CAMEL_EXCHANGE, "the reply of a worker was cut short: %s", err->text);
		return;
	}
	struct value v;
	enum hinny_rc rc = frame_body_value(&c->reply_body, &c->ex->arena, (struct str){ blob->data, blob->size },
	    arena_hold(&c->ex->arena, blob), &v);
	blob_put(blob);
	if (rc != HINNY_OK) {
		call_fail_with(c, EXCEPTION_CAMEL_EXCHANGE, "a worker sent a broken reply");
		return;
	}
	exchange_set_body(c->ex, v);
	call_settle(c, c->failed == NULL && c->ex->exception == NULL, c->failed);
}

static void
reply_receiver_gone(struct ipc_receiver *r)
{
	if (r->owner != NULL)
		((struct ipc_call *)r->owner)->receiver = NULL;
}

/* The reply's body is still to come: as a stream where the route lets it, else whole. */
static void
reply_body_follows(struct ipc_call *c, const struct frame_body *body)
{
	struct ipc_receiver *r = receiver_new(c->ipc, c->id, c->peer->incarnation, body->length);
	c->state = CALL_REPLYING;
	if (c->stream && c->failed == NULL) {
		exchange_set_body(c->ex, (struct value){ .type = VALUE_STREAM, .u.stream = &r->stream });
		call_settle(c, true, NULL);
		return;
	}
	c->receiver = r;
	r->owner = c;
	r->gone = reply_receiver_gone;
	c->reply_body = *body;
	struct collect_limits limits = { .memory = c->ipc->opt.spool_memory, .max = c->ipc->opt.max_body, .spool_dir = -1 };
	c->collect = collect_start(&r->stream, &limits, reply_collected, c);
}

void
call_on_reply(struct ipc *ipc, struct frame_reader *r, struct blob *blob)
{
	uint64_t id = frame_get_u64(r);
	struct ipc_call *c = call_find(ipc, id);
	if (c == NULL || c->state != CALL_SENT || c->first == NULL) {
		log_debug("a late reply was dropped");
		return;
	}
	uint8_t status = frame_get_u8(r);
	uint32_t failed = frame_get_u32(r);
	struct exception *exception = frame_get_exception(r, &c->ex->arena);
	struct frame_body body = { 0 };
	frame_get_message(r, c->ex, blob, &body);
	if (!frame_end(r) || status > 1 || (status == 1 && (exception == NULL || failed >= ipc->opt.program->steps_n))) {
		call_fail_with(c, EXCEPTION_CAMEL_EXCHANGE, "a worker sent a broken reply");
		return;
	}
	if (status == 1) {
		c->failed = ipc->opt.program->steps[failed];
		c->ex->exception = exception;
	}
	if (body.follows)
		reply_body_follows(c, &body);
	else
		call_settle(c, status == 0, c->failed);
}

void
call_on_values(struct ipc *ipc, struct frame_reader *r, struct blob *blob)
{
	uint64_t id = frame_get_u64(r);
	struct ipc_call *c = call_find(ipc, id);
	if (c == NULL || c->exprs == NULL)
		return; /* late */
	uint32_t n = frame_get_u32(r);
	arena_hold(&c->ex->arena, blob); /* the values lie in it */
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		uint32_t slot = frame_get_u32(r);
		struct exception *exception = frame_get_exception(r, &c->ex->arena);
		struct value v = frame_get_value(r, &c->ex->arena, blob);
		if (!r->bad && slot < ipc->opt.program->remotes_n)
			ipc->opt.ops->slot(ipc->opt.owner, c->ex, ipc->opt.program->remotes[slot], v, exception);
	}
	if (!frame_end(r) || n == 0) {
		call_fail_with(c, EXCEPTION_CAMEL_EXCHANGE, "a worker sent a broken reply");
		return;
	}
	call_settle(c, true, NULL);
}

void
call_on_abort(struct ipc *ipc, uint64_t id, enum hinny_rc rc, const char *why)
{
	struct ipc_call *c = call_find(ipc, id);
	struct ipc_receiver *r = receiver_find(ipc, id);
	if (r != NULL)
		receiver_fail(r, rc, why); /* fails the call, too, when that still waits for the body */
	else if (c != NULL)
		call_fail_with(c, EXCEPTION_CAMEL_EXCHANGE, "a worker gave the call up: %s", why);
}

static void
items_give_credit(struct ipc_call *c)
{
	struct ipc_peer *peer = c->peer;
	if (peer == NULL || c->items_owed == 0)
		return;
	struct frame_writer w = frame_begin(peer_out(peer), FRAME_CREDIT, 0);
	frame_put_u64(&w, c->id);
	frame_put_u32(&w, c->items_owed);
	(void)frame_finish(&w); /* cannot pass a bound */
	c->items_owed = 0;
}

void
call_on_item(struct ipc *ipc, struct frame_reader *r, struct blob *blob)
{
	uint64_t id = frame_get_u64(r);
	struct ipc_call *c = call_find(ipc, id);
	if (c == NULL || c->item == NULL)
		return;
	uint64_t seq = frame_get_u64(r);
	arena_hold(&c->ex->arena, blob); /* the item lies in it */
	struct value v = frame_get_value(r, &c->ex->arena, blob);
	if (!frame_end(r) || seq != c->item_seq) {
		call_fail_with(c, EXCEPTION_CAMEL_EXCHANGE, "a worker sent a broken stream of items");
		return;
	}
	c->item_seq++;
	c->items_owed++;
	if (!c->item(c->item_arg, c->ex, seq, v))
		c->items_paused = true;
	else if (!c->items_paused)
		items_give_credit(c);
}

void
ipc_items_resume(struct exchange *ex)
{
	struct ipc_call *c = ex->call;
	if (c == NULL)
		return;
	c->items_paused = false;
	items_give_credit(c);
}

/* ---- deaths and deadlines ---- */

static bool
call_repeatable(const struct ipc_call *c)
{
	if (c->state_node != NULL)
		return (c->state_node->desc->read_ops >> c->op & 1) != 0;
	if (c->first == NULL)
		return true;
	const struct step *st = c->first;
	for (uint32_t i = 0; i < c->n && st != NULL; i++, st = st->next)
		if (st->effect)
			return false;
	return c->item_seq == 0; /* items that were seen cannot be unseen */
}

/*
 * Its step and body have ended so many workers. One death alone says nothing of them: whoever kills workers at random hits messages that are fine, and all that
 * look like them would be refused. One call that ended every worker it was given to does, and so does a time limit.
 */
static void
call_convict(struct ipc_call *c, uint32_t workers)
{
	struct ipc *ipc = c->ipc;
	uint64_t key = poison_key(c);
	while (workers-- > 0) {
		poison_note(ipc, key);
		if (ipc->opt.ops->poison != NULL)
			ipc->opt.ops->poison(ipc->opt.owner, key);
	}
}

/* Its peer died. */
static void
call_retry(struct ipc_call *c, bool was_running, const char *reason, bool time_limit)
{
	call_unplace(c);
	if (!call_repeatable(c)) {
		call_fail_with(c, EXCEPTION_WORKER_LOST, "worker lost: %s; the step may or may not have had its effect", reason);
		return;
	}
	if (was_running) {
		c->tries++;
		if (time_limit) {
			call_convict(c, 1);
			call_fail_with(c, EXCEPTION_EXCHANGE_TIMED_OUT, "the step was ended: %s", reason);
			return;
		}
		if (c->tries >= c->ipc->opt.max_tries) {
			call_convict(c, c->tries);
			call_fail_with(c, EXCEPTION_WORKER_LOST, "worker lost %u times on this step: %s", c->tries, reason);
			return;
		}
	}
	call_place(c);
}

void
call_peer_lost(struct ipc *ipc, struct ipc_peer *peer, uint64_t running, const char *reason, bool time_limit)
{
	(void)ipc;
	peer->announced = false;
	struct list lost;
	list_init(&lost);
	while (!list_empty(&peer->calls)) {
		struct ipc_call *c = LIST_FIRST(&peer->calls, struct ipc_call, node);
		list_remove(&c->node);
		list_append(&lost, &c->node);
	}
	while (!list_empty(&lost)) {
		struct ipc_call *c = LIST_FIRST(&lost, struct ipc_call, node);
		list_remove(&c->node);
		call_retry(c, c->id == running, reason, time_limit);
	}
}

void
call_peer_again(struct ipc *ipc, struct ipc_peer *peer, const char *reason)
{
	bool announced = peer->announced;
	call_peer_lost(ipc, peer, 0, reason, false);
	peer->announced = announced;
	call_dispatch(ipc, peer->kind);
}

void
call_expire(struct ipc *ipc)
{
	struct monotime now = loop_now(ipc->opt.lp);
	while (!list_empty(&ipc->by_age)) {
		struct ipc_call *c = LIST_FIRST(&ipc->by_age, struct ipc_call, age);
		if (c->deadline.ns > now.ns)
			return;
		if (c->state != CALL_WAITING && c->peer != NULL)
			ipc_send_abort(ipc, c->peer->incarnation, c->id, HINNY_ETIMEOUT, "the deadline has passed");
		call_fail_with(c, EXCEPTION_CALL_DEADLINE, "no reply from a worker of kind %s within %lld ms%s",
		    kind_at(c->kind)->kind, (long long)ipc->opt.call_timeout_ms, c->sent_once ? "" : " (none was there)");
	}
	loop_timer_stop(&ipc->tick);
}
