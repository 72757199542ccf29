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

/* ---- made and changed: by what is done to trees before they are compiled ---- */

static size_t
children_of(const struct node *n)
{
	return n->kind == NODE_MAP ? 2 * (size_t)n->n : n->kind == NODE_LIST ? n->n : 0;
}

struct node
node_copy(struct arena *a, const struct node *from)
{
	struct node to = *from;
	size_t n = children_of(from);

	if (n > 0)
		to.items = arena_alloc(a, n * sizeof(struct node));
	for (size_t i = 0; i < n; i++)
		to.items[i] = node_copy(a, &from->items[i]);
	return to;
}

size_t
node_count(const struct node *n)
{
	size_t count = 1;

	for (size_t i = 0; i < children_of(n); i++)
		count += node_count(&n->items[i]);
	return count;
}

struct node
node_text(const struct node *like, const char *text)
{
	return (struct node){ .kind = NODE_SCALAR,
		.flags = NODE_QUOTED,
		.line = like->line,
		.column = like->column,
		.text = str_of(text) };
}

struct node
node_new(struct arena *a, enum node_kind kind, const struct node *like, uint32_t n)
{
	struct node made = { .kind = (uint8_t)kind, .line = like->line, .column = like->column };

	made.items = arena_alloc(a, (kind == NODE_MAP ? 2 : 1) * ((size_t)n + 1) * sizeof(made));
	return made;
}

void
node_put(struct node *map, struct node key, struct node value)
{
	map->items[2 * map->n] = key;
	map->items[2 * map->n + 1] = value;
	map->n++;
}

void
node_add(struct node *list, struct node item)
{
	list->items[list->n++] = item;
}

static void
cut(struct node *n, uint32_t i, size_t width)
{
	memmove(&n->items[width * i], &n->items[width * (i + 1)],
	    width * (n->n - i - 1) * sizeof(struct node));
	n->n--;
}

void
node_remove(struct node *map, const char *key)
{
	for (uint32_t i = 0; map->kind == NODE_MAP && i < map->n; i++) {
		if (str_eq(node_key(map, i)->text, str_of(key))) {
			cut(map, i, 2);
			return;
		}
	}
}

void
node_cut(struct node *list, uint32_t i)
{
	cut(list, i, 1);
}
