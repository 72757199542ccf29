/*
 * A growable byte buffer with an upper bound: what input sizes fails with HINNY_ELIMIT, never with
 * the process.
 */
#ifndef HINNY_BASE_BUF_H
#define HINNY_BASE_BUF_H

#include "core/base/error.h"
#include "core/base/str.h"

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *p;
	size_t n;
	size_t cap;
	size_t max; /* 0: no bound */
};

void buf_init(struct buf *b, size_t max);
void buf_fini(struct buf *b);
static inline void
buf_clear(struct buf *b)
{
	b->n = 0;
}
/* Room for `more` further bytes. */
enum hinny_rc buf_reserve(struct buf *b, size_t more);
enum hinny_rc buf_add(struct buf *b, const void *p, size_t n);
enum hinny_rc buf_add_str(struct buf *b, struct str s);
enum hinny_rc buf_add_char(struct buf *b, char c);
enum hinny_rc buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Takes the first n bytes out. */
void buf_consume(struct buf *b, size_t n);
/* NUL-terminates without counting the NUL and returns the bytes; NULL at the bound. */
const char *buf_cstr(struct buf *b);

#endif
