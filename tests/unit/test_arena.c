/* core/base/arena */
#include "core/base/arena.h"

#include "core/base/blob.h"
#include "tests/lib/unit.h"

static const struct size_row {
	const char *label;
	size_t size;
} sizes[] = {
	{ "one byte", 1 },
	{ "alignment", 16 },
	{ "odd", 17 },
	{ "near the first chunk", 4000 },
	{ "a page", 4096 },
	{ "larger than any chunk", 1000000 },
};

static void
check_alignment(void **state)
{
	const struct size_row *r = *state;
	struct arena a;

	arena_init(&a);
	for (int i = 0; i < 20; i++) {
		char *p = arena_alloc(&a, r->size);
		assert_int_equal((uintptr_t)p % 16, 0);
		memset(p, i, r->size);
	}
	assert_int_equal(a.used, 20 * ((r->size + 15) / 16 * 16));
	arena_fini(&a);
	arena_fini(&a);
}

static void
test_allocations_do_not_overlap(void **state)
{
	struct arena a;
	char *p[300];

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < 300; i++) {
		size_t n = 1 + i * 37 % 3000;
		p[i] = arena_alloc(&a, n);
		memset(p[i], (int)(i & 0xFF), n);
	}
	for (size_t i = 0; i < 300; i++) {
		size_t n = 1 + i * 37 % 3000;
		for (size_t k = 0; k < n; k++)
			assert_int_equal((unsigned char)p[i][k], i & 0xFF);
	}
	arena_fini(&a);
}

static void
test_zalloc_clears_after_reset(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	memset(arena_alloc(&a, 512), 0xAA, 512);
	arena_reset(&a);
	assert_int_equal(a.used, 0);
	char *p = arena_zalloc(&a, 512);
	for (int i = 0; i < 512; i++)
		assert_int_equal(p[i], 0);
	arena_fini(&a);
}

static void
test_copies(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_string_equal(arena_strdup(&a, "hinny"), "hinny");
	assert_string_equal(arena_strndup(&a, "hinny", 3), "hin");
	assert_string_equal(arena_strndup(&a, NULL, 0), "");
	struct str s = arena_str(&a, (struct str){ "a\0b", 3 });
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.p, "a\0b", 4);
	assert_string_equal(arena_printf(&a, "%s-%d", "n", 7), "n-7");
	assert_int_equal(strlen(arena_printf(&a, "%09000d", 1)), 9000);
	arena_fini(&a);
}

static char order[8];
static size_t order_n;

static void
note(void *arg)
{
	order[order_n++] = *(const char *)arg;
}

static void
test_cleanups_run_newest_first_and_once(void **state)
{
	struct arena a;

	(void)state;
	order_n = 0;
	arena_init(&a);
	arena_on_reset(&a, note, (void *)(uintptr_t) "1");
	arena_on_reset(&a, note, (void *)(uintptr_t) "2");
	arena_reset(&a);
	arena_on_reset(&a, note, (void *)(uintptr_t) "3");
	arena_fini(&a);
	assert_int_equal(order_n, 3);
	assert_memory_equal(order, "213", 3);
}

static void
test_hold_puts_the_blob_back(void **state)
{
	struct arena a;
	struct blob *b = blob_copy("x", 1);

	(void)state;
	arena_init(&a);
	assert_ptr_equal(arena_hold(&a, b), b);
	assert_int_equal(b->refs, 2);
	arena_reset(&a);
	assert_int_equal(b->refs, 1);
	arena_fini(&a);
	blob_put(b);
}

int
main(void)
{
	UNIT_TABLE("alignment", sizes, check_alignment);
	UNIT_CASE(test_allocations_do_not_overlap);
	UNIT_CASE(test_zalloc_clears_after_reset);
	UNIT_CASE(test_copies);
	UNIT_CASE(test_cleanups_run_newest_first_and_once);
	UNIT_CASE(test_hold_puts_the_blob_back);
	return unit_run("arena");
}
