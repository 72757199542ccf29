/*
 * The wire frame: what workers send one another, and what supervisor and workers say over
 * the control socket. Little-endian, versioned, length-checked on every read; encoded once, in one
 * pass; a received frame is read in place. A broken frame is dropped with an error, never trusted:
 * every typed reader fails softly (sets reader.bad and returns zero/empty), and frame_end() says
 * whether all went well and nothing was left over.
 *
 *   u32 length   of all that follows
 *   u8  version  FRAME_VERSION
 *   u8  type     enum frame_type (frames.def)
 *   u16 flags
 *   …   payload, laid out by type: documented in docs/wire.md
 *
 * Frames follow one another as a stream of bytes; some whole ones are a batch.
 */
#ifndef HINNY_MODEL_FRAME_H
#define HINNY_MODEL_FRAME_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/model/descriptor.h" /* struct access */
#include "core/model/exchange.h"

#include <stdbool.h>
#include <stdint.h>

enum { FRAME_VERSION = 1, FRAME_HEAD = 8, FRAME_MAX = 16 << 20 };

enum frame_type {
#define FRAME(id, number, direction, help) FRAME_##id = number,
#include "core/model/frames.def"
#undef FRAME
};

/* Encoder: appends to a buf. */
struct frame_writer {
	struct buf *out;
	size_t start;
	enum hinny_rc rc; /* first failure, told by frame_finish */
};
struct frame_writer frame_begin(struct buf *out, enum frame_type type, unsigned flags);
void frame_put_u8(struct frame_writer *w, uint8_t v);
void frame_put_u32(struct frame_writer *w, uint32_t v);
void frame_put_u64(struct frame_writer *w, uint64_t v);
void frame_put_str(struct frame_writer *w, struct str s); /* u32 length, bytes */
/* Any value but a stream; lists, maps and JSON nodes recursively (depth is bounded: deeper is
 * HINNY_ELIMIT at frame_finish). */
void frame_put_value(struct frame_writer *w, const struct value *v);
void frame_put_header_name(
    struct frame_writer *w, struct str name); /* well-known ones as a small id */
/* Which parts of the message go along; the body apart (inline when it has at most FRAME_INLINE
 * bytes, else as chunks). */
enum { FRAME_INLINE = 64 << 10 };
/* dirty_only: of these, what changed since exchange_clean(): set headers, names of removed ones,
 * changed properties and variables (null: removed), the body when it was set. */
void frame_put_message(
    struct frame_writer *w, struct exchange *ex, const struct access *what, bool dirty_only);
/* Does the body go inside the frame? Otherwise frame_put_message wrote only its type, flags and
 * length, and its bytes follow in chunks. */
bool frame_body_inline(const struct value *body);
/* What is to be sent in chunks for a body that is no stream: its own bytes, or a list or map
 * encoded into the arena. *blob: where they lie, or NULL. HINNY_ELIMIT: too deep. */
enum hinny_rc frame_body_bytes(
    struct arena *a, const struct value *v, struct str *bytes, struct blob **blob);
void frame_put_exception(struct frame_writer *w, const struct exception *e); /* NULL allowed */
enum hinny_rc frame_finish(
    struct frame_writer *w); /* sets the length; HINNY_ELIMIT: the frame was taken out again */

/* Decoder. */
struct frame_reader {
	const char *p, *end;
	uint8_t type, version;
	uint16_t flags;
	bool bad;
};
/* What the four bytes at the head of a frame say: how many follow them. Unchecked. */
size_t frame_length(const char *head);
/* Next frame of a batch: cuts it off *batch. False at the end; r->bad set when what is left is no
 * frame. */
bool frame_next(struct str *batch, struct frame_reader *r);
uint8_t frame_get_u8(struct frame_reader *r);
uint32_t frame_get_u32(struct frame_reader *r);
uint64_t frame_get_u64(struct frame_reader *r);
struct str frame_get_str(struct frame_reader *r); /* in place */
/* Slices point into the frame (blob: the one that holds the bytes of the batch, may be NULL; the
 * caller holds it as long as the value is used); containers in the arena. */
struct value frame_get_value(struct frame_reader *r, struct arena *a, struct blob *blob);
struct str frame_get_header_name(struct frame_reader *r);
/* A body whose bytes follow in chunks. */
struct frame_body {
	bool follows;
	uint64_t length;    /* UINT64_MAX: not known (a stream) */
	struct value value; /* type and flags, without the bytes */
};
/* Holds the blob in the exchange's arena. Sets what came (through exchange_set_*: it is marked
 * dirty), leaves the rest; removals too. A body that follows leaves ex->body as it is and fills
 * *body. */
void frame_get_message(
    struct frame_reader *r, struct exchange *ex, struct blob *blob, struct frame_body *body);
/* The value of a body that followed, from its collected bytes (a stream's are VALUE_BYTES with
 * VALUE_INPUT); HINNY_EPROTO when they are no such value. The caller holds the blob. */
enum hinny_rc frame_body_value(const struct frame_body *body, struct arena *a, struct str bytes,
    struct blob *blob, struct value *out);
struct exception *frame_get_exception(struct frame_reader *r, struct arena *a);
bool frame_end(const struct frame_reader *r); /* all read, nothing bad */

#endif
