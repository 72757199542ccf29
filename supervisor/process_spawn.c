/* A worker's command line, its descriptors, its limits and its user. */
#include "supervisor/process_priv.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/config/settings.h"
#include "supervisor/generation.h"
#include "supervisor/spawn.h"
#include "supervisor/supervisor_priv.h"
#include "workers/fds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NUMBER_SIZE = 24, ARGS_MAX = 16 };

struct command_line {
	char index[NUMBER_SIZE], incarnation[NUMBER_SIZE], generation[NUMBER_SIZE],
	    listeners[NUMBER_SIZE];
	const char *argv[ARGS_MAX];
};

static size_t
listeners_of(const struct process *pr)
{
	bool listens = (pr->kind->flags & KIND_LISTENS) != 0 && pr->gen->listens;

	return listens ? generation_settings(pr->gen)->http.listen_n : 0;
}

static void
fill_command_line(struct command_line *cl, const struct process *pr, uint64_t incarnation)
{
	(void)snprintf(cl->index, sizeof cl->index, "%" PRIu32, pr->index); /* numbers fit */
	(void)snprintf(cl->incarnation, sizeof cl->incarnation, "%" PRIu64, incarnation);
	(void)snprintf(cl->generation, sizeof cl->generation, "%" PRIu64, pr->gen->number);
	(void)snprintf(cl->listeners, sizeof cl->listeners, "%zu", listeners_of(pr));
	const char *argv[ARGS_MAX] = { pr->kind->executable, "--index", cl->index, "--incarnation",
		cl->incarnation, "--generation", cl->generation, "--listeners", cl->listeners };
	memcpy(cl->argv, argv, sizeof argv);
}

static size_t
fill_fds(const struct process *pr, int control, int fds[SPAWN_FDS_MAX])
{
	const struct settings_http *http = &generation_settings(pr->gen)->http;
	size_t n = listeners_of(pr), at = WORKER_FD_LISTEN - WORKER_FD_CONTROL;

	fds[WORKER_FD_CONTROL - WORKER_FD_CONTROL] = control;
	fds[WORKER_FD_BUNDLE - WORKER_FD_CONTROL] = pr->gen->bundle_fd;
	fds[WORKER_FD_PAGE - WORKER_FD_CONTROL] = pr->page_fd;
	fds[WORKER_FD_GENERATION - WORKER_FD_CONTROL] = pr->gen->dir_fd;
	fds[WORKER_FD_RUN - WORKER_FD_CONTROL] = pr->sv->run.fd;
	for (size_t i = 0; i < n; i++)
		fds[at + i] = listeners_fd(&pr->sv->listeners, &http->listen[i], pr->index);
	return at + n;
}

static enum hinny_rc
find_user(const struct process *pr, const struct settings_worker *sw, struct spawn_user *user,
    struct hinny_error *err)
{
	if (geteuid() != 0)
		return hinny_error_set(err, HINNY_EREFUSED,
		    "cannot run %s as %s \"%s\": hinnyd does not run as root", pr->name,
		    sw->user != NULL ? "user" : "group", sw->user != NULL ? sw->user : sw->group);
	return spawn_user_find(sw->user, sw->group, user, err);
}

static enum hinny_rc
start(struct process *pr, uint64_t incarnation, int control, struct hinny_error *err)
{
	const struct settings_worker *sw = &generation_settings(pr->gen)->workers[pr->kind_index];
	struct command_line cl;
	struct spawn_user user;
	int fds[SPAWN_FDS_MAX];

	bool other = sw->user != NULL || sw->group != NULL;
	if (other && find_user(pr, sw, &user, err) != HINNY_OK)
		return err->rc;
	fill_command_line(&cl, pr, incarnation);
	char *path = spawn_path(pr->kind->executable);
	struct spawn_options opt = {
		.path = path,
		.argv = (char *const *)(uintptr_t)
			    cl.argv, /* execve wants it without const and writes nothing */
		.envp = pr->sv->envp,
		.fds = fds,
		.fds_n = fill_fds(pr, control, fds),
		.memory = sw->memory,
		.files = sw->files,
		.user = other ? &user : NULL,
	};
	enum hinny_rc rc = spawn_process(&opt, &pr->pid, err);
	free(path);
	return rc;
}

enum hinny_rc
process_spawn(struct process *pr, const struct channel_ops *ops, struct hinny_error *err)
{
	int pair[2];
	uint64_t incarnation = rundir_take_incarnation(&pr->sv->run);

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return hinny_error_errno(
		    err, errno, "cannot make a control socket for %s", pr->name);
	enum hinny_rc rc = start(pr, incarnation, pair[1], err);
	(void)close(pair[1]);
	if (rc != HINNY_OK) {
		(void)close(pair[0]);
		return rc;
	}
	pr->incarnation = incarnation;
	pr->channel = channel_new(&pr->sv->lp, pair[0], CONTROL_SUPERVISOR, ops, pr, err);
	return HINNY_OK; /* without a channel the worker sees the end of its control socket and
	                    exits: its death tells */
}
