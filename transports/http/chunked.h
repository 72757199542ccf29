/*
 * The chunked coding (RFC 9112 7.1): a strict decoder that is fed what arrives and hands slices of
 * it back, and the encoder's few bytes. Chunk extensions and trailer fields are checked, bounded
 * and dropped. Never accepted: a size that is no hexadecimal number or does not fit, blanks around
 * it, bare CR or LF, data that does not end with CR LF.
 */
#ifndef HINNY_HTTP_CHUNKED_H
#define HINNY_HTTP_CHUNKED_H

#include "core/base/str.h"

#include <stdint.h>

enum { CHUNKED_LINE_MAX = 1024, CHUNKED_TRAILER_MAX = 16 * 1024 };

enum chunked_state {
	CHUNKED_SIZE_START,
	CHUNKED_SIZE,
	CHUNKED_EXTENSION,
	CHUNKED_SIZE_LF,
	CHUNKED_DATA,
	CHUNKED_DATA_CR,
	CHUNKED_DATA_LF,
	CHUNKED_TRAILER_START,
	CHUNKED_TRAILER_NAME,
	CHUNKED_TRAILER,
	CHUNKED_TRAILER_LF,
	CHUNKED_END_LF,
	CHUNKED_DONE
};

struct chunked {
	enum chunked_state state;
	uint64_t left;    /* of the chunk being read */
	uint32_t line;    /* bytes of the size line so far */
	uint32_t trailer; /* bytes of all trailer lines so far */
};

enum chunked_rc {
	CHUNKED_MORE,  /* all was used; more is to come */
	CHUNKED_BYTES, /* *data is payload; call again with the rest */
	CHUNKED_END,   /* the body is whole; what was not used belongs to the next message */
	CHUNKED_BAD
};

void chunked_init(struct chunked *c);
/* Reads from p[0..n): *used says how far. */
enum chunked_rc chunked_feed(
    struct chunked *c, const char *p, size_t n, size_t *used, struct str *data);

/* Longest text of chunked_head. */
enum { CHUNKED_HEAD_MAX = 18 };
/* "1a2b\r\n" for a chunk of n > 0 bytes; returns its length. Behind the payload comes "\r\n". */
size_t chunked_head(char out[CHUNKED_HEAD_MAX], uint64_t n);

#endif
