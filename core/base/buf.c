/* Growable buffers, doubled when full, never beyond their bound. */
#include "core/base/buf.h"

#include "core/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

enum { BUF_MIN = 256 };

void
buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max };
}

void
buf_fini(struct buf *b)
{
	free(b->p);
	buf_init(b, b->max);
}

static size_t
next_cap(const struct buf *b, size_t need)
{
	size_t cap = b->cap < BUF_MIN ? BUF_MIN : b->cap;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	if (b->max > 0 && cap > b->max)
		cap = b->max;
	return cap;
}

enum hinny_rc
buf_reserve(struct buf *b, size_t more)
{
	if (more <= b->cap - b->n)
		return HINNY_OK;
	size_t limit = b->max > 0 ? b->max : SIZE_MAX;
	if (b->n > limit || more > limit - b->n)
		return HINNY_ELIMIT;
	size_t cap = next_cap(b, b->n + more);
	char *p = realloc(b->p, cap);
	if (p == NULL)
		return HINNY_ELIMIT;
	b->p = p;
	b->cap = cap;
	return HINNY_OK;
}

enum hinny_rc
buf_add(struct buf *b, const void *p, size_t n)
{
	enum hinny_rc rc = buf_reserve(b, n);
	if (rc != HINNY_OK || n == 0)
		return rc;
	memcpy(b->p + b->n, p, n);
	b->n += n;
	return HINNY_OK;
}

enum hinny_rc
buf_add_str(struct buf *b, struct str s)
{
	return buf_add(b, s.p, s.n);
}

enum hinny_rc
buf_add_char(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

enum hinny_rc
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char small[256];

	va_start(ap, fmt);
	int len = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	ASSERT(len >= 0);
	size_t n = (size_t)len;
	if (n < sizeof small)
		return buf_add(b, small, n);

	/* vsnprintf wants a byte for the NUL, which the bound need not leave. */
	char *large = malloc(n + 1);
	if (large == NULL)
		return HINNY_ELIMIT;
	va_start(ap, fmt);
	(void)vsnprintf(large, n + 1, fmt, ap); /* measured above */
	va_end(ap);
	enum hinny_rc rc = buf_add(b, large, n);
	free(large);
	return rc;
}

void
buf_consume(struct buf *b, size_t n)
{
	ASSERT(n <= b->n);
	if (n > 0 && n < b->n)
		memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
}

const char *
buf_cstr(struct buf *b)
{
	if (buf_reserve(b, 1) != HINNY_OK)
		return NULL;
	b->p[b->n] = '\0';
	return b->p;
}
