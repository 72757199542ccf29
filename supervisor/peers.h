/* Tells workers of a generation about one another: who can be called, and who has died. */
#ifndef HINNY_SUPERVISOR_PEERS_H
#define HINNY_SUPERVISOR_PEERS_H

#include "supervisor/process.h"

/* pr is ready: it hears of the others that are, they of it. */
void peers_up(struct process *pr);
/* pr has told of a message that ends workers: the other homes hear of it. */
void peers_poison(struct process *pr, uint64_t key);
/* A process of pr's place has died. */
void peers_down(struct process *pr, const struct process_death *death);

#endif
