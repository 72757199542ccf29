/* core/model/exchange: pool, message access and its marks, identity, the kept JSON. */
#include "core/model/exchange.h"

#include "core/base/assert.h"
#include "core/model/stream.h"

#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

static void
test_pool(void **state)
{
	struct exchange_pool pool;
	struct exchange *a, *b, *c;

	(void)state;
	exchange_pool_init(&pool, 1);
	a = exchange_new(&pool);
	b = exchange_new(&pool);
	assert_int_equal(pool.live, 2);
	assert_int_not_equal(a->seq, b->seq);
	assert_true(a->created_ms > 0 && a->started.ns > 0);
	struct exchange *first = a;
	exchange_free(&pool, &a);
	assert_null(a);
	exchange_free(&pool, &b);
	exchange_free(&pool, &b); /* may be repeated */
	assert_int_equal(pool.live, 0);
	assert_int_equal(pool.free_n, 1);
	c = exchange_new(&pool);
	assert_ptr_equal(c, first);
	assert_int_equal(c->seq, 2);
	assert_int_equal(c->headers.n, 0);
	assert_int_equal(c->body.type, VALUE_NULL);
	assert_null(c->exception);
	exchange_free(&pool, &c);
	exchange_pool_fini(&pool);
	exchange_pool_fini(&pool);
}

static void
test_marks(void **state)
{
	struct exchange_pool pool;

	(void)state;
	exchange_pool_init(&pool, 0);
	struct exchange *ex = exchange_new(&pool);
	assert_int_equal(ex->dirty, 0);
	exchange_set_body(ex, value_int(1));
	assert_int_equal(ex->dirty, DIRTY_BODY);
	exchange_set_header(ex, STR_LIT("h"), value_int(2));
	exchange_set_property(ex, STR_LIT("p"), value_int(3));
	exchange_set_variable(ex, STR_LIT("v"), value_int(4));
	assert_int_equal(
	    ex->dirty, DIRTY_BODY | DIRTY_HEADERS | DIRTY_PROPERTIES | DIRTY_VARIABLES);
	assert_int_equal(exchange_header(ex, STR_LIT("H"))->u.i, 2);
	assert_int_equal(exchange_property(ex, STR_LIT("p"))->u.i, 3);
	assert_null(exchange_property(ex, STR_LIT("P")));
	assert_int_equal(exchange_variable(ex, STR_LIT("v"))->u.i, 4);
	exchange_clean(ex);
	assert_int_equal(ex->dirty, 0);
	assert_int_equal(ex->changed_properties.n, 0);
	assert_false(exchange_remove_header(ex, STR_LIT("x")));
	assert_int_equal(ex->dirty, 0);
	assert_true(exchange_remove_header(ex, STR_LIT("h")));
	assert_int_equal(ex->dirty, DIRTY_HEADERS);
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
}

static void
test_null_removes(void **state)
{
	struct exchange_pool pool;

	(void)state;
	exchange_pool_init(&pool, 0);
	struct exchange *ex = exchange_new(&pool);
	exchange_set_property(ex, STR_LIT("p"), value_int(3));
	exchange_set_property(ex, STR_LIT("p"), value_null());
	exchange_set_property(ex, STR_LIT("q"), value_null());
	exchange_set_variable(ex, STR_LIT("v"), value_int(3));
	exchange_set_variable(ex, STR_LIT("v"), value_null());
	exchange_set_header(ex, STR_LIT("h"), value_null());
	assert_null(exchange_property(ex, STR_LIT("p")));
	assert_int_equal(ex->properties.n, 0);
	assert_null(exchange_variable(ex, STR_LIT("v")));
	assert_non_null(exchange_header(ex, STR_LIT("h")));
	assert_int_equal(ex->changed_properties.n, 2);
	for (int i = 0; i < 100; i++)
		exchange_set_variable(
		    ex, str_of(arena_printf(&ex->arena, "v%d", i % 50)), value_int(i));
	assert_int_equal(ex->changed_variables.n, 51);
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
}

static void
test_fail(void **state)
{
	struct exchange_pool pool;

	(void)state;
	exchange_pool_init(&pool, 0);
	struct exchange *ex = exchange_new(&pool);
	exchange_fail(ex, EXCEPTION_IO, "no %s", "way");
	assert_int_equal(ex->exception->id, EXCEPTION_IO);
	assert_true(str_eq(ex->exception->message, STR_LIT("no way")));
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
}

static void
test_id(void **state)
{
	struct exchange_pool pool, other;
	unsigned long long prefix, seq;

	(void)state;
	exchange_pool_init(&pool, 0);
	exchange_pool_init(&other, 0);
	struct exchange *ex = exchange_new(&pool), *second = exchange_new(&pool);
	struct str id = exchange_id(ex), id2 = exchange_id(second);
	assert_int_equal(id.n, 32);
	assert_int_equal(sscanf(id.p, "%15llX-%16llX", &prefix, &seq), 2);
	assert_true(prefix == pool.id_prefix && seq == 0);
	assert_memory_equal(id.p, id2.p, 16);
	assert_memory_equal(id2.p + 16, "0000000000000001", 16);
	assert_true(pool.id_prefix != other.id_prefix);
	exchange_free(&pool, &ex);
	exchange_free(&pool, &second);
	exchange_pool_fini(&pool);
}

static void
test_json_is_kept(void **state)
{
	struct exchange_pool pool;
	const struct json_node *one, *two;
	struct hinny_error err;
	struct str text = STR_LIT("{\"a\":1}");

	(void)state;
	exchange_pool_init(&pool, 0);
	struct exchange *ex = exchange_new(&pool);
	assert_int_equal(exchange_json(ex, text, &one, &err), HINNY_OK);
	assert_int_equal(exchange_json(ex, text, &two, &err), HINNY_OK);
	assert_ptr_equal(one, two);
	assert_int_equal(exchange_json(ex, STR_LIT("[2]"), &two, &err), HINNY_OK);
	assert_int_equal(two->type, JSON_IS_ARRAY);
	assert_int_equal(exchange_json(ex, STR_LIT("{"), &two, &err), HINNY_EINVAL);
	assert_int_equal(exchange_json(ex, text, &one, &err), HINNY_OK);
	assert_int_equal(one->type, JSON_IS_OBJECT);
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
}

/* ---- bodies that stream ---- */

struct fake {
	struct stream s;
	int cancelled;
};

static void
nothing(struct stream *s)
{
	(void)s;
}

static void
count_cancel(struct stream *s)
{
	CONTAINER_OF(s, struct fake, s)->cancelled++;
}

static const struct stream_ops fake_ops = {
	.attach = nothing, .pause = nothing, .resume = nothing, .cancel = count_cancel
};

static void
test_stream_body(void **state)
{
	struct exchange_pool pool;
	struct fake one = { .s = { .ops = &fake_ops } }, two = one, three = one;
	struct stream_sink sink = { 0 };

	(void)state;
	exchange_pool_init(&pool, 0);
	struct exchange *ex = exchange_new(&pool);
	struct value body = { .type = VALUE_STREAM, .u.stream = &one.s };
	exchange_set_body(ex, body);
	exchange_set_body(ex, body); /* the same one is not cancelled */
	assert_int_equal(one.cancelled, 0);
	body.u.stream = &two.s;
	exchange_set_body(ex, body);
	assert_int_equal(one.cancelled, 1);
	stream_attach(&two.s, &sink); /* somebody took it */
	body.u.stream = &three.s;
	exchange_set_body(ex, body);
	assert_int_equal(two.cancelled, 0);
	exchange_free(&pool, &ex);
	assert_int_equal(three.cancelled, 1);
	exchange_pool_fini(&pool);
}

int
main(void)
{
	UNIT_CASE(test_pool);
	UNIT_CASE(test_marks);
	UNIT_CASE(test_null_removes);
	UNIT_CASE(test_fail);
	UNIT_CASE(test_id);
	UNIT_CASE(test_json_is_kept);
	UNIT_CASE(test_stream_body);
	return unit_run("exchange");
}
