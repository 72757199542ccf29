/* core/model/page: making, opening, foreign files, latencies. */
#include "core/model/page.h"

#include "core/base/assert.h"

#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void
test_shared(void **state)
{
	int fd;

	(void)state;
	struct page *pg = page_create(3, &fd);
	assert_non_null(pg);
	struct page *other = page_open(fd);
	assert_non_null(other);
	assert_ptr_not_equal(pg, other);
	assert_int_equal(page_routes(pg), 3);
	assert_int_equal(page_routes(other), 3);
	assert_int_equal(PAGE_GET(other->size), page_size(3));
	PAGE_ADD(pg->routes[2].started, 2);
	PAGE_ADD(pg->routes[2].started, 3);
	PAGE_SET(pg->call_id, 77);
	assert_int_equal(PAGE_GET(other->routes[2].started), 5);
	assert_int_equal(PAGE_GET(other->call_id), 77);
	/* the worker cannot make the supervisor read beyond the mapping, or unmap something else */
	PAGE_SET(pg->routes_n, 1000000);
	PAGE_SET(pg->size, 1);
	assert_int_equal(page_routes(other), 3);
	assert_int_equal(ftruncate(fd, 0), -1);
	page_close(pg);
	page_close(other);
	page_close(NULL);
	close(fd);
}

static void
test_sources(void **state)
{
	int fd, all[PAGE_SOURCES];
	char name[PAGE_NAME_WORDS * 8 + 1];
	static const char long_name[] =
	    "0123456789012345678901234567890123456789012345678901234567890123456789"
	    "0123456789012345678901234567890123456789012345678901234567890123456789";

	(void)state;
	struct page *pg = page_create(1, &fd);
	assert_non_null(pg);
	for (int i = 0; i < PAGE_SOURCES; i++)
		all[i] = page_source_take(pg, 7, i == 0 ? long_name : "orders", i);
	assert_int_equal(page_source_take(pg, 7, "orders", 1000), -1);
	assert_int_equal(PAGE_GET(pg->sources_lost), 1);
	assert_null(page_source_at(pg, -1));
	page_source_put(pg, -1);
	assert_int_equal(PAGE_GET(pg->sources_lost), 0);
	page_source_name(page_source_at(pg, all[0]), name);
	assert_int_equal(strlen(name), PAGE_NAME_WORDS * 8);
	assert_memory_equal(name, long_name, strlen(name));
	const struct page_source *ps = page_source_at(pg, all[5]);
	page_source_name(ps, name);
	assert_string_equal(name, "orders");
	assert_int_equal(PAGE_GET(ps->route), 7);
	assert_int_equal(PAGE_GET(ps->partition), 5);
	assert_true(PAGE_GET(ps->end) == UINT64_MAX);
	page_source_put(pg, all[5]);
	assert_int_equal(page_source_take(pg, 0, "x", 0), all[5]);
	page_sources_clear(pg);
	assert_int_equal(page_source_take(pg, 0, "x", 0), 0);
	page_close(pg);
	close(fd);
}

static void
test_no_routes(void **state)
{
	int fd;

	(void)state;
	struct page *pg = page_create(0, &fd);
	assert_non_null(pg);
	assert_int_equal(page_routes(pg), 0);
	page_close(pg);
	close(fd);
}

static void
test_foreign_file(void **state)
{
	int fd = memfd_create("x", MFD_CLOEXEC);

	(void)state;
	assert_null(page_open(fd));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ftruncate(fd, (off_t)page_size(2)), 0);
	assert_null(page_open(fd));
	assert_int_equal(errno, EINVAL);
	close(fd);
	assert_null(page_open(-1));
	assert_int_equal(errno, EBADF);
}

static const struct latency_row {
	const char *label;
	uint64_t us, least, most; /* range in which the quantile of this one latency lies */
} latencies[] = {
	{ "0", 0, 0, 0 },
	{ "1", 1, 1, 1 },
	{ "3", 3, 3, 3 },
	{ "4", 4, 4, 4 },
	{ "7", 7, 7, 7 },
	{ "8", 8, 8, 9 },
	{ "100", 100, 100, 125 },
	{ "1000", 1000, 1000, 1250 },
	{ "one second", 1000000, 1000000, 1250000 },
	{ "an hour", 3600000000, 3600000000, 4500000000 },
	{ "beyond", UINT64_MAX, 4294967295, 8589934591 },
};

static void
check_latency(void **state)
{
	const struct latency_row *r = *state;
	uint64_t buckets[PAGE_BUCKETS];
	int fd;

	struct page *pg = page_create(1, &fd);
	page_latency(&pg->routes[0], r->us);
	for (int i = 0; i < PAGE_BUCKETS; i++)
		buckets[i] = PAGE_GET(pg->routes[0].latency[i]);
	assert_in_range(page_quantile(buckets, 0.5), r->least, r->most);
	assert_in_range(page_quantile(buckets, 1), r->least, r->most);
	assert_true(PAGE_GET(pg->routes[0].latency_us_sum) == r->us);
	page_close(pg);
	close(fd);
}

static void
test_quantiles(void **state)
{
	uint64_t buckets[PAGE_BUCKETS] = { 0 };

	(void)state;
	assert_int_equal(page_quantile(buckets, 0.5), 0);
	buckets[1] = 90;
	buckets[7] = 9;
	buckets[20] = 1;
	assert_int_equal(page_quantile(buckets, 0), 1);
	assert_int_equal(page_quantile(buckets, 0.5), 1);
	assert_int_equal(page_quantile(buckets, 0.9), 1);
	assert_int_equal(page_quantile(buckets, 0.99), 7);
	assert_true(page_quantile(buckets, 1) > 7);
}

/* Buckets lie end to end. */
static void
test_buckets(void **state)
{
	uint64_t last = 0;
	int fd;

	(void)state;
	struct page *pg = page_create(1, &fd);
	for (uint64_t us = 0; us < 100000; us++) {
		page_latency(&pg->routes[0], us);
		uint64_t at = 0;
		while (PAGE_GET(pg->routes[0].latency[at]) == 0)
			at++;
		assert_true(at == last || at == last + 1);
		last = at;
		PAGE_SET(pg->routes[0].latency[at], 0);
	}
	page_close(pg);
	close(fd);
}

int
main(void)
{
	UNIT_CASE(test_shared);
	UNIT_CASE(test_sources);
	UNIT_CASE(test_no_routes);
	UNIT_CASE(test_foreign_file);
	UNIT_TABLE("latency", latencies, check_latency);
	UNIT_CASE(test_quantiles);
	UNIT_CASE(test_buckets);
	return unit_run("page");
}
