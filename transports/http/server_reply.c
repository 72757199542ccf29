/* Answers: head, framing, bodies whole or streaming. */
#include "transports/http/server_priv.h"

#include "core/base/assert.h"

#include <http_parser.h>
#include <stdio.h>

const char *
http_status_text(int status)
{
	switch (status) {
#define XX(num, name, string)                                                                      \
	case num:                                                                                  \
		return #string;
		HTTP_STATUS_MAP(XX)
#undef XX
	default:
		return "Unknown";
	}
}

/* Does RFC 9110 forbid a body with this status? */
static bool
is_bodiless(int status)
{
	return status < 200 || status == 204 || status == 304;
}

/* All writes go to a buffer without bound: a head is bounded by the message that it is made of. */
static void
put(struct http_io *io, const char *p, size_t n)
{
	(void)buf_add(&io->head_out, p, n);
}

#define PUT_LIT(io, s) put(io, s, sizeof(s) - 1)

static void
put_number(struct http_io *io, uint64_t n)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	put(io, digits + at, sizeof digits - at);
}

void
http_reply_close(struct http_request *rq)
{
	server_conn_of(rq)->close_after = true;
}

static void
put_status_line(struct http_io *io, int status, struct str reason)
{
	if (status == 200 && (reason.n == 0 || str_eq(reason, STR_LIT("OK")))) {
		PUT_LIT(io, "HTTP/1.1 200 OK\r\n");
		return;
	}
	PUT_LIT(io, "HTTP/1.1 ");
	put_number(io, (uint64_t)status);
	PUT_LIT(io, " ");
	if (reason.n == 0 || !http_is_value(reason))
		reason = str_of(http_status_text(status));
	put(io, reason.p, reason.n);
	PUT_LIT(io, "\r\n");
}

/* Is there a pipelined request behind this one? It is answered too. */
static bool
next_has_come(const struct server_conn *sc)
{
	return sc->body.framing == HTTP_NO_BODY && !sc->stream_live &&
	    (conn_input(&sc->conn).n > 0 || sc->conn.readable);
}

void
http_reply_begin(struct http_request *rq, int status, struct str reason)
{
	struct server_conn *sc = server_conn_of(rq);
	struct http_io *io = sc->srv->io;

	if (sc->state == SERVER_CLOSED || sc->mute)
		return;
	ASSERT(!sc->answered && status >= 200 && status <= 999);
	sc->answered = true;
	sc->answer_status = status;
	if (sc->srv->draining && !next_has_come(sc))
		sc->close_after = true;
	/* A client that was not told to go on with its body may never send it; a long one is not
	 * worth waiting for. */
	if (!sc->stream_live && sc->body.framing != HTTP_NO_BODY &&
	    (sc->expects || sc->body.framing == HTTP_CHUNKED || sc->body.left > 64 * 1024))
		sc->close_after = true;
	buf_clear(&io->head_out);
	put_status_line(io, status, reason);
	struct str date = http_io_date(io);
	put(io, date.p, date.n);
	if (sc->srv->limits.server_header)
		PUT_LIT(io, "Server: hinny\r\n");
}

void
http_reply_header(struct http_request *rq, struct str name, struct str value)
{
	struct server_conn *sc = server_conn_of(rq);
	struct buf *out = &sc->srv->io->head_out;

	if (sc->state == SERVER_CLOSED || sc->mute || !http_is_token(name))
		return;
	(void)buf_reserve(out, name.n + value.n + 4); /* without bound: cannot fail */
	memcpy(out->p + out->n, name.p, name.n);
	out->n += name.n;
	out->p[out->n++] = ':';
	out->p[out->n++] = ' ';
	if (value.n > 0)
		memcpy(out->p + out->n, value.p, value.n);
	if (!http_is_value(value))
		for (size_t i = 0; i < value.n; i++)
			if (!http_is_value((struct str){ value.p + i, 1 }))
				out->p[out->n + i] = ' ';
	out->n += value.n;
	out->p[out->n++] = '\r';
	out->p[out->n++] = '\n';
}

/* length -1: not known. Returns whether a body follows. */
static bool
put_framing(struct server_conn *sc, int64_t length)
{
	struct http_io *io = sc->srv->io;
	bool body = !is_bodiless(sc->answer_status);

	sc->out_chunked = false;
	sc->out_left = length;
	if (sc->rq.head_only && length < 0)
		body = false; /* nothing is said of it */
	if (body && length >= 0) {
		PUT_LIT(io, "Content-Length: ");
		put_number(io, (uint64_t)length);
		PUT_LIT(io, "\r\n");
	} else if (body && sc->rq.minor >= 1) {
		sc->out_chunked = true;
		PUT_LIT(io, "Transfer-Encoding: chunked\r\n");
	} else if (body) {
		sc->close_after =
		    true; /* an old client sees the end of the body by the end of the connection */
	}
	if (sc->close_after)
		PUT_LIT(io, "Connection: close\r\n");
	else if (sc->rq.minor == 0)
		PUT_LIT(io, "Connection: keep-alive\r\n");
	PUT_LIT(io, "\r\n");
	return body && !sc->rq.head_only;
}

void
http_reply_end(struct http_request *rq, struct str body, struct blob *blob)
{
	struct server_conn *sc = server_conn_of(rq);
	struct http_io *io = sc->srv->io;

	if (sc->state == SERVER_CLOSED || sc->mute)
		return;
	bool send_body = put_framing(sc, (int64_t)body.n);
	struct conn_slice slices[2] = { { { io->head_out.p, io->head_out.n }, NULL },
		{ body, blob } };
	conn_send(&sc->conn, slices, send_body && body.n > 0 ? 2 : 1);
	server_watch_output(sc);
	server_answer_over(sc);
}

void
http_reply_end_head(struct http_request *rq, int64_t length)
{
	struct server_conn *sc = server_conn_of(rq);
	struct http_io *io = sc->srv->io;

	if (sc->state == SERVER_CLOSED || sc->mute)
		return;
	ASSERT(rq->head_only);
	(void)put_framing(sc, length); /* no body follows */
	struct conn_slice head = { { io->head_out.p, io->head_out.n }, NULL };
	conn_send(&sc->conn, &head, 1);
	server_watch_output(sc);
	server_answer_over(sc);
}

void
http_reply_plain(struct http_request *rq, int status, const char *content_type, const char *body)
{
	http_reply_begin(rq, status, (struct str){ NULL, 0 });
	if (content_type != NULL)
		http_reply_header(rq, STR_LIT("Content-Type"), str_of(content_type));
	http_reply_end(rq, str_of(body), NULL);
}

void
server_refuse(struct server_conn *sc, int status)
{
	if (sc->state == SERVER_CLOSED)
		return;
	ASSERT(!sc->mute);
	if (sc->state == SERVER_HEAD)
		sc->rq = (struct http_request){ .minor = 1 };
	sc->state = SERVER_ANSWER;
	sc->close_after = true;
	http_reply_plain(&sc->rq, status, NULL, "");
	sc->mute = true;
}

/* ---- answers that stream ---- */

static void
source_over(struct server_conn *sc)
{
	sc->source = NULL;
	sc->source_paused = false;
}

/* The answer cannot be made whole: the client must see that. */
static void
cut(struct server_conn *sc)
{
	source_over(sc);
	sc->answer_whole = true;
	sc->close_after = true;
	server_abort(sc, !sc->out_chunked && sc->out_left < 0);
	server_free_when_unused(sc);
}

static void
on_data(struct stream_sink *sink, struct str bytes, struct blob *blob)
{
	struct server_conn *sc = CONTAINER_OF(sink, struct server_conn, sink);
	char head[CHUNKED_HEAD_MAX];
	struct conn_slice slices[3];
	unsigned n = 0;

	if (bytes.n == 0 || sc->source == NULL)
		return;
	if (sc->out_left >= 0 && bytes.n > (uint64_t)sc->out_left) {
		stream_cancel(sc->source);
		cut(sc);
		return;
	}
	if (sc->out_left >= 0)
		sc->out_left -= (int64_t)bytes.n;
	if (sc->out_chunked)
		slices[n++] = (struct conn_slice){ { head, chunked_head(head, bytes.n) }, NULL };
	slices[n++] = (struct conn_slice){ bytes, blob };
	if (sc->out_chunked)
		slices[n++] = (struct conn_slice){ STR_LIT("\r\n"), NULL };
	conn_send(&sc->conn, slices, n);
	server_watch_output(sc);
	if ((conn_out_high(&sc->conn) || sc->conn.out_broken) && !sc->source_paused) {
		sc->source_paused = true;
		stream_pause(sc->source);
	}
}

static void
on_end(struct stream_sink *sink)
{
	struct server_conn *sc = CONTAINER_OF(sink, struct server_conn, sink);
	struct conn_slice last = { STR_LIT("0\r\n\r\n"), NULL };

	if (sc->out_left > 0) {
		cut(sc);
		return;
	}
	source_over(sc);
	if (sc->out_chunked)
		conn_send(&sc->conn, &last, 1);
	server_watch_output(sc);
	server_answer_over(sc);
}

static void
on_fail(struct stream_sink *sink, const struct hinny_error *err)
{
	struct server_conn *sc = CONTAINER_OF(sink, struct server_conn, sink);

	(void)err; /* who made the stream has said why */
	cut(sc);
}

void
server_reply_pump(struct server_conn *sc)
{
	if (sc->source == NULL || !sc->source_paused || sc->conn.out_bytes > CONN_OUT_LOW)
		return;
	sc->source_paused = false;
	stream_resume(sc->source);
}

void
server_reply_break(struct server_conn *sc)
{
	struct stream *source = sc->source;

	source_over(sc);
	if (source != NULL)
		stream_cancel(source);
}

void
http_reply_end_stream(struct http_request *rq, struct stream *s)
{
	struct server_conn *sc = server_conn_of(rq);
	struct http_io *io = sc->srv->io;

	if (sc->state == SERVER_CLOSED || sc->mute) {
		stream_cancel(s);
		return;
	}
	bool send_body = put_framing(sc, s->length);
	struct conn_slice head = { { io->head_out.p, io->head_out.n }, NULL };
	if (!send_body) {
		stream_cancel(s);
		conn_send(&sc->conn, &head, 1);
		server_watch_output(sc);
		server_answer_over(sc);
		return;
	}
	sc->sink = (struct stream_sink){ .data = on_data, .end = on_end, .fail = on_fail };
	sc->source = s;
	sc->source_paused = false;
	conn_cork(&sc->conn); /* the head leaves together with the first bytes */
	conn_send(&sc->conn, &head, 1);
	bool stepping = sc->stepping;
	sc->stepping =
	    true; /* should it end at once, the next request waits until the head has left */
	stream_attach(s, &sc->sink);
	sc->stepping = stepping;
	conn_uncork(&sc->conn);
	server_watch_output(sc);
	server_step(sc);
}
