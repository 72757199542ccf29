/* transports/http: chunked coding, addresses and queries, the route table, status lists. */
#include "transports/http/chunked.h"
#include "transports/http/http_conf.h"
#include "transports/http/route_table.h"
#include "transports/http/uri.h"

#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

/* ---- chunked ---- */

static const struct chunked_row {
	const char *label, *text;
	const char *want; /* NULL: refused */
	const char *rest; /* what is left for the next message; NULL: the body is not whole */
} chunks[] = {
	{ "one chunk", "5\r\nhello\r\n0\r\n\r\n", "hello", "" },
	{ "two, hex", "a\r\n0123456789\r\nB\r\nabcdefghijk\r\n0\r\n\r\nNEXT",
	    "0123456789abcdefghijk", "NEXT" },
	{ "empty", "0\r\n\r\n", "", "" },
	{ "leading zeros", "0005\r\nhello\r\n000\r\n\r\n", "hello", "" },
	{ "extension", "5;a=b;c\r\nhello\r\n0;x\r\n\r\n", "hello", "" },
	{ "trailer", "1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\nZ", "x", "Z" },
	{ "data of line ends", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n", "" },
	{ "not whole", "5\r\nhel", "hel", NULL },
	{ "no size", "\r\nhello", NULL, NULL },
	{ "no hex", "g\r\n", NULL, NULL },
	{ "sign", "+5\r\nhello\r\n", NULL, NULL },
	{ "negative", "-1\r\n", NULL, NULL },
	{ "0x", "0x5\r\nhello\r\n", NULL, NULL },
	{ "blank before", " 5\r\nhello\r\n", NULL, NULL },
	{ "blank behind", "5 \r\nhello\r\n", NULL, NULL },
	{ "too large", "fffffffffffffffff\r\n", NULL, NULL },
	{ "bare line feed", "5\nhello\r\n", NULL, NULL },
	{ "bare carriage return in extension", "5;a\rb\r\nhello\r\n", NULL, NULL },
	{ "data too long", "3\r\nhello\r\n", NULL, NULL },
	{ "data ends with a bare line feed", "5\r\nhello\n0\r\n\r\n", NULL, NULL },
	{ "trailer without a colon", "0\r\nA\r\n\r\n", NULL, NULL },
	{ "trailer without a name", "0\r\n: b\r\n\r\n", NULL, NULL },
	{ "blank in a trailer's name", "0\r\nA : b\r\n\r\n", NULL, NULL },
	{ "folded trailer", "0\r\n A: b\r\n\r\n", NULL, NULL },
	{ "control character in trailer", "0\r\nA: \x01\r\n\r\n", NULL, NULL },
	{ "end with a bare line feed", "0\r\n\n", NULL, NULL },
};

/* Feeds `step` bytes at a time. */
static void
check_chunked_by(const struct chunked_row *r, size_t step)
{
	struct chunked c;
	char got[256];
	size_t n = strlen(r->text), at = 0, got_n = 0;
	enum chunked_rc rc = CHUNKED_MORE;

	chunked_init(&c);
	while (at < n && rc != CHUNKED_BAD && rc != CHUNKED_END) {
		size_t give = n - at < step ? n - at : step, used = 0;
		struct str data;
		rc = chunked_feed(&c, r->text + at, give, &used, &data);
		if (rc == CHUNKED_BAD)
			break;
		assert_true(used <= give);
		if (rc == CHUNKED_BYTES) {
			memcpy(got + got_n, data.p, data.n);
			got_n += data.n;
		}
		at += used;
	}
	assert_int_equal(rc == CHUNKED_BAD, r->want == NULL);
	if (r->want == NULL)
		return;
	assert_int_equal(got_n, strlen(r->want));
	assert_memory_equal(got, r->want, got_n);
	assert_int_equal(rc == CHUNKED_END, r->rest != NULL);
	if (r->rest != NULL)
		assert_string_equal(r->text + at, r->rest);
}

static void
check_chunked(void **state)
{
	for (size_t step = 1; step < 12; step++)
		check_chunked_by(*state, step);
	check_chunked_by(*state, 1000);
}

static void
test_chunked_bounds(void **state)
{
	static char text[CHUNKED_TRAILER_MAX + 100];
	struct chunked c;
	struct str data;
	size_t used;

	(void)state;
	chunked_init(&c);
	memset(text, 'a', sizeof text);
	memcpy(text, "5;", 2);
	assert_int_equal(chunked_feed(&c, text, sizeof text, &used, &data), CHUNKED_BAD);
	chunked_init(&c);
	memcpy(text, "0\r\n", 3);
	assert_int_equal(chunked_feed(&c, text, sizeof text, &used, &data), CHUNKED_BAD);
}

static void
test_chunked_head(void **state)
{
	char out[CHUNKED_HEAD_MAX];

	(void)state;
	assert_int_equal(chunked_head(out, 1), 3);
	assert_memory_equal(out, "1\r\n", 3);
	assert_int_equal(chunked_head(out, 0x1a2b), 6);
	assert_memory_equal(out, "1a2b\r\n", 6);
	assert_int_equal(chunked_head(out, UINT64_MAX), 18);
}

/* ---- addresses ---- */

static const struct uri_row {
	const char *label;
	bool ok;
	const char *host, *authority, *path, *query;
	uint16_t port;
} uris[] = {
	{ "http://h", true, "h", "h", "", NULL, 80 },
	{ "http:h/p", true, "h", "h", "/p", NULL, 80 },
	{ "http://h:81/p/q?a=b#f", true, "h", "h:81", "/p/q", "a=b", 81 },
	{ "HTTP://h?x", true, "h", "h", "", "x", 80 },
	{ "https://h/", true, "h", "h", "/", NULL, 443 },
	{ "http://[::1]:82/", true, "::1", "[::1]:82", "/", NULL, 82 },
	{ "http://h:", true, "h", "h:", "", NULL, 80 },
	{ .label = "http://h:0" },
	{ .label = "http://h:65536" },
	{ .label = "http://h:x" },
	{ .label = "http://h:-1" },
	{ .label = "http://" },
	{ .label = "http:///p" },
	{ .label = "http://a b/" },
	{ .label = "http://u:p@h/" },
	{ .label = "http://[::1" },
	{ .label = "http://[::1]x" },
	{ .label = "http://h\tX/" },
	{ .label = "ftp://h" },
	{ .label = "/t?q=1" },
	{ .label = "" },
};

static void
check_uri(void **state)
{
	const struct uri_row *r = *state;
	struct uri u;
	struct hinny_error err;

	assert_int_equal(uri_parse(str_of(r->label), &u, &err) == HINNY_OK, r->ok);
	if (!r->ok)
		return;
	assert_true(str_eq(u.host, str_of(r->host)));
	assert_true(str_eq(u.authority, str_of(r->authority)));
	assert_true(str_eq(u.path, str_of(r->path)));
	assert_int_equal(u.query.p != NULL, r->query != NULL);
	if (r->query != NULL)
		assert_true(str_eq(u.query, str_of(r->query)));
	assert_int_equal(u.port, r->port);
}

static const struct encode_row {
	const char *label, *query, *path;
} encodings[] = {
	{ "q=a b&z=%2F%25", "q=a%20b&z=%2F%25", "q=a%20b&z=%2F%25" },
	{ "100%", "100%25", "100%25" },
	{ "%zz", "%25zz", "%25zz" },
	{ "a?b", "a?b", "a%3Fb" },
	{ "\xc3\xa9", "%C3%A9", "%C3%A9" },
	{ "a\tb", "a%09b", "a%09b" },
	{ "u=a%2Fb&e=%E2%82%AC&plus=a+b", "u=a%2Fb&e=%E2%82%AC&plus=a+b",
	    "u=a%2Fb&e=%E2%82%AC&plus=a+b" },
	{ "{x}", "%7Bx%7D", "%7Bx%7D" },
};

static void
check_encoding(void **state)
{
	const struct encode_row *r = *state;
	struct buf b;

	buf_init(&b, 0);
	assert_int_equal(uri_put_query(&b, str_of(r->label)), HINNY_OK);
	assert_string_equal(buf_cstr(&b), r->query);
	buf_clear(&b);
	assert_int_equal(uri_put_path(&b, str_of(r->label)), HINNY_OK);
	assert_string_equal(buf_cstr(&b), r->path);
	buf_fini(&b);
}

static void
test_decode(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_true(str_eq(uri_decode(&a, str_of("a%2Fb+c%"), true), str_of("a/b c%")));
	assert_true(str_eq(uri_decode(&a, str_of("a%2Fb+c%4"), false), str_of("a/b+c%4")));
	struct str s = str_of("plain");
	assert_ptr_equal(uri_decode(&a, s, true).p, s.p);
	arena_fini(&a);
}

static void
test_pairs(void **state)
{
	struct str rest = str_of("a=1&&b&=x&c=d=e"), name, value;
	static const char *const want[][2] = { { "a", "1" }, { "b", "" }, { "", "x" },
		{ "c", "d=e" } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_true(uri_next_pair(&rest, &name, &value));
		assert_true(str_eq(name, str_of(want[i][0])));
		assert_true(str_eq(value, str_of(want[i][1])));
	}
	assert_false(uri_next_pair(&rest, &name, &value));
}

/* ---- routes ---- */

static const struct route_spec specs[] = {
	{ .path = "/users/{id}", .data = (void *)"user" },
	{ .path = "/users/{id}/pets/{pet}", .data = (void *)"pet" },
	{ .path = "/d/fixed", .data = (void *)"fixed" },
	{ .path = "/d/{name}", .data = (void *)"name" },
	{ .path = "/e/{name}", .data = (void *)"first" },
	{ .path = "/e/fixed", .data = (void *)"never" },
	{ .path = "/m", .methods = "GET", .data = (void *)"get" },
	{ .path = "/m", .methods = "POST, PUT", .data = (void *)"post" },
	{ .path = "/base", .prefix = true, .data = (void *)"base" },
	{ .path = "/base/long", .prefix = true, .data = (void *)"long" },
	{ .path = "/base/exact", .data = (void *)"exact" },
	{ .path = "/admin", .data = (void *)"admin" },
	{ .path = "/j",
	    .consumes = "application/json",
	    .produces = "application/json, text/csv",
	    .data = (void *)"json" },
	{ .path = "/a b", .data = (void *)"blank" },
	{ .path = "/t/{x}/", .prefix = true, .data = (void *)"template" },
	{ .path = "/", .data = (void *)"root" },
};

static const struct find_row {
	const char *label, *path, *method;
	int status;
	const char *data, *params, *rest;
	const char *content_type, *accept;
} finds[] = {
	{ .label = "parameter",
	    .path = "/users/7",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"user",
	    .params = "id=7;",
	    .rest = NULL },
	{ .label = "decoded parameter",
	    .path = "/users/a%20b",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"user",
	    .params = "id=a b;",
	    .rest = NULL },
	{ .label = "encoded slash stays in the segment",
	    .path = "/users/a%2Fb",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"user",
	    .params = "id=a/b;",
	    .rest = NULL },
	{ .label = "two parameters",
	    .path = "/users/7/pets/Rex",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"pet",
	    .params = "id=7;pet=Rex;",
	    .rest = NULL },
	{ .label = "empty parameter",
	    .path = "/users/",
	    .method = "GET",
	    .status = 404,
	    .data = NULL,
	    .params = NULL,
	    .rest = NULL },
	{ .label = "no parameter",
	    .path = "/users",
	    .method = "GET",
	    .status = 404,
	    .data = NULL,
	    .params = NULL,
	    .rest = NULL },
	{ .label = "other end",
	    .path = "/users/7/other",
	    .method = "GET",
	    .status = 404,
	    .data = NULL,
	    .params = NULL,
	    .rest = NULL },
	{ .label = "fixed first",
	    .path = "/d/fixed",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"fixed",
	    .params = "",
	    .rest = NULL },
	{ .label = "fixed with slash",
	    .path = "/d/fixed/",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"fixed",
	    .params = "",
	    .rest = NULL },
	{ .label = "template behind",
	    .path = "/d/else",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"name",
	    .params = "name=else;",
	    .rest = NULL },
	{ .label = "template first",
	    .path = "/e/fixed",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"first",
	    .params = "name=fixed;",
	    .rest = NULL },
	{ .label = "method",
	    .path = "/m",
	    .method = "PUT",
	    .status = 0,
	    .data = (void *)"post",
	    .params = "",
	    .rest = NULL },
	{ .label = "other method",
	    .path = "/m",
	    .method = "DELETE",
	    .status = 405,
	    .data = NULL,
	    .params = NULL,
	    .rest = NULL },
	{ .label = "prefix itself",
	    .path = "/base",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"base",
	    .params = "",
	    .rest = "" },
	{ .label = "below a prefix",
	    .path = "/base/x/y",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"base",
	    .params = "",
	    .rest = "/x/y" },
	{ .label = "prefix is plain text",
	    .path = "/basement",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"base",
	    .params = "",
	    .rest = "ment" },
	{ .label = "longer prefix",
	    .path = "/base/long/x",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"long",
	    .params = "",
	    .rest = "/x" },
	{ .label = "exact within a prefix",
	    .path = "/base/exact",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"exact",
	    .params = "",
	    .rest = NULL },
	{ .label = "dot segments do not lead around",
	    .path = "/base/../admin",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"admin",
	    .params = "",
	    .rest = NULL },
	{ .label = "encoded dot segments",
	    .path = "/base/%2e%2E/admin",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"admin",
	    .params = "",
	    .rest = NULL },
	{ .label = "dots above the root",
	    .path = "/../../admin",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"admin",
	    .params = "",
	    .rest = NULL },
	{ .label = "single dots",
	    .path = "/./admin/.",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"admin",
	    .params = "",
	    .rest = NULL },
	{ .label = "encoded letters are the same path",
	    .path = "/%61dmin",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"admin",
	    .params = "",
	    .rest = NULL },
	{ .label = "blank in a path",
	    .path = "/a%20b",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"blank",
	    .params = "",
	    .rest = NULL },
	{ .label = "root",
	    .path = "/",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"root",
	    .params = "",
	    .rest = NULL },
	{ .label = "none",
	    .path = "/none",
	    .method = "GET",
	    .status = 404,
	    .data = NULL,
	    .params = NULL,
	    .rest = NULL },
	{ "consumes", "/j", "POST", 0, "json", "", NULL, "application/json; charset=utf-8", NULL },
	{ "other media type", "/j", "POST", 415, NULL, NULL, NULL, "text/plain", NULL },
	{ "no media type", "/j", "POST", 415, NULL, NULL, NULL, NULL, NULL },
	{ "accepted", "/j", "POST", 0, "json", "", NULL, "application/json",
	    "text/html, application/json;q=0.9" },
	{ "accepts a range", "/j", "POST", 0, "json", "", NULL, "application/json", "text/*" },
	{ "accepts all", "/j", "POST", 0, "json", "", NULL, "application/json", "*/*" },
	{ "accepts another", "/j", "POST", 406, NULL, NULL, NULL, "application/json", "text/html" },
	{ "refuses by q=0", "/j", "POST", 406, NULL, NULL, NULL, "application/json",
	    "application/json;q=0" },
	{ .label = "template with prefix",
	    .path = "/t/5/more",
	    .method = "GET",
	    .status = 0,
	    .data = (void *)"template",
	    .params = "x=5;",
	    .rest = "more" },
	{ .label = "star",
	    .path = "*",
	    .method = "OPTIONS",
	    .status = 404,
	    .data = NULL,
	    .params = NULL,
	    .rest = NULL },
};

static void
check_find(void **state)
{
	const struct find_row *r = *state;
	struct route_table rt;
	struct route_match m;
	struct arena a;
	struct hinny_error err;
	void *shadow;

	arena_init(&a);
	route_table_init(&rt);
	for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
		assert_int_equal(route_table_add(&rt, &specs[i], &shadow, &err), HINNY_OK);
	struct route_request rq = { .method = str_of(r->method),
		.path = str_of(r->path),
		.content_type = str_of(r->content_type),
		.accept = str_of(r->accept) };
	route_table_find(&rt, &a, &rq, &m);
	assert_int_equal(m.status, r->status);
	if (m.status == 405)
		assert_true(str_eq(m.allow, str_of("GET,POST, PUT")));
	if (m.status == 0) {
		char params[256] = "";
		assert_string_equal(m.data, r->data);
		for (unsigned i = 0; i < m.params_n; i++)
			sprintf(params + strlen(params), "%.*s=%.*s;", STR_FMT(m.params[i].name),
			    STR_FMT(m.params[i].value));
		assert_string_equal(params, r->params);
		if (r->rest != NULL)
			assert_true(str_eq(m.rest, str_of(r->rest)));
	}
	route_table_fini(&rt);
	arena_fini(&a);
}

static void
test_shadowed(void **state)
{
	static const struct route_spec first = { .path = "/a",
		.methods = "GET,POST",
		.data = (void *)"first" },
				       same = { .path = "/a", .methods = "POST" },
				       more = { .path = "/a" };
	struct route_table rt;
	struct hinny_error err;
	void *shadow;

	(void)state;
	route_table_init(&rt);
	assert_int_equal(route_table_add(&rt, &first, &shadow, &err), HINNY_OK);
	assert_null(shadow);
	assert_int_equal(route_table_add(&rt, &same, &shadow, &err), HINNY_OK);
	assert_string_equal(shadow, "first");
	assert_int_equal(route_table_add(&rt, &more, &shadow, &err), HINNY_OK);
	assert_null(shadow);
	route_table_fini(&rt);
}

/* ---- status lists ---- */

static void
test_status_lists(void **state)
{
	struct hinny_error err;

	(void)state;
	assert_true(http_status_in("200-299", 204));
	assert_false(http_status_in("200-299", 304));
	assert_true(http_status_in("200, 204,300-304", 304));
	assert_int_equal(http_status_check("200-299,304", &err), HINNY_OK);
	assert_int_equal(http_status_check("200-", &err), HINNY_EINVAL);
	assert_int_equal(http_status_check("x", &err), HINNY_EINVAL);
	assert_int_equal(http_status_check("299-200", &err), HINNY_EINVAL);
	assert_int_equal(http_status_check("", &err), HINNY_EINVAL);
}

int
main(void)
{
	UNIT_TABLE("chunked", chunks, check_chunked);
	UNIT_CASE(test_chunked_bounds);
	UNIT_CASE(test_chunked_head);
	UNIT_TABLE("uri", uris, check_uri);
	UNIT_TABLE("encode", encodings, check_encoding);
	UNIT_CASE(test_decode);
	UNIT_CASE(test_pairs);
	UNIT_TABLE("find", finds, check_find);
	UNIT_CASE(test_shadowed);
	UNIT_CASE(test_status_lists);
	return unit_run("http_parts");
}
