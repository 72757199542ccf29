/*
 * listAdd, listRemove, mapAdd, mapRemove: the changed collection. What Java changes in place is a
 * new collection here, since others may share the old one: where it came from the body, a header, a
 * property or a variable, the new one takes its place there.
 */
#include "core/lang/simple_fn.h"

#include "core/eip/variables.h"
#include "core/lang/document.h"

static enum eval_rc
not_a(struct simple_call *call, const char *what, const struct value *v)
{
	return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT, "function %s: %s is no %s",
	    call->node->u.fn->name, value_is_null(v) ? "null" : value_class(v), what);
}

/* The new value in the old one's place. */
static enum eval_rc
put_back(struct simple_call *call, struct value v)
{
	const struct simple_node *from = call->node->kids[0];
	struct exchange *ex = call->ex;

	switch ((enum simple_type)from->type) {
	case SIMPLE_BODY:
		exchange_set_body(ex, v);
		break;
	case SIMPLE_HEADER:
		exchange_set_header(ex, from->u.key.full, v);
		break;
	case SIMPLE_PROPERTY:
		exchange_set_property(ex, from->u.key.full, v);
		break;
	case SIMPLE_VARIABLE:
		if (variables_is_shared(from->u.key.full))
			return variables_set(ex, from->u.key.full, v);
		exchange_set_variable(ex, from->u.key.full, v);
		break;
	default: /* made by a function: nobody else has it */
		break;
	}
	return EVAL_OK;
}

/* The collection of argument 0, copied. */
static enum eval_rc
copy_of(struct simple_call *call, enum document_kind kind, struct value *out)
{
	struct value v, item;
	struct document_iter it;
	struct str key;
	enum eval_rc rc = simple_arg(call, 0, &v);

	if (rc != EVAL_OK)
		return rc;
	if (document_kind(&v) != kind)
		return not_a(call, kind == DOCUMENT_ARRAY ? "list" : "map", &v);
	*out = kind == DOCUMENT_ARRAY
	    ? value_new_list(simple_arena(call), document_size(&v) + 1)
	    : value_new_map(simple_arena(call), document_size(&v) + 1, false);
	document_iter_init(&it, simple_arena(call), &v);
	while (document_iter_next(&it, &key, &item)) {
		if (kind == DOCUMENT_ARRAY)
			value_list_add(simple_arena(call), out->u.list, item);
		else
			value_map_set(simple_arena(call), out->u.map, key, item);
	}
	return EVAL_OK;
}

enum eval_rc
simple_fn_list_add(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = copy_of(call, DOCUMENT_ARRAY, out);

	if (rc == EVAL_OK)
		rc = simple_arg(call, 1, &v);
	if (rc != EVAL_OK)
		return rc;
	value_list_add(simple_arena(call), out->u.list, v);
	return put_back(call, *out);
}

enum eval_rc
simple_fn_list_remove(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = copy_of(call, DOCUMENT_ARRAY, out);

	if (rc == EVAL_OK)
		rc = simple_arg(call, 1, &v);
	if (rc != EVAL_OK)
		return rc;
	struct value_list *list = out->u.list;
	for (size_t i = 0; i < list->n; i++) {
		if (!value_equal(simple_arena(call), &list->items[i], &v, false))
			continue;
		memmove(list->items + i, list->items + i + 1,
		    (list->n - i - 1) * sizeof list->items[0]);
		list->n--;
		break;
	}
	return put_back(call, *out);
}

enum eval_rc
simple_fn_map_add(struct simple_call *call, struct value *out)
{
	struct str key;
	struct value v;
	bool null;
	enum eval_rc rc = copy_of(call, DOCUMENT_OBJECT, out);

	if (rc == EVAL_OK)
		rc = simple_arg_text(call, 1, &key, &null);
	if (rc == EVAL_OK)
		rc = simple_arg(call, 2, &v);
	if (rc != EVAL_OK)
		return rc;
	value_map_set(simple_arena(call), out->u.map, key, v);
	return put_back(call, *out);
}

enum eval_rc
simple_fn_map_remove(struct simple_call *call, struct value *out)
{
	struct str key;
	bool null;
	enum eval_rc rc = copy_of(call, DOCUMENT_OBJECT, out);

	if (rc == EVAL_OK)
		rc = simple_arg_text(call, 1, &key, &null);
	if (rc != EVAL_OK)
		return rc;
	(void)value_map_remove(out->u.map, key); /* it may not be there */
	return put_back(call, *out);
}
