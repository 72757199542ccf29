/* Parsing and checking of message heads. See head.h. */
#include "transports/http/head.h"

#include "core/base/assert.h"

#include <http_parser.h>
#include <string.h>

/* ---- characters ---- */

enum { CHAR_TOKEN = 1, CHAR_VALUE = 2, CHAR_TARGET = 4 };

/* token: RFC 9110 5.6.2; value: all but control characters (tab is one that is allowed); target:
 * visible US-ASCII. */
static const unsigned char char_class[256] = {
	['\t'] = CHAR_VALUE,
	[' '] = CHAR_VALUE,
	[0x21] = 7,
	['"'] = 6,
	['#'] = 7,
	['$'] = 7,
	['%'] = 7,
	['&'] = 7,
	['\''] = 7,
	['('] = 6,
	[')'] = 6,
	['*'] = 7,
	['+'] = 7,
	[','] = 6,
	['-'] = 7,
	['.'] = 7,
	['/'] = 6,
	['0' ... '9'] = 7,
	[':'] = 6,
	[';'] = 6,
	['<'] = 6,
	['='] = 6,
	['>'] = 6,
	['?'] = 6,
	['@'] = 6,
	['A' ... 'Z'] = 7,
	['['] = 6,
	['\\'] = 6,
	[']'] = 6,
	['^'] = 7,
	['_'] = 7,
	['`'] = 7,
	['a' ... 'z'] = 7,
	['{'] = 6,
	['|'] = 7,
	['}'] = 6,
	['~'] = 7,
	[0x80 ... 0xff] = CHAR_VALUE,
};

static bool
all_of(struct str s, unsigned class)
{
	for (size_t i = 0; i < s.n; i++)
		if (!(char_class[(unsigned char)s.p[i]] & class))
			return false;
	return true;
}

bool
http_is_token(struct str s)
{
	return s.n > 0 && all_of(s, CHAR_TOKEN);
}

bool
http_is_target(struct str s)
{
	return all_of(s, CHAR_TARGET) && (s.n == 0 || memchr(s.p, '#', s.n) == NULL);
}

bool
http_is_value(struct str s)
{
	return all_of(s, CHAR_VALUE);
}

/* ---- lists ---- */

bool
http_list_has(struct str list, struct str item)
{
	struct str one;

	while (str_split(&list, ',', &one))
		if (str_caseeq(str_trim(one), item))
			return true;
	return false;
}

/* ---- the end of the head ---- */

enum http_scan
http_head_scan(const char *p, size_t n, size_t *scanned)
{
	size_t at = *scanned;

	for (;;) {
		/* A blank at the start of a line continues the line before it, whatever that holds:
		 * http_parser would take it for a value's leading blanks. */
		if (at > 0 && at < n && p[at - 1] == '\n' && (p[at] == ' ' || p[at] == '\t'))
			return HTTP_SCAN_BAD;
		const char *lf = at < n ? memchr(p + at, '\n', n - at) : NULL;
		if (lf == NULL) {
			/* A last carriage return may still get its line feed. */
			const char *cr = at < n ? memchr(p + at, '\r', n - at) : NULL;
			if (cr != NULL && cr + 1 < p + n)
				return HTTP_SCAN_BAD;
			*scanned = cr != NULL ? (size_t)(cr - p) : n;
			return HTTP_SCAN_MORE;
		}
		size_t line_end = (size_t)(lf - p);
		if (line_end == 0 || p[line_end - 1] != '\r' ||
		    memchr(p + at, '\r', line_end - at) != lf - 1)
			return HTTP_SCAN_BAD;
		bool empty = line_end == 1 || (line_end >= 3 && p[line_end - 2] == '\n');
		at = line_end + 1;
		if (empty) {
			*scanned = at;
			return HTTP_SCAN_DONE;
		}
	}
}

/* ---- http_parser ---- */

/* What goes on while http_parser runs over one head. */
struct parse {
	struct http_head *h;
	bool complete, too_many, folded;
	bool in_value;
};

static int
on_url(http_parser *hp, const char *at, size_t n)
{
	struct parse *ps = hp->data;
	struct str *t = &ps->h->target;

	if (t->n == 0)
		t->p = at;
	t->n += n;
	return 0;
}

static int
on_status(http_parser *hp, const char *at, size_t n)
{
	struct parse *ps = hp->data;
	struct str *t = &ps->h->reason;

	if (t->n == 0)
		t->p = at;
	t->n += n;
	return 0;
}

static int
on_field(http_parser *hp, const char *at, size_t n)
{
	struct parse *ps = hp->data;
	struct http_head *h = ps->h;

	if (ps->in_value || h->fields_n == 0) {
		if (h->fields_n == HTTP_FIELDS_MAX) {
			ps->too_many = true;
			return 1;
		}
		h->fields[h->fields_n++] = (struct http_field){ .name = { at, 0 } };
		ps->in_value = false;
	}
	h->fields[h->fields_n - 1].name.n += n;
	return 0;
}

static int
on_value(http_parser *hp, const char *at, size_t n)
{
	struct parse *ps = hp->data;

	if (ps->h->fields_n == 0)
		return 1;
	struct http_field *f = &ps->h->fields[ps->h->fields_n - 1];
	if (ps->in_value && f->value.p + f->value.n != at)
		ps->folded = true;
	if (!ps->in_value)
		f->value = (struct str){ at, 0 };
	ps->in_value = true;
	f->value.n += n;
	return 0;
}

static int
on_complete(http_parser *hp)
{
	struct parse *ps = hp->data;

	ps->complete = true;
	return 0;
}

static const http_parser_settings callbacks = {
	.on_url = on_url,
	.on_status = on_status,
	.on_header_field = on_field,
	.on_header_value = on_value,
	.on_headers_complete = on_complete,
};

/* Bounds are ours: the head has been read whole before it comes here. */
static void
lift_limit(void)
{
	static bool done;

	if (!done)
		http_parser_set_max_header_size(UINT32_MAX);
	done = true;
}

/* Does the first line end in "HTTP/" digit "." digit? */
static bool
names_a_version(const char *p, size_t n)
{
	const char *lf = memchr(p, '\n', n);
	size_t end = lf != NULL ? (size_t)(lf - p) : 0;

	return end >= 10 && memcmp(p + end - 10, " HTTP/", 6) == 0 && p[end - 4] >= '0' &&
	    p[end - 4] <= '9' && p[end - 3] == '.' && p[end - 2] >= '0' && p[end - 2] <= '9' &&
	    p[end - 1] == '\r';
}

/* Is the first word of the line a method, though none that is known here? */
static bool
begins_with_method(const char *p, size_t n)
{
	const char *blank = memchr(p, ' ', n);

	return blank != NULL && http_is_token((struct str){ p, (size_t)(blank - p) });
}

static int
run_parser(http_parser *hp, enum http_parser_type type, struct parse *ps, const char *p, size_t n,
    const char **why)
{
	lift_limit();
	http_parser_init(hp, type);
	hp->allow_chunked_length = 1; /* framing is judged here, with words of our own */
	hp->data = ps;
	size_t used = http_parser_execute(hp, &callbacks, p, n);
	enum http_errno e = HTTP_PARSER_ERRNO(hp);
	if (ps->too_many) {
		*why = "too many header fields";
		return 431;
	}
	if (e == HPE_INVALID_VERSION && names_a_version(p, n)) {
		*why = "HTTP version";
		return 505;
	}
	if (e != HPE_OK) {
		*why = http_errno_description(e);
		return e == HPE_INVALID_METHOD && begins_with_method(p, n) ? 501 : 400;
	}
	if (!ps->complete || used != n || ps->folded) {
		*why = "lines of the head";
		return 400;
	}
	return 0;
}

/* ---- fields ---- */

static const struct {
	struct str name;
	enum http_field_id id;
} known_fields[] = {
	{ STR_LIT("te"), HTTP_FIELD_TE },
	{ STR_LIT("host"), HTTP_FIELD_HOST },
	{ STR_LIT("expect"), HTTP_FIELD_EXPECT },
	{ STR_LIT("trailer"), HTTP_FIELD_TRAILER },
	{ STR_LIT("upgrade"), HTTP_FIELD_UPGRADE },
	{ STR_LIT("connection"), HTTP_FIELD_CONNECTION },
	{ STR_LIT("keep-alive"), HTTP_FIELD_KEEP_ALIVE },
	{ STR_LIT("content-type"), HTTP_FIELD_CONTENT_TYPE },
	{ STR_LIT("content-length"), HTTP_FIELD_CONTENT_LENGTH },
	{ STR_LIT("proxy-connection"), HTTP_FIELD_PROXY_CONNECTION },
	{ STR_LIT("transfer-encoding"), HTTP_FIELD_TRANSFER_ENCODING },
};

static enum http_field_id
field_id(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(known_fields); i++)
		if (name.n == known_fields[i].name.n &&
		    (name.p[0] | 0x20) == known_fields[i].name.p[0] &&
		    str_caseeq(name, known_fields[i].name))
			return known_fields[i].id;
	return HTTP_FIELD_OTHER;
}

static bool
parse_length(struct str s, uint64_t *out)
{
	uint64_t v = 0;

	if (s.n == 0 || s.n > 18)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	*out = v;
	return true;
}

/* "timeout=5, max=100" */
static int64_t
parse_keep_alive(struct str value)
{
	struct str item;
	int64_t seconds;

	while (str_split(&value, ',', &item)) {
		item = str_trim(item);
		if (!str_casestarts(item, "timeout="))
			continue;
		item = (struct str){ item.p + 8, item.n - 8 };
		if (str_to_int64(str_trim(item), &seconds) && seconds >= 0 && seconds < 86400)
			return seconds * 1000;
	}
	return -1;
}

/* What the framing fields say; gathered in one pass. */
struct framing_seen {
	bool length, chunked, coding;
	uint64_t n;
	unsigned hosts;
	bool te_twice;
};

static int
see_field(struct http_head *h, struct http_field *f, struct framing_seen *seen, const char **why)
{
	f->id = field_id(f->name);
	switch (f->id) {
	case HTTP_FIELD_CONTENT_LENGTH:
		if (seen->length || !parse_length(f->value, &seen->n)) {
			*why = seen->length ? "second Content-Length" : "Content-Length";
			return 400;
		}
		seen->length = true;
		break;
	case HTTP_FIELD_TRANSFER_ENCODING:
		seen->te_twice = seen->coding;
		seen->coding = true;
		seen->chunked = str_caseeq(f->value, STR_LIT("chunked"));
		break;
	case HTTP_FIELD_HOST:
		h->host = f->value;
		seen->hosts++;
		break;
	case HTTP_FIELD_CONTENT_TYPE:
		h->content_type = f->value;
		break;
	case HTTP_FIELD_EXPECT:
		if (!h->response && !str_caseeq(f->value, STR_LIT("100-continue"))) {
			*why = "Expect";
			return 417;
		}
		h->expect_continue = true;
		break;
	case HTTP_FIELD_CONNECTION:
		h->connection = f->value;
		h->connections_n++;
		break;
	case HTTP_FIELD_KEEP_ALIVE:
		h->keep_alive_ms = parse_keep_alive(f->value);
		break;
	default:
		break;
	}
	return 0;
}

static int
check_fields(struct http_head *h, struct framing_seen *seen, const char **why)
{
	for (unsigned i = 0; i < h->fields_n; i++) {
		struct http_field *f = &h->fields[i];
		if (!http_is_token(f->name)) {
			*why = "name of a header field";
			return 400;
		}
		while (f->value.n > 0 &&
		    (f->value.p[f->value.n - 1] == ' ' || f->value.p[f->value.n - 1] == '\t'))
			f->value.n--;
		if (!all_of(f->value, CHAR_VALUE)) {
			*why = "control character in a header field";
			return 400;
		}
		int rc = see_field(h, f, seen, why);
		if (rc != 0)
			return rc;
	}
	if (seen->coding && (seen->te_twice || !seen->chunked || seen->length || h->minor == 0)) {
		*why = "Transfer-Encoding";
		return 400;
	}
	return 0;
}

static bool
connection_says(const struct http_head *h, struct str token)
{
	if (h->connections_n <= 1)
		return h->connections_n == 1 && http_list_has(h->connection, token);
	for (unsigned i = 0; i < h->fields_n; i++)
		if (h->fields[i].id == HTTP_FIELD_CONNECTION &&
		    http_list_has(h->fields[i].value, token))
			return true;
	return false;
}

static void
settle_keep_alive(struct http_head *h)
{
	if (connection_says(h, STR_LIT("close")))
		h->keep_alive = false;
	else
		h->keep_alive = h->minor >= 1 || connection_says(h, STR_LIT("keep-alive"));
}

bool
http_head_is_hop(const struct http_head *h, const struct http_field *f)
{
	switch (f->id) {
	case HTTP_FIELD_CONNECTION:
	case HTTP_FIELD_KEEP_ALIVE:
	case HTTP_FIELD_TE:
	case HTTP_FIELD_TRAILER:
	case HTTP_FIELD_TRANSFER_ENCODING:
	case HTTP_FIELD_UPGRADE:
	case HTTP_FIELD_PROXY_CONNECTION:
		return true;
	case HTTP_FIELD_CONTENT_LENGTH:
	case HTTP_FIELD_CONTENT_TYPE:
	case HTTP_FIELD_HOST:
		return false; /* a message cannot do without them: naming them in Connection is
		                 nonsense */
	default:
		return h->connections_n > 0 && connection_says(h, f->name);
	}
}

/* ---- requests ---- */

static bool
is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

/* What follows the name or address: nothing or ":" and a port, which may be empty (RFC 3986 3.2.3).
 */
static bool
port_is_sane(struct str s)
{
	return s.n == 0 || (s.p[0] == ':' && is_digits((struct str){ s.p + 1, s.n - 1 }));
}

/* "[", an address of version 6 or later, "]". */
static bool
literal_is_sane(struct str host)
{
	const char *end = memchr(host.p, ']', host.n);

	if (end == NULL || end == host.p + 1)
		return false;
	for (const char *p = host.p + 1; p < end; p++)
		if (!(char_class[(unsigned char)*p] & CHAR_TOKEN) && *p != ':')
			return false;
	return port_is_sane((struct str){ end + 1, (size_t)(host.p + host.n - end - 1) });
}

/* reg-name or address with an optional port: no blanks, no path, no user. An empty Host is allowed
 * by RFC 9112 3.2. */
static bool
host_is_sane(struct str host)
{
	if (!all_of(host, CHAR_TARGET))
		return false;
	if (host.n > 0 && host.p[0] == '[')
		return literal_is_sane(host);
	for (size_t i = 0; i < host.n; i++) {
		if (host.p[i] == ':')
			return port_is_sane((struct str){ host.p + i, host.n - i });
		if (strchr("/?#@\\\"<>^`{|},[]", host.p[i]) != NULL)
			return false;
	}
	return true;
}

static void
split_query(struct http_head *h, struct str s)
{
	const char *q = s.n > 0 ? memchr(s.p, '?', s.n) : NULL;

	h->path = s;
	h->query = (struct str){ NULL, 0 };
	if (q == NULL)
		return;
	h->path.n = (size_t)(q - s.p);
	h->query = (struct str){ q + 1, s.n - h->path.n - 1 };
}

/* origin-form, absolute-form (whose authority takes the place of Host) or the asterisk of OPTIONS.
 */
static bool
split_target(struct http_head *h)
{
	struct str t = h->target;

	if (!http_is_target(t))
		return false;
	if (t.p[0] == '/') {
		split_query(h, t);
		return true;
	}
	if (t.n == 1 && t.p[0] == '*' && str_eq(h->method, STR_LIT("OPTIONS"))) {
		split_query(h, t);
		return true;
	}
	if (!str_casestarts(t, "http://") && !str_casestarts(t, "https://"))
		return false;
	size_t at = str_find(t, STR_LIT("://")) + 3;
	size_t end = at;
	while (end < t.n && t.p[end] != '/' && t.p[end] != '?')
		end++;
	struct str authority = { t.p + at, end - at };
	if (authority.n == 0 || !host_is_sane(authority))
		return false;
	h->host = authority;
	split_query(h, (struct str){ t.p + end, t.n - end });
	if (h->path.n == 0)
		h->path = STR_LIT("/");
	return true;
}

/* "METHOD SP target SP HTTP/1.x CRLF" and not a blank more. */
static bool
request_line_is_exact(const struct http_head *h, const char *p, size_t n)
{
	size_t line = h->method.n + 1 + h->target.n + 1 + 8 + 2;

	return line <= n && memcmp(p, h->method.p, h->method.n) == 0 && p[h->method.n] == ' ' &&
	    h->target.p == p + h->method.n + 1 && h->target.p[h->target.n] == ' ' &&
	    p[line - 1] == '\n' && memcmp(p + line - 10, "HTTP/1.", 7) == 0;
}

static void
reset(struct http_head *h, bool response)
{
	h->fields_n = 0;
	h->response = response;
	h->minor = 1;
	h->keep_alive = false;
	h->framing = HTTP_NO_BODY;
	h->length = 0;
	h->connections_n = 0;
	h->expect_continue = false;
	h->status = 0;
	h->keep_alive_ms = -1;
	h->content_type = h->connection = h->method = h->target = h->path = h->query = h->host =
	    h->reason = (struct str){ NULL, 0 };
}

int
http_head_parse_request(struct http_head *h, const char *p, size_t n, const char **why)
{
	struct parse ps = { .h = h };
	struct framing_seen seen = { 0 };
	http_parser hp;

	reset(h, false);
	int rc = run_parser(&hp, HTTP_REQUEST, &ps, p, n, why);
	if (rc != 0)
		return rc;
	if (hp.http_major != 1) {
		*why = "HTTP version";
		return hp.http_major == 0 ? 400 : 505;
	}
	h->minor = hp.http_minor > 1 ? 1 : hp.http_minor;
	h->method = str_of(http_method_str((enum http_method)hp.method));
	*why = "request line";
	if (h->target.n == 0 || !request_line_is_exact(h, p, n))
		return 400;
	if (h->target.n > HTTP_TARGET_MAX)
		return 414;
	if (hp.method == HTTP_CONNECT)
		return 501;
	rc = check_fields(h, &seen, why);
	if (rc != 0)
		return rc;
	*why = "Host";
	if (seen.hosts > 1 || (seen.hosts == 0 && h->minor == 1) || !host_is_sane(h->host))
		return 400;
	*why = "request target";
	if (!split_target(h))
		return 400;
	settle_keep_alive(h);
	h->framing = seen.chunked       ? HTTP_CHUNKED
	    : seen.length && seen.n > 0 ? HTTP_LENGTH
					: HTTP_NO_BODY;
	h->length = seen.n;
	h->empty_body = seen.length && seen.n == 0;
	h->expect_continue = h->expect_continue && h->minor == 1;
	return 0;
}

/* ---- answers ---- */

int
http_head_parse_response(
    struct http_head *h, const char *p, size_t n, bool to_head, const char **why)
{
	struct parse ps = { .h = h };
	struct framing_seen seen = { 0 };
	http_parser hp;

	reset(h, true);
	int rc = run_parser(&hp, HTTP_RESPONSE, &ps, p, n, why);
	if (rc != 0)
		return rc;
	*why = "status line";
	if (hp.http_major != 1 || hp.status_code < 100 || hp.status_code > 999 || n < 12 ||
	    memcmp(p, "HTTP/1.", 7) != 0)
		return 400;
	h->minor = hp.http_minor > 1 ? 1 : hp.http_minor;
	h->status = hp.status_code;
	if (!all_of(h->reason, CHAR_VALUE))
		return 400;
	rc = check_fields(h, &seen, why);
	if (rc != 0)
		return rc;
	settle_keep_alive(h);
	h->length = seen.n;
	if (to_head || h->status < 200 || h->status == 204 || h->status == 304)
		h->framing = HTTP_NO_BODY;
	else if (seen.chunked)
		h->framing = HTTP_CHUNKED;
	else if (seen.length)
		h->framing = seen.n > 0 ? HTTP_LENGTH : HTTP_NO_BODY;
	else
		h->framing = HTTP_UNTIL_EOF;
	if (h->framing == HTTP_UNTIL_EOF)
		h->keep_alive = false;
	return 0;
}
