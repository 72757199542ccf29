/*
 * The life of a worker as a table: state x event gives the next state and what is to be done. Pure:
 * knows no processes, clocks or sockets, so that tests can walk through it. process.c feeds it
 * events and carries its actions out; the rules of restart, back-off and drain stand here and
 * nowhere else.
 */
#ifndef HINNY_SUPERVISOR_PROCESS_TABLE_H
#define HINNY_SUPERVISOR_PROCESS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Exit status by which a worker says that another try is useless. */
enum { PROCESS_EXIT_NO_RESTART = 125, PROCESS_PROVEN_MS = 1000 };

enum process_state {
	PROCESS_DEAD,     /* no process, and none to come unless it is spawned */
	PROCESS_STARTING, /* spawned, has not said READY */
	PROCESS_READY,    /* waits for START; answers calls already */
	PROCESS_SERVING,
	PROCESS_DRAINING, /* no new work, finishes what it has */
	PROCESS_STOPPING, /* told to exit, or killed because it was not wanted any more */
	PROCESS_BACKOFF,  /* no process: waits for its next try */
	PROCESS_DEGRADED, /* no process: given up until the next generation */
	PROCESS_STATES
};

enum process_event {
	PROCESS_EVENT_SPAWN, /* the generation wants it, or the back-off is over */
	PROCESS_EVENT_SAID_READY,
	PROCESS_EVENT_SAID_REFUSED,
	PROCESS_EVENT_START, /* the generation is to serve */
	PROCESS_EVENT_DRAIN,
	PROCESS_EVENT_STOP,
	PROCESS_EVENT_TIMEOUT,     /* late with READY, with STOP, or hung */
	PROCESS_EVENT_EXIT_PROVEN, /* died after it had served */
	PROCESS_EVENT_EXIT_EARLY, /* died before READY, or within a second of it with nothing served
	                           */
	PROCESS_EVENT_EXIT_FINAL, /* died saying: do not restart */
	PROCESS_EVENTS
};

enum process_action {
	PROCESS_ACTION_IMPOSSIBLE, /* a bug, or a worker that says what it must not */
	PROCESS_ACTION_NONE,
	PROCESS_ACTION_SPAWN,
	PROCESS_ACTION_ANNOUNCE, /* tell peers and generation that it is ready */
	PROCESS_ACTION_REFUSE,   /* the generation is refused */
	PROCESS_ACTION_START,    /* send START */
	PROCESS_ACTION_DRAIN,    /* send DRAIN */
	PROCESS_ACTION_STOP,     /* send STOP, kill when that is not obeyed */
	PROCESS_ACTION_KILL,
	PROCESS_ACTION_REPLACE,        /* died: a successor at once */
	PROCESS_ACTION_REPLACE_CALLEE, /* died in a draining generation: a successor only if others
	                                  may need it for their calls */
	PROCESS_ACTION_RETRY,          /* died early: a successor after a while, or none
	                                  (process_table_retry) */
	PROCESS_ACTION_GIVE_UP,        /* no further try */
	PROCESS_ACTION_GONE,           /* ended as it was told */
};

struct process_step {
	uint8_t next;   /* enum process_state */
	uint8_t action; /* enum process_action */
};

struct process_step process_table_step(enum process_state state, enum process_event event);
const char *process_table_state_name(enum process_state state);
/* Has it a process? */
bool process_table_alive(enum process_state state);

/* Which of the three exits it is. `ms` since READY, -1: it never was; `served`: it did any work;
 * `status` as waitpid gives it. */
enum process_event process_table_exit(int64_t ms, bool served, int status);
/* Milliseconds to wait before try number `early` + 1, where `early` tries in a row died early (at
 * least 1); -1: give up. */
int64_t process_table_retry(unsigned early, int64_t limit, int64_t first_ms, int64_t max_ms);

#endif
