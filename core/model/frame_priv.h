/* What frame.c, frame_value.c and frame_message.c share: unchecked writes into room that was made,
 * and bounded reads. */
#ifndef HINNY_MODEL_FRAME_PRIV_H
#define HINNY_MODEL_FRAME_PRIV_H

#include "core/model/frame.h"

#include <string.h>

enum {
	FRAME_DEPTH_MAX = 128,
	FRAME_CAUSES_MAX = 16,
	FRAME_RESPONSE_MAX = 1 << 20,
	FRAME_VALUE_FLAGS = VALUE_LONG | VALUE_FLOAT | VALUE_DATE | VALUE_NODESET | VALUE_ARRAY |
	    VALUE_INPUT | VALUE_NODE | VALUE_GROUPED, /* those that are known */
};

/* Room for n bytes at the end, counted already; NULL once the frame has failed. */
char *frame_room_slow(struct frame_writer *w, size_t n);
static inline char *
frame_room(struct frame_writer *w, size_t n)
{
	struct buf *b = w->out;
	if (w->rc != HINNY_OK || b->cap - b->n < n)
		return frame_room_slow(w, n);
	char *p = b->p + b->n;
	b->n += n;
	return p;
}

static inline char *
frame_store_u32(char *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

static inline char *
frame_store_u64(char *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, sizeof v);
	return p + sizeof v;
}

static inline char *
frame_store_str(char *p, struct str s)
{
	p = frame_store_u32(p, (uint32_t)s.n);
	if (s.n > 0)
		memcpy(p, s.p, s.n);
	return p + s.n;
}

/* The next n bytes, NULL (and bad) when there are not so many. */
static inline const char *
frame_take(struct frame_reader *r, size_t n)
{
	if (r->bad || (size_t)(r->end - r->p) < n) {
		r->bad = true;
		r->p = r->end;
		return NULL;
	}
	const char *p = r->p;
	r->p += n;
	return p;
}

static inline uint32_t
frame_load_u32(const char *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

/* Bytes that the value takes in a frame, or more than `limit` when it is larger than that (or too
 * deep). */
size_t frame_value_size(const struct value *v, size_t limit);
struct value frame_get_value_at(
    struct frame_reader *r, struct arena *a, struct blob *blob, unsigned depth);

#endif
