/*
 * Starting a worker: fork and exec at once. Between the two run only async-signal-safe calls. Its
 * descriptors have the numbers of workers/fds.h; nothing else is inherited beside 0, 1 and 2.
 */
#ifndef HINNY_SUPERVISOR_SPAWN_H
#define HINNY_SUPERVISOR_SPAWN_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SPAWN_FDS_MAX = 128, SPAWN_GROUPS_MAX = 64 };

/* Who a worker runs as. */
struct spawn_user {
	uid_t uid;
	gid_t gid;
	gid_t groups[SPAWN_GROUPS_MAX];
	size_t groups_n;
};

struct spawn_options {
	const char *path; /* of the executable */
	char *const *argv, *const *envp;
	const int *fds; /* fds[i] becomes WORKER_FD_CONTROL + i; -1: /dev/null */
	size_t fds_n;
	uint64_t memory;               /* bytes of private memory, 0: no limit */
	int64_t files;                 /* open files, 0: as inherited */
	const struct spawn_user *user; /* NULL: as the supervisor */
};

enum { SPAWN_EXIT_NO_EXEC = 127 };

/* A program that cannot be executed shows as exit status SPAWN_EXIT_NO_EXEC. Does not wait. */
enum hinny_rc spawn_process(const struct spawn_options *opt, pid_t *pid, struct hinny_error *err);
/* Looks a user and group up (NULL user: the supervisor's; NULL group: the user's own). */
enum hinny_rc spawn_user_find(
    const char *user, const char *group, struct spawn_user *out, struct hinny_error *err);
/* The path of an executable in libexec: environment variable HINNY_LIBEXECDIR, or where it was
 * installed. Malloc'ed. */
char *spawn_path(const char *executable);

#endif
