/*
 * The control socket of a worker, from either side: frames in both directions over a stream
 * socketpair, descriptors beside them. Nothing blocks: what cannot leave waits in a bounded queue.
 * The end of the socket is the death of the other side.
 */
#ifndef HINNY_IPC_CHANNEL_H
#define HINNY_IPC_CHANNEL_H

#include "core/ipc/control.h"
#include "core/loop/loop.h"

enum { CHANNEL_QUEUE_MAX = 4 << 20, CHANNEL_FDS_MAX = 64 };

struct channel;

struct channel_ops {
	/* One frame that the other side may send and that is whole. Strings are valid during the
	 * call; m->fd is the receiver's. The channel may be freed here. */
	void (*message)(void *owner, const struct control_message *m);
	/* Once: the other side is gone, or broke the protocol (err says so). Not called by
	 * channel_free. The channel may be freed here. */
	void (*closed)(void *owner, const struct hinny_error *err);
};

/* `self`: which side this is. Owns fd from now on (makes it non-blocking); on failure it is closed
 * and NULL returned. */
struct channel *channel_new(struct loop *lp, int fd, enum control_side self,
    const struct channel_ops *ops, void *owner, struct hinny_error *err);
/* Closes; NULL is fine. What has not left is lost. May be called from its callbacks. */
void channel_free(struct channel *ch);
/* Sends as much as the socket takes and queues the rest. m->fd is borrowed (duplicated when it has
 * to wait). HINNY_ELIMIT: the other side does not read. */
enum hinny_rc channel_send(
    struct channel *ch, const struct control_message *m, struct hinny_error *err);
/* Frames without payload: START, STOP … */
enum hinny_rc channel_send_type(struct channel *ch, enum frame_type type);
/* Reads what is there now and hands it out: before a death is settled. */
void channel_read_rest(struct channel *ch);
/* Writes what waits, blocking for up to ms milliseconds: a worker's last words before it exits. */
void channel_flush(struct channel *ch, int ms);

#endif
