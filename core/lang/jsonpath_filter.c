/* Filters of jsonpath: conditions joined by && and ||, negated by !, over paths and literals. The
 * operators are a table. */
#include "core/lang/jsonpath_priv.h"

#include "core/base/assert.h"

enum condition_type {
	CONDITION_OR,
	CONDITION_AND,
	CONDITION_NOT,
	CONDITION_EXISTS,
	CONDITION_COMPARE
};

struct jsonpath_condition {
	enum condition_type type;
	const struct jsonpath_condition *l, *r; /* OR, AND, NOT */
	struct jsonpath_operand left, right;    /* EXISTS, COMPARE */
	jsonpath_compare_fn *compare;
};

/* ---- comparing ---- */

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

static bool
to_double(const struct value *v, double *out)
{
	if (v->type == VALUE_INT || v->type == VALUE_DOUBLE)
		*out = v->type == VALUE_INT ? (double)v->u.i : v->u.d;
	else if (!value_has_text(v) || !str_to_double(v->u.s, out))
		return false;
	return true;
}

/* Orders two numbers; false when one is none (a text that reads as a number is one). */
static bool
order_numbers(const struct value *l, const struct value *r, int *out)
{
	double x, y;
	if (l->type == VALUE_INT && r->type == VALUE_INT) {
		*out = (l->u.i > r->u.i) - (l->u.i < r->u.i);
		return true;
	}
	if (!to_double(l, &x) || !to_double(r, &y))
		return false;
	*out = (x > y) - (x < y);
	return x == x && y == y;
}

static bool
values_equal(struct arena *a, const struct value *l, const struct value *r)
{
	int order;
	if (document_kind(l) != DOCUMENT_SCALAR || document_kind(r) != DOCUMENT_SCALAR)
		return document_kind(l) == document_kind(r) && value_equal(a, l, r, false);
	if (is_number(l) && (is_number(r) || is_text(r)))
		return order_numbers(l, r, &order) && order == 0;
	if (is_text(l) && (is_text(r) || is_number(r)))
		return str_eq(value_text(a, l), value_text(a, r));
	if (l->type == VALUE_BOOL && r->type == VALUE_BOOL)
		return l->u.b == r->u.b;
	return value_is_null(l) && value_is_null(r);
}

static bool
compare_equal(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return l->there && r->there && values_equal(run->arena, &l->v, &r->v);
}

static bool
compare_not_equal(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return !compare_equal(run, l, r);
}

static bool
compare_same(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return l->there && r->there && is_number(&l->v) == is_number(&r->v) &&
	    values_equal(run->arena, &l->v, &r->v);
}

static bool
compare_not_same(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return !compare_same(run, l, r);
}

/* Numbers with numbers, texts with texts; false for anything else. */
static bool
order_sides(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r, int *order)
{
	if (!l->there || !r->there)
		return false;
	if (is_number(&l->v) && is_number(&r->v))
		return order_numbers(&l->v, &r->v, order);
	if (!is_text(&l->v) || !is_text(&r->v))
		return false;
	struct str a = value_text(run->arena, &l->v), b = value_text(run->arena, &r->v);
	size_t n = a.n < b.n ? a.n : b.n;
	*order = n > 0 ? memcmp(a.p, b.p, n) : 0;
	if (*order == 0)
		*order = (a.n > b.n) - (a.n < b.n);
	return true;
}

static bool
compare_less(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	int order;
	return order_sides(run, l, r, &order) && order < 0;
}

static bool
compare_less_equal(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	int order;
	return order_sides(run, l, r, &order) && order <= 0;
}

static bool
compare_greater(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	int order;
	return order_sides(run, l, r, &order) && order > 0;
}

static bool
compare_greater_equal(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	int order;
	return order_sides(run, l, r, &order) && order >= 0;
}

/* The pattern matches the whole text, or that of an item. */
static bool
compare_matches(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	const struct jsonpath_side *text = r->pattern != NULL ? l : r;
	const struct regex *pattern = r->pattern != NULL ? r->pattern : l->pattern;
	struct document_iter it;
	struct str key;
	struct value item;
	bool yes = false;
	if (pattern == NULL || !text->there || value_is_null(&text->v))
		return false;
	if (document_kind(&text->v) == DOCUMENT_SCALAR)
		return regex_matches(pattern, value_text(run->arena, &text->v), &yes, NULL) ==
		    HINNY_OK &&
		    yes;
	document_iter_init(&it, run->arena, &text->v);
	while (!yes && document_iter_next(&it, &key, &item))
		if (regex_matches(pattern, value_text(run->arena, &item), &yes, NULL) != HINNY_OK)
			return false;
	return yes;
}

static bool
has_item(struct jsonpath_run *run, const struct value *list, const struct value *wanted)
{
	struct document_iter it;
	struct str key;
	struct value item;
	document_iter_init(&it, run->arena, list);
	while (document_iter_next(&it, &key, &item))
		if (values_equal(run->arena, &item, wanted))
			return true;
	return false;
}

static bool
is_list(const struct jsonpath_side *s)
{
	return s->there && document_kind(&s->v) == DOCUMENT_ARRAY;
}

static bool
compare_in(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return l->there && is_list(r) && has_item(run, &r->v, &l->v);
}

static bool
compare_not_in(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return !compare_in(run, l, r);
}

static bool
compare_contains(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	if (is_list(l))
		return r->there && has_item(run, &l->v, &r->v);
	return l->there && r->there && is_text(&l->v) && is_text(&r->v) &&
	    str_find(value_text(run->arena, &l->v), value_text(run->arena, &r->v)) != SIZE_MAX;
}

/* How many items of l are in r. */
static bool
count_common(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r, size_t *count)
{
	struct document_iter it;
	struct str key;
	struct value item;
	if (!is_list(l) || !is_list(r))
		return false;
	*count = 0;
	document_iter_init(&it, run->arena, &l->v);
	while (document_iter_next(&it, &key, &item))
		*count += has_item(run, &r->v, &item);
	return true;
}

static bool
compare_subset(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	size_t count;
	return count_common(run, l, r, &count) && count == document_size(&l->v);
}

static bool
compare_all(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	return compare_subset(run, r, l);
}

static bool
compare_any(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	size_t count;
	return count_common(run, l, r, &count) && count > 0;
}

static bool
compare_none(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	size_t count;
	return count_common(run, l, r, &count) && count == 0;
}

/* Characters of a text, items of a list, members of an object; false for anything else. */
static bool
size_of(struct jsonpath_run *run, const struct jsonpath_side *s, size_t *out)
{
	if (!s->there || (document_kind(&s->v) == DOCUMENT_SCALAR && !is_text(&s->v)))
		return false;
	*out = is_text(&s->v) ? value_text(run->arena, &s->v).n : document_size(&s->v);
	return true;
}

static bool
compare_size(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	size_t n, wanted;
	if (!size_of(run, l, &n) || !r->there)
		return false;
	if (r->v.type == VALUE_INT)
		return r->v.u.i >= 0 && (uint64_t)r->v.u.i == n;
	return size_of(run, r, &wanted) && n == wanted;
}

static bool
compare_empty(struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r)
{
	size_t n;
	return size_of(run, l, &n) && r->there && r->v.type == VALUE_BOOL && (n == 0) == r->v.u.b;
}

static const struct operation {
	const char *text;
	bool word; /* in any letter case, ended by a blank, quote or bracket */
	jsonpath_compare_fn *compare;
} operators[] = {
	/* a text comes before its own beginnings */
	{ "===", false, compare_same },
	{ "==", false, compare_equal },
	{ "!==", false, compare_not_same },
	{ "!=", false, compare_not_equal },
	{ "<=", false, compare_less_equal },
	{ "<", false, compare_less },
	{ ">=", false, compare_greater_equal },
	{ ">", false, compare_greater },
	{ "=~", false, compare_matches },
	{ "in", true, compare_in },
	{ "nin", true, compare_not_in },
	{ "contains", true, compare_contains },
	{ "subsetof", true, compare_subset },
	{ "anyof", true, compare_any },
	{ "noneof", true, compare_none },
	{ "all", true, compare_all },
	{ "size", true, compare_size },
	{ "empty", true, compare_empty },
};

/* ---- truth ---- */

bool
jsonpath_operand_value(struct jsonpath_run *run, const struct jsonpath_operand *operand,
    const struct value *current, struct value *out)
{
	if (operand->type == JSONPATH_CALL)
		return jsonpath_call_value(run, operand->call, current, out);
	if (operand->type != JSONPATH_PATH) {
		*out = operand->literal;
		return true;
	}
	struct jsonpath_run inner = { .arena = run->arena, .root = run->root };
	return jsonpath_evaluate(&inner, operand->path, current, out) == JSONPATH_FOUND;
}

static struct jsonpath_side
side_of(
    struct jsonpath_run *run, const struct jsonpath_operand *operand, const struct value *current)
{
	struct jsonpath_side s = { .v = value_null(), .pattern = operand->pattern };
	s.there = jsonpath_operand_value(run, operand, current, &s.v);
	return s;
}

/* What a test without a comparison found: the truth of match() and search(), and in RFC 9535 at
 * least one node. */
static bool
is_something(const struct jsonpath_operand *operand, const struct value *v)
{
	if (operand->type == JSONPATH_CALL)
		return v->type == VALUE_BOOL && v->u.b;
	return !operand->strict || operand->path->definite || document_size(v) > 0;
}

bool
jsonpath_accepts(struct jsonpath_run *run, const struct jsonpath_condition *condition,
    const struct value *current)
{
	struct jsonpath_side l, r;
	switch (condition->type) {
	case CONDITION_OR:
		return jsonpath_accepts(run, condition->l, current) ||
		    jsonpath_accepts(run, condition->r, current);
	case CONDITION_AND:
		return jsonpath_accepts(run, condition->l, current) &&
		    jsonpath_accepts(run, condition->r, current);
	case CONDITION_NOT:
		return !jsonpath_accepts(run, condition->l, current);
	case CONDITION_EXISTS:
		return jsonpath_operand_value(run, &condition->left, current, &l.v) &&
		    is_something(&condition->left, &l.v);
	case CONDITION_COMPARE:
		break;
	}
	l = side_of(run, &condition->left, current);
	r = side_of(run, &condition->right, current);
	return condition->compare(run, &l, &r);
}

/* ---- reading ---- */

static bool
read_list(struct jsonpath_reader *r, struct value *out)
{
	*out = value_new_list(r->arena, 8);
	r->i++;
	for (size_t n = 0;; n++) {
		struct jsonpath_operand item;
		jsonpath_skip_blanks(r);
		if (jsonpath_peek(r) == ']') {
			r->i++;
			return true;
		}
		if (n > 0) {
			if (jsonpath_peek(r) != ',')
				return jsonpath_wrong(r, "a ] is missing");
			r->i++;
		}
		if (!jsonpath_read_operand(r, &item))
			return false;
		if (item.type != JSONPATH_LITERAL)
			return jsonpath_wrong(r, "a list holds values only");
		value_list_add(r->arena, out->u.list, item.literal);
	}
}

static bool
read_object(struct jsonpath_reader *r, struct value *out)
{
	const struct json_node *root;
	size_t end;
	struct hinny_error err;
	struct str rest = { r->text.p + r->i, r->text.n - r->i };
	if (json_parse_first(r->arena, rest, &root, &end, &err) != HINNY_OK)
		return jsonpath_wrong(r, "%s", err.text);
	*out = value_from_json(r->arena, root, NULL);
	r->i += end;
	return true;
}

/* /text/flags */
static bool
read_pattern(struct jsonpath_reader *r, struct jsonpath_operand *out)
{
	size_t begin = ++r->i;
	while (r->i < r->text.n && r->text.p[r->i] != '/')
		r->i += r->text.p[r->i] == '\\' && r->i + 1 < r->text.n ? 2 : 1;
	if (r->i >= r->text.n)
		return jsonpath_wrong(r, "a pattern is not closed by /");
	struct str text = { r->text.p + begin, r->i++ - begin };
	unsigned flags = 0;
	for (;
	     r->i < r->text.n && strchr("ism", r->text.p[r->i]) != NULL && r->text.p[r->i] != '\0';
	     r->i++)
		flags |= r->text.p[r->i] == 'i' ? REGEX_NOCASE
		    : r->text.p[r->i] == 's'    ? REGEX_DOTALL
						: REGEX_MULTILINE;
	struct hinny_error err;
	out->type = JSONPATH_PATTERN;
	return regex_compile(r->arena, text, flags, &out->pattern, &err) == HINNY_OK ||
	    jsonpath_wrong(r, "%s", err.text);
}

static size_t
skip_digits(struct str s, size_t i)
{
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i;
}

/* A number as JSON writes it, or a word. */
static bool
is_json_word(struct str s)
{
	size_t i = s.n > 0 && s.p[0] == '-', begin = i;
	if (s.n > 0 && s.p[0] >= 'a' && s.p[0] <= 'z')
		return true;
	i = skip_digits(s, i);
	if (i == begin || (s.p[begin] == '0' && i > begin + 1))
		return false;
	if (i < s.n && s.p[i] == '.') {
		begin = ++i;
		if ((i = skip_digits(s, i)) == begin)
			return false;
	}
	if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i += 1 + (i + 1 < s.n && (s.p[i + 1] == '+' || s.p[i + 1] == '-'));
		begin = i;
		if ((i = skip_digits(s, i)) == begin)
			return false;
	}
	return i == s.n;
}

static bool
read_word(struct jsonpath_reader *r, struct value *out)
{
	size_t begin = r->i;
	while (r->i < r->text.n && strchr(" \t\r\n)],&|=<>!~", r->text.p[r->i]) == NULL)
		r->i++;
	struct str word = { r->text.p + begin, r->i - begin };
	int64_t i;
	double d;
	if (r->strict && !is_json_word(word)) {
		r->i = begin;
		return jsonpath_wrong(r,
		    "expected a path, a function, a text in quotes, a number, true, false or null");
	}
	if (str_eq(word, STR_LIT("null")))
		*out = value_null();
	else if (str_eq(word, STR_LIT("true")) || str_eq(word, STR_LIT("false")))
		*out = value_bool(word.p[0] == 't');
	else if (str_to_int64(word, &i))
		*out = value_int(i);
	else if (str_to_double(word, &d))
		*out = value_double(d);
	else {
		r->i = begin;
		return jsonpath_wrong(
		    r, "expected a path, a text in quotes, a number, true, false or null");
	}
	return true;
}

bool
jsonpath_read_operand(struct jsonpath_reader *r, struct jsonpath_operand *out)
{
	*out = (struct jsonpath_operand){ .type = JSONPATH_LITERAL, .literal = value_null() };
	jsonpath_skip_blanks(r);
	char c = jsonpath_peek(r);
	if (c == '@' || c == '$') {
		out->type = JSONPATH_PATH;
		out->strict = r->strict;
		return jsonpath_read_path(r, true, &out->path);
	}
	bool call = false;
	if (r->strict && !jsonpath_read_call(r, out, &call))
		return false;
	if (call)
		return true;
	if (c == '\'' || c == '"') {
		struct str text;
		if (!jsonpath_read_quoted(r, &text))
			return false;
		out->literal = value_str(text);
		return true;
	}
	if (c == '/')
		return read_pattern(r, out);
	if (c == '{')
		return read_object(r, &out->literal);
	if (c != '[')
		return read_word(r, &out->literal);
	if (r->depth >= JSONPATH_DEPTH_MAX)
		return jsonpath_wrong(r, "nested too deep");
	r->depth++;
	bool read = read_list(r, &out->literal);
	r->depth--;
	return read;
}

static const struct operation *
read_operator(struct jsonpath_reader *r)
{
	jsonpath_skip_blanks(r);
	struct str rest = { r->text.p + r->i, r->text.n - r->i };
	for (size_t k = 0; k < ARRAY_LEN(operators); k++) {
		const struct operation *op = &operators[k];
		size_t n = strlen(op->text);
		if (!(op->word ? str_casestarts(rest, op->text) : str_starts(rest, op->text)))
			continue;
		if (op->word && (rest.n <= n || strchr(" \t\r\n'\"[({", rest.p[n]) == NULL))
			continue;
		r->i += n;
		return op;
	}
	return NULL;
}

static struct jsonpath_condition *
condition_new(struct jsonpath_reader *r, enum condition_type type)
{
	struct jsonpath_condition *condition = ARENA_NEW(r->arena, struct jsonpath_condition);
	condition->type = type;
	return condition;
}

/* What RFC 9535 allows at either side of an operator. */
static bool
check_side(struct jsonpath_reader *r, const struct jsonpath_operand *o)
{
	if (o->type == JSONPATH_PATH && !jsonpath_is_singular(o->path))
		return jsonpath_wrong(r, "%s gives several nodes, which cannot be compared", o->path->shown);
	if (o->type == JSONPATH_CALL && jsonpath_call_is_test(o->call))
		return jsonpath_wrong(r, "the result of match and search cannot be compared");
	return true;
}

static bool
read_comparison(struct jsonpath_reader *r, const struct jsonpath_condition **out)
{
	struct jsonpath_condition *condition = condition_new(r, CONDITION_COMPARE);
	*out = condition;
	if (!jsonpath_read_operand(r, &condition->left))
		return false;
	const struct operation *op = read_operator(r);
	if (op != NULL) {
		jsonpath_compare_fn *strict = r->strict ? jsonpath_strict_compare(op->text) : NULL;
		condition->compare = strict != NULL ? strict : op->compare;
		return jsonpath_read_operand(r, &condition->right) &&
		    (strict == NULL ||
			(check_side(r, &condition->left) && check_side(r, &condition->right)));
	}
	bool test = condition->left.type == JSONPATH_PATH ||
	    (condition->left.type == JSONPATH_CALL && jsonpath_call_is_test(condition->left.call));
	if (!test)
		return jsonpath_wrong(r, "expected an operator");
	condition->type = CONDITION_EXISTS;
	return true;
}

static bool read_or(struct jsonpath_reader *r, const struct jsonpath_condition **out);

/* Does something else than a bracket or a further ! stand at `at`? */
static bool
not_bare(const struct jsonpath_reader *r, size_t at)
{
	while (at < r->text.n && strchr(" \t\r\n", r->text.p[at]) != NULL)
		at++;
	return at < r->text.n && r->text.p[at] != '(' && r->text.p[at] != '!';
}

static bool
read_term(struct jsonpath_reader *r, const struct jsonpath_condition **out)
{
	jsonpath_skip_blanks(r);
	char c = jsonpath_peek(r);
	if (c != '!' && c != '(')
		return read_comparison(r, out);
	if (r->depth >= JSONPATH_DEPTH_MAX)
		return jsonpath_wrong(r, "nested too deep");
	r->i++;
	r->depth++;
	size_t at = r->i;
	bool read;
	if (c == '!') {
		struct jsonpath_condition *not = condition_new(r, CONDITION_NOT);
		*out = not ;
		read = read_term(r, &not ->l);
		if (read && r->strict && not ->l->type == CONDITION_COMPARE && not_bare(r, at))
			read = jsonpath_wrong(r, "a comparison behind ! needs parentheses");
	} else {
		read = read_or(r, out);
		jsonpath_skip_blanks(r);
		if (read && jsonpath_peek(r) != ')')
			read = jsonpath_wrong(r, "a ) is missing");
		r->i += read;
	}
	r->depth--;
	return read;
}

/* Terms joined by `mark` twice ("&&" or "||"), each read by `next`. */
static bool
read_joined(struct jsonpath_reader *r, char mark, enum condition_type type,
    bool (*next)(struct jsonpath_reader *, const struct jsonpath_condition **),
    const struct jsonpath_condition **out)
{
	if (!next(r, out))
		return false;
	for (unsigned terms = 1;; terms++) {
		jsonpath_skip_blanks(r);
		if (jsonpath_peek(r) != mark || r->i + 1 >= r->text.n ||
		    r->text.p[r->i + 1] != mark)
			return true;
		if (terms == JSONPATH_ITEMS_MAX)
			return jsonpath_wrong(r, "more than %d conditions", JSONPATH_ITEMS_MAX);
		r->i += 2;
		struct jsonpath_condition *both = condition_new(r, type);
		both->l = *out;
		*out = both;
		if (!next(r, &both->r))
			return false;
	}
}

static bool
read_and(struct jsonpath_reader *r, const struct jsonpath_condition **out)
{
	return read_joined(r, '&', CONDITION_AND, read_term, out);
}

static bool
read_or(struct jsonpath_reader *r, const struct jsonpath_condition **out)
{
	return read_joined(r, '|', CONDITION_OR, read_and, out);
}

bool
jsonpath_read_condition(struct jsonpath_reader *r, const struct jsonpath_condition **out)
{
	return read_or(r, out);
}
