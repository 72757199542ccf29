/*
 * Collecting a stream into one blob: in memory first, then in an unlinked file (or memory file)
 * that is mapped in the end. Writes to the file are plain write(2): they go to the page cache, a
 * disk that is slower than the peer shows as a loop turn that takes longer.
 */
#include "core/model/stream.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COLLECT_FIRST = 4096 };

struct collect {
	struct stream_sink sink;
	struct stream *stream; /* NULL once it has ended */
	struct collect_limits limits;
	collect_done_fn *done;
	void *arg;
	struct blob *blob; /* while in memory */
	int fd;            /* spool file, -1: none yet */
	uint64_t n;        /* bytes so far */
	bool *ended;       /* collect_start is on the stack: tell it that this is gone */
};

static void
collect_free(struct collect *c)
{
	if (c->ended != NULL)
		*c->ended = true;
	blob_put(c->blob);
	if (c->fd != -1)
		(void)close(
		    c->fd); /* nothing is lost: the mapping stays, or the data is not wanted */
	free(c);
}

/* Calls done, once, and is gone. */
static void
finish(struct collect *c, struct blob *blob, const struct hinny_error *err)
{
	collect_done_fn *done = c->done;
	void *arg = c->arg;

	collect_free(c);
	done(arg, blob, err);
}

/* The collector gives up, not the producer. */
static void
give_up(struct collect *c, const struct hinny_error *err)
{
	struct stream *s = c->stream;

	c->stream = NULL;
	stream_cancel(s);
	finish(c, NULL, err);
}

static enum hinny_rc
open_spool(struct collect *c, struct hinny_error *err)
{
	if (c->limits.spool_dir != -1)
		c->fd = openat(c->limits.spool_dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (c->fd == -1) /* no folder, or a file system without O_TMPFILE */
		c->fd = memfd_create("hinny-body", MFD_CLOEXEC);
	return c->fd == -1 ? hinny_error_errno(err, errno, "cannot make a spool file for a body")
			   : HINNY_OK;
}

static enum hinny_rc
spool(struct collect *c, struct str bytes, struct hinny_error *err)
{
	while (bytes.n > 0) {
		ssize_t n = write(c->fd, bytes.p, bytes.n);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return hinny_error_errno(
			    err, errno, "cannot write a body to its spool file");
		bytes.p += n;
		bytes.n -= (size_t)n;
	}
	return HINNY_OK;
}

static enum hinny_rc
to_spool(struct collect *c, struct str bytes, struct hinny_error *err)
{
	if (c->fd == -1) {
		enum hinny_rc rc = open_spool(c, err);
		if (rc != HINNY_OK)
			return rc;
		if (c->blob != NULL) {
			rc = spool(c, (struct str){ c->blob->data, c->blob->size }, err);
			if (rc != HINNY_OK)
				return rc;
			blob_put(c->blob);
			c->blob = NULL;
		}
	}
	return spool(c, bytes, err);
}

/* Room for `more` bytes: the whole length at once when it is known. */
static void
make_room(struct collect *c, size_t more)
{
	size_t need = c->blob != NULL ? c->blob->size + more : more;

	if (c->blob != NULL && c->blob->cap >= need)
		return;
	size_t cap = c->blob != NULL ? c->blob->cap * 2 : COLLECT_FIRST;
	if (c->stream->length > 0 && (uint64_t)c->stream->length <= c->limits.memory)
		cap = (size_t)c->stream->length;
	if (cap < need)
		cap = need;
	struct blob *larger = blob_new(cap);
	if (c->blob != NULL) {
		memcpy(larger->data, c->blob->data, c->blob->size);
		larger->size = c->blob->size;
		blob_put(c->blob);
	}
	c->blob = larger;
}

static void
on_data(struct stream_sink *sink, struct str bytes, struct blob *blob)
{
	struct collect *c = CONTAINER_OF(sink, struct collect, sink);
	struct hinny_error err;

	(void)blob; /* its bytes are copied: the body is to lie in one piece */
	if (bytes.n == 0)
		return;
	if (bytes.n > c->limits.max || c->n > c->limits.max - bytes.n) {
		(void)hinny_error_set(&err, HINNY_ELIMIT, "the body is larger than %llu bytes",
		    (unsigned long long)c->limits.max);
		give_up(c, &err);
		return;
	}
	c->n += bytes.n;
	if (c->fd == -1 && c->n <= c->limits.memory) {
		make_room(c, bytes.n);
		memcpy(c->blob->data + c->blob->size, bytes.p, bytes.n);
		c->blob->size += bytes.n;
	} else if (to_spool(c, bytes, &err) != HINNY_OK) {
		give_up(c, &err);
	}
}

static void
on_end(struct stream_sink *sink)
{
	struct collect *c = CONTAINER_OF(sink, struct collect, sink);
	struct blob *blob = c->blob;
	struct hinny_error err;

	c->stream = NULL;
	c->blob = NULL;
	if (c->fd != -1 && blob_new_mapped(c->fd, c->n, &blob, &err) != HINNY_OK) {
		finish(c, NULL, &err);
		return;
	}
	finish(c, blob != NULL ? blob : blob_new(0), NULL);
}

static void
on_fail(struct stream_sink *sink, const struct hinny_error *err)
{
	struct collect *c = CONTAINER_OF(sink, struct collect, sink);
	struct hinny_error copy = *err; /* it may lie in what goes */

	c->stream = NULL;
	finish(c, NULL, &copy);
}

struct collect *
collect_start(
    struct stream *s, const struct collect_limits *limits, collect_done_fn *done, void *arg)
{
	struct collect *c = MEM_NEW(struct collect);
	struct hinny_error err;
	bool ended = false;

	*c = (struct collect){
		.sink = { .data = on_data, .end = on_end, .fail = on_fail },
		.stream = s,
		.limits = *limits,
		.done = done,
		.arg = arg,
		.fd = -1,
		.ended = &ended,
	};
	if (s->length >= 0 && (uint64_t)s->length > limits->max) {
		(void)hinny_error_set(&err, HINNY_ELIMIT, "the body is larger than %llu bytes",
		    (unsigned long long)limits->max);
		give_up(c, &err);
		return NULL;
	}
	stream_attach(s, &c->sink);
	if (ended)
		return NULL;
	c->ended = NULL;
	return c;
}

void
collect_cancel(struct collect *c)
{
	struct stream *s = c->stream;

	c->stream = NULL;
	if (s != NULL)
		stream_cancel(s);
	collect_free(c);
}
