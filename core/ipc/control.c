/*
 * Encoder and decoder of control frames, both driven by one table of fields. Adding a field is a
 * member in control.h and a row here; both sides are of one build (HELLO says which), so there are
 * no versions of payloads beside FRAME_VERSION.
 */
#include "core/ipc/control.h"

#include "core/base/assert.h"

#include <string.h>

#ifndef HINNY_VERSION
#define HINNY_VERSION "dev"
#endif

const char control_build[] = HINNY_VERSION;

enum field_type { FIELD_BOOL, FIELD_U8, FIELD_U32, FIELD_U64, FIELD_STR };

struct field {
	uint8_t frame;
	uint8_t type;
	uint16_t offset;
};

#define ROW(frame, type, member)                                                                   \
	{                                                                                          \
		FRAME_##frame, FIELD_##type, offsetof(struct control_message, member)              \
	}

static const struct field fields[] = {
	ROW(HELLO, STR, hello.build),
	ROW(HELLO, STR, hello.kind),
	ROW(HELLO, U32, hello.index),
	ROW(HELLO, U64, hello.incarnation),
	ROW(HELLO, U64, hello.generation),
	ROW(HELLO, U32, hello.page_route),
	ROW(READY, STR, ready.kind),
	ROW(READY, U64, ready.incarnation),
	ROW(READY, U64, ready.generation),
	ROW(READY, STR, ready.inbox),
	ROW(REFUSED, STR, refused.text),
	ROW(REFUSED, U32, refused.problems),
	ROW(DRAIN, U64, drain.deadline_ms),
	ROW(DRAIN, BOOL, drain.final),
	ROW(PING, U64, ping.sequence),
	ROW(PONG, U64, pong.sequence),
	ROW(PONG, U64, pong.exchanges),
	ROW(PONG, U64, pong.calls),
	ROW(PONG, U64, pong.connections),
	ROW(PONG, U64, pong.held),
	ROW(PONG, BOOL, pong.draining),
	ROW(PEER_UP, STR, peer_up.kind),
	ROW(PEER_UP, U32, peer_up.index),
	ROW(PEER_UP, U64, peer_up.incarnation),
	ROW(PEER_UP, STR, peer_up.inbox),
	ROW(PEER_UP, U64, peer_up.successor),
	ROW(PEER_DOWN, STR, peer_down.kind),
	ROW(PEER_DOWN, U32, peer_down.index),
	ROW(PEER_DOWN, U64, peer_down.incarnation),
	ROW(PEER_DOWN, U64, peer_down.call_id),
	ROW(PEER_DOWN, U64, peer_down.call_home),
	ROW(PEER_DOWN, BOOL, peer_down.last),
	ROW(PEER_DOWN, BOOL, peer_down.time_limit),
	ROW(PEER_DOWN, STR, peer_down.reason),
	ROW(LISTENER, U32, listener.address),
	ROW(LISTENER, BOOL, listener.until_empty),
	ROW(LOG_LEVEL, U8, log_level.level),
	ROW(TRACE, STR, trace.route),
	ROW(TRACE, U32, trace.every),
	ROW(TRACE, U32, trace.most),
	ROW(TRACE, BOOL, trace.body),
	ROW(QUESTION, STR, question.name),
	ROW(QUESTION, STR, question.argument),
	ROW(SEND, STR, send.endpoint),
	ROW(SEND, STR, send.headers),
	ROW(EVENT, STR, event.name),
	ROW(EVENT, STR, event.text),
	ROW(STATE_SAVE, U64, state_save.generation),
	ROW(STATE_SAVE, STR, state_save.nodes),
	ROW(STATE_SAVED, U64, state_saved.bytes),
	ROW(STATE_SAVED, U64, state_saved.records),
	ROW(STATE_SAVED, U64, state_saved.lost),
	ROW(STATE_FILE, U64, state_file.bytes),
	ROW(STATE_SERVE, BOOL, state_serve.older),
	ROW(STATE_END, BOOL, state_end.final),
	ROW(POISON, U64, poison.key),
	ROW(EVALUATE_ONE, U32, evaluate_one.slot),
	ROW(EVALUATE_ONE, STR, evaluate_one.message),
	ROW(EVALUATE_ONE, STR, evaluate_one.body),
	ROW(VALUE, STR, value.value),
	ROW(VALUE, STR, value.exception),
	ROW(VALUE, STR, value.text),
};

static const struct type_row {
	uint8_t number;
	const char *name;
	const char *direction;
} types[] = {
#define FRAME(id, number, direction, help) { number, #id, direction },
#include "core/model/frames.def"
#undef FRAME
};

static const struct type_row *
find_type(unsigned type)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (types[i].number == type)
			return &types[i];
	}
	return NULL;
}

const char *
control_name(unsigned type)
{
	const struct type_row *row = find_type(type);

	return row != NULL ? row->name : "unknown";
}

bool
control_may_send(unsigned type, enum control_side side)
{
	const struct type_row *row = find_type(type);

	return row != NULL && strchr(row->direction, side) != NULL;
}

bool
control_carries_fd(unsigned type)
{
	return type == FRAME_LISTENER || type == FRAME_SEND || type == FRAME_QUESTION ||
	    type == FRAME_TRACE || type == FRAME_STATE_SAVED || type == FRAME_STATE_FILE;
}

static void
put_field(struct frame_writer *w, const struct field *f, const struct control_message *m)
{
	const void *at = (const char *)m + f->offset;

	switch (f->type) {
	case FIELD_BOOL:
		frame_put_u8(w, *(const bool *)at ? 1 : 0);
		return;
	case FIELD_U8:
		frame_put_u8(w, *(const uint8_t *)at);
		return;
	case FIELD_U32:
		frame_put_u32(w, *(const uint32_t *)at);
		return;
	case FIELD_U64:
		frame_put_u64(w, *(const uint64_t *)at);
		return;
	case FIELD_STR:
		frame_put_str(w, *(const struct str *)at);
		return;
	}
	UNREACHABLE();
}

enum hinny_rc
control_encode(struct buf *out, const struct control_message *m)
{
	unsigned flags = control_carries_fd(m->type) ? CONTROL_FLAG_FD : 0;
	struct frame_writer w = frame_begin(out, m->type, flags);

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		if (fields[i].frame == m->type)
			put_field(&w, &fields[i], m);
	}
	return frame_finish(&w);
}

/* A bool that is neither 0 nor 1 is a broken payload. */
static void
get_field(struct frame_reader *r, const struct field *f, struct control_message *m)
{
	void *at = (char *)m + f->offset;
	uint8_t byte;

	switch (f->type) {
	case FIELD_BOOL:
		byte = frame_get_u8(r);
		r->bad |= byte > 1;
		*(bool *)at = byte == 1;
		return;
	case FIELD_U8:
		*(uint8_t *)at = frame_get_u8(r);
		return;
	case FIELD_U32:
		*(uint32_t *)at = frame_get_u32(r);
		return;
	case FIELD_U64:
		*(uint64_t *)at = frame_get_u64(r);
		return;
	case FIELD_STR:
		*(struct str *)at = frame_get_str(r);
		return;
	}
	UNREACHABLE();
}

enum hinny_rc
control_decode(struct frame_reader *r, enum control_side from, struct control_message *m,
    struct hinny_error *err)
{
	*m = (struct control_message){ .type = r->type, .fd = -1 };
	if (r->version != FRAME_VERSION)
		return hinny_error_set(err, HINNY_EPROTO,
		    "control frame of version %u, expected %u", r->version, FRAME_VERSION);
	if (!control_may_send(r->type, from))
		return hinny_error_set(err, HINNY_EPROTO,
		    "control frame of type %u (%s) from the wrong side", r->type,
		    control_name(r->type));
	if (((r->flags & CONTROL_FLAG_FD) != 0) != control_carries_fd(r->type))
		return hinny_error_set(err, HINNY_EPROTO, "control frame %s with wrong flags %u",
		    control_name(r->type), r->flags);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		if (fields[i].frame == r->type)
			get_field(r, &fields[i], m);
	}
	if (!frame_end(r))
		return hinny_error_set(
		    err, HINNY_EPROTO, "broken control frame %s", control_name(r->type));
	return HINNY_OK;
}
