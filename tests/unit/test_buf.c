/* core/base/buf */
#include "core/base/buf.h"

#include "tests/lib/unit.h"

static void
test_grows(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(buf_add_char(&b, (char)('a' + i % 26)), HINNY_OK);
	assert_int_equal(b.n, 10000);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(b.p[i], 'a' + i % 26);
	buf_fini(&b);
	buf_fini(&b);
}

static const struct bound_row {
	const char *label;
	size_t max, first, second;
	enum hinny_rc rc;
} bounds[] = {
	{ "up to the bound", 1000, 400, 600, HINNY_OK },
	{ "one beyond", 1000, 400, 601, HINNY_ELIMIT },
	{ "full, nothing more", 1000, 1000, 0, HINNY_OK },
	{ "full, one more", 1000, 1000, 1, HINNY_ELIMIT },
	{ "an overflow of the sum", 1000, 400, SIZE_MAX - 100, HINNY_ELIMIT },
	{ "an overflow without a bound", 0, 400, SIZE_MAX - 100, HINNY_ELIMIT },
	{ "a bound below the least size", 3, 1, 2, HINNY_OK },
};

static void
check_bound(void **state)
{
	const struct bound_row *r = *state;
	struct buf b;

	buf_init(&b, r->max);
	assert_int_equal(buf_reserve(&b, r->first), HINNY_OK);
	b.n = r->first;
	assert_int_equal(buf_reserve(&b, r->second), r->rc);
	assert_int_equal(b.n, r->first);
	if (r->max > 0)
		assert_true(b.cap <= r->max);
	buf_fini(&b);
}

static void
test_failed_add_changes_nothing(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 4);
	assert_int_equal(buf_add(&b, "abc", 3), HINNY_OK);
	assert_int_equal(buf_add(&b, "de", 2), HINNY_ELIMIT);
	assert_int_equal(b.n, 3);
	assert_string_equal(buf_cstr(&b), "abc");
	assert_int_equal(buf_add(&b, "d", 1), HINNY_OK);
	assert_null(buf_cstr(&b));
	buf_fini(&b);
}

static void
test_printf(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 1000);
	assert_int_equal(buf_printf(&b, "%d%%", 42), HINNY_OK);
	assert_string_equal(buf_cstr(&b), "42%");
	buf_clear(&b);
	assert_int_equal(buf_printf(&b, "%01000d", 7), HINNY_OK); /* exactly the bound */
	assert_int_equal(b.n, 1000);
	assert_int_equal(b.p[999], '7');
	buf_clear(&b);
	assert_int_equal(buf_printf(&b, "%01001d", 7), HINNY_ELIMIT);
	assert_int_equal(b.n, 0);
	buf_fini(&b);
}

static void
test_consume(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	buf_consume(&b, 0);
	assert_int_equal(buf_add_str(&b, STR_LIT("hinny")), HINNY_OK);
	buf_consume(&b, 2);
	assert_string_equal(buf_cstr(&b), "nny");
	buf_consume(&b, 3);
	assert_int_equal(b.n, 0);
	assert_string_equal(buf_cstr(&b), "");
	buf_fini(&b);
}

int
main(void)
{
	UNIT_CASE(test_grows);
	UNIT_TABLE("bound", bounds, check_bound);
	UNIT_CASE(test_failed_add_changes_nothing);
	UNIT_CASE(test_printf);
	UNIT_CASE(test_consume);
	return unit_run("buf");
}
