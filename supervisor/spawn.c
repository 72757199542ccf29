/* Fork, fixed descriptors, limits, privileges, exec. */
#include "supervisor/spawn.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "workers/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- in the child: async-signal-safe calls only -- */

/* First out of the way of the numbers that are wanted, then to them: sources and targets overlap.
 */
static bool
place_fds(const struct spawn_options *opt)
{
	int moved[SPAWN_FDS_MAX];
	int above = WORKER_FD_CONTROL + (int)opt->fds_n;

	for (size_t i = 0; i < opt->fds_n; i++) {
		int from = opt->fds[i] != -1 ? opt->fds[i] : open("/dev/null", O_RDWR | O_CLOEXEC);
		moved[i] = fcntl(from, F_DUPFD_CLOEXEC, above);
		if (moved[i] == -1)
			return false;
	}
	for (size_t i = 0; i < opt->fds_n; i++) {
		if (dup2(moved[i], WORKER_FD_CONTROL + (int)i) == -1)
			return false;
	}
	/* All of ours are close-on-exec; what the supervisor itself inherited may not be. Older
	 * kernels lack the call. */
	(void)syscall(SYS_close_range, (unsigned)above, ~0u, 0u);
	return true;
}

static bool
limit(int what, uint64_t value)
{
	struct rlimit l = { .rlim_cur = value, .rlim_max = value };

	return value == 0 || setrlimit(what, &l) == 0;
}

/* 0: as many as the limit that is above the inherited one, which a shell sets low. */
static bool
limit_files(int64_t files)
{
	struct rlimit l;

	if (files != 0)
		return limit(RLIMIT_NOFILE, (uint64_t)files);
	if (getrlimit(RLIMIT_NOFILE, &l) == -1 || l.rlim_cur == l.rlim_max)
		return true;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l); /* then it stays as it is */
	return true;
}

static bool
become(const struct spawn_user *u)
{
	if (u == NULL)
		return true;
	(void)umask(0007); /* inboxes are for the group that workers share */
	return setgroups(u->groups_n, u->groups) == 0 && setresgid(u->gid, u->gid, u->gid) == 0 &&
	    setresuid(u->uid, u->uid, u->uid) == 0;
}

/* Signals that a terminal or an init system sends to the whole group are the supervisor's business.
 */
static void
set_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	sigset_t none;

	(void)sigemptyset(&none); /* the numbers are valid: these cannot fail */
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void
run_child(const struct spawn_options *opt)
{
	set_signals();
	if (place_fds(opt) && limit(RLIMIT_DATA, opt->memory) &&
	    limit_files(opt->files) && become(opt->user))
		(void)execve(opt->path, opt->argv, opt->envp);
	_exit(SPAWN_EXIT_NO_EXEC);
}

/* -- in the supervisor -- */

enum hinny_rc
spawn_process(const struct spawn_options *opt, pid_t *pid, struct hinny_error *err)
{
	ASSERT(opt->fds_n <= SPAWN_FDS_MAX);
	pid_t child = _Fork(); /* without the handlers that libuv has put into fork(), which are not
	                          async-signal-safe */
	if (child == 0)
		run_child(opt);
	if (child == -1)
		return hinny_error_errno(err, errno, "cannot start %s", opt->path);
	*pid = child;
	return HINNY_OK;
}

static enum hinny_rc
find_group(const char *group, gid_t *gid, struct hinny_error *err)
{
	errno = 0;
	struct group *gr = getgrnam(group);
	if (gr == NULL && errno != 0)
		return hinny_error_errno(err, errno, "cannot look up group \"%s\"", group);
	if (gr == NULL)
		return hinny_error_set(err, HINNY_ENOENT, "no group \"%s\"", group);
	*gid = gr->gr_gid;
	return HINNY_OK;
}

enum hinny_rc
spawn_user_find(
    const char *user, const char *group, struct spawn_user *out, struct hinny_error *err)
{
	int n = SPAWN_GROUPS_MAX;

	errno = 0;
	struct passwd *pw = user != NULL ? getpwnam(user) : getpwuid(geteuid());
	const char *shown = user != NULL ? user : "of hinnyd";
	if (pw == NULL && errno != 0)
		return hinny_error_errno(err, errno, "cannot look up user \"%s\"", shown);
	if (pw == NULL)
		return hinny_error_set(err, HINNY_ENOENT, "no user \"%s\"", shown);
	*out = (struct spawn_user){ .uid = pw->pw_uid, .gid = pw->pw_gid };
	if (group != NULL && find_group(group, &out->gid, err) != HINNY_OK)
		return err->rc;
	if (getgrouplist(pw->pw_name, out->gid, out->groups, &n) == -1)
		return hinny_error_set(err, HINNY_ELIMIT, "user \"%s\" is in more than %d groups",
		    shown, SPAWN_GROUPS_MAX);
	out->groups_n = (size_t)n;
	return HINNY_OK;
}

char *
spawn_path(const char *executable)
{
	const char *dir = getenv("HINNY_LIBEXECDIR");
	char *path;

	if (dir == NULL || dir[0] == '\0')
		dir = HINNY_LIBEXECDIR_DEFAULT;
	size_t n = strlen(dir) + strlen(executable) + 2;
	path = mem_alloc(n);
	(void)snprintf(path, n, "%s/%s", dir, executable); /* fits */
	return path;
}
