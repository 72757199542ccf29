/*
 * A link to an inbox. What is sent is written at once; what the socket does not take leaves from a buffer of the link's own when it can, so the caller can fill another one
 * meanwhile. The link is read only to learn that the other side has gone.
 */
#include "core/ipc/wire.h"

#include "core/base/mem.h"
#include "core/ipc/wire_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINK_KEEP = 1 << 20 }; /* a larger buffer is not kept */

struct link {
	struct loop *lp;
	struct sockaddr_un address;
	link_fn *fn;
	void *arg;
	struct loop_fd fd; /* not open: not dialled */
	struct buf leaving;
	size_t left; /* bytes of `leaving` that have been written */
	struct loop_defer free_now;
	bool tell;
};

static void
hang_up(struct link *l)
{
	if (!l->fd.open)
		return;
	loop_fd_close(&l->fd, NULL);
	(void)close(l->fd.fd); /* what it had taken is on its way */
}

static bool
is_busy(const struct link *l)
{
	return l->left < l->leaving.n;
}

/* Bytes written; the rest has to wait. -1: it is broken. */
static ssize_t
write_some(struct link *l, const char *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t k = send(l->fd.fd, p + done, n - done, MSG_NOSIGNAL);
		if (k == -1 && errno == EINTR)
			continue;
		if (k == -1 && errno != EAGAIN && errno != ENOBUFS)
			return -1;
		if (k == -1)
			break;
		done += (size_t)k;
	}
	return (ssize_t)done;
}

static void
on_free(struct loop_defer *d)
{
	struct link *l = CONTAINER_OF(d, struct link, free_now);

	if (!l->tell || is_busy(l) || !l->fd.open)
		return;
	l->tell = false;
	l->fn(l->arg, LINK_FREE);
}

/* All of it has left. */
static void
all_left(struct link *l, struct buf *b)
{
	if (b->cap > LINK_KEEP)
		buf_fini(b);
	buf_clear(b);
	if (l->tell)
		loop_defer(l->lp, &l->free_now);
}

static void
now_broken(struct link *l)
{
	hang_up(l);
	l->fn(l->arg, LINK_BROKEN);
}

/* An inbox says nothing, so what can be read is its end. */
static bool
has_ended(struct link *l)
{
	char c[16];
	ssize_t k = recv(l->fd.fd, c, sizeof c, 0);

	return k == 0 || (k == -1 && errno != EAGAIN && errno != EINTR);
}

static void
on_event(struct loop_fd *w, unsigned events)
{
	struct link *l = CONTAINER_OF(w, struct link, fd);

	if ((events & LOOP_READ) != 0 && has_ended(l)) {
		now_broken(l);
		return;
	}
	if ((events & LOOP_WRITE) == 0 || !is_busy(l))
		return;
	ssize_t k = write_some(l, l->leaving.p + l->left, l->leaving.n - l->left);
	if (k == -1) {
		now_broken(l);
		return;
	}
	l->left += (size_t)k;
	if (is_busy(l))
		return;
	l->left = 0;
	loop_fd_watch(w, LOOP_READ);
	all_left(l, &l->leaving);
}

struct link *
link_new(struct loop *lp, const char *path, link_fn *fn, void *arg, struct hinny_error *err)
{
	struct sockaddr_un address;

	if (wire_address(path, &address, err) != HINNY_OK)
		return NULL;
	struct link *l = MEM_NEW(struct link);
	l->lp = lp;
	l->address = address;
	l->fn = fn;
	l->arg = arg;
	buf_init(&l->leaving, 0);
	loop_defer_init(&l->free_now, on_free);
	return l;
}

void
link_free(struct link *l)
{
	if (l == NULL)
		return;
	hang_up(l);
	loop_defer_cancel(&l->free_now);
	buf_fini(&l->leaving);
	loop_free_later(l->lp, l);
}

bool
link_dial(struct link *l)
{
	hang_up(l);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return false;
	if (connect(fd, (const struct sockaddr *)&l->address, sizeof l->address) == -1) { /* a unix socket is connected or refused at once */
		(void)close(fd);
		return false;
	}
	(void)loop_fd_init(l->lp, &l->fd, fd, on_event, NULL); /* fails for negative descriptors only */
	loop_fd_watch(&l->fd, LOOP_READ);
	buf_clear(&l->leaving);
	l->left = 0;
	l->tell = false;
	return true;
}

bool
link_send(struct link *l, struct buf *out)
{
	if (!l->fd.open)
		return false;
	if (is_busy(l)) {
		l->tell = true;
		return false;
	}
	ssize_t k = write_some(l, out->p, out->n);
	if (k == -1)
		return false; /* its end is about to be seen */
	if ((size_t)k == out->n) {
		all_left(l, out);
		return true;
	}
	struct buf empty = l->leaving;
	l->leaving = *out;
	l->left = (size_t)k;
	*out = empty;
	loop_fd_watch(&l->fd, LOOP_READ | LOOP_WRITE);
	return true;
}

void
link_tell(struct link *l)
{
	l->tell = true;
	if (!is_busy(l))
		loop_defer(l->lp, &l->free_now);
}

size_t
link_unsent(const struct link *l)
{
	return l->leaving.n - l->left;
}
