/*
 * The frame decoder: a batch of any bytes. Each frame is read as a message, a value, an exception
 * and a list of header names; what was read whole is encoded again, and must come back the same.
 */
#include "core/model/frame.h"

#include "core/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct access all = { .flags = ACCESS_ALL };

static struct frame_reader
reader_of(struct buf *b)
{
	struct str batch = { b->p, b->n };
	struct frame_reader r;

	ASSERT(frame_next(&batch, &r) && batch.n == 0);
	return r;
}

static void
check_value_again(struct arena *a, const struct value *v)
{
	struct buf b;

	buf_init(&b, 0);
	struct frame_writer w = frame_begin(&b, FRAME_VALUES, 0);
	frame_put_value(&w, v);
	ASSERT(frame_finish(&w) == HINNY_OK);
	struct frame_reader r = reader_of(&b);
	struct value again = frame_get_value(&r, a, NULL);
	ASSERT(frame_end(&r) && again.type == v->type);
	ASSERT(str_eq(value_text(a, v), value_text(a, &again)));
	buf_fini(&b);
}

static void
read_value(struct frame_reader r)
{
	struct arena a;

	arena_init(&a);
	struct value v = frame_get_value(&r, &a, NULL);
	if (!r.bad) {
		check_value_again(&a, &v);
		(void)value_size(&v);
		(void)value_class(&v);
		struct value shared = value_share(&a, &v);
		ASSERT(value_truth(&v) == value_truth(&shared));
	}
	arena_fini(&a);
}

static void
read_exception(struct frame_reader r)
{
	struct arena a;
	struct buf b;

	arena_init(&a);
	buf_init(&b, 0);
	struct exception *e = frame_get_exception(&r, &a);
	if (!r.bad) {
		struct frame_writer w = frame_begin(&b, FRAME_REPLY, 0);
		frame_put_exception(&w, e);
		ASSERT(frame_finish(&w) == HINNY_OK);
		struct frame_reader back = reader_of(&b);
		struct exception *again = frame_get_exception(&back, &a);
		ASSERT(frame_end(&back) && (again == NULL) == (e == NULL));
		if (e != NULL)
			ASSERT(again->id == e->id && str_eq(again->message, e->message));
	}
	buf_fini(&b);
	arena_fini(&a);
}

static void
send_again(struct exchange_pool *pool, struct exchange *ex)
{
	struct exchange *to = exchange_new(pool);
	struct frame_body body;
	struct buf b;

	buf_init(&b, 0);
	struct frame_writer w = frame_begin(&b, FRAME_CALL, 0);
	frame_put_message(&w, ex, &all, false);
	ASSERT(frame_finish(&w) == HINNY_OK);
	struct frame_reader r = reader_of(&b);
	frame_get_message(&r, to, NULL, &body);
	ASSERT(frame_end(&r));
	ASSERT(to->headers.live == ex->headers.live && to->variables.n == ex->variables.n &&
	    to->properties.n == ex->properties.n);
	exchange_free(pool, &to);
	buf_fini(&b);
}

static void
read_message(struct frame_reader r, struct blob *blob)
{
	struct exchange_pool pool;
	struct frame_body body;

	exchange_pool_init(&pool, 2);
	struct exchange *ex = exchange_new(&pool);
	frame_get_message(&r, ex, blob, &body);
	if (!r.bad) {
		struct value v;
		if (body.follows &&
		    frame_body_value(&body, &ex->arena, (struct str){ r.p, (size_t)(r.end - r.p) },
			blob, &v) == HINNY_OK)
			ASSERT(v.type != VALUE_STREAM);
		send_again(&pool, ex);
	}
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct blob *blob = blob_copy(data, size);
	struct str batch = { blob->data, blob->size };
	struct frame_reader r;

	while (frame_next(&batch, &r)) {
		read_message(r, blob);
		read_value(r);
		read_exception(r);
		while (r.p < r.end)
			(void)frame_get_header_name(&r);
	}
	ASSERT(r.bad || batch.n == 0);
	blob_put(blob);
	return 0;
}
