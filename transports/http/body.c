/* Pieces of bodies. See body.h. */
#include "transports/http/body.h"

void
http_body_init(struct http_body *b, enum http_framing framing, uint64_t length)
{
	b->framing = framing;
	b->left = length;
	chunked_init(&b->chunks);
}

static enum http_piece
next_by_length(struct http_body *b, struct conn *c, struct str in, struct str *bytes)
{
	if (b->left == 0)
		return HTTP_PIECE_END;
	if (in.n == 0)
		return HTTP_PIECE_NONE;
	*bytes = (struct str){ in.p, in.n < b->left ? in.n : (size_t)b->left };
	b->left -= bytes->n;
	conn_consume(c, bytes->n);
	return HTTP_PIECE_BYTES;
}

enum http_piece
http_body_next(struct http_body *b, struct conn *c, struct str *bytes)
{
	struct str in = conn_input(c);
	size_t used = 0;

	switch (b->framing) {
	case HTTP_NO_BODY:
		return HTTP_PIECE_END;
	case HTTP_LENGTH:
		return next_by_length(b, c, in, bytes);
	case HTTP_UNTIL_EOF:
		if (in.n == 0)
			return HTTP_PIECE_NONE; /* the caller knows of the end */
		*bytes = in;
		conn_consume(c, in.n);
		return HTTP_PIECE_BYTES;
	case HTTP_CHUNKED:
		break;
	}
	if (in.n == 0)
		return HTTP_PIECE_NONE;
	enum chunked_rc rc = chunked_feed(&b->chunks, in.p, in.n, &used, bytes);
	if (rc == CHUNKED_BAD)
		return HTTP_PIECE_BAD;
	conn_consume(c, used);
	return rc == CHUNKED_BYTES ? HTTP_PIECE_BYTES
	    : rc == CHUNKED_END    ? HTTP_PIECE_END
				   : HTTP_PIECE_NONE;
}

int
http_body_unchunk(struct conn *c, struct str *bytes)
{
	struct str in = conn_input(c), piece;
	struct chunked chunks;
	size_t at = 0, n = 0, used;
	enum chunked_rc rc = CHUNKED_MORE;

	/* First to see whether it is whole; then the payload moves together. */
	for (int pass = 0; pass < 2; pass++) {
		chunked_init(&chunks);
		at = n = 0;
		rc = CHUNKED_MORE;
		while (at < in.n && rc != CHUNKED_END) {
			rc = chunked_feed(&chunks, in.p + at, in.n - at, &used, &piece);
			if (rc == CHUNKED_BAD)
				return -1;
			if (rc == CHUNKED_BYTES && pass == 1)
				memmove(c->in->data + c->in_at + n, piece.p, piece.n);
			if (rc == CHUNKED_BYTES)
				n += piece.n;
			at += used;
		}
		if (rc != CHUNKED_END)
			return 0;
	}
	*bytes = (struct str){ in.p, n };
	conn_consume(c, at);
	return 1;
}
