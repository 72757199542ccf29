/* platform-http: the message of an exchange that is done becomes the answer (spec/components.md
 * section 1). */
#include "transports/http/platform_http.h"

#include "transports/http/headers_filter.h"
#include "transports/http/platform_http_conf.h"

/* ---- status ---- */

/* The header CamelHttpResponseCode. 0: not there; -1: no status. */
static int
given_status(struct exchange *ex)
{
	const struct header *h = headers_find_hashed(&ex->headers, STR_LIT("CamelHttpResponseCode"),
	    header_id_hash(HEADER_CAMEL_HTTP_RESPONSE_CODE));
	int64_t status;

	if (h == NULL || h->value.type == VALUE_NULL)
		return 0;
	if (!http_number_of(&ex->arena, &h->value, &status) || status < 200 || status > 999)
		return -1;
	return (int)status;
}

/* A failed exchange never answers as if it had gone well, whatever an earlier call left in the
 * header. */
static int
failed_status(struct exchange *ex)
{
	const struct exception *e = ex->exception;
	int given = given_status(ex);

	if (e->id == EXCEPTION_HTTP_OPERATION_FAILED && e->status_code >= 200)
		return e->status_code;
	if (e->status_code >= 400)
		return e->status_code; /* a back end that could not be asked: 502, 503, 504 */
	if (given >= 400)
		return given;
	return e->id == EXCEPTION_BODY_TOO_LARGE ? 413 : 500;
}

/* An empty text or one of blanks counts as no answer, unless it came in as it is. */
static bool
is_blank(const struct value *v)
{
	if (v->type == VALUE_NULL)
		return true;
	if (v->type == VALUE_XML)
		return !(v->flags & VALUE_NODESET) && v->u.s.n == 0; /* an empty list is something */
	return v->type == VALUE_STRING && !(v->flags & VALUE_INPUT) && str_trim(v->u.s).n == 0;
}

/* ---- headers ---- */

static void
put_header(struct http_request *rq, struct exchange *ex, const struct header *h)
{
	const struct value *v = &h->value;

	if (v->type == VALUE_NULL)
		return;
	if (v->type != VALUE_LIST && v->type != VALUE_MAP && v->type != VALUE_JSON) {
		http_reply_header(
		    rq, h->name, value_has_text(v) ? v->u.s : value_text(&ex->arena, v));
		return;
	}
	struct value items; /* a line for each element, or entry of a map */
	struct hinny_error err;
	if (value_convert(&ex->arena, v, CLASS_ITERATOR, &items, &err) != HINNY_OK)
		return;
	for (size_t i = 0; i < items.u.list->n; i++)
		if (items.u.list->items[i].type != VALUE_NULL)
			http_reply_header(
			    rq, h->name, value_text(&ex->arena, &items.u.list->items[i]));
}

static void
put_headers(struct http_request *rq, struct exchange *ex, const struct platform_http_conf *conf)
{
	HEADERS_FOREACH (&ex->headers, h) {
		if (header_goes_out(h) &&
		    (conf->return_request_headers || !header_is_of_request(h)))
			put_header(rq, ex, h);
	}
}

static struct str
content_type_of(struct exchange *ex)
{
	const struct header *h = headers_find_hashed(
	    &ex->headers, STR_LIT("Content-Type"), header_id_hash(HEADER_CONTENT_TYPE));

	if (h == NULL || h->value.type == VALUE_NULL)
		return (struct str){ NULL, 0 };
	return value_text(&ex->arena, &h->value);
}

/* ---- answers ---- */

static void
add_exception(struct exchange *ex, struct buf *out, const struct exception *e)
{
	for (; e != NULL; e = e->cause) {
		const struct exception_class *class = exception_class(e->id);
		if (e->message.p != NULL)
			(void)buf_printf(out, "%s: %.*s\n", class->name,
			    STR_FMT(e->message)); /* without bound: cannot fail */
		else
			(void)buf_printf(out, "%s\n", class->name);
		if (e->step_id != NULL)
			(void)buf_printf(
			    out, "\tat step %s of route %s\n", e->step_id, ex->from_route->id);
		if (e->cause != NULL)
			(void)buf_printf(out, "Caused by: ");
	}
}

static void
reply_failed(struct http_request *rq, struct exchange *ex, const struct platform_http_conf *conf)
{
	struct buf text;

	buf_init(&text, 0);
	if (!conf->mute_exception)
		add_exception(ex, &text, ex->exception);
	http_reply_begin(rq, failed_status(ex), (struct str){ NULL, 0 });
	http_reply_header(rq, STR_LIT("Content-Type"), STR_LIT("text/plain; charset=utf-8"));
	put_headers(rq, ex, conf);
	http_reply_end(rq, (struct str){ text.p, text.n }, NULL);
	buf_fini(&text);
}

/* What a back end said of the length when it was asked with HEAD. */
static int64_t
length_of_head(struct exchange *ex)
{
	const struct header *h = headers_find_hashed(
	    &ex->headers, STR_LIT("Content-Length"), header_id_hash(HEADER_CONTENT_LENGTH));
	int64_t length;

	if (h == NULL || h->value.blob == NULL || !http_number_of(&ex->arena, &h->value, &length) ||
	    length < 0)
		return -1;
	return length;
}

static void
reply_message(struct http_request *rq, struct exchange *ex, const struct platform_http_conf *conf)
{
	struct str content_type = content_type_of(ex), bytes = { NULL, 0 };
	enum http_payload payload = http_payload_of(&ex->arena, &ex->body, content_type, &bytes);
	int status = given_status(ex);

	if (payload == HTTP_PAYLOAD_NOT || status < 0) {
		exchange_fail(ex,
		    status < 0 ? EXCEPTION_ILLEGAL_ARGUMENT : EXCEPTION_NO_TYPE_CONVERSION, "%s",
		    status < 0 ? "the header CamelHttpResponseCode is no status"
			       : "a list or map cannot be sent as a body: marshal it first");
		reply_failed(rq, ex, conf);
		return;
	}
	if (status == 0)
		status = is_blank(&ex->body) ? 204 : 200;
	http_reply_begin(rq, status, (struct str){ NULL, 0 });
	if (content_type.n > 0)
		http_reply_header(rq, STR_LIT("Content-Type"), content_type);
	put_headers(rq, ex, conf);
	if (payload == HTTP_PAYLOAD_NONE && rq->head_only) {
		http_reply_end_head(rq, length_of_head(ex));
	} else if (payload == HTTP_PAYLOAD_STREAM) {
		struct stream *s = ex->body.u.stream;
		ex->body = value_null(); /* the connection has it now */
		http_reply_end_stream(rq, s);
	} else {
		http_reply_end(rq, bytes, value_has_text(&ex->body) ? ex->body.blob : NULL);
	}
}

void
platform_http_done(struct exchange *ex)
{
	struct http_request *rq = ex->owner;
	struct http_state *hs = http_request_server(rq)->owner;
	const struct platform_http_conf *conf = ex->from_route->from->conf;

	if (http_request_alive(rq)) {
		if (ex->exception != NULL)
			reply_failed(rq, ex, conf);
		else
			reply_message(rq, ex, conf);
	}
	worker_exchange_free(hs->wk, &ex);
	http_request_done(rq);
}
