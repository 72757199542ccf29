/*
 * The in-place JSON reader. One pass over the text, without recursion: open containers are a chain
 * through their own nodes (a parent's position waits in `skip` until the container ends). The text
 * is checked to be UTF-8 beforehand, eight bytes a step. Nodes are collected on the stack first and
 * only what does not fit there goes to the heap, so a small document costs one arena allocation.
 */
#include "core/model/json.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_ON_STACK = 256 };

struct parser {
	const char *start, *p, *end;
	struct json_node *nodes;
	size_t n, cap;
	bool heap;
	const char *problem; /* set: what is wrong at p */
	enum hinny_rc rc;
};

static bool
fail(struct parser *ps, const char *problem)
{
	ps->problem = problem;
	ps->rc = HINNY_EINVAL;
	return false;
}

static bool
grow_nodes(struct parser *ps)
{
	size_t cap = ps->cap * 2;

	if (cap > UINT32_MAX / 2) {
		ps->problem = "too many values";
		ps->rc = HINNY_ELIMIT;
		return false;
	}
	struct json_node *nodes =
	    ps->heap ? realloc(ps->nodes, cap * sizeof *nodes) : malloc(cap * sizeof *nodes);
	if (nodes == NULL) {
		ps->problem = "no memory for so many values";
		ps->rc = HINNY_ELIMIT;
		return false;
	}
	if (!ps->heap)
		memcpy(nodes, ps->nodes, ps->n * sizeof *nodes);
	ps->nodes = nodes;
	ps->cap = cap;
	ps->heap = true;
	return true;
}

static inline struct json_node *
add_node(struct parser *ps, enum json_type type, const char *text, size_t length)
{
	if (ps->n == ps->cap && !grow_nodes(ps))
		return NULL;
	struct json_node *n = &ps->nodes[ps->n++];
	*n = (struct json_node){
		.type = (uint8_t)type, .skip = 1, .length = (uint32_t)length, .text = text
	};
	return n;
}

static inline void
skip_blanks(struct parser *ps)
{
	while (ps->p < ps->end &&
	    (*ps->p == ' ' || *ps->p == '\n' || *ps->p == '\r' || *ps->p == '\t'))
		ps->p++;
}

/* ---- scalars ---- */

/* Is one of the eight bytes a quote, a backslash or a control character? (A byte below n: the
 * classic borrow test, exact for bytes below 0x80; others give no false alarm as they are masked
 * out.) */
static inline uint64_t
special_bytes(uint64_t w)
{
	const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
	uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');

	return (((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((w - ones * 0x20) & ~w)) &
	    highs;
}

static inline const char *
skip_plain(const char *p, const char *end)
{
	while (end - p >= 8) {
		uint64_t w;
		memcpy(&w, p, sizeof w);
		uint64_t hit = special_bytes(w);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		if (hit != 0)
			return p + (__builtin_ctzll(hit) >> 3);
#else
		if (hit != 0)
			break;
#endif
		p += 8;
	}
	while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
		p++;
	return p;
}

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool
parse_escape(struct parser *ps)
{
	ps->p++;
	if (ps->p == ps->end)
		return fail(ps, "the text ends within a string");
	if (*ps->p != 'u') {
		if (memchr("\"\\/bfnrt", *ps->p, 8) == NULL)
			return fail(ps, "unknown escape in a string");
		ps->p++;
		return true;
	}
	if (ps->end - ps->p < 5 || !is_hex(ps->p[1]) || !is_hex(ps->p[2]) || !is_hex(ps->p[3]) ||
	    !is_hex(ps->p[4]))
		return fail(ps, "expected four hexadecimal digits behind \\u");
	ps->p += 5;
	return true;
}

static bool
parse_string(struct parser *ps)
{
	const char *from = ++ps->p;
	bool escaped = false;

	for (;;) {
		ps->p = skip_plain(ps->p, ps->end);
		if (ps->p == ps->end)
			return fail(ps, "the text ends within a string");
		if (*ps->p == '"')
			break;
		if (*ps->p != '\\')
			return fail(ps, "control character in a string");
		escaped = true;
		if (!parse_escape(ps))
			return false;
	}
	struct json_node *n = add_node(ps, JSON_IS_STRING, from, (size_t)(ps->p - from));
	if (n == NULL)
		return false;
	n->escaped = escaped;
	ps->p++;
	return true;
}

static inline bool
is_digit(const struct parser *ps)
{
	return ps->p < ps->end && *ps->p >= '0' && *ps->p <= '9';
}

static bool
parse_digits(struct parser *ps)
{
	if (!is_digit(ps))
		return fail(ps, "expected a digit");
	while (is_digit(ps))
		ps->p++;
	return true;
}

static bool
parse_number(struct parser *ps)
{
	const char *from = ps->p;
	enum json_type type = JSON_IS_INT;

	if (*ps->p == '-')
		ps->p++;
	if (ps->p < ps->end && *ps->p == '0') {
		ps->p++;
		if (is_digit(ps))
			return fail(ps, "a number with a zero in front");
	} else if (!parse_digits(ps)) {
		return false;
	}
	if (ps->p < ps->end && *ps->p == '.') {
		type = JSON_IS_FRACTION;
		ps->p++;
		if (!parse_digits(ps))
			return false;
	}
	if (ps->p < ps->end && (*ps->p == 'e' || *ps->p == 'E')) {
		type = JSON_IS_FRACTION;
		ps->p++;
		if (ps->p < ps->end && (*ps->p == '+' || *ps->p == '-'))
			ps->p++;
		if (!parse_digits(ps))
			return false;
	}
	return add_node(ps, type, from, (size_t)(ps->p - from)) != NULL;
}

static bool
parse_word(struct parser *ps, const char *word, size_t n, enum json_type type)
{
	if ((size_t)(ps->end - ps->p) < n || memcmp(ps->p, word, n) != 0)
		return fail(ps, "expected a value");
	ps->p += n;
	return add_node(ps, type, ps->p - n, n) != NULL;
}

static bool
parse_scalar(struct parser *ps)
{
	switch (*ps->p) {
	case '"':
		return parse_string(ps);
	case 't':
		return parse_word(ps, "true", 4, JSON_IS_TRUE);
	case 'f':
		return parse_word(ps, "false", 5, JSON_IS_FALSE);
	case 'n':
		return parse_word(ps, "null", 4, JSON_IS_NULL);
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return parse_number(ps);
	default:
		return fail(ps, "expected a value");
	}
}

/* ---- containers ---- */

enum { NO_PARENT = UINT32_MAX };

/* An object's key and the colon behind it. */
static bool
parse_key(struct parser *ps)
{
	skip_blanks(ps);
	if (ps->p == ps->end || *ps->p != '"')
		return fail(ps,
		    ps->p == ps->end ? "the text ends within an object"
				     : "expected a name in quotes");
	if (!parse_string(ps))
		return false;
	skip_blanks(ps);
	if (ps->p == ps->end || *ps->p != ':')
		return fail(
		    ps, ps->p == ps->end ? "the text ends within an object" : "expected \":\"");
	ps->p++;
	return true;
}

/* An opening bracket. *closed: the container was empty and is done. */
static bool
open_container(struct parser *ps, uint32_t *parent, unsigned *depth, bool *closed)
{
	bool object = *ps->p == '{';

	if (++*depth > JSON_DEPTH_MAX) {
		ps->problem = "nested too deep";
		ps->rc = HINNY_ELIMIT;
		return false;
	}
	struct json_node *n = add_node(ps, object ? JSON_IS_OBJECT : JSON_IS_ARRAY, ps->p, 0);
	if (n == NULL)
		return false;
	n->skip = *parent;
	*parent = (uint32_t)(ps->n - 1);
	ps->p++;
	skip_blanks(ps);
	*closed = ps->p < ps->end && *ps->p == (object ? '}' : ']');
	return *closed || !object || parse_key(ps);
}

static void
close_container(struct parser *ps, uint32_t *parent, unsigned *depth)
{
	struct json_node *n = &ps->nodes[*parent];
	uint32_t above = n->skip;

	ps->p++;
	n->skip = (uint32_t)(ps->n - *parent);
	n->length = (uint32_t)(ps->p - n->text);
	*parent = above;
	--*depth;
}

/* A value has ended: what follows it, up to the start of the next value. *more false: the outermost
 * value is complete. */
static bool
after_value(struct parser *ps, uint32_t *parent, unsigned *depth, bool *more)
{
	while (*parent != NO_PARENT) {
		struct json_node *n = &ps->nodes[*parent];
		bool object = n->type == JSON_IS_OBJECT;

		n->children++;
		skip_blanks(ps);
		if (ps->p == ps->end)
			return fail(ps,
			    object ? "the text ends within an object"
				   : "the text ends within an array");
		if (*ps->p == ',') {
			ps->p++;
			*more = true;
			return !object || parse_key(ps);
		}
		if (*ps->p != (object ? '}' : ']'))
			return fail(
			    ps, object ? "expected \",\" or \"}\"" : "expected \",\" or \"]\"");
		close_container(ps, parent, depth);
	}
	*more = false;
	return true;
}

static bool
parse_value(struct parser *ps)
{
	uint32_t parent = NO_PARENT;
	unsigned depth = 0;
	bool more = true;

	while (more) {
		skip_blanks(ps);
		if (ps->p == ps->end)
			return fail(ps,
			    ps->n == 0 ? "the text is empty"
				       : "the text ends where a value is expected");
		if (*ps->p == '{' || *ps->p == '[') {
			bool closed;
			if (!open_container(ps, &parent, &depth, &closed))
				return false;
			if (!closed)
				continue;
			close_container(ps, &parent, &depth);
		} else if (!parse_scalar(ps)) {
			return false;
		}
		if (!after_value(ps, &parent, &depth, &more))
			return false;
	}
	return true;
}

/* ---- outcome ---- */

/* Length of the well-formed sequence at the start of s, 0 when there is none. */
static size_t
sequence_length(struct str s)
{
	for (size_t n = 1; n <= 4 && n <= s.n; n++) {
		if (str_utf8_valid((struct str){ s.p, n }))
			return n;
	}
	return 0;
}

/* Where the first byte that is no UTF-8 stands: in steps that are halved, as the text may be large,
 * then by single characters. */
static const char *
malformed_at(struct str s)
{
	for (size_t step = s.n; step > 0; step /= 2) {
		while (step <= s.n) {
			size_t n = step;
			while (n > 0 && n < s.n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
				n--; /* not within a sequence */
			if (n == 0 || !str_utf8_valid((struct str){ s.p, n }))
				break;
			s = (struct str){ s.p + n, s.n - n };
		}
	}
	for (size_t n; (n = sequence_length(s)) > 0;)
		s = (struct str){ s.p + n, s.n - n };
	return s.p;
}

static enum hinny_rc
describe(struct parser *ps, struct hinny_error *err)
{
	size_t line = 1;
	const char *begin = ps->start;

	for (const char *q = ps->start; q < ps->p; q++) {
		if (*q == '\n') {
			line++;
			begin = q + 1;
		}
	}
	size_t column = 1; /* in characters */
	for (const char *q = begin; q < ps->p; q++) {
		if (((unsigned char)*q & 0xC0) != 0x80)
			column++;
	}
	return hinny_error_set(
	    err, ps->rc, "no JSON: line %zu, column %zu: %s", line, column, ps->problem);
}

static void
free_nodes(void *p)
{
	free(p);
}

/* Nodes on the stack are copied; those on the heap stay there until the arena goes. */
static const struct json_node *
keep_nodes(struct parser *ps, struct arena *a)
{
	size_t size = ps->n * sizeof *ps->nodes;

	if (!ps->heap) {
		struct json_node *nodes = arena_alloc(a, size);
		memcpy(nodes, ps->nodes, size);
		return nodes;
	}
	struct json_node *less = realloc(ps->nodes, size);
	if (less != NULL)
		ps->nodes = less;
	arena_on_reset(a, free_nodes, ps->nodes);
	return ps->nodes;
}

static bool
check_text(struct parser *ps, struct str text)
{
	if (text.n >= UINT32_MAX) {
		ps->problem = "the text is larger than 4 GiB";
		ps->rc = HINNY_ELIMIT;
		return false;
	}
	if (!str_utf8_valid(text)) {
		ps->p = malformed_at(text);
		return fail(ps, "bytes that are no UTF-8");
	}
	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
		ps->p += 3;
	return true;
}

static enum hinny_rc
parse(struct arena *a, struct str text, const struct json_node **root, size_t *end, bool whole,
    struct hinny_error *err)
{
	struct json_node stack[NODES_ON_STACK];
	struct parser ps = { .start = text.p,
		.p = text.p,
		.end = text.p + text.n,
		.nodes = stack,
		.cap = NODES_ON_STACK };

	bool ok = check_text(&ps, text) && parse_value(&ps);
	if (ok && whole) {
		skip_blanks(&ps);
		ok = ps.p == ps.end || fail(&ps, "text behind the value");
	}
	if (!ok) {
		if (ps.heap)
			free(ps.nodes);
		return describe(&ps, err);
	}
	*root = keep_nodes(&ps, a);
	if (end != NULL)
		*end = (size_t)(ps.p - text.p);
	return HINNY_OK;
}

enum hinny_rc
json_parse(struct arena *a, struct str text, const struct json_node **root, struct hinny_error *err)
{
	return parse(a, text, root, NULL, true, err);
}

enum hinny_rc
json_parse_first(struct arena *a, struct str text, const struct json_node **root, size_t *end,
    struct hinny_error *err)
{
	return parse(a, text, root, end, false, err);
}
