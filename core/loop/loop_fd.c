/*
 * Watchers of descriptors: a thin cover of epoll. A paused watcher is out of the set, as a hang-up
 * is reported to all that are in it.
 */
#include "core/loop/loop.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/loop/loop_priv.h"

#include <errno.h>

static const struct {
	unsigned mine;
	unsigned epoll;
} event_bits[] = {
	{ LOOP_READ, EPOLLIN },
	{ LOOP_WRITE, EPOLLOUT },
	{ LOOP_EXCLUSIVE, EPOLLEXCLUSIVE },
	{ LOOP_EDGE, EPOLLET | EPOLLRDHUP },
};

static unsigned
to_epoll(unsigned events)
{
	unsigned out = 0;

	for (size_t i = 0; i < ARRAY_LEN(event_bits); i++) {
		if (events & event_bits[i].mine)
			out |= event_bits[i].epoll;
	}
	return out;
}

enum hinny_rc
loop_fd_init(struct loop *lp, struct loop_fd *w, int fd, loop_fd_fn *fn, struct hinny_error *err)
{
	if (fd < 0)
		return hinny_error_set(err, HINNY_EINVAL, "cannot watch descriptor %d", fd);
	*w = (struct loop_fd){ .lp = lp, .fn = fn, .fd = fd, .open = true };
	list_init(&w->closing);
	return HINNY_OK;
}

static void
control(struct loop_fd *w, int op, unsigned events)
{
	struct epoll_event ev = { .events = to_epoll(events), .data.ptr = w };

	if (epoll_ctl(w->lp->epfd, op, w->fd, &ev) == -1)
		fatal("cannot watch descriptor %d: %m", w->fd);
}

void
loop_fd_watch(struct loop_fd *w, unsigned events)
{
	ASSERT(w->open);
	if (!(events & (LOOP_READ | LOOP_WRITE)))
		events = 0;
	unsigned before = w->events;
	if (events == before)
		return;
	w->events = events;
	if (before != 0 && events != 0 && !((before | events) & LOOP_EXCLUSIVE)) {
		control(w, EPOLL_CTL_MOD, events);
		return;
	}
	if (before != 0)
		control(w, EPOLL_CTL_DEL, 0);
	if (events != 0)
		control(w, EPOLL_CTL_ADD, events);
}

/* Events of this turn that w was still to get must not reach what lies in its place afterwards. */
static void
forget_events(struct loop *lp, const struct loop_fd *w)
{
	for (int i = lp->batch_at; i < lp->batch_n; i++) {
		if (lp->batch[i].data.ptr == w)
			lp->batch[i].data.ptr = NULL;
	}
}

void
loop_fd_close(struct loop_fd *w, void (*closed)(struct loop_fd *w))
{
	if (!w->open)
		return;
	loop_fd_watch(w, 0);
	forget_events(w->lp, w);
	w->open = false;
	w->closed = closed;
	if (closed != NULL)
		list_append(&w->lp->closing, &w->closing);
}

void
loop_fd_dispatch(struct loop_fd *w, unsigned epoll_events)
{
	unsigned events = 0;

	if (epoll_events & (EPOLLERR | EPOLLHUP))
		events = LOOP_READ | LOOP_WRITE;
	if (epoll_events & EPOLLIN)
		events |= LOOP_READ;
	if (epoll_events & EPOLLOUT)
		events |= LOOP_WRITE;
	if ((w->events & LOOP_EDGE) && (epoll_events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)))
		events |= LOOP_READ | LOOP_PEER_CLOSED;
	if (w->events & events) /* another callback of this turn may have paused it */
		w->fn(w, events);
}

void
loop_fd_run_closed(struct loop *lp)
{
	while (!list_empty(&lp->closing)) {
		struct loop_fd *w = LIST_FIRST(&lp->closing, struct loop_fd, closing);
		list_remove(&w->closing);
		w->closed(w);
	}
}
