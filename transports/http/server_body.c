/* Bodies of requests: streams to the handler, chunked ones decoded in the buffer, what nobody
 * wants. */
#include "transports/http/server_priv.h"

#include "core/base/assert.h"

enum { STREAM_TURN = 8 }; /* reads of one connection before others get their turn */

bool
server_body_discard(struct server_conn *sc, bool *bad)
{
	struct str bytes;

	for (;;) {
		switch (http_body_next(&sc->body, &sc->conn, &bytes)) {
		case HTTP_PIECE_BYTES:
			continue;
		case HTTP_PIECE_END:
			sc->body.framing = HTTP_NO_BODY;
			return true;
		case HTTP_PIECE_BAD:
			*bad = true;
			return false;
		case HTTP_PIECE_NONE:
			return false;
		}
	}
}

/* ---- the stream to the handler ---- */

/* The stream is over for the handler: what is left of the body, if anything, is dropped when the
 * answer is out. */
static struct stream_sink *
end_stream(struct server_conn *sc)
{
	struct stream_sink *sink = sc->stream.sink;

	sc->stream_live = false;
	sc->stream.sink = NULL;
	if (sc->state == SERVER_STREAM)
		sc->state = SERVER_ANSWER;
	timeout_cancel(&sc->read_timeout);
	return sink;
}

static void
fail_sink(struct stream_sink *sink, enum hinny_rc why)
{
	struct hinny_error err;

	(void)hinny_error_set(&err, why, "cannot read the request's body: %s",
	    why == HINNY_ETIMEOUT     ? "the client sends nothing"
		: why == HINNY_EPROTO ? "its chunks are wrong"
				      : "the client has closed the connection");
	sink->fail(sink, &err);
}

void
server_stream_break(struct server_conn *sc, enum hinny_rc why)
{
	if (!sc->stream_live)
		return;
	sc->stream_why = why;
	if (sc->stream.sink == NULL) {
		sc->stream_failed = true; /* told when somebody attaches */
		return;
	}
	fail_sink(end_stream(sc), why);
}

/* The client broke the body: nobody gets an answer from the handler any more, the engine gives one
 * if it still can. */
static void
bad_body(struct server_conn *sc)
{
	if (!sc->answered)
		server_refuse(sc, 400);
	server_stream_break(sc, HINNY_EPROTO);
	if (!sc->mute)
		server_abort(sc, true);
}

void
server_stream_pump(struct server_conn *sc)
{
	struct stream_sink *sink;
	struct str bytes;
	int reads = 0;

	while (sc->state == SERVER_STREAM && sc->stream.sink != NULL && !sc->stream.paused) {
		switch (http_body_next(&sc->body, &sc->conn, &bytes)) {
		case HTTP_PIECE_BYTES:
			sc->stream.sink->data(sc->stream.sink, bytes, sc->conn.in);
			continue;
		case HTTP_PIECE_END:
			sc->body.framing = HTTP_NO_BODY;
			sink = end_stream(sc);
			sink->end(sink);
			return;
		case HTTP_PIECE_BAD:
			bad_body(sc);
			return;
		case HTTP_PIECE_NONE:
			break;
		}
		if (++reads > STREAM_TURN) {
			conn_again(&sc->conn);
			return;
		}
		if (conn_read(&sc->conn, CONN_READ_STREAM)) {
			timeout_cancel(&sc->read_timeout);
			continue;
		}
		if (sc->conn.eof) {
			server_abort(sc, false);
			return;
		}
		if (!timeout_is_set(&sc->read_timeout))
			timeout_set(&sc->read_timeout, sc->srv->q_body);
		return;
	}
	timeout_cancel(&sc->read_timeout); /* it is not the client who is waited for */
}

static void
on_attach(struct stream *s)
{
	struct server_conn *sc = CONTAINER_OF(s, struct server_conn, stream);

	if (sc->stream_failed) {
		fail_sink(end_stream(sc), sc->stream_why);
		server_free_when_unused(sc);
		return;
	}
	server_step(sc);
}

static void
on_pause(struct stream *s)
{
	s->paused = true;
}

/* In the next turn: the one that resumes may be in the middle of something. */
static void
on_resume(struct stream *s)
{
	struct server_conn *sc = CONTAINER_OF(s, struct server_conn, stream);

	s->paused = false;
	if (sc->state == SERVER_STREAM)
		conn_again(&sc->conn);
}

static void
on_cancel(struct stream *s)
{
	struct server_conn *sc = CONTAINER_OF(s, struct server_conn, stream);

	(void)end_stream(sc); /* its sink gets no further call */
	if (sc->state == SERVER_CLOSED)
		server_free_when_unused(sc);
	else
		conn_again(&sc->conn);
}

static const struct stream_ops request_stream_ops = {
	.attach = on_attach,
	.pause = on_pause,
	.resume = on_resume,
	.cancel = on_cancel,
};

struct stream *
server_stream_open(struct server_conn *sc)
{
	sc->stream = (struct stream){ .ops = &request_stream_ops,
		.length = sc->body.framing == HTTP_LENGTH ? (int64_t)sc->body.left : -1 };
	sc->stream_live = true;
	sc->stream_failed = false;
	sc->state = SERVER_STREAM;
	return &sc->stream;
}
