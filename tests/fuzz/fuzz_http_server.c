/*
 * The server engine fed with any bytes over a socket pair, in pieces whose size the first byte
 * says, bodies whole or as streams. What comes back must be answers that the client's parser takes,
 * one behind the other; afterwards nothing is left of the connection.
 */
#include "transports/http/server.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reader {
	struct stream_sink sink;
	struct http_request *rq;
	size_t n;
};

static void
reply(struct http_request *rq, size_t n)
{
	char text[32];
	size_t at = sizeof text;

	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	http_reply_begin(rq, 200, (struct str){ NULL, 0 });
	http_reply_end(rq, (struct str){ text + at, sizeof text - at }, NULL);
	http_request_done(rq);
}

static void
reader_data(struct stream_sink *sink, struct str bytes, struct blob *blob)
{
	struct reader *r = CONTAINER_OF(sink, struct reader, sink);

	ASSERT(blob == NULL ||
	    (bytes.p >= blob->data && bytes.p + bytes.n <= blob->data + blob->size));
	r->n += bytes.n;
}

static void
reader_end(struct stream_sink *sink)
{
	struct reader *r = CONTAINER_OF(sink, struct reader, sink);

	reply(r->rq, r->n);
	free(r);
}

static void
reader_fail(struct stream_sink *sink, const struct hinny_error *err)
{
	struct reader *r = CONTAINER_OF(sink, struct reader, sink);

	(void)err;
	http_request_done(r->rq);
	free(r);
}

static enum http_want
on_head(struct http_request *rq, const struct http_head *h, struct blob *blob)
{
	(void)blob;
	if (h->path.n > 1 && h->path.p[1] == 'n') {
		http_reply_plain(rq, 404, "text/plain", "none");
		return HTTP_WANT_NOTHING;
	}
	return h->path.n > 1 && h->path.p[1] == 's' ? HTTP_WANT_STREAM : HTTP_WANT_WHOLE;
}

static void
on_body(struct http_request *rq, struct str bytes, struct blob *blob, struct stream *s)
{
	ASSERT(bytes.n == 0 ||
	    (bytes.p >= blob->data && bytes.p + bytes.n <= blob->data + blob->size));
	if (s == NULL) {
		reply(rq, bytes.n);
		return;
	}
	struct reader *r = MEM_NEW(struct reader);
	r->rq = rq;
	r->sink =
	    (struct stream_sink){ .data = reader_data, .end = reader_end, .fail = reader_fail };
	stream_attach(s, &r->sink);
}

static void
on_gone(struct http_request *rq)
{
	(void)rq;
}

static const struct http_server_ops ops = { .head = on_head, .body = on_body, .gone = on_gone };

static const struct http_server_limits limits = {
	.max_head = 1024,
	.buffered_body = 100,
	.kept_body = 300,
	.max_body = 2000,
	.head_ms = 1000,
	.body_ms = 1000,
	.idle_ms = 1000,
	.write_ms = 1000,
};

static void
take(int fd, struct buf *out)
{
	char tmp[4096];
	ssize_t n;

	while ((n = recv(fd, tmp, sizeof tmp, 0)) > 0)
		(void)buf_add(out, tmp, (size_t)n);
}

/* One answer behind the other. An answer to HEAD has no body: which ones are is not known here, so
 * a length that does not fit ends the check. */
static void
check_answers(struct str s)
{
	static struct http_head h;
	const char *why;

	while (s.n > 0) {
		size_t head = 0;
		ASSERT(http_head_scan(s.p, s.n, &head) == HTTP_SCAN_DONE);
		ASSERT(http_head_parse_response(&h, s.p, head, false, &why) == 0);
		ASSERT(h.framing != HTTP_CHUNKED && h.framing != HTTP_UNTIL_EOF);
		s = (struct str){ s.p + head, s.n - head };
		if (str_starts(s, "HTTP/1.1 ") || h.length > s.n)
			continue;
		s = (struct str){ s.p + h.length, s.n - h.length };
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hinny_error err;
	struct http_server srv;
	struct http_io io;
	struct loop lp;
	struct buf out;
	int pair[2];

	if (size < 2 || size > 20000)
		return 0;
	size_t piece = data[0] == 0 ? size : data[0];
	ASSERT(loop_init(&lp, &err) == HINNY_OK);
	http_io_init(&io, &lp);
	http_server_init(&srv, &io, &ops, NULL, &limits);
	ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
	ASSERT(http_server_adopt(&srv, pair[1], &err) == HINNY_OK);
	buf_init(&out, 0);
	for (size_t at = 1; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		if (send(pair[0], data + at, n, MSG_NOSIGNAL) != (ssize_t)n)
			break;
		loop_turn(&lp, 0);
		take(pair[0], &out);
	}
	(void)shutdown(pair[0], SHUT_WR); /* it may be closed already */
	for (int i = 0; i < 8; i++)
		loop_turn(&lp, 0);
	take(pair[0], &out);
	check_answers((struct str){ out.p, out.n });
	ASSERT(srv.conns_n == 0 && srv.active_n == 0);
	http_server_close(&srv);
	loop_turn(&lp, 0);
	http_server_fini(&srv);
	http_io_fini(&io);
	loop_fini(&lp);
	buf_fini(&out);
	(void)close(pair[0]); /* nothing is lost */
	return 0;
}
