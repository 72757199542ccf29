/*
 * What a resequencer holds: messages that wait for their batch or for the one before them, and
 * those that are in order and leave one after another, each when the one before it has been through
 * the steps.
 *
 * A batch is over when it has its size, or when nothing has come for its time. A stream is looked
 * at when something comes and each deliveryAttemptInterval. Both are bounded: an insertion beyond
 * that is answered with "full".
 */
#include "core/eip/resequence.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/eip/sequence.h"
#include "core/eip/sort.h"
#include "core/eip/state.h"

#include <stdlib.h>

enum { AHEAD_MIN = 1000 }; /* messages that may wait beside a batch while one leaves */

struct waiting {
	struct list node;
	struct exchange *message;
	struct value key; /* in the message's arena */
};

/* A message that is in the steps. It may come back when the state is gone. */
struct leaving {
	struct resequencer *r;
};

struct resequencer {
	struct state_node *node;
	struct engine *en;
	struct list batch, ordered;
	size_t batch_n, ordered_n;
	struct sequence stream;
	struct leaving *leaving; /* NULL: none */
	struct engine_timer *timer;
	int64_t came_ms, tried_ms; /* something came; the stream was looked at */
	bool pumping, ended;
};

static void pump(struct resequencer *r);
static void set_timer(struct resequencer *r);

static int64_t
now(const struct resequencer *r)
{
	return r->en->ops->now_ms(r->en);
}

static void
free_waiting(struct waiting *w)
{
	list_remove(&w->node);
	state_exchange_free(&w->message);
	free(w);
}

/* ---- batches ---- */

/* Before which of the first n of the array does it stand? *same: equal to the one before that. */
static size_t
place(struct resequencer *r, struct waiting *const *array, size_t n, const struct waiting *w,
    bool *same)
{
	const struct batch_conf *conf = resequence_batch(r->node->step);
	size_t lo = 0, hi = n;
	struct arena a;
	arena_init(&a);
	*same = false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = sort_compare(&a, &array[mid]->key, &w->key);
		*same = *same ||
		    (order == 0 && value_equal(&a, &array[mid]->key, &w->key, false));
		if ((conf->reverse ? -order : order) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	arena_fini(&a);
	return lo;
}

/* Of messages that are equal only the first stays, unless duplicates are allowed. */
static size_t
sort_batch(struct resequencer *r, struct waiting **array)
{
	const struct batch_conf *conf = resequence_batch(r->node->step);
	size_t n = 0;
	LIST_FOREACH (&r->batch, it, next) {
		struct waiting *w = LIST_ENTRY(it, struct waiting, node);
		bool same;
		size_t at = place(r, array, n, w, &same);
		if (same && !conf->duplicates) {
			free_waiting(w);
			continue;
		}
		list_remove(it);
		for (size_t i = n++; i > at; i--)
			array[i] = array[i - 1];
		array[at] = w;
	}
	return n;
}

static void
complete_batch(struct resequencer *r)
{
	if (r->batch_n == 0)
		return;
	struct waiting **array = mem_alloc(r->batch_n * sizeof(array[0]));
	size_t n = sort_batch(r, array);
	for (size_t i = 0; i < n; i++)
		list_append(&r->ordered, &array[i]->node);
	r->ordered_n += n;
	r->batch_n = 0;
	free(array);
}

/* ---- leaving ---- */

static struct waiting *
next_to_leave(struct resequencer *r)
{
	if (list_empty(&r->ordered)) {
		r->tried_ms = now(r);
		return sequence_take(&r->stream, r->tried_ms);
	}
	struct waiting *w = LIST_FIRST(&r->ordered, struct waiting, node);
	list_remove(&w->node);
	r->ordered_n--;
	return w;
}

static void
left(struct exchange *ex)
{
	struct leaving *leaving = ex->owner;
	struct resequencer *r = leaving->r;
	free(leaving);
	if (r == NULL)
		return;
	r->leaving = NULL;
	pump(r);
}

/* What can leave leaves: one at a time. */
static void
pump(struct resequencer *r)
{
	struct waiting *w;
	if (r->pumping)
		return;
	r->pumping = true;
	while (r->leaving == NULL && (w = next_to_leave(r)) != NULL) {
		struct exchange *message = w->message;
		r->leaving = MEM_NEW(struct leaving);
		r->leaving->r = r;
		free(w);
		state_exchange_start(r->node, &message, left, r->leaving);
	}
	r->pumping = false;
	set_timer(r);
}

/* ---- time ---- */

static void
time_is_up(void *arg)
{
	struct resequencer *r = arg;
	r->timer = NULL;
	if (!resequence_stream(r->node->step) &&
	    now(r) - r->came_ms >= resequence_batch(r->node->step)->timeout_ms)
		complete_batch(r);
	pump(r);
}

static void
set_timer(struct resequencer *r)
{
	const struct stream_conf *stream = resequence_stream(r->node->step);
	bool wanted = stream ? r->stream.n > 0 && r->leaving == NULL : r->batch_n > 0;
	if (!wanted || r->timer || !r->node->serving)
		return;
	int64_t at = stream ? r->tried_ms + stream->interval_ms
			    : r->came_ms + resequence_batch(r->node->step)->timeout_ms;
	int64_t ms = at - now(r);
	r->timer = r->en->ops->timer_start(r->en, ms > 1 ? ms : 1, time_is_up, r);
}

/* ---- operations ---- */

static struct waiting *
waiting_new(struct exchange **message, const struct value *key)
{
	struct waiting *w = MEM_NEW(struct waiting);
	list_init(&w->node);
	w->message = *message;
	w->key = value_share(&w->message->arena, key);
	*message = NULL;
	return w;
}

static struct waiting *
take_message(struct resequencer *r, struct exchange *ex, const struct value *key)
{
	struct exchange *message = state_exchange_new(r->node);
	engine_share_message(message, ex);
	message->pattern = ex->pattern;
	return waiting_new(&message, key);
}

static enum resequence_answer
insert_in_stream(struct resequencer *r, struct exchange *ex, const struct value *key)
{
	const struct stream_conf *conf = resequence_stream(r->node->step);
	if (conf->reject_old && sequence_is_old(&r->stream, key->u.i))
		return RESEQUENCE_OLD;
	if (r->stream.n >= (size_t)conf->capacity)
		return RESEQUENCE_FULL;
	struct waiting *w = take_message(r, ex, key);
	int64_t due = r->ended ? -1 : now(r) + conf->timeout_ms;
	if (sequence_insert(&r->stream, key->u.i, due, w) == SEQUENCE_SAME)
		free_waiting(w); /* as in Camel, whose sequence is a set */
	return RESEQUENCE_TAKEN;
}

static enum resequence_answer
insert_in_batch(struct resequencer *r, struct exchange *ex, const struct value *key)
{
	const struct batch_conf *conf = resequence_batch(r->node->step);
	size_t ahead = conf->size > AHEAD_MIN ? (size_t)conf->size : AHEAD_MIN;
	if (r->ordered_n >= ahead)
		return RESEQUENCE_FULL;
	list_append(&r->batch, &take_message(r, ex, key)->node);
	r->batch_n++;
	r->came_ms = now(r);
	if (r->ended || r->batch_n >= (size_t)conf->size)
		complete_batch(r);
	return RESEQUENCE_TAKEN;
}

static bool
resequencer_serve(struct state_node *node, struct exchange *ex, unsigned op,
    const struct value *arg, struct value *out)
{
	struct resequencer *r = node->state;
	bool stream = resequence_stream(node->step) != NULL;
	(void)op;
	if (stream && arg->type != VALUE_INT) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "resequence: no number");
		return false;
	}
	enum resequence_answer answer =
	    stream ? insert_in_stream(r, ex, arg) : insert_in_batch(r, ex, arg);
	*out = value_int(answer);
	pump(r);
	return true;
}

static void
resequencer_end(struct state_node *node, enum state_end why)
{
	struct resequencer *r = node->state;
	(void)why;
	r->ended = true;
	sequence_release(&r->stream);
	complete_batch(r);
	pump(r);
}

/* ---- life ---- */

static void *
resequencer_open(struct state_node *node)
{
	struct resequencer *r = MEM_NEW(struct resequencer);
	r->node = node;
	r->en = node->engine;
	list_init(&r->batch);
	list_init(&r->ordered);
	sequence_init(&r->stream);
	return r;
}

static void
free_all(struct list *list)
{
	LIST_FOREACH (list, it, next)
		free_waiting(LIST_ENTRY(it, struct waiting, node));
}

static void
resequencer_close(struct state_node *node)
{
	struct resequencer *r = node->state;
	if (r->timer)
		r->en->ops->timer_cancel(r->en, r->timer);
	if (r->leaving)
		r->leaving->r = NULL;
	free_all(&r->batch);
	free_all(&r->ordered);
	for (size_t i = 0; i < r->stream.n; i++)
		free_waiting(r->stream.items[i].thing);
	sequence_fini(&r->stream);
	free(r);
}

static void
resequencer_started(struct state_node *node)
{
	struct resequencer *r = node->state;
	r->came_ms = r->tried_ms = now(r);
	const struct batch_conf *batch = resequence_batch(node->step);
	if (batch && r->batch_n >= (size_t)batch->size)
		complete_batch(r); /* batches are smaller than before the hand-over */
	pump(r);
}

/* ---- the hand-over: [kind, key, milliseconds that are left] with its message ---- */

enum record_kind { RECORD_BATCH, RECORD_ORDERED, RECORD_STREAM, RECORD_LAST };

static void
put_record(struct state_writer *w, enum record_kind kind, struct value key, int64_t ms,
    struct exchange *message)
{
	struct arena a;
	arena_init(&a);
	struct value list = value_new_list(&a, 3);
	value_list_add(&a, list.u.list, value_int(kind));
	value_list_add(&a, list.u.list, key);
	value_list_add(&a, list.u.list, value_int(ms));
	state_put(w, &list, message);
	arena_fini(&a);
}

static void
put_list(struct state_writer *w, enum record_kind kind, struct list *list)
{
	LIST_FOREACH (list, it, next) {
		struct waiting *one = LIST_ENTRY(it, struct waiting, node);
		put_record(w, kind, one->key, 0, one->message);
	}
}

static void
resequencer_save(struct state_node *node, struct state_writer *w)
{
	struct resequencer *r = node->state;
	int64_t at = now(r);
	put_list(w, RECORD_ORDERED, &r->ordered);
	put_list(w, RECORD_BATCH, &r->batch);
	if (r->stream.has_last)
		put_record(w, RECORD_LAST, value_int(r->stream.last), 0, NULL);
	for (size_t i = 0; i < r->stream.n; i++) {
		const struct sequence_item *item = &r->stream.items[i];
		int64_t ms = item->due_ms < 0 ? -1 : item->due_ms > at ? item->due_ms - at : 0;
		struct waiting *one = item->thing;
		put_record(w, RECORD_STREAM, value_int(item->number), ms, one->message);
	}
}

/* A resequencer that worked the other way before takes what there was as if it came now. */
static void
load_message(struct resequencer *r, int64_t kind, struct waiting *w, int64_t ms)
{
	bool stream = resequence_stream(r->node->step) != NULL;
	if (stream && w->key.type == VALUE_INT) {
		if (kind == RECORD_STREAM)
			sequence_restore(&r->stream, w->key.u.i, ms < 0 ? -1 : now(r) + ms, w);
		else if (sequence_insert(&r->stream, w->key.u.i, now(r), w) == SEQUENCE_SAME)
			free_waiting(w);
	} else if (!stream && kind == RECORD_BATCH) {
		list_append(&r->batch, &w->node);
		r->batch_n++;
	} else {
		list_append(&r->ordered, &w->node);
		r->ordered_n++;
	}
}

static bool
resequencer_load(struct state_node *node, struct state_record *record, struct hinny_error *err)
{
	struct resequencer *r = node->state;
	const struct value *v = &record->value;
	const struct value *items = v->type == VALUE_LIST ? v->u.list->items : NULL;
	if (items == NULL || v->u.list->n != 3 || items[0].type != VALUE_INT ||
	    items[2].type != VALUE_INT ||
	    (items[0].u.i >= RECORD_STREAM && items[1].type != VALUE_INT) ||
	    (items[0].u.i == RECORD_LAST) != (record->message == NULL)) {
		(void)hinny_error_set(err, HINNY_EINVAL, "no message of a resequencer");
		return false;
	}
	if (items[0].u.i == RECORD_LAST) {
		r->stream.has_last = true;
		r->stream.last = items[1].u.i;
		return true;
	}
	load_message(r, items[0].u.i, waiting_new(&record->message, &items[1]), items[2].u.i);
	return true;
}

const struct state_desc resequence_messages = {
	.name = "resequence",
	.ops = RESEQUENCE_OPS,
	.message_ops = 1u << RESEQUENCE_INSERT,
	.runs_block = true,
	.open = resequencer_open,
	.close = resequencer_close,
	.serve = resequencer_serve,
	.started = resequencer_started,
	.end = resequencer_end,
	.save = resequencer_save,
	.load = resequencer_load,
};
