/* What several steps need to know of names in their options. */
#ifndef HINNY_EIP_EIP_NAMES_H
#define HINNY_EIP_EIP_NAMES_H

#include "core/model/program.h"

#include <stdbool.h>

struct compile;

/* The text of an expression that is the same for every message, NULL when it is none. Lives as long
 * as the program. */
const char *names_constant(const struct expression *e);
/* Refuses, by name of the option, variables of scopes that this release does not have. 0, or -1
 * having reported. NULL is fine. */
int names_check_variable(
    struct compile *c, const struct step *st, const char *option, const char *name);
/* Does `ac` read the header (variable) `name`, or all? */
bool names_reads_header(const struct access *ac, const char *name);
bool names_reads_variable(const struct access *ac, const char *name);

#endif
