/*
 * Waking the loop from other threads: an eventfd that is written when the first of several wake-ups
 * comes, and never read (it is watched for edges), so a wake-up costs one system call.
 */
#include "core/loop/loop.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/loop/loop_priv.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void
on_wake(struct loop_fd *fd, unsigned events)
{
	struct loop_wake *w = CONTAINER_OF(fd, struct loop_wake, fd);

	(void)events;
	/* Before the callback looks: what is queued behind its back wakes again. */
	atomic_store(&w->pending, false);
	w->fn(w);
}

enum hinny_rc
loop_wake_init(struct loop *lp, struct loop_wake *w, loop_wake_fn *fn, struct hinny_error *err)
{
	w->open = false;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd == -1)
		return hinny_error_errno(err, errno, "cannot make an eventfd");
	(void)loop_fd_init(lp, &w->fd, fd, on_wake, NULL); /* fails for negative descriptors only */
	loop_fd_watch(&w->fd, LOOP_READ | LOOP_EDGE);
	w->fn = fn;
	atomic_init(&w->pending, false);
	w->open = true;
	return HINNY_OK;
}

void
loop_wake_send(struct loop_wake *w)
{
	uint64_t one = 1;

	if (atomic_exchange(&w->pending, true))
		return;
	while (write(w->fd.fd, &one, sizeof one) == -1) {
		if (errno != EINTR)
			fatal("cannot write to an eventfd: %m");
	}
}

void
loop_wake_close(struct loop_wake *w)
{
	if (!w->open)
		return;
	w->open = false;
	loop_fd_close(&w->fd, NULL);
	(void)close(w->fd.fd); /* holds nothing that could be lost */
}
