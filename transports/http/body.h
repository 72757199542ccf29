/* Reading the body of a message out of a connection's input, by its framing. For server and client
 * alike. */
#ifndef HINNY_HTTP_BODY_H
#define HINNY_HTTP_BODY_H

#include "transports/http/chunked.h"
#include "transports/http/conn.h"

struct http_body {
	enum http_framing framing;
	uint64_t left; /* HTTP_LENGTH */
	struct chunked chunks;
};

void http_body_init(struct http_body *b, enum http_framing framing, uint64_t length);

enum http_piece {
	HTTP_PIECE_NONE, /* nothing of it lies in the input */
	HTTP_PIECE_BYTES,
	HTTP_PIECE_END,
	HTTP_PIECE_BAD
};
/* The next piece of the body that lies in the input; consumes it there. */
enum http_piece http_body_next(struct http_body *b, struct conn *c, struct str *bytes);
/* Decodes a chunked body that is whole in the input, in place, and consumes it. 1: *bytes is it; 0:
 * it is not whole yet, nothing was touched; -1: it is wrong. */
int http_body_unchunk(struct conn *c, struct str *bytes);

#endif
