/*
 * Bytes between workers, over nng's streams: a link leads to an inbox and only sends, an intake is an inbox and only receives. Frames (core/model/frame.h) follow one
 * another without anything between them.
 *
 * nng's sockets (PUSH and PULL) are not used: in nng 1.5.2 closing a PULL to which somebody sends may hang for ever, and with it whatever is closed later in the
 * process; a listener stops accepting for good when a peer dies in its greeting; a PUSH may go on with a pipe that it has freed. Streams have none of this.
 *
 * Functions belong to the loop's thread and do not block. nng's threads run inside of this, they queue and wake.
 */
#ifndef HINNY_IPC_WIRE_H
#define HINNY_IPC_WIRE_H

#include "core/base/blob.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/loop/loop.h"

struct link;
/* What has happened to a link since it was asked last. */
enum {
	LINK_FREE = 1,   /* the bytes have left; told when link_send or link_tell asked for it */
	LINK_BROKEN = 2, /* the other side has closed it; what was sent may be lost */
};

/* `wake` is sent when link_events has something to tell, and stays until link_free. NULL: err says why. */
struct link *link_new(const char *url, struct loop_wake *wake, struct hinny_error *err);
void link_free(struct link *l); /* with what has not left; NULL is fine */
/* False: nobody listens there, or too many wait to be accepted: to be tried again. A link that broke may be dialled again; it begins anew. */
bool link_dial(struct link *l);
/* Takes all bytes, and leaves an empty buffer; false: others are leaving still, or it is not dialled, or broken. */
bool link_send(struct link *l, struct buf *out);
void link_tell(struct link *l); /* LINK_FREE when the bytes that are leaving have left */
size_t link_unsent(const struct link *l);
unsigned link_events(struct link *l);

struct intake;
/* `wake` is sent when there is something to take, and stays until intake_free. */
enum hinny_rc intake_new(const char *url, struct loop_wake *wake, struct intake **out, struct hinny_error *err);
void intake_free(struct intake *in); /* NULL is fine */
/* Blobs of whole frames, in the order in which each connection brought them: *n of them, the caller's; the array too, by free(). */
struct blob **intake_take(struct intake *in, size_t *n);

#endif
