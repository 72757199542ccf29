/*
 * Chunks in a list, newest first; allocation bumps a pointer in the newest. A request that would
 * waste much of a chunk gets a chunk of its own behind the newest one, which stays current.
 */
#include "core/base/arena.h"

#include "core/base/assert.h"
#include "core/base/blob.h"
#include "core/base/mem.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

enum {
	CHUNK_FIRST = 4096 - 32, /* with malloc's own header below a page */
	CHUNK_MAX = 64 * 1024,
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
	CHUNK_KEEP = 0, /* so that a use after the reset is a use of freed memory, which the
	                   sanitizer sees */
#else
	CHUNK_KEEP = 16 * 1024,
#endif
};

struct arena_chunk {
	struct arena_chunk *next;
	size_t size; /* of data */
	alignas(16) char data[];
};

struct arena_cleanup {
	struct arena_cleanup *next;
	arena_cleanup_fn *fn;
	void *arg;
};

static struct arena_chunk *
chunk_new(size_t size)
{
	ASSERT(size <= SIZE_MAX - sizeof(struct arena_chunk));
	struct arena_chunk *c = mem_alloc(sizeof *c + size);
	c->size = size;
	c->next = NULL;
	return c;
}

static void
chunk_make_current(struct arena *a, struct arena_chunk *c)
{
	a->at = c->data;
	a->end = c->data + c->size;
}

void
arena_start(struct arena *a, size_t size)
{
	if (a->chunks != NULL)
		return;
	a->chunks = chunk_new(size - sizeof(struct arena_chunk));
	chunk_make_current(a, a->chunks);
}

static void
chunk_push(struct arena *a)
{
	size_t size = CHUNK_FIRST - sizeof(struct arena_chunk);
	if (a->chunks != NULL) {
		size = (a->chunks->size + sizeof(struct arena_chunk)) * 2;
		if (size > CHUNK_MAX)
			size = CHUNK_MAX;
		size -= sizeof(struct arena_chunk);
	}
	struct arena_chunk *c = chunk_new(size);
	c->next = a->chunks;
	a->chunks = c;
	chunk_make_current(a, c);
}

void
arena_init(struct arena *a)
{
	*a = (struct arena){ 0 };
}

static void
run_cleanups(struct arena *a)
{
	while (a->cleanups != NULL) {
		struct arena_cleanup *c = a->cleanups;
		a->cleanups = c->next;
		c->fn(c->arg);
	}
}

static void
free_chunks(struct arena_chunk *c)
{
	while (c != NULL) {
		struct arena_chunk *next = c->next;
		free(c);
		c = next;
	}
}

/*
 * Takes the largest regular chunk that may be kept out of the list; the newest regular ones are the
 * largest.
 */
static struct arena_chunk *
take_kept(struct arena *a)
{
	struct arena_chunk *best = NULL, **best_at = NULL;

	for (struct arena_chunk **at = &a->chunks; *at != NULL; at = &(*at)->next) {
		if ((*at)->size <= CHUNK_KEEP && (best == NULL || (*at)->size > best->size)) {
			best = *at;
			best_at = at;
		}
	}
	if (best != NULL) {
		*best_at = best->next;
		best->next = NULL;
	}
	return best;
}

void
arena_reset(struct arena *a)
{
	run_cleanups(a);
	struct arena_chunk *kept = take_kept(a);
	free_chunks(a->chunks);
	a->chunks = kept;
	a->used = 0;
	a->at = a->end = NULL;
	if (kept != NULL)
		chunk_make_current(a, kept);
}

void
arena_fini(struct arena *a)
{
	run_cleanups(a);
	free_chunks(a->chunks);
	arena_init(a);
}

/* A chunk for one large request. The current chunk stays current. */
static void *
alloc_alone(struct arena *a, size_t need)
{
	struct arena_chunk *c = chunk_new(need);
	c->next = a->chunks->next;
	a->chunks->next = c;
	a->used += need;
	return c->data;
}

void *
arena_alloc_slow(struct arena *a, size_t size)
{
	size_t need = (size + 15) & ~(size_t)15;
	ASSERT(need >= size);
	if (a->chunks == NULL) {
		chunk_push(a);
		return arena_alloc(a, size);
	}
	if (need > a->chunks->size / 2)
		return alloc_alone(a, need);
	chunk_push(a);
	return arena_alloc(a, size);
}

void *
arena_zalloc(struct arena *a, size_t size)
{
	void *p = arena_alloc(a, size);
	if (size > 0)
		memset(p, 0, size);
	return p;
}

char *
arena_strndup(struct arena *a, const char *s, size_t n)
{
	ASSERT(n < SIZE_MAX);
	char *p = arena_alloc(a, n + 1);
	if (n > 0)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *
arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

struct str
arena_str(struct arena *a, struct str s)
{
	return (struct str){ arena_strndup(a, s.p, s.n), s.n };
}

char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	ASSERT(n >= 0);
	char *p = arena_alloc(a, (size_t)n + 1);
	(void)vsnprintf(p, (size_t)n + 1, fmt, ap); /* measured above */
	return p;
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}

void
arena_on_reset(struct arena *a, arena_cleanup_fn *fn, void *arg)
{
	struct arena_cleanup *c = arena_alloc(a, sizeof *c);
	*c = (struct arena_cleanup){ .next = a->cleanups, .fn = fn, .arg = arg };
	a->cleanups = c;
}

static void
put_blob(void *arg)
{
	blob_put(arg);
}

struct blob *
arena_hold(struct arena *a, struct blob *b)
{
	arena_on_reset(a, put_blob, blob_get(b));
	return b;
}
