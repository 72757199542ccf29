/*
 * Children: copies of a message for the items of a split, the branches of a multicast, a wire tap.
 *
 * A child that its parent waits for borrows: values, names and the parsed body are the parent's, so
 * a split costs a few pointers an item. One that may outlive its parent (detached) shares instead:
 * blobs are held, all else is copied.
 */
#include "core/base/assert.h"
#include "core/eip/claims.h"
#include "core/eip/engine_priv.h"

#include <string.h>

enum { SPARE = 4, LARGE_MAP = 16 };

/* ---- copying ---- */

static void
borrow_headers(struct exchange *child, const struct headers *from)
{
	struct headers *to = &child->headers;
	*to = (struct headers){ 0 };
	if (from->live == 0)
		return;
	to->cap = from->live + SPARE;
	to->items = arena_alloc(&child->arena, to->cap * sizeof(to->items[0]));
	HEADERS_FOREACH (from, h)
		to->items[to->n++] = *h;
	to->live = to->n;
}

/* A map of its own with the same values. */
static void
copy_map(struct arena *a, struct value_map *to, const struct value_map *from, bool borrow)
{
	*to = (struct value_map){ .nocase = from->nocase };
	if (from->n == 0)
		return;
	if (from->n > LARGE_MAP || !borrow) {
		struct value v = { .type = VALUE_MAP, .u.map = (struct value_map *)from };
		*to = *value_share(a, &v).u.map;
		return;
	}
	to->cap = from->n + SPARE;
	to->entries = arena_alloc(a, to->cap * sizeof(to->entries[0]));
	struct value *values = arena_alloc(a, from->n * sizeof(values[0]));
	for (size_t i = 0; i < from->n; i++) {
		values[i] = *from->entries[i].value;
		to->entries[i] = (struct value_entry){ from->entries[i].key, &values[i] };
	}
	to->n = from->n;
}

static void
borrow_message(struct exchange *child, const struct exchange *parent)
{
	child->parent = (struct exchange *)parent;
	child->inbound = parent->inbound;
	child->caught = parent->caught;
	claims_share(child, parent);
	child->json_text = parent->json_text;
	child->json_root = parent->json_root;
	if (parent->body.type != VALUE_STREAM)
		child->body = parent->body;
	borrow_headers(child, &parent->headers);
	copy_map(&child->arena, &child->properties, &parent->properties, true);
	copy_map(&child->arena, &child->variables, &parent->variables, true);
}

void
engine_share_message(struct exchange *child, const struct exchange *parent)
{
	struct arena *a = &child->arena;
	claims_share(child, parent);
	if (parent->caught)
		child->caught = exception_share(a, parent->caught);
	if (parent->inbound) {
		child->inbound = ARENA_NEW(a, struct headers);
		headers_copy(child->inbound, a, parent->inbound);
	}
	if (parent->body.type != VALUE_STREAM)
		child->body = value_share(a, &parent->body);
	headers_copy(&child->headers, a, &parent->headers);
	copy_map(a, &child->properties, &parent->properties, false);
	copy_map(a, &child->variables, &parent->variables, false);
}

struct exchange *
engine_child_new(struct exchange *parent, bool detached)
{
	struct engine *en = parent->engine;
	struct exchange *child = en->ops->child_new(en, detached);
	child->engine = en;
	child->detached = detached;
	child->pattern = parent->pattern;
	child->from_route = parent->from_route;
	child->route = parent->route;
	child->transaction = parent->transaction;
	child->traced = parent->traced;
	child->depth = parent->depth + 1;
	if (detached) {
		engine_share_message(child, parent);
	} else {
		child->home = parent->home;
		child->order = parent->order;
		borrow_message(child, parent);
	}
	return child;
}

void
engine_child_free(struct exchange **child)
{
	if (*child)
		(*child)->engine->ops->child_free((*child)->engine, child);
}

/* ---- running ---- */

bool
engine_child_allowed(struct exchange *parent)
{
	if (parent->depth < ENGINE_DEPTH_MAX)
		return true;
	exchange_fail(parent, EXCEPTION_STACK_OVERFLOW_ERROR,
	    "more than %d routes and branches deep, at route %s", ENGINE_DEPTH_MAX,
	    parent->route ? parent->route->id : "");
	return false;
}

void
engine_start_child(struct exchange *child, const struct step *first, uint32_t n, bool handles)
{
	struct engine *en = child->engine;
	struct block block = { .first = (struct step *)first, .n = n };
	uint32_t depth = child->depth;
	engine_begin(en, child);
	child->depth = depth;
	if (en->keeps_original && handles)
		snapshot_take(child, &child->run->original);
	struct activation *act = engine_push(child, ACTIVATION_CHILD, NULL, &block);
	act->n = n;
	act->handles = handles;
	act->keeps = handles && child->route && engine_route_redelivers(child->route);
	engine_loop(child);
}

/* ---- the result ---- */

static bool
same_value(const struct value *a, const struct value *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* What is the same value as before (by address) needs no copy. */
static void
take_headers(struct exchange *ex, const struct headers *from)
{
	struct headers taken = { 0 };
	HEADERS_FOREACH (from, h) {
		struct header *old = headers_find_hashed(&ex->headers, h->name, h->hash);
		if (old && same_value(&old->value, &h->value))
			headers_set_hashed(&taken, &ex->arena, old->name, h->hash, old->value);
		else
			headers_set_hashed(&taken, &ex->arena, arena_str(&ex->arena, h->name),
			    h->hash, value_share(&ex->arena, &h->value));
	}
	taken.removed = true;
	ex->headers = taken;
	ex->dirty |= DIRTY_HEADERS;
}

typedef void set_fn(struct exchange *ex, struct str name, struct value v);

static void
take_map(
    struct exchange *ex, const struct value_map *old, const struct value_map *from, set_fn *set)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct value_entry *e = &from->entries[i];
		const struct value *was = value_map_find(old, e->key);
		if (was == NULL || !same_value(was, e->value))
			set(ex, arena_str(&ex->arena, e->key), value_share(&ex->arena, e->value));
	}
}

void
engine_take_message(struct exchange *ex, struct exchange *from)
{
	if (from->body.type == VALUE_STREAM)
		exchange_set_body(
		    ex, value_null()); /* no step leaves one where none is asked for */
	else if (!same_value(&ex->body, &from->body))
		exchange_set_body(ex, value_share(&ex->arena, &from->body));
	take_headers(ex, &from->headers);
	take_map(ex, &ex->properties, &from->properties, exchange_set_property);
	take_map(ex, &ex->variables, &from->variables, exchange_set_variable);
	if (from->caught && from->caught != ex->caught)
		ex->caught = exception_share(&ex->arena, from->caught);
	claims_share(ex, from);
}

void
engine_take_result(struct exchange *ex, struct exchange *from)
{
	engine_take_message(ex, from);
	ex->stop = ex->stop || from->stop;
	ex->rollback_only = ex->rollback_only || from->rollback_only;
	if (engine_was_handled(from))
		ex->run->handled = ex->run->leaves = true;
}

bool
engine_was_ended(const struct exchange *ex)
{
	return ex->stop || ex->rollback_only || engine_was_handled(ex);
}
