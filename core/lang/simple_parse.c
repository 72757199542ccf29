/*
 * Templates and predicates of Simple. Both have functions in ${ }; beyond that they are two
 * languages: in a template all else is text (with four escapes and the operators that may follow a
 * "}"), in a predicate all else is grammar (spec: docs of the language, sections 1 and 2).
 */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/eip/variables.h"

#include <stdio.h>

/* ---- nodes ---- */

/* Where `at` stands in the expression; 0 for text that was put together of it. */
static size_t
position_of(const struct simple_parser *p, const char *at)
{
	uintptr_t i = (uintptr_t)at - (uintptr_t)p->base;
	return i <= p->length ? i : 0;
}

struct simple_node *
simple_error(struct simple_parser *p, const char *at, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	p->failed = true;
	(void)compile_error_in(p->c, p->e, position_of(p, at), "%s", text);
	return NULL;
}

struct simple_node *
simple_node_new(struct simple_parser *p, enum simple_type type, const char *at, uint32_t kids)
{
	struct simple_node *node = ARENA_NEW(p->arena, struct simple_node);
	node->type = (uint8_t)type;
	node->at = (uint32_t)position_of(p, at);
	node->n = kids;
	if (kids > 0)
		node->kids = arena_zalloc(p->arena, kids * sizeof *node->kids);
	return node;
}

struct simple_node *
simple_const(struct simple_parser *p, const char *at, struct value v)
{
	struct simple_node *node = simple_node_new(p, SIMPLE_CONST, at, 0);
	node->u.value = v;
	return node;
}

struct simple_node *
simple_body(struct simple_parser *p, const char *at)
{
	if (!p->in_chain)
		p->e->reads.flags |= ACCESS_BODY;
	return simple_node_new(p, SIMPLE_BODY, at, 0);
}

void
simple_record(struct simple_parser *p, enum simple_scope scope, struct str name)
{
	static const unsigned all[] = {
		[SIMPLE_IN_HEADERS] = ACCESS_HEADERS_ALL,
		[SIMPLE_IN_PROPERTIES] = ACCESS_PROPERTIES_ALL,
		[SIMPLE_IN_VARIABLES] = ACCESS_VARIABLES_ALL,
	};
	static void (*const add[])(struct compile *, struct access *, const char *) = {
		[SIMPLE_IN_HEADERS] = access_add_header,
		[SIMPLE_IN_PROPERTIES] = access_add_property,
		[SIMPLE_IN_VARIABLES] = access_add_variable,
	};
	if (name.p == NULL) {
		p->e->reads.flags |= all[scope];
	} else if (scope == SIMPLE_IN_VARIABLES && variables_is_shared(name)) {
		p->e->reads.flags |= ACCESS_STATE;
		variables_use(p->c);
	} else
		add[scope](p->c, &p->e->reads, arena_strndup(p->arena, name.p, name.n));
}

void
simple_record_key(struct simple_parser *p, const struct simple_key *key)
{
	simple_record(p, key->scope, key->full);
	if (key->path != NULL)
		simple_record(p, key->scope, key->name);
}

/* ---- templates ---- */

/* The text of a literal with its escapes read. */
static struct str
unescape(struct arena *a, struct str s)
{
	if (s.n == 0 || memchr(s.p, '\\', s.n) == NULL)
		return s;
	static const char from[] = "ntr}", to[] = "\n\t\r}";
	char *out = arena_alloc(a, s.n);
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++) {
		const char *known = s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] != '\0'
		    ? strchr(from, s.p[i + 1])
		    : NULL;
		out[n++] = known != NULL ? to[known - from] : s.p[i];
		if (known != NULL)
			i++;
	}
	return (struct str){ out, n };
}

struct str
simple_without_quotes(struct arena *a, struct str s)
{
	if (memchr(s.p, '\'', s.n) == NULL && memchr(s.p, '"', s.n) == NULL)
		return s;
	char *text = arena_alloc(a, s.n);
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\'' && s.p[i] != '"')
			text[n++] = s.p[i];
	return (struct str){ text, n };
}

static struct simple_node *
parse_literal(struct simple_parser *p, struct str s, unsigned flags)
{
	struct str text = flags & SIMPLE_ESCAPES ? unescape(p->arena, s) : s;
	if (flags & SIMPLE_NO_QUOTES)
		text = simple_without_quotes(p->arena, text);
	return simple_const(p, s.p, value_str(text));
}

/* `op` with blanks on both sides at i: the position behind them, or 0. */
static size_t
match_spaced(struct str s, size_t i, const char *op)
{
	size_t begin = i, length = strlen(op);
	while (i < s.n && simple_is_blank(s.p[i]))
		i++;
	if (i == begin || s.n - i <= length || memcmp(s.p + i, op, length) != 0 ||
	    !simple_is_blank(s.p[i + length]))
		return 0;
	i += length;
	while (i < s.n && simple_is_blank(s.p[i]))
		i++;
	return i;
}

/* The function at i, whose "${" is `start` long; *end is moved behind its "}". */
static struct simple_node *
parse_function_at(struct simple_parser *p, struct str s, size_t i, size_t start, size_t *end)
{
	*end = simple_function_end(p, s, i + start);
	if (*end == SIZE_MAX)
		return simple_error(p, s.p + i, "expected symbol functionEnd but was eol");
	return simple_parse_function(p, (struct str){ s.p + i + start, *end - 1 - i - start });
}

static struct simple_node *
parse_increment(struct simple_parser *p, struct str s, struct simple_node *left, size_t *end)
{
	size_t i = *end;
	if (s.n - i < 2 || (memcmp(s.p + i, "++", 2) != 0 && memcmp(s.p + i, "--", 2) != 0))
		return left;
	if (i + 2 < s.n && !simple_is_blank(s.p[i + 2]))
		return left;
	struct simple_node *node = simple_node_new(p, SIMPLE_STEP, s.p + i, 1);
	node->kids[0] = left;
	node->u.step = s.p[i] == '+' ? 1 : -1;
	*end = i + 2;
	return node;
}

/* The right side of ?: is a function, or all text up to the next one; quotes around the whole of
 * that text are taken off. */
static struct simple_node *
parse_elvis_right(struct simple_parser *p, struct str s, size_t i, size_t *end)
{
	size_t start = simple_function_start(s, i);
	if (start != 0)
		return parse_function_at(p, s, i, start, end);
	struct str quoted = { s.p + i, s.n - i }, inner;
	if (simple_unquote(p, quoted, &inner)) {
		*end = s.n;
		return simple_parse_template(p, inner, SIMPLE_ESCAPES);
	}
	size_t stop = i;
	while (stop < s.n && simple_function_start(s, stop) == 0)
		stop++;
	*end = stop;
	return parse_literal(p, (struct str){ s.p + i, stop - i }, SIMPLE_ESCAPES);
}

static struct simple_node *
parse_chain_right(struct simple_parser *p, struct str s, size_t i, size_t *end)
{
	bool was = p->in_chain;
	p->in_chain = true;
	struct simple_node *right = parse_function_at(p, s, i, simple_function_start(s, i), end);
	p->in_chain = was;
	return right;
}

/* What may follow a function in a template: ++, --, ?:, ~>, ?~>. Anything else is text. */
static struct simple_node *
parse_operators(struct simple_parser *p, struct str s, struct simple_node *left, size_t *end)
{
	left = parse_increment(p, s, left, end);
	for (unsigned terms = 1;; terms++) {
		size_t elvis = match_spaced(s, *end, "?:");
		size_t chain = match_spaced(s, *end, "~>");
		bool null_safe = chain == 0;
		if (null_safe)
			chain = match_spaced(s, *end, "?~>");
		if (chain != 0 && simple_function_start(s, chain) == 0)
			chain = 0;
		if (elvis == 0 && chain == 0)
			return left;
		if (terms == SIMPLE_TERMS_MAX)
			return simple_error(
			    p, s.p + *end, "more than %d operators", SIMPLE_TERMS_MAX);
		struct simple_node *node =
		    simple_node_new(p, elvis ? SIMPLE_ELVIS : SIMPLE_CHAIN, s.p + *end, 2);
		node->kids[0] = left;
		node->null_safe = null_safe;
		node->kids[1] = elvis ? parse_elvis_right(p, s, elvis, end)
				      : parse_chain_right(p, s, chain, end);
		if (node->kids[1] == NULL)
			return NULL;
		left = node;
	}
}

/* The parts of a template, as many as there are functions and texts between them. */
struct parts {
	struct simple_node **items;
	uint32_t n, cap;
};

static void
parts_add(struct simple_parser *p, struct parts *parts, struct simple_node *node)
{
	if (parts->n == parts->cap) {
		parts->cap = parts->cap == 0 ? 8 : parts->cap * 2;
		struct simple_node **grown = arena_alloc(p->arena, parts->cap * sizeof *grown);
		if (parts->n > 0)
			memcpy(grown, parts->items, parts->n * sizeof *grown);
		parts->items = grown;
	}
	parts->items[parts->n++] = node;
}

struct simple_node *
simple_parse_template(struct simple_parser *p, struct str s, unsigned flags)
{
	struct parts parts = { 0 };
	size_t text = 0, i = 0;
	while (i < s.n) {
		size_t start = simple_function_start(s, i);
		size_t declared = start == 0 ? simple_declared_at(p, s, i) : 0;
		if (start == 0 && declared == 0) {
			i++;
			continue;
		}
		if (i > text)
			parts_add(p, &parts,
			    parse_literal(p, (struct str){ s.p + text, i - text }, flags));
		size_t end = i + declared;
		struct simple_node *node = declared != 0
		    ? simple_declared_variable(p, (struct str){ s.p + i, declared })
		    : parse_function_at(p, s, i, start, &end);
		if (node != NULL && (flags & SIMPLE_OPERATORS))
			node = parse_operators(p, s, node, &end);
		if (node == NULL)
			return NULL;
		parts_add(p, &parts, node);
		text = i = end;
	}
	if (s.n > text || parts.n == 0)
		parts_add(
		    p, &parts, parse_literal(p, (struct str){ s.p + text, s.n - text }, flags));
	if (parts.n == 1)
		return parts.items[0];
	struct simple_node *node = simple_node_new(p, SIMPLE_CONCAT, s.p, 0);
	node->n = parts.n;
	node->kids = parts.items;
	return node;
}

/* ---- predicates ---- */

static const struct operation {
	const char *text;
	enum simple_op op;
	bool negate;
} operators[] = {
	/* a text comes before its own beginnings */
	{ "!=~", SIMPLE_EQ_NOCASE, true },
	{ "!=", SIMPLE_EQ, true },
	{ "==", SIMPLE_EQ, false },
	{ "=~", SIMPLE_EQ_NOCASE, false },
	{ ">=", SIMPLE_GE, false },
	{ "<=", SIMPLE_LE, false },
	{ ">", SIMPLE_GT, false },
	{ "<", SIMPLE_LT, false },
	{ "!~~", SIMPLE_CONTAINS_NOCASE, true },
	{ "~~", SIMPLE_CONTAINS_NOCASE, false },
	{ "!contains", SIMPLE_CONTAINS, true },
	{ "not contains", SIMPLE_CONTAINS, true },
	{ "contains", SIMPLE_CONTAINS, false },
	{ "!startsWith", SIMPLE_STARTS, true },
	{ "startsWith", SIMPLE_STARTS, false },
	{ "starts with", SIMPLE_STARTS, false },
	{ "!endsWith", SIMPLE_ENDS, true },
	{ "endsWith", SIMPLE_ENDS, false },
	{ "ends with", SIMPLE_ENDS, false },
	{ "!regex", SIMPLE_REGEX, true },
	{ "not regex", SIMPLE_REGEX, true },
	{ "regex", SIMPLE_REGEX, false },
	{ "!range", SIMPLE_RANGE, true },
	{ "not range", SIMPLE_RANGE, true },
	{ "range", SIMPLE_RANGE, false },
	{ "!in", SIMPLE_IN, true },
	{ "not in", SIMPLE_IN, true },
	{ "in", SIMPLE_IN, false },
	{ "!is", SIMPLE_IS, true },
	{ "not is", SIMPLE_IS, true },
	{ "is", SIMPLE_IS, false },
};

static size_t
skip_blanks(struct str s, size_t i)
{
	while (i < s.n && simple_is_blank(s.p[i]))
		i++;
	return i;
}

/* The word at i, up to a blank. */
static struct str
word_at(struct str s, size_t i)
{
	size_t end = i;
	while (end < s.n && !simple_is_blank(s.p[end]))
		end++;
	return (struct str){ s.p + i, end - i };
}

/* A whole character for a message: not half of a UTF-8 sequence. */
static struct str
char_at(struct str s, size_t i)
{
	size_t n = 1;
	while (i + n < s.n && ((unsigned char)s.p[i + n] & 0xc0) == 0x80 && n < 4)
		n++;
	return (struct str){ s.p + i, i < s.n ? n : 0 };
}

static struct simple_node *
unexpected(struct simple_parser *p, struct str s, size_t i)
{
	struct str c = char_at(s, i);
	return simple_error(p, s.p + i, "Unexpected token %.*s", STR_FMT(c));
}

static bool
is_number(struct str w)
{
	size_t i = w.n > 0 && w.p[0] == '-', digits = 0, dots = 0;
	for (; i < w.n; i++) {
		if (w.p[i] >= '0' && w.p[i] <= '9')
			digits++;
		else if (w.p[i] == '.' && digits > 0 && i + 1 < w.n)
			dots++;
		else
			return false;
	}
	return digits > 0 && dots <= 1;
}

/* An unquoted word: a number, true, false or null. NULL without a report when it is none. */
static struct simple_node *
parse_word(struct simple_parser *p, struct str w)
{
	if (str_eq(w, STR_LIT("null")))
		return simple_const(p, w.p, value_null());
	if (str_eq(w, STR_LIT("true")) || str_eq(w, STR_LIT("false")))
		return simple_const(p, w.p, value_bool(w.p[0] == 't'));
	if (!is_number(w))
		return NULL;
	int64_t i;
	double d;
	struct value v;
	if (str_to_int64(w, &i)) {
		v = value_int(i);
		if (i < INT32_MIN || i > INT32_MAX)
			v.flags |= VALUE_LONG;
	} else if (memchr(w.p, '.', w.n) != NULL && str_to_double(w, &d)) {
		v = value_double(d);
	} else {
		v = value_str(w);
		v.type = VALUE_DECIMAL;
	}
	return simple_const(p, w.p, v);
}

/* Quoted text at i. Backslashes are themselves. */
static struct simple_node *
parse_quoted(struct simple_parser *p, struct str s, size_t i, size_t *end)
{
	bool open;
	*end = simple_quote_end(p, s, i, &open);
	if (*end == SIZE_MAX) {
		const char *symbol = open ? "functionEnd"
		    : s.p[i] == '\''      ? "singleQuote"
					  : "doubleQuote";
		return simple_error(p, s.p + i, "expected symbol %s but was eol", symbol);
	}
	if (*end < s.n && !simple_is_blank(s.p[*end]))
		return unexpected(p, s, *end);
	return simple_parse_template(p, (struct str){ s.p + i + 1, *end - i - 2 }, 0);
}

/* An operand in ${ } with its ++ or --, or in quotes. NULL without a report when there is none of
 * them at i (*found false). */
static struct simple_node *
parse_operand(struct simple_parser *p, struct str s, size_t i, size_t *end, bool *found)
{
	size_t start = simple_function_start(s, i);
	*found = true;
	if (start != 0) {
		struct simple_node *node = parse_function_at(p, s, i, start, end);
		return node != NULL ? parse_increment(p, s, node, end) : NULL;
	}
	size_t declared = i < s.n ? simple_declared_at(p, s, i) : 0;
	if (declared != 0) {
		*end = i + declared;
		return simple_declared_variable(p, (struct str){ s.p + i, declared });
	}
	if (i < s.n && (s.p[i] == '\'' || s.p[i] == '"'))
		return parse_quoted(p, s, i, end);
	*found = false;
	return NULL;
}

static const struct operation *
match_operator(struct str s, size_t i, size_t *end)
{
	for (size_t k = 0; k < ARRAY_LEN(operators); k++) {
		size_t n = strlen(operators[k].text);
		if (s.n - i > n && memcmp(s.p + i, operators[k].text, n) == 0 &&
		    simple_is_blank(s.p[i + n])) {
			*end = i + n;
			return &operators[k];
		}
	}
	return NULL;
}

/* A ternary's operand without ${ }: a function up to the next blank outside of quotes and brackets.
 */
static struct simple_node *
parse_bare(struct simple_parser *p, struct str s, size_t i, size_t *end)
{
	struct str rest = { s.p + i, s.n - i };
	size_t stop = simple_find_outside(p, rest, 0, " ");
	*end = stop == SIZE_MAX ? s.n : i + stop;
	return simple_parse_function(p, (struct str){ s.p + i, *end - i });
}

static struct simple_node *
parse_right(struct simple_parser *p, struct str s, size_t i, bool bare, const struct operation *op,
    size_t *end)
{
	bool found;
	struct simple_node *node = parse_operand(p, s, i, end, &found);
	if (found)
		return node;
	struct str word = word_at(s, i);
	node = parse_word(p, word);
	if (node != NULL && op->op == SIMPLE_RANGE)
		return simple_error(p, word.p,
		    "operator range needs '${from}..${to}' in quotes, not %.*s", STR_FMT(word));
	*end = i + word.n;
	if (node != NULL)
		return node;
	if (bare && word.n > 0)
		return parse_bare(p, s, i, end);
	if (word.n == 0)
		return simple_error(
		    p, s.p + i, "Binary operator %s has no right hand side token", op->text);
	return simple_error(p, word.p,
	    "Binary operator %s does not support token %.*s: quote it when it is text", op->text,
	    STR_FMT(word));
}

/* What a constant right side allows to prepare: the regular expression, the range. False: reported.
 */
static bool
prepare_right(struct simple_parser *p, struct simple_node *node)
{
	const struct simple_node *right = node->kids[1];
	if (right->type != SIMPLE_CONST || right->u.value.type != VALUE_STRING)
		return true;
	struct str text = right->u.value.u.s;
	const char *at = p->base + right->at;
	if (node->op == SIMPLE_REGEX) {
		struct hinny_error err;
		if (regex_compile(p->arena, text, 0, &node->u.regex, &err) != HINNY_OK)
			return simple_error(p, at, "%s", err.text) != NULL;
		node->compiled = true;
	} else if (node->op == SIMPLE_RANGE) {
		if (!simple_range_parse(text, &node->u.range))
			return simple_error(p, at,
				   "operator range is not valid: expected 'from..to', was '%.*s'",
				   STR_FMT(text)) != NULL;
		node->compiled = true;
	}
	return true;
}

/* The rest of a comparison whose left side ended at i. */
static struct simple_node *
parse_compare(struct simple_parser *p, struct str s, struct simple_node *left, size_t i, bool bare,
    size_t *end)
{
	size_t at = skip_blanks(s, i), behind;
	const struct operation *op = at > i ? match_operator(s, at, &behind) : NULL;
	if (op == NULL)
		return unexpected(p, s, at > i ? at : i);
	struct simple_node *node = simple_node_new(p, SIMPLE_COMPARE, s.p + at, 2);
	node->op = op->op;
	node->negate = op->negate;
	node->kids[0] = left;
	node->kids[1] = parse_right(p, s, skip_blanks(s, behind), bare, op, end);
	if (node->kids[1] == NULL || !prepare_right(p, node))
		return NULL;
	return node;
}

struct simple_node *
simple_parse_comparison(struct simple_parser *p, struct str s, bool bare, size_t *end)
{
	size_t i = skip_blanks(s, 0), left_end;
	bool found;
	struct simple_node *left = parse_operand(p, s, i, &left_end, &found);
	if (!found && bare && i < s.n) {
		left = parse_bare(p, s, i, &left_end);
		found = true;
	}
	if (!found)
		return i < s.n ? unexpected(p, s, i)
			       : simple_error(p, s.p + i, "a comparison is missing");
	if (left == NULL)
		return NULL;
	if (skip_blanks(s, left_end) == s.n)
		return simple_error(
		    p, s.p + i, "a comparison with an operator is needed here, such as == true");
	return parse_compare(p, s, left, left_end, bare, end);
}

/* The first operand with what follows it: a comparison, or nothing, when it is the truth of the
 * value. */
static struct simple_node *
parse_first(struct simple_parser *p, struct str s, size_t *end)
{
	bool found = true;
	struct simple_node *left;
	if (str_eq(s, STR_LIT("true")) || str_eq(s, STR_LIT("false"))) {
		left = parse_word(p, s);
		*end = s.n;
	} else {
		left = parse_operand(p, s, 0, end, &found);
	}
	if (!found)
		return unexpected(p, s, 0);
	if (left == NULL || *end < s.n)
		return left != NULL ? parse_compare(p, s, left, *end, false, end) : NULL;
	struct simple_node *truth = simple_node_new(p, SIMPLE_TRUTH, s.p, 1);
	truth->kids[0] = left;
	return truth;
}

struct simple_node *
simple_parse_predicate(struct simple_parser *p, struct str s)
{
	s = str_trim(s);
	if (s.n == 0)
		return simple_error(p, s.p, "a predicate is missing");
	size_t end;
	struct simple_node *node = parse_first(p, s, &end);
	for (unsigned terms = 1; node != NULL && end < s.n; terms++) {
		size_t next = match_spaced(s, end, "&&");
		bool and = next != 0;
		if (!and)
			next = match_spaced(s, end, "||");
		if (next == 0) {
			size_t at = skip_blanks(s, end);
			return unexpected(p, s, at < s.n ? at : end);
		}
		if (terms == SIMPLE_TERMS_MAX)
			return simple_error(
			    p, s.p + end, "more than %d operators", SIMPLE_TERMS_MAX);
		struct simple_node *both =
		    simple_node_new(p, and? SIMPLE_AND : SIMPLE_OR, s.p + end, 2);
		both->kids[0] = node;
		struct str rest = { s.p + next, s.n - next };
		both->kids[1] = simple_parse_comparison(p, rest, false, &end);
		if (both->kids[1] == NULL)
			return NULL;
		end += next;
		node = both;
	}
	return node;
}
