/* sort: the list that the expression gives, in order, becomes the body. */
#include "core/eip/sort.h"

#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/model/json.h"

#include <stdlib.h>

static int
sort_check(struct compile *c, struct step *st)
{
	(void)c;
	st->writes.flags |= ACCESS_BODY;
	return 0;
}

static bool
is_text(const struct value *v)
{
	return v->type == VALUE_STRING || v->type == VALUE_BYTES || v->type == VALUE_XML;
}

int
sort_compare(struct arena *a, const struct value *l, const struct value *r)
{
	int order = 0;
	if (is_text(l) && is_text(r)) {
		size_t n = l->u.s.n < r->u.s.n ? l->u.s.n : r->u.s.n;
		order = n ? memcmp(l->u.s.p, r->u.s.p, n) : 0;
		return order ? order : (l->u.s.n > r->u.s.n) - (l->u.s.n < r->u.s.n);
	}
	(void)value_compare(a, l, r, &order); /* what cannot be compared is equal */
	return order;
}

/* Merges [lo, mid) and [mid, hi): stable. */
static void
merge(struct arena *a, struct value *items, struct value *tmp, size_t lo, size_t mid, size_t hi)
{
	size_t i = lo, j = mid, k = lo;
	while (i < mid || j < hi) {
		if (j == hi || (i < mid && sort_compare(a, &items[i], &items[j]) <= 0))
			tmp[k++] = items[i++];
		else
			tmp[k++] = items[j++];
	}
	memcpy(items + lo, tmp + lo, (hi - lo) * sizeof(items[0]));
}

static void
sort_items(struct arena *a, struct value *items, size_t n)
{
	struct value *tmp = arena_alloc(a, (n + 1) * sizeof(tmp[0]));
	for (size_t width = 1; width < n; width *= 2)
		for (size_t lo = 0; lo + width < n; lo += 2 * width)
			merge(
			    a, items, tmp, lo, lo + width, lo + 2 * width < n ? lo + 2 * width : n);
}

static enum step_rc
sort_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	struct value v;
	switch (expression_eval(st->expr, ex, &v)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	v = value_plain(&ex->arena, &v);
	if (v.type != VALUE_LIST) {
		const char *class = value_class(&v);
		exchange_fail(ex, EXCEPTION_NO_TYPE_CONVERSION, "sort: the value is no list but %s",
		    class ? class : "null");
		return STEP_FAILED;
	}
	struct value list = value_new_list(&ex->arena, v.u.list->n);
	for (size_t i = 0; i < v.u.list->n; i++)
		value_list_add(&ex->arena, list.u.list, v.u.list->items[i]);
	sort_items(&ex->arena, list.u.list->items, list.u.list->n);
	exchange_set_body(ex, list);
	return STEP_DONE;
}

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc sort_eip = {
	.name = "sort",
	.flags = EIP_EXPRESSION,
	.options = no_options,
	.check = sort_check,
	.run = sort_run,
	.help = "puts the elements of a list in order",
};
