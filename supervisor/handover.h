/* The moment at which a generation takes over: listening sockets, START, the old one's drain,
 * exclusive sources. */
#ifndef HINNY_SUPERVISOR_HANDOVER_H
#define HINNY_SUPERVISOR_HANDOVER_H

#include "supervisor/generation.h"

/* All workers of gen are ready: it serves from now on. It may turn out to be refused. */
void handover_commit(struct generation *gen);
/* Starts the exclusive sources of the serving generation once no older one runs its own. */
void handover_sources(struct supervisor *sv);
/* Gives the listening sockets of a place that stays empty to its siblings. */
void handover_lend(struct process *pr);

#endif
