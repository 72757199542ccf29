/*
 * The frame and its primitives. The writer notes its first failure and writes nothing more;
 * frame_finish tells it and takes the frame out again. The reader hands out zeros once something
 * was wrong.
 */
#include "core/model/frame.h"

#include "core/base/assert.h"
#include "core/model/frame_priv.h"

/* ---- writer ---- */

char *
frame_room_slow(struct frame_writer *w, size_t n)
{
	if (w->rc == HINNY_OK && (n > FRAME_MAX || w->out->n - w->start > FRAME_MAX - n))
		w->rc = HINNY_ELIMIT;
	if (w->rc == HINNY_OK)
		w->rc = buf_reserve(w->out, n);
	if (w->rc != HINNY_OK)
		return NULL;
	char *p = w->out->p + w->out->n;
	w->out->n += n;
	return p;
}

struct frame_writer
frame_begin(struct buf *out, enum frame_type type, unsigned flags)
{
	struct frame_writer w = { .out = out, .start = out->n };
	char *p = frame_room(&w, FRAME_HEAD);

	ASSERT(flags <= UINT16_MAX);
	if (p != NULL) {
		p = frame_store_u32(p, 0);
		*p++ = FRAME_VERSION;
		*p++ = (char)type;
		*p++ = (char)(flags & 0xFF);
		*p++ = (char)(flags >> 8);
	}
	return w;
}

void
frame_put_u8(struct frame_writer *w, uint8_t v)
{
	char *p = frame_room(w, 1);
	if (p != NULL)
		*p = (char)v;
}

void
frame_put_u32(struct frame_writer *w, uint32_t v)
{
	char *p = frame_room(w, sizeof v);
	if (p != NULL)
		frame_store_u32(p, v);
}

void
frame_put_u64(struct frame_writer *w, uint64_t v)
{
	char *p = frame_room(w, sizeof v);
	if (p != NULL)
		frame_store_u64(p, v);
}

void
frame_put_str(struct frame_writer *w, struct str s)
{
	if (s.n > FRAME_MAX) { /* so that the sum below cannot wrap */
		if (w->rc == HINNY_OK)
			w->rc = HINNY_ELIMIT;
		return;
	}
	char *p = frame_room(w, sizeof(uint32_t) + s.n);
	if (p != NULL)
		frame_store_str(p, s);
}

enum hinny_rc
frame_finish(struct frame_writer *w)
{
	size_t n = w->out->n - w->start;

	if (w->rc == HINNY_OK && n > FRAME_MAX)
		w->rc = HINNY_ELIMIT;
	if (w->rc != HINNY_OK) {
		w->out->n = w->start;
		return w->rc;
	}
	frame_store_u32(w->out->p + w->start, (uint32_t)(n - sizeof(uint32_t)));
	return HINNY_OK;
}

/* ---- reader ---- */

size_t
frame_length(const char *head)
{
	const unsigned char *u = (const unsigned char *)head;

	return (size_t)u[0] | (size_t)u[1] << 8 | (size_t)u[2] << 16 | (size_t)u[3] << 24;
}

bool
frame_next(struct str *batch, struct frame_reader *r)
{
	*r = (struct frame_reader){ .p = batch->p, .end = batch->p + batch->n };
	if (batch->n == 0)
		return false;
	uint32_t length = frame_get_u32(r);
	if (r->bad || length < FRAME_HEAD - sizeof length || length > FRAME_MAX ||
	    length > batch->n - sizeof length) {
		r->bad = true;
		return false;
	}
	r->end = r->p + length;
	r->version = frame_get_u8(r);
	r->type = frame_get_u8(r);
	r->flags = frame_get_u8(r);
	r->flags = (uint16_t)(r->flags | frame_get_u8(r) << 8);
	if (r->version != FRAME_VERSION) {
		r->bad = true;
		return false;
	}
	batch->n -= sizeof length + length;
	batch->p = r->end;
	return true;
}

uint8_t
frame_get_u8(struct frame_reader *r)
{
	const char *p = frame_take(r, 1);
	return p != NULL ? (uint8_t)*p : 0;
}

uint32_t
frame_get_u32(struct frame_reader *r)
{
	uint32_t v = 0;
	const char *p = frame_take(r, sizeof v);

	if (p != NULL)
		memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

uint64_t
frame_get_u64(struct frame_reader *r)
{
	uint64_t v = 0;
	const char *p = frame_take(r, sizeof v);

	if (p != NULL)
		memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

struct str
frame_get_str(struct frame_reader *r)
{
	uint32_t n = frame_get_u32(r);
	const char *p = frame_take(r, n);
	return p != NULL ? (struct str){ p, n } : (struct str){ "", 0 };
}

bool
frame_end(const struct frame_reader *r)
{
	return !r->bad && r->p == r->end;
}
