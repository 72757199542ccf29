/* The natural order of values. */
#ifndef HINNY_EIP_SORT_H
#define HINNY_EIP_SORT_H

#include "core/model/value.h"

/* Texts by their characters, all else by value; what cannot be compared is equal. `a` is for
 * conversions. */
int sort_compare(struct arena *a, const struct value *l, const struct value *r);

#endif
