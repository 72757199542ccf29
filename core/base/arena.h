/*
 * Region allocator. All that belongs to an exchange (or a program, or a bundle) lives in one arena
 * and goes with it. Allocations are 16-byte aligned; memory from arena_alloc is not cleared. Small
 * fixed requests never fail (out of memory ends the process); what outside input sizes must be
 * bounded by the caller first. arena_reset keeps one chunk of up to 16 KiB, so a reused exchange
 * allocates nothing in the steady state (a sanitizer build keeps none).
 */
#ifndef HINNY_BASE_ARENA_H
#define HINNY_BASE_ARENA_H

#include "core/base/str.h"

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;
struct arena_cleanup;
struct blob;

typedef void arena_cleanup_fn(void *arg);

struct arena {
	char *at;                       /* next free byte of the current chunk */
	char *end;                      /* behind its last byte */
	struct arena_chunk *chunks;     /* newest first */
	struct arena_cleanup *cleanups; /* newest first */
	size_t used;                    /* bytes handed out since the last reset */
};

void arena_init(struct arena *a);
/* An arena without a chunk gets a first one of so many bytes, for what is small and kept long. */
void arena_start(struct arena *a, size_t size);
void arena_reset(struct arena *a); /* runs the clean-ups newest first, frees all but one chunk */
void arena_fini(struct arena *a);  /* resets and frees everything; may be repeated */

void *arena_alloc_slow(struct arena *a, size_t size);
static inline void *
arena_alloc(struct arena *a, size_t size)
{
	size_t need = (size + 15) & ~(size_t)15;
	if (need < size || (size_t)(a->end - a->at) < need)
		return arena_alloc_slow(a, size);
	void *p = a->at;
	a->at += need;
	a->used += need;
	return p;
}
void *arena_zalloc(struct arena *a, size_t size);
#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))

/* NUL-terminated copies. */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
struct str arena_str(struct arena *a, struct str s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Runs fn(arg) at the next reset. */
void arena_on_reset(struct arena *a, arena_cleanup_fn *fn, void *arg);
/* Takes a reference to b that is put back at the next reset. Returns b. */
struct blob *arena_hold(struct arena *a, struct blob *b);

#endif
