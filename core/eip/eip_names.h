/* What several steps need to know of names in their options. */
#ifndef HINNY_EIP_EIP_NAMES_H
#define HINNY_EIP_EIP_NAMES_H

#include "core/model/program.h"

#include <stdbool.h>

struct compile;

/* The text of an expression that is the same for every message, NULL when it is none. Lives as long
 * as the program. */
const char *names_constant(const struct expression *e);
/*
 * A variable that a step names in an option; what is one of the exchange, or NULL, is fine. 0, or -1
 * having reported (core/eip/variables_step.c). With the first two the step's run sees shared ones
 * (variables.h) as variables of the exchange; with the last it has to ask for them itself.
 */
int names_send_variable(struct compile *c, struct step *st, const char *name);
int names_receive_variable(struct compile *c, struct step *st, const char *name);
int names_use_variable(struct compile *c, struct step *st, const char *option, const char *name);
/* Does `ac` read the header (variable) `name`, or all? */
bool names_reads_header(const struct access *ac, const char *name);
bool names_reads_variable(const struct access *ac, const char *name);

#endif
