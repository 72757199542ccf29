/* http: a message becomes a request, in the order of spec/components.md section 3. */
#include "transports/http/http_send.h"

#include "core/base/assert.h"
#include "transports/http/headers_filter.h"

static const struct method {
	struct str name;
	bool idempotent, has_body;
} methods[] = {
	[HTTP_METHOD_GET] = { STR_LIT("GET"), true, false },
	[HTTP_METHOD_POST] = { STR_LIT("POST"), false, true },
	[HTTP_METHOD_PUT] = { STR_LIT("PUT"), true, true },
	[HTTP_METHOD_DELETE] = { STR_LIT("DELETE"), true, false },
	[HTTP_METHOD_HEAD] = { STR_LIT("HEAD"), true, false },
	[HTTP_METHOD_OPTIONS] = { STR_LIT("OPTIONS"), true, false },
	[HTTP_METHOD_TRACE] = { STR_LIT("TRACE"), true, false },
	[HTTP_METHOD_PATCH] = { STR_LIT("PATCH"), false, true },
};

/* What is being built. */
struct build {
	struct http_send *s;
	struct exchange *ex;
	const struct http_conf *conf;
	const struct http_target *t;
	struct buf *out;
	enum http_method_option method;
	struct uri given; /* of the header CamelHttpUri */
	bool has_given;
	struct str query; /* p NULL: none */
	bool query_raw;   /* it came in a request line: it goes on byte for byte */
	struct str content_type;
	enum http_payload payload;
	struct str body;
};

static const struct value *
control(const struct build *b, enum header_id id)
{
	if (b->conf->skip_control_headers)
		return NULL;
	const struct header *h =
	    headers_find_hashed(&b->ex->headers, header_id_name(id), header_id_hash(id));
	if (h == NULL || h->value.type == VALUE_NULL)
		return NULL;
	return &h->value;
}

static struct str
text_of(const struct build *b, const struct value *v)
{
	return value_has_text(v) ? v->u.s : value_text(&b->ex->arena, v);
}

/* ---- address ---- */

static bool
find_address(struct build *b)
{
	const struct value *v = b->conf->bridge_endpoint ? NULL : control(b, HEADER_CAMEL_HTTP_URI);
	struct str text = b->s->redirect;
	struct hinny_error err;

	if (text.n == 0 && v != NULL)
		text = text_of(b, v);
	if (text.n == 0)
		return true;
	if (uri_parse(text, &b->given, &err) != HINNY_OK) {
		exchange_fail(b->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "Invalid uri: %.*s. If you are forwarding/bridging http endpoints, then enable "
		    "the bridgeEndpoint option on the endpoint: %s",
		    STR_FMT(text), b->s->ep->uri);
		return false;
	}
	if (b->given.tls) {
		exchange_fail(b->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "%.*s: \"https:\" needs hinny-https, which is not in this release",
		    STR_FMT(text));
		return false;
	}
	b->has_given = true;
	return true;
}

/* A slice of a request line goes on byte for byte. It may also be one of a body or header that a
 * client made: then it must not end the line. */
static bool
came_as_it_is(const struct value *v)
{
	return v->blob != NULL && value_has_text(v) && http_is_target(v->u.s);
}

/* Raw query, query, the endpoint's own, that of CamelHttpUri. A query that was set in the route
 * wins over the raw one of the incoming request. */
static void
find_query(struct build *b)
{
	const struct value *raw = control(b, HEADER_CAMEL_HTTP_RAW_QUERY),
			   *set = control(b, HEADER_CAMEL_HTTP_QUERY);
	const struct value *v = raw != NULL ? raw : set;

	if (raw != NULL && raw->blob != NULL && set != NULL &&
	    (set->blob == NULL || set->u.s.p != raw->u.s.p))
		v = set;
	if (b->s->redirect.n > 0) {
		b->query = b->given.query;
		return;
	}
	if (b->s->dynamic && b->s->ep->rest_query != NULL)
		v = NULL; /* a toD's own query takes the place of the header */
	if (v != NULL) {
		b->query = text_of(b, v);
		b->query_raw = came_as_it_is(v);
	} else if (b->s->ep->rest_query != NULL) {
		b->query = str_of(b->s->ep->rest_query);
	} else if (b->has_given) {
		b->query = b->given.query;
	}
}

static bool
find_method(struct build *b)
{
	const struct value *v;

	b->method = b->conf->method;
	if (b->s->redirect.n > 0)
		b->method = b->s->redirect_method;
	if (b->method != HTTP_METHOD_UNSET)
		return true;
	v = control(b, HEADER_CAMEL_HTTP_METHOD);
	if (v == NULL) {
		bool body = b->payload == HTTP_PAYLOAD_STREAM ||
		    (b->payload == HTTP_PAYLOAD_BYTES && b->body.n > 0);
		b->method = b->query.n > 0 || !body ? HTTP_METHOD_GET : HTTP_METHOD_POST;
		return true;
	}
	struct str name = text_of(b, v);
	for (size_t i = 1; i < ARRAY_LEN(methods); i++) {
		if (str_eq(name, methods[i].name)) {
			b->method = (enum http_method_option)i;
			return true;
		}
	}
	exchange_fail(b->ex, EXCEPTION_ILLEGAL_ARGUMENT,
	    "the header CamelHttpMethod is no method: \"%.*s\"", STR_FMT(name));
	return false;
}

/* ---- request line ---- */

static void
put(struct build *b, struct str s)
{
	(void)buf_add(b->out, s.p, s.n); /* without bound: cannot fail */
}

/* Header CamelHttpPath is appended, with one slash between. */
static void
put_path(struct build *b)
{
	const struct value *v =
	    b->s->dynamic || b->s->redirect.n > 0 ? NULL : control(b, HEADER_CAMEL_HTTP_PATH);
	size_t start = b->out->n;

	if (b->has_given)
		(void)uri_put_path(b->out, b->given.path); /* as above */
	else
		put(b, str_of(b->t->path));
	if (v != NULL) {
		struct str more = text_of(b, v);
		if (more.n > 0 && more.p[0] == '/')
			more = (struct str){ more.p + 1, more.n - 1 };
		if (more.n > 0 && (b->out->n == start || b->out->p[b->out->n - 1] != '/'))
			(void)buf_add_char(b->out, '/');
		if (came_as_it_is(v))
			put(b, more);
		else
			(void)uri_put_path(b->out, more);
	}
	if (b->out->n == start)
		(void)buf_add_char(b->out, '/');
}

static void
put_target(struct build *b)
{
	put_path(b);
	if (b->query.n == 0)
		return;
	(void)buf_add_char(b->out, '?');
	if (b->query_raw)
		put(b, b->query);
	else
		(void)uri_put_query(b->out, b->query); /* without bound: cannot fail */
}

/* ---- headers ---- */

static void
put_header(struct build *b, struct str name, struct str value)
{
	if (!http_is_token(name))
		return;
	put(b, name);
	put(b, STR_LIT(": "));
	size_t at = b->out->n;
	put(b, value);
	if (!http_is_value(value))
		for (; at < b->out->n; at++)
			if (!http_is_value((struct str){ b->out->p + at, 1 }))
				b->out->p[at] = ' ';
	put(b, STR_LIT("\r\n"));
}

/* With bridgeEndpoint: is the header but a parameter of the query that goes along anyway? */
static bool
repeats_query(struct build *b, const struct header *h)
{
	struct str rest = b->query, name, value;
	bool found = false;

	while (!found && uri_next_pair(&rest, &name, &value)) {
		if (!str_eq(uri_decode(&b->ex->arena, name, true), h->name))
			continue;
		found = h->value.type == VALUE_LIST ||
		    str_eq(uri_decode(&b->ex->arena, value, true), text_of(b, &h->value));
	}
	return found;
}

static bool
is_skipped(struct build *b, const struct header *h)
{
	if (!header_goes_out(h) || h->value.type == VALUE_NULL)
		return true;
	if (h->id == HEADER_ACCEPT_ENCODING && !b->s->st->reply_streams)
		return true; /* the route reads the answer: it must not be compressed */
	if (b->s->redirect_abroad && (h->id == HEADER_AUTHORIZATION || h->id == HEADER_COOKIE))
		return true;
	if ((h->id == HEADER_AUTHORIZATION && b->t->authorization != NULL) ||
	    (h->id == HEADER_USER_AGENT && b->conf->user_agent != NULL))
		return true;
	return b->conf->bridge_endpoint && b->query.n > 0 && repeats_query(b, h);
}

static void
put_message_headers(struct build *b)
{
	HEADERS_FOREACH (&b->ex->headers, h) {
		if (is_skipped(b, h))
			continue;
		if (h->value.type != VALUE_LIST) {
			put_header(b, h->name, text_of(b, &h->value));
			continue;
		}
		for (size_t i = 0; i < h->value.u.list->n; i++)
			if (h->value.u.list->items[i].type != VALUE_NULL)
				put_header(b, h->name, text_of(b, &h->value.u.list->items[i]));
	}
}

static void
put_host(struct build *b)
{
	struct str host = b->has_given ? b->given.authority : str_of(b->t->authority);

	if (b->conf->custom_host != NULL) {
		host = str_of(b->conf->custom_host);
	} else if (b->conf->preserve_host) {
		const struct header *h = headers_find_hashed(
		    &b->ex->headers, STR_LIT("Host"), header_id_hash(HEADER_HOST));
		if (h != NULL && h->value.type != VALUE_NULL)
			host = text_of(b, &h->value);
	}
	put_header(b, STR_LIT("Host"), host);
}

static void
put_framing(struct build *b, bool body)
{
	char number[32];

	if (body && b->payload == HTTP_PAYLOAD_STREAM && b->ex->body.u.stream->length < 0) {
		put(b, STR_LIT("Transfer-Encoding: chunked\r\n"));
		return;
	}
	if (!body && !methods[b->method].has_body)
		return;
	int64_t length = !body                  ? 0
	    : b->payload == HTTP_PAYLOAD_STREAM ? b->ex->body.u.stream->length
						: (int64_t)b->body.n;
	size_t at = sizeof number;
	do {
		number[--at] = (char)('0' + length % 10);
		length /= 10;
	} while (length > 0);
	put(b, STR_LIT("Content-Length: "));
	put(b, (struct str){ number + at, sizeof number - at });
	put(b, STR_LIT("\r\n"));
}

static void
put_head(struct build *b, bool body)
{
	put(b, methods[b->method].name);
	(void)buf_add_char(b->out, ' ');
	size_t target_at = b->out->n;
	put_target(b);
	b->s->url = (struct str){ b->out->p + target_at, b->out->n - target_at };
	put(b, STR_LIT(" HTTP/1.1\r\n"));
	put_host(b);
	if (b->t->authorization != NULL && !b->s->redirect_abroad)
		put_header(b, STR_LIT("Authorization"), str_of(b->t->authorization));
	if (b->conf->user_agent != NULL)
		put_header(b, STR_LIT("User-Agent"), str_of(b->conf->user_agent));
	if (b->content_type.n > 0 && !b->conf->skip_request_headers)
		put_header(b, STR_LIT("Content-Type"), b->content_type);
	if (!b->conf->skip_request_headers)
		put_message_headers(b);
	put_framing(b, body);
	if (b->conf->connection_close)
		put(b, STR_LIT("Connection: close\r\n"));
	put(b, STR_LIT("\r\n"));
}

/* ---- all together ---- */

static bool
sends_body(const struct build *b)
{
	if (b->payload == HTTP_PAYLOAD_NONE)
		return false;
	return methods[b->method].has_body ||
	    (b->method == HTTP_METHOD_GET && b->conf->get_with_body) ||
	    (b->method == HTTP_METHOD_DELETE && b->conf->delete_with_body);
}

static void
find_content_type(struct build *b)
{
	const struct header *h = headers_find_hashed(
	    &b->ex->headers, STR_LIT("Content-Type"), header_id_hash(HEADER_CONTENT_TYPE));

	if (h != NULL && h->value.type != VALUE_NULL)
		b->content_type = text_of(b, &h->value);
}

static void
fill_call(struct build *b, bool body)
{
	struct http_send *s = b->s;
	struct http_client *cl = &s->hs->client;
	struct http_call *call = &s->call;
	struct value *v = &b->ex->body;
	struct str url = s->url;

	*call = (struct http_call){
		.ops = &http_send_call_ops,
		.cl = cl,
		.origin = b->has_given ? http_origin_get(cl, b->given.host, b->given.port)
				       : http_origin_ref(b->t->origin),
		.head_only = b->method == HTTP_METHOD_HEAD,
		.idempotent = methods[b->method].idempotent,
		.close = b->conf->connection_close,
		.whole = s->st == NULL || !s->st->reply_streams,
		.kept_body = worker_settings(s->hs->wk)->spool_memory,
		.q_connect = b->t->q_connect,
		.q_wait = b->t->q_wait,
		.q_answer = b->t->q_answer,
		.q_idle = b->t->q_idle,
	};
	call->head = arena_str(&b->ex->arena, (struct str){ b->out->p, b->out->n });
	s->url = (struct str){ call->head.p + (url.p - b->out->p), url.n };
	if (body && b->payload == HTTP_PAYLOAD_STREAM) {
		call->stream = v->u.stream;
		*v = value_null(); /* the call has it now */
	} else if (body) {
		call->body = b->body;
		call->body_blob = value_has_text(v) ? v->blob : NULL;
	}
}

bool
http_request_build(struct http_send *s)
{
	struct build b = { .s = s,
		.ex = s->ex,
		.conf = s->ep->conf,
		.t = s->ep->impl,
		.out = &s->hs->io.head_out };

	find_content_type(&b);
	b.payload = http_payload_of(&b.ex->arena, &b.ex->body, b.content_type, &b.body);
	if (!find_address(&b))
		return false;
	find_query(&b);
	if (!find_method(&b))
		return false;
	s->method = b.method;
	bool body = sends_body(&b);
	if (body && b.payload == HTTP_PAYLOAD_NOT) {
		exchange_fail(b.ex, EXCEPTION_NO_TYPE_CONVERSION,
		    "a list or map cannot be sent as a body: marshal it first");
		return false;
	}
	buf_clear(b.out);
	put_head(&b, body);
	fill_call(&b, body);
	return true;
}
