/*
 * Truth, equality and ordering with Camel's coercions (spec/simple.md sections 3 and 4). Unlike
 * Camel's, digits of any length compare exactly and never fail.
 */
#include "core/model/value.h"

#include "core/model/json.h"
#include "core/model/value_priv.h"

#include <limits.h>
#include <math.h>

/* ---- numbers as text ---- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
value_is_digits(struct str s)
{
	size_t i = s.n > 0 && s.p[0] == '-' ? 1 : 0;

	if (i == s.n)
		return false;
	for (; i < s.n; i++) {
		if (!is_digit(s.p[i]))
			return false;
	}
	return true;
}

/* An optional "-", digits with at most one point among them, a digit at least. */
static bool
is_floating(struct str s)
{
	size_t digits = 0, points = 0;

	for (size_t i = s.n > 0 && s.p[0] == '-' ? 1 : 0; i < s.n; i++) {
		if (s.p[i] == '.')
			points++;
		else if (is_digit(s.p[i]))
			digits++;
		else
			return false;
	}
	return digits > 0 && points <= 1;
}

/* A decimal number of any length: its significant digits lie in [at, end), among them perhaps a
 * point; the first counts 10^magnitude. */
struct decimal {
	bool negative;
	const char *at, *end; /* at == end: zero */
	int64_t magnitude;
};

static int64_t
parse_exponent(const char *p, const char *end)
{
	int64_t e = 0;
	bool negative = p < end && *p == '-';

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end; p++) {
		if (e < INT64_MAX / 20)
			e = e * 10 + (*p - '0');
	}
	return negative ? -e : e;
}

static struct decimal
parse_decimal(struct str s)
{
	struct decimal d = { 0 };
	const char *p = s.p, *end = s.p + s.n;
	int64_t exponent = 0, whole = 0;
	bool point = false;

	if (p < end && (*p == '-' || *p == '+'))
		d.negative = *p++ == '-';
	for (const char *q = p; q < end; q++) {
		if (*q == 'e' || *q == 'E') {
			exponent = parse_exponent(q + 1, end);
			end = q;
		}
	}
	for (; p < end && (*p == '0' || *p == '.'); p++) { /* to the first digit that counts */
		if (*p == '.')
			point = true;
		else if (point)
			whole--;
	}
	d.at = p;
	d.end = end;
	if (!point) {
		for (; p < end && *p != '.'; p++)
			whole++;
	}
	d.magnitude = exponent + whole - 1;
	return d;
}

static char
next_digit(const char **p, const char *end)
{
	if (*p < end && **p == '.')
		(*p)++;
	return *p < end ? *(*p)++ : '0';
}

static int
compare_magnitudes(const struct decimal *l, const struct decimal *r)
{
	const char *a = l->at, *b = r->at;

	if (a == l->end || b == r->end)
		return (a != l->end) - (b != r->end);
	if (l->magnitude != r->magnitude)
		return l->magnitude < r->magnitude ? -1 : 1;
	while (a < l->end || b < r->end) {
		char x = next_digit(&a, l->end), y = next_digit(&b, r->end);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

int
value_compare_decimals(struct str l, struct str r)
{
	struct decimal a = parse_decimal(l), b = parse_decimal(r);
	bool a_zero = a.at == a.end, b_zero = b.at == b.end;

	if (a_zero && b_zero)
		return 0;
	bool a_negative = a.negative && !a_zero, b_negative = b.negative && !b_zero;
	if (a_negative != b_negative)
		return a_negative ? -1 : 1;
	return a_negative ? -compare_magnitudes(&a, &b) : compare_magnitudes(&a, &b);
}

/* ---- values as numbers and text ---- */

static bool
is_number(const struct value *v)
{
	return v->type == VALUE_INT || v->type == VALUE_DOUBLE || v->type == VALUE_DECIMAL;
}

/* What Java would hold as an integer object. */
static bool
is_integer(const struct value *v)
{
	return v->type == VALUE_INT || (v->type == VALUE_DECIMAL && value_is_digits(v->u.s));
}

/* Texts that may stand for a number: String, and what converts to it at once. */
static bool
is_text(const struct value *v)
{
	return v->type == VALUE_STRING || v->type == VALUE_BYTES || v->type == VALUE_XML;
}

static int
compare_doubles(double l, double r)
{
	return (l > r) - (l < r);
}

static int
compare_ints(int64_t l, int64_t r)
{
	return (l > r) - (l < r);
}

static double
decimal_to_double(struct str s)
{
	double d;

	if (str_to_double(s, &d))
		return d;
	return s.n > 0 && s.p[0] == '-' ? -HUGE_VAL
					: HUGE_VAL; /* too large or too long: in both cases bigger
	                                               than what it is compared with */
}

/* As a double; false when it is none. */
static bool
to_double(const struct value *v, double *out)
{
	switch ((enum value_type)v->type) {
	case VALUE_INT:
		*out = (double)v->u.i;
		return true;
	case VALUE_DOUBLE:
		*out = v->u.d;
		return true;
	case VALUE_DECIMAL:
		*out = decimal_to_double(v->u.s);
		return true;
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_XML: {
		struct str s = str_trim(v->u.s);
		if (str_to_double(s, out))
			return true;
		if (!value_is_digits(s))
			return false;
		*out = decimal_to_double(s);
		return true;
	}
	default:
		return false;
	}
}

/* The whole number that it counts as, as text (a double is cut; text only when it is whole); false
 * when it is none. */
static bool
to_integer_text(struct arena *a, const struct value *v, struct str *out)
{
	struct value whole;

	switch ((enum value_type)v->type) {
	case VALUE_INT:
		*out = value_text(a,
		    &(struct value){
			.type = VALUE_INT, .u.i = v->u.i }); /* a date as milliseconds */
		return true;
	case VALUE_DOUBLE:
		if (isnan(v->u.d) || fabs(v->u.d) >= 0x1p63)
			return false;
		whole = value_int((int64_t)v->u.d);
		*out = value_text(a, &whole);
		return true;
	case VALUE_DECIMAL:
		*out = v->u.s;
		return value_is_digits(v->u.s);
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_XML:
		*out = str_trim(v->u.s);
		return value_is_digits(*out);
	default:
		return false;
	}
}

/* As to_integer_text for what 18 digits hold, which is nearly all there is. */
static bool
to_small_int(const struct value *v, int64_t *out)
{
	if (v->type == VALUE_INT) {
		*out = v->u.i;
		return true;
	}
	if (!is_text(v))
		return false;
	struct str s = str_trim(v->u.s);
	return s.n <= 18 && value_is_digits(s) && str_to_int64(s, out);
}

/* Numbers without any cutting: int64 with int64 at once, exact digits next, doubles where one is a
 * double. False: one is not a number. */
static bool
compare_numbers(struct arena *a, const struct value *l, const struct value *r, int *out)
{
	double x, y;

	if (l->type == VALUE_INT && r->type == VALUE_INT) {
		*out = compare_ints(l->u.i, r->u.i);
		return true;
	}
	if (l->type == VALUE_DOUBLE || r->type == VALUE_DOUBLE) {
		if (!to_double(l, &x) || !to_double(r, &y) || isnan(x) || isnan(y))
			return false;
		*out = compare_doubles(x, y);
		return true;
	}
	struct value ln = *l, rn = *r;
	ln.flags = rn.flags = 0; /* a date is its milliseconds here */
	*out = value_compare_decimals(value_text(a, &ln), value_text(a, &rn));
	return true;
}

/* Java's String.compareTo: by UTF-16 units, in which what lies beyond U+FFFF sorts before U+E000.
 */
static unsigned
utf16_weight(unsigned char c)
{
	return c == 0xEE || c == 0xEF ? c + 0x10u : c;
}

static int
compare_texts(struct str l, struct str r)
{
	size_t n = l.n < r.n ? l.n : r.n;

	for (size_t i = 0; i < n; i++) {
		if (l.p[i] != r.p[i])
			return utf16_weight((unsigned char)l.p[i]) <
				utf16_weight((unsigned char)r.p[i])
			    ? -1
			    : 1;
	}
	return (l.n > r.n) - (l.n < r.n);
}

/* ---- truth ---- */

static bool
text_truth(struct str s)
{
	if (str_caseeq(s, STR_LIT("true")))
		return true;
	return !str_caseeq(s, STR_LIT("false")) && str_trim(s).n > 0;
}

static bool
json_truth(const struct json_node *n)
{
	struct arena scratch;

	switch ((enum json_type)n->type) {
	case JSON_IS_NULL:
	case JSON_IS_FALSE:
		return false;
	case JSON_IS_ARRAY:
		return n->children > 0;
	case JSON_IS_STRING: {
		arena_init(&scratch);
		bool truth = text_truth(json_text(&scratch, n));
		arena_fini(&scratch);
		return truth;
	}
	default:
		return true;
	}
}

bool
value_truth(const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_NULL:
		return false;
	case VALUE_BOOL:
		return v->u.b;
	case VALUE_STRING:
		return v->flags & VALUE_INPUT ? true
					      : text_truth(v->u.s); /* a stream is an object */
	case VALUE_XML:
		return v->flags & VALUE_NODESET ? v->aux > 0 : true;
	case VALUE_LIST:
		return v->flags & VALUE_ARRAY ? true : v->u.list->n > 0;
	case VALUE_JSON:
		return json_truth(v->u.json);
	default:
		return true;
	}
}

/* ---- equality ---- */

static bool
texts_equal(struct str l, struct str r, bool ignore_case)
{
	return ignore_case ? str_caseeq(l, r) : str_eq(l, r);
}

static bool same_kind_equal(
    struct arena *a, const struct value *l, const struct value *r, unsigned depth);

static bool
lists_equal(struct arena *a, const struct value *l, const struct value *r, unsigned depth)
{
	size_t n = value_size(l);
	struct value x, y;

	if (n != value_size(r) || depth == VALUE_DEPTH_MAX)
		return false;
	struct value lp = value_plain(a, l), rp = value_plain(a, r);
	for (size_t i = 0; i < n; i++) {
		if (!value_item(a, &lp, i, &x) || !value_item(a, &rp, i, &y) ||
		    !same_kind_equal(a, &x, &y, depth + 1))
			return false;
	}
	return true;
}

static bool
maps_equal(struct arena *a, const struct value *l, const struct value *r, unsigned depth)
{
	struct value lp = value_plain(a, l), rp = value_plain(a, r);
	const struct value_map *m = lp.u.map;

	if (m->n != rp.u.map->n || depth == VALUE_DEPTH_MAX)
		return false;
	for (size_t i = 0; i < m->n; i++) {
		struct value *other = value_map_find(rp.u.map, m->entries[i].key);
		if (other == NULL || !same_kind_equal(a, m->entries[i].value, other, depth + 1))
			return false;
	}
	return true;
}

/* Java's equals: no coercion but between lists and JSON arrays, maps and JSON objects. */
static bool
same_kind_equal(struct arena *a, const struct value *l, const struct value *r, unsigned depth)
{
	struct value x = value_scalar(a, l), y = value_scalar(a, r);

	if (value_is_list(&x) && value_is_list(&y))
		return lists_equal(a, &x, &y, depth);
	if (value_is_map(&x) && value_is_map(&y))
		return maps_equal(a, &x, &y, depth);
	if (is_integer(&x) && is_integer(&y)) {
		int order;
		return compare_numbers(a, &x, &y, &order) && order == 0;
	}
	if (x.type != y.type)
		return false;
	switch ((enum value_type)x.type) {
	case VALUE_NULL:
		return true;
	case VALUE_BOOL:
		return x.u.b == y.u.b;
	case VALUE_DOUBLE:
		return x.u.d == y.u.d;
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_XML:
	case VALUE_DECIMAL:
		return str_eq(x.u.s, y.u.s);
	default:
		return false;
	}
}

static bool
string_equals_string(struct str l, struct str r, bool ignore_case)
{
	if (value_is_digits(l) && value_is_digits(r))
		return value_compare_decimals(l, r) == 0;
	return texts_equal(l, r, ignore_case);
}

/* Text on one side, another kind on the other. `flipped`: the text is the right side. */
static bool
text_equals_other(struct arena *a, const struct value *text, const struct value *other,
    bool flipped, bool ignore_case)
{
	int order;

	if (other->type == VALUE_BOOL)
		return text->type == VALUE_STRING && !(text->flags & VALUE_INPUT) &&
		    str_caseeq(text->u.s, STR_LIT("true")) == other->u.b;
	if (is_integer(other) && !(other->flags & VALUE_DATE)) {
		int64_t x, y;
		if (to_small_int(text, &x) && to_small_int(other, &y))
			return x == y;
		struct str s = text->type == VALUE_STRING ? text->u.s : str_trim(text->u.s);
		if (value_is_digits(s))
			return value_compare_decimals(s, value_text(a, other)) == 0;
	} else if (is_number(other) && !(other->flags & VALUE_DATE)) {
		/* a number with a fraction: "10.50" is 10.5, on the right side "1e1" is 10.0 too */
		double d;
		if (flipped ? to_double(text, &d) : is_floating(text->u.s))
			return compare_numbers(a, text, other, &order) && order == 0;
	}
	return texts_equal(text->u.s, value_text(a, other), ignore_case);
}

/* Numbers of different classes: the left is converted to the right's class, so a double that meets
 * an integer is cut. */
static bool
numbers_equal(struct arena *a, const struct value *l, const struct value *r)
{
	struct str whole;
	int order;

	if (l->type == VALUE_DOUBLE && is_integer(r) && to_integer_text(a, l, &whole))
		return value_compare_decimals(whole, value_text(a, r)) == 0;
	return compare_numbers(a, l, r, &order) && order == 0;
}

bool
value_same(struct arena *a, const struct value *l, const struct value *r)
{
	return same_kind_equal(a, l, r, 0);
}

/* Java's Integer, which converts to Boolean. */
static bool
is_java_integer(const struct value *v)
{
	return v->type == VALUE_INT && strcmp(value_class(v), "java.lang.Integer") == 0;
}

bool
value_equal(struct arena *a, const struct value *left, const struct value *right, bool ignore_case)
{
	struct value l = value_scalar(a, left), r = value_scalar(a, right);

	if (l.type == VALUE_NULL || r.type == VALUE_NULL)
		return l.type == r.type;
	if (is_text(&l) && is_text(&r)) {
		if (l.type == VALUE_STRING && r.type == VALUE_STRING)
			return string_equals_string(l.u.s, r.u.s, ignore_case);
		return texts_equal(l.u.s, r.u.s, ignore_case);
	}
	if (is_text(&l))
		return text_equals_other(a, &l, &r, false, ignore_case);
	if (is_text(&r))
		return text_equals_other(a, &r, &l, true, ignore_case);
	if (is_number(&l) && is_number(&r))
		return numbers_equal(a, &l, &r);
	if (l.type == VALUE_BOOL && is_java_integer(&r))
		return l.u.b == (r.u.i > 0);
	if (r.type == VALUE_BOOL && is_java_integer(&l))
		return r.u.b == (l.u.i > 0);
	return same_kind_equal(a, &l, &r, 0);
}

/* ---- ordering ---- */

static bool
order_strings(struct str l, struct str r, int *out)
{
	if (value_is_digits(l) && value_is_digits(r)) {
		*out = value_compare_decimals(l, r);
		return true;
	}
	if (is_floating(l) && is_floating(r)) {
		struct value x = value_str(l), y = value_str(r);
		double lx, rx;
		if (to_double(&x, &lx) && to_double(&y, &rx)) {
			*out = compare_doubles(lx, rx);
			return true;
		}
	}
	*out = compare_texts(l, r);
	return true;
}

static bool
bool_of(const struct value *v, bool *out)
{
	if (v->type == VALUE_BOOL)
		*out = v->u.b;
	else if (is_java_integer(v))
		*out = v->u.i > 0;
	else if (v->type == VALUE_STRING)
		*out = str_caseeq(v->u.s, STR_LIT("true"));
	else
		return false;
	return true;
}

/* The pairs that Camel treats before it converts anything. */
static bool
order_special(struct arena *a, const struct value *l, const struct value *r, int *out, bool *known)
{
	bool x, y;

	*known = true;
	if (l->type == VALUE_STRING && r->type == VALUE_STRING)
		return order_strings(l->u.s, r->u.s, out);
	if ((l->type == VALUE_DOUBLE && r->type == VALUE_DOUBLE) ||
	    (is_integer(l) && is_integer(r)))
		return compare_numbers(a, l, r, out);
	if (l->type == VALUE_STRING && r->type == VALUE_DOUBLE && is_floating(l->u.s))
		return compare_numbers(a, l, r, out);
	if ((l->type == VALUE_BOOL || r->type == VALUE_BOOL) && bool_of(l, &x) && bool_of(r, &y)) {
		*out = x - y;
		return true;
	}
	*known = false;
	return false;
}

bool
value_compare(struct arena *a, const struct value *left, const struct value *right, int *out)
{
	struct value l = value_scalar(a, left), r = value_scalar(a, right);
	struct str x, y;
	double lx, rx;
	int64_t li, ri;
	bool known;

	if (l.type == VALUE_NULL || r.type == VALUE_NULL)
		return false;
	if ((l.type == VALUE_DOUBLE && isnan(l.u.d)) || (r.type == VALUE_DOUBLE && isnan(r.u.d)))
		return false;
	if (to_small_int(&l, &li) && to_small_int(&r, &ri)) {
		*out = compare_ints(li, ri);
		return true;
	}
	bool ordered = order_special(a, &l, &r, out, &known);
	if (known)
		return ordered;
	if (to_integer_text(a, &l, &x) && to_integer_text(a, &r, &y)) {
		*out = value_compare_decimals(x, y);
		return true;
	}
	if (to_double(&l, &lx) && to_double(&r, &rx)) {
		*out = compare_doubles(lx, rx);
		return true;
	}
	*out = compare_texts(value_text(a, &l), value_text(a, &r));
	return true;
}
