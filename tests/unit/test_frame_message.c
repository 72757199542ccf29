/* core/model/frame_message*: messages, what has changed in them, bodies in chunks. */
#include "core/model/frame.h"

#include "core/model/stream.h"
#include "tests/lib/unit.h"
#include "tests/lib/value_case.h"

#include <string.h>

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
	exchange_set_variable(ex, STR_LIT("v"), value_case_list(&ex->arena));
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
	struct value v = value_case_long(a, VALUE_STRING, FRAME_INLINE);
	assert_true(frame_body_inline(&v));
	exchange_set_body(m.from, v);
	message_send(&m, &all, false);
	assert_int_equal(m.to->body.u.s.n, FRAME_INLINE);

	exchange_set_body(m.from,
	    value_case_flags(value_case_long(a, VALUE_STRING, FRAME_INLINE + 1), VALUE_INPUT, 0));
	cross_in_chunks(&m, FRAME_INLINE + 1);
	exchange_set_body(m.from,
	    value_case_flags(value_case_long(a, VALUE_XML, FRAME_INLINE + 1), VALUE_NODESET, 3));
	cross_in_chunks(&m, FRAME_INLINE + 1);
	assert_int_equal(m.body.value.aux, 3);

	struct value list = value_new_list(a, 0);
	for (int i = 0; i < 10000; i++)
		value_list_add(a, list.u.list, value_int(i));
	exchange_set_body(m.from, list);
	cross_in_chunks(&m, UINT64_MAX);

	struct value text = value_case_long(a, VALUE_STRING, FRAME_INLINE);
	char *json = arena_printf(a, "j:[\"%.*s\"]", STR_FMT(text.u.s));
	exchange_set_body(m.from, value_case(a, json));
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

int
main(void)
{
	UNIT_CASE(test_message);
	UNIT_CASE(test_message_by_name);
	UNIT_CASE(test_nothing);
	UNIT_CASE(test_changes);
	UNIT_CASE(test_changes_within_access);
	UNIT_CASE(test_clear_all_headers);
	UNIT_CASE(test_large_bodies);
	UNIT_CASE(test_stream_body);
	UNIT_CASE(test_bad_chunked_bodies);
	return unit_run("frame_message");
}
