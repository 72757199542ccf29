/*
 * The owner's side of an aggregate.
 *
 * A message is taken into its group, and whether the group is complete is decided at once, so what
 * an exchange has been answered is true: its message is in a group, or refused. Completed groups
 * run one after another (with parallelProcessing, all at once) as exchanges of their own. They are
 * begun from pump(), which never recurses: what is completed while it runs waits its turn.
 *
 * Time-outs are looked at on a grid of completionTimeoutCheckerInterval, and only while there are
 * groups: a timer is set for the first point of the grid that is of use.
 */
#include "core/eip/aggregate_state.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <stdlib.h>

enum {
	BURST = 1000,
	WAITING_FREE = 100, /* so many completed groups may wait before their source has to */
};

#define SIZE_PROPERTY STR_LIT("CamelAggregatedSize")
#define KEY_PROPERTY STR_LIT("CamelAggregatedCorrelationKey")
#define GROUPED_PROPERTY STR_LIT("CamelGroupedExchange")
#define CURRENT_PROPERTY STR_LIT("CamelAggregationCompleteCurrentGroup")
#define INCLUSIVE_HEADER STR_LIT("CamelAggregationCompleteAllGroupsInclusive")

/* A completed group; lies in the exchange's arena. */
struct completed {
	struct list node;
	struct aggregate_state *s;
	struct exchange *ex;
	uint64_t bytes;
};

/* ---- completed groups ---- */

static void pump(struct aggregate_state *s);

static void
completed_done(struct exchange *ex)
{
	struct completed *cd = ex->owner;
	struct aggregate_state *s = cd->s;
	s->running--;
	if (!s->closed) {
		groups_give_back(&s->groups, cd->bytes);
		pump(s);
	} else if (s->running == 0) {
		free(s);
	}
}

static void
pause_is_over(void *arg)
{
	struct aggregate_state *s = arg;
	s->pause = NULL;
	s->burst = 0;
	pump(s);
}

/* After many in a row the loop turns first. */
static bool
may_begin(struct aggregate_state *s)
{
	if (list_empty(&s->waiting) || s->pause || !s->serving)
		return false;
	if (s->running > 0 && !s->conf->parallel)
		return false;
	if (s->burst < BURST)
		return true;
	s->pause = s->en->ops->timer_start(s->en, 0, pause_is_over, s);
	return false;
}

static void
pump(struct aggregate_state *s)
{
	if (s->pumping)
		return;
	s->pumping = true;
	while (may_begin(s)) {
		struct completed *cd = LIST_FIRST(&s->waiting, struct completed, node);
		struct exchange *ex = cd->ex;
		list_remove(&cd->node);
		s->waiting_n--;
		s->waiting_bytes -= cd->bytes;
		s->running++;
		s->burst++;
		state_exchange_start(s->node, &ex, completed_done, cd);
	}
	s->pumping = false;
}

void
aggregate_queue(struct aggregate_state *s, struct exchange *ex, uint64_t bytes)
{
	struct completed *cd = ARENA_NEW(&ex->arena, struct completed);
	*cd = (struct completed){ .s = s, .ex = ex, .bytes = bytes };
	list_append(&s->waiting, &cd->node);
	s->waiting_n++;
	s->waiting_bytes += bytes;
	pump(s);
}

void
aggregate_each_waiting(struct aggregate_state *s, aggregate_waiting_fn *fn, void *arg)
{
	LIST_FOREACH (&s->waiting, it, next) {
		const struct completed *cd = LIST_ENTRY(it, struct completed, node);
		fn(arg, cd->ex, cd->bytes);
	}
}

static void
complete(struct aggregate_state *s, struct group **pg, const char *by)
{
	struct group *g = *pg;
	struct exchange *ex = g->ex;
	uint64_t bytes;
	groups_close_key(&s->groups, g->key);
	if (s->groups_read)
		exchange_set_property(ex, GROUPED_PROPERTY, value_null());
	exchange_set_property(ex, SIZE_PROPERTY, value_int(g->size));
	exchange_set_property(ex, STR_LIT("CamelAggregatedCompletedBy"), value_str(str_of(by)));
	exchange_set_property(ex, KEY_PROPERTY, value_str(arena_str(&ex->arena, g->key)));
	if (g->timeout_ms > 0) {
		struct value ms = value_int(g->timeout_ms);
		ms.flags = VALUE_LONG;
		exchange_set_property(ex, STR_LIT("CamelAggregatedTimeout"), ms);
	}
	ex = groups_take(&s->groups, pg, &bytes);
	aggregate_queue(s, ex, bytes);
}

/* All but one. */
static void
complete_all(struct aggregate_state *s, const struct group *but, const char *by)
{
	LIST_FOREACH (&s->groups.all, it, next) {
		struct group *g = LIST_ENTRY(it, struct group, node);
		if (g != but)
			complete(s, &g, by);
	}
}

/* ---- time ---- */

static void arm(struct aggregate_state *s);

/* The first point of a grid from `origin` on that is not before ms. */
static int64_t
grid(int64_t origin, int64_t step, int64_t ms)
{
	if (ms <= origin)
		return origin;
	int64_t n = (ms - origin) / step;
	return origin + (n * step < ms - origin ? n + 1 : n) * step;
}

static void
check_timeouts(struct aggregate_state *s, int64_t now)
{
	struct group *g;
	while ((g = groups_due(&s->groups, now)) != NULL) {
		if (s->conf->discard_on_timeout) {
			groups_close_key(&s->groups, g->key);
			groups_drop(&s->groups, &g);
		} else {
			complete(s, &g, "timeout");
		}
	}
}

static void
timer_is_over(void *arg)
{
	struct aggregate_state *s = arg;
	int64_t now = s->en->ops->now_ms(s->en);
	s->timer = NULL;
	check_timeouts(s, now);
	if (s->conf->interval_ms > 0 && now >= s->interval_next_ms) {
		s->interval_next_ms = grid(s->origin_ms, s->conf->interval_ms, now + 1);
		complete_all(s, NULL, "interval");
	}
	arm(s);
}

/* When something may have to be done by the clock. */
static int64_t
next_ms(struct aggregate_state *s, int64_t now)
{
	int64_t next = groups_next(&s->groups);
	if (next != GROUP_NEVER)
		next = grid(s->origin_ms, s->conf->checker_ms, next);
	if (s->conf->interval_ms == 0 || groups_count(&s->groups) == 0)
		return next;
	if (s->interval_next_ms <= now)
		s->interval_next_ms = grid(s->origin_ms, s->conf->interval_ms, now + 1);
	return next < s->interval_next_ms ? next : s->interval_next_ms;
}

static void
arm(struct aggregate_state *s)
{
	if (!s->serving)
		return;
	int64_t now = s->en->ops->now_ms(s->en), next = next_ms(s, now);
	if (s->timer && (next == GROUP_NEVER || s->timer_ms <= next))
		return;
	if (s->timer)
		s->en->ops->timer_cancel(s->en, s->timer);
	s->timer = NULL;
	if (next == GROUP_NEVER)
		return;
	s->timer_ms = next;
	s->timer = s->en->ops->timer_start(s->en, next > now ? next - now : 0, timer_is_over, s);
}

static void
track_timeout(struct aggregate_state *s, struct group *g, int64_t given_ms)
{
	int64_t ms = given_ms > 0 ? given_ms : s->conf->timeout_ms;
	if (ms <= 0)
		return;
	if (g->timeout_ms == 0 || !gathered_is_body(&g->gathered))
		g->timeout_ms = ms;
	int64_t now = s->en->ops->now_ms(s->en);
	groups_set_deadline(&s->groups, g, ms < INT64_MAX / 2 - now ? now + ms : INT64_MAX / 2);
}

/* ---- is it complete? ---- */

struct check {
	struct exchange *asking;  /* gets the exceptions */
	struct exchange *ex;      /* what is looked at */
	const struct value *args; /* [ARG_N], or NULL */
	uint32_t size;
	bool group_side; /* ex is a group's: what an expression allocates does not stay */
};

static enum eval_rc
evaluate(struct aggregate_state *s, const struct check *ck, const struct expression *e,
    enum value_class_id as, struct value *out)
{
	struct exchange *ex = ck->ex;
	struct arena own = ex->arena;
	struct hinny_error err;
	if (ck->group_side) {
		arena_reset(&s->scratch);
		ex->arena = s->scratch;
	}
	enum eval_rc rc = expression_eval(e, ex, out);
	if (rc == EVAL_NEED) { /* a variable that is elsewhere; the check has refused all else */
		exchange_fail(ck->asking, EXCEPTION_ILLEGAL_STATE,
		    "aggregate %s: %s \"%s\" needs a value of another process", s->node->node_id,
		    e->language->name, e->text);
		rc = EVAL_ERROR;
	} else if (rc == EVAL_OK && as != CLASS_NONE &&
	    value_convert(&ex->arena, out, as, out, &err) != HINNY_OK) {
		exchange_fail(ck->asking, EXCEPTION_TYPE_CONVERSION, "%s", err.text);
		rc = EVAL_ERROR;
	} else if (rc == EVAL_ERROR && ex->exception && ck->group_side) {
		ck->asking->exception = exception_share(&ck->asking->arena, ex->exception);
		ex->exception = NULL;
	}
	if (ck->group_side) {
		s->scratch = ex->arena;
		ex->arena = own;
		ex->json_root = NULL; /* lies there */
		ex->json_text = (struct str){ 0 };
	}
	return rc;
}

static int64_t
int_of(const struct value *v)
{
	return v && v->type == VALUE_INT ? v->u.i : 0;
}

static bool
is_true(const struct value *v)
{
	return v && value_truth(v);
}

static bool
batch_is_complete(struct aggregate_state *s, struct exchange *ex)
{
	const struct value *n = exchange_property(ex, STR_LIT("CamelBatchSize"));
	s->batch_n++;
	if (int_of(n) <= 0 || s->batch_n < int_of(n))
		return false;
	s->batch_n = 0;
	return true;
}

/* completionSizeExpression goes before completionSize where it gives a number. */
static bool
size_is_reached(struct aggregate_state *s, const struct check *ck, bool *reached)
{
	const struct aggregate_conf *conf = s->conf;
	struct value v = value_null();
	if (conf->size_by && ck->args && conf->home_size)
		v = ck->args[ARG_SIZE];
	else if (conf->size_by && evaluate(s, ck, conf->size_by, CLASS_INTEGER, &v) == EVAL_ERROR)
		return false;
	int64_t size = int_of(&v) > 0 ? int_of(&v) : conf->size;
	*reached = size > 0 && ck->size >= size;
	return true;
}

static bool
predicate_holds(struct aggregate_state *s, const struct check *ck, bool *holds)
{
	const struct aggregate_conf *conf = s->conf;
	struct value v = value_null();
	if (conf->predicate && ck->args && conf->home_predicate)
		v = ck->args[ARG_PREDICATE];
	else if (conf->predicate && evaluate(s, ck, conf->predicate, CLASS_NONE, &v) == EVAL_ERROR)
		return false;
	*holds = is_true(&v);
	return true;
}

/* *by is by what, or NULL. False: the exception is set on the exchange that asks. */
static bool
is_complete(struct aggregate_state *s, const struct check *ck, const char **by)
{
	bool yes = false;
	*by = NULL;
	if (s->conf->from_batch && batch_is_complete(s, ck->ex)) {
		*by = "consumer";
		return true;
	}
	if (is_true(exchange_property(ck->asking, CURRENT_PROPERTY))) {
		*by = "strategy";
		return true;
	}
	if (!predicate_holds(s, ck, &yes))
		return false;
	if (yes) {
		*by = "predicate";
		return true;
	}
	if (!size_is_reached(s, ck, &yes))
		return false;
	if (yes)
		*by = "size";
	return true;
}

/* eagerCheckCompletion: the message itself is looked at, and shows the group's size and key. */
static bool
check_incoming(struct aggregate_state *s, struct exchange *ex, const struct value *args,
    struct str key, uint32_t size, const char **by)
{
	struct check ck = { .asking = ex, .ex = ex, .args = args, .size = size };
	if (!s->groups_read)
		return is_complete(s, &ck, by);
	const struct value *p = exchange_property(ex, SIZE_PROPERTY);
	struct value old_size = p ? *p : value_null();
	p = exchange_property(ex, KEY_PROPERTY);
	struct value old_key = p ? *p : value_null();
	unsigned dirty = ex->dirty;
	exchange_set_property(ex, SIZE_PROPERTY, value_int(size));
	exchange_set_property(ex, KEY_PROPERTY, value_str(key));
	bool ok = is_complete(s, &ck, by);
	exchange_set_property(ex, SIZE_PROPERTY, old_size);
	exchange_set_property(ex, KEY_PROPERTY, old_key);
	ex->dirty = dirty;
	return ok;
}

static bool
check_group(struct aggregate_state *s, struct exchange *ex, const struct value *args,
    struct group *g, const char **by)
{
	struct check ck = { ex, g->ex, args, g->size, true };
	if (s->groups_read) {
		exchange_set_property(g->ex, SIZE_PROPERTY, value_int(g->size));
		if (g->gathered.list.type == VALUE_LIST)
			exchange_set_property(g->ex, GROUPED_PROPERTY, g->gathered.list);
	}
	return is_complete(s, &ck, by);
}

/* ---- a message ---- */

static bool
refuse_closed(struct exchange *ex, struct str key)
{
	exchange_fail(ex, EXCEPTION_CLOSED_CORRELATION_KEY,
	    "The correlation key [%.*s] has been closed. Exchange[]", STR_FMT(key));
	return false;
}

static bool
refuse_group(struct aggregate_state *s, struct exchange *ex)
{
	exchange_fail(ex, EXCEPTION_REJECTED_EXECUTION,
	    "aggregate %s holds %zu groups, and no more are allowed (aggregate.max_groups)",
	    s->node->node_id, groups_count(&s->groups) + (size_t)s->groups.taken);
	return false;
}

/* The message does not fit any more. */
static bool
refuse_message(struct aggregate_state *s, struct exchange *ex, struct group *g)
{
	bool fresh = g->size == 0;
	if (s->conf->discard_on_failure) {
		groups_drop(&s->groups, &g);
		return true;
	}
	struct exception *cause = exception_new(&ex->arena, EXCEPTION_BODY_TOO_LARGE,
	    "aggregate %s holds %llu bytes, and no more than %llu are allowed "
	    "(aggregate.max_bytes)",
	    s->node->node_id, (unsigned long long)s->groups.bytes,
	    (unsigned long long)s->groups.max_bytes);
	exchange_fail(ex, EXCEPTION_CAMEL_EXCHANGE,
	    "Error occurred during aggregation. Exchange[]. Caused by: [%s - %.*s]",
	    exception_class(cause->id)->name, STR_FMT(cause->message));
	ex->exception->cause = cause;
	if (fresh)
		groups_drop(&s->groups, &g);
	return false;
}

static void
complete_batch(struct aggregate_state *s)
{
	LIST_FOREACH (&s->groups.all, it, next) {
		struct group *g = LIST_ENTRY(it, struct group, node);
		if (g->in_batch)
			complete(s, &g, "consumer");
	}
}

/* The group has its message; `by`: it is complete. */
static void
settle(struct aggregate_state *s, struct group *g, const char *by, int64_t timeout_ms)
{
	if (by && str_eq(str_of(by), STR_LIT("consumer")))
		complete_batch(s);
	else if (by)
		complete(s, &g, by);
	else
		track_timeout(s, g, timeout_ms);
}

/* Takes what could not be looked at back; a message that has replaced another stays. */
static void
take_back(struct aggregate_state *s, struct group *g, struct group_mark before)
{
	if (g->size == 1)
		groups_drop(&s->groups, &g);
	else if (gathered_is_body(&g->gathered))
		groups_undo(&s->groups, g, before);
}

/* What a message tells this aggregate is not for the next one. */
static void
strip_flags(struct exchange *ex)
{
	if (exchange_property(ex, CURRENT_PROPERTY))
		exchange_set_property(ex, CURRENT_PROPERTY, value_null());
	headers_remove(&ex->headers, INCLUSIVE_HEADER);
}

static bool
add(struct aggregate_state *s, struct exchange *ex, struct str key, const struct value *args)
{
	const struct aggregate_conf *conf = s->conf;
	const char *by = NULL;
	if (groups_is_closed(&s->groups, key))
		return refuse_closed(ex, key);
	struct group *g = groups_find(&s->groups, key);
	bool fresh = g == NULL;
	if (conf->eager && !check_incoming(s, ex, args, key, g ? g->size + 1 : 1, &by))
		return false;
	if (fresh && (g = groups_new(&s->groups, key)) == NULL)
		return refuse_group(s, ex);
	struct group_mark before = groups_mark(g);
	if (groups_add(&s->groups, g, ex) != HINNY_OK)
		return refuse_message(s, ex, g);
	g->in_batch = conf->from_batch;
	if (fresh || g->gathered.kind == AGGREGATION_LATEST)
		strip_flags(g->ex);
	if (fresh && conf->on_new_group)
		complete_all(s, g, "force");
	if (!conf->eager && !check_group(s, ex, args, g, &by)) {
		take_back(s, g, before);
		return false;
	}
	settle(s, g, by || !s->ending ? by : "force", args ? int_of(&args[ARG_TIMEOUT]) : 0);
	return true;
}

/*
 * Completed groups come faster than they run: how long the source should wait before its next
 * message. 1 ms when a hundredth of the bound is in use, 100 ms at a tenth, 10 s at the bound; so
 * it settles where groups come as fast as they go.
 */
static int64_t
hold_ms(const struct aggregate_state *s)
{
	const struct groups *gs = &s->groups;
	double groups = 100.0 * (double)gs->taken / (double)gs->max_groups;
	double bytes = 100.0 * (double)s->waiting_bytes / (double)gs->max_bytes;
	double most = groups > bytes ? groups : bytes;
	return (int64_t)(most * most);
}

static bool
serve(struct state_node *node, struct exchange *ex, unsigned op, const struct value *arg,
    struct value *out)
{
	struct aggregate_state *s = node->state;
	if (op == AGGREGATE_COMPLETE_ALL) {
		complete_all(s, NULL, "force");
		return true;
	}
	const struct value *args = NULL;
	if (arg->type == VALUE_LIST && arg->u.list->n == ARG_N)
		args = arg->u.list->items;
	const struct value *key = args ? &args[ARG_KEY] : arg;
	ASSERT(key->type == VALUE_STRING);
	if (!add(s, ex, key->u.s, args))
		return false;
	const struct header *h =
	    headers_find_hashed(&ex->headers, INCLUSIVE_HEADER, s->conf->inclusive_hash);
	if (h && is_true(&h->value))
		complete_all(s, NULL, "force");
	if (s->timed)
		arm(s);
	if (s->waiting_n > WAITING_FREE)
		*out = value_int(hold_ms(s));
	return true;
}

/* ---- the node ---- */

static void *
aggregate_open(struct state_node *node)
{
	struct aggregate_state *s = MEM_NEW(struct aggregate_state);
	const struct aggregate_conf *conf = node->step->conf;
	struct groups *gs = &s->groups;
	s->node = node;
	s->en = node->engine;
	s->conf = conf;
	s->groups_read =
	    (conf->predicate && !conf->home_predicate) || (conf->size_by && !conf->home_size);
	s->timed = conf->timeout_ms > 0 || conf->timeout_by || conf->interval_ms > 0;
	list_init(&s->waiting);
	const struct state_limits *limits = &s->en->program->limits;
	groups_init(gs, node, conf->strategy, limits->aggregate_groups, limits->aggregate_bytes);
	gs->keeps_body = s->groups_read && !conf->eager;
	if (conf->closes_keys)
		gs->max_closed = conf->close_keys > 0 ? (uint64_t)conf->close_keys : gs->max_groups;
	s->origin_ms = s->en->ops->now_ms(s->en);
	return s;
}

static void
started(struct state_node *node)
{
	struct aggregate_state *s = node->state;
	s->serving = true;
	if (s->conf->interval_ms > 0)
		s->interval_next_ms =
		    grid(s->origin_ms, s->conf->interval_ms, s->en->ops->now_ms(s->en) + 1);
	pump(s);
	arm(s);
}

static void
end(struct state_node *node, enum state_end why)
{
	struct aggregate_state *s = node->state;
	if (why == STATE_END_BROKER && !s->conf->force_on_stop && !s->conf->complete_on_stop)
		return;
	s->ending = true;
	complete_all(s, NULL, "force");
}

static void
log_lost(const struct aggregate_state *s)
{
	uint64_t messages = 0;
	LIST_FOREACH (&s->groups.all, it, next)
		messages += LIST_ENTRY(it, struct group, node)->size;
	log_warning("aggregate %s of route %s: groups that were not complete are lost: %zu, with "
		    "messages: %llu",
	    s->node->node_id, s->node->route_id, groups_count(&s->groups),
	    (unsigned long long)messages);
}

static void
aggregate_close(struct state_node *node)
{
	struct aggregate_state *s = node->state;
	if (!s->saved && groups_count(&s->groups) > 0)
		log_lost(s);
	if (s->timer)
		s->en->ops->timer_cancel(s->en, s->timer);
	if (s->pause)
		s->en->ops->timer_cancel(s->en, s->pause);
	while (!list_empty(&s->waiting)) {
		struct completed *cd = LIST_FIRST(&s->waiting, struct completed, node);
		struct exchange *ex = cd->ex;
		list_remove(&cd->node);
		state_exchange_free(&ex);
	}
	groups_fini(&s->groups);
	arena_fini(&s->scratch);
	s->closed = true;
	if (s->running == 0)
		free(s);
}

static uint64_t
count(const struct state_node *node)
{
	const struct aggregate_state *s = node->state;
	return groups_count(&s->groups) + s->waiting_n;
}

const struct state_desc aggregate_state_desc = {
	.name = "aggregate",
	.ops = AGGREGATE_OPS,
	.message_ops = 1u << AGGREGATE_ADD,
	.runs_block = true,
	.open = aggregate_open,
	.close = aggregate_close,
	.serve = serve,
	.started = started,
	.end = end,
	.save = aggregate_save,
	.load = aggregate_load,
	.count = count,
};
