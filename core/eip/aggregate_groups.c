/*
 * Groups of an aggregate. Each has an exchange for its message, and what its strategy gathers lies
 * in that exchange's arena, so that completing a group moves nothing.
 *
 * Time-outs are a heap by `queued_ms`, which is never after the deadline: a message that puts the
 * deadline off touches no heap, and a group that comes up too early is put back. So the hot path
 * pays nothing for a time-out.
 */
#include "core/eip/aggregate_groups.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/model/json.h"

#include <stdlib.h>
#include <string.h>

enum {
	WEIGHT_DEPTH = 64,
	CHUNK = 1024,      /* first memory of a group's exchange */
	GROUP_COST = 2048, /* of a group beside what it holds: structures, CHUNK */
	ENTRY_COST = 96,
	VALUE_COST = 32,
};

struct group_closed {
	struct list node;
	struct str key;
	char text[];
};

/* ---- what a message needs ---- */

static uint64_t weight_at(const struct value *v, unsigned depth);

static uint64_t
map_weight(const struct value_map *m, unsigned depth)
{
	uint64_t n = 0;
	for (size_t i = 0; i < m->n; i++)
		n += ENTRY_COST + m->entries[i].key.n + weight_at(m->entries[i].value, depth + 1);
	return n;
}

static uint64_t
weight_at(const struct value *v, unsigned depth)
{
	uint64_t n = VALUE_COST;
	if (value_has_text(v))
		return n + v->u.s.n;
	if (v->type == VALUE_JSON)
		return n + 4 * (uint64_t)v->u.json->length; /* its nodes too */
	if (depth == WEIGHT_DEPTH)
		return n;
	if (v->type == VALUE_MAP)
		return n + map_weight(v->u.map, depth);
	for (size_t i = 0; v->type == VALUE_LIST && i < v->u.list->n; i++)
		n += weight_at(&v->u.list->items[i], depth + 1);
	return n;
}

static uint64_t
message_weight(const struct exchange *ex)
{
	uint64_t n = map_weight(&ex->properties, 0) + map_weight(&ex->variables, 0);
	HEADERS_FOREACH (&ex->headers, h)
		n += ENTRY_COST + h->name.n + weight_at(&h->value, 0);
	return n;
}

/* At least so many bytes more. */
static uint64_t
need(const struct groups *gs, const struct group *g, const struct exchange *ex)
{
	enum aggregation_kind kind = g->gathered.kind;
	const struct buf *text = &g->gathered.text;
	bool first = g->size == 0;
	uint64_t body = weight_at(&ex->body, 0), n = 0;
	if (kind == AGGREGATION_LATEST || kind == AGGREGATION_EXCHANGES ||
	    kind == AGGREGATION_MESSAGES || first)
		n += message_weight(ex);
	if (kind == AGGREGATION_TEXT)
		n += body > text->cap - text->n ? body - (text->cap - text->n) : 0;
	else if (kind != AGGREGATION_ORIGINAL || first)
		n += body;
	if (first)
		n += GROUP_COST + g->key.n + (gs->keeps_body ? body : 0);
	return n;
}

static void
count_bytes(struct groups *gs, struct group *g)
{
	uint64_t n = GROUP_COST + g->key.n + g->gathered.text.cap + g->gathered.held + g->held;
	if (g->ex)
		n += g->ex->arena.used;
	gs->bytes += n - g->bytes;
	g->bytes = n;
}

/* ---- the heap ---- */

static void
put_at(struct groups *gs, struct group *g, size_t i)
{
	gs->queue[i] = g;
	g->queue_at = i + 1;
}

static void
sift_up(struct groups *gs, struct group *g, size_t i)
{
	while (i > 0) {
		size_t up = (i - 1) / 2;
		if (gs->queue[up]->queued_ms <= g->queued_ms)
			break;
		put_at(gs, gs->queue[up], i);
		i = up;
	}
	put_at(gs, g, i);
}

static void
sift_down(struct groups *gs, struct group *g, size_t i)
{
	for (;;) {
		size_t down = 2 * i + 1;
		if (down >= gs->queue_n)
			break;
		if (down + 1 < gs->queue_n &&
		    gs->queue[down + 1]->queued_ms < gs->queue[down]->queued_ms)
			down++;
		if (gs->queue[down]->queued_ms >= g->queued_ms)
			break;
		put_at(gs, gs->queue[down], i);
		i = down;
	}
	put_at(gs, g, i);
}

static void
queue_remove(struct groups *gs, struct group *g)
{
	if (g->queue_at == 0)
		return;
	size_t i = g->queue_at - 1;
	struct group *last = gs->queue[--gs->queue_n];
	g->queue_at = 0;
	if (last == g)
		return;
	if (last->queued_ms < g->queued_ms)
		sift_up(gs, last, i);
	else
		sift_down(gs, last, i);
}

void
groups_set_deadline(struct groups *gs, struct group *g, int64_t deadline_ms)
{
	g->deadline_ms = deadline_ms;
	if (g->queue_at && g->queued_ms <= deadline_ms)
		return;
	queue_remove(gs, g);
	if (deadline_ms == GROUP_NEVER)
		return;
	if (gs->queue_n == gs->queue_cap) {
		gs->queue_cap = gs->queue_cap ? gs->queue_cap * 2 : 16;
		gs->queue = mem_realloc(gs->queue, gs->queue_cap * sizeof(gs->queue[0]));
	}
	g->queued_ms = deadline_ms;
	gs->queue_n++;
	sift_up(gs, g, gs->queue_n - 1);
}

struct group *
groups_due(struct groups *gs, int64_t now_ms)
{
	while (gs->queue_n > 0 && gs->queue[0]->queued_ms <= now_ms) {
		struct group *g = gs->queue[0];
		if (g->deadline_ms <= now_ms)
			return g;
		if (g->deadline_ms == GROUP_NEVER) {
			queue_remove(gs, g);
			continue;
		}
		g->queued_ms = g->deadline_ms;
		sift_down(gs, g, 0);
	}
	return NULL;
}

int64_t
groups_next(const struct groups *gs)
{
	return gs->queue_n > 0 ? gs->queue[0]->queued_ms : GROUP_NEVER;
}

/* ---- groups ---- */

struct group *
groups_find(struct groups *gs, struct str key)
{
	if (gs->last && str_eq(gs->last->key, key))
		return gs->last;
	struct group *g = hash_find(&gs->by_key, key);
	if (g)
		gs->last = g;
	return g;
}

static struct group *
make(struct groups *gs, struct str key)
{
	struct group *g = mem_alloc(sizeof(*g) + key.n + 1);
	char *text = (char *)(g + 1);
	memcpy(text, key.p, key.n);
	text[key.n] = '\0';
	*g = (struct group){ .key = { text, key.n }, .deadline_ms = GROUP_NEVER };
	gathered_init(&g->gathered, gs->strategy, AGGREGATION_LATEST, 0);
	list_append(&gs->all, &g->node);
	hash_put(&gs->by_key, g->key, g);
	gs->last = g;
	count_bytes(gs, g);
	return g;
}

struct group *
groups_new(struct groups *gs, struct str key)
{
	return gs->by_key.count + gs->taken < gs->max_groups ? make(gs, key) : NULL;
}

void
groups_drop(struct groups *gs, struct group **pg)
{
	struct group *g = *pg;
	*pg = NULL;
	if (gs->last == g)
		gs->last = NULL;
	queue_remove(gs, g);
	hash_remove(&gs->by_key, g->key);
	list_remove(&g->node);
	gs->bytes -= g->bytes;
	gathered_fini(&g->gathered);
	if (g->ex)
		state_exchange_free(&g->ex);
	free(g);
}

struct exchange *
groups_take(struct groups *gs, struct group **pg, uint64_t *bytes)
{
	struct group *g = *pg;
	struct exchange *ex = g->ex;
	if (gathered_is_body(&g->gathered))
		exchange_set_body(ex, gathered_body(&g->gathered, &ex->arena));
	*bytes = g->bytes;
	gs->bytes += g->bytes; /* the group's own go when it is dropped */
	gs->taken++;
	g->ex = NULL;
	groups_drop(gs, pg);
	return ex;
}

void
groups_give_back(struct groups *gs, uint64_t bytes)
{
	ASSERT(gs->taken > 0 && gs->bytes >= bytes);
	gs->taken--;
	gs->bytes -= bytes;
}

/* ---- messages ---- */

static void
keep_map(struct arena *a, struct value_map *to, const struct value_map *from, uint64_t *held)
{
	struct value v = { .type = VALUE_MAP, .u.map = (struct value_map *)from };
	if (from->n > 0)
		*to = *value_keep(a, &v, held).u.map;
}

/* The message becomes the group's. */
static void
keep_message(struct groups *gs, struct group *g, struct exchange *ex)
{
	struct exchange *to = state_exchange_new(gs->st);
	struct arena *a = &to->arena;
	bool body = !gathered_is_body(&g->gathered) || gs->keeps_body;
	bool bare =
	    g->gathered.kind == AGGREGATION_EXCHANGES || g->gathered.kind == AGGREGATION_MESSAGES;
	arena_start(a, CHUNK);
	to->pattern = ex->pattern;
	g->held = 0;
	to->headers.items = NULL;
	HEADERS_FOREACH (&ex->headers, h)
		headers_set_hashed(&to->headers, a, arena_str(a, h->name), h->hash,
		    value_keep(a, &h->value, &g->held));
	keep_map(a, &to->properties, &ex->properties, &g->held);
	keep_map(a, &to->variables, &ex->variables, &g->held);
	if (ex->caught)
		to->caught = exception_share(a, ex->caught);
	if (body && !bare)
		to->body = value_keep(a, &ex->body, &g->held);
	if (g->ex)
		state_exchange_free(&g->ex);
	g->ex = to;
}

enum hinny_rc
groups_add(struct groups *gs, struct group *g, struct exchange *ex)
{
	if (gs->bytes + need(gs, g, ex) > gs->max_bytes)
		return HINNY_ELIMIT;
	if (g->ex == NULL || g->gathered.kind == AGGREGATION_LATEST)
		keep_message(gs, g, ex);
	/* it doubles, but not beyond the bound */
	uint64_t others = gs->bytes - g->gathered.text.cap;
	g->gathered.text.max = gs->max_bytes > others ? gs->max_bytes - others : 1;
	if (gathered_add(&g->gathered, &g->ex->arena, ex) != HINNY_OK)
		return HINNY_ELIMIT;
	g->size++;
	count_bytes(gs, g);
	return HINNY_OK;
}

struct group_mark
groups_mark(const struct group *g)
{
	const struct value *list = &g->gathered.list;
	return (struct group_mark){ g->gathered.text.n,
		list->type == VALUE_LIST ? list->u.list->n : 0 };
}

void
groups_undo(struct groups *gs, struct group *g, struct group_mark before)
{
	gathered_undo(&g->gathered, before.text_n, before.list_n);
	g->size--;
	count_bytes(gs, g);
}

/* ---- from another process ---- */

struct group *
groups_load(struct groups *gs, struct str key, struct exchange *message)
{
	if (hash_find(&gs->by_key, key))
		return NULL;
	struct group *g = make(gs, key);
	keep_message(gs, g, message);
	return g;
}

void
groups_loaded(struct groups *gs, struct group *g)
{
	count_bytes(gs, g);
}

void
groups_load_taken(struct groups *gs, uint64_t bytes)
{
	gs->bytes += bytes;
	gs->taken++;
}

/* ---- closed keys ---- */

static void
forget_closed(struct groups *gs, struct group_closed *c)
{
	gs->closed_bytes -= sizeof(*c) + c->key.n;
	hash_remove(&gs->closed, c->key);
	list_remove(&c->node);
	free(c);
}

void
groups_close_key(struct groups *gs, struct str key)
{
	if (gs->max_closed == 0 || hash_find(&gs->closed, key))
		return;
	struct group_closed *c = mem_alloc(sizeof(*c) + key.n + 1);
	memcpy(c->text, key.p, key.n);
	c->text[key.n] = '\0';
	c->key = (struct str){ c->text, key.n };
	list_append(&gs->closed_all, &c->node);
	hash_put(&gs->closed, c->key, c);
	gs->closed_bytes += sizeof(*c) + key.n;
	while (gs->closed.count > gs->max_closed || gs->closed_bytes > gs->max_bytes)
		forget_closed(gs, LIST_FIRST(&gs->closed_all, struct group_closed, node));
}

bool
groups_is_closed(const struct groups *gs, struct str key)
{
	return gs->closed.count > 0 && hash_find(&gs->closed, key) != NULL;
}

void
groups_each_closed(const struct groups *gs, groups_key_fn *fn, void *arg)
{
	LIST_FOREACH (&gs->closed_all, it, next)
		fn(arg, LIST_ENTRY(it, struct group_closed, node)->key);
}

/* ---- all ---- */

void
groups_init(struct groups *gs, struct state_node *node, const struct bean *strategy,
    uint64_t max_groups, uint64_t max_bytes)
{
	*gs = (struct groups){
		.st = node, .strategy = strategy, .max_groups = max_groups, .max_bytes = max_bytes
	};
	hash_init(&gs->by_key, false);
	hash_init(&gs->closed, false);
	list_init(&gs->all);
	list_init(&gs->closed_all);
}

void
groups_fini(struct groups *gs)
{
	while (!list_empty(&gs->all)) {
		struct group *g = LIST_FIRST(&gs->all, struct group, node);
		groups_drop(gs, &g);
	}
	while (!list_empty(&gs->closed_all))
		forget_closed(gs, LIST_FIRST(&gs->closed_all, struct group_closed, node));
	hash_fini(&gs->by_key);
	hash_fini(&gs->closed);
	free(gs->queue);
	gs->queue = NULL;
}
