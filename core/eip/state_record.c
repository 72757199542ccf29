/*
 * Records of state, as one generation leaves them to the next: STATE_RECORD frames (docs/wire.md),
 * and behind one whose body is large the bytes of that.
 */
#include "core/eip/state.h"

#include "core/base/log.h"
#include "core/model/frame.h"

#include <string.h>

static const struct access everything = { .flags = ACCESS_ALL };

/* ---- saving ---- */

void
state_writer_init(struct state_writer *w, bool (*write)(void *arg, struct str bytes), void *arg)
{
	*w = (struct state_writer){ .write = write, .arg = arg };
	buf_init(&w->buf, FRAME_MAX + FRAME_HEAD);
}

void
state_writer_fini(struct state_writer *w)
{
	buf_fini(&w->buf);
}

static void
write_out(struct state_writer *w, struct str bytes)
{
	if (!w->failed && bytes.n > 0 && !w->write(w->arg, bytes))
		w->failed = true;
}

static void
lose(struct state_writer *w, const char *why)
{
	w->lost++;
	log_warning("state of \"%s\" (%s) cannot be handed over: %s", w->node->node_id,
	    w->node->desc->name, why);
}

void
state_put(struct state_writer *w, const struct value *v, struct exchange *ex)
{
	struct str body = { 0 };
	struct blob *blob;
	buf_clear(&w->buf);
	if (ex && ex->body.type == VALUE_STREAM) {
		lose(w, "a body that streams");
		return;
	}
	if (ex && !frame_body_inline(&ex->body) &&
	    frame_body_bytes(&ex->arena, &ex->body, &body, &blob) != HINNY_OK) {
		lose(w, "a message that is too deep");
		return;
	}
	struct frame_writer f = frame_begin(&w->buf, FRAME_STATE_RECORD, 0);
	frame_put_u64(&f, body.n);
	frame_put_str(&f, str_of(w->node->route_id));
	frame_put_str(&f, str_of(w->node->node_id));
	frame_put_str(&f, str_of(w->node->desc->name));
	frame_put_value(&f, v);
	frame_put_u8(&f, ex != NULL);
	if (ex)
		frame_put_message(&f, ex, &everything, false);
	if (frame_finish(&f) != HINNY_OK) {
		lose(w, "a record that is too large");
		return;
	}
	write_out(w, (struct str){ w->buf.p, w->buf.n });
	write_out(w, body);
	w->records++;
}

void
state_save(struct state_node *node, struct state_writer *w)
{
	w->node = node;
	if (node->desc->save)
		node->desc->save(node, w);
}

/* ---- loading ---- */

static struct state_node *
find_node(const struct program *p, struct str route, struct str id, struct str name)
{
	for (uint32_t i = 0; i < p->states_n; i++) {
		struct state_node *node = p->states[i];
		if (node->state && node->desc->load && str_eq(id, str_of(node->node_id)) &&
		    str_eq(route, str_of(node->route_id)) && str_eq(name, str_of(node->desc->name)))
			return node;
	}
	return NULL;
}

/* The message of a record. Its parts lie in a copy of the frame, so that one message that stays
 * does not keep all the bytes; a large body stays where it is. */
static bool
get_message(struct frame_reader *r, struct exchange *ex, struct blob *frame, struct str bytes,
    struct blob *blob)
{
	struct frame_body body;
	struct value v;
	frame_get_message(r, ex, frame, &body);
	if (r->bad || !frame_end(r))
		return false;
	if (!body.follows)
		return true;
	if (body.length != UINT64_MAX && body.length != bytes.n)
		return false;
	if (frame_body_value(&body, &ex->arena, bytes, arena_hold(&ex->arena, blob), &v) !=
	    HINNY_OK)
		return false;
	exchange_set_body(ex, v);
	return true;
}

/* The record is the node's; r stands behind its name. */
static bool
load_record(struct state_node *node, struct frame_reader *r, struct str bytes, struct blob *blob,
    struct state_loaded *loaded)
{
	struct engine *en = node->engine;
	struct exchange *ex = state_exchange_new(node);
	struct blob *frame = blob_copy(r->p, (size_t)(r->end - r->p));
	struct state_record record = { .message = ex };
	struct hinny_error err;
	r->p = frame->data;
	r->end = frame->data + frame->size;
	record.value = frame_get_value(r, &ex->arena, frame);
	(void)arena_hold(&ex->arena, frame);
	bool with_message = frame_get_u8(r) != 0;
	bool good = with_message ? get_message(r, ex, frame, bytes, blob) : frame_end(r);
	blob_put(frame);
	if (good && !with_message)
		record.message = NULL;
	if (good && node->desc->load(node, &record, &err)) {
		loaded->records++;
	} else {
		loaded->refused++;
		log_warning("state of \"%s\" (%s) was not taken: %s", node->node_id,
		    node->desc->name, good ? err.text : "a broken record");
	}
	if (!with_message || record.message) /* nobody has kept it */
		en->ops->child_free(en, &ex);
	return good;
}

bool
state_load(
    const struct program *p, struct str bytes, struct blob *blob, struct state_loaded *loaded)
{
	struct frame_reader r;
	bool good = true;
	while (good && frame_next(&bytes, &r)) {
		uint64_t length = frame_get_u64(&r); /* of the body behind it */
		struct str route = frame_get_str(&r), id = frame_get_str(&r),
			   name = frame_get_str(&r);
		good = !r.bad && r.type == FRAME_STATE_RECORD && length <= bytes.n;
		if (!good)
			break;
		struct str body = { bytes.p, (size_t)length };
		struct state_node *node = find_node(p, route, id, name);
		if (node == NULL)
			loaded->others++;
		else
			good = load_record(node, &r, body, blob, loaded);
		bytes.p += length;
		bytes.n -= (size_t)length;
	}
	return good && !r.bad;
}
