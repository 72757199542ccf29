/*
 * An inbox: whoever dials is accepted, and what comes is cut into frames. The bytes are read into a place of the connection's own, from which whole frames are copied into
 * a blob; a frame that is larger than that place is read into a blob at once. When the loop is late so much is queued, and no more is read. A connection whose bytes are
 * no frames is closed: nothing in it could be found again.
 */
#include "core/ipc/wire.h"

#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/model/frame.h"

#include <nng/nng.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STAGE = 32 << 10, INTAKE_QUEUED = 8 << 20, ACCEPT_AGAIN_MS = 10, LENGTH = 4 };

struct connection {
	struct list node; /* of intake.connections */
	struct intake *in;
	nng_stream *stream;
	nng_aio *rx;
	struct blob *large; /* a frame that is not whole yet */
	size_t n;           /* bytes in `stage` */
	bool paused, ended; /* under the lock of the intake */
	const char *why;    /* it was ended by this side; under the lock */
	char stage[STAGE];
};

struct intake {
	struct loop_wake *wake;
	nng_stream_listener *listener;
	nng_aio *accept;
	bool resting; /* of accept's callback */
	pthread_mutex_t lock;
	/* under the lock */
	struct list connections;
	struct blob **queue;
	size_t n, cap, bytes;
	bool changed; /* a connection is paused or ended */
	bool failing; /* to accept */
};

/* ---- on nng's threads ---- */

static void
connection_read(struct connection *c)
{
	nng_iov iov[2];
	unsigned n = 0;

	if (c->large != NULL)
		iov[n++] = (nng_iov){ .iov_buf = c->large->data + c->large->size, .iov_len = c->large->cap - c->large->size };
	iov[n++] = (nng_iov){ .iov_buf = c->stage + c->n, .iov_len = STAGE - c->n };
	(void)nng_aio_set_iov(c->rx, n, iov); /* fails for too many only */
	nng_stream_recv(c->stream, c->rx);
}

static void
deliver(struct intake *in, struct blob *b)
{
	pthread_mutex_lock(&in->lock);
	if (in->n == in->cap) {
		in->cap = in->cap != 0 ? 2 * in->cap : 16;
		in->queue = mem_realloc(in->queue, in->cap * sizeof in->queue[0]);
	}
	in->queue[in->n++] = b;
	in->bytes += b->size;
	pthread_mutex_unlock(&in->lock);
	loop_wake_send(in->wake);
}

static uint32_t
frame_length(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

/* Whole frames leave the stage; false: what is behind them is none. */
static bool
connection_cut(struct connection *c)
{
	size_t whole = 0, need = 0;
	bool good = true;

	while (good && c->n - whole >= LENGTH) {
		need = LENGTH + (size_t)frame_length(c->stage + whole);
		good = need >= FRAME_HEAD && need <= FRAME_MAX &&
		    (c->n - whole == LENGTH || c->stage[whole + LENGTH] == FRAME_VERSION);
		if (!good || c->n - whole < need)
			break;
		whole += need;
		need = 0;
	}
	if (whole > 0)
		deliver(c->in, blob_copy(c->stage, whole));
	c->n -= whole;
	if (good && need > STAGE) {
		c->large = blob_new(need);
		memcpy(c->large->data, c->stage + whole, c->n);
		c->large->size = c->n;
		c->n = 0;
	} else if (c->n > 0 && whole > 0) {
		memmove(c->stage, c->stage + whole, c->n);
	}
	return good;
}

/* n bytes have come. */
static bool
connection_got(struct connection *c, size_t n)
{
	if (c->large != NULL) {
		size_t rest = c->large->cap - c->large->size;
		size_t k = n < rest ? n : rest;
		c->large->size += k;
		n -= k;
		if (c->large->size < c->large->cap)
			return true;
		deliver(c->in, c->large);
		c->large = NULL;
	}
	c->n += n;
	return connection_cut(c);
}

static void
connection_on_read(void *arg)
{
	struct connection *c = arg;
	struct intake *in = c->in;
	bool ended = nng_aio_result(c->rx) != 0;
	bool broken = !ended && !connection_got(c, nng_aio_count(c->rx));

	pthread_mutex_lock(&in->lock);
	if (broken)
		c->why = "what came is no frame";
	c->ended = ended || broken;
	c->paused = !c->ended && in->bytes > INTAKE_QUEUED;
	bool stops = c->ended || c->paused;
	in->changed |= stops;
	pthread_mutex_unlock(&in->lock);
	if (stops)
		loop_wake_send(in->wake);
	else
		connection_read(c);
}

static void
connection_start(struct connection *c)
{
	pthread_mutex_lock(&c->in->lock);
	c->paused = false;
	list_append(&c->in->connections, &c->node);
	pthread_mutex_unlock(&c->in->lock);
	connection_read(c);
}

static void
connection_open(struct intake *in, nng_stream *stream)
{
	struct connection *c = mem_alloc(sizeof *c);

	memset(c, 0, offsetof(struct connection, stage)); /* pages of the stage that are not used take no memory */
	c->in = in;
	c->stream = stream;
	if (nng_aio_alloc(&c->rx, connection_on_read, c) != 0) {
		nng_stream_free(stream);
		free(c);
		return;
	}
	connection_start(c);
}

static void
intake_on_accept(void *arg)
{
	struct intake *in = arg;
	int rc = nng_aio_result(in->accept);

	if (rc == NNG_ECLOSED || rc == NNG_ECANCELED)
		return;
	if (!in->resting) {
		pthread_mutex_lock(&in->lock);
		in->failing = rc != 0;
		pthread_mutex_unlock(&in->lock);
		if (rc != 0) { /* out of something: those who dial wait meanwhile */
			in->resting = true;
			nng_sleep_aio(ACCEPT_AGAIN_MS, in->accept);
			return;
		}
		connection_open(in, nng_aio_get_output(in->accept, 0));
	}
	in->resting = false;
	nng_stream_listener_accept(in->listener, in->accept);
}

/* ---- on the loop's thread ---- */

/* Nothing of it runs on another thread any more. */
static void
connection_free(struct connection *c)
{
	nng_aio_free(c->rx);
	nng_stream_close(c->stream);
	nng_stream_free(c->stream);
	if (c->large != NULL)
		blob_put(c->large);
	free(c);
}

enum hinny_rc
intake_new(const char *url, struct loop_wake *wake, struct intake **out, struct hinny_error *err)
{
	struct intake *in = MEM_NEW(struct intake);

	in->wake = wake;
	list_init(&in->connections);
	pthread_mutex_init(&in->lock, NULL);
	int rc = nng_stream_listener_alloc(&in->listener, url);
	if (rc == 0)
		rc = nng_aio_alloc(&in->accept, intake_on_accept, in);
	if (rc == 0)
		rc = nng_stream_listener_listen(in->listener);
	if (rc != 0) {
		intake_free(in);
		return hinny_error_set(err, HINNY_EIO, "cannot open the inbox %s: %s", url, nng_strerror(rc));
	}
	nng_stream_listener_accept(in->listener, in->accept);
	*out = in;
	return HINNY_OK;
}

void
intake_free(struct intake *in)
{
	if (in == NULL)
		return;
	nng_aio_free(in->accept); /* so no connection comes any more */
	if (in->listener != NULL)
		nng_stream_listener_close(in->listener);
	nng_stream_listener_free(in->listener);
	while (!list_empty(&in->connections)) {
		struct connection *c = LIST_FIRST(&in->connections, struct connection, node);
		list_remove(&c->node);
		connection_free(c);
	}
	for (size_t i = 0; i < in->n; i++)
		blob_put(in->queue[i]);
	free(in->queue);
	pthread_mutex_destroy(&in->lock);
	free(in);
}

/* Those that were paused go on, those that ended go. */
static void
intake_look(struct intake *in)
{
	struct list stopped;

	list_init(&stopped);
	pthread_mutex_lock(&in->lock);
	LIST_FOREACH(&in->connections, it, tmp) {
		struct connection *c = LIST_ENTRY(it, struct connection, node);
		if (!c->ended && !c->paused)
			continue;
		list_remove(&c->node);
		list_append(&stopped, &c->node);
	}
	pthread_mutex_unlock(&in->lock);
	while (!list_empty(&stopped)) {
		struct connection *c = LIST_FIRST(&stopped, struct connection, node);
		list_remove(&c->node);
		if (c->why != NULL)
			log_error("a connection to the inbox was closed: %s", c->why);
		if (c->ended)
			connection_free(c);
		else
			connection_start(c);
	}
}

struct blob **
intake_take(struct intake *in, size_t *n)
{
	pthread_mutex_lock(&in->lock);
	struct blob **queue = in->queue;
	bool changed = in->changed;
	*n = in->n;
	in->queue = NULL;
	in->n = in->cap = in->bytes = 0;
	in->changed = false;
	pthread_mutex_unlock(&in->lock);
	if (changed)
		intake_look(in);
	return queue;
}
