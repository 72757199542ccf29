/* Exceptions in frames: the chain of causes, outermost first. Strings are copied on reading: an
 * exception outlives the frame that brought it. */
#include "core/model/frame.h"

#include "core/model/frame_priv.h"

/* Texts that may be absent: a byte says so. */
static void
put_text(struct frame_writer *w, struct str s)
{
	frame_put_u8(w, s.p != NULL);
	if (s.p != NULL)
		frame_put_str(w, s);
}

/* A response body that is a stream or too large for an exception stays behind. */
static void
put_response_body(struct frame_writer *w, const struct value *v)
{
	static const struct value none = { .type = VALUE_NULL };
	bool fits = v->type != VALUE_STREAM &&
	    frame_value_size(v, FRAME_RESPONSE_MAX) <= FRAME_RESPONSE_MAX;

	frame_put_value(w, fits ? v : &none);
}

void
frame_put_exception(struct frame_writer *w, const struct exception *e)
{
	uint8_t n = 0;

	for (const struct exception *c = e; c != NULL && n < FRAME_CAUSES_MAX; c = c->cause)
		n++;
	frame_put_u8(w, n);
	for (; n > 0; n--, e = e->cause) {
		frame_put_u32(w, (uint32_t)e->id);
		put_text(w, e->message);
		frame_put_u32(w, (uint32_t)e->status_code);
		put_text(w, e->status_text);
		put_text(w, e->uri);
		put_text(w, e->redirect_location);
		put_response_body(w, &e->response_body);
		put_response_body(w, &e->response_headers);
		put_text(w, str_of(e->step_id));
	}
}

static struct str
get_text(struct frame_reader *r, struct arena *a)
{
	if (frame_get_u8(r) == 0)
		return (struct str){ NULL, 0 };
	struct str s = frame_get_str(r);
	return r->bad ? (struct str){ NULL, 0 } : arena_str(a, s);
}

static struct value
get_copy(struct frame_reader *r, struct arena *a)
{
	struct value v = frame_get_value(r, a, NULL);
	return r->bad ? value_null() : value_share(a, &v);
}

static struct exception *
get_one(struct frame_reader *r, struct arena *a)
{
	uint32_t id = frame_get_u32(r);

	if (r->bad || id >= EXCEPTION_COUNT) {
		r->bad = true;
		return NULL;
	}
	struct exception *e = ARENA_NEW(a, struct exception);
	e->id = (enum exception_id)id;
	e->message = get_text(r, a);
	e->status_code = (int)frame_get_u32(r);
	e->status_text = get_text(r, a);
	e->uri = get_text(r, a);
	e->redirect_location = get_text(r, a);
	e->response_body = get_copy(r, a);
	e->response_headers = get_copy(r, a);
	e->step_id = get_text(r, a).p; /* arena_str ends it with a NUL */
	return e;
}

struct exception *
frame_get_exception(struct frame_reader *r, struct arena *a)
{
	uint8_t n = frame_get_u8(r);
	struct exception *first = NULL, **at = &first;

	if (n > FRAME_CAUSES_MAX)
		r->bad = true;
	for (; n > 0 && !r->bad; n--) {
		*at = get_one(r, a);
		if (*at != NULL)
			at = &(*at)->cause;
	}
	return r->bad ? NULL : first;
}
