/*
 * A step that takes steps and has none gets those that follow it in its list, as in Camel's YAML
 * DSL: "split: {tokenize: ','}" and what stands below it. It is done in the tree, before anything
 * is made of it, so nothing else knows.
 */
#include "core/config/nest.h"

#include "core/config/config.h"
#include "core/model/descriptor.h"

#include <string.h>

static bool
takes_steps(const struct eip_desc *eip)
{
	if (eip == NULL || (eip->flags & (EIP_CHILD | EIP_NOT_A_STEP | EIP_ROOT | EIP_ROUTE_HEAD)))
		return false;
	if (eip->flags & EIP_STEPS)
		return true;
	for (const struct option_desc *o = eip->options; o != NULL && o->name != NULL; o++)
		if (o->type == OPTION_BRANCHES)
			return true;
	return false;
}

/* The option that a scalar sets (kamelet: name), or NULL. */
static const char *
main_option(const struct eip_desc *eip)
{
	for (const struct option_desc *o = eip->options; o != NULL && o->name != NULL; o++)
		if (o->flags & OPTION_MAIN)
			return o->name;
	return NULL;
}

/* The step's own map when it has no steps; NULL: it has, or it takes none. */
static struct node *
without_steps(struct node *item)
{
	if (item->kind != NODE_MAP || item->n != 1)
		return NULL;
	struct node *value = node_value(item, 0);
	const struct node *steps = node_find(value, "steps");
	const struct eip_desc *eip = eip_find(node_key(item, 0)->text);
	if (value->kind == NODE_LIST || (value->flags & (NODE_ABSENT | NODE_BAD)) ||
	    node_is_null(value) || !takes_steps(eip) ||
	    (value->kind == NODE_SCALAR && main_option(eip) == NULL))
		return NULL;
	if (node_find(value, "onFallback") != NULL ||
	    (steps != NULL && (steps->kind != NODE_LIST || steps->n > 0)))
		return NULL;
	return value;
}

/* The items behind number i go into the step that stands there. */
static void
take_rest(struct arena *a, struct node *list, uint32_t i, struct node *step)
{
	bool scalar = step->kind == NODE_SCALAR; /* kamelet: name */
	struct node map = node_new(a, NODE_MAP, step, scalar ? 2 : step->n + 1);
	struct node steps = node_new(a, NODE_LIST, &list->items[i + 1], list->n - i - 1);

	for (uint32_t k = i + 1; k < list->n; k++)
		node_add(&steps, list->items[k]);
	list->n = i + 1;
	if (scalar) {
		const char *name = main_option(eip_find(node_key(&list->items[i], 0)->text));
		node_put(&map, node_text(step, name), *step);
	} else {
		node_remove(step, "steps");
		for (uint32_t k = 0; k < step->n; k++)
			node_put(&map, *node_key(step, k), *node_value(step, k));
	}
	node_put(&map, node_text(step, "steps"), steps);
	*step = map;
}

static void
nest_list(struct arena *a, struct node *list)
{
	for (uint32_t i = 0; i + 1 < list->n; i++) {
		struct node *step = without_steps(&list->items[i]);
		if (step != NULL)
			take_rest(a, list, i, step);
	}
}

void
nest_steps(struct arena *a, struct node *n)
{
	for (uint32_t i = 0; n != NULL && n->kind == NODE_MAP && i < n->n; i++) {
		struct node *value = node_value(n, i);
		if (value->kind == NODE_LIST && str_eq(node_key(n, i)->text, STR_LIT("steps")))
			nest_list(a, value);
		nest_steps(a, value);
	}
	for (uint32_t i = 0; n != NULL && n->kind == NODE_LIST && i < n->n; i++)
		nest_steps(a, &n->items[i]);
}
