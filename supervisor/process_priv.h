/* Between process.c and process_spawn.c. */
#ifndef HINNY_SUPERVISOR_PROCESS_PRIV_H
#define HINNY_SUPERVISOR_PROCESS_PRIV_H

#include "supervisor/process.h"

/* Starts a process for the place: pid, channel and incarnation are set. On failure nothing is. */
enum hinny_rc process_spawn(
    struct process *pr, const struct channel_ops *ops, struct hinny_error *err);

#endif
