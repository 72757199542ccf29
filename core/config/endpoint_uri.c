/* Endpoint uris as text. */
#include "core/config/endpoint_uri.h"

#include "core/base/buf.h"

#include <stdlib.h>

static bool
is_scheme(struct str s)
{
	if (s.n == 0 || !((s.p[0] | 0x20) >= 'a' && (s.p[0] | 0x20) <= 'z'))
		return false;
	for (size_t i = 1; i < s.n; i++) {
		char c = s.p[i];
		if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') &&
		    c != '+' && c != '-' && c != '.')
			return false;
	}
	return true;
}

struct uri_parts
uri_split(struct str uri)
{
	struct uri_parts parts = { 0 };
	struct str rest = str_trim(uri);
	size_t question = str_find(rest, STR_LIT("?")), colon;

	if (question != SIZE_MAX) {
		parts.query = (struct str){ rest.p + question + 1, rest.n - question - 1 };
		rest.n = question;
	}
	colon = str_find(rest, STR_LIT(":"));
	parts.scheme = (struct str){ rest.p, colon == SIZE_MAX ? rest.n : colon };
	if (!is_scheme(parts.scheme))
		return (struct uri_parts){
			.scheme = { rest.p, 0 }, .path = rest, .query = parts.query
		};
	if (colon == SIZE_MAX) {
		parts.path = (struct str){ rest.p + rest.n, 0 };
		return parts;
	}
	parts.path = (struct str){ rest.p + colon + 1, rest.n - colon - 1 };
	if (str_starts(parts.path, "//"))
		parts.path = (struct str){ parts.path.p + 2, parts.path.n - 2 };
	return parts;
}

struct uri_option *
uri_options_add(struct arena *a, struct uri_options *os)
{
	if (os->n == os->cap) {
		size_t cap = os->cap ? 2 * os->cap : 8;
		struct uri_option *items = arena_alloc(a, cap * sizeof(struct uri_option));
		if (os->n > 0)
			memcpy(items, os->items, os->n * sizeof(struct uri_option));
		os->items = items;
		os->cap = cap;
	}
	struct uri_option *o = &os->items[os->n++];
	*o = (struct uri_option){ 0 };
	return o;
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

bool
endpoint_uri_decode(struct arena *a, struct str in, bool plus, struct str *out)
{
	if (memchr(in.p, '%', in.n) == NULL && (!plus || memchr(in.p, '+', in.n) == NULL)) {
		*out = in;
		return true;
	}
	char *p = arena_alloc(a, in.n + 1);
	size_t n = 0;
	for (size_t i = 0; i < in.n; i++) {
		char c = in.p[i];
		if (c == '%') {
			int high = i + 2 < in.n ? hex(in.p[i + 1]) : -1,
			    low = i + 2 < in.n ? hex(in.p[i + 2]) : -1;
			if (high < 0 || low < 0 || (high == 0 && low == 0))
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		p[n++] = c;
	}
	p[n] = '\0';
	*out = (struct str){ p, n };
	return true;
}

struct str
uri_unwrap_raw(struct str s, bool *raw)
{
	*raw = (str_starts(s, "RAW(") && s.p[s.n - 1] == ')') ||
	    (str_starts(s, "RAW{") && s.p[s.n - 1] == '}');
	return *raw ? (struct str){ s.p + 4, s.n - 5 } : s;
}

/* Where the option at the head of s ends: at "&", which may stand inside RAW(…). */
static size_t
option_length(struct str s)
{
	size_t equals = str_find(s, STR_LIT("=")), end = str_find(s, STR_LIT("&"));

	if (equals == SIZE_MAX || equals > end)
		return end == SIZE_MAX ? s.n : end;
	struct str value = { s.p + equals + 1, s.n - equals - 1 };
	if (!str_starts(value, "RAW(") && !str_starts(value, "RAW{"))
		return end == SIZE_MAX ? s.n : end;
	char close = value.p[3] == '(' ? ')' : '}';
	for (size_t i = 4; i < value.n; i++) {
		if (value.p[i] == close && (i + 1 == value.n || value.p[i + 1] == '&'))
			return equals + 1 + i + 1;
	}
	return end == SIZE_MAX ? s.n : end;
}

enum hinny_rc
uri_parse_query(struct arena *a, struct str query, struct uri_options *os, struct hinny_error *err)
{
	while (query.p != NULL && query.n > 0) {
		size_t n = option_length(query);
		struct str item = { query.p, n };
		size_t equals = str_find(item, STR_LIT("=")), skip = n < query.n ? n + 1 : n;
		query = (struct str){ query.p + skip, query.n - skip };
		if (n == 0)
			continue; /* "&&" */
		struct uri_option *o = uri_options_add(a, os);
		o->written = item;
		o->name = (struct str){ item.p, equals == SIZE_MAX ? n : equals };
		o->value = equals == SIZE_MAX ? (struct str){ item.p + n, 0 }
					      : (struct str){ item.p + equals + 1, n - equals - 1 };
		o->value = uri_unwrap_raw(o->value, &o->raw);
		struct str name = o->name; /* its value may be a secret: it is not told */
		if (name.n == 0)
			return hinny_error_set(err, HINNY_EINVAL, "an option has no name, but a value behind \"=\"");
		if (!endpoint_uri_decode(a, o->name, true, &o->name) ||
		    (!o->raw && !endpoint_uri_decode(a, o->value, true, &o->value)))
			return hinny_error_set(err, HINNY_EINVAL,
			    "the option \"%.*s\" has a \"%%\" without two hexadecimal digits "
			    "behind it",
			    STR_FMT(name));
	}
	return HINNY_OK;
}

static bool
is_plain(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
	    c == '-' || c == '*' || c == '_';
}

static void
add_encoded(struct buf *b, char c)
{
	if (c == ' ')
		(void)buf_add_char(b, '+');
	else
		(void)buf_printf(b, "%%%02X", (unsigned char)c);
}

static const char *
take(struct arena *a, struct buf *b)
{
	const char *text = arena_strndup(a, b->p ? b->p : "", b->n);

	buf_fini(b);
	return text;
}

const char *
uri_encode(struct arena *a, struct str s)
{
	struct buf b;

	buf_init(&b, 0);
	for (size_t i = 0; i < s.n; i++) {
		if (is_plain(s.p[i]))
			(void)buf_add_char(&b, s.p[i]);
		else
			add_encoded(&b, s.p[i]);
	}
	return take(a, &b);
}

const char *
uri_encode_template(struct arena *a, struct str s)
{
	unsigned depth = 0;
	struct buf b;
	bool raw;

	(void)uri_unwrap_raw(s, &raw);
	buf_init(&b, 0);
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '{' && (depth > 0 || (i > 0 && s.p[i - 1] == '$')))
			depth++;
		else if (c == '}' && depth > 0)
			depth--;
		if (!raw && depth == 0 &&
		    ((unsigned char)c <= ' ' || c == '%' || c == '+' || c == '&'))
			add_encoded(&b, c);
		else
			(void)buf_add_char(&b, c);
	}
	return take(a, &b);
}

static void
add_options(struct buf *b, struct arena *a, const struct uri_option *const *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct uri_option *o = order[i];
		(void)buf_printf(b, "%s%s=", i == 0 ? "?" : "&", uri_encode(a, o->name));
		if (o->raw)
			(void)buf_printf(b, "RAW(%.*s)", STR_FMT(o->value));
		else
			(void)buf_printf(b, "%s", uri_encode(a, o->value));
	}
}

static int
compare_names(const void *x, const void *y)
{
	struct str a = (*(const struct uri_option *const *)x)->name,
		   b = (*(const struct uri_option *const *)y)->name;
	size_t n = a.n < b.n ? a.n : b.n;
	int order = memcmp(a.p, b.p, n);

	if (order != 0)
		return order;
	return a.n < b.n ? -1 : a.n > b.n;
}

/* Those that are not part of the path. */
static const struct uri_option **
list_options(struct arena *a, const struct uri_options *os, size_t *n)
{
	const struct uri_option **order = arena_alloc(a, (os->n + 1) * sizeof(*order));

	*n = 0;
	for (size_t i = 0; i < os->n; i++) {
		if (!os->items[i].used)
			order[(*n)++] = &os->items[i];
	}
	return order;
}

const char *
uri_normalise(struct arena *a, struct str scheme, struct str path, const struct uri_options *os)
{
	size_t n;
	const struct uri_option **order = list_options(a, os, &n);
	struct buf b;

	buf_init(&b, 0);
	(void)buf_printf(&b, "%.*s://%.*s", STR_FMT(scheme), STR_FMT(path));
	qsort(order, n, sizeof(*order), compare_names);
	add_options(&b, a, order, n);
	return take(a, &b);
}

const char *
uri_join(struct arena *a, struct str scheme, struct str path, const struct uri_options *os)
{
	size_t n;
	const struct uri_option **order = list_options(a, os, &n);
	struct buf b;

	buf_init(&b, 0);
	(void)buf_printf(&b, "%.*s:%.*s", STR_FMT(scheme), STR_FMT(path));
	add_options(&b, a, order, n);
	return take(a, &b);
}
