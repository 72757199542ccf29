/*
 * The hand-over of an aggregate at a reload. Small records, so that groups of any size go over:
 *
 *   "clock", origin, batch      when checks are, how far a batch is
 *   "group", key, size, deadline, time-out, in batch, kind of strategy, messages
 *                               a group, with its message
 *   "part"                      of the group before: the body is the text, or an item of the list
 *   "waiting", bytes            a completed group, as it will run
 *   "closed", key               the oldest first
 *
 * Times are of the monotonic clock, which all processes of the machine share. Strategy and options
 * may have changed: what was gathered is then put together anew as well as it goes.
 */
#include "core/eip/aggregate_state.h"

enum { GROUP_MEMBERS = 8 };

/* ---- saving ---- */

struct saving {
	struct state_node *node;
	struct state_writer *w;
	struct exchange *part; /* carries bodies */
};

static struct value
record(struct arena *a, const char *kind)
{
	struct value v = value_new_list(a, GROUP_MEMBERS);
	value_list_add(a, v.u.list, value_str(str_of(kind)));
	return v;
}

static void
put_part(struct saving *sv, struct value body)
{
	struct arena *a = &sv->part->arena;
	struct value v = record(a, "part");
	sv->part->body = body;
	state_put(sv->w, &v, sv->part);
	sv->part->body = value_null();
}

static void
put_group(struct saving *sv, struct group *g)
{
	struct arena a;
	const struct gathered *ga = &g->gathered;
	arena_init(&a);
	struct value v = record(&a, "group");
	value_list_add(&a, v.u.list, value_str(g->key));
	value_list_add(&a, v.u.list, value_int(g->size));
	value_list_add(&a, v.u.list, value_int(g->deadline_ms));
	value_list_add(&a, v.u.list, value_int(g->timeout_ms));
	value_list_add(&a, v.u.list, value_bool(g->in_batch));
	value_list_add(&a, v.u.list, value_int(ga->kind));
	value_list_add(&a, v.u.list, value_int(ga->n));
	state_put(sv->w, &v, g->ex);
	if (ga->kind == AGGREGATION_TEXT)
		put_part(sv, value_str((struct str){ ga->text.p ? ga->text.p : "", ga->text.n }));
	for (size_t i = 0; ga->list.type == VALUE_LIST && i < ga->list.u.list->n; i++)
		put_part(sv, ga->list.u.list->items[i]);
	arena_fini(&a);
}

static void
put_closed(void *arg, struct str key)
{
	struct saving *sv = arg;
	struct arena a;
	arena_init(&a);
	struct value v = record(&a, "closed");
	value_list_add(&a, v.u.list, value_str(key));
	state_put(sv->w, &v, NULL);
	arena_fini(&a);
}

static void
put_waiting(void *arg, struct exchange *ex, uint64_t bytes)
{
	struct saving *sv = arg;
	struct arena a;
	arena_init(&a);
	struct value v = record(&a, "waiting");
	value_list_add(&a, v.u.list, value_int((int64_t)bytes));
	state_put(sv->w, &v, ex);
	arena_fini(&a);
}

static void
put_clock(struct saving *sv, const struct aggregate_state *s)
{
	struct arena a;
	arena_init(&a);
	struct value v = record(&a, "clock");
	value_list_add(&a, v.u.list, value_int(s->origin_ms));
	value_list_add(&a, v.u.list, value_int(s->batch_n));
	state_put(sv->w, &v, NULL);
	arena_fini(&a);
}

void
aggregate_save(struct state_node *node, struct state_writer *w)
{
	struct aggregate_state *s = node->state;
	struct saving sv = { node, w, state_exchange_new(node) };
	put_clock(&sv, s);
	LIST_FOREACH (&s->groups.all, it, next)
		put_group(&sv, LIST_ENTRY(it, struct group, node));
	aggregate_each_waiting(s, put_waiting, &sv);
	groups_each_closed(&s->groups, put_closed, &sv);
	state_exchange_free(&sv.part);
	s->saved = true;
}

/* ---- loading ---- */

static int64_t
int_at(const struct value *v, size_t i)
{
	return i < v->u.list->n && v->u.list->items[i].type == VALUE_INT ? v->u.list->items[i].u.i
									 : 0;
}

static struct str
str_at(const struct value *v, size_t i)
{
	return i < v->u.list->n && v->u.list->items[i].type == VALUE_STRING
	    ? v->u.list->items[i].u.s
	    : STR_LIT("");
}

/* A time-out goes on where it was; one that is new begins now. */
static void
load_deadline(struct aggregate_state *s, struct group *g, int64_t deadline_ms)
{
	const struct aggregate_conf *conf = s->conf;
	if (conf->timeout_ms == 0 && conf->timeout_by == NULL)
		return;
	if (deadline_ms == GROUP_NEVER && conf->timeout_ms > 0)
		deadline_ms = s->en->ops->now_ms(s->en) + conf->timeout_ms;
	groups_set_deadline(&s->groups, g, deadline_ms);
}

static bool
load_group(struct aggregate_state *s, const struct value *v, struct exchange *message,
    struct hinny_error *err)
{
	struct str key = str_at(v, 1);
	s->loading = NULL;
	if (message == NULL || v->u.list->n < GROUP_MEMBERS || key.n == 0) {
		hinny_error_set(err, HINNY_EPROTO, "a group that is not whole");
		return false;
	}
	struct group *g = groups_load(&s->groups, key, message);
	if (g == NULL) {
		hinny_error_set(err, HINNY_EINVAL, "there are two groups \"%.*s\"", STR_FMT(key));
		return false;
	}
	g->size = (uint32_t)int_at(v, 2);
	g->timeout_ms = int_at(v, 4);
	g->in_batch = v->u.list->items[5].type == VALUE_BOOL && v->u.list->items[5].u.b;
	int64_t kind = int_at(v, 6);
	/* the strategy did not put a body together, and now does */
	if ((kind == AGGREGATION_LATEST || kind == AGGREGATION_ORIGINAL) &&
	    gathered_is_body(&g->gathered))
		(void)gathered_add(&g->gathered, &g->ex->arena, message); /* one does fit */
	g->gathered.n = (uint32_t)int_at(v, 7);
	load_deadline(s, g, int_at(v, 3));
	groups_loaded(&s->groups, g);
	s->loading = g;
	return true;
}

static bool
load_part(struct aggregate_state *s, struct exchange *message, struct hinny_error *err)
{
	struct group *g = s->loading;
	if (g == NULL || message == NULL) {
		hinny_error_set(err, HINNY_EPROTO, "a part without its group");
		return false;
	}
	struct arena *a = &g->ex->arena;
	enum hinny_rc rc = HINNY_OK;
	uint32_t n = g->gathered.n;
	if (g->gathered.kind == AGGREGATION_TEXT) {
		g->gathered.n = g->gathered.text.n > 0;
		rc = gathered_add(&g->gathered, a, message);
	} else if (gathered_is_body(&g->gathered)) {
		gathered_add_value(&g->gathered, a, &message->body);
	} else {
		exchange_set_body(g->ex, value_keep(a, &message->body, &g->held));
	}
	g->gathered.n = n;
	groups_loaded(&s->groups, g);
	if (rc != HINNY_OK)
		hinny_error_set(
		    err, rc, "the text of group \"%.*s\" is too large", STR_FMT(g->key));
	return rc == HINNY_OK;
}

static bool
load_waiting(struct aggregate_state *s, struct state_record *r, struct hinny_error *err)
{
	if (r->message == NULL) {
		hinny_error_set(err, HINNY_EPROTO, "a completed group without its message");
		return false;
	}
	int64_t given = int_at(&r->value, 1);
	uint64_t bytes = given > 0 ? (uint64_t)given : 0;
	groups_load_taken(&s->groups, bytes);
	aggregate_queue(s, r->message, bytes);
	r->message = NULL;
	return true;
}

bool
aggregate_load(struct state_node *node, struct state_record *r, struct hinny_error *err)
{
	struct aggregate_state *s = node->state;
	const struct value *v = &r->value;
	if (v->type != VALUE_LIST) {
		hinny_error_set(err, HINNY_EPROTO, "no record of an aggregate");
		return false;
	}
	struct str kind = str_at(v, 0);
	if (str_eq(kind, STR_LIT("part")))
		return load_part(s, r->message, err);
	if (str_eq(kind, STR_LIT("group")))
		return load_group(s, v, r->message, err);
	if (str_eq(kind, STR_LIT("waiting")))
		return load_waiting(s, r, err);
	if (str_eq(kind, STR_LIT("closed"))) {
		groups_close_key(&s->groups, str_at(v, 1));
		return true;
	}
	if (str_eq(kind, STR_LIT("clock"))) {
		s->origin_ms = int_at(v, 1);
		s->batch_n = (uint32_t)int_at(v, 2);
		return true;
	}
	hinny_error_set(err, HINNY_EPROTO, "an unknown record of an aggregate");
	return false;
}
