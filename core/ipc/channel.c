/*
 * The control socket. A frame that carries a descriptor is sent by a sendmsg of its own with the
 * descriptor beside its first byte; since Linux never joins bytes across such a boundary with those
 * of a later one, the receiver gets descriptors in the order of the frames that announce them.
 */
#include "core/ipc/channel.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 16 << 10, READ_FDS = 8, READ_ROUNDS = 16, LENGTH_SIZE = 4 };

struct waiting_fd {
	size_t at;  /* of its frame's first byte in `out` */
	size_t end; /* behind its last */
	int fd;
};

struct channel {
	struct loop_fd watch;
	struct loop *lp;
	const struct channel_ops *ops;
	void *owner;
	enum control_side self, peer;
	int fd;
	bool freed;
	bool ended;
	struct buf in, out;
	struct waiting_fd out_fds[CHANNEL_FDS_MAX];
	size_t out_fds_n;
	int in_fds[CHANNEL_FDS_MAX];
	size_t in_fds_n;
};

static void on_events(struct loop_fd *w, unsigned events);

struct channel *
channel_new(struct loop *lp, int fd, enum control_side self, const struct channel_ops *ops,
    void *owner, struct hinny_error *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1) {
		(void)hinny_error_errno(err, errno, "cannot use control socket");
		(void)close(fd);
		return NULL;
	}
	struct channel *ch = MEM_NEW(struct channel);
	ch->lp = lp;
	ch->fd = fd;
	ch->self = self;
	ch->peer = self == CONTROL_SUPERVISOR ? CONTROL_WORKER : CONTROL_SUPERVISOR;
	ch->ops = ops;
	ch->owner = owner;
	buf_init(&ch->in, FRAME_MAX + LENGTH_SIZE);
	buf_init(&ch->out, CHANNEL_QUEUE_MAX);
	if (loop_fd_init(lp, &ch->watch, fd, on_events, err) != HINNY_OK) {
		(void)close(fd);
		free(ch);
		return NULL;
	}
	loop_fd_watch(&ch->watch, LOOP_READ);
	return ch;
}

static void
on_watch_closed(struct loop_fd *w)
{
	struct channel *ch = CONTAINER_OF(w, struct channel, watch);

	buf_fini(&ch->in);
	buf_fini(&ch->out);
	free(ch);
}

void
channel_free(struct channel *ch)
{
	if (ch == NULL || ch->freed)
		return;
	ch->freed = true;
	for (size_t i = 0; i < ch->out_fds_n; i++)
		(void)close(ch->out_fds[i].fd);
	for (size_t i = 0; i < ch->in_fds_n; i++)
		(void)close(ch->in_fds[i]);
	int fd = ch->fd;
	ch->fd = -1;
	loop_fd_close(&ch->watch, on_watch_closed); /* frees ch, maybe only after this turn */
	(void)close(fd);
}

/* -- sending -- */

static ssize_t
send_bytes(int fd, const char *p, size_t n, int passed)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)p, .iov_len = n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (passed != -1) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof control.space;
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &passed, sizeof passed);
	}
	ssize_t sent;
	do {
		sent = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent == -1 && errno == EINTR);
	return sent;
}

static void
took_out(struct channel *ch, size_t n)
{
	buf_consume(&ch->out, n);
	for (size_t i = 0; i < ch->out_fds_n; i++) {
		ch->out_fds[i].at -= n;
		ch->out_fds[i].end -= n;
	}
}

static void
drop_first_fd(struct channel *ch)
{
	(void)close(ch->out_fds[0].fd);
	ch->out_fds_n--;
	memmove(&ch->out_fds[0], &ch->out_fds[1], ch->out_fds_n * sizeof ch->out_fds[0]);
}

/* Writes until nothing is left or the socket is full. A broken socket shows when it is read. */
static void
write_out(struct channel *ch)
{
	while (ch->out.n > 0) {
		bool with_fd = ch->out_fds_n > 0 && ch->out_fds[0].at == 0;
		size_t n = with_fd      ? ch->out_fds[0].end
		    : ch->out_fds_n > 0 ? ch->out_fds[0].at
					: ch->out.n;
		ssize_t sent = send_bytes(ch->fd, ch->out.p, n, with_fd ? ch->out_fds[0].fd : -1);
		if (sent == -1 && (errno == EAGAIN || errno == ENOBUFS))
			break;
		if (sent == -1) {
			while (ch->out_fds_n > 0)
				drop_first_fd(ch);
			buf_clear(&ch->out);
			break;
		}
		if (with_fd)
			drop_first_fd(ch);
		took_out(ch, (size_t)sent);
	}
	loop_fd_watch(&ch->watch, ch->out.n > 0 ? LOOP_READ | LOOP_WRITE : LOOP_READ);
}

enum hinny_rc
channel_send(struct channel *ch, const struct control_message *m, struct hinny_error *err)
{
	size_t at = ch->out.n;
	int fd = -1;

	if (ch->ended || ch->freed)
		return hinny_error_set(err, HINNY_ECLOSED, "control socket has ended");
	ASSERT(control_may_send(m->type, ch->self));
	if (control_carries_fd(m->type)) {
		if (ch->out_fds_n == CHANNEL_FDS_MAX)
			return hinny_error_set(
			    err, HINNY_ELIMIT, "too many descriptors wait on a control socket");
		fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
		if (fd == -1)
			return hinny_error_errno(err, errno, "cannot pass a descriptor");
	}
	if (control_encode(&ch->out, m) != HINNY_OK) {
		if (fd != -1)
			(void)close(fd);
		return hinny_error_set(err, HINNY_ELIMIT, "control socket is not being read");
	}
	if (fd != -1)
		ch->out_fds[ch->out_fds_n++] =
		    (struct waiting_fd){ .at = at, .end = ch->out.n, .fd = fd };
	write_out(ch);
	return HINNY_OK;
}

enum hinny_rc
channel_send_type(struct channel *ch, enum frame_type type)
{
	struct control_message m = { .type = type, .fd = -1 };

	return channel_send(ch, &m, NULL);
}

void
channel_flush(struct channel *ch, int ms)
{
	struct monotime end = monotime_add_ms(monotime_now(), ms);

	while (!ch->freed && ch->out.n > 0) {
		int64_t left = monotime_ms_between(monotime_now(), end);
		struct pollfd p = { .fd = ch->fd, .events = POLLOUT };
		if (left <= 0 || (poll(&p, 1, (int)left) == -1 && errno != EINTR))
			return;
		write_out(ch);
	}
}

/* -- receiving -- */

static void
end(struct channel *ch, const struct hinny_error *err)
{
	if (ch->ended)
		return;
	ch->ended = true;
	loop_fd_watch(&ch->watch, 0);
	ch->ops->closed(ch->owner, err);
}

static void
protocol_error(struct channel *ch, const char *what)
{
	struct hinny_error err;

	(void)hinny_error_set(&err, HINNY_EPROTO, "%s", what);
	end(ch, &err);
}

static void
take_fds(struct channel *ch, struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (ch->in_fds_n < CHANNEL_FDS_MAX)
				ch->in_fds[ch->in_fds_n++] = fd;
			else
				(void)close(fd);
		}
	}
}

/* Bytes read, 0 at the end, -1 when there is nothing now. */
static ssize_t
read_some(struct channel *ch)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(READ_FDS * sizeof(int))];
	} control;

	if (buf_reserve(&ch->in, 1) != HINNY_OK)
		return 0;
	if (ch->in.cap - ch->in.n < READ_SIZE)
		(void)buf_reserve(&ch->in, READ_SIZE); /* near the bound there may be less */
	struct iovec iov = { .iov_base = ch->in.p + ch->in.n, .iov_len = ch->in.cap - ch->in.n };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control.space };
	ssize_t n;
	do {
		n = recvmsg(ch->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n == -1 && errno == EINTR);
	if (n == -1)
		return errno == EAGAIN ? -1 : 0;
	take_fds(ch, &msg);
	ch->in.n += (size_t)n;
	return n;
}

static bool
take_fd_of(struct channel *ch, struct control_message *m)
{
	if (!control_carries_fd(m->type))
		return true;
	if (ch->in_fds_n == 0)
		return false;
	m->fd = ch->in_fds[0];
	ch->in_fds_n--;
	memmove(&ch->in_fds[0], &ch->in_fds[1], ch->in_fds_n * sizeof ch->in_fds[0]);
	return true;
}

static void
handle_frame(struct channel *ch, struct str frame)
{
	struct frame_reader r = { 0 };
	struct control_message m;
	struct hinny_error err;

	if (!frame_next(&frame, &r)) {
		protocol_error(ch, "broken frame on a control socket");
		return;
	}
	if (control_decode(&r, ch->peer, &m, &err) != HINNY_OK) {
		end(ch, &err);
		return;
	}
	if (!take_fd_of(ch, &m)) {
		protocol_error(ch, "control frame without its descriptor");
		return;
	}
	ch->ops->message(ch->owner, &m);
}

/* Hands out all whole frames. The channel's memory stays until the turn ends, whatever the
 * callbacks do. */
static void
handle_input(struct channel *ch)
{
	size_t at = 0;

	while (!ch->freed && !ch->ended && ch->in.n - at >= LENGTH_SIZE) {
		size_t n = frame_length(ch->in.p + at);
		if (n > FRAME_MAX) {
			protocol_error(ch, "oversized frame on a control socket");
			return;
		}
		if (ch->in.n - at < LENGTH_SIZE + n)
			break;
		handle_frame(ch, (struct str){ ch->in.p + at, LENGTH_SIZE + n });
		at += LENGTH_SIZE + n;
	}
	if (!ch->freed)
		buf_consume(&ch->in, at);
}

static void
read_in(struct channel *ch)
{
	for (int i = 0; i < READ_ROUNDS && !ch->freed && !ch->ended; i++) {
		ssize_t n = read_some(ch);
		if (n == -1)
			return;
		if (n == 0) {
			struct hinny_error err;
			(void)hinny_error_set(&err, HINNY_ECLOSED, "control socket has ended");
			end(ch, &err);
			return;
		}
		handle_input(ch);
	}
}

void
channel_read_rest(struct channel *ch)
{
	read_in(ch);
}

static void
on_events(struct loop_fd *w, unsigned events)
{
	struct channel *ch = CONTAINER_OF(w, struct channel, watch);

	if ((events & LOOP_WRITE) != 0 && !ch->ended)
		write_out(ch);
	if ((events & LOOP_READ) != 0)
		read_in(ch);
}
