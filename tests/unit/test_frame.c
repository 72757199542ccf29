/* core/model/frame*: primitives, values, messages, exceptions, bodies in chunks, and what a broken
 * frame must not do. */
#include "core/model/frame.h"

#include "core/base/assert.h"
#include "core/model/stream.h"

#include "tests/lib/unit.h"

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

static struct value
with_flags(struct value v, unsigned flags, uint32_t aux)
{
	v.flags = (uint8_t)flags;
	v.aux = aux;
	return v;
}

static struct value
of_json(struct arena *a, const char *text)
{
	const struct json_node *root;

	assert_int_equal(json_parse(a, str_of(text), &root, NULL), HINNY_OK);
	return (struct value){ .type = VALUE_JSON, .u.json = root };
}

static struct value
sample_list(struct arena *a)
{
	struct value v = value_new_list(a, 0), inner = value_new_map(a, 0, true);

	value_map_set(a, inner.u.map, STR_LIT("Key"), value_int(5));
	value_list_add(a, v.u.list, value_str(STR_LIT("x")));
	value_list_add(a, v.u.list, inner);
	value_list_add(a, v.u.list, value_null());
	value_list_add(a, v.u.list, of_json(a, "{\"a\":[1,2]}"));
	return v;
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
		return with_flags(value_int(5), VALUE_LONG, 0);
	case 5:
		return with_flags(value_int(1714557600000), VALUE_DATE, 0);
	case 6:
		return value_double(-0.1);
	case 7:
		return with_flags(value_double(1.5), VALUE_FLOAT, 0);
	case 8:
		return (
		    struct value){ .type = VALUE_DECIMAL, .u.s = STR_LIT("12345678901234567890") };
	case 9:
		return value_str(STR_LIT(""));
	case 10:
		return value_str(STR_LIT("h\xC3\xA9llo"));
	case 11:
		return with_flags(value_str(STR_LIT("body")), VALUE_INPUT, 0);
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
		return sample_list(a);
	case 16:
		return with_flags(sample_list(a), VALUE_ARRAY, 0);
	case 17:
		return value_new_map(a, 0, false);
	case 18:
		return of_json(a, "[]");
	case 19:
		return of_json(a, " {\"a\" : \"\\u00e9\"} ");
	case 20:
		return of_json(a, "\"text\""); /* scalars come as plain values */
	default:
		return of_json(a, "12");
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

/* ---- messages ---- */

struct message {
	struct exchange_pool pool;
	struct exchange *from, *to;
	struct buf buf;
	struct blob *blob;
	struct frame_body body;
};

static void
message_init(struct message *m)
{
	memset(m, 0, sizeof *m);
	exchange_pool_init(&m->pool, 4);
	m->from = exchange_new(&m->pool);
	m->to = exchange_new(&m->pool);
	buf_init(&m->buf, 0);
}

static void
message_fini(struct message *m)
{
	exchange_free(&m->pool, &m->from);
	exchange_free(&m->pool, &m->to);
	exchange_pool_fini(&m->pool);
	blob_put(m->blob);
	buf_fini(&m->buf);
}

static void
message_send(struct message *m, const struct access *what, bool dirty_only)
{
	struct frame_reader r;

	buf_clear(&m->buf);
	struct frame_writer w = frame_begin(&m->buf, FRAME_CALL, 0);
	frame_put_message(&w, m->from, what, dirty_only);
	assert_int_equal(frame_finish(&w), HINNY_OK);
	blob_put(m->blob);
	m->blob = blob_copy(m->buf.p, m->buf.n);
	struct str batch = { m->blob->data, m->blob->size };
	assert_true(frame_next(&batch, &r));
	frame_get_message(&r, m->to, m->blob, &m->body);
	assert_true(frame_end(&r));
}

static const struct access all = { .flags = ACCESS_ALL };

static void
fill(struct exchange *ex)
{
	exchange_set_body(ex, value_str(STR_LIT("Hello")));
	exchange_set_header(ex, STR_LIT("Content-Type"), value_str(STR_LIT("text/plain")));
	exchange_set_header(ex, STR_LIT("content-LENGTH"), value_int(5));
	exchange_set_header(ex, STR_LIT("X-Own"), value_str(STR_LIT("1")));
	exchange_set_header(ex, STR_LIT("nothing"), value_null());
	exchange_set_property(ex, STR_LIT("p"), value_int(1));
	exchange_set_property(ex, STR_LIT("P"), value_int(2));
	exchange_set_variable(ex, STR_LIT("v"), sample_list(&ex->arena));
	exchange_fail(ex, EXCEPTION_IO, "no way");
	ex->pattern = PATTERN_IN_OUT;
}

static void
test_message(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	fill(m.from);
	message_send(&m, &all, false);
	struct exchange *to = m.to;
	assert_true(str_eq(to->body.u.s, STR_LIT("Hello")));
	assert_ptr_equal(to->body.blob, m.blob);
	assert_false(m.body.follows);
	assert_int_equal(to->headers.live, 4);
	assert_true(str_eq(to->headers.items[0].name, STR_LIT("Content-Type")));
	assert_int_equal(to->headers.items[0].id, HEADER_CONTENT_TYPE);
	assert_true(
	    str_eq(to->headers.items[1].name, STR_LIT("content-LENGTH"))); /* its own spelling */
	assert_int_equal(to->headers.items[1].id, HEADER_CONTENT_LENGTH);
	assert_int_equal(exchange_header(to, STR_LIT("CONTENT-LENGTH"))->u.i, 5);
	assert_int_equal(exchange_header(to, STR_LIT("nothing"))->type, VALUE_NULL);
	assert_int_equal(exchange_property(to, STR_LIT("p"))->u.i, 1);
	assert_int_equal(exchange_property(to, STR_LIT("P"))->u.i, 2);
	assert_int_equal(value_size(exchange_variable(to, STR_LIT("v"))), 4);
	assert_int_equal(to->exception->id, EXCEPTION_IO);
	assert_int_equal(to->pattern, PATTERN_IN_OUT);
	assert_true(str_eq(exchange_id(to), exchange_id(m.from)));
	assert_true(to->created_ms == m.from->created_ms);
	assert_int_equal(
	    to->dirty, DIRTY_BODY | DIRTY_HEADERS | DIRTY_PROPERTIES | DIRTY_VARIABLES);
	/* the exchange holds the blob */
	assert_int_equal(m.blob->refs, 2);
	message_fini(&m);
}

static void
test_message_by_name(void **state)
{
	static const char *headers[] = { "x-own", "absent" }, *properties[] = { "P", "q" },
			  *variables[] = { "w" };
	static const struct access some = { .headers = { headers, 2 },
		.properties = { properties, 2 },
		.variables = { variables, 1 } };
	struct message m;

	(void)state;
	message_init(&m);
	fill(m.from);
	exchange_set_body(m.to, value_int(7));
	message_send(&m, &some, false);
	assert_int_equal(m.to->body.u.i, 7); /* stays */
	assert_int_equal(m.to->headers.live, 1);
	assert_true(str_eq(m.to->headers.items[0].name, STR_LIT("X-Own")));
	assert_int_equal(m.to->properties.n, 1);
	assert_int_equal(exchange_property(m.to, STR_LIT("P"))->u.i, 2);
	assert_int_equal(m.to->variables.n, 0);
	assert_null(m.to->exception);
	message_fini(&m);
}

static void
test_nothing(void **state)
{
	static const struct access none = { 0 };
	struct message m;

	(void)state;
	message_init(&m);
	fill(m.from);
	message_send(&m, &none, false);
	assert_int_equal(m.to->headers.live, 0);
	assert_int_equal(m.to->dirty, 0);
	assert_int_equal(m.blob->refs, 1);
	message_send(&m, &all, true); /* dirty, all of it, but for the exception */
	assert_int_equal(m.to->headers.live, 4);
	assert_null(m.to->exception);
	exchange_clean(m.from);
	exchange_clean(m.to);
	message_send(&m, &all, true);
	assert_int_equal(m.to->dirty, 0);
	message_fini(&m);
}

/* A call there, changes, and the reply back: the caller ends with the callee's message. */
static void
test_changes(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	fill(m.from);
	message_send(&m, &all, false);
	struct exchange *home = m.from, *callee = m.to;
	exchange_clean(callee);
	exchange_clean(home);
	(void)exchange_remove_header(callee, STR_LIT("content-type"));
	(void)exchange_remove_header(callee, STR_LIT("x-own"));
	exchange_set_header(callee, STR_LIT("X-OWN"), value_int(2)); /* gone and back */
	exchange_set_header(callee, STR_LIT("passing"), value_int(3));
	(void)exchange_remove_header(callee, STR_LIT("passing")); /* never known at home */
	exchange_set_header(callee, STR_LIT("new"), value_int(4));
	exchange_set_property(callee, STR_LIT("p"), value_null());
	exchange_set_property(callee, STR_LIT("q"), value_int(5));
	exchange_set_variable(callee, STR_LIT("v"), value_str(STR_LIT("short")));
	exchange_set_property(
	    home, STR_LIT("kept"), value_int(6)); /* the callee knows nothing of it */
	m.from = callee;
	m.to = home;
	message_send(&m, &all, true);
	assert_true(str_eq(home->body.u.s, STR_LIT("Hello")));
	assert_false(home->dirty & DIRTY_BODY);
	assert_null(exchange_header(home, STR_LIT("Content-Type")));
	assert_int_equal(exchange_header(home, STR_LIT("x-own"))->u.i, 2);
	assert_null(exchange_header(home, STR_LIT("passing")));
	assert_int_equal(exchange_header(home, STR_LIT("new"))->u.i, 4);
	assert_int_equal(exchange_header(home, STR_LIT("Content-Length"))->u.i, 5);
	assert_int_equal(home->headers.live, 4);
	assert_null(exchange_property(home, STR_LIT("p")));
	assert_int_equal(exchange_property(home, STR_LIT("P"))->u.i, 2);
	assert_int_equal(exchange_property(home, STR_LIT("q"))->u.i, 5);
	assert_int_equal(exchange_property(home, STR_LIT("kept"))->u.i, 6);
	assert_true(str_eq(exchange_variable(home, STR_LIT("v"))->u.s, STR_LIT("short")));
	message_fini(&m);
}

static void
test_changes_within_access(void **state)
{
	static const char *headers[] = { "Allowed", "gone" }, *properties[] = { "p" };
	static const struct access some = { .headers = { headers, 2 },
		.properties = { properties, 1 } };
	struct message m;

	(void)state;
	message_init(&m);
	fill(m.from);
	exchange_set_header(m.from, STR_LIT("gone"), value_int(1));
	exchange_set_header(m.to, STR_LIT("Gone"), value_int(1));
	exchange_set_header(m.to, STR_LIT("X-Own"), value_int(1));
	exchange_clean(m.from);
	(void)exchange_remove_header(m.from, STR_LIT("gone"));
	(void)exchange_remove_header(m.from, STR_LIT("X-Own")); /* not within */
	exchange_set_header(m.from, STR_LIT("allowed"), value_int(2));
	exchange_set_header(m.from, STR_LIT("other"), value_int(3));
	exchange_set_property(m.from, STR_LIT("p"), value_int(4));
	exchange_set_property(m.from, STR_LIT("other"), value_int(5));
	exchange_set_variable(m.from, STR_LIT("v"), value_int(6));
	exchange_set_body(m.from, value_int(7));
	message_send(&m, &some, true);
	assert_null(exchange_header(m.to, STR_LIT("gone")));
	assert_non_null(exchange_header(m.to, STR_LIT("X-Own")));
	assert_int_equal(exchange_header(m.to, STR_LIT("allowed"))->u.i, 2);
	assert_null(exchange_header(m.to, STR_LIT("other")));
	assert_int_equal(exchange_property(m.to, STR_LIT("p"))->u.i, 4);
	assert_int_equal(m.to->properties.n, 1);
	assert_int_equal(m.to->variables.n, 0);
	assert_int_equal(m.to->body.type, VALUE_NULL);
	message_fini(&m);
}

static void
test_clear_all_headers(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	fill(m.from);
	message_send(&m, &all, false);
	exchange_clean(m.from);
	headers_clear(&m.from->headers);
	message_send(&m, &all, true);
	assert_int_equal(m.to->headers.live, 0);
	message_fini(&m);
}

/* ---- large bodies ---- */

static struct value
repeated(struct arena *a, unsigned type, size_t n)
{
	char *p = arena_alloc(a, n);

	memset(p, 'x', n);
	return (struct value){ .type = (uint8_t)type, .u.s = { p, n } };
}

static void
cross_in_chunks(struct message *m, uint64_t length)
{
	struct str bytes;
	struct blob *blob;
	struct value got;

	assert_false(frame_body_inline(&m->from->body));
	exchange_set_body(m->to, value_int(7));
	message_send(m, &all, false);
	assert_true(m->body.follows);
	assert_int_equal(m->to->body.u.i, 7);
	assert_int_equal(m->body.value.type, m->from->body.type);
	assert_int_equal(m->body.value.flags, m->from->body.flags);
	assert_true(m->body.length == length);
	assert_int_equal(
	    frame_body_bytes(&m->from->arena, &m->from->body, &bytes, &blob), HINNY_OK);
	assert_ptr_equal(blob, m->from->body.blob);
	struct blob *collected = arena_hold(&m->to->arena, blob_copy(bytes.p, bytes.n));
	blob_put(collected);
	assert_int_equal(frame_body_value(&m->body, &m->to->arena,
			     (struct str){ collected->data, collected->size }, collected, &got),
	    HINNY_OK);
	assert_int_equal(got.type, m->from->body.type);
	assert_true(value_equal(&m->to->arena, &got, &m->from->body, false));
}

static void
test_large_bodies(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	struct arena *a = &m.from->arena;
	struct value v = repeated(a, VALUE_STRING, FRAME_INLINE);
	assert_true(frame_body_inline(&v));
	exchange_set_body(m.from, v);
	message_send(&m, &all, false);
	assert_int_equal(m.to->body.u.s.n, FRAME_INLINE);

	exchange_set_body(
	    m.from, with_flags(repeated(a, VALUE_STRING, FRAME_INLINE + 1), VALUE_INPUT, 0));
	cross_in_chunks(&m, FRAME_INLINE + 1);
	exchange_set_body(
	    m.from, with_flags(repeated(a, VALUE_XML, FRAME_INLINE + 1), VALUE_NODESET, 3));
	cross_in_chunks(&m, FRAME_INLINE + 1);
	assert_int_equal(m.body.value.aux, 3);

	struct value list = value_new_list(a, 0);
	for (int i = 0; i < 10000; i++)
		value_list_add(a, list.u.list, value_int(i));
	exchange_set_body(m.from, list);
	cross_in_chunks(&m, UINT64_MAX);

	struct value text = repeated(a, VALUE_STRING, FRAME_INLINE);
	char *json = arena_printf(a, "[\"%.*s\"]", STR_FMT(text.u.s));
	exchange_set_body(m.from, of_json(a, json));
	cross_in_chunks(&m, FRAME_INLINE + 4);
	message_fini(&m);
}

static void
nothing(struct stream *s)
{
	(void)s;
}

static void
test_stream_body(void **state)
{
	static const struct stream_ops ops = {
		.attach = nothing, .pause = nothing, .resume = nothing, .cancel = nothing
	};
	struct stream s = { .ops = &ops, .length = -1 };
	struct message m;
	struct value got;

	(void)state;
	message_init(&m);
	exchange_set_body(m.from, (struct value){ .type = VALUE_STREAM, .u.stream = &s });
	message_send(&m, &all, false);
	assert_true(m.body.follows && m.body.length == UINT64_MAX);
	assert_int_equal(
	    frame_body_value(&m.body, &m.to->arena, STR_LIT("abc"), NULL, &got), HINNY_OK);
	assert_true(
	    got.type == VALUE_BYTES && got.flags == VALUE_INPUT && str_eq(got.u.s, STR_LIT("abc")));
	message_fini(&m);
}

static void
test_bad_chunked_bodies(void **state)
{
	struct arena a;
	struct value out;
	struct frame_body list = { .follows = true, .value = { .type = VALUE_LIST } };
	struct frame_body json = { .follows = true, .value = { .type = VALUE_JSON } };

	(void)state;
	arena_init(&a);
	assert_int_equal(
	    frame_body_value(&list, &a, STR_LIT("\7\0\1\0\0\0"), NULL, &out), HINNY_EPROTO);
	assert_int_equal(frame_body_value(&list, &a, STR_LIT("\0\0"), NULL, &out), HINNY_EPROTO);
	assert_int_equal(
	    frame_body_value(&list, &a, STR_LIT("\7\0\0\0\0\0x"), NULL, &out), HINNY_EPROTO);
	assert_int_equal(
	    frame_body_value(&list, &a, STR_LIT("\7\0\0\0\0\0"), NULL, &out), HINNY_OK);
	assert_int_equal(frame_body_value(&json, &a, STR_LIT("[1"), NULL, &out), HINNY_EPROTO);
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
	e->response_headers = sample_list(&t.a);
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
	e->response_body = repeated(&t.a, VALUE_BYTES, 2 << 20); /* too large for an exception */
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
	UNIT_CASE(test_message);
	UNIT_CASE(test_message_by_name);
	UNIT_CASE(test_nothing);
	UNIT_CASE(test_changes);
	UNIT_CASE(test_changes_within_access);
	UNIT_CASE(test_clear_all_headers);
	UNIT_CASE(test_large_bodies);
	UNIT_CASE(test_stream_body);
	UNIT_CASE(test_bad_chunked_bodies);
	UNIT_CASE(test_exception);
	UNIT_CASE(test_exception_bounds);
	UNIT_CASE(test_bad_exceptions);
	UNIT_CASE(test_header_names);
	return unit_run("frame");
}
