/* Two timers that look after workers: those that hang (ping.c), and those whose transformation
 * takes too long (limits.c). */
#ifndef HINNY_SUPERVISOR_WATCHDOGS_H
#define HINNY_SUPERVISOR_WATCHDOGS_H

struct supervisor;

/* (Re)start with the intervals of the serving generation's settings. */
void ping_start(struct supervisor *sv);
void limits_start(struct supervisor *sv);

#endif
