/*
 * Run folders. The lock is an flock, which ends with the process however it dies. The lock file
 * also keeps up to which number incarnations may have been used, a block ahead, so that an inbox
 * address does not come twice even when the broker is killed.
 */
#include "supervisor/rundir.h"

#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/model/descriptor.h"
#include "core/model/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 64, INCARNATIONS = 1 << 24, INCARNATION_BLOCK = 4096 };

/* -- opening -- */

static enum hinny_rc
make_temporary(struct rundir *rd, struct hinny_error *err)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	char path[RUNDIR_PATH_MAX + 1];

	if (base == NULL || base[0] != '/' || strlen(base) + sizeof "/hinny-XXXXXX" > sizeof path ||
	    access(base, W_OK) == -1)
		base = "/tmp";
	(void)snprintf(path, sizeof path, "%s/hinny-XXXXXX", base); /* fits, see above */
	if (mkdtemp(path) == NULL)
		return hinny_error_errno(err, errno, "cannot make a run folder in %s", base);
	rd->path = mem_strdup(path);
	rd->temporary = true;
	return HINNY_OK;
}

static enum hinny_rc
find_folder(struct rundir *rd, const char *path, struct hinny_error *err)
{
	if (mkdir(path, 0755) == -1 && errno != EEXIST)
		return hinny_error_errno(err, errno, "cannot make run folder \"%s\"", path);
	rd->path = realpath(path, NULL);
	if (rd->path == NULL)
		return hinny_error_errno(err, errno, "cannot use run folder \"%s\"", path);
	if (strlen(rd->path) > RUNDIR_PATH_MAX)
		return hinny_error_set(err, HINNY_ELIMIT,
		    "path of run folder \"%s\" has %zu bytes, expected at most %d: sockets lie in "
		    "it",
		    rd->path, strlen(rd->path), RUNDIR_PATH_MAX);
	return HINNY_OK;
}

/* The lock file's text: "PID INCARNATION\n", the last number that may have been used. */
static void
read_lock(int fd, long *pid, uint64_t *last)
{
	char text[NAME_SIZE];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	*pid = 0;
	*last = 0;
	if (n <= 0)
		return;
	text[n] = '\0';
	if (sscanf(text, "%ld %" SCNu64, pid, last) != 2 || *last >= INCARNATIONS)
		*last = 0;
}

static uint64_t
following(uint64_t incarnation, uint64_t n)
{
	return (incarnation + n) % INCARNATIONS;
}

/* Writes that a block of numbers from `first` on is used. */
static bool
reserve(struct rundir *rd, uint64_t first)
{
	char text[NAME_SIZE];
	/* Of one length, so that it is overwritten whole. */
	int n = snprintf(text, sizeof text, "%-10ld %-10" PRIu64 "\n", (long)getpid(),
	    following(first, INCARNATION_BLOCK));

	rd->reserved = following(first, INCARNATION_BLOCK);
	return pwrite(rd->lock, text, (size_t)n, 0) == n;
}

uint64_t
rundir_take_incarnation(struct rundir *rd)
{
	uint64_t taken;

	do {
		taken = rd->next_incarnation;
		rd->next_incarnation = following(taken, 1);
		if (taken == rd->reserved && !reserve(rd, taken))
			log_warning("cannot write \"%s/lock\": %m", rd->path);
	} while (taken == 0);
	return taken;
}

static enum hinny_rc
take_lock(struct rundir *rd, struct hinny_error *err)
{
	long pid;
	uint64_t last;

	rd->lock = openat(rd->fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (rd->lock == -1)
		return hinny_error_errno(err, errno, "cannot open \"%s/lock\"", rd->path);
	read_lock(rd->lock, &pid, &last);
	if (flock(rd->lock, LOCK_EX | LOCK_NB) == -1) {
		if (errno != EWOULDBLOCK)
			return hinny_error_errno(err, errno, "cannot lock \"%s/lock\"", rd->path);
		return hinny_error_set(
		    err, HINNY_EEXIST, "run folder \"%s\" is in use by process %ld", rd->path, pid);
	}
	rd->first_incarnation = rd->next_incarnation = following(last, 1);
	if (!reserve(rd, rd->first_incarnation))
		return hinny_error_errno(err, errno, "cannot write \"%s/lock\"", rd->path);
	return HINNY_OK;
}

enum hinny_rc
rundir_open(struct rundir *rd, const char *path, struct hinny_error *err)
{
	*rd = (struct rundir){ .fd = -1, .lock = -1 };
	enum hinny_rc rc = path != NULL ? find_folder(rd, path, err) : make_temporary(rd, err);
	if (rc != HINNY_OK)
		goto out;
	rd->fd = open(rd->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rd->fd == -1) {
		rc = hinny_error_errno(err, errno, "cannot open run folder \"%s\"", rd->path);
		goto out;
	}
	rc = take_lock(rd, err);
out:
	if (rc != HINNY_OK && !rd->temporary && rd->lock != -1) {
		(void)close(rd->lock); /* not ours: nothing of the folder may be removed */
		rd->lock = -1;
	}
	if (rc != HINNY_OK)
		rundir_close(rd);
	return rc;
}

/* -- removing -- */

static void remove_tree(int at, const char *name, int depth);

static void
remove_entries(int fd, int depth)
{
	DIR *dir = fdopendir(fd); /* owns fd */
	struct dirent *e;

	if (dir == NULL) {
		(void)close(fd);
		return;
	}
	while ((e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_tree(dirfd(dir), e->d_name, depth + 1);
	}
	(void)closedir(dir);
}

/* What cannot be removed stays: it is in nobody's way but the next clean-up's. */
static void
remove_tree(int at, const char *name, int depth)
{
	enum { DEPTH_MAX = 64 };

	if (unlinkat(at, name, 0) == 0 || depth > DEPTH_MAX)
		return;
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return;
	remove_entries(fd, depth);
	(void)unlinkat(at, name, AT_REMOVEDIR);
}

/* KIND.I.INCARNATION with a known kind. */
static bool
is_inbox(const char *name, uint64_t *incarnation)
{
	struct str rest = str_of(name), kind, index, number;
	int64_t n;

	if (!str_split(&rest, '.', &kind) || !str_split(&rest, '.', &index) ||
	    !str_split(&rest, '.', &number) || rest.n != 0)
		return false;
	if (kind_find(kind) == NULL || !str_to_int64(index, &n) || !str_to_int64(number, &n) ||
	    n < 0)
		return false;
	*incarnation = (uint64_t)n;
	return true;
}

static bool
is_generation(const char *name, uint64_t *number)
{
	int64_t n;

	if (strncmp(name, "gen.", 4) != 0 || !str_to_int64(str_of(name + 4), &n) || n < 0)
		return false;
	*number = (uint64_t)n;
	return true;
}

static void
write_pid(struct rundir *rd)
{
	char text[NAME_SIZE];
	int fd = openat(rd->fd, "hinnyd.pid", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());

	if (fd == -1 || write(fd, text, (size_t)n) != n)
		log_warning("cannot write \"%s/hinnyd.pid\": %m", rd->path);
	if (fd != -1)
		(void)close(fd);
}

static bool
is_ours(const struct rundir *rd, uint64_t incarnation)
{
	return (incarnation - rd->first_incarnation) % INCARNATIONS <
	    (rd->next_incarnation - rd->first_incarnation) % INCARNATIONS;
}

/* Removes what an earlier broker left: all of it with `all`, else not what is ours. */
static void
remove_stale(struct rundir *rd, uint64_t keep, bool all)
{
	int fd = openat(rd->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd != -1 ? fdopendir(fd) : NULL;
	struct dirent *e;
	uint64_t n;

	if (dir == NULL) {
		if (fd != -1)
			(void)close(fd);
		return;
	}
	while ((e = readdir(dir)) != NULL) {
		if (is_generation(e->d_name, &n) && (all || n != keep))
			remove_tree(rd->fd, e->d_name, 0);
		else if (is_inbox(e->d_name, &n) && (all || !is_ours(rd, n)))
			(void)unlinkat(rd->fd, e->d_name, 0);
	}
	(void)closedir(dir);
}

/*
 * The folder of a `hinny run` that was killed: ours by its owner, its lock is free, and it is not
 * just being made.
 */
static bool
is_abandoned(int at, const char *name)
{
	enum { YOUNG_S = 60 };
	struct stat st;
	bool abandoned = false;

	int dir = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir == -1)
		return false;
	int lock = openat(dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (lock != -1 && fstat(lock, &st) == 0 && st.st_uid == geteuid() &&
	    walltime_ms() / 1000 - st.st_mtim.tv_sec > YOUNG_S)
		abandoned = flock(lock, LOCK_EX | LOCK_NB) == 0;
	if (lock != -1)
		(void)close(lock);
	(void)close(dir);
	return abandoned;
}

void
rundir_tidy(const struct rundir *rd)
{
	enum { AT_ONCE = 16 }; /* the supervisor has other things to do */
	unsigned n = 0;

	if (!rd->temporary)
		return;
	char *parent = mem_strndup(rd->path, (size_t)(strrchr(rd->path, '/') - rd->path));
	DIR *dir = opendir(parent);
	struct dirent *e;
	while (dir != NULL && n < AT_ONCE && (e = readdir(dir)) != NULL) {
		if (strncmp(e->d_name, "hinny-", 6) != 0 || strlen(e->d_name) != 12 ||
		    !is_abandoned(dirfd(dir), e->d_name))
			continue;
		remove_tree(dirfd(dir), e->d_name, 0);
		n++;
	}
	if (dir != NULL)
		(void)closedir(dir);
	free(parent);
}

void
rundir_clean(struct rundir *rd, uint64_t keep)
{
	if (!rd->temporary)
		remove_stale(rd, keep, false);
	write_pid(rd);
}

enum hinny_rc
rundir_share(struct rundir *rd, gid_t gid, struct hinny_error *err)
{
	struct stat st;

	if (fstat(rd->fd, &st) == 0 && fchown(rd->fd, (uid_t)-1, gid) == 0 &&
	    fchmod(rd->fd, (st.st_mode & 07777) | S_IRWXG) == 0)
		return HINNY_OK;
	return hinny_error_errno(
	    err, errno, "cannot share run folder \"%s\" with the workers' group", rd->path);
}

void
rundir_close(struct rundir *rd)
{
	if (rd->lock != -1) {
		remove_stale(rd, 0, true);
		(void)unlinkat(rd->fd, "hinnyd.pid", 0);
		if (rd->temporary)
			(void)unlinkat(rd->fd, "lock", 0);
	}
	if (rd->temporary && rd->path != NULL && rmdir(rd->path) == -1)
		log_warning("cannot remove run folder \"%s\": %m", rd->path);
	if (rd->fd != -1)
		(void)close(rd->fd);
	if (rd->lock != -1)
		(void)close(rd->lock); /* unlocks */
	free(rd->path);
	*rd = (struct rundir){ .fd = -1, .lock = -1 };
}

/* -- generations and inboxes -- */

int
rundir_make_generation(struct rundir *rd, uint64_t number, struct hinny_error *err)
{
	char name[NAME_SIZE];

	(void)snprintf(name, sizeof name, "gen.%" PRIu64, number); /* fits */
	if (mkdirat(rd->fd, name, 0755) == -1) {
		if (errno == EEXIST) { /* of a broker that was killed */
			remove_tree(rd->fd, name, 0);
			errno = mkdirat(rd->fd, name, 0755) == -1 ? errno : 0;
		}
		if (errno != 0) {
			(void)hinny_error_errno(
			    err, errno, "cannot make \"%s/%s\"", rd->path, name);
			return -1;
		}
	}
	int fd = openat(rd->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		(void)hinny_error_errno(err, errno, "cannot open \"%s/%s\"", rd->path, name);
	return fd;
}

void
rundir_remove_generation(struct rundir *rd, uint64_t number)
{
	char name[NAME_SIZE];

	(void)snprintf(name, sizeof name, "gen.%" PRIu64, number); /* fits */
	remove_tree(rd->fd, name, 0);
}

void
rundir_remove_inbox(struct rundir *rd, const char *kind, uint32_t index, uint64_t incarnation)
{
	char name[NAME_SIZE];

	(void)snprintf(
	    name, sizeof name, "%s.%" PRIu32 ".%" PRIu64, kind, index, incarnation); /* fits */
	(void)unlinkat(rd->fd, name, 0); /* most have none */
}
