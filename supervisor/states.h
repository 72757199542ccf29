/*
 * The state of steps between generations (core/eip/state.h): when one takes over, every older owner
 * hands over what it has, once, and the owners of the new one begin to serve when all of it has
 * come, or the time is up. And at the end of a generation: what is still held goes on before its
 * workers stop.
 */
#ifndef HINNY_SUPERVISOR_STATES_H
#define HINNY_SUPERVISOR_STATES_H

#include "supervisor/generation.h"

/* Of a new generation: before anything else. */
void states_init(struct generation *gen);
void states_fini(struct generation *gen);
/* The generation takes over: its workers are about to be told to start. */
void states_begin(struct generation *gen);
/* Do its owners still wait for what older generations have? Then no other may take over. */
bool states_are_coming(const struct generation *gen);
/* A worker of a generation that serves or drains is ready, for the first time or again. */
void states_process_ready(struct process *pr);
/* It has said STATE_SAVED; the descriptor is taken. */
void states_process_saved(struct process *pr, const struct control_message *m);
/* It has died. */
void states_process_gone(struct process *pr);
/* May something still come to the states of the generation that it does not know of itself? */
bool states_are_unsettled(const struct generation *gen);
/* Nothing is in flight any more: what its states hold goes on now. False: that has been done, or
 * there is nothing; the generation can stop. */
bool states_end(struct generation *gen);
/* Does the worker own states of its generation? */
bool states_is_owner(const struct process *pr);

#endif
