/* Percent-encoding, pairs and addresses. See uri.h. */
#include "transports/http/uri.h"

static int
hex_digit(char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	ch |= 0x20;
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

static bool
is_encoded(struct str s, size_t at)
{
	return at + 2 < s.n && s.p[at] == '%' && hex_digit(s.p[at + 1]) >= 0 &&
	    hex_digit(s.p[at + 2]) >= 0;
}

struct str
uri_decode(struct arena *a, struct str s, bool plus)
{
	size_t first = 0;

	while (first < s.n && s.p[first] != '%' && !(plus && s.p[first] == '+'))
		first++;
	if (first == s.n)
		return s;
	char *out = arena_alloc(a, s.n);
	size_t n = first;
	memcpy(out, s.p, first);
	for (size_t i = first; i < s.n; i++) {
		if (is_encoded(s, i)) {
			out[n++] = (char)(hex_digit(s.p[i + 1]) << 4 | hex_digit(s.p[i + 2]));
			i += 2;
		} else {
			out[n++] = plus && s.p[i] == '+' ? ' ' : s.p[i];
		}
	}
	return (struct str){ out, n };
}

bool
uri_next_pair(struct str *rest, struct str *name, struct str *value)
{
	struct str item;

	while (str_split(rest, '&', &item)) {
		if (item.n == 0)
			continue;
		const char *eq = memchr(item.p, '=', item.n);
		*name = item;
		*value = (struct str){ item.p + item.n, 0 };
		if (eq != NULL) {
			name->n = (size_t)(eq - item.p);
			*value = (struct str){ eq + 1, item.n - name->n - 1 };
		}
		return true;
	}
	return false;
}

/* Visible ASCII but what RFC 3986 keeps out of paths and queries; "%" is looked at apart. '/' and
 * '?' are the caller's. */
static bool
stands(char ch, bool query)
{
	if ((unsigned char)ch <= ' ' || (unsigned char)ch >= 127)
		return false;
	if (ch == '?')
		return query;
	return strchr("\"#%<>\\^`{|}", ch) == NULL;
}

static enum hinny_rc
put_encoded(struct buf *out, char ch)
{
	char enc[3] = { '%', "0123456789ABCDEF"[(unsigned char)ch >> 4],
		"0123456789ABCDEF"[ch & 15] };

	return buf_add(out, enc, sizeof enc);
}

static enum hinny_rc
put(struct buf *out, struct str s, bool query)
{
	enum hinny_rc rc = HINNY_OK;
	size_t from = 0;

	for (size_t i = 0; i < s.n && rc == HINNY_OK; i++) {
		if (stands(s.p[i], query) || is_encoded(s, i))
			continue;
		rc = buf_add(out, s.p + from, i - from);
		if (rc == HINNY_OK)
			rc = put_encoded(out, s.p[i]);
		from = i + 1;
	}
	return rc == HINNY_OK && from < s.n ? buf_add(out, s.p + from, s.n - from) : rc;
}

enum hinny_rc
uri_put_path(struct buf *out, struct str s)
{
	return put(out, s, false);
}

enum hinny_rc
uri_put_query(struct buf *out, struct str s)
{
	return put(out, s, true);
}

enum hinny_rc
uri_put_form(struct buf *out, struct str s)
{
	enum hinny_rc rc = HINNY_OK;

	for (size_t i = 0; i < s.n && rc == HINNY_OK; i++) {
		char ch = s.p[i];
		bool plain = (ch >= '0' && ch <= '9') || (ch >= 'A' && ch <= 'Z') ||
		    (ch >= 'a' && ch <= 'z') || ch == '-' || ch == '_' || ch == '.' || ch == '*';
		if (plain || ch == ' ')
			rc = buf_add_char(out, ch == ' ' ? '+' : ch);
		else
			rc = put_encoded(out, ch);
	}
	return rc;
}

/* ---- addresses ---- */

static enum hinny_rc
parse_port(struct str s, struct uri *out)
{
	int64_t port;

	out->port = out->tls ? 443 : 80;
	out->port_given = false;
	if (s.n == 0)
		return HINNY_OK;
	s = (struct str){ s.p + 1, s.n - 1 };
	if (s.n == 0)
		return HINNY_OK; /* "host:" is allowed */
	if (s.p[0] < '0' || s.p[0] > '9' || !str_to_int64(s, &port) || port < 1 || port > 65535)
		return HINNY_EINVAL;
	out->port = (uint16_t)port;
	out->port_given = true;
	return HINNY_OK;
}

static bool
host_char_ok(char ch, bool ipv6)
{
	if (ipv6)
		return hex_digit(ch) >= 0 || ch == ':' || ch == '.';
	return (ch >= '0' && ch <= '9') || (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z') ||
	    ch == '-' || ch == '_' || ch == '.';
}

static enum hinny_rc
parse_authority(struct str s, struct uri *out)
{
	const char *at = s.n > 0 ? memrchr(s.p, '@', s.n) : NULL;
	size_t host_at = 0, end;

	if (at != NULL)
		return HINNY_EINVAL; /* a user in the address: authMethod is the place for it */
	out->authority = s;
	out->ipv6 = s.n > 0 && s.p[0] == '[';
	if (out->ipv6) {
		const char *close = memchr(s.p, ']', s.n);
		if (close == NULL)
			return HINNY_EINVAL;
		host_at = 1;
		end = (size_t)(close - s.p);
	} else {
		const char *colon = s.n > 0 ? memchr(s.p, ':', s.n) : NULL;
		end = colon != NULL ? (size_t)(colon - s.p) : s.n;
	}
	out->host = (struct str){ s.p + host_at, end - host_at };
	if (out->host.n == 0 || out->host.n > 253)
		return HINNY_EINVAL;
	for (size_t i = 0; i < out->host.n; i++)
		if (!host_char_ok(out->host.p[i], out->ipv6))
			return HINNY_EINVAL;
	size_t port_at = end + (out->ipv6 ? 1 : 0);
	if (port_at < s.n && s.p[port_at] != ':')
		return HINNY_EINVAL;
	return parse_port((struct str){ s.p + port_at, s.n - port_at }, out);
}

enum hinny_rc
uri_parse(struct str text, struct uri *out, struct hinny_error *err)
{
	struct str s = text;

	*out = (struct uri){ .tls = str_casestarts(s, "https:") };
	if (!out->tls && !str_casestarts(s, "http:"))
		return hinny_error_set(err, HINNY_EINVAL,
		    "expected an address such as \"http://host:80/path\", got \"%.*s\"",
		    STR_FMT(text));
	size_t at = out->tls ? 6 : 5;
	if (at + 1 < s.n && s.p[at] == '/' && s.p[at + 1] == '/')
		at += 2;
	size_t end = at;
	while (end < s.n && s.p[end] != '/' && s.p[end] != '?' && s.p[end] != '#')
		end++;
	if (parse_authority((struct str){ s.p + at, end - at }, out) != HINNY_OK)
		return hinny_error_set(
		    err, HINNY_EINVAL, "expected host[:port] in address \"%.*s\"", STR_FMT(text));
	struct str rest = { s.p + end, s.n - end };
	const char *hash = rest.n > 0 ? memchr(rest.p, '#', rest.n) : NULL;
	if (hash != NULL)
		rest.n = (size_t)(hash - rest.p);
	const char *q = rest.n > 0 ? memchr(rest.p, '?', rest.n) : NULL;
	out->path = rest;
	if (q != NULL) {
		out->path.n = (size_t)(q - rest.p);
		out->query = (struct str){ q + 1, rest.n - out->path.n - 1 };
	}
	return HINNY_OK;
}
