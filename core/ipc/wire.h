/*
 * Bytes between workers, over unix sockets: a link leads to an inbox and only sends, an intake is an inbox and only receives. Frames (core/model/frame.h) follow one
 * another without anything between them.
 *
 * Functions belong to the loop's thread and do not block. Callbacks come from the loop, never from inside of a function here.
 */
#ifndef HINNY_IPC_WIRE_H
#define HINNY_IPC_WIRE_H

#include "core/base/blob.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/loop/loop.h"

struct link;
/* What happens to a link. */
enum link_event {
	LINK_FREE,   /* the bytes have left; told once when link_send or link_tell asked for it */
	LINK_BROKEN, /* the other side has closed it; what was sent may be lost */
};
typedef void link_fn(void *arg, enum link_event event); /* may free the link */

/* `path` is that of an inbox. NULL: err says why. */
struct link *link_new(struct loop *lp, const char *path, link_fn *fn, void *arg, struct hinny_error *err);
void link_free(struct link *l); /* with what has not left; NULL is fine */
/* False: nobody listens there, or too many wait to be accepted: to be tried again. A link that broke may be dialled again; it begins anew. */
bool link_dial(struct link *l);
/* Takes all bytes, and leaves an empty buffer; false: others are leaving still, or it is not dialled, or broken. */
bool link_send(struct link *l, struct buf *out);
void link_tell(struct link *l); /* LINK_FREE when the bytes that are leaving have left; in this turn of the loop when there are none */
size_t link_unsent(const struct link *l);

struct intake;
/* A blob of whole frames, in the order in which each connection brought them; it is the callee's. The callee may free the intake, and gets what was read with it still. */
typedef void intake_fn(void *arg, struct blob *blob);
enum hinny_rc intake_new(
    struct loop *lp, const char *path, intake_fn *fn, void *arg, struct intake **out, struct hinny_error *err);
void intake_free(struct intake *in); /* and takes the socket's file away; NULL is fine */

#endif
