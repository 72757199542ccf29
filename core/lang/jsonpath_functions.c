/* The functions of jsonpath. The aggregates count the numbers among the items and arguments, and
 * are doubles, as in Jayway. */
#include "core/lang/jsonpath_priv.h"

#include "core/base/assert.h"

#include <math.h>

/* ---- numbers ---- */

struct totals {
	size_t n;
	double sum, squares, min, max;
};

static void
count_value(struct totals *t, const struct value *v)
{
	double d;
	if (v->type == VALUE_INT)
		d = (double)v->u.i;
	else if (v->type == VALUE_DOUBLE)
		d = v->u.d;
	else if (v->type != VALUE_DECIMAL || !str_to_double(v->u.s, &d))
		return;
	t->min = t->n == 0 || d < t->min ? d : t->min;
	t->max = t->n == 0 || d > t->max ? d : t->max;
	t->sum += d;
	t->squares += d * d;
	t->n++;
}

static void
count_items(struct arena *a, struct totals *t, const struct value *v)
{
	struct document_iter it;
	struct str key;
	struct value item;
	document_iter_init(&it, a, v);
	while (document_iter_next(&it, &key, &item))
		count_value(t, &item);
}

static bool
count_all(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct totals *t, const char **why)
{
	*t = (struct totals){ 0 };
	if (document_kind(model) == DOCUMENT_ARRAY)
		count_items(a, t, model);
	for (size_t i = 0; i < n; i++) {
		if (document_kind(&args[i]) == DOCUMENT_ARRAY)
			count_items(a, t, &args[i]);
		else
			count_value(t, &args[i]);
	}
	*why = "Aggregation function attempted to calculate value using empty array";
	return t->n > 0;
}

static bool
fn_sum(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	struct totals t;
	bool any = count_all(a, model, args, n, &t, why);
	*out = value_double(t.sum);
	return any;
}

static bool
fn_avg(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	struct totals t;
	bool any = count_all(a, model, args, n, &t, why);
	*out = value_double(any ? t.sum / (double)t.n : 0);
	return any;
}

static bool
fn_min(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	struct totals t;
	bool any = count_all(a, model, args, n, &t, why);
	*out = value_double(t.min);
	return any;
}

static bool
fn_max(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	struct totals t;
	bool any = count_all(a, model, args, n, &t, why);
	*out = value_double(t.max);
	return any;
}

static bool
fn_stddev(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	struct totals t;
	bool any = count_all(a, model, args, n, &t, why);
	double count = (double)t.n,
	       spread = any ? t.squares / count - t.sum * t.sum / count / count : 0;
	*out = value_double(sqrt(spread > 0 ? spread : 0));
	return any;
}

/* ---- collections ---- */

static bool
fn_length(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	(void)a;
	(void)why;
	const struct value *v = n > 0 ? &args[0] : model;
	*out = document_kind(v) != DOCUMENT_SCALAR ? value_int((int64_t)document_size(v))
						   : value_null();
	return true;
}

static bool
fn_keys(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	struct document_iter it;
	struct str key;
	struct value item;
	(void)args;
	(void)n;
	(void)why;
	*out = value_null();
	if (document_kind(model) != DOCUMENT_OBJECT)
		return true;
	*out = value_new_list(a, document_size(model));
	document_iter_init(&it, a, model);
	while (document_iter_next(&it, &key, &item))
		value_list_add(a, out->u.list, value_str(key));
	return true;
}

static void
add_text(struct arena *a, struct buf *b, const struct value *v)
{
	struct document_iter it;
	struct str key;
	struct value item;
	if (v->type == VALUE_STRING)
		(void)buf_add_str(b, v->u.s);
	if (document_kind(v) != DOCUMENT_ARRAY)
		return;
	document_iter_init(&it, a, v);
	while (document_iter_next(&it, &key, &item))
		if (item.type == VALUE_STRING)
			(void)buf_add_str(b, item.u.s);
}

static bool
fn_concat(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	struct buf b;
	(void)why;
	buf_init(&b, 0);
	if (document_kind(model) == DOCUMENT_ARRAY)
		add_text(a, &b, model);
	for (size_t i = 0; i < n; i++)
		add_text(a, &b, &args[i]);
	*out = value_str(b.n > 0 ? arena_str(a, (struct str){ b.p, b.n }) : (struct str){ "", 0 });
	buf_fini(&b);
	return true;
}

static bool
fn_append(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	struct document_iter it;
	struct str key;
	struct value item;
	(void)why;
	*out = *model;
	if (document_kind(model) != DOCUMENT_ARRAY)
		return true;
	*out = value_new_list(a, document_size(model) + n);
	document_iter_init(&it, a, model);
	while (document_iter_next(&it, &key, &item))
		value_list_add(a, out->u.list, item);
	for (size_t i = 0; i < n; i++)
		value_list_add(a, out->u.list, args[i]);
	return true;
}

static bool
item_at(
    struct arena *a, const struct value *model, int64_t index, struct value *out, const char **why)
{
	int64_t size = (int64_t)document_size(model);
	*why = "Aggregation function attempted to calculate value using empty array";
	index += index < 0 ? size : 0;
	return document_kind(model) == DOCUMENT_ARRAY && index >= 0 &&
	    document_item(a, model, (size_t)index, out);
}

static bool
fn_first(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	(void)args;
	(void)n;
	return item_at(a, model, 0, out, why);
}

static bool
fn_last(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	(void)args;
	(void)n;
	return item_at(a, model, -1, out, why);
}

static bool
fn_index(struct arena *a, const struct value *model, const struct value *args, size_t n,
    struct value *out, const char **why)
{
	*why = "function index needs a whole number";
	if (n == 0 || args[0].type != VALUE_INT || args[0].u.i > INT32_MAX ||
	    args[0].u.i < INT32_MIN)
		return false;
	return item_at(a, model, args[0].u.i, out, why);
}

static const struct jsonpath_function functions[] = {
	{ "append", fn_append },
	{ "avg", fn_avg },
	{ "concat", fn_concat },
	{ "first", fn_first },
	{ "index", fn_index },
	{ "keys", fn_keys },
	{ "last", fn_last },
	{ "length", fn_length },
	{ "max", fn_max },
	{ "min", fn_min },
	{ "size", fn_length },
	{ "stddev", fn_stddev },
	{ "sum", fn_sum },
};

const struct jsonpath_function *
jsonpath_function_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (str_eq(name, str_of(functions[i].name)))
			return &functions[i];
	return NULL;
}
