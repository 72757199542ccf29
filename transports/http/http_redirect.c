/*
 * http: followRedirects. An answer 301, 302, 303, 307 or 308 with a Location is not the answer: the
 * address is asked instead. As browsers and Camel's client do, 303 asks with GET, so do 301 and 302
 * after a POST; 307 and 308 send the same request again, which needs a body that is still there.
 * Credentials do not go to another host.
 */
#include "transports/http/http_send.h"

enum { REDIRECTS_MAX = 50 };

static struct str
find_location(const struct http_head *h)
{
	for (unsigned i = 0; i < h->fields_n; i++)
		if (str_caseeq(h->fields[i].name, STR_LIT("Location")))
			return h->fields[i].value;
	return (struct str){ NULL, 0 };
}

/* RFC 3986 5.2, as far as it is met: an address, "//host/path", "/path", "?query", "path". */
static struct str
resolve(struct http_send *s, struct str to)
{
	struct arena *a = &s->ex->arena;
	struct str key = http_origin_key(s->call.origin), base = s->url;
	const char *hash = memchr(to.p, '#', to.n), *query = memchr(base.p, '?', base.n);

	if (hash != NULL)
		to.n = (size_t)(hash - to.p);
	if (query != NULL)
		base.n = (size_t)(query - base.p);
	if (str_casestarts(to, "http:") || str_casestarts(to, "https:"))
		return arena_str(a, to);
	if (str_starts(to, "//"))
		return str_of(arena_printf(a, "http:%.*s", STR_FMT(to)));
	if (!str_starts(to, "/") && !str_starts(to, "?"))
		while (base.n > 0 && base.p[base.n - 1] != '/')
			base.n--;
	if (str_starts(to, "/"))
		base.n = 0;
	/* The key of an origin has an IPv6 address without its brackets. */
	const char *colon = memrchr(key.p, ':', key.n);
	struct str host = { key.p, (size_t)(colon - key.p) };
	bool ipv6 = memchr(host.p, ':', host.n) != NULL;
	return str_of(arena_printf(a, "http://%s%.*s%s%.*s%.*s%.*s", ipv6 ? "[" : "", STR_FMT(host),
	    ipv6 ? "]" : "", (int)(key.n - host.n), colon, STR_FMT(base), STR_FMT(to)));
}

static bool
is_abroad(struct http_send *s, struct str to)
{
	struct hinny_error err;
	struct uri u;

	if (uri_parse(to, &u, &err) != HINNY_OK)
		return true;
	struct str key = http_origin_key(s->call.origin);
	struct str there = str_of(arena_printf(&s->ex->arena, "%.*s:%u", STR_FMT(u.host), u.port));
	return !str_caseeq(key, there);
}

bool
http_redirect(struct http_send *s, const struct http_head *h)
{
	const struct http_conf *conf = s->ep->conf;
	int method = s->method;

	if (!conf->follow_redirects || s->redirects >= REDIRECTS_MAX)
		return false;
	if (h->status != 301 && h->status != 302 && h->status != 303 && h->status != 307 &&
	    h->status != 308)
		return false;
	struct str to = find_location(h);
	if (to.n == 0)
		return false;
	if ((h->status == 303 && method != HTTP_METHOD_HEAD) ||
	    (h->status <= 302 && method == HTTP_METHOD_POST))
		method = HTTP_METHOD_GET;
	if (method == s->method && s->call.streams)
		return false; /* the body is gone */
	s->redirect = resolve(s, to);
	s->redirect_method = method;
	s->redirect_abroad = s->redirect_abroad || is_abroad(s, s->redirect);
	s->redirects++;
	return true;
}
