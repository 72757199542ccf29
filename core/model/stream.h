/*
 * Bytes still to come: the body of a request or answer that streams through. One producer, one
 * consumer, once.
 *
 * The producer embeds `struct stream`; the consumer attaches a sink and gets the bytes as they
 * arrive. Before a sink is attached the producer holds back (it may have some bytes buffered
 * already). Back-pressure: the sink calls stream_pause/stream_resume. All calls come on the loop's
 * thread; a sink may be called from inside stream_attach and stream_resume.
 *
 * Who ends it: the producer calls exactly one of end or fail on the sink, and touches the sink no
 * more after it. The consumer may call stream_cancel at any time before that, and gets no further
 * call. After end, fail or cancel the producer frees the stream as it likes: nobody else touches
 * it. A stream that no one attaches to must be cancelled (an exchange does so for its body when it
 * ends).
 */
#ifndef HINNY_MODEL_STREAM_H
#define HINNY_MODEL_STREAM_H

#include "core/base/arena.h"
#include "core/base/blob.h"
#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct stream;

struct stream_sink {
	/* `bytes` lie in `blob` (which the sink may hold by blob_get) or, with blob NULL, are valid
	 * during the call only. */
	void (*data)(struct stream_sink *sink, struct str bytes, struct blob *blob);
	void (*end)(struct stream_sink *sink);
	void (*fail)(struct stream_sink *sink, const struct hinny_error *err);
};

struct stream_ops {
	void (*attach)(
	    struct stream *s);           /* a sink is there: deliver what is buffered, then go on */
	void (*pause)(struct stream *s); /* deliver nothing more until resume (what is in flight in
	                                    a call of data may end) */
	void (*resume)(struct stream *s);
	void (*cancel)(struct stream *s); /* nobody wants the rest; the producer cleans up */
};

struct stream {
	const struct stream_ops *ops;
	struct stream_sink *sink; /* NULL: not attached yet */
	int64_t length;           /* bytes in all when known, else -1 */
	bool paused;
};

void stream_attach(struct stream *s, struct stream_sink *sink);
void stream_pause(struct stream *s);
void stream_resume(struct stream *s);
void stream_cancel(struct stream *s);

/*
 * Collects a whole stream: in memory up to `memory` bytes, beyond that in an unlinked spool file
 * that is mapped when it ended; more than `max` bytes is HINNY_ELIMIT (the stream is cancelled).
 * `done` is called once (maybe from inside): *blob has one reference for the callee to take, or err
 * says why not.
 */
struct collect;
typedef void collect_done_fn(void *arg, struct blob *blob, const struct hinny_error *err);
struct collect_limits {
	size_t memory;
	uint64_t max;
	int spool_dir; /* an open directory for O_TMPFILE, or -1: memfd */
};
struct collect *collect_start(
    struct stream *s, const struct collect_limits *limits, collect_done_fn *done, void *arg);
void collect_cancel(struct collect *c); /* before done was called */

#endif
