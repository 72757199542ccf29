/* core/base/hash */
#include "core/base/hash.h"

#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

enum { MANY = 2000 };

static char keys[MANY][16];

static struct str
key(int i)
{
	(void)snprintf(keys[i], sizeof keys[i], "key-%d", i); /* fits */
	return str_of(keys[i]);
}

static void *
value(int i)
{
	return &keys[i];
}

static void
test_empty(void **state)
{
	struct hash h;

	(void)state;
	hash_init(&h, false);
	assert_null(hash_find(&h, STR_LIT("a")));
	assert_null(hash_remove(&h, STR_LIT("a")));
	hash_fini(&h);
	hash_fini(&h);
}

static void
test_put_replaces(void **state)
{
	struct hash h;

	(void)state;
	hash_init(&h, false);
	assert_null(hash_put(&h, STR_LIT("a"), value(1)));
	assert_ptr_equal(hash_put(&h, STR_LIT("a"), value(2)), value(1));
	assert_int_equal(h.count, 1);
	assert_ptr_equal(hash_find(&h, STR_LIT("a")), value(2));
	assert_null(hash_find(&h, STR_LIT("A")));
	assert_null(hash_find(&h, STR_LIT("")));
	hash_fini(&h);
}

static void
test_case_counts_for_nothing(void **state)
{
	struct hash h;

	(void)state;
	hash_init(&h, true);
	hash_put(&h, STR_LIT("Content-Type"), value(1));
	assert_ptr_equal(hash_find(&h, STR_LIT("content-type")), value(1));
	assert_ptr_equal(hash_put(&h, STR_LIT("CONTENT-TYPE"), value(2)), value(1));
	assert_int_equal(h.count, 1);
	hash_fini(&h);
}

static void
test_many(void **state)
{
	struct hash h;

	(void)state;
	hash_init(&h, false);
	for (int i = 0; i < MANY; i++)
		assert_null(hash_put(&h, key(i), value(i)));
	assert_int_equal(h.count, MANY);
	for (int i = 0; i < MANY; i++)
		assert_ptr_equal(hash_find(&h, key(i)), value(i));
	hash_fini(&h);
}

/* Puts and removals in an order that a model repeats: removal must not hide entries that were
 * probed past the hole. */
static void
test_random_removals_agree_with_a_model(void **state)
{
	struct hash h;
	bool there[MANY] = { false };
	size_t count = 0;
	unsigned seed = 1;

	(void)state;
	hash_init(&h, false);
	for (int turn = 0; turn < 40000; turn++) {
		seed = seed * 1103515245 + 12345;
		int i = (int)(seed >> 16) % 97;
		void *before = there[i] ? value(i) : NULL;
		if (seed & 0x8000) {
			assert_ptr_equal(hash_put(&h, key(i), value(i)), before);
			count += there[i] ? 0 : 1;
			there[i] = true;
		} else {
			assert_ptr_equal(hash_remove(&h, key(i)), before);
			count -= there[i] ? 1 : 0;
			there[i] = false;
		}
		assert_int_equal(h.count, count);
		int other = turn % 97;
		assert_ptr_equal(hash_find(&h, key(other)), there[other] ? value(other) : NULL);
	}
	hash_fini(&h);
}

int
main(void)
{
	UNIT_CASE(test_empty);
	UNIT_CASE(test_put_replaces);
	UNIT_CASE(test_case_counts_for_nothing);
	UNIT_CASE(test_many);
	UNIT_CASE(test_random_removals_agree_with_a_model);
	return unit_run("hash");
}
