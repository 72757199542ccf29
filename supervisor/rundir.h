/*
 * The run folder: lock, pid file, admin socket, inboxes of workers, files of generations. One
 * broker at a time has it; what a killed one left is removed.
 */
#ifndef HINNY_SUPERVISOR_RUNDIR_H
#define HINNY_SUPERVISOR_RUNDIR_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Room that the longest name in it needs, so that all socket paths fit in sun_path. */
enum { RUNDIR_PATH_MAX = 107 - 32 };

struct rundir {
	char *path;     /* absolute */
	int fd;         /* open folder */
	int lock;       /* open RUN/lock, flocked */
	bool temporary; /* made for this run, removed at the end */
	uint64_t first_incarnation, next_incarnation,
	    reserved; /* reserved: from here on the lock file must say so first */
};

/* Opens and locks; makes the folder when it is not there. NULL: a fresh one, 0700, under
 * $XDG_RUNTIME_DIR or /tmp. Held by another broker: HINNY_EEXIST. */
enum hinny_rc rundir_open(struct rundir *rd, const char *path, struct hinny_error *err);
/*
 * A number that no worker in this folder has had before, nor will have (they come again after 16
 * million, when nobody remembers them): below 2^24, not 0.
 */
uint64_t rundir_take_incarnation(struct rundir *rd);
/* Removes what earlier brokers left, and writes the pid file. After the workers were started: it
 * takes its time. `keep`: the generation that is ours. */
void rundir_clean(struct rundir *rd, uint64_t keep);
/* Removes some of the fresh run folders that killed brokers of this user left beside ours, if ours
 * is one. For when there is time. */
void rundir_tidy(const struct rundir *rd);
/* Workers run as another user of this group: lets them make their inboxes here. */
enum hinny_rc rundir_share(struct rundir *rd, gid_t gid, struct hinny_error *err);
/* Removes what is ours; a temporary folder goes itself. May be repeated. */
void rundir_close(struct rundir *rd);

/* Makes RUN/gen.N; its descriptor, or -1 with err. */
int rundir_make_generation(struct rundir *rd, uint64_t number, struct hinny_error *err);
void rundir_remove_generation(struct rundir *rd, uint64_t number);
/* Removes the inbox of a dead worker. */
void rundir_remove_inbox(struct rundir *rd, const char *kind, uint32_t index, uint64_t incarnation);

#endif
