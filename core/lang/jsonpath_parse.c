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

bool
jsonpath_read_quoted(struct jsonpath_reader *r, struct str *out)
{
	char quote = r->text.p[r->i];
	size_t begin = ++r->i, n = 0;
	char *text = arena_alloc(r->arena, r->text.n - begin + 1);
	while (r->i < r->text.n && r->text.p[r->i] != quote) {
		if (r->text.p[r->i] == '\\' && r->i + 1 < r->text.n)
			r->i++;
		text[n++] = r->text.p[r->i++];
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
read_names(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	struct str names[JSONPATH_ITEMS_MAX];
	size_t n = 0;
	do {
		jsonpath_skip_blanks(r);
		char c = jsonpath_peek(r);
		if (c != '\'' && c != '"')
			return jsonpath_wrong(r, "a property in quotes is missing");
		if (n == JSONPATH_ITEMS_MAX)
			return jsonpath_wrong(r, "more than %d properties", JSONPATH_ITEMS_MAX);
		if (!jsonpath_read_quoted(r, &names[n++]))
			return false;
	} while (take(r, ','));
	t->type = JSONPATH_PROPERTY;
	t->u.property.names = arena_alloc(r->arena, n * sizeof *names);
	memcpy(t->u.property.names, names, n * sizeof *names);
	t->u.property.n = n;
	t->definite = n == 1;
	return true;
}

static bool
read_int(struct jsonpath_reader *r, int64_t *out)
{
	jsonpath_skip_blanks(r);
	size_t begin = r->i;
	if (jsonpath_peek(r) == '-')
		r->i++;
	while (jsonpath_peek(r) >= '0' && jsonpath_peek(r) <= '9')
		r->i++;
	if (!str_to_int64((struct str){ r->text.p + begin, r->i - begin }, out) ||
	    *out > INT32_MAX || *out < INT32_MIN) {
		r->i = begin;
		return jsonpath_wrong(r, "a whole number is missing");
	}
	return true;
}

static bool
read_indexes(struct jsonpath_reader *r, struct jsonpath_token *t, int64_t first)
{
	int64_t items[JSONPATH_ITEMS_MAX];
	size_t n = 0;
	items[n++] = first;
	while (take(r, ',')) {
		if (n == JSONPATH_ITEMS_MAX)
			return jsonpath_wrong(r, "more than %d indexes", JSONPATH_ITEMS_MAX);
		if (!read_int(r, &items[n++]))
			return false;
	}
	t->type = JSONPATH_INDEX;
	t->u.index.items = arena_alloc(r->arena, n * sizeof *items);
	memcpy(t->u.index.items, items, n * sizeof *items);
	t->u.index.n = n;
	t->definite = n == 1;
	return true;
}

/* 0, 0,1, 1:3, :3, -2: */
static bool
read_numbers(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	int64_t from = 0, to = 0;
	bool has_from = jsonpath_peek(r) != ':', has_to = false;
	if (has_from && !read_int(r, &from))
		return false;
	if (!take(r, ':'))
		return read_indexes(r, t, from);
	jsonpath_skip_blanks(r);
	if (jsonpath_peek(r) != ']') {
		has_to = true;
		if (!read_int(r, &to))
			return false;
	}
	if (!has_from && !has_to)
		return jsonpath_wrong(r, "a slice needs a bound");
	t->type = JSONPATH_SLICE;
	t->u.slice.from = from;
	t->u.slice.to = to;
	t->u.slice.has_from = has_from;
	t->u.slice.has_to = has_to;
	return true;
}

static bool
read_bracket(struct jsonpath_reader *r, struct jsonpath_token *t)
{
	r->i++;
	jsonpath_skip_blanks(r);
	char c = jsonpath_peek(r);
	bool read;
	if (c == '*') {
		r->i++;
		t->type = JSONPATH_WILDCARD;
		read = true;
	} else if (c == '?') {
		r->i++;
		if (!take(r, '('))
			return jsonpath_wrong(r, "a filter begins with [?(");
		t->type = JSONPATH_FILTER;
		read = jsonpath_read_filter(r, &t->u.filter);
	} else if (c == '\'' || c == '"') {
		read = read_names(r, t);
	} else {
		read = read_numbers(r, t);
	}
	return read && (take(r, ']') || jsonpath_wrong(r, "a ] is missing"));
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

/* The tokens from r->i on. `dotted`: the first may be a name without a dot before it. */
static bool
read_tokens(struct jsonpath_reader *r, bool in_filter, bool dotted, struct jsonpath_code *code)
{
	struct jsonpath_token tokens[JSONPATH_TOKENS_MAX];
	size_t n = 0;
	while (r->i < r->text.n) {
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
