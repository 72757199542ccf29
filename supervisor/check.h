/* Asks the owners of a program's parts, each a worker in check mode, whether they can run it: what
 * only they can compile is checked too. */
#ifndef HINNY_SUPERVISOR_CHECK_H
#define HINNY_SUPERVISOR_CHECK_H

#include "core/config/config.h"

#include <stdbool.h>
#include <stdio.h>

/* Prints what they find to `to`. True: nobody has found a problem. An owner that is not installed
 * is named, and is none. */
bool check_owners(struct bundle *b, const struct program *p, FILE *to);

#endif
