/*
 * The operators of comparisons. What == and the orders mean is value_equal() and value_compare();
 * here is the rest: null on a side, negation, contains, in, regex, range, is. A negated operator is
 * the opposite of the plain one, on null too.
 */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"
#include "core/lang/document.h"
#include "core/lang/text.h"

struct comparison {
	const struct simple_node *node;
	struct exchange *ex;
	const struct value *l, *r;
};

typedef enum eval_rc compare_fn(const struct comparison *c, bool *out);

static struct arena *
arena_of(const struct comparison *c)
{
	return &c->ex->arena;
}

/* Java's strings, numbers, Booleans and dates. */
static bool
is_scalar(const struct value *v)
{
	enum document_kind kind = document_kind(v);
	return kind != DOCUMENT_ARRAY && kind != DOCUMENT_OBJECT && v->type != VALUE_BYTES &&
	    v->type != VALUE_XML && !(v->type == VALUE_STRING && (v->flags & VALUE_INPUT));
}

static enum eval_rc
compare_equal(const struct comparison *c, bool *out)
{
	*out = value_equal(arena_of(c), c->l, c->r, c->node->op == SIMPLE_EQ_NOCASE);
	return EVAL_OK;
}

/* What Java cannot compare: collections, bytes and streams with all but text go by the names of the
 * classes, a number or a Boolean with them is an error (0). False: it can. */
static bool
order_classes(const struct comparison *c, int *order)
{
	const char *l = value_class(c->l), *r = value_class(c->r);
	if (l == NULL || r == NULL || strcmp(r, "java.lang.String") == 0 ||
	    strcmp(l, "java.lang.String") == 0)
		return false;
	bool l_object = !is_scalar(c->l), r_object = !is_scalar(c->r);
	bool l_bool = strcmp(l, "java.lang.Boolean") == 0,
	     r_bool = strcmp(r, "java.lang.Boolean") == 0;
	*order = 0;
	if (!l_object)
		return r_object || (l_bool && !r_bool && strcmp(r, "java.lang.Integer") != 0) ||
		    (r_bool && !l_bool && strcmp(l, "java.lang.Integer") != 0);
	if (strcmp(l, r) == 0)
		return false;
	*order = strcmp(strcmp(l, "byte[]") == 0 ? "[B" : l, strcmp(r, "byte[]") == 0 ? "[B" : r);
	return true;
}

static enum eval_rc
compare_order(const struct comparison *c, bool *out)
{
	int order;
	*out = false;
	if (value_is_null(c->l) && value_is_null(c->r)) {
		*out = c->node->op != SIMPLE_GT;
		return EVAL_OK;
	}
	if (order_classes(c, &order)) {
		if (order == 0)
			return simple_fail(c->ex, EXCEPTION_CLASS_CAST,
			    "class %s cannot be cast to class %s", value_class(c->r),
			    value_class(c->l));
	} else if (!value_compare(arena_of(c), c->l, c->r, &order))
		return EVAL_OK;
	switch (c->node->op) {
	case SIMPLE_GT:
		*out = order > 0;
		break;
	case SIMPLE_GE:
		*out = order >= 0;
		break;
	case SIMPLE_LT:
		*out = order < 0;
		break;
	default:
		*out = order <= 0;
		break;
	}
	return EVAL_OK;
}

static bool
has_text(const struct value *v)
{
	return value_has_text(v) && v->type != VALUE_DECIMAL;
}

static bool
text_contains(
    struct arena *a, const struct value *text, const struct value *part, bool nocase)
{
	struct str l = value_text(a, text), r = value_text(a, part);
	if (str_find(l, r) != SIZE_MAX)
		return true;
	return nocase && str_find(text_lower(a, l), text_lower(a, r)) != SIZE_MAX;
}

static enum eval_rc
compare_contains(const struct comparison *c, bool *out)
{
	bool nocase = c->node->op == SIMPLE_CONTAINS_NOCASE;
	enum document_kind kind = document_kind(c->l);
	if (value_is_null(c->l) || value_is_null(c->r)) {
		*out = value_is_null(c->l) && value_is_null(c->r);
	} else if (kind == DOCUMENT_ARRAY) {
		struct document_iter it;
		struct str key;
		struct value item;
		*out = false;
		document_iter_init(&it, arena_of(c), c->l);
		while (!*out && document_iter_next(&it, &key, &item))
			*out = nocase && c->r->type == VALUE_STRING
			    ? text_contains(arena_of(c), &item, c->r, true)
			    : value_same(arena_of(c), &item, c->r);
	} else if (kind == DOCUMENT_OBJECT || !has_text(c->l)) {
		*out = value_equal(arena_of(c), c->l, c->r, nocase);
	} else {
		*out = text_contains(arena_of(c), c->l, c->r, nocase);
	}
	return EVAL_OK;
}

static enum eval_rc
compare_affix(const struct comparison *c, bool *out)
{
	*out = value_is_null(c->l) && value_is_null(c->r);
	if (value_is_null(c->l) || value_is_null(c->r))
		return EVAL_OK;
	struct str l = value_text(arena_of(c), c->l), r = value_text(arena_of(c), c->r);
	if (l.n < r.n)
		return EVAL_OK;
	const char *at = c->node->op == SIMPLE_STARTS ? l.p : l.p + l.n - r.n;
	*out = str_eq((struct str){ at, r.n }, r);
	return EVAL_OK;
}

static enum eval_rc
compare_regex(const struct comparison *c, bool *out)
{
	struct hinny_error err;
	struct regex *re = c->node->compiled ? c->node->u.regex : NULL;
	*out = false;
	if (value_is_null(c->l) || value_is_null(c->r))
		return EVAL_OK;
	if (re == NULL &&
	    regex_compile(arena_of(c), value_text(arena_of(c), c->r), 0, &re, &err) != HINNY_OK)
		return simple_fail(c->ex, EXCEPTION_PATTERN_SYNTAX, "%s", err.text);
	if (regex_matches(re, value_text(arena_of(c), c->l), out, &err) != HINNY_OK)
		return simple_fail(c->ex, EXCEPTION_RUNTIME, "%s", err.text);
	return EVAL_OK;
}

/* The items of a text, as Java's scanner gives them: one comma before each is skipped, also at the
 * start; ",,gold" is an empty item and gold. */
static bool
next_item(struct str *rest, struct str *item)
{
	if (rest->n > 0 && rest->p[0] == ',')
		*rest = (struct str){ rest->p + 1, rest->n - 1 };
	if (rest->n == 0)
		return false;
	const char *comma = memchr(rest->p, ',', rest->n);
	size_t n = comma != NULL ? (size_t)(comma - rest->p) : rest->n;
	*item = (struct str){ rest->p, n };
	*rest = (struct str){ rest->p + n, rest->n - n };
	return true;
}

/* Each item is converted to the class of a number on the left. */
static enum eval_rc
in_item(const struct comparison *c, struct value item, bool *out)
{
	int64_t i;
	double d;
	bool is_long = c->l->type == VALUE_INT && (c->l->flags & VALUE_LONG);
	bool fits = item.type != VALUE_STRING ||
	    (c->l->type == VALUE_INT && !(c->l->flags & VALUE_DATE)
		    ? str_to_int64(item.u.s, &i) &&
			    (is_long || (i >= INT32_MIN && i <= INT32_MAX) || c->l->u.i > INT32_MAX ||
				c->l->u.i < INT32_MIN)
		    : c->l->type != VALUE_DOUBLE || str_to_double(str_trim(item.u.s), &d));
	if (!fits)
		return simple_fail(c->ex, EXCEPTION_TYPE_CONVERSION,
		    "java.lang.NumberFormatException: For input string: \"%.*s\"",
		    STR_FMT(item.u.s));
	*out = value_equal(arena_of(c), c->l, &item, false);
	return EVAL_OK;
}

static enum eval_rc
compare_in(const struct comparison *c, bool *out)
{
	enum eval_rc rc = EVAL_OK;
	*out = false;
	if (value_is_null(c->r) || (has_text(c->l) && (c->l->flags & VALUE_INPUT)))
		return EVAL_OK;
	if (document_kind(c->r) == DOCUMENT_ARRAY) {
		struct document_iter it;
		struct str key;
		struct value item;
		document_iter_init(&it, arena_of(c), c->r);
		while (!*out && rc == EVAL_OK && document_iter_next(&it, &key, &item))
			rc = in_item(c, item, out);
		return rc;
	}
	if (!has_text(c->r)) {
		struct value v;
		if (document_kind(c->l) == DOCUMENT_SCALAR && !value_is_null(c->l)) {
			enum value_class_id class = value_class_find(str_of(value_class(c->l)));
			*out = class != CLASS_NONE &&
			    value_convert(arena_of(c), c->r, class, &v, NULL) == HINNY_OK &&
			    value_equal(arena_of(c), c->l, &v, false);
			return EVAL_OK;
		}
		return in_item(c, *c->r, out);
	}
	struct str rest = value_text(arena_of(c), c->r), item;
	while (!*out && rc == EVAL_OK && next_item(&rest, &item))
		rc = in_item(c, value_str(item), out);
	return rc;
}

bool
simple_range_parse(struct str text, struct simple_range *out)
{
	size_t dots = str_find(text, STR_LIT(".."));
	return dots != SIZE_MAX &&
	    str_to_int64(str_trim((struct str){ text.p, dots }), &out->from) &&
	    str_to_int64(str_trim((struct str){ text.p + dots + 2, text.n - dots - 2 }), &out->to);
}

static enum eval_rc
compare_range(const struct comparison *c, bool *out)
{
	struct simple_range range;
	*out = false;
	if (c->node->compiled) {
		range = c->node->u.range;
	} else {
		struct str text = value_text(arena_of(c), c->r);
		if (!simple_range_parse(text, &range))
			return simple_fail(c->ex, EXCEPTION_ILLEGAL_ARGUMENT,
			    "operator range is not valid: expected 'from..to', was '%.*s'",
			    STR_FMT(text));
	}
	struct value from = value_int(range.from), to = value_int(range.to);
	int order;
	*out = value_compare(arena_of(c), c->l, &from, &order) && order >= 0 &&
	    value_compare(arena_of(c), c->l, &to, &order) && order <= 0;
	return EVAL_OK;
}

/* Is a value of class `name` also one of `id`'s class? */
static bool
is_instance(const struct value *v, enum value_class_id id)
{
	const char *name = value_class(v);
	if (name == NULL)
		return false;
	if (id == CLASS_OBJECT || strcmp(name, value_class_name(id)) == 0)
		return true;
	enum document_kind kind = document_kind(v);
	return (id == CLASS_LIST && kind == DOCUMENT_ARRAY && !(v->flags & VALUE_ARRAY)) ||
	    (id == CLASS_MAP && kind == DOCUMENT_OBJECT) ||
	    (id == CLASS_NODE_LIST && v->type == VALUE_XML && (v->flags & VALUE_NODESET)) ||
	    (id == CLASS_INPUT_STREAM && (v->flags & VALUE_INPUT) && value_has_text(v));
}

/* Nothing is an instance of "int". */
static bool
is_primitive(struct str name)
{
	return name.n > 0 && name.p[0] >= 'a' && name.p[0] <= 'z' &&
	    memchr(name.p, '.', name.n) == NULL && !str_eq(name, STR_LIT("byte[]"));
}

/* Classes that nothing converts to, but that values are of. False: not known. */
static bool
is_other(const struct value *v, struct str name, bool *out)
{
	bool number =
	    v->type == VALUE_DOUBLE || v->type == VALUE_DECIMAL || v->type == VALUE_INT;
	if (str_eq(name, STR_LIT("java.lang.Number")))
		*out = number && !(v->flags & VALUE_DATE);
	else if (str_eq(name, STR_LIT("java.lang.Comparable")))
		*out = !value_is_null(v) && is_scalar(v);
	else if (str_eq(name, STR_LIT("org.apache.camel.StreamCache")))
		*out = has_text(v) && (v->flags & VALUE_INPUT);
	else
		return false;
	return true;
}

static enum eval_rc
compare_is(const struct comparison *c, bool *out)
{
	struct str name = value_text(arena_of(c), c->r);
	enum value_class_id id = value_class_find(name);
	*out = false;
	if (id == CLASS_NONE && is_other(c->l, name, out))
		return EVAL_OK;
	if (id == CLASS_NONE)
		return simple_fail(c->ex, EXCEPTION_CLASS_NOT_FOUND, "%.*s", STR_FMT(name));
	*out = !is_primitive(name) && is_instance(c->l, id);
	return EVAL_OK;
}

static compare_fn *const comparers[] = {
	[SIMPLE_EQ] = compare_equal,
	[SIMPLE_EQ_NOCASE] = compare_equal,
	[SIMPLE_GT] = compare_order,
	[SIMPLE_GE] = compare_order,
	[SIMPLE_LT] = compare_order,
	[SIMPLE_LE] = compare_order,
	[SIMPLE_CONTAINS] = compare_contains,
	[SIMPLE_CONTAINS_NOCASE] = compare_contains,
	[SIMPLE_STARTS] = compare_affix,
	[SIMPLE_ENDS] = compare_affix,
	[SIMPLE_REGEX] = compare_regex,
	[SIMPLE_IN] = compare_in,
	[SIMPLE_RANGE] = compare_range,
	[SIMPLE_IS] = compare_is,
};

enum eval_rc
simple_compare(const struct simple_node *node, struct exchange *ex, const struct value *l,
    const struct value *r, bool *out)
{
	const struct comparison c = { .node = node, .ex = ex, .l = l, .r = r };
	enum eval_rc rc = comparers[node->op](&c, out);
	if (node->negate)
		*out = !*out;
	return rc;
}
