/* The seccomp filter: see jail.h. Allowed calls are rows of tables; everything else fails with
 * EPERM. */
#include "transformers/jail/jail.h"

#include "core/base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seccomp.h>

/* Whatever their arguments. They touch memory, time, and descriptors that are open
 * already. */
static const int allowed[] = {
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(brk),
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(close),
	SCMP_SYS(connect),
	SCMP_SYS(dup),
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_pwait2),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(eventfd2),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(fcntl),
	SCMP_SYS(fstat),
	SCMP_SYS(ftruncate),
	SCMP_SYS(futex),
	SCMP_SYS(getpeername),
	SCMP_SYS(getpid),
	SCMP_SYS(getrandom),
	SCMP_SYS(getrusage),
	SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt),
	SCMP_SYS(gettid),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(lseek),
	SCMP_SYS(madvise),
	SCMP_SYS(membarrier),
	SCMP_SYS(memfd_create),
	SCMP_SYS(mremap),
	SCMP_SYS(munmap),
	SCMP_SYS(nanosleep),
	SCMP_SYS(pipe2),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rseq),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigpending),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(setsockopt),
	SCMP_SYS(shutdown),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(time),
	SCMP_SYS(uname),
	SCMP_SYS(write),
	SCMP_SYS(writev),
#ifdef __SANITIZE_ADDRESS__
	/* the sanitizers look at the process itself, and their leak checker stops its threads */
	SCMP_SYS(clone),
	SCMP_SYS(getdents),
	SCMP_SYS(getdents64),
	SCMP_SYS(getppid),
	SCMP_SYS(kill),
	SCMP_SYS(mmap),
	SCMP_SYS(mprotect),
	SCMP_SYS(newfstatat),
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(prctl),
	SCMP_SYS(ptrace),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(sched_getparam),
	SCMP_SYS(wait4),
#endif
};

/* When (argument & mask) == value. */
static const struct {
	int call;
	unsigned argument;
	uint64_t mask, value;
} allowed_when[] = {
	{ SCMP_SYS(ioctl), 1, UINT32_MAX, FIONBIO },
	{ SCMP_SYS(ioctl), 1, UINT32_MAX, FIONREAD },
	{ SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
	{ SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
	{ SCMP_SYS(newfstatat), 3, AT_EMPTY_PATH, AT_EMPTY_PATH }, /* what fstat() calls */
	{ SCMP_SYS(prctl), 0, UINT32_MAX, 0x53564d41 }, /* PR_SET_VMA, names of memory areas */
	{ SCMP_SYS(socket), 0, UINT32_MAX, AF_UNIX },
};

static int
add_rules(scmp_filter_ctx ctx)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(allowed) && rc == 0; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; i < ARRAY_LEN(allowed_when) && (rc == 0 || rc == -EEXIST); i++) {
		struct scmp_arg_cmp cmp = { allowed_when[i].argument, SCMP_CMP_MASKED_EQ,
			allowed_when[i].mask, allowed_when[i].value };

		rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, allowed_when[i].call, 1, &cmp);
	}
	if (rc == 0 || rc == -EEXIST) {
		/* signals to this process alone: abort() and pthread_kill() */
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
		    SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	}
	return rc;
}

enum hinny_rc
jail_close(struct hinny_error *err)
{
	struct hinny_error why;
	scmp_filter_ctx ctx;
	int rc;

	if (landlock_close(&why) == HINNY_EIO)
		return hinny_error_set(err, HINNY_EIO, "cannot close the jail: %s", why.text);
	ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!ctx)
		return hinny_error_set(err, HINNY_EIO, "cannot close the jail: out of memory");
	rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);
	if (rc == 0)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE,
		    2); /* a binary tree: hot calls are not at the end of a list */
	if (rc == 0)
		rc = add_rules(ctx);
	if (rc == 0)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	return rc == 0 ? HINNY_OK : hinny_error_errno(err, -rc, "cannot close the jail");
}
