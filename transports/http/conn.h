/*
 * One TCP or unix connection: buffers, reads, writes. Server and client connections are built on
 * it; it knows nothing of HTTP.
 *
 * System calls are what a request costs, so: the descriptor is watched edge-triggered for all that
 * can happen, once; one read brings a whole request (a read that fills less than the room has
 * emptied the socket); one gathering write takes head and body; what the socket does not take is
 * queued by reference.
 *
 * Input is read into blobs. Messages keep slices of them (arena_hold), so bytes that were handed
 * out never change: further input is put behind them. A blob that nobody else holds is used again,
 * and a connection that waits for its next request holds none at all.
 */
#ifndef HINNY_HTTP_CONN_H
#define HINNY_HTTP_CONN_H

#include "core/base/arena.h"
#include "core/base/blob.h"
#include "core/base/buf.h"
#include "core/loop/loop.h"
#include "transports/http/head.h"
#include "transports/http/timeouts.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	CONN_READ = 16 * 1024,        /* room of a usual read */
	CONN_READ_STREAM = 64 * 1024, /* …while a body streams */
	CONN_OUT_HIGH = 256 * 1024,   /* producers pause when so much is queued */
	CONN_OUT_LOW = 64 * 1024,     /* …and go on here */
	CONN_SPARE = 32,
};

/* What all connections of a worker share. */
struct http_io {
	struct loop *lp;
	struct timeouts timeouts;
	struct blob *spare[CONN_SPARE]; /* unused blobs of CONN_READ bytes */
	unsigned spare_n;
	struct blob *spare_stream[4]; /* …of CONN_READ_STREAM bytes */
	unsigned spare_stream_n;
	struct buf head_out;   /* the head that is being written */
	struct http_head head; /* the head that was parsed last */
	char date[40];         /* "Date: …\r\n" */
	size_t date_n;
	struct monotime date_until;
};
void http_io_init(struct http_io *io, struct loop *lp);
void http_io_fini(struct http_io *io);
/* As arena_hold, but the blob goes back to the unused ones when the arena lets go of it last. */
struct blob *http_io_hold(struct http_io *io, struct arena *a, struct blob *b);
/* "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" of this second. */
struct str http_io_date(struct http_io *io);

/* Bytes to send; in `blob`, or valid during the call only when that is NULL. */
struct conn_slice {
	struct str bytes;
	struct blob *blob;
};
enum { CONN_SLICES_MAX = 8 };

struct conn_piece;
struct conn;
struct conn_ops {
	/* Something can be read, was written, or ended: look at all. */
	void (*ready)(struct conn *c);
	/* The memory may be freed now. */
	void (*closed)(struct conn *c);
};

struct conn {
	struct loop_fd w;
	struct http_io *io;
	const struct conn_ops *ops;
	int fd;
	bool readable;    /* there may be something to read */
	bool writable;    /* the socket may take something */
	bool peer_closed; /* nothing more will come behind what can still be read */
	bool eof;         /* …and that has been read */
	bool broken;      /* reading failed: errnum */
	bool out_broken;  /* writing failed: errnum */
	bool corked;
	bool progress; /* bytes were written since this was last cleared */
	int errnum;
	uint64_t written; /* bytes given to the kernel in all */
	struct blob *in;  /* input from in_at to in->size; NULL: none */
	size_t in_at;
	struct conn_piece *out; /* ring of what waits to be written */
	uint32_t out_at, out_n, out_cap;
	size_t out_bytes;
	struct loop_defer again; /* comes back in the next turn */
};

/* Takes the descriptor (non-blocking). `connecting`: it is not writable yet. */
enum hinny_rc conn_init(struct conn *c, struct http_io *io, int fd, bool connecting,
    const struct conn_ops *ops, struct hinny_error *err);
/* Closes at once; ops->closed follows at the end of the turn. `reset`: so that the peer sees an
 * error, not an end. May be repeated. */
void conn_close(struct conn *c, bool reset);

static inline struct str
conn_input(const struct conn *c)
{
	if (c->in == NULL)
		return (struct str){ NULL, 0 };
	return (struct str){ c->in->data + c->in_at, c->in->size - c->in_at };
}
/* n bytes of the input were used. */
void conn_consume(struct conn *c, size_t n);
/* Gives the input buffer back when it is empty. */
void conn_release_input(struct conn *c);
/* Reads once. `room` is wished behind the unused input (CONN_READ …); all unused input stays in one
 * piece. True when bytes came. */
bool conn_read(struct conn *c, size_t room);
/* Makes sure that the input can grow to n bytes in one piece (it may move to another blob). */
void conn_want_input(struct conn *c, size_t n);

/* Sends, or queues what cannot leave now. Errors show in c->out_broken. */
void conn_send(struct conn *c, const struct conn_slice *slices, unsigned n);
/* Between these, sends are gathered. */
void conn_cork(struct conn *c);
void conn_uncork(struct conn *c);
/* Writes what is queued; true when all is out. */
bool conn_flush(struct conn *c);
static inline bool
conn_out_high(const struct conn *c)
{
	return c->out_bytes > CONN_OUT_HIGH;
}
/* Calls ops->ready in the next turn: for long work, so that others get their turn. */
void conn_again(struct conn *c);

#endif
