/* platform-http: requests become exchanges. Their answers: platform_http_reply.c. */
#include "transports/http/platform_http.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "transports/http/headers_filter.h"
#include "transports/http/platform_http_conf.h"

/* ---- request -> message ---- */

static struct value
slice(struct str s, struct blob *blob)
{
	struct value v = value_str(s);

	v.blob = blob;
	return v;
}

/* A constant name whose hash is known, not there yet. */
static void
set_known(struct exchange *ex, enum header_id id, struct value v)
{
	headers_set_hashed(&ex->headers, &ex->arena, header_id_name(id), header_id_hash(id), v);
}

static void
add_fields(struct exchange *ex, const struct http_head *h, struct blob *blob)
{
	for (unsigned i = 0; i < h->fields_n; i++) {
		const struct http_field *f = &h->fields[i];
		if (f->id == HTTP_FIELD_EXPECT || header_is_internal(f->name) ||
		    http_head_is_hop(h, f))
			continue;
		headers_add(&ex->headers, &ex->arena, f->name, slice(f->value, blob));
	}
}

/* Query and form alike. */
static void
add_pairs(struct exchange *ex, struct str text)
{
	struct str name, value;

	while (uri_next_pair(&text, &name, &value)) {
		name = uri_decode(&ex->arena, name, true);
		if (name.n == 0 || header_is_internal(name))
			continue;
		headers_add(
		    &ex->headers, &ex->arena, name, value_str(uri_decode(&ex->arena, value, true)));
	}
}

static struct value
make_url(struct exchange *ex, const struct http_head *h)
{
	struct arena *a = &ex->arena;
	char *p = arena_alloc(a, 7 + h->host.n + h->target.n);
	size_t n = 7;

	if (h->target.p[0] != '/' && h->target.p[0] != '*')
		return value_str(h->target); /* it came as a whole address */
	memcpy(p, "http://", 7);
	if (h->host.n > 0)
		memcpy(p + n, h->host.p, h->host.n);
	n += h->host.n;
	memcpy(p + n, h->target.p, h->target.n);
	return value_str((struct str){ p, n + h->target.n });
}

static void
set_charset(struct exchange *ex, struct str content_type)
{
	size_t at = str_casefind(content_type, STR_LIT("charset="));

	if (at == SIZE_MAX)
		return;
	struct str name = { content_type.p + at + 8, content_type.n - at - 8 };
	const char *end = name.n > 0 ? memchr(name.p, ';', name.n) : NULL;
	if (end != NULL)
		name.n = (size_t)(end - name.p);
	name = str_trim(name);
	if (name.n >= 2 && name.p[0] == '"' && name.p[name.n - 1] == '"')
		name = (struct str){ name.p + 1, name.n - 2 };
	if (name.n > 0 && !str_caseeq(name, STR_LIT("utf-8")))
		exchange_set_property(ex, STR_LIT("CamelCharsetName"), value_str(name));
}

static void
fill_message(
    struct exchange *ex, const struct http_head *h, struct blob *blob, const struct route_match *m)
{
	const struct platform_http_conf *conf = ((const struct served *)m->data)->ep->conf;
	struct arena *a = &ex->arena;

	add_fields(ex, h, blob);
	for (unsigned i = 0; i < m->params_n; i++)
		if (!header_is_internal(m->params[i].name))
			headers_add(
			    &ex->headers, a, m->params[i].name, slice(m->params[i].value, blob));
	if (conf->prefix)
		headers_set(&ex->headers, a, STR_LIT("*"), slice(m->rest, blob));
	set_known(ex, HEADER_CAMEL_HTTP_METHOD, value_str(h->method));
	set_known(ex, HEADER_CAMEL_HTTP_PATH,
	    m->path.p == h->path.p ? slice(m->path, blob) : value_str(m->path));
	set_known(ex, HEADER_CAMEL_HTTP_URI, slice(h->target, blob));
	set_known(ex, HEADER_CAMEL_HTTP_URL, make_url(ex, h));
	if (h->query.p != NULL) {
		add_pairs(ex, h->query);
		set_known(ex, HEADER_CAMEL_HTTP_QUERY, slice(h->query, blob));
		set_known(ex, HEADER_CAMEL_HTTP_RAW_QUERY, slice(h->query, blob));
	}
	if (h->content_type.n > 0)
		set_charset(ex, h->content_type);
}

/* What the match found in the arena of look-ups must live as long as the exchange. */
static void
keep_str(struct exchange *ex, const struct http_head *h, struct str *s)
{
	if (s->n > 0 && (s->p < h->path.p || s->p >= h->path.p + h->path.n))
		*s = arena_str(&ex->arena, *s);
}

static void
keep_match(struct exchange *ex, const struct http_head *h, struct route_match *m)
{
	keep_str(ex, h, &m->path);
	keep_str(ex, h, &m->rest);
	for (unsigned i = 0; i < m->params_n; i++)
		keep_str(ex, h, &m->params[i].value);
}

/* ---- requests that no route gets ---- */

static void
refuse(struct http_request *rq, const struct route_match *m)
{
	static const char not_found[] = "<html><body><h1>Resource not found</h1></body></html>";

	if (m->status == 404) {
		http_reply_plain(rq, 404, "text/html; charset=utf-8", not_found);
		return;
	}
	http_reply_begin(rq, m->status, (struct str){ NULL, 0 });
	if (m->status == 405)
		http_reply_header(rq, STR_LIT("Allow"), m->allow);
	http_reply_end(rq, (struct str){ NULL, 0 }, NULL);
}

static void
refuse_busy(struct http_request *rq)
{
	http_reply_begin(rq, 503, (struct str){ NULL, 0 });
	http_reply_header(rq, STR_LIT("Retry-After"), STR_LIT("1"));
	http_reply_end(rq, (struct str){ NULL, 0 }, NULL);
}

/* ---- the server engine's calls ---- */

static struct str
find_accept(const struct http_head *h)
{
	for (unsigned i = 0; i < h->fields_n; i++)
		if (h->fields[i].id == HTTP_FIELD_OTHER &&
		    str_caseeq(h->fields[i].name, STR_LIT("Accept")))
			return h->fields[i].value;
	return (struct str){ NULL, 0 };
}

static bool
is_form(const struct http_head *h)
{
	return str_casestarts(h->content_type, "application/x-www-form-urlencoded");
}

static enum http_want
on_head(struct http_request *rq, const struct http_head *h, struct blob *blob)
{
	struct http_state *hs = http_request_server(rq)->owner;
	struct worker *wk = hs->wk;
	struct page *page = worker_page(wk);
	struct route_request look_for = { .method = h->method,
		.path = h->path,
		.content_type = h->content_type,
		.accept = hs->any_produces ? find_accept(h) : (struct str){ NULL, 0 } };
	struct route_match m;

	PAGE_ADD(page->requests, 1);
	arena_reset(&hs->head_arena);
	route_table_find(&hs->routes, &hs->head_arena, &look_for, &m);
	if (m.status != 0) {
		refuse(rq, &m);
		return HTTP_WANT_NOTHING;
	}
	if (worker_inflight(wk) >= (uint64_t)worker_settings(wk)->http.max_inflight) {
		refuse_busy(rq);
		return HTTP_WANT_NOTHING;
	}
	struct served *sv = m.data;
	const struct platform_http_conf *conf = sv->ep->conf;
	struct exchange *ex = worker_exchange_new(wk, sv->route);
	(void)http_io_hold(&hs->io, &ex->arena, blob);
	keep_match(ex, h, &m);
	fill_message(ex, h, blob, &m);
	ex->pattern = PATTERN_IN_OUT;
	ex->done = platform_http_done;
	ex->owner = rq;
	rq->owner = ex;
	rq->form = conf->populate_form && rq->has_body && is_form(h);
	return sv->route->body_streams && !rq->form ? HTTP_WANT_STREAM : HTTP_WANT_WHOLE;
}

static void
fill_form(struct exchange *ex, struct str text, struct value body)
{
	struct arena *a = &ex->arena;
	struct str rest = text, name, value;

	if (ex->from_route->body_streams) {
		ex->body = body; /* no step reads it: it is only passed on, as it came */
		add_pairs(ex, text);
		return;
	}
	struct value map = value_new_map(a, 8, false);
	while (uri_next_pair(&rest, &name, &value)) {
		struct value v = value_str(uri_decode(a, value, true));
		name = uri_decode(a, name, true);
		struct value *old = value_map_find(map.u.map, name);
		if (old == NULL) {
			value_map_set(a, map.u.map, name, v);
		} else if (old->type == VALUE_LIST) {
			value_list_add(a, old->u.list, v);
		} else {
			struct value list = value_new_list(a, 4);
			value_list_add(a, list.u.list, *old);
			value_list_add(a, list.u.list, v);
			*old = list;
		}
	}
	add_pairs(ex, text);
	ex->body = map;
}

static void
start(struct exchange *ex, struct str bytes, struct blob *blob)
{
	struct http_request *rq = ex->owner;
	struct value body = value_bytes(bytes.n > 0 ? bytes : STR_LIT(""));

	body.flags = VALUE_INPUT;
	body.blob = blob;
	if (rq->form)
		fill_form(ex, bytes, body);
	else if (rq->has_body || rq->empty_body || bytes.n > 0)
		ex->body = body;
	exchange_clean(ex);
	worker_exchange_start(((struct http_state *)http_request_server(rq)->owner)->wk, ex);
}

static void
on_collected(void *arg, struct blob *blob, const struct hinny_error *err)
{
	struct exchange *ex = arg;
	struct http_request *rq = ex->owner;
	struct worker *wk = ((struct http_state *)http_request_server(rq)->owner)->wk;

	if (err == NULL) {
		struct str bytes = { blob->data, blob->size };
		(void)arena_hold(&ex->arena, blob);
		blob_put(blob);
		start(ex, bytes, blob);
		return;
	}
	/* Too large, or the client is to blame and the engine has told it. */
	http_reply_close(rq);
	http_reply_plain(rq, err->rc == HINNY_ELIMIT ? 413 : 500, NULL, "");
	worker_exchange_free(wk, &ex);
	http_request_done(rq);
}

static void
on_body(struct http_request *rq, struct str bytes, struct blob *blob, struct stream *s)
{
	struct http_state *hs = http_request_server(rq)->owner;
	struct exchange *ex = rq->owner;

	if (s != NULL && ex->from_route->body_streams && !rq->form) {
		ex->body = (struct value){ .type = VALUE_STREAM, .u.stream = s };
		exchange_clean(ex);
		worker_exchange_start(hs->wk, ex);
	} else if (s != NULL) {
		struct collect_limits limits = worker_collect_limits(hs->wk);
		(void)collect_start(
		    s, &limits, on_collected, ex); /* a client that goes away fails the stream */
	} else {
		if (blob != NULL)
			(void)http_io_hold(&hs->io, &ex->arena, blob);
		start(ex, bytes, blob);
	}
}

static void
on_gone(struct http_request *rq)
{
	struct http_state *hs = http_request_server(rq)->owner;
	struct exchange *ex = rq->owner;

	rq->owner = NULL;
	worker_exchange_free(hs->wk, &ex);
}

static void
on_connections(struct http_server *srv)
{
	struct http_state *hs = srv->owner;
	struct page *page = worker_page(hs->wk);

	PAGE_SET(page->connections, srv->conns_n);
	PAGE_SET(page->connections_total, srv->conns_total);
}

const struct http_server_ops platform_http_server_ops = {
	.head = on_head, .body = on_body, .gone = on_gone, .connections = on_connections
};

/* ---- the component ---- */

static struct route_spec
spec_of(const struct endpoint *ep, void *data)
{
	const struct platform_http_conf *conf = ep->conf;

	return (struct route_spec){ .path = conf->path,
		.methods = conf->methods,
		.consumes = conf->consumes,
		.produces = conf->produces,
		.prefix = conf->prefix,
		.data = data };
}

/* What the table would refuse is found before READY. */
static enum hinny_rc
prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	struct route_spec spec = spec_of(ep, ep);
	struct route_table trial;
	void *shadow;

	(void)wk;
	route_table_init(&trial);
	enum hinny_rc rc = route_table_add(&trial, &spec, &shadow, err);
	route_table_fini(&trial);
	return rc;
}

static enum hinny_rc
start_route(
    struct worker *wk, struct endpoint *ep, const struct route *route, struct hinny_error *err)
{
	struct http_state *hs = http_state_of(wk);
	struct served *sv = ARENA_NEW(&hs->routes.arena, struct served);
	struct route_spec spec = spec_of(ep, sv);
	void *shadow;

	sv->route = route;
	sv->ep = ep;
	hs->any_produces = hs->any_produces || spec.produces != NULL;
	enum hinny_rc rc = route_table_add(&hs->routes, &spec, &shadow, err);
	if (rc == HINNY_OK && shadow != NULL && worker_index(wk) == 0)
		log_warning("route %s gets no request: route %s serves %s before it", route->id,
		    ((const struct served *)shadow)->route->id, spec.path);
	return rc;
}

const struct component_ops platform_http_ops = {
	.scheme = "platform-http",
	.prepare = prepare,
	.start = start_route,
};
