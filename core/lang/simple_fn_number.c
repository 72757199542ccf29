/* Functions of Simple on numbers: all of them are whole; what is no whole number counts as nothing.
 */
#include "core/lang/simple_fn.h"

#include <math.h>
#include <stdlib.h>

enum { RANGE_MAX = 1000000 };

static struct value
long_value(int64_t i)
{
	struct value v = value_int(i);
	v.flags |= VALUE_LONG;
	return v;
}

/* A value as a whole number; false when it is none. */
static bool
whole_number(struct simple_call *call, const struct value *v, int64_t *out)
{
	struct value n;
	if (value_convert(simple_arena(call), v, CLASS_LONG, &n, NULL) != HINNY_OK ||
	    n.type != VALUE_INT)
		return false;
	*out = n.u.i;
	return true;
}

typedef bool fold_fn(int64_t *total, int64_t i); /* false: beyond 64 bits */

static bool
fold_sum(int64_t *total, int64_t i)
{
	return !__builtin_add_overflow(*total, i, total);
}

static bool
fold_max(int64_t *total, int64_t i)
{
	*total = i > *total ? i : *total;
	return true;
}

static bool
fold_min(int64_t *total, int64_t i)
{
	*total = i < *total ? i : *total;
	return true;
}

/* False: beyond 64 bits. */
static bool
fold_one(struct simple_call *call, fold_fn *fn, struct value v, int64_t *total, size_t *count)
{
	int64_t n;
	if (v.type == VALUE_STRING)
		v.u.s = str_trim(v.u.s);
	if (!whole_number(call, &v, &n))
		return true;
	if ((*count)++ > 0)
		return fn(total, n);
	*total = n;
	return true;
}

/* Folds the arguments that are whole numbers, of lists and texts with commas the items; *count says
 * how many there were. */
static enum eval_rc
fold(struct simple_call *call, fold_fn *fn, int64_t *total, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < simple_arg_count(call); i++) {
		struct value v, items = value_new_list(simple_arena(call), 1);
		enum eval_rc rc = simple_arg(call, i, &v);
		if (rc != EVAL_OK)
			return rc;
		simple_items(simple_arena(call), &v, items.u.list);
		for (size_t k = 0; k < items.u.list->n; k++)
			if (!fold_one(call, fn, items.u.list->items[k], total, count))
				return simple_fail(call->ex, EXCEPTION_ARITHMETIC,
				    "function %s: the number is too large",
				    call->node->u.fn->name);
	}
	return EVAL_OK;
}

static enum eval_rc
give_fold(struct simple_call *call, fold_fn *fn, struct value *out)
{
	int64_t total = 0;
	size_t count;
	enum eval_rc rc = fold(call, fn, &total, &count);
	if (rc == EVAL_OK && count > 0)
		*out = long_value(total);
	return rc;
}

enum eval_rc
simple_fn_sum(struct simple_call *call, struct value *out)
{
	return give_fold(call, fold_sum, out);
}

enum eval_rc
simple_fn_max(struct simple_call *call, struct value *out)
{
	return give_fold(call, fold_max, out);
}

enum eval_rc
simple_fn_min(struct simple_call *call, struct value *out)
{
	return give_fold(call, fold_min, out);
}

enum eval_rc
simple_fn_average(struct simple_call *call, struct value *out)
{
	int64_t total = 0;
	size_t count;
	enum eval_rc rc = fold(call, fold_sum, &total, &count);
	if (rc == EVAL_OK && count > 0)
		*out = long_value(total / (int64_t)count);
	return rc;
}

/* From what else there is no converter to a number: null. */
static bool
is_convertible(const struct value *v)
{
	return v->type == VALUE_INT || v->type == VALUE_DOUBLE || v->type == VALUE_DECIMAL ||
	    v->type == VALUE_XML ||
	    ((v->type == VALUE_STRING || v->type == VALUE_BYTES) && !(v->flags & VALUE_INPUT));
}

enum eval_rc
simple_fn_abs(struct simple_call *call, struct value *out)
{
	struct value v;
	int64_t i;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc != EVAL_OK || value_is_null(&v))
		return rc;
	if (!is_convertible(&v))
		return EVAL_OK;
	if (!whole_number(call, &v, &i) || i == INT64_MIN)
		return simple_fail(
		    call->ex, EXCEPTION_NUMBER_FORMAT, "function abs needs a whole number");
	*out = long_value(i < 0 ? -i : i);
	return EVAL_OK;
}

static enum eval_rc
round_to(struct simple_call *call, double (*rounding)(double), struct value *out)
{
	struct value v, d;
	struct hinny_error err;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc != EVAL_OK || value_is_null(&v))
		return rc;
	if (!is_convertible(&v))
		return EVAL_OK;
	if (value_convert(simple_arena(call), &v, CLASS_DOUBLE, &d, &err) != HINNY_OK ||
	    d.type != VALUE_DOUBLE)
		return simple_fail(call->ex, EXCEPTION_NUMBER_FORMAT, "function %s needs a number",
		    call->node->u.fn->name);
	double whole = rounding(d.u.d);
	if (!(whole > -0x1p63 && whole < 0x1p63))
		return simple_fail(call->ex, EXCEPTION_ARITHMETIC,
		    "function %s: the number is too large", call->node->u.fn->name);
	*out = long_value((int64_t)whole);
	return EVAL_OK;
}

enum eval_rc
simple_fn_ceil(struct simple_call *call, struct value *out)
{
	return round_to(call, ceil, out);
}

enum eval_rc
simple_fn_floor(struct simple_call *call, struct value *out)
{
	return round_to(call, floor, out);
}

enum eval_rc
simple_fn_random(struct simple_call *call, struct value *out)
{
	int64_t min = 0, max;
	bool both = simple_arg_given(call, 1);
	enum eval_rc rc = both ? simple_arg_int(call, 0, &min) : EVAL_OK;
	if (rc == EVAL_OK)
		rc = simple_arg_int(call, both ? 1 : 0, &max);
	if (rc != EVAL_OK)
		return rc;
	if (max <= min || max > INT32_MAX || min < INT32_MIN || max - min > INT32_MAX)
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "function random: bound must be greater than origin");
	*out = value_int(min + (int64_t)arc4random_uniform((uint32_t)(max - min)));
	return EVAL_OK;
}

enum eval_rc
simple_fn_range(struct simple_call *call, struct value *out)
{
	int64_t from = 1, to;
	bool both = simple_arg_given(call, 1);
	enum eval_rc rc = both ? simple_arg_int(call, 0, &from) : EVAL_OK;
	if (rc == EVAL_OK)
		rc = simple_arg_int(call, both ? 1 : 0, &to);
	if (rc != EVAL_OK || to <= from)
		return rc;
	if ((uint64_t)to - (uint64_t)from > RANGE_MAX)
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "function range: more than %d numbers", RANGE_MAX);
	*out = value_new_list(simple_arena(call), (size_t)(to - from));
	for (int64_t i = from; i < to; i++)
		value_list_add(simple_arena(call), out->u.list, value_int(i));
	return EVAL_OK;
}
