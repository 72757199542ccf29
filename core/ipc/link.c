/*
 * A link to an inbox. Bytes leave from a buffer of the link's own, so the caller can fill another one meanwhile; the first write is made in the loop's thread, and
 * goes through unless the socket is full. Something to receive is asked for only to learn that the other side has gone.
 */
#include "core/ipc/wire.h"

#include "core/base/mem.h"

#include <nng/nng.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LINK_KEEP = 1 << 20 }; /* a larger buffer is not kept */

struct link {
	struct loop_wake *wake;
	nng_stream_dialer *dialer;
	nng_stream *stream; /* NULL: not dialled */
	nng_aio *dial, *tx, *rx;
	char nothing[16];
	atomic_uint events;
	atomic_size_t unsent;
	pthread_mutex_t lock;
	/* under the lock */
	struct buf leaving;
	size_t left;
	bool busy, tell, broken;
};

static void
link_event(struct link *l, unsigned event)
{
	atomic_fetch_or(&l->events, event);
	loop_wake_send(l->wake);
}

static void
link_write(struct link *l)
{
	nng_iov iov = { .iov_buf = l->leaving.p + l->left, .iov_len = l->leaving.n - l->left };

	(void)nng_aio_set_iov(l->tx, 1, &iov); /* fails for too many only */
	nng_stream_send(l->stream, l->tx);
}

/* On a thread of nng's. */
static void
link_written(void *arg)
{
	struct link *l = arg;
	unsigned event = 0;
	bool more = false;

	pthread_mutex_lock(&l->lock);
	if (nng_aio_result(l->tx) != 0) {
		event = LINK_BROKEN;
		l->broken = true;
	} else {
		l->left += nng_aio_count(l->tx);
		more = l->left < l->leaving.n;
	}
	atomic_store(&l->unsent, l->leaving.n - l->left);
	if (!more) {
		if (event == 0 && l->tell)
			event = LINK_FREE;
		l->busy = false;
		l->tell = false;
	}
	pthread_mutex_unlock(&l->lock);
	if (more)
		link_write(l); /* nobody else touches what is leaving while it is busy */
	if (event != 0)
		link_event(l, event);
}

static void
link_read(struct link *l)
{
	nng_iov iov = { .iov_buf = l->nothing, .iov_len = sizeof l->nothing };

	(void)nng_aio_set_iov(l->rx, 1, &iov);
	nng_stream_recv(l->stream, l->rx);
}

/* On a thread of nng's: an inbox says nothing, so this is its end. */
static void
link_heard(void *arg)
{
	struct link *l = arg;

	if (nng_aio_result(l->rx) == 0) {
		link_read(l);
		return;
	}
	pthread_mutex_lock(&l->lock);
	l->broken = true;
	pthread_mutex_unlock(&l->lock);
	link_event(l, LINK_BROKEN);
}

struct link *
link_new(const char *url, struct loop_wake *wake, struct hinny_error *err)
{
	struct link *l = MEM_NEW(struct link);

	l->wake = wake;
	buf_init(&l->leaving, 0);
	pthread_mutex_init(&l->lock, NULL);
	int rc = nng_stream_dialer_alloc(&l->dialer, url);
	if (rc == 0)
		rc = nng_aio_alloc(&l->dial, NULL, NULL);
	if (rc == 0)
		return l;
	(void)hinny_error_set(err, HINNY_EIO, "cannot make a link to %s: %s", url, nng_strerror(rc));
	link_free(l);
	return NULL;
}

/*
 * The operations go before the stream: one that is begun anew on a closed stream would never end, one that has been stopped cannot begin. That waits for a callback that
 * is running, and those do not wait.
 */
static void
link_hang_up(struct link *l)
{
	nng_aio_free(l->rx);
	nng_aio_free(l->tx);
	l->rx = l->tx = NULL;
	if (l->stream == NULL)
		return;
	nng_stream_close(l->stream);
	nng_stream_free(l->stream);
	l->stream = NULL;
}

void
link_free(struct link *l)
{
	if (l == NULL)
		return;
	link_hang_up(l);
	nng_aio_free(l->dial);
	nng_stream_dialer_free(l->dialer);
	pthread_mutex_destroy(&l->lock);
	buf_fini(&l->leaving);
	free(l);
}

bool
link_dial(struct link *l)
{
	link_hang_up(l);
	nng_stream_dialer_dial(l->dialer, l->dial);
	nng_aio_wait(l->dial); /* a unix socket is connected or refused at once */
	if (nng_aio_result(l->dial) != 0)
		return false;
	l->stream = nng_aio_get_output(l->dial, 0);
	if (nng_aio_alloc(&l->tx, link_written, l) != 0 || nng_aio_alloc(&l->rx, link_heard, l) != 0) {
		link_hang_up(l);
		return false;
	}
	l->busy = l->broken = false;
	atomic_store(&l->events, 0);
	atomic_store(&l->unsent, 0);
	link_read(l);
	return true;
}

bool
link_send(struct link *l, struct buf *out)
{
	if (l->stream == NULL)
		return false;
	pthread_mutex_lock(&l->lock);
	if (l->busy || l->broken) {
		l->tell = true;
		pthread_mutex_unlock(&l->lock);
		return false;
	}
	struct buf sent = l->leaving;
	l->leaving = *out;
	l->left = 0;
	l->busy = true;
	pthread_mutex_unlock(&l->lock);
	if (sent.cap > LINK_KEEP)
		buf_fini(&sent);
	buf_clear(&sent);
	*out = sent;
	atomic_store(&l->unsent, l->leaving.n);
	link_write(l);
	return true;
}

void
link_tell(struct link *l)
{
	pthread_mutex_lock(&l->lock);
	l->tell = true;
	pthread_mutex_unlock(&l->lock);
}

size_t
link_unsent(const struct link *l)
{
	return atomic_load(&l->unsent);
}

unsigned
link_events(struct link *l)
{
	return atomic_exchange(&l->events, 0);
}
