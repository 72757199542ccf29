/* core/base/blob */
#include "core/base/blob.h"

#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
test_new_is_empty(void **state)
{
	struct blob *b = blob_new(100);

	(void)state;
	assert_int_equal(b->refs, 1);
	assert_int_equal(b->size, 0);
	assert_int_equal(b->cap, 100);
	memset(b->data, 1, b->cap);
	blob_put(b);
	blob_put(NULL);
}

static void
test_references(void **state)
{
	struct blob *b = blob_copy("hinny", 5);

	(void)state;
	assert_ptr_equal(blob_get(b), b);
	blob_put(b);
	assert_int_equal(b->refs, 1);
	assert_int_equal(b->size, 5);
	assert_memory_equal(b->data, "hinny", 5);
	blob_put(b);
}

static void
test_copy_of_nothing(void **state)
{
	struct blob *b = blob_copy(NULL, 0);

	(void)state;
	assert_int_equal(b->size, 0);
	blob_put(b);
}

static void
test_mapped_outlives_its_descriptor(void **state)
{
	FILE *f = tmpfile();
	struct blob *b;

	(void)state;
	assert_non_null(f);
	fputs("spooled", f);
	fflush(f);
	assert_int_equal(blob_new_mapped(fileno(f), 7, &b, NULL), HINNY_OK);
	fclose(f);
	assert_int_equal(b->size, 7);
	assert_memory_equal(b->data, "spooled", 7);
	blob_put(b);
}

static void
test_mapped_empty_file(void **state)
{
	FILE *f = tmpfile();
	struct blob *b;

	(void)state;
	assert_non_null(f);
	assert_int_equal(blob_new_mapped(fileno(f), 0, &b, NULL), HINNY_OK);
	assert_int_equal(b->size, 0);
	blob_put(b);
	fclose(f);
}

static void
test_mapping_nothing_fails(void **state)
{
	struct hinny_error err;
	struct blob *b = NULL;

	(void)state;
	assert_int_equal(blob_new_mapped(-1, 7, &b, &err), HINNY_EIO);
	assert_string_equal(err.text, "cannot map 7 bytes of a file: bad file descriptor");
	assert_null(b);
}

int
main(void)
{
	UNIT_CASE(test_new_is_empty);
	UNIT_CASE(test_references);
	UNIT_CASE(test_copy_of_nothing);
	UNIT_CASE(test_mapped_outlives_its_descriptor);
	UNIT_CASE(test_mapped_empty_file);
	UNIT_CASE(test_mapping_nothing_fails);
	return unit_run("blob");
}
