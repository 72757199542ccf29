/* Steps that are written behind the step that they belong to. */
#ifndef HINNY_CONFIG_NEST_H
#define HINNY_CONFIG_NEST_H

#include "core/config/node.h"

/* In all lists of steps of the tree (NULL is fine): the rest of a list goes into a step that takes
 * steps and has none. */
void nest_steps(struct arena *a, struct node *n);

#endif
