/*
 * Addresses, queries, paths and the route table with hostile paths. What is encoded may stand in a
 * request line, and encoding it again changes nothing.
 */
#include "transports/http/route_table.h"
#include "transports/http/uri.h"

#include "core/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum hinny_rc put_fn(struct buf *out, struct str s);

static void
check_put(put_fn *fn, struct str s)
{
	struct buf once, twice;

	buf_init(&once, 0);
	buf_init(&twice, 0);
	ASSERT(fn(&once, s) == HINNY_OK);
	for (size_t i = 0; i < once.n; i++)
		ASSERT((unsigned char)once.p[i] > ' ' && (unsigned char)once.p[i] < 127 &&
		    once.p[i] != '#');
	ASSERT(fn(&twice, (struct str){ once.p, once.n }) == HINNY_OK);
	ASSERT(fn == uri_put_form ||
	    (once.n == twice.n && (once.n == 0 || memcmp(once.p, twice.p, once.n) == 0)));
	buf_fini(&once);
	buf_fini(&twice);
}

static void
check_routes(struct arena *a, struct str path)
{
	static const struct route_spec specs[] = { { .path = "/users/{id}", .data = (void *)"a" },
		{ .path = "/admin", .data = (void *)"b" },
		{ .path = "/base", .prefix = true, .data = (void *)"c" },
		{ .path = "/t/{x}/y", .prefix = true, .data = (void *)"d" } };
	struct route_table rt;
	struct route_match m;
	struct hinny_error err;
	struct route_request rq = {
		.method = STR_LIT("GET"), .path = path, .accept = path, .content_type = path
	};
	void *shadow;

	route_table_init(&rt);
	for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
		ASSERT(route_table_add(&rt, &specs[i], &shadow, &err) == HINNY_OK);
	route_table_find(&rt, a, &rq, &m);
	ASSERT((m.status == 0) == (m.data != NULL) && m.params_n <= ROUTE_PARAMS_MAX);
	/* No match has a dot segment left in it. */
	if (m.status == 0)
		ASSERT(str_find(m.path, STR_LIT("/../")) == SIZE_MAX && !str_ends(m.path, "/.."));
	(void)media_accepts(path, STR_LIT("text/plain, application/json"));
	(void)media_is_one_of(path, STR_LIT("text/plain, application/json"));
	route_table_fini(&rt);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { (const char *)data, size }, rest = s, name, value;
	struct hinny_error err;
	struct arena a;
	struct uri u;

	if (size > 100000)
		return 0;
	arena_init(&a);
	if (uri_parse(s, &u, &err) == HINNY_OK) {
		ASSERT(u.host.n > 0 && u.port > 0);
		for (size_t i = 0; i < u.authority.n; i++)
			ASSERT((unsigned char)u.authority.p[i] > ' ' &&
			    (unsigned char)u.authority.p[i] < 127);
	}
	check_put(uri_put_path, s);
	check_put(uri_put_query, s);
	check_put(uri_put_form, s);
	while (uri_next_pair(&rest, &name, &value)) {
		struct str d = uri_decode(&a, value, true);
		ASSERT(d.n <= value.n);
	}
	if (size > 0 && data[0] == '/')
		check_routes(&a, s);
	arena_fini(&a);
	return 0;
}
