/*
 * What RFC 9535 has where Jayway has nothing, or something else: the comparisons of filters without
 * parentheses, which know types and nothing (the result of a path that is not there), and the
 * functions length, count, match, search and value.
 */
#include "core/lang/jsonpath_priv.h"

#include "core/base/assert.h"

enum function { CALL_LENGTH, CALL_COUNT, CALL_MATCH, CALL_SEARCH, CALL_VALUE };

struct jsonpath_call {
	enum function fn;
	struct jsonpath_operand args[2];
	struct regex *pattern; /* of a literal second argument; NULL: it is no pattern */
};

/* ---- comparisons ---- */

static bool
is_number(const struct value *v)
{
	return v->type == VALUE_INT || v->type == VALUE_DOUBLE || v->type == VALUE_DECIMAL;
}

static bool
is_text(const struct value *v)
{
	return v->type == VALUE_STRING || v->type == VALUE_BYTES;
}

static double
number_of(const struct value *v)
{
	double d = 0;
	if (v->type == VALUE_DECIMAL)
		(void)str_to_double(v->u.s, &d); /* it is one */
	else
		d = v->type == VALUE_INT ? (double)v->u.i : v->u.d;
	return d;
}

static int
order_numbers(const struct value *l, const struct value *r)
{
	if (l->type == VALUE_INT && r->type == VALUE_INT)
		return (l->u.i > r->u.i) - (l->u.i < r->u.i);
	double x = number_of(l), y = number_of(r);
	return (x > y) - (x < y);
}

static int
order_texts(struct str l, struct str r)
{
	size_t n = l.n < r.n ? l.n : r.n;
	int order = n > 0 ? memcmp(l.p, r.p, n) : 0;
	return order != 0 ? order : (l.n > r.n) - (l.n < r.n);
}

static bool equal_values(struct arena *a, const struct value *l, const struct value *r, unsigned depth);

static bool
equal_members(struct arena *a, const struct value *l, const struct value *r, unsigned depth)
{
	struct document_iter it;
	struct str key;
	struct value item, other;
	if (document_size(l) != document_size(r) || depth >= VALUE_DEPTH_MAX)
		return false;
	document_iter_init(&it, a, l);
	for (size_t i = 0; document_iter_next(&it, &key, &item); i++) {
		bool there = key.p != NULL ? document_member(a, r, key, &other)
					   : document_item(a, r, i, &other);
		if (!there || !equal_values(a, &item, &other, depth + 1))
			return false;
	}
	return true;
}

static bool
equal_values(struct arena *a, const struct value *l, const struct value *r, unsigned depth)
{
	if (document_kind(l) != document_kind(r))
		return false;
	if (document_kind(l) != DOCUMENT_SCALAR)
		return equal_members(a, l, r, depth);
	if (is_number(l) || is_number(r))
		return is_number(l) && is_number(r) && order_numbers(l, r) == 0;
	if (is_text(l) || is_text(r))
		return is_text(l) && is_text(r) && str_eq(value_text(a, l), value_text(a, r));
	return l->type == r->type && (l->type == VALUE_NULL || l->u.b == r->u.b);
}

static bool
strict_equal(
    struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	if (!l->there || !r->there)
		return l->there == r->there;
	return equal_values(run->arena, &l->v, &r->v, 0);
}

static bool
strict_not_equal(
    struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return !strict_equal(run, l, r);
}

static bool
strict_less(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	if (!l->there || !r->there)
		return false;
	if (is_number(&l->v) && is_number(&r->v))
		return order_numbers(&l->v, &r->v) < 0;
	return is_text(&l->v) && is_text(&r->v) &&
	    order_texts(value_text(run->arena, &l->v), value_text(run->arena, &r->v)) < 0;
}

static bool
strict_greater(
    struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return strict_less(run, r, l);
}

static bool
strict_less_equal(
    struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return strict_less(run, l, r) || strict_equal(run, l, r);
}

static bool
strict_greater_equal(
    struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return strict_less_equal(run, r, l);
}

jsonpath_compare_fn *
jsonpath_strict_compare(const char *text)
{
	static const struct {
		const char *text;
		jsonpath_compare_fn *compare;
	} known[] = {
		{ "==", strict_equal },
		{ "!=", strict_not_equal },
		{ "<", strict_less },
		{ "<=", strict_less_equal },
		{ ">", strict_greater },
		{ ">=", strict_greater_equal },
	};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(text, known[i].text) == 0)
			return known[i].compare;
	return NULL;
}

bool
jsonpath_is_singular(const struct jsonpath_code *code)
{
	for (size_t i = 0; i < code->n; i++)
		if (!code->tokens[i].definite)
			return false;
	return true;
}

/* ---- functions ---- */

static const struct {
	const char *name;
	size_t args;
	bool nodes; /* takes the nodes of a path, else a value */
	bool test;  /* its result is a truth */
} functions[] = {
	[CALL_LENGTH] = { "length", 1, false, false },
	[CALL_COUNT] = { "count", 1, true, false },
	[CALL_MATCH] = { "match", 2, false, true },
	[CALL_SEARCH] = { "search", 2, false, true },
	[CALL_VALUE] = { "value", 1, true, false },
};

bool
jsonpath_call_is_test(const struct jsonpath_call *call)
{
	return functions[call->fn].test;
}

/* An I-Regexp (RFC 9485): its dot is any character but a line's end, whatever Java thinks of that. */
static struct regex *
pattern_of(struct arena *a, struct str text, bool whole)
{
	struct buf b;
	struct hinny_error err;
	struct regex *re = NULL;
	bool class = false;

	buf_init(&b, 0);
	(void)buf_add_str(&b, whole ? STR_LIT("(?:") : STR_LIT("(")); /* no bound */
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c == '\\' && i + 1 < text.n) {
			(void)buf_add(&b, text.p + i++, 2);
			continue;
		}
		class = c == '[' || (class && c != ']');
		if (c == '.' && !class)
			(void)buf_add_str(&b, STR_LIT("[^\\n\\r]"));
		else
			(void)buf_add_char(&b, c);
	}
	(void)buf_add_char(&b, ')');
	if (regex_compile(a, (struct str){ b.p, b.n }, 0, &re, &err) != HINNY_OK)
		re = NULL; /* it matches nothing */
	buf_fini(&b);
	return re;
}

static bool
check_argument(struct jsonpath_reader *r, const struct jsonpath_call *call, size_t i)
{
	const struct jsonpath_operand *o = &call->args[i];
	if (functions[call->fn].nodes) {
		if (o->type != JSONPATH_PATH)
			return jsonpath_wrong(
			    r, "function %s takes a path", functions[call->fn].name);
		return true;
	}
	if (o->type == JSONPATH_PATH && !jsonpath_is_singular(o->path))
		return jsonpath_wrong(r, "function %s takes a value, and %s gives several",
		    functions[call->fn].name, o->path->shown);
	if (o->type == JSONPATH_CALL && jsonpath_call_is_test(o->call))
		return jsonpath_wrong(r, "function %s takes a value", functions[call->fn].name);
	return true;
}

static bool
read_arguments(struct jsonpath_reader *r, struct jsonpath_call *call)
{
	for (size_t i = 0; i < functions[call->fn].args; i++) {
		jsonpath_skip_blanks(r);
		if (i > 0 && jsonpath_peek(r) != ',')
			return jsonpath_wrong(r, "function %s takes %zu arguments",
			    functions[call->fn].name, functions[call->fn].args);
		r->i += i > 0;
		if (!jsonpath_read_operand(r, &call->args[i]) || !check_argument(r, call, i))
			return false;
	}
	jsonpath_skip_blanks(r);
	if (jsonpath_peek(r) != ')')
		return jsonpath_wrong(r, "a ) is missing behind the arguments of function %s",
		    functions[call->fn].name);
	r->i++;
	return true;
}

bool
jsonpath_read_call(struct jsonpath_reader *r, struct jsonpath_operand *out, bool *found)
{
	struct str rest = { r->text.p + r->i, r->text.n - r->i };
	size_t k = 0;

	while (k < ARRAY_LEN(functions) &&
	    !(str_starts(rest, functions[k].name) && rest.n > strlen(functions[k].name) &&
		rest.p[strlen(functions[k].name)] == '('))
		k++;
	*found = k < ARRAY_LEN(functions);
	if (!*found)
		return true;
	if (r->depth >= JSONPATH_DEPTH_MAX)
		return jsonpath_wrong(r, "nested too deep");
	struct jsonpath_call *call = ARENA_NEW(r->arena, struct jsonpath_call);
	call->fn = (enum function)k;
	r->i += strlen(functions[k].name) + 1;
	r->depth++;
	bool read = read_arguments(r, call);
	r->depth--;
	const struct jsonpath_operand *second = &call->args[1];
	if (read && functions[k].test && second->type == JSONPATH_LITERAL && is_text(&second->literal))
		call->pattern = pattern_of(r->arena, second->literal.u.s, k == CALL_MATCH);
	*out = (struct jsonpath_operand){ .type = JSONPATH_CALL, .call = call };
	return read;
}

static size_t
count_characters(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

static bool
length_of(struct jsonpath_run *run, const struct value *v, struct value *out)
{
	if (is_text(v))
		*out = value_int((int64_t)count_characters(value_text(run->arena, v)));
	else if (document_kind(v) != DOCUMENT_SCALAR)
		*out = value_int((int64_t)document_size(v));
	else
		return false;
	return true;
}

static bool
matches(struct jsonpath_run *run, const struct jsonpath_call *call, const struct value *text,
    const struct value *pattern)
{
	const struct regex *re = call->pattern;
	size_t begin, end;
	bool yes = false;

	if (!is_text(text) || !is_text(pattern))
		return false;
	if (call->args[1].type != JSONPATH_LITERAL)
		re = pattern_of(run->arena, value_text(run->arena, pattern), call->fn == CALL_MATCH);
	if (re == NULL)
		return false;
	struct str s = value_text(run->arena, text);
	enum hinny_rc rc = call->fn == CALL_MATCH ? regex_matches(re, s, &yes, NULL)
						  : regex_find(re, s, 0, &yes, &begin, &end, NULL);
	return rc == HINNY_OK && yes;
}

/* How many nodes a path gives; one of them in *last. */
static size_t
nodes_of(struct jsonpath_run *run, const struct jsonpath_operand *path,
    const struct value *current, struct value *last)
{
	struct value v;
	if (!jsonpath_operand_value(run, path, current, &v))
		return 0;
	size_t n = path->path->definite ? 1 : document_size(&v);
	*last = v;
	if (!path->path->definite && n > 0)
		(void)document_item(run->arena, &v, n - 1, last);
	return n;
}

bool
jsonpath_call_value(struct jsonpath_run *run, const struct jsonpath_call *call,
    const struct value *current, struct value *out)
{
	struct value v = value_null(), pattern = value_null();
	if (functions[call->fn].nodes) {
		size_t n = nodes_of(run, &call->args[0], current, &v);
		*out = call->fn == CALL_COUNT ? value_int((int64_t)n) : v;
		return call->fn == CALL_COUNT || n == 1;
	}
	bool there = jsonpath_operand_value(run, &call->args[0], current, &v);
	if (call->fn == CALL_LENGTH)
		return there && length_of(run, &v, out);
	there = jsonpath_operand_value(run, &call->args[1], current, &pattern) && there;
	*out = value_bool(there && matches(run, call, &v, &pattern));
	return true;
}
