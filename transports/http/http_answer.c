/* http: answers and failures become messages and exceptions. */
#include "transports/http/http_send.h"

#include "core/base/assert.h"
#include "transports/http/headers_filter.h"

/* ---- failures ---- */

/* Class of the exception, and the status with which a proxy answers when nobody handles it (cases
 * B11). */
static const struct {
	enum exception_id id;
	int status;
} failures[] = {
	[HTTP_FAIL_UNKNOWN_HOST] = { EXCEPTION_UNKNOWN_HOST, 502 },
	[HTTP_FAIL_REFUSED] = { EXCEPTION_HTTP_HOST_CONNECT, 502 },
	[HTTP_FAIL_CONNECT_TIMEOUT] = { EXCEPTION_CONNECT_TIMEOUT, 504 },
	[HTTP_FAIL_POOL_TIMEOUT] = { EXCEPTION_CONNECTION_REQUEST_TIMEOUT, 503 },
	[HTTP_FAIL_NO_ANSWER] = { EXCEPTION_HTTP_NO_RESPONSE, 502 },
	[HTTP_FAIL_CUT] = { EXCEPTION_HTTP_CONNECTION_CLOSED, 502 },
	[HTTP_FAIL_TIMEOUT] = { EXCEPTION_SOCKET_TIMEOUT, 504 },
	[HTTP_FAIL_PROTOCOL] = { EXCEPTION_HTTP_PROTOCOL, 502 },
	[HTTP_FAIL_BODY] = { EXCEPTION_IO, 400 },
};

static void
fail_with(struct http_send *s, enum exception_id id, int status, const char *text)
{
	exchange_fail(s->ex, id, "http://%.*s%.*s: %s", STR_FMT(http_origin_key(s->call.origin)),
	    STR_FMT(s->url), text);
	s->ex->exception->status_code = status;
	http_send_finish(s, false);
}

static void
on_failed(struct http_call *call, enum http_failure why, const char *text)
{
	struct http_send *s = CONTAINER_OF(call, struct http_send, call);

	fail_with(s, failures[why].id, failures[why].status, text);
}

/* ---- headers ---- */

static bool
came_before(const struct http_head *h, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (h->fields[j].name.n == h->fields[i].name.n &&
		    str_caseeq(h->fields[j].name, h->fields[i].name))
			return true;
	return false;
}

/* The answer's headers over those that are there. Several of one name become a list. */
static void
put_fields(struct headers *to, struct arena *a, const struct http_head *h, struct blob *blob)
{
	for (unsigned i = 0; i < h->fields_n; i++) {
		const struct http_field *f = &h->fields[i];
		struct value v = value_str(f->value);
		if (header_is_internal(f->name) || http_head_is_hop(h, f))
			continue;
		v.blob = blob;
		if (came_before(h, i))
			headers_add(to, a, f->name, v);
		else
			headers_set(to, a, f->name, v);
	}
}

static void
put_status(struct headers *to, struct arena *a, int status, struct str reason)
{
	headers_set_hashed(to, a, header_id_name(HEADER_CAMEL_HTTP_RESPONSE_CODE),
	    header_id_hash(HEADER_CAMEL_HTTP_RESPONSE_CODE), value_int(status));
	headers_set_hashed(to, a, header_id_name(HEADER_CAMEL_HTTP_RESPONSE_TEXT),
	    header_id_hash(HEADER_CAMEL_HTTP_RESPONSE_TEXT), value_str(reason));
}

static struct str
find_location(const struct http_head *h)
{
	for (unsigned i = 0; i < h->fields_n; i++)
		if (str_caseeq(h->fields[i].name, STR_LIT("Location")))
			return h->fields[i].value;
	return (struct str){ NULL, 0 };
}

/* ---- the answer is whole ---- */

static bool
is_ok(const struct http_send *s, int status)
{
	const struct http_conf *conf = s->ep->conf;
	const struct http_target *t = s->ep->impl;

	if (!conf->throw_on_failure)
		return true;
	return t->ok_is_2xx ? status >= 200 && status <= 299
			    : http_status_in(conf->ok_status, status);
}

static struct value
headers_map(struct arena *a, const struct headers *hs)
{
	struct value map = value_new_map(a, hs->live, true);

	HEADERS_FOREACH (hs, h)
		value_map_set(a, map.u.map, h->name, h->value);
	return map;
}

static void
fail_status(struct http_send *s, const struct headers *answer, struct value body)
{
	struct exchange *ex = s->ex;

	exchange_fail(ex, EXCEPTION_HTTP_OPERATION_FAILED,
	    "HTTP operation failed invoking http://%.*s%.*s with statusCode: %d%s%.*s",
	    STR_FMT(http_origin_key(s->call.origin)), STR_FMT(s->url), s->status,
	    s->location.n > 0 ? ", redirectLocation: " : "", STR_FMT(s->location));
	struct exception *e = ex->exception;
	e->status_code = s->status;
	e->status_text = s->reason;
	e->uri = str_of(arena_printf(&ex->arena, "http://%.*s%.*s",
	    STR_FMT(http_origin_key(s->call.origin)), STR_FMT(s->url)));
	e->redirect_location = s->location;
	e->response_body = body;
	e->response_headers = headers_map(&ex->arena, answer);
	put_status(&ex->headers, &ex->arena, s->status, s->reason);
	ex->dirty |= DIRTY_HEADERS;
	http_send_finish(s, false);
}

/* What the answer leaves on the message, without its body. */
static void
apply_headers(struct http_send *s, struct headers *to, const struct http_head *h, struct blob *blob)
{
	const struct http_conf *conf = s->ep->conf;

	if (!conf->skip_response_headers)
		put_fields(to, &s->ex->arena, h, blob);
	put_status(to, &s->ex->arena, s->status, s->reason);
}

static void
settle_message(struct http_send *s, struct value body)
{
	struct exchange *ex = s->ex;

	if (s->dynamic) { /* the headers that stood for the toD's own path and query */
		(void)headers_remove(&ex->headers, STR_LIT("CamelHttpPath"));
		(void)headers_remove(&ex->headers, STR_LIT("CamelHttpQuery"));
	}
	ex->dirty |= DIRTY_HEADERS;
	exchange_set_body(ex, body);
	http_send_finish(s, true);
}

static struct value
body_value(struct http_send *s, struct str bytes, struct blob *blob)
{
	const struct http_conf *conf = s->ep->conf;
	struct value v = value_bytes(bytes);

	if (blob == NULL || conf->ignore_response_body)
		return value_null();
	v.flags = VALUE_INPUT;
	v.blob = blob;
	return v;
}

static void
start_headers(struct http_send *s, struct headers *hs)
{
	const struct http_conf *conf = s->ep->conf;

	headers_init(hs);
	if (!conf->copy_headers)
		return;
	*hs = s->ex->headers;
	hs->items = arena_alloc(&s->ex->arena, hs->cap * sizeof *hs->items);
	if (hs->n > 0)
		memcpy(hs->items, s->ex->headers.items, hs->n * sizeof *hs->items);
}

/* ---- answers to be collected ---- */

static void
on_collected(void *arg, struct blob *blob, const struct hinny_error *err)
{
	struct http_send *s = arg;
	struct exchange *ex = s->ex;

	if (err != NULL) {
		bool large = err->rc == HINNY_ELIMIT;
		fail_with(s, large ? EXCEPTION_BODY_TOO_LARGE : EXCEPTION_HTTP_CONNECTION_CLOSED,
		    502, err->text);
		return;
	}
	(void)arena_hold(&ex->arena, blob);
	blob_put(blob);
	struct value body = body_value(s, (struct str){ blob->data, blob->size }, blob);
	if (!is_ok(s, s->status)) {
		fail_status(s, &s->headers, body);
		return;
	}
	ex->headers = s->headers;
	ex->headers.removed = true; /* those that the answer did not keep are gone */
	settle_message(s, body);
}

static void
collect(
    struct http_send *s, const struct http_head *h, struct blob *head_blob, struct stream *stream)
{
	struct collect_limits limits = worker_collect_limits(s->hs->wk);

	if (is_ok(s, s->status))
		start_headers(s, &s->headers);
	else
		headers_init(&s->headers);
	apply_headers(s, &s->headers, h, head_blob);
	(void)collect_start(stream, &limits, on_collected, s); /* it ends with the stream */
}

/* ---- the engine's calls ---- */

static void
on_answer(struct http_call *call, const struct http_head *h, struct blob *head_blob,
    struct str bytes, struct blob *blob, struct stream *stream)
{
	struct http_send *s = CONTAINER_OF(call, struct http_send, call);
	const struct http_conf *conf = s->ep->conf;
	struct exchange *ex = s->ex;
	bool ok = is_ok(s, h->status);

	(void)http_io_hold(&s->hs->io, &ex->arena, head_blob);
	if (blob != NULL && blob != head_blob)
		(void)http_io_hold(&s->hs->io, &ex->arena, blob);
	s->status = h->status;
	s->reason = h->reason;
	s->location =
	    h->status >= 300 && h->status <= 399 ? find_location(h) : (struct str){ NULL, 0 };
	if (http_redirect(s, h)) {
		if (stream != NULL)
			stream_cancel(stream);
		return; /* on with it when the call is over */
	}
	if (stream != NULL && conf->ignore_response_body) {
		stream_cancel(stream);
		stream = NULL;
	}
	if (stream != NULL && !(ok && s->st->reply_streams)) {
		collect(s, h, head_blob, stream);
		return;
	}
	if (!ok) {
		struct headers answer;
		headers_init(&answer);
		put_fields(&answer, &ex->arena, h, head_blob);
		fail_status(s, &answer, body_value(s, bytes, blob));
		return;
	}
	if (!conf->copy_headers)
		headers_clear(&ex->headers);
	apply_headers(s, &ex->headers, h, head_blob);
	if (stream != NULL)
		settle_message(s, (struct value){ .type = VALUE_STREAM, .u.stream = stream });
	else
		settle_message(s, body_value(s, bytes, blob));
}

const struct http_call_ops http_send_call_ops = {
	.answer = on_answer, .failed = on_failed, .over = http_send_over
};
