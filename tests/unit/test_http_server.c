/* transports/http: the server engine over socket pairs. */
#include "tests/unit/http_fixture.h"

#include <stdio.h>

/* ---- exchanges of texts ---- */

static const struct talk_row {
	const char *label, *say;
	const char *expect[4]; /* all of them, anywhere */
	const char *never;
	bool ends;   /* the connection is closed behind it */
	bool stream; /* the handler takes bodies as streams */
} talks[] = {
	{ .label = "GET",
	    .say = "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n", "\r\n\r\nempty" },
	    .never = "Connection:" },
	{ .label = "POST",
	    .say = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
	    .expect = { "\r\n\r\nabc" } },
	{ .label = "chunked",
	    .say = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
	           "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
	    .expect = { "Content-Length: 5\r\n", "\r\n\r\nabcde" } },
	{ .label = "chunked, streamed",
	    .say = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
	           "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
	    .expect = { "\r\n\r\nabcde" },
	    .stream = true },
	{ .label = "HEAD",
	    .say = "HEAD / HTTP/1.1\r\nHost: h\r\n\r\nGET /none HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "Content-Length: 5\r\n", "\r\n\r\nHTTP/1.1 404 Not Found" } },
	{ .label = "HTTP/1.0",
	    .say = "GET / HTTP/1.0\r\n\r\n",
	    .expect = { "HTTP/1.1 200", "Connection: close\r\n" },
	    .ends = true },
	{ .label = "HTTP/1.0 keep-alive",
	    .say = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	    .expect = { "Connection: keep-alive\r\n" } },
	{ .label = "close",
	    .say = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
	    .expect = { "Connection: close\r\n" },
	    .ends = true },
	{ .label = "no route",
	    .say = "GET /none HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "404 Not Found" } },
	{ .label = "no route, short body",
	    .say = "POST /none HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET / "
	           "HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "404 Not Found", "200 OK" } },
	{ .label = "bad request",
	    .say = "GET / HTTP/1.1\r\n\r\n",
	    .expect = { "400 Bad Request", "Connection: close" },
	    .ends = true },
	{ .label = "bad second request",
	    .say = "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "200 OK", "400 Bad Request" },
	    .ends = true },
	{ .label = "bare line feeds",
	    .say = "GET / HTTP/1.1\nHost: h\n\n",
	    .expect = { "400 Bad" },
	    .never = "200 OK",
	    .ends = true },
	{ .label = "bad chunk",
	    .say = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	    .expect = { "400 Bad" },
	    .ends = true },
	{ .label = "bad chunk, streamed",
	    .say =
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n",
	    .expect = { "400 Bad" },
	    .ends = true,
	    .stream = true },
	{ .label = "version",
	    .say = "GET / HTTP/3.0\r\nHost: h\r\n\r\n",
	    .expect = { "505 HTTP Version Not Supported" },
	    .ends = true },
	{ .label = "too large",
	    .say = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100001\r\n\r\n",
	    .expect = { "413 Payload Too Large" },
	    .ends = true },
	{ .label = "other expectation",
	    .say = "POST / HTTP/1.1\r\nHost: h\r\nExpect: x\r\nContent-Length: 1\r\n\r\n",
	    .expect = { "417 " },
	    .ends = true },
	{ .label = "empty line before",
	    .say = "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "200 OK" } },
	{ .label = "body without waiting for 100",
	    .say = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: "
	           "3\r\n\r\nabc",
	    .expect = { "\r\n\r\nabc" },
	    .never = "100 Continue" },
	{ .label = "HTTP/1.0 gets no 100",
	    .say =
		"POST / HTTP/1.0\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n",
	    .expect = { "" },
	    .never = "100 Continue" },
};

static void
talk(const struct talk_row *r, size_t piece)
{
	struct fixture f;
	size_t n = strlen(r->say);

	setup(&f);
	if (r->stream)
		f.want = HTTP_WANT_STREAM;
	for (size_t at = 0; at < n; at += piece) {
		say(&f, r->say + at, n - at < piece ? n - at : piece);
		loop_turn(&f.lp, 0);
	}
	for (int i = 0; i < 4 && r->expect[i] != NULL; i++)
		expect(&f, r->expect[i]);
	settle(&f);
	if (r->ends)
		expect(&f, NULL);
	else
		assert_false(f.got_end);
	if (r->never != NULL && piece > 1)
		assert_int_equal(count(&f, r->never), 0);
	teardown(&f);
}

static void
check_talk(void **state)
{
	talk(*state, 100000);
}

static void
check_talk_by_bytes(void **state)
{
	talk(*state, 1);
}

/* ---- server ---- */

static void
test_pipelined_answers_come_in_order(void **state)
{
	struct fixture f;
	char text[200];

	(void)state;
	setup(&f);
	for (int i = 0; i < 100; i++) {
		int n =
		    sprintf(text, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\nnumber%c",
			'A' + i % 26);
		say(&f, text, (size_t)n);
	}
	expect(&f, "numberV");
	while (count(&f, "HTTP/1.1 200") < 100)
		loop_turn(&f.lp, 10), take_output(&f);
	const char *at = buf_cstr(&f.got);
	for (int i = 0; i < 100; i++) {
		at = strstr(at, "number");
		assert_non_null(at);
		assert_int_equal(at[6], 'A' + i % 26);
		at++;
	}
	teardown(&f);
}

static void
test_continue_is_sent_before_the_body(void **state)
{
	struct fixture f;
	static const char head[] =
	    "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";

	(void)state;
	setup(&f);
	say(&f, head, sizeof head - 1);
	expect(&f, "HTTP/1.1 100 Continue\r\n\r\n");
	assert_string_equal(buf_cstr(&f.got), "HTTP/1.1 100 Continue\r\n\r\n");
	say(&f, "abc", 3);
	expect(&f, "\r\n\r\nabc");
	assert_int_equal(count(&f, "HTTP/1.1"), 2);
	teardown(&f);
}

static void
test_refused_before_continue_closes(void **state)
{
	struct fixture f;
	static const char head[] =
	    "POST /none HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";

	(void)state;
	setup(&f);
	say(&f, head, sizeof head - 1);
	expect(&f, "404 Not Found");
	expect(&f, NULL);
	assert_int_equal(count(&f, "100 Continue"), 0);
	teardown(&f);
}

static void
big_body(enum http_want want, size_t size, bool by_chunks)
{
	struct fixture f;
	char *body = mem_alloc(size), head[200];

	setup(&f);
	f.want = want;
	for (size_t i = 0; i < size; i++)
		body[i] = (char)('a' + i % 23);
	say(&f, head,
	    (size_t)sprintf(head, "POST / HTTP/1.1\r\nHost: h\r\n%s%zu\r\n\r\n",
		by_chunks ? "Transfer-Encoding: chunked\r\nX: " : "Content-Length: ", size));
	for (size_t at = 0; at < size;) {
		size_t n = size - at < 777 ? size - at : 777;
		if (by_chunks)
			say(&f, head, (size_t)sprintf(head, "%zx\r\n", n));
		say(&f, body + at, n);
		if (by_chunks)
			say(&f, "\r\n", 2);
		at += n;
	}
	if (by_chunks)
		say(&f, "0\r\n\r\n", 5);
	sprintf(head, "Content-Length: %zu\r\n\r\n", size);
	expect(&f, head);
	while (f.got.n < size + (size_t)(strstr(buf_cstr(&f.got), "\r\n\r\n") - f.got.p) + 4)
		loop_turn(&f.lp, 10), take_output(&f);
	assert_memory_equal(strstr(f.got.p, "\r\n\r\n") + 4, body, size);
	assert_int_equal(f.bodies, 1);
	teardown(&f);
	free(body);
}

static void
test_bodies_of_all_sizes(void **state)
{
	static const size_t sizes[] = { 1, 999, 1000, 1001, 3999, 4000, 4001, 16384, 70000, 99999 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		big_body(HTTP_WANT_WHOLE, sizes[i], false);
		big_body(HTTP_WANT_STREAM, sizes[i], false);
		big_body(HTTP_WANT_WHOLE, sizes[i], true);
		big_body(HTTP_WANT_STREAM, sizes[i], true);
	}
	big_body(HTTP_WANT_STREAM, 5000000, false);
	big_body(HTTP_WANT_STREAM, 5000000, true);
}

static void
test_large_heads(void **state)
{
	struct fixture f;
	char *text = mem_alloc(20000);
	int n = sprintf(text, "GET / HTTP/1.1\r\nHost: h\r\nX: ");

	(void)state;
	memset(text + n, 'v', 7000);
	memcpy(text + n + 7000, "\r\n\r\n", 5);
	setup(&f);
	say(&f, text, strlen(text));
	expect(&f, "200 OK");
	teardown(&f);
	memset(text + n, 'v', 9000);
	memcpy(text + n + 9000, "\r\n\r\n", 5);
	setup(&f);
	say(&f, text, strlen(text));
	expect(&f, "431 ");
	expect(&f, NULL);
	teardown(&f);
	n = sprintf(text, "GET /");
	memset(text + n, 'v', 9000);
	memcpy(text + n + 9000, " HTTP/1.1\r\n", 12);
	setup(&f);
	say(&f, text, strlen(text));
	expect(&f, "414 ");
	expect(&f, NULL);
	teardown(&f);
	free(text);
}

static void
test_slow_clients_are_told(void **state)
{
	struct fixture f;
	struct http_server_limits limits = default_limits;
	static const char half[] = "GET / HTTP/1.1\r\nHo",
			  body[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc";

	(void)state;
	limits.head_ms = limits.body_ms = limits.idle_ms = 50;
	setup_with(&f, &limits);
	say(&f, half, sizeof half - 1);
	expect(&f, "408 Request Timeout");
	expect(&f, NULL);
	teardown(&f);
	setup_with(&f, &limits);
	say(&f, body, sizeof body - 1);
	expect(&f, "408 Request Timeout");
	expect(&f, NULL);
	assert_int_equal(f.gones, 1);
	teardown(&f);
	setup_with(&f, &limits);
	expect(&f, NULL); /* idle: nothing is said */
	assert_int_equal(f.got.n, 0);
	teardown(&f);
}

static void
test_client_that_does_not_read_is_cut(void **state)
{
	struct fixture f;
	struct http_server_limits limits = default_limits;
	struct monotime deadline = monotime_add_ms(monotime_now(), DEADLINE_MS);
	static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

	(void)state;
	limits.write_ms = 50;
	setup_with(&f, &limits);
	fx->hold = true;
	say(&f, request, sizeof request - 1);
	while (f.held == NULL && monotime_now().ns < deadline.ns)
		loop_turn(&f.lp, 10);
	struct buf big;
	buf_init(&big, 0);
	buf_reserve(&big, 4 << 20);
	memset(big.p, 'x', 4 << 20);
	reply_text(f.held, (struct str){ big.p, 4 << 20 });
	f.held = NULL;
	buf_fini(&big);
	assert_int_equal(f.srv.conns_n, 1);
	while (f.srv.conns_n > 0 && monotime_now().ns < deadline.ns)
		loop_turn(&f.lp, 10);
	assert_int_equal(f.srv.conns_n, 0);
	assert_int_equal(f.srv.active_n, 0);
	teardown(&f);
}

static void
test_client_that_goes_away(void **state)
{
	struct fixture f;
	struct monotime deadline = monotime_add_ms(monotime_now(), DEADLINE_MS);
	static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
			  half[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc";

	(void)state;
	setup(&f); /* within its body */
	say(&f, half, sizeof half - 1);
	while (f.heads == 0)
		loop_turn(&f.lp, 10);
	shutdown(f.pair[0], SHUT_RDWR);
	while (f.gones == 0 && monotime_now().ns < deadline.ns)
		loop_turn(&f.lp, 10);
	assert_int_equal(f.gones, 1);
	teardown(&f);
	setup(&f); /* while its answer is awaited, half closed: it still gets it */
	f.hold = true;
	say(&f, request, sizeof request - 1);
	while (f.held == NULL)
		loop_turn(&f.lp, 10);
	shutdown(f.pair[0], SHUT_WR);
	settle(&f);
	reply_text(f.held, STR_LIT("late"));
	f.held = NULL;
	expect(&f, "late");
	expect(&f, NULL);
	teardown(&f);
	setup(&f); /* within a streamed body */
	f.want = HTTP_WANT_STREAM;
	say(&f, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nabc", 55);
	while (f.bodies == 0)
		loop_turn(&f.lp, 10);
	shutdown(f.pair[0], SHUT_RDWR);
	while (f.gones == 0 && monotime_now().ns < deadline.ns)
		loop_turn(&f.lp, 10);
	assert_int_equal(f.gones, 1);
	teardown(&f);
}

static void
test_drain(void **state)
{
	struct fixture f;
	static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

	(void)state;
	setup(&f);
	say(&f, request, sizeof request - 1);
	expect(&f, "empty");
	http_server_drain(&f.srv);
	settle(&f);
	assert_false(f.got_end); /* an idle connection is kept … */
	say(&f, request, sizeof request - 1);
	expect(&f, "Connection: close"); /* … until its next request */
	expect(&f, NULL);
	assert_int_equal(count(&f, "200 OK"), 2);
	teardown(&f);
	setup(&f);
	http_server_drain(&f.srv);
	http_server_close_idle(&f.srv);
	expect(&f, NULL);
	teardown(&f);
}

static void
test_drain_answers_what_is_pipelined(void **state)
{
	struct fixture f;
	static const char requests[] =
	    "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"
	    "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

	(void)state;
	setup(&f);
	f.hold = true;
	say(&f, requests, sizeof requests - 1);
	settle(&f);
	assert_non_null(f.held);
	http_server_drain(&f.srv);
	f.hold = false;
	reply_text(f.held, STR_LIT("first"));
	f.held = NULL;
	expect(&f, NULL);
	assert_int_equal(count(&f, "200 OK"), 3);
	assert_int_equal(count(&f, "Connection: close"), 1);
	teardown(&f);
}

static void
test_end_closes_what_becomes_idle(void **state)
{
	struct fixture f;
	static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

	(void)state;
	setup(&f);
	f.hold = true;
	say(&f, request, sizeof request - 1);
	settle(&f);
	http_reply_begin(f.held, 200, (struct str){ NULL, 0 });
	http_server_drain(&f.srv);
	http_server_close_idle(&f.srv);
	settle(&f);
	assert_false(f.got_end);
	http_reply_end(f.held, STR_LIT("late"), NULL);
	http_request_done(f.held);
	f.held = NULL;
	expect(&f, "late");
	expect(&f, NULL);
	teardown(&f);
}

int
main(void)
{
	UNIT_TABLE("talk", talks, check_talk);
	UNIT_TABLE("talk by bytes", talks, check_talk_by_bytes);
	UNIT_CASE(test_pipelined_answers_come_in_order);
	UNIT_CASE(test_continue_is_sent_before_the_body);
	UNIT_CASE(test_refused_before_continue_closes);
	UNIT_CASE(test_bodies_of_all_sizes);
	UNIT_CASE(test_large_heads);
	UNIT_CASE(test_slow_clients_are_told);
	UNIT_CASE(test_client_that_does_not_read_is_cut);
	UNIT_CASE(test_client_that_goes_away);
	UNIT_CASE(test_drain);
	UNIT_CASE(test_drain_answers_what_is_pipelined);
	UNIT_CASE(test_end_closes_what_becomes_idle);
	return unit_run("http_server");
}
