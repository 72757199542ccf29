/* The items of a value, as a split and a recipient list see them. */
#ifndef HINNY_EIP_ITEMS_H
#define HINNY_EIP_ITEMS_H

#include "core/model/value.h"

struct items {
	struct value v;
	uint32_t n;
	uint32_t group;      /* 0, else as many items are one: a list */
	uint32_t in_group_n; /* items before grouping */
};

/* Lists and arrays give their elements, maps their entries (maps with key and value), texts their
 * parts between delimiters; null and an empty text none; anything else is one item. delimiter
 * "false" or "single": a text is one item. With the default "," parts in parentheses stay whole.
 * Memory from a; items lie in what v has. */
void items_of(struct arena *a, const struct value *v, const char *delimiter, uint32_t group,
    struct items *out);
struct value items_at(struct arena *a, const struct items *it, uint32_t i);

#endif
