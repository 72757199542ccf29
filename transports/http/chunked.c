/* Decoder and encoder of the chunked coding. See chunked.h. */
#include "transports/http/chunked.h"

#include "core/base/assert.h"
#include "transports/http/head.h"

void
chunked_init(struct chunked *c)
{
	*c = (struct chunked){ .state = CHUNKED_SIZE_START };
}

static int
hex_digit(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	ch |= 0x20;
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static bool
is_text(char ch)
{
	return (unsigned char)ch >= ' ' ? ch != 127 : ch == '\t';
}

/* Of a field's name. */
static bool
is_name(char ch)
{
	return http_is_token((struct str){ &ch, 1 });
}

/* The size line. */
static bool
step_size(struct chunked *c, char ch)
{
	int digit = hex_digit(ch);

	if (++c->line > CHUNKED_LINE_MAX)
		return false;
	switch (c->state) {
	case CHUNKED_SIZE_START:
		if (digit < 0)
			return false;
		c->left = (uint64_t)digit;
		c->state = CHUNKED_SIZE;
		return true;
	case CHUNKED_SIZE:
		if (digit >= 0) {
			if (c->left > UINT64_MAX >>
			    8) /* no body is that long; keeps sums from running over */
				return false;
			c->left = c->left << 4 | (uint64_t)digit;
			return true;
		}
		c->state = ch == '\r' ? CHUNKED_SIZE_LF : CHUNKED_EXTENSION;
		return ch == '\r' || ch == ';';
	case CHUNKED_EXTENSION:
		if (ch == '\r')
			c->state = CHUNKED_SIZE_LF;
		return ch == '\r' || is_text(ch);
	default: /* CHUNKED_SIZE_LF */
		c->state = c->left > 0 ? CHUNKED_DATA : CHUNKED_TRAILER_START;
		c->line = 0;
		return ch == '\n';
	}
}

/* Behind a chunk's data, and behind the last chunk. */
static bool
step_end(struct chunked *c, char ch)
{
	switch (c->state) {
	case CHUNKED_DATA_CR:
		c->state = CHUNKED_DATA_LF;
		return ch == '\r';
	case CHUNKED_DATA_LF:
		c->state = CHUNKED_SIZE_START;
		return ch == '\n';
	case CHUNKED_TRAILER_START:
		/* No blank at the start: that would be a folded line. */
		c->state = ch == '\r' ? CHUNKED_END_LF : CHUNKED_TRAILER_NAME;
		return ch == '\r' || (++c->trailer <= CHUNKED_TRAILER_MAX && is_name(ch));
	case CHUNKED_TRAILER_NAME:
		if (ch == ':')
			c->state = CHUNKED_TRAILER;
		return ++c->trailer <= CHUNKED_TRAILER_MAX && (ch == ':' || is_name(ch));
	case CHUNKED_TRAILER:
		if (ch == '\r')
			c->state = CHUNKED_TRAILER_LF;
		return ++c->trailer <= CHUNKED_TRAILER_MAX && (ch == '\r' || is_text(ch));
	case CHUNKED_TRAILER_LF:
		c->state = CHUNKED_TRAILER_START;
		return ch == '\n';
	default: /* CHUNKED_END_LF */
		c->state = CHUNKED_DONE;
		return ch == '\n';
	}
}

enum chunked_rc
chunked_feed(struct chunked *c, const char *p, size_t n, size_t *used, struct str *data)
{
	size_t at = 0;

	while (at < n && c->state != CHUNKED_DONE) {
		if (c->state == CHUNKED_DATA) {
			size_t take = n - at < c->left ? n - at : (size_t)c->left;
			*data = (struct str){ p + at, take };
			c->left -= take;
			if (c->left == 0)
				c->state = CHUNKED_DATA_CR;
			*used = at + take;
			return CHUNKED_BYTES;
		}
		bool ok = c->state < CHUNKED_DATA ? step_size(c, p[at]) : step_end(c, p[at]);
		if (!ok)
			return CHUNKED_BAD;
		at++;
	}
	*used = at;
	return c->state == CHUNKED_DONE ? CHUNKED_END : CHUNKED_MORE;
}

size_t
chunked_head(char out[CHUNKED_HEAD_MAX], uint64_t n)
{
	char digits[16];
	size_t at = sizeof digits;

	ASSERT(n > 0);
	for (; n > 0; n >>= 4)
		digits[--at] = "0123456789abcdef"[n & 15];
	size_t len = sizeof digits - at;
	memcpy(out, digits + at, len);
	out[len] = '\r';
	out[len + 1] = '\n';
	return len + 2;
}
