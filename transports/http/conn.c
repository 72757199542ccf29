/* Buffers, reads and writes of one connection. See conn.h. */
#include "transports/http/conn.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct conn_piece {
	struct blob *blob; /* a reference of its own */
	struct str bytes;
};

/* ---- what connections share ---- */

void
http_io_init(struct http_io *io, struct loop *lp)
{
	memset(io, 0, sizeof *io);
	io->lp = lp;
	timeouts_init(&io->timeouts, lp);
	buf_init(&io->head_out, 0);
}

void
http_io_fini(struct http_io *io)
{
	while (io->spare_n > 0)
		blob_put(io->spare[--io->spare_n]);
	while (io->spare_stream_n > 0)
		blob_put(io->spare_stream[--io->spare_stream_n]);
	buf_fini(&io->head_out);
	timeouts_fini(&io->timeouts);
}

struct str
http_io_date(struct http_io *io)
{
	if (loop_now(io->lp).ns >= io->date_until.ns) {
		static const char days[] = "SunMonTueWedThuFriSat",
				  months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
		int64_t ms = walltime_ms();
		time_t now = (time_t)(ms / 1000);
		struct tm tm;
		gmtime_r(&now, &tm);
		int n = snprintf(io->date, sizeof io->date,
		    "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d GMT\r\n", days + 3 * tm.tm_wday,
		    tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
		    tm.tm_sec);
		io->date_n = n > 0 && (size_t)n < sizeof io->date ? (size_t)n : 0;
		io->date_until = monotime_add_ms(loop_now(io->lp), 1000 - ms % 1000);
	}
	return (struct str){ io->date, io->date_n };
}

static struct blob *
take_blob(struct http_io *io, size_t room)
{
	if (room <= CONN_READ)
		return io->spare_n > 0 ? io->spare[--io->spare_n] : blob_new(CONN_READ);
	if (room <= CONN_READ_STREAM)
		return io->spare_stream_n > 0 ? io->spare_stream[--io->spare_stream_n]
					      : blob_new(CONN_READ_STREAM);
	return blob_new(room);
}

static void
drop_blob(struct http_io *io, struct blob *b)
{
	if (b->refs == 1 && b->cap == CONN_READ && io->spare_n < CONN_SPARE) {
		b->size = 0;
		io->spare[io->spare_n++] = b;
	} else if (b->refs == 1 && b->cap == CONN_READ_STREAM &&
	    io->spare_stream_n < ARRAY_LEN(io->spare_stream)) {
		b->size = 0;
		io->spare_stream[io->spare_stream_n++] = b;
	} else {
		blob_put(b);
	}
}

struct hold {
	struct http_io *io;
	struct blob *blob;
};

static void
let_go(void *arg)
{
	struct hold *hold = arg;

	drop_blob(hold->io, hold->blob);
}

struct blob *
http_io_hold(struct http_io *io, struct arena *a, struct blob *b)
{
	struct hold *hold = arena_alloc(a, sizeof *hold);

	*hold = (struct hold){ io, blob_get(b) };
	arena_on_reset(a, let_go, hold);
	return b;
}

/* ---- life ---- */

static void
on_event(struct loop_fd *w, unsigned events)
{
	struct conn *c = CONTAINER_OF(w, struct conn, w);

	if (events & LOOP_READ)
		c->readable = true;
	if (events & LOOP_PEER_CLOSED)
		c->peer_closed = true;
	if (events & LOOP_WRITE)
		c->writable = true;
	if ((events & LOOP_WRITE) && c->out_n > 0)
		(void)conn_flush(c); /* the owner looks at what is left */
	c->ops->ready(c);
}

static void
on_again(struct loop_defer *d)
{
	struct conn *c = CONTAINER_OF(d, struct conn, again);

	c->ops->ready(c);
}

enum hinny_rc
conn_init(struct conn *c, struct http_io *io, int fd, bool connecting, const struct conn_ops *ops,
    struct hinny_error *err)
{
	*c = (struct conn){ .io = io, .ops = ops, .fd = fd, .writable = !connecting };
	loop_defer_init(&c->again, on_again);
	enum hinny_rc rc = loop_fd_init(io->lp, &c->w, fd, on_event, err);
	if (rc != HINNY_OK)
		return rc;
	loop_fd_watch(&c->w, LOOP_READ | LOOP_WRITE | LOOP_EDGE);
	return HINNY_OK;
}

static void
drop_out(struct conn *c)
{
	while (c->out_n > 0) {
		blob_put(c->out[c->out_at].blob);
		c->out_at = (c->out_at + 1) % c->out_cap;
		c->out_n--;
	}
	c->out_bytes = 0;
	free(c->out);
	c->out = NULL;
	c->out_cap = 0;
}

static void
on_closed(struct loop_fd *w)
{
	struct conn *c = CONTAINER_OF(w, struct conn, w);

	c->ops->closed(c);
}

void
conn_close(struct conn *c, bool reset)
{
	if (c->fd == -1)
		return;
	loop_defer_cancel(&c->again);
	loop_fd_close(&c->w, on_closed);
	if (reset) {
		struct linger linger = { .l_onoff = 1, .l_linger = 0 };
		(void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger,
		    sizeof linger); /* a unix socket knows no reset */
	}
	(void)close(c->fd); /* nothing can be done about it */
	c->fd = -1;
	c->readable = c->writable = false;
	c->eof = true;
	drop_out(c);
	if (c->in != NULL)
		drop_blob(c->io, c->in);
	c->in = NULL;
	c->in_at = 0;
}

void
conn_again(struct conn *c)
{
	if (c->fd != -1)
		loop_defer(c->io->lp, &c->again);
}

/* ---- input ---- */

void
conn_consume(struct conn *c, size_t n)
{
	ASSERT(c->in != NULL && n <= c->in->size - c->in_at);
	c->in_at += n;
}

void
conn_release_input(struct conn *c)
{
	if (c->in == NULL || c->in_at < c->in->size)
		return;
	drop_blob(c->io, c->in);
	c->in = NULL;
	c->in_at = 0;
}

/* Moves the unused input to the start of another blob. */
static void
move_input(struct conn *c, struct blob *b)
{
	struct str left = conn_input(c);

	ASSERT(left.n <= b->cap);
	if (left.n > 0)
		memcpy(b->data, left.p, left.n);
	b->size = left.n;
	if (c->in != NULL)
		drop_blob(c->io, c->in);
	c->in = b;
	c->in_at = 0;
}

void
conn_want_input(struct conn *c, size_t n)
{
	if (c->in == NULL || c->in->cap - c->in_at < n)
		move_input(c, take_blob(c->io, n));
}

/* Makes room behind the input. What is in the buffer stays where it is as long as somebody holds
 * it. */
static void
make_room(struct conn *c, size_t room)
{
	struct blob *b = c->in;

	if (b != NULL && b->refs == 1 && c->in_at == b->size)
		b->size = c->in_at = 0;
	if (b != NULL && b->size < b->cap && (b->cap - b->size >= room || b->size - c->in_at > 0))
		return;
	size_t left = b != NULL ? b->size - c->in_at : 0;
	move_input(c, take_blob(c->io, left * 2 > room ? left * 2 : room));
}

bool
conn_read(struct conn *c, size_t room)
{
	if (!c->readable || c->eof || c->broken)
		return false;
	make_room(c, room);
	size_t free_n = c->in->cap - c->in->size;
	ssize_t n;
	do {
		n = recv(c->fd, c->in->data + c->in->size, free_n, 0);
	} while (n == -1 && errno == EINTR);
	if (n > 0) {
		c->in->size += (size_t)n;
		/* Less than asked for: the socket is empty, and there will be an event for more. An
		 * end that came along has had its event. */
		if ((size_t)n < free_n && !c->peer_closed)
			c->readable = false;
		return true;
	}
	c->readable = false;
	if (n == 0) {
		c->eof = true;
	} else if (errno != EAGAIN && errno != EWOULDBLOCK) {
		c->broken = c->eof = true;
		c->errnum = errno;
	}
	conn_release_input(c);
	return false;
}

/* ---- output ---- */

static void
queue_piece(struct conn *c, struct blob *owned, struct str bytes)
{
	if (c->out_n == c->out_cap) {
		uint32_t cap = c->out_cap > 0 ? c->out_cap * 2 : 8;
		struct conn_piece *out = mem_alloc(cap * sizeof *out);
		for (uint32_t i = 0; i < c->out_n; i++)
			out[i] = c->out[(c->out_at + i) % c->out_cap];
		free(c->out);
		c->out = out;
		c->out_cap = cap;
		c->out_at = 0;
	}
	c->out[(c->out_at + c->out_n++) % c->out_cap] = (struct conn_piece){ owned, bytes };
	c->out_bytes += bytes.n;
}

static void
queue_slice(struct conn *c, const struct conn_slice *s, size_t skip)
{
	struct str rest = { s->bytes.p + skip, s->bytes.n - skip };

	if (rest.n == 0)
		return;
	if (s->blob != NULL) {
		queue_piece(c, blob_get(s->blob), rest);
		return;
	}
	struct blob *copy = blob_copy(rest.p, rest.n);
	queue_piece(c, copy, (struct str){ copy->data, rest.n });
}

/* One write. Returns what the socket took; 0 when it takes nothing now or is broken. */
static size_t
write_some(struct conn *c, const struct iovec *iov, unsigned n, size_t total)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n };
	ssize_t put;

	do {
		put = n == 1 ? send(c->fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL)
			     : sendmsg(c->fd, &msg, MSG_NOSIGNAL);
	} while (put == -1 && errno == EINTR);
	if (put == -1) {
		c->writable = false;
		if (errno != EAGAIN && errno != EWOULDBLOCK) {
			c->out_broken = true;
			c->errnum = errno;
		}
		return 0;
	}
	if ((size_t)put < total)
		c->writable = false; /* there will be an event */
	c->written += (size_t)put;
	c->progress = true;
	return (size_t)put;
}

bool
conn_flush(struct conn *c)
{
	while (c->out_n > 0 && c->writable && !c->out_broken && c->fd != -1) {
		struct iovec iov[64];
		size_t total = 0;
		unsigned n = 0;
		for (; n < c->out_n && n < ARRAY_LEN(iov); n++) {
			const struct conn_piece *piece = &c->out[(c->out_at + n) % c->out_cap];
			iov[n] = (struct iovec){ (char *)piece->bytes.p, piece->bytes.n };
			total += piece->bytes.n;
		}
		size_t put = write_some(c, iov, n, total);
		c->out_bytes -= put;
		while (c->out_n > 0 && put >= c->out[c->out_at].bytes.n) {
			put -= c->out[c->out_at].bytes.n;
			blob_put(c->out[c->out_at].blob);
			c->out_at = (c->out_at + 1) % c->out_cap;
			c->out_n--;
		}
		if (put > 0) {
			c->out[c->out_at].bytes.p += put;
			c->out[c->out_at].bytes.n -= put;
		}
	}
	return c->out_n == 0;
}

void
conn_send(struct conn *c, const struct conn_slice *slices, unsigned n)
{
	struct iovec iov[CONN_SLICES_MAX];
	size_t total = 0, put = 0;
	unsigned used = 0;

	ASSERT(n <= CONN_SLICES_MAX);
	if (c->out_broken || c->fd == -1)
		return;
	if (!c->corked && c->out_n == 0 && c->writable) {
		for (unsigned i = 0; i < n; i++) {
			if (slices[i].bytes.n == 0)
				continue;
			iov[used++] =
			    (struct iovec){ (char *)slices[i].bytes.p, slices[i].bytes.n };
			total += slices[i].bytes.n;
		}
		if (total == 0)
			return;
		put = write_some(c, iov, used, total);
		if (put == total || c->out_broken)
			return;
	}
	for (unsigned i = 0; i < n; i++) {
		size_t skip = put < slices[i].bytes.n ? put : slices[i].bytes.n;
		put -= skip;
		queue_slice(c, &slices[i], skip);
	}
}

void
conn_cork(struct conn *c)
{
	c->corked = true;
}

void
conn_uncork(struct conn *c)
{
	c->corked = false;
	(void)conn_flush(c); /* what is left goes when the socket takes it */
}
