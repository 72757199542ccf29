/* Between generation.c and drain.c. */
#ifndef HINNY_SUPERVISOR_GENERATION_PRIV_H
#define HINNY_SUPERVISOR_GENERATION_PRIV_H

#include "supervisor/generation.h"

/* The timer of a draining generation's rounds. */
void drain_on_round(struct loop_timer *t);

#endif
