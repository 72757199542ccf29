/*
 * Intrusive doubly linked circular lists. A node that is not in a list has been list_init()ed or
 * removed.
 */
#ifndef HINNY_BASE_LIST_H
#define HINNY_BASE_LIST_H

#include "core/base/assert.h"

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

static inline void
list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool
list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void
list_append(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void
list_prepend(struct list *head, struct list *node)
{
	list_append(head->next, node);
}

/* May be repeated. */
static inline void
list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

#define LIST_ENTRY(node, type, member) CONTAINER_OF(node, type, member)
#define LIST_FIRST(head, type, member) LIST_ENTRY((head)->next, type, member)
/* The current node may be removed in the loop. */
#define LIST_FOREACH(head, it, tmp)                                                                \
	for (struct list *it = (head)->next, *tmp = it->next; it != (head);                        \
	     it = tmp, tmp = it->next)

#endif
