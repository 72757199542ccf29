/* Exchanges and their pool; message access that marks what changed. */
#include "core/model/exchange.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/model/stream.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- pool ---- */

/* Different in each process and start; the clock and the pid stand in where the kernel has no
 * random bytes yet. */
static uint64_t
random_prefix(void)
{
	uint64_t prefix;

	if (getrandom(&prefix, sizeof prefix, GRND_NONBLOCK) != (ssize_t)sizeof prefix)
		prefix = (uint64_t)monotime_now().ns * 0x9e3779b97f4a7c15u ^
		    (uint64_t)walltime_ms() << 20 ^ (uint64_t)getpid();
	return prefix >> 4; /* 15 hexadecimal digits */
}

void
exchange_pool_init(struct exchange_pool *pool, uint32_t keep)
{
	*pool = (struct exchange_pool){ .free_max = keep, .id_prefix = random_prefix() };
	list_init(&pool->free);
}

static void
destroy(struct exchange *ex)
{
	arena_fini(&ex->arena);
	free(ex);
}

void
exchange_pool_fini(struct exchange_pool *pool)
{
	LIST_FOREACH (&pool->free, it, next) {
		list_remove(it);
		destroy(LIST_ENTRY(it, struct exchange, node));
	}
	pool->free_n = 0;
}

struct exchange *
exchange_new(struct exchange_pool *pool)
{
	struct exchange *ex;
	struct arena arena;

	if (list_empty(&pool->free)) {
		ex = mem_alloc(sizeof *ex);
		arena_init(&arena);
	} else {
		ex = LIST_FIRST(&pool->free, struct exchange, node);
		list_remove(&ex->node);
		pool->free_n--;
		arena = ex->arena; /* warm; nothing points at it */
	}
	*ex = (struct exchange){
		.arena = arena, .seq = pool->next_seq++, .id_prefix = pool->id_prefix
	};
	ex->id_seq = ex->seq;
	ex->created_ms = walltime_ms();
	ex->started = monotime_now();
	list_init(&ex->node);
	pool->live++;
	return ex;
}

static void
cancel_stream(struct value *v)
{
	if (v->type != VALUE_STREAM)
		return;
	struct stream *s = v->u.stream;
	*v = value_null();
	if (s->sink == NULL) /* whom it is attached to ends it */
		stream_cancel(s);
}

void
exchange_free(struct exchange_pool *pool, struct exchange **ex)
{
	struct exchange *old = *ex;

	if (old == NULL)
		return;
	*ex = NULL;
	cancel_stream(&old->body);
	list_remove(&old->node);
	arena_reset(&old->arena);
	ASSERT(pool->live > 0);
	pool->live--;
	if (pool->free_n >= pool->free_max) {
		destroy(old);
		return;
	}
	list_prepend(&pool->free, &old->node);
	pool->free_n++;
}

/* ---- message access ---- */

void
exchange_set_body(struct exchange *ex, struct value v)
{
	if (v.type != VALUE_STREAM || ex->body.type != VALUE_STREAM ||
	    v.u.stream != ex->body.u.stream)
		cancel_stream(&ex->body);
	ex->body = v;
	ex->dirty |= DIRTY_BODY;
}

void
exchange_set_header(struct exchange *ex, struct str name, struct value v)
{
	headers_set(&ex->headers, &ex->arena, name, v);
	ex->dirty |= DIRTY_HEADERS;
}

bool
exchange_remove_header(struct exchange *ex, struct str name)
{
	bool was = headers_remove(&ex->headers, name);

	if (was)
		ex->dirty |= DIRTY_HEADERS;
	return was;
}

static void
note_change(struct arena *a, struct name_list *names, struct str name)
{
	for (uint32_t i = 0; i < names->n; i++) {
		if (str_eq(names->items[i], name))
			return;
	}
	if (names->n == names->cap) {
		uint32_t cap = names->cap == 0 ? 8 : names->cap * 2;
		struct str *items = arena_alloc(a, cap * sizeof *items);
		if (names->n > 0)
			memcpy(items, names->items, names->n * sizeof *items);
		names->items = items;
		names->cap = cap;
	}
	names->items[names->n++] = name;
}

static void
set_or_remove(struct arena *a, struct value_map *m, struct name_list *changed, struct str name,
    struct value v)
{
	note_change(a, changed, name);
	if (v.type == VALUE_NULL)
		(void)value_map_remove(m, name); /* it may not have been there */
	else
		value_map_set(a, m, name, v);
}

struct value *
exchange_property(struct exchange *ex, struct str name)
{
	return value_map_find(&ex->properties, name);
}

void
exchange_set_property(struct exchange *ex, struct str name, struct value v)
{
	set_or_remove(&ex->arena, &ex->properties, &ex->changed_properties, name, v);
	ex->dirty |= DIRTY_PROPERTIES;
}

struct value *
exchange_variable(struct exchange *ex, struct str name)
{
	return value_map_find(&ex->variables, name);
}

void
exchange_set_variable(struct exchange *ex, struct str name, struct value v)
{
	set_or_remove(&ex->arena, &ex->variables, &ex->changed_variables, name, v);
	ex->dirty |= DIRTY_VARIABLES;
}

void
exchange_clean(struct exchange *ex)
{
	headers_clean(&ex->headers);
	ex->changed_properties.n = 0;
	ex->changed_variables.n = 0;
	ex->dirty = 0;
}

/* ---- the rest ---- */

void
exchange_fail(struct exchange *ex, enum exception_id id, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *message = fmt != NULL ? arena_vprintf(&ex->arena, fmt, ap) : NULL;
	va_end(ap);
	ex->exception = exception_new(&ex->arena, id, NULL);
	ex->exception->message = str_of(message);
}

struct str
exchange_id(struct exchange *ex)
{
	return str_of(
	    arena_printf(&ex->arena, "%015" PRIX64 "-%016" PRIX64, ex->id_prefix, ex->id_seq));
}

enum hinny_rc
exchange_json(
    struct exchange *ex, struct str text, const struct json_node **root, struct hinny_error *err)
{
	if (ex->json_root == NULL || ex->json_text.p != text.p || ex->json_text.n != text.n) {
		enum hinny_rc rc = json_parse(&ex->arena, text, root, err);
		if (rc != HINNY_OK)
			return rc;
		ex->json_text = text;
		ex->json_root = *root;
	}
	*root = ex->json_root;
	return HINNY_OK;
}
