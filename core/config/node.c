/* Nodes of YAML, wherever they come from. Apart from the parser, so that workers, which read no YAML, do without it. */
#include "core/config/node.h"

#include "core/base/assert.h"

struct node *
node_find(const struct node *map, const char *key)
{
	struct str name = str_of(key);

	if (map == NULL || map->kind != NODE_MAP)
		return NULL;
	for (uint32_t i = 0; i < map->n; i++) {
		if (str_eq(node_key(map, i)->text, name))
			return node_value(map, i);
	}
	return NULL;
}

bool
node_is_null(const struct node *n)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	if (n->kind != NODE_SCALAR || (n->flags & NODE_QUOTED))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (str_eq(n->text, str_of(words[i])))
			return true;
	}
	return false;
}

const char *
node_kind_name(const struct node *n)
{
	if (node_is_null(n))
		return "nothing";
	return n->kind == NODE_MAP ? "a map" : n->kind == NODE_LIST ? "a list" : "text";
}
