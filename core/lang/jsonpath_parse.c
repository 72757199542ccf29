/* Paths: $.a['b'][0][1:3][*]..c[?(@.d > 1)].length() and what Jayway's parser takes beside. */
#include "core/lang/jsonpath_priv.h"

#include "core/base/assert.h"

#include <stdio.h>

bool
jsonpath_wrong(struct jsonpath_reader *r, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	(void)hinny_error_set(r->err, HINNY_EINVAL, "%s", text);
	return false;
}

char
jsonpath_peek(const struct jsonpath_reader *r)
{
	return r->i < r->text.n ? r->text.p[r->i] : '\0';
}

void
jsonpath_skip_blanks(struct jsonpath_reader *r)
{
	while (r->i < r->text.n && strchr(" \t\r\n", r->text.p[r->i]) != NULL &&
	    r->text.p[r->i] != '\0')
		r->i++;
}

static bool
take(struct jsonpath_reader *r, char c)
{
	jsonpath_skip_blanks(r);
	if (jsonpath_peek(r) != c || r->i >= r->text.n)
		return false;
	r->i++;
	return true;
}

static size_t
put_utf8(char *p, uint32_t c)
{
	if (c < 0x80) {
		p[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		p[i] = (char)(0x80 | (c & 0x3f));
	p[0] = (char)((0xf00 >> n & 0xff) | c);
	return n;
}

/* The four digits behind \u; false: they are none. */
static bool
read_unit(const struct jsonpath_reader *r, size_t at, uint32_t *out)
{
	*out = 0;
	for (size_t i = at; i < at + 4; i++) {
		char c = i < r->text.n ? r->text.p[i] : '\0';
		char low = (char)(c | 32);
		bool letter = low >= 'a' && low <= 'f';
		if (!letter && !(c >= '0' && c <= '9'))
			return false;
		*out = *out << 4 | (uint32_t)(letter ? low - 'a' + 10 : c - '0');
	}
	return true;
}

/* \uXXXX, or two of them that are one character. r->i stands at the u. */
static bool
read_unicode(struct jsonpath_reader *r, char *text, size_t *n)
{
	uint32_t c, low;
	if (!read_unit(r, r->i + 1, &c))
		return jsonpath_wrong(r, "\\u needs four hexadecimal digits");
	r->i += 5;
	if (c >= 0xdc00 && c < 0xe000)
		return jsonpath_wrong(r, "half a surrogate pair");
	if (c >= 0xd800 && c < 0xdc00) {
		bool pair = r->i + 1 < r->text.n && r->text.p[r->i] == '\\' &&
		    r->text.p[r->i + 1] == 'u' && read_unit(r, r->i + 2, &low) && low >= 0xdc00 &&
		    low < 0xe000;
		if (!pair)
			return jsonpath_wrong(r, "half a surrogate pair");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		r->i += 6;
	}
	*n += put_utf8(text + *n, c);
	return true;
}

/* What stands behind a backslash. */
static bool
read_escape(struct jsonpath_reader *r, char quote, char *text, size_t *n)
{
	static const char from[] = "bfnrt/\\", to[] = "\b\f\n\r\t/\\";
	char c = jsonpath_peek(r);
	const char *known = c != '\0' ? strchr(from, c) : NULL;
	if (c == 'u')
		return read_unicode(r, text, n);
	if (known == NULL && c != quote)
		return jsonpath_wrong(r, "\\%c is no escape", c);
	text[(*n)++] = known != NULL ? to[known - from] : c;
	r->i++;
	return true;
}

bool
jsonpath_read_quoted(struct jsonpath_reader *r, struct str *out)
{
	char quote = r->text.p[r->i];
	size_t begin = ++r->i, n = 0;
	char *text = arena_alloc(r->arena, r->text.n - begin + 1);
	while (r->i < r->text.n && r->text.p[r->i] != quote) {
		if ((unsigned char)r->text.p[r->i] < 0x20)
			return jsonpath_wrong(r, "a control character in quotes must be escaped");
		if (r->text.p[r->i] != '\\') {
			text[n++] = r->text.p[r->i++];
			continue;
		}
		r->i++;
		if (r->i < r->text.n && !read_escape(r, quote, text, &n))
			return false;
	}
	if (r->i >= r->text.n) {
		r->i = begin - 1;
		return jsonpath_wrong(r, "a text in quotes is not closed");
	}
	r->i++;
	*out = (struct str){ text, n };
	return true;
}

/* ---- in brackets ---- */

static bool
read_name_in_quotes(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	struct str *name = ARENA_NEW(r->arena, struct str);
	t->type = JSONPATH_PROPERTY;
	t->definite = true;
	t->u.property.names = name;
	t->u.property.n = 1;
	return jsonpath_read_quoted(r, name);
}

/* Whole numbers that a double keeps, without needless zeros. */
static bool
read_int(struct jsonpath_reader *r, int64_t *out)
{
	static const int64_t most = (1ll << 53) - 1;
	jsonpath_skip_blanks(r);
	size_t begin = r->i;
	if (jsonpath_peek(r) == '-')
		r->i++;
	size_t digits = r->i;
	while (jsonpath_peek(r) >= '0' && jsonpath_peek(r) <= '9')
		r->i++;
	bool zero = r->i > digits && r->text.p[digits] == '0';
	if (!str_to_int64((struct str){ r->text.p + begin, r->i - begin }, out) || *out > most ||
	    *out < -most || (zero && r->i - begin > 1)) {
		r->i = begin;
		return jsonpath_wrong(r, "a whole number is missing");
	}
	return true;
}

/* A bound of a slice, when there is one. */
static bool
read_bound(struct jsonpath_reader *r, int64_t *out, bool *has)
{
	jsonpath_skip_blanks(r);
	char c = jsonpath_peek(r);
	*has = c == '-' || (c >= '0' && c <= '9');
	return !*has || read_int(r, out);
}

/* 0, 1:3, :3, -2:, ::2 */
static bool
read_numbers(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	int64_t from = 0, to = 0, step = 1;
	bool has_from = false, has_to = false, has_step = false;
	if (jsonpath_peek(r) != ':') {
		has_from = true;
		if (!read_int(r, &from))
			return false;
	}
	if (!take(r, ':')) {
		t->type = JSONPATH_INDEX;
		t->definite = true;
		t->u.index.items = ARENA_NEW(r->arena, int64_t);
		t->u.index.items[0] = from;
		t->u.index.n = 1;
		return true;
	}
	if (!read_bound(r, &to, &has_to) ||
	    (take(r, ':') && !read_bound(r, &step, &has_step)))
		return false;
	t->type = JSONPATH_SLICE;
	t->u.slice.from = from;
	t->u.slice.to = to;
	t->u.slice.step = step;
	t->u.slice.has_from = has_from;
	t->u.slice.has_to = has_to;
	return true;
}

/* ?( … ) as Jayway has it, or ? … as RFC 9535 does. */
static bool
read_filter(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	size_t begin = ++r->i;
	bool outer = r->strict, read;
	t->type = JSONPATH_FILTER;
	if (!outer && take(r, '(')) {
		read = jsonpath_read_condition(r, &t->u.filter.condition);
		bool closed = read && take(r, ')');
		jsonpath_skip_blanks(r);
		if (closed && jsonpath_peek(r) == ']')
			return true;
		if (read && !closed) /* said unless it is one of RFC 9535 */
			(void)jsonpath_wrong(r, "expected && or || or )");
		struct hinny_error first = { .rc = HINNY_OK };
		size_t at = r->i;
		if (!closed)
			first = *r->err;
		r->i = begin;
		r->strict = t->u.filter.strict = true;
		bool again = jsonpath_read_condition(r, &t->u.filter.condition);
		r->strict = false;
		if (again || closed)
			return again;
		r->i = at;
		*r->err = first;
		return false;
	}
	r->strict = t->u.filter.strict = true;
	read = jsonpath_read_condition(r, &t->u.filter.condition);
	r->strict = outer;
	return read;
}

static bool
read_selector(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	jsonpath_skip_blanks(r);
	switch (jsonpath_peek(r)) {
	case '*':
		r->i++;
		t->type = JSONPATH_WILDCARD;
		return true;
	case '?':
		return read_filter(r, t);
	case '\'':
	case '"':
		return read_name_in_quotes(r, t);
	default:
		return read_numbers(r, t);
	}
}

/* Names alone are one token, and so are indexes: Jayway gives one object of the former. */
static void
join_selectors(
    struct jsonpath_reader *r, const struct jsonpath_token *all, size_t n, struct jsonpath_token *t)
{
	bool same = true;
	for (size_t i = 0; i < n; i++)
		same = same && all[i].type == all[0].type &&
		    ((all[i].type == JSONPATH_PROPERTY && !r->strict) ||
			all[i].type == JSONPATH_INDEX);
	if (!same) {
		t->type = JSONPATH_UNION;
		t->u.several.n = n;
		t->u.several.items = arena_alloc(r->arena, n * sizeof *all);
		memcpy(t->u.several.items, all, n * sizeof *all);
		return;
	}
	t->type = all[0].type;
	if (t->type == JSONPATH_PROPERTY) {
		t->u.property.n = n;
		t->u.property.names = arena_alloc(r->arena, n * sizeof(struct str));
		for (size_t i = 0; i < n; i++)
			t->u.property.names[i] = all[i].u.property.names[0];
	} else {
		t->u.index.n = n;
		t->u.index.items = arena_alloc(r->arena, n * sizeof(int64_t));
		for (size_t i = 0; i < n; i++)
			t->u.index.items[i] = all[i].u.index.items[0];
	}
}

static bool
read_bracket(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	struct jsonpath_token *all =
	    arena_zalloc(r->arena, JSONPATH_SELECTORS_FIRST * sizeof *all);
	size_t n = 0, cap = JSONPATH_SELECTORS_FIRST;
	r->i++;
	do {
		if (n == JSONPATH_ITEMS_MAX)
			return jsonpath_wrong(r, "more than %d selectors", JSONPATH_ITEMS_MAX);
		if (n == cap) {
			struct jsonpath_token *more =
			    arena_zalloc(r->arena, JSONPATH_ITEMS_MAX * sizeof *more);
			memcpy(more, all, n * sizeof *more);
			all = more;
			cap = JSONPATH_ITEMS_MAX;
		}
		if (!read_selector(r, &all[n++]))
			return false;
	} while (take(r, ','));
	if (!take(r, ']'))
		return jsonpath_wrong(r, "a ] is missing");
	if (n == 1)
		*t = all[0];
	else
		join_selectors(r, all, n, t);
	return true;
}

/* ---- behind a dot ---- */

static bool
ends_name(char c, bool in_filter)
{
	return c == '\0' || strchr(in_filter ? ".[(])<>=~!&|, \t\r\n" : ".[( \t\r\n", c) != NULL;
}

static bool
read_params(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	struct jsonpath_operand params[16];
	size_t n = 0;
	r->i++;
	while (!take(r, ')')) {
		if (n > 0 && !take(r, ','))
			return jsonpath_wrong(r, "a ) is missing");
		if (n == ARRAY_LEN(params))
			return jsonpath_wrong(r, "too many arguments");
		if (!jsonpath_read_operand(r, &params[n++]))
			return false;
	}
	t->u.function.n = n;
	t->u.function.params = arena_alloc(r->arena, n * sizeof *params + 1);
	memcpy(t->u.function.params, params, n * sizeof *params);
	return true;
}

static bool
read_function(struct jsonpath_reader *r, struct str name, struct jsonpath_token *t)
{
	t->type = JSONPATH_FUNCTION;
	t->definite = true;
	t->u.function.fn = jsonpath_function_find(name);
	if (t->u.function.fn == NULL) {
		r->i -= name.n;
		return jsonpath_wrong(r, "function \"%.*s\" is not known", STR_FMT(name));
	}
	return read_params(r, t);
}

static bool
read_name(struct jsonpath_reader *r, bool in_filter, struct jsonpath_token *t)
{
	if (jsonpath_peek(r) == '*' && r->i < r->text.n) {
		r->i++;
		t->type = JSONPATH_WILDCARD;
		return true;
	}
	size_t begin = r->i;
	while (r->i < r->text.n && !ends_name(r->text.p[r->i], in_filter))
		r->i++;
	struct str name = { r->text.p + begin, r->i - begin };
	if (name.n == 0)
		return jsonpath_wrong(r, "a property is missing");
	if (jsonpath_peek(r) == '(')
		return read_function(r, name, t);
	t->type = JSONPATH_PROPERTY;
	t->definite = true;
	t->u.property.names = arena_alloc(r->arena, sizeof name);
	t->u.property.names[0] = name;
	t->u.property.n = 1;
	return true;
}

/* ---- paths ---- */

static void
show_token(struct buf *b, const struct jsonpath_token *t)
{
	switch (t->type) {
	case JSONPATH_PROPERTY:
		for (size_t i = 0; i < t->u.property.n; i++)
			(void)buf_printf(
			    b, "%s'%.*s'", i == 0 ? "[" : ",", STR_FMT(t->u.property.names[i]));
		(void)buf_add_char(b, ']');
		break;
	case JSONPATH_INDEX:
		for (size_t i = 0; i < t->u.index.n; i++)
			(void)buf_printf(
			    b, "%c%lld", i == 0 ? '[' : ',', (long long)t->u.index.items[i]);
		(void)buf_add_char(b, ']');
		break;
	case JSONPATH_FUNCTION:
		(void)buf_printf(b, ".%s()", t->u.function.fn->name);
		break;
	default:
		(void)buf_add_str(b,
		    t->type == JSONPATH_SCAN           ? STR_LIT("..")
			: t->type == JSONPATH_WILDCARD ? STR_LIT("[*]")
			: t->type == JSONPATH_SLICE    ? STR_LIT("[:]")
			: t->type == JSONPATH_UNION    ? STR_LIT("[,]")
						       : STR_LIT("[?]"));
		break;
	}
}

static void
finish(struct arena *a, struct jsonpath_code *code, const struct jsonpath_token *tokens, size_t n)
{
	struct buf b;
	buf_init(&b, 512);
	(void)buf_add_char(&b, code->current ? '@' : '$');
	code->definite = true;
	for (size_t i = 0; i < n; i++) {
		/* several properties at the end make one object */
		bool merged = tokens[i].type == JSONPATH_PROPERTY && i + 1 == n;
		code->definite = code->definite && (tokens[i].definite || merged);
		show_token(&b, &tokens[i]);
	}
	code->n = n;
	code->tokens = arena_alloc(a, n * sizeof *tokens + 1);
	memcpy(code->tokens, tokens, n * sizeof *tokens);
	code->inverted =
	    n > 1 && tokens[0].type == JSONPATH_SCAN && tokens[n - 1].type == JSONPATH_FUNCTION;
	if (code->inverted)
		code->definite = true;
	code->shown = arena_strndup(a, b.n > 0 ? b.p : "$", b.n > 0 ? b.n : 1);
	buf_fini(&b);
}

/* Blanks may stand before a further segment. */
static void
skip_to_segment(struct jsonpath_reader *r)
{
	size_t at = r->i;
	jsonpath_skip_blanks(r);
	if (jsonpath_peek(r) != '.' && jsonpath_peek(r) != '[')
		r->i = at;
}

/* The tokens from r->i on. `dotted`: the first may be a name without a dot before it. */
static bool
read_tokens(struct jsonpath_reader *r, bool in_filter, bool dotted, struct jsonpath_code *code)
{
	struct jsonpath_token tokens[JSONPATH_TOKENS_MAX];
	size_t n = 0;
	while (r->i < r->text.n) {
		if (!dotted)
			skip_to_segment(r);
		char c = jsonpath_peek(r);
		if (n + 2 > JSONPATH_TOKENS_MAX)
			return jsonpath_wrong(r, "more than %d steps", JSONPATH_TOKENS_MAX - 1);
		memset(&tokens[n], 0, 2 * sizeof *tokens);
		bool scan = c == '.' && r->i + 1 < r->text.n && r->text.p[r->i + 1] == '.';
		if (scan)
			tokens[n++].type = JSONPATH_SCAN;
		r->i += scan ? 2 : c == '.' ? 1 : 0;
		if (c != '.' && c != '[' && !dotted)
			break;
		dotted = false;
		if (!(jsonpath_peek(r) == '[' ? read_bracket(r, &tokens[n])
					      : read_name(r, in_filter, &tokens[n])))
			return false;
		n++;
	}
	finish(r->arena, code, tokens, n);
	return true;
}

bool
jsonpath_read_path(struct jsonpath_reader *r, bool in_filter, struct jsonpath_code **out)
{
	struct jsonpath_code *code = ARENA_NEW(r->arena, struct jsonpath_code);
	char c = jsonpath_peek(r);
	bool marked = c == '$' || c == '@';
	if (r->depth >= JSONPATH_DEPTH_MAX)
		return jsonpath_wrong(r, "nested too deep");
	r->depth++;
	code->current = c == '@';
	r->i += marked;
	bool read = read_tokens(r, in_filter, !marked, code);
	r->depth--;
	*out = code;
	return read;
}

enum hinny_rc
jsonpath_parse(struct arena *a, struct str text, struct jsonpath_code **out, size_t *at,
    struct hinny_error *err)
{
	struct jsonpath_reader r = { .arena = a, .text = text, .err = err };
	*at = 0;
	jsonpath_skip_blanks(&r);
	if (r.i == text.n)
		return hinny_error_set(err, HINNY_EINVAL, "a path is missing");
	bool read = jsonpath_read_path(&r, false, out);
	jsonpath_skip_blanks(&r);
	if (read && r.i < text.n)
		read = jsonpath_wrong(&r, "unexpected \"%.*s\"",
		    (int)(text.n - r.i > 20 ? 20 : text.n - r.i), text.p + r.i);
	*at = r.i < text.n ? r.i : text.n;
	return read ? HINNY_OK : HINNY_EINVAL;
}
