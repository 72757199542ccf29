/* Calls: sending a request with its body, time-outs, trying again, ends. */
#include "transports/http/client_priv.h"

#include "core/base/assert.h"

/* ---- ends ---- */

static void
drop_kept(struct http_call *call)
{
	while (call->kept_n > 0)
		blob_put(call->kept[--call->kept_n].blob);
	call->kept_bytes = 0;
	call->kept_all = false;
}

/* Nobody reads the body of the request any more. */
static void
stop_body(struct http_call *call)
{
	struct stream *s = call->stream;

	call->stream = NULL;
	if (s != NULL && !call->stream_over)
		stream_cancel(s);
	drop_kept(call);
}

void
call_detach(struct http_call *call)
{
	timeout_cancel(&call->timeout);
	call->cc->call = NULL;
	call->cc = NULL;
}

void
call_over(struct http_call *call)
{
	ASSERT(call->cc == NULL && !call->answer_live);
	timeout_cancel(&call->timeout);
	stop_body(call);
	call->ops->over(call);
}

void
call_fail(struct http_call *call, enum http_failure why, const char *text)
{
	ASSERT(call->cc == NULL);
	if (call->answered) {
		answer_break(call, text);
		return;
	}
	stop_body(call);
	call->answered = true;
	call->ops->failed(call, why, text);
	call_over(call);
}

void
http_call_cancel(struct http_call *call)
{
	struct client_conn *cc = call->cc;

	ASSERT(!call->answered);
	if (cc != NULL) {
		call_detach(call);
		client_close(cc);
	} else {
		pool_unwait(call);
	}
	call->answered = true;
	call_over(call);
}

/* ---- sending ---- */

static void
on_timeout(struct timeout *t)
{
	struct http_call *call = CONTAINER_OF(t, struct http_call, timeout);

	client_lost(call->cc, HTTP_FAIL_TIMEOUT, "the peer does not answer in time");
}

bool
call_may_try_again(const struct http_call *call)
{
	return !call->tried_again && (!call->streams || call->kept_all);
}

void
call_answer_began(struct http_call *call)
{
	drop_kept(call);
	timeout_set(&call->timeout, call->q_idle);
}

/* Is there a connection that takes the request? */
static bool
is_sending(const struct http_call *call)
{
	return call->cc != NULL && call->cc->state != CLIENT_CONNECTING;
}

/* Keeps what is sent of a streaming body, as long as it is little and another try may come. */
static void
keep(struct http_call *call, struct str bytes, struct blob *blob)
{
	if (!call->kept_all)
		return;
	if (is_sending(call) && (call->answered || call->cc->answer_began || !call->cc->reused)) {
		drop_kept(call);
		return;
	}
	if (call->kept_n == CALL_KEEP_PIECES || call->kept_bytes + bytes.n > CALL_KEEP) {
		call->body_wrong = !is_sending(call); /* it has nowhere to go */
		drop_kept(call);
		return;
	}
	struct conn_slice *k = &call->kept[call->kept_n++];
	k->blob = blob != NULL ? blob_get(blob) : blob_copy(bytes.p, bytes.n);
	k->bytes = blob != NULL ? bytes : (struct str){ k->blob->data, bytes.n };
	call->kept_bytes += bytes.n;
}

/* The peer's time runs while it has bytes to take or an answer to give, not while the source of the
 * body is waited for: that has a time-out of its own. */
static void
watch_peer(struct http_call *call)
{
	if (call->cc->answer_began)
		return;
	if (call->streams && !call->sent && call->cc->conn.out_n == 0)
		timeout_cancel(&call->timeout);
	else
		timeout_set(&call->timeout, call->q_answer);
}

static void
send_piece(struct http_call *call, struct str bytes, struct blob *blob)
{
	char head[CHUNKED_HEAD_MAX];
	struct conn_slice slices[3];
	unsigned n = 0;

	if (call->out_chunked)
		slices[n++] = (struct conn_slice){ { head, chunked_head(head, bytes.n) }, NULL };
	slices[n++] = (struct conn_slice){ bytes, blob };
	if (call->out_chunked)
		slices[n++] = (struct conn_slice){ STR_LIT("\r\n"), NULL };
	conn_send(&call->cc->conn, slices, n);
	watch_peer(call);
}

static void
send_end(struct http_call *call)
{
	struct conn_slice last = { STR_LIT("0\r\n\r\n"), NULL };

	if (call->out_chunked)
		conn_send(&call->cc->conn, &last, 1);
	call->sent = true;
	watch_peer(call);
}

void
call_pause_body(struct http_call *call)
{
	if (!call->stream_attached || call->stream_paused || call->stream_over)
		return;
	call->stream_paused = true;
	stream_pause(call->stream);
}

/* ---- the sink of the request's body ---- */

static void
body_data(struct stream_sink *sink, struct str bytes, struct blob *blob)
{
	struct http_call *call = CONTAINER_OF(sink, struct http_call, sink);

	if (bytes.n == 0)
		return;
	if (call->stream_left >= 0 && bytes.n > (uint64_t)call->stream_left) {
		call->body_wrong = true; /* more than it said */
		call_pause_body(call);
		if (is_sending(call))
			conn_again(&call->cc->conn);
		return;
	}
	if (call->stream_left >= 0)
		call->stream_left -= (int64_t)bytes.n;
	keep(call, bytes, blob);
	if (!is_sending(
		call)) { /* between two tries: it was being delivered as the first one ended */
		call_pause_body(call);
		return;
	}
	send_piece(call, bytes, blob);
	if (conn_out_high(&call->cc->conn) || call->cc->conn.out_broken)
		call_pause_body(call);
	if (call->cc->conn.out_broken)
		conn_again(&call->cc->conn);
}

static void
body_end(struct stream_sink *sink)
{
	struct http_call *call = CONTAINER_OF(sink, struct http_call, sink);

	call->stream_over = true;
	if (call->stream_left > 0) {
		call->body_wrong = true; /* less than it said */
		if (is_sending(call))
			conn_again(&call->cc->conn);
		return;
	}
	if (is_sending(call))
		send_end(call);
}

static void
body_fail(struct stream_sink *sink, const struct hinny_error *err)
{
	struct http_call *call = CONTAINER_OF(sink, struct http_call, sink);
	struct client_conn *cc = call->cc;

	call->stream_over = true;
	if (call->attaching) {
		call->body_wrong = true;
		return;
	}
	if (cc != NULL) {
		call_detach(call);
		client_close(cc); /* the peer sees that the body is not whole */
	} else {
		pool_unwait(call);
	}
	call_fail(call, HTTP_FAIL_BODY, err->text);
}

static void
send_stream(struct http_call *call)
{
	for (unsigned i = 0; i < call->kept_n; i++)
		send_piece(call, call->kept[i].bytes, call->kept[i].blob);
	if (call->stream_over) {
		send_end(call);
		return;
	}
	if (!call->stream_attached) {
		call->stream_attached = true;
		call->attaching = true;
		stream_attach(call->stream, &call->sink);
		call->attaching = false;
	} else if (call->stream_paused) {
		call->stream_paused = false;
		stream_resume(call->stream);
	}
}

void
call_send(struct http_call *call)
{
	struct client_conn *cc = call->cc;
	struct conn_slice slices[2] = { { call->head, NULL }, { call->body, call->body_blob } };

	call->timeout.fn = on_timeout;
	timeout_set(&call->timeout, call->q_answer);
	call->sent = false;
	if (!call->streams) {
		conn_send(&cc->conn, slices, call->body.n > 0 ? 2 : 1);
		call->sent = true;
	} else {
		conn_cork(&cc->conn); /* the head leaves together with the first bytes */
		conn_send(&cc->conn, slices, 1);
		send_stream(call);
		conn_uncork(&cc->conn);
		watch_peer(call);
	}
	if (cc->conn.out_broken || call->body_wrong)
		conn_again(&cc->conn);
}

void
call_pump(struct http_call *call)
{
	struct client_conn *cc = call->cc;

	if (call->body_wrong) {
		client_lost(
		    cc, HTTP_FAIL_BODY, "the body of the request is not what was announced");
		return;
	}
	if (cc->conn.out_broken && !cc->conn.readable) {
		/* What the peer had said before it closed can still be read, and there is an event
		 * for it. Nothing there: it said nothing. */
		client_lost(cc, cc->answer_began ? HTTP_FAIL_CUT : HTTP_FAIL_NO_ANSWER,
		    "the connection broke");
		return;
	}
	if (cc->conn.progress) {
		cc->conn.progress = false;
		watch_peer(call);
	}
	if (call->stream_paused && !call->stream_over && cc->conn.out_bytes <= CONN_OUT_LOW &&
	    !cc->conn.out_broken) {
		call->stream_paused = false;
		stream_resume(call->stream);
	}
}

void
http_call_start(struct http_call *call)
{
	timeout_init(&call->timeout, on_timeout);
	list_init(&call->node);
	call->cc = NULL;
	call->streams = call->stream != NULL;
	call->stream_attached = call->stream_over = call->stream_paused = call->attaching =
	    call->body_wrong = false;
	call->fresh_only = call->tried_again = call->sent = call->answered = call->answer_live =
	    false;
	call->kept_n = 0;
	call->kept_bytes = 0;
	call->kept_all = true;
	call->answer = (struct stream){ .length = -1 };
	call->sink = (struct stream_sink){ .data = body_data, .end = body_end, .fail = body_fail };
	call->stream_left = call->streams ? call->stream->length : 0;
	call->out_chunked = call->streams && call->stream_left < 0;
	pool_take(call);
}
