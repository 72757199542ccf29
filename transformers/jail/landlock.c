/*
 * Landlock, by its system calls, since Debian 12 has no library for it. The ruleset handles every
 * right that this kernel knows and allows none. It binds the calling thread and what it starts;
 * other threads are held by the seccomp filter alone.
 */
#include "transformers/jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The rights on files by ABI version; what a header of today knows of tomorrow's kernel is of no
 * use, so they are numbers: bits 0 to 12 in version 1, then one each. */
static uint64_t
file_rights(long abi)
{
	unsigned bits = abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13;

	return (UINT64_C(1) << bits) - 1;
}

/* What may be read all the same; NULL-ended. */
static const char *const readable[] = {
#ifdef __SANITIZE_ADDRESS__
	"/proc", /* the leak checker looks at its own threads */
#endif
	NULL,
};

static enum hinny_rc
allow_reading(int ruleset, const char *path, struct hinny_error *err)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
		.parent_fd = open(path, O_PATH | O_CLOEXEC),
	};
	enum hinny_rc rc = HINNY_OK;

	if (attr.parent_fd == -1 ||
	    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) == -1)
		rc = hinny_error_errno(err, errno, "cannot allow reading of %s", path);
	if (attr.parent_fd != -1)
		(void)close(attr.parent_fd); /* nothing was written */
	return rc;
}

enum hinny_rc
landlock_close(struct hinny_error *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr attr;
	long fd;

	if (abi == -1)
		return hinny_error_errno(err, errno, "this kernel has no Landlock") == HINNY_OK
		    ? HINNY_OK
		    : HINNY_ENOENT;
	attr = (struct landlock_ruleset_attr){ .handled_access_fs = file_rights(abi) };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return hinny_error_errno(err, errno, "cannot give up new privileges");
	fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);
	if (fd == -1)
		return hinny_error_errno(err, errno, "cannot make a Landlock ruleset");
	for (const char *const *path = readable; *path != NULL; path++) {
		if (allow_reading((int)fd, *path, err) != HINNY_OK) {
			(void)close((int)fd); /* nothing was written */
			return err->rc;
		}
	}
	if (syscall(SYS_landlock_restrict_self, (int)fd, 0) == -1) {
		(void)hinny_error_errno(err, errno, "cannot enter the Landlock ruleset");
		(void)close((int)fd); /* nothing was written */
		return HINNY_EIO;
	}
	(void)close((int)fd); /* nothing was written */
	return HINNY_OK;
}
