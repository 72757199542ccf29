/*
 * An inbox: whoever connects is accepted, and what comes is cut into frames. Bytes are read into one place for all connections, from which whole frames are copied into
 * a blob; the rest of a frame that is not whole is read into a blob of its own. A connection whose bytes are no frames is closed: nothing in it could be found again.
 */
#include "core/ipc/wire.h"

#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/ipc/wire_priv.h"
#include "core/model/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { STAGE = 64 << 10, ACCEPT_AGAIN_MS = 10, LENGTH = 4 };

struct connection {
	struct list node; /* of intake.connections */
	struct intake *in;
	struct loop_fd fd;
	struct blob *part;  /* a frame that is not whole yet */
	char length[LENGTH]; /* … or the first `length_n` bytes of one */
	size_t length_n;
};

struct intake {
	struct loop *lp;
	struct sockaddr_un address;
	intake_fn *fn;
	void *arg;
	struct loop_fd fd;
	struct loop_timer again; /* accepting failed */
	struct list connections;
	char stage[STAGE];
};

enum hinny_rc
wire_address(const char *path, struct sockaddr_un *out, struct hinny_error *err)
{
	size_t n = strlen(path);

	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (n >= sizeof out->sun_path)
		return hinny_error_set(err, HINNY_EINVAL, "%s: the name of a socket has %zu bytes at most; choose a shorter run directory", path,
		    sizeof out->sun_path - 1);
	memcpy(out->sun_path, path, n);
	return HINNY_OK;
}

/* ---- frames ---- */

/* Bytes of whole frames at p; `need`: the length of the one behind them, 0 when that is not known yet. False: that is no frame. */
static bool
whole_frames(const char *p, size_t n, size_t *whole, size_t *need)
{
	*whole = 0;
	for (;;) {
		size_t rest = n - *whole;
		*need = 0;
		if (rest < LENGTH)
			return true;
		*need = LENGTH + frame_length(p + *whole);
		if (*need < FRAME_HEAD || *need > FRAME_MAX || (rest > LENGTH && p[*whole + LENGTH] != FRAME_VERSION))
			return false;
		if (rest < *need)
			return true;
		*whole += *need;
	}
}

/* What is no whole frame is kept. */
static void
keep_rest(struct connection *c, const char *p, size_t n, size_t need)
{
	if (need != 0) {
		c->part = blob_new(need);
		c->part->size = n;
		memcpy(c->part->data, p, n);
	} else {
		c->length_n = n;
		memcpy(c->length, p, n);
	}
}

/* n bytes have come; blobs[] is filled with *blobs_n ones of whole frames. False: what follows them is none. */
static bool
connection_got(struct connection *c, size_t n, struct blob **blobs, size_t *blobs_n)
{
	char *stage = c->in->stage;
	size_t whole, need;

	if (c->part != NULL) {
		size_t rest = c->part->cap - c->part->size;
		size_t k = n < rest ? n : rest;
		c->part->size += k;
		n -= k;
		if (c->part->size < c->part->cap)
			return true;
		blobs[(*blobs_n)++] = c->part;
		c->part = NULL;
	}
	n += c->length_n;
	c->length_n = 0;
	bool good = whole_frames(stage, n, &whole, &need);
	if (whole > 0)
		blobs[(*blobs_n)++] = blob_copy(stage, whole);
	if (good)
		keep_rest(c, stage + whole, n - whole, need);
	return good;
}

/* ---- connections ---- */

static void
connection_free(struct connection *c)
{
	loop_fd_close(&c->fd, NULL);
	(void)close(c->fd.fd); /* nothing was written */
	list_remove(&c->node);
	blob_put(c->part);
	loop_free_later(c->in->lp, c);
}

static ssize_t
connection_read(struct connection *c)
{
	struct iovec iov[2];
	int n = 0;
	ssize_t k;

	if (c->part != NULL)
		iov[n++] = (struct iovec){ c->part->data + c->part->size, c->part->cap - c->part->size };
	memcpy(c->in->stage, c->length, c->length_n);
	iov[n++] = (struct iovec){ c->in->stage + c->length_n, STAGE - c->length_n };
	do
		k = readv(c->fd.fd, iov, n);
	while (k == -1 && errno == EINTR);
	return k;
}

static void
connection_on_event(struct loop_fd *w, unsigned events)
{
	struct connection *c = CONTAINER_OF(w, struct connection, fd);
	intake_fn *fn = c->in->fn;
	void *arg = c->in->arg;
	struct blob *blobs[2];
	size_t blobs_n = 0;

	(void)events;
	ssize_t k = connection_read(c);
	if (k == -1 && errno == EAGAIN)
		return;
	if (k <= 0) { /* a part of a frame counts as never sent */
		connection_free(c);
		return;
	}
	if (!connection_got(c, (size_t)k, blobs, &blobs_n)) {
		log_error("a connection to the inbox was closed: what it brought is no frame of version %d", FRAME_VERSION);
		connection_free(c);
	}
	for (size_t i = 0; i < blobs_n; i++) /* the connection and the inbox may go in the course of it */
		fn(arg, blobs[i]);
}

static void
connection_open(struct intake *in, int fd)
{
	struct connection *c = MEM_NEW(struct connection);

	c->in = in;
	list_append(&in->connections, &c->node);
	(void)loop_fd_init(in->lp, &c->fd, fd, connection_on_event, NULL); /* fails for negative descriptors only */
	loop_fd_watch(&c->fd, LOOP_READ);
}

/* ---- the inbox ---- */

static void
intake_on_event(struct loop_fd *w, unsigned events)
{
	struct intake *in = CONTAINER_OF(w, struct intake, fd);
	int fd;

	(void)events;
	while ((fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1)
		connection_open(in, fd);
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	log_error("the inbox cannot accept a connection: %m"); /* out of something: those who connect wait meanwhile */
	loop_fd_watch(w, 0);
	loop_timer_start(&in->again, ACCEPT_AGAIN_MS, 0);
}

static void
intake_again(struct loop_timer *t)
{
	loop_fd_watch(&CONTAINER_OF(t, struct intake, again)->fd, LOOP_READ);
}

static enum hinny_rc
intake_listen(struct intake *in, struct hinny_error *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd != -1 && bind(fd, (const struct sockaddr *)&in->address, sizeof in->address) == 0 && listen(fd, SOMAXCONN) == 0) {
		(void)loop_fd_init(in->lp, &in->fd, fd, intake_on_event, NULL); /* fails for negative descriptors only */
		loop_fd_watch(&in->fd, LOOP_READ);
		return HINNY_OK;
	}
	enum hinny_rc rc = hinny_error_errno(err, errno, "cannot open the inbox %s", in->address.sun_path);
	if (fd != -1)
		(void)close(fd);
	return rc;
}

enum hinny_rc
intake_new(struct loop *lp, const char *path, intake_fn *fn, void *arg, struct intake **out, struct hinny_error *err)
{
	struct intake *in = mem_alloc(sizeof *in);

	memset(in, 0, offsetof(struct intake, stage)); /* pages of the stage that are not used take no memory */
	in->lp = lp;
	in->fn = fn;
	in->arg = arg;
	list_init(&in->connections);
	enum hinny_rc rc = wire_address(path, &in->address, err);
	if (rc == HINNY_OK)
		rc = intake_listen(in, err);
	if (rc != HINNY_OK) {
		free(in);
		return rc;
	}
	loop_timer_init(lp, &in->again, intake_again);
	*out = in;
	return HINNY_OK;
}

static void
intake_closed(struct loop_timer *t)
{
	free(CONTAINER_OF(t, struct intake, again));
}

void
intake_free(struct intake *in)
{
	if (in == NULL)
		return;
	while (!list_empty(&in->connections))
		connection_free(LIST_FIRST(&in->connections, struct connection, node));
	loop_fd_close(&in->fd, NULL);
	(void)close(in->fd.fd); /* nothing was written */
	(void)unlink(in->address.sun_path); /* in a jail it stays, and is taken away with the run folder */
	loop_timer_close(&in->again, intake_closed);
}
