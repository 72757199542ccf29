/* YAML as JSON. */
#include "supervisor/cli/test_json.h"

static json_t *
scalar(const struct node *n)
{
	int64_t i;
	double d;

	if (node_is_null(n))
		return json_null();
	if (!(n->flags & NODE_QUOTED)) {
		if (str_caseeq(n->text, STR_LIT("true")))
			return json_true();
		if (str_caseeq(n->text, STR_LIT("false")))
			return json_false();
		if (str_to_int64(n->text, &i))
			return json_integer(i);
		if (str_to_double(n->text, &d))
			return json_real(d);
	}
	return json_stringn(n->text.p, n->text.n);
}

/* Nodes are not nested deeper than NODE_DEPTH_MAX. */
json_t *
test_json_of(const struct node *n)
{
	if (n->kind == NODE_SCALAR)
		return scalar(n);
	json_t *out = n->kind == NODE_LIST ? json_array() : json_object();
	for (uint32_t i = 0; i < n->n; i++) {
		if (n->kind == NODE_LIST)
			(void)json_array_append_new(out, test_json_of(&n->items[i]));
		else
			(void)json_object_set_new(
			    out, node_key(n, i)->text.p, test_json_of(node_value(n, i)));
	}
	return out;
}
