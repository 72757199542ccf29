/* core/model/frame*: primitives, values, exceptions, and what a broken sender may do. */
#include "core/model/frame.h"

#include "tests/lib/unit.h"
#include "tests/lib/value_case.h"

#include <stdlib.h>
#include <string.h>

/* ---- primitives ---- */

static void
test_layout(void **state)
{
	static const unsigned char wanted[] = {
		22, 0, 0, 0, 1, 39, 0x34, 0x12, /* length, version, PING, flags */
		0xFE,                           /* u8 */
		0x78, 0x56, 0x34, 0x12,         /* u32 */
		8, 7, 6, 5, 4, 3, 2, 1,         /* u64 */
		1, 0, 0, 0, 'x',                /* str */
	};
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	struct frame_writer w = frame_begin(&b, FRAME_PING, 0x1234);
	frame_put_u8(&w, 0xFE);
	frame_put_u32(&w, 0x12345678);
	frame_put_u64(&w, 0x0102030405060708u);
	frame_put_str(&w, STR_LIT("x"));
	assert_int_equal(frame_finish(&w), HINNY_OK);
	assert_int_equal(b.n, sizeof wanted);
	assert_memory_equal(b.p, wanted, sizeof wanted);

	struct str batch = { b.p, b.n };
	struct frame_reader r;
	assert_true(frame_next(&batch, &r));
	assert_int_equal(r.type, FRAME_PING);
	assert_int_equal(r.flags, 0x1234);
	assert_int_equal(frame_get_u8(&r), 0xFE);
	assert_int_equal(frame_get_u32(&r), 0x12345678);
	assert_true(frame_get_u64(&r) == 0x0102030405060708u);
	assert_false(frame_end(&r));
	assert_true(str_eq(frame_get_str(&r), STR_LIT("x")));
	assert_true(frame_end(&r));
	assert_false(frame_next(&batch, &r));
	assert_false(r.bad);
	buf_fini(&b);
}

static void
test_batch(void **state)
{
	struct buf b;
	struct frame_reader r;

	(void)state;
	buf_init(&b, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct frame_writer w = frame_begin(&b, FRAME_CREDIT, 0);
		frame_put_u32(&w, i);
		assert_int_equal(frame_finish(&w), HINNY_OK);
	}
	struct str batch = { b.p, b.n };
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(frame_next(&batch, &r));
		assert_int_equal(frame_get_u32(&r), i);
		assert_true(frame_end(&r));
	}
	assert_false(frame_next(&batch, &r));
	assert_false(r.bad);
	buf_fini(&b);
}

static void
test_reader_fails_softly(void **state)
{
	struct frame_reader r = { .p = "abc", .end = NULL };

	(void)state;
	r.end = r.p + 3;
	assert_int_equal(frame_get_u32(&r), 0);
	assert_true(r.bad);
	assert_int_equal(frame_get_u8(&r), 0);
	assert_int_equal(frame_get_str(&r).n, 0);
	assert_false(frame_end(&r));
}

static const struct cut_row {
	const char *label, *bytes;
	size_t n;
} cuts[] = {
	{ "three bytes", "\x04\0\0", 3 },
	{ "no head", "\x03\0\0\0\1\1\0", 7 },
	{ "length 0", "\0\0\0\0\1\1\0\0", 8 },
	{ "longer than what is there", "\x05\0\0\0\1\1\0\0", 8 },
	{ "longer than any frame", "\xFF\xFF\xFF\xFF\1\1\0\0", 8 },
	{ "another version", "\x04\0\0\0\2\1\0\0", 8 },
	{ "version 0", "\x04\0\0\0\0\1\0\0", 8 },
};

static void
check_cut(void **state)
{
	const struct cut_row *c = *state;
	struct str batch = { c->bytes, c->n };
	struct frame_reader r;

	assert_false(frame_next(&batch, &r));
	assert_true(r.bad);
}

static void
test_limit_takes_the_frame_out(void **state)
{
	struct buf b;
	char *large = malloc(1 << 20);

	(void)state;
	assert_non_null(large);
	memset(large, 'x', 1 << 20);
	buf_init(&b, 0);
	struct frame_writer w = frame_begin(&b, FRAME_PING, 0);
	assert_int_equal(frame_finish(&w), HINNY_OK);
	size_t before = b.n;
	w = frame_begin(&b, FRAME_CALL, 0);
	for (int i = 0; i < 17; i++)
		frame_put_str(&w, (struct str){ large, 1 << 20 });
	frame_put_u8(&w, 1);
	assert_int_equal(frame_finish(&w), HINNY_ELIMIT);
	assert_int_equal(b.n, before);
	buf_fini(&b);

	buf_init(&b, 100); /* the buffer's own bound */
	w = frame_begin(&b, FRAME_CALL, 0);
	frame_put_str(&w, (struct str){ large, 200 });
	assert_int_equal(frame_finish(&w), HINNY_ELIMIT);
	assert_int_equal(b.n, 0);
	buf_fini(&b);
	free(large);
}

/* ---- values ---- */

struct trip {
	struct arena a, b; /* of sender and receiver */
	struct buf buf;
	struct blob *blob;
	struct frame_reader r;
};

static void
trip_init(struct trip *t)
{
	memset(t, 0, sizeof *t);
	arena_init(&t->a);
	arena_init(&t->b);
	buf_init(&t->buf, 0);
}

/* The frame arrives in a blob of exactly its size. */
static void
trip_receive(struct trip *t)
{
	blob_put(t->blob);
	t->blob = blob_copy(t->buf.p, t->buf.n);
	struct str batch = { t->blob->data, t->blob->size };
	assert_true(frame_next(&batch, &t->r));
	assert_int_equal(batch.n, 0);
}

static void
trip_fini(struct trip *t)
{
	arena_fini(&t->a);
	arena_fini(&t->b);
	buf_fini(&t->buf);
	blob_put(t->blob);
}

enum { SAMPLES = 22 };

static struct value
sample(struct arena *a, int i)
{
	switch (i) {
	case 0:
		return value_null();
	case 1:
		return value_bool(true);
	case 2:
		return value_bool(false);
	case 3:
		return value_int(INT64_MIN);
	case 4:
		return value_case_flags(value_int(5), VALUE_LONG, 0);
	case 5:
		return value_case_flags(value_int(1714557600000), VALUE_DATE, 0);
	case 6:
		return value_double(-0.1);
	case 7:
		return value_case_flags(value_double(1.5), VALUE_FLOAT, 0);
	case 8:
		return (
		    struct value){ .type = VALUE_DECIMAL, .u.s = STR_LIT("12345678901234567890") };
	case 9:
		return value_str(STR_LIT(""));
	case 10:
		return value_str(STR_LIT("h\xC3\xA9llo"));
	case 11:
		return value_case_flags(value_str(STR_LIT("body")), VALUE_INPUT, 0);
	case 12:
		return value_bytes(STR_LIT("\0\1\xFF"));
	case 13:
		return (struct value){ .type = VALUE_XML,
			.flags = VALUE_NODESET,
			.aux = 2,
			.u.s = STR_LIT("<a/><b/>") };
	case 14:
		return value_new_list(a, 0);
	case 15:
		return value_case_list(a);
	case 16:
		return value_case_flags(value_case_list(a), VALUE_ARRAY, 0);
	case 17:
		return value_new_map(a, 0, false);
	case 18:
		return value_case(a, "j:[]");
	case 19:
		return value_case(a, "j: {\"a\" : \"\\u00e9\"} ");
	case 20:
		return value_case(a, "j:\"text\""); /* scalars come as plain values */
	default:
		return value_case(a, "j:12");
	}
}

static void
test_values(void **state)
{
	(void)state;
	for (int i = 0; i < SAMPLES; i++) {
		struct trip t;
		trip_init(&t);
		struct value v = sample(&t.a, i);
		struct frame_writer w = frame_begin(&t.buf, FRAME_VALUES, 0);
		frame_put_value(&w, &v);
		assert_int_equal(frame_finish(&w), HINNY_OK);
		trip_receive(&t);
		struct value got = frame_get_value(&t.r, &t.b, t.blob);
		assert_true(frame_end(&t.r));
		if (i < 20)
			assert_int_equal(got.type, v.type);
		assert_int_equal(got.flags, v.flags);
		assert_int_equal(got.aux, v.aux);
		assert_true(str_eq(value_text(&t.a, &v), value_text(&t.b, &got)));
		assert_true(value_equal(&t.a, &v, &got, false));
		if (value_has_text(&got))
			assert_ptr_equal(got.blob, t.blob);
		trip_fini(&t);
	}
}

static struct value
nested(struct arena *a, int depth)
{
	struct value v = value_int(1);

	for (int i = 0; i < depth; i++) {
		struct value outer = value_new_list(a, 1);
		value_list_add(a, outer.u.list, v);
		v = outer;
	}
	return v;
}

static void
test_depth(void **state)
{
	struct trip t;

	(void)state;
	trip_init(&t);
	struct value v = nested(&t.a, 128);
	struct frame_writer w = frame_begin(&t.buf, FRAME_VALUES, 0);
	frame_put_value(&w, &v);
	assert_int_equal(frame_finish(&w), HINNY_OK);
	trip_receive(&t);
	(void)frame_get_value(&t.r, &t.b, t.blob);
	assert_true(frame_end(&t.r));
	v = nested(&t.a, 129);
	w = frame_begin(&t.buf, FRAME_VALUES, 0);
	frame_put_value(&w, &v);
	assert_int_equal(frame_finish(&w), HINNY_ELIMIT);
	trip_fini(&t);
}

static const struct broken_row {
	const char *label, *bytes;
	size_t n;
} brokens[] = {
	{ "nothing", "", 0 },
	{ "type alone", "\5", 1 },
	{ "unknown type", "\x0C\0", 2 },
	{ "stream", "\x0B\0", 2 },
	{ "type 255", "\xFF\0", 2 },
	{ "short Boolean", "\1\0", 2 },
	{ "short integer", "\2\0\0\0\0", 5 },
	{ "short string", "\5\0\5\0\0\0abcd", 10 },
	{ "huge string", "\5\0\xFF\xFF\xFF\xFF", 6 },
	{ "huge list", "\7\0\xFF\xFF\xFF\xFF", 6 },
	{ "list with too few", "\7\0\2\0\0\0\0\0", 8 },
	{ "huge map", "\x08\0\0\xFF\xFF\xFF\xFF", 7 },
	{ "map without value", "\x08\0\0\1\0\0\0\1\0\0\0a", 12 },
	{ "JSON that is none", "\x09\0\2\0\0\0[x", 8 },
	{ "JSON scalar",
	    "\x09\0\1\0\0\0"
	    "1",
	    7 },
};

static void
check_broken(void **state)
{
	const struct broken_row *row = *state;
	struct arena a;
	char *exact = malloc(row->n > 0 ? row->n : 1);

	assert_non_null(exact);
	memcpy(exact, row->bytes, row->n);
	arena_init(&a);
	struct frame_reader r = { .p = exact, .end = exact + row->n };
	struct value v = frame_get_value(&r, &a, NULL);
	assert_true(r.bad);
	assert_int_equal(v.type, VALUE_NULL);
	arena_fini(&a);
	free(exact);
}

/* A list of lists of lists … costs the sender two bytes a level: it must end at the bound, not on
 * the stack. */
static void
test_deep_lists_from_outside(void **state)
{
	struct arena a;
	struct buf b;

	(void)state;
	arena_init(&a);
	buf_init(&b, 0);
	for (int i = 0; i < 100000; i++)
		(void)buf_add(&b, "\7\0\1\0\0\0", 6);
	struct frame_reader r = { .p = b.p, .end = b.p + b.n };
	(void)frame_get_value(&r, &a, NULL);
	assert_true(r.bad);
	buf_fini(&b);
	arena_fini(&a);
}

/* ---- exceptions ---- */

static struct exception *
exception_trip(struct trip *t, const struct exception *e)
{
	struct frame_writer w = frame_begin(&t->buf, FRAME_REPLY, 0);

	frame_put_exception(&w, e);
	assert_int_equal(frame_finish(&w), HINNY_OK);
	trip_receive(t);
	struct exception *got = frame_get_exception(&t->r, &t->b);
	assert_true(frame_end(&t->r));
	/* it does not point into the frame */
	memset(t->blob->data, 0xAA, t->blob->size);
	return got;
}

static void
test_exception(void **state)
{
	struct trip t;

	(void)state;
	trip_init(&t);
	assert_null(exception_trip(&t, NULL));
	buf_clear(&t.buf);
	struct exception *e =
	    exception_new(&t.a, EXCEPTION_HTTP_OPERATION_FAILED, "status %d", 404);
	e->status_code = -404;
	e->status_text = STR_LIT("Not Found");
	e->uri = STR_LIT("http://x/");
	e->response_body = value_str(STR_LIT("gone"));
	e->response_headers = value_case_list(&t.a);
	e->step_id = "to1";
	e->cause = exception_new(&t.a, EXCEPTION_IO, NULL);
	struct exception *got = exception_trip(&t, e);
	assert_int_equal(got->id, EXCEPTION_HTTP_OPERATION_FAILED);
	assert_true(str_eq(got->message, STR_LIT("status 404")));
	assert_int_equal(got->status_code, -404);
	assert_true(str_eq(got->status_text, STR_LIT("Not Found")) &&
	    str_eq(got->uri, STR_LIT("http://x/")));
	assert_null(got->redirect_location.p);
	assert_true(str_eq(got->response_body.u.s, STR_LIT("gone")));
	assert_true(value_equal(&t.b, &got->response_headers, &e->response_headers, false));
	assert_string_equal(got->step_id, "to1");
	assert_int_equal(got->cause->id, EXCEPTION_IO);
	assert_null(got->cause->message.p);
	assert_null(got->cause->step_id);
	assert_null(got->cause->cause);
	trip_fini(&t);
}

static void
test_exception_bounds(void **state)
{
	struct trip t;
	struct exception *e = NULL, *got;

	(void)state;
	trip_init(&t);
	for (int i = 0; i < 40; i++) {
		struct exception *outer = exception_new(&t.a, EXCEPTION_IO, "%d", i);
		outer->cause = e;
		e = outer;
	}
	e->response_body =
	    value_case_long(&t.a, VALUE_BYTES, 2 << 20); /* too large for an exception */
	got = exception_trip(&t, e);
	assert_int_equal(got->response_body.type, VALUE_NULL);
	int n = 0;
	for (; got != NULL; got = got->cause)
		n++;
	assert_int_equal(n, 16);
	trip_fini(&t);
}

static void
test_bad_exceptions(void **state)
{
	struct arena a;
	struct frame_reader r = { .p = "\1\xFF\xFF\0\0", .end = NULL };

	(void)state;
	arena_init(&a);
	r.end = r.p + 5;
	assert_null(frame_get_exception(&r, &a));
	assert_true(r.bad);
	r = (struct frame_reader){ .p = "\xFF", .end = NULL };
	r.end = r.p + 1;
	assert_null(frame_get_exception(&r, &a));
	assert_true(r.bad);
	arena_fini(&a);
}

static void
test_header_names(void **state)
{
	struct trip t;

	(void)state;
	trip_init(&t);
	struct frame_writer w = frame_begin(&t.buf, FRAME_CALL, 0);
	frame_put_header_name(&w, STR_LIT("Content-Type"));
	size_t known = t.buf.n - FRAME_HEAD;
	frame_put_header_name(&w, STR_LIT("content-type"));
	frame_put_header_name(&w, STR_LIT("X-Own"));
	frame_put_u8(&w, 255); /* no such id */
	assert_int_equal(frame_finish(&w), HINNY_OK);
	assert_int_equal(known, 1);
	trip_receive(&t);
	assert_true(str_eq(frame_get_header_name(&t.r), STR_LIT("Content-Type")));
	assert_true(str_eq(frame_get_header_name(&t.r), STR_LIT("content-type")));
	assert_true(str_eq(frame_get_header_name(&t.r), STR_LIT("X-Own")));
	assert_false(t.r.bad);
	assert_int_equal(frame_get_header_name(&t.r).n, 0);
	assert_true(t.r.bad);
	trip_fini(&t);
}

int
main(void)
{
	UNIT_CASE(test_layout);
	UNIT_CASE(test_batch);
	UNIT_CASE(test_reader_fails_softly);
	UNIT_TABLE("cut", cuts, check_cut);
	UNIT_CASE(test_limit_takes_the_frame_out);
	UNIT_CASE(test_values);
	UNIT_CASE(test_depth);
	UNIT_TABLE("broken", brokens, check_broken);
	UNIT_CASE(test_deep_lists_from_outside);
	UNIT_CASE(test_exception);
	UNIT_CASE(test_exception_bounds);
	UNIT_CASE(test_bad_exceptions);
	UNIT_CASE(test_header_names);
	return unit_run("frame");
}
