/* Reading answers: head, body whole or streaming, and what becomes of the connection afterwards. */
#include "transports/http/client_priv.h"

#include "core/base/assert.h"

enum { STREAM_TURN = 8 }; /* reads of one connection before others get their turn */

/*
 * The answer is whole and the call is finished with the connection. Returns whether it was kept. A
 * connection on which the request is not all out, or on which more came than was asked for, ends.
 */
static void
release(struct client_conn *cc)
{
	struct http_call *call = cc->call;
	bool keep = cc->keep_alive && !call->close && call->sent && cc->conn.out_n == 0 &&
	    !cc->conn.out_broken && !cc->conn.eof && !cc->conn.peer_closed &&
	    conn_input(&cc->conn).n == 0;

	call_detach(call);
	blob_put(cc->head_blob);
	cc->head_blob = NULL;
	cc->reused = true;
	if (keep)
		pool_give(cc);
	else
		client_close(cc);
}

/* The whole answer is in hand. The bytes stay valid during the callback, whatever the connection
 * does meanwhile. */
static void
deliver(struct client_conn *cc, struct blob *head_blob, struct str bytes, struct blob *blob)
{
	struct http_call *call = cc->call;
	const struct http_head *h = &cc->conn.io->head;

	(void)blob_get(head_blob);
	if (blob != NULL)
		(void)blob_get(blob);
	call->answered = true;
	release(cc);
	call->ops->answer(call, h, head_blob, bytes, blob, NULL);
	call_over(call);
	blob_put(head_blob);
	blob_put(blob);
}

/* ---- answers that stream ---- */

static void
end_live(struct http_call *call)
{
	call->answer_live = false;
	call->answer.sink = NULL;
}

static void
on_attach(struct stream *s)
{
	struct http_call *call = CONTAINER_OF(s, struct http_call, answer);

	if (call->cc != NULL)
		client_step(call->cc);
	else
		answer_break(call, "the connection ended");
}

static void
on_pause(struct stream *s)
{
	struct http_call *call = CONTAINER_OF(s, struct http_call, answer);

	timeout_cancel(&call->timeout);
}

/* In the next turn: the one that resumes may be in the middle of something. */
static void
on_resume(struct stream *s)
{
	struct http_call *call = CONTAINER_OF(s, struct http_call, answer);

	if (call->cc != NULL)
		conn_again(&call->cc->conn);
}

static void
on_cancel(struct stream *s)
{
	struct http_call *call = CONTAINER_OF(s, struct http_call, answer);
	struct client_conn *cc = call->cc;

	end_live(call);
	if (cc != NULL) {
		call_detach(call);
		client_close(cc);
	}
	call_over(call);
}

static const struct stream_ops answer_stream_ops = {
	.attach = on_attach,
	.pause = on_pause,
	.resume = on_resume,
	.cancel = on_cancel,
};

void
answer_break(struct http_call *call, const char *text)
{
	struct stream_sink *sink = call->answer.sink;
	struct hinny_error err;

	if (sink == NULL)
		return; /* told when somebody attaches */
	end_live(call);
	(void)hinny_error_set(&err, HINNY_ECLOSED, "cannot read the answer of %.*s: %s",
	    STR_FMT(call->origin->key), text);
	sink->fail(sink, &err);
	call_over(call);
}

static void
answer_end(struct client_conn *cc)
{
	struct http_call *call = cc->call;
	struct stream_sink *sink = call->answer.sink;

	end_live(call);
	release(cc);
	sink->end(sink);
	call_over(call);
}

void
answer_pump(struct client_conn *cc)
{
	struct http_call *call = cc->call;
	struct str bytes;
	int reads = 0;

	while (cc->state == CLIENT_STREAM && cc->call == call && call->answer.sink != NULL &&
	    !call->answer.paused) {
		switch (http_body_next(&cc->body, &cc->conn, &bytes)) {
		case HTTP_PIECE_BYTES:
			call->answer.sink->data(call->answer.sink, bytes, cc->conn.in);
			continue;
		case HTTP_PIECE_END:
			answer_end(cc);
			return;
		case HTTP_PIECE_BAD:
			client_lost(cc, HTTP_FAIL_PROTOCOL, "its chunks are wrong");
			return;
		case HTTP_PIECE_NONE:
			break;
		}
		if (++reads > STREAM_TURN) {
			conn_again(&cc->conn);
			return;
		}
		if (conn_read(&cc->conn, CONN_READ_STREAM)) {
			timeout_set(&call->timeout, call->q_idle);
			continue;
		}
		if (cc->conn.eof && cc->body.framing == HTTP_UNTIL_EOF && !cc->conn.broken)
			answer_end(cc);
		else if (cc->conn.eof)
			client_lost(cc, HTTP_FAIL_CUT, "the connection ended within the body");
		else if (!timeout_is_set(&call->timeout))
			timeout_set(&call->timeout, call->q_idle);
		return;
	}
}

static void
begin_stream(struct client_conn *cc, struct blob *head_blob, int64_t length)
{
	struct http_call *call = cc->call;

	cc->state = CLIENT_STREAM;
	call->answered = true;
	call->answer = (struct stream){ .ops = &answer_stream_ops, .length = length };
	call->answer_live = true;
	timeout_set(&call->timeout, call->q_idle);
	(void)blob_get(head_blob);
	call->ops->answer(
	    call, &cc->conn.io->head, head_blob, (struct str){ NULL, 0 }, NULL, &call->answer);
	blob_put(head_blob);
}

/* ---- heads ---- */

static void
begin_length(struct client_conn *cc, struct str head)
{
	struct http_call *call = cc->call;
	struct str in = conn_input(&cc->conn);
	size_t wait_for = call->whole ? call->kept_body : cc->origin->cl->buffered_body;

	if (in.n >= cc->body.left) {
		struct str bytes = { in.p, (size_t)cc->body.left };
		conn_consume(&cc->conn, bytes.n);
		deliver(cc, cc->conn.in, bytes, cc->conn.in);
		return;
	}
	if (cc->body.left > wait_for) {
		begin_stream(cc, cc->conn.in, (int64_t)cc->body.left);
		return;
	}
	cc->state = CLIENT_WHOLE;
	cc->head_blob = blob_get(cc->conn.in);
	cc->head_bytes = head;
	conn_want_input(&cc->conn, (size_t)cc->body.left);
}

static void
begin_chunked(struct client_conn *cc)
{
	struct str bytes;
	int whole = http_body_unchunk(&cc->conn, &bytes);

	if (whole < 0)
		client_lost(cc, HTTP_FAIL_PROTOCOL, "its chunks are wrong");
	else if (whole > 0)
		deliver(cc, cc->conn.in, bytes, cc->conn.in);
	else
		begin_stream(cc, cc->conn.in, -1);
}

static void
handle_head(struct client_conn *cc, struct str head)
{
	struct http_call *call = cc->call;
	struct http_head *h = &cc->conn.io->head;
	const char *why = "";

	if (http_head_parse_response(h, head.p, head.n, call->head_only, &why) != 0 ||
	    h->status == 101) {
		client_lost(
		    cc, HTTP_FAIL_PROTOCOL, h->status == 101 ? "it changes the protocol" : why);
		return;
	}
	conn_consume(&cc->conn, head.n);
	cc->scanned = 0;
	if (h->status < 200)
		return; /* the answer itself is still to come */
	cc->keep_alive = h->keep_alive;
	cc->keep_alive_ms = h->keep_alive_ms;
	http_body_init(&cc->body, h->framing, h->length);
	switch (h->framing) {
	case HTTP_NO_BODY:
		deliver(cc, cc->conn.in, (struct str){ NULL, 0 }, NULL);
		break;
	case HTTP_LENGTH:
		begin_length(cc, head);
		break;
	case HTTP_CHUNKED:
		begin_chunked(cc);
		break;
	case HTTP_UNTIL_EOF:
		begin_stream(cc, cc->conn.in, -1);
		break;
	}
}

/* ---- steps ---- */

static void
ended(struct client_conn *cc)
{
	if (cc->answer_began)
		client_lost(cc, HTTP_FAIL_CUT, "the connection ended within the answer");
	else
		client_lost(cc, HTTP_FAIL_NO_ANSWER, "the connection ended before the answer");
}

bool
answer_step_head(struct client_conn *cc)
{
	struct str in = conn_input(&cc->conn);

	if (in.n > cc->scanned) {
		enum http_scan rc = http_head_scan(in.p, in.n, &cc->scanned);
		if (rc == HTTP_SCAN_DONE && cc->scanned <= cc->origin->cl->max_head) {
			handle_head(cc, (struct str){ in.p, cc->scanned });
			return true;
		}
		if (rc != HTTP_SCAN_MORE || in.n > cc->origin->cl->max_head) {
			client_lost(cc, HTTP_FAIL_PROTOCOL,
			    rc == HTTP_SCAN_BAD ? "line ends of the head"
						: "its head is too large");
			return true;
		}
	}
	if (conn_read(&cc->conn, CONN_READ)) {
		if (!cc->answer_began)
			call_answer_began(cc->call);
		cc->answer_began = true;
		return true;
	}
	if (!cc->conn.eof)
		return false;
	ended(cc);
	return true;
}

bool
answer_step_whole(struct client_conn *cc)
{
	struct http_call *call = cc->call;
	struct str in = conn_input(&cc->conn);
	const char *why;

	if (in.n >= cc->body.left) {
		struct blob *head_blob = cc->head_blob;
		struct str bytes = { in.p, (size_t)cc->body.left };
		/* Others have used the shared parser since: once more. It has been understood
		 * before. */
		int rc = http_head_parse_response(
		    &cc->conn.io->head, cc->head_bytes.p, cc->head_bytes.n, call->head_only, &why);
		ASSERT(rc == 0);
		(void)blob_get(head_blob);
		conn_consume(&cc->conn, bytes.n);
		deliver(cc, head_blob, bytes, cc->conn.in);
		blob_put(head_blob);
		return true;
	}
	if (conn_read(&cc->conn, CONN_READ)) {
		timeout_set(&call->timeout, call->q_idle);
		return true;
	}
	if (!cc->conn.eof)
		return false;
	ended(cc);
	return true;
}
