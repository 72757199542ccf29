/*
 * transports/http: the server and the client engine in one loop, with a handler that echoes, over socket pairs and the loopback address. Every wait is for an event, with
 * a deadline.
 */
#include "transports/http/client.h"
#include "transports/http/server.h"

#include "core/base/mem.h"
#include "tests/lib/unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEADLINE_MS = 10000 };

/* ---- a handler that answers with what it got ---- */

struct fixture {
	struct loop lp;
	struct http_io io;
	struct http_server srv;
	struct http_client cl;
	int pair[2];      /* [0]: ours */
	struct buf got;   /* what came out of ours */
	bool got_end;
	/* how the handler behaves */
	enum http_want want;
	bool hold;        /* does not answer by itself */
	struct http_request *held;
	unsigned heads, bodies, gones;
	bool fail_stream; /* the answer breaks off in the middle */
};

struct echo {
	struct fixture *f;
	struct http_request *rq;
	struct stream_sink sink;
	struct buf text;
};

static struct fixture *fx;

static void
echo_data(struct stream_sink *sink, struct str bytes, struct blob *blob)
{
	struct echo *e = CONTAINER_OF(sink, struct echo, sink);

	(void)blob;
	buf_add(&e->text, bytes.p, bytes.n);
}

static void
reply_text(struct http_request *rq, struct str text)
{
	http_reply_begin(rq, 200, (struct str){ NULL, 0 });
	http_reply_header(rq, STR_LIT("X-Handler"), STR_LIT("echo"));
	http_reply_end(rq, text, NULL);
	http_request_done(rq);
}

static void
echo_end(struct stream_sink *sink)
{
	struct echo *e = CONTAINER_OF(sink, struct echo, sink);

	reply_text(e->rq, (struct str){ e->text.p, e->text.n });
	buf_fini(&e->text);
	free(e);
}

static void
echo_fail(struct stream_sink *sink, const struct hinny_error *err)
{
	struct echo *e = CONTAINER_OF(sink, struct echo, sink);

	(void)err;
	e->f->gones++;
	http_request_done(e->rq);
	buf_fini(&e->text);
	free(e);
}

static enum http_want
handler_head(struct http_request *rq, const struct http_head *h, struct blob *blob)
{
	(void)blob;
	fx->heads++;
	if (str_eq(h->path, STR_LIT("/none"))) {
		http_reply_plain(rq, 404, "text/plain", "none");
		return HTTP_WANT_NOTHING;
	}
	rq->owner = fx;
	return fx->want;
}

static void
handler_body(struct http_request *rq, struct str bytes, struct blob *blob, struct stream *s)
{
	(void)blob;
	fx->bodies++;
	if (fx->hold) {
		fx->held = rq;
		if (s != NULL)
			stream_cancel(s);
		return;
	}
	if (s == NULL) {
		reply_text(rq, bytes.n > 0 ? bytes : STR_LIT("empty"));
		return;
	}
	struct echo *e = MEM_NEW(struct echo);
	e->f = fx;
	e->rq = rq;
	e->sink = (struct stream_sink){ .data = echo_data, .end = echo_end, .fail = echo_fail };
	buf_init(&e->text, 0);
	stream_attach(s, &e->sink);
}

static void
handler_gone(struct http_request *rq)
{
	(void)rq;
	fx->gones++;
}

static const struct http_server_ops handler = { .head = handler_head, .body = handler_body, .gone = handler_gone };

static const struct http_server_limits default_limits = {
	.max_head = 8192,
	.buffered_body = 1000,
	.kept_body = 4000,
	.max_body = 100000,
	.head_ms = 5000,
	.body_ms = 5000,
	.idle_ms = 5000,
	.write_ms = 5000,
};

static void
setup_with(struct fixture *f, const struct http_server_limits *limits)
{
	struct hinny_error err;

	memset(f, 0, sizeof *f);
	fx = f;
	f->want = HTTP_WANT_WHOLE;
	assert_int_equal(loop_init(&f->lp, &err), HINNY_OK);
	http_io_init(&f->io, &f->lp);
	http_server_init(&f->srv, &f->io, &handler, f, limits);
	http_client_init(&f->cl, &f->io, 4, 5000, 8192, 1000);
	buf_init(&f->got, 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, f->pair), 0);
	assert_int_equal(http_server_adopt(&f->srv, f->pair[1], &err), HINNY_OK);
}

static void
setup(struct fixture *f)
{
	setup_with(f, &default_limits);
}

static void
teardown(struct fixture *f)
{
	http_client_close(&f->cl);
	http_server_close(&f->srv);
	if (f->held != NULL)
		http_request_done(f->held);
	loop_turn(&f->lp, 0);
	http_client_fini(&f->cl);
	http_server_fini(&f->srv);
	http_io_fini(&f->io);
	close(f->pair[0]);
	loop_fini(&f->lp);
	buf_fini(&f->got);
}

static void
take_output(struct fixture *f)
{
	char tmp[65536];

	for (;;) {
		ssize_t n = recv(f->pair[0], tmp, sizeof tmp, 0);
		if (n > 0) {
			buf_add(&f->got, tmp, (size_t)n);
			continue;
		}
		if (n == 0)
			f->got_end = true;
		return;
	}
}

static void
say(struct fixture *f, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t put = send(f->pair[0], text, n, MSG_NOSIGNAL);
		if (put <= 0) {
			loop_turn(&f->lp, 10);
			take_output(f);
			if (f->got_end)
				return;
			continue;
		}
		text += put;
		n -= (size_t)put;
	}
}

/* Turns until the output contains `text` (NULL: until the end). */
static void
expect(struct fixture *f, const char *text)
{
	struct monotime deadline = monotime_add_ms(monotime_now(), DEADLINE_MS);

	for (;;) {
		take_output(f);
		const char *all = buf_cstr(&f->got);
		if (text != NULL ? strstr(all, text) != NULL : f->got_end)
			return;
		if (monotime_now().ns > deadline.ns)
			fail_msg("no \"%s\" in \"%s\"", text != NULL ? text : "(end)", all);
		loop_turn(&f->lp, 20);
	}
}

static void
settle(struct fixture *f)
{
	for (int i = 0; i < 10; i++)
		loop_turn(&f->lp, 0);
	take_output(f);
}

static unsigned
count(struct fixture *f, const char *text)
{
	const char *at = buf_cstr(&f->got);
	unsigned n = 0;

	while ((at = strstr(at, text)) != NULL) {
		n++;
		at++;
	}
	return n;
}

/* ---- exchanges of texts ---- */

static const struct talk_row {
	const char *label, *say;
	const char *expect[4]; /* all of them, anywhere */
	const char *never;
	bool ends;             /* the connection is closed behind it */
	bool stream;           /* the handler takes bodies as streams */
} talks[] = {
	{ .label = "GET", .say = "GET / HTTP/1.1\r\nHost: h\r\n\r\n", .expect = { "HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n", "\r\n\r\nempty" },
	    .never = "Connection:" },
	{ .label = "POST", .say = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", .expect = { "\r\n\r\nabc" } },
	{ .label = "chunked", .say = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
	    .expect = { "Content-Length: 5\r\n", "\r\n\r\nabcde" } },
	{ .label = "chunked, streamed", .say = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
	    .expect = { "\r\n\r\nabcde" }, .stream = true },
	{ .label = "HEAD", .say = "HEAD / HTTP/1.1\r\nHost: h\r\n\r\nGET /none HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "Content-Length: 5\r\n", "\r\n\r\nHTTP/1.1 404 Not Found" } },
	{ .label = "HTTP/1.0", .say = "GET / HTTP/1.0\r\n\r\n", .expect = { "HTTP/1.1 200", "Connection: close\r\n" }, .ends = true },
	{ .label = "HTTP/1.0 keep-alive", .say = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", .expect = { "Connection: keep-alive\r\n" } },
	{ .label = "close", .say = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", .expect = { "Connection: close\r\n" }, .ends = true },
	{ .label = "no route", .say = "GET /none HTTP/1.1\r\nHost: h\r\n\r\n", .expect = { "404 Not Found" } },
	{ .label = "no route, short body", .say = "POST /none HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "404 Not Found", "200 OK" } },
	{ .label = "bad request", .say = "GET / HTTP/1.1\r\n\r\n", .expect = { "400 Bad Request", "Connection: close" }, .ends = true },
	{ .label = "bad second request", .say = "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
	    .expect = { "200 OK", "400 Bad Request" }, .ends = true },
	{ .label = "bare line feeds", .say = "GET / HTTP/1.1\nHost: h\n\n", .expect = { "400 Bad" }, .never = "200 OK", .ends = true },
	{ .label = "bad chunk", .say = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .expect = { "400 Bad" }, .ends = true },
	{ .label = "bad chunk, streamed", .say = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz\r\n",
	    .expect = { "400 Bad" }, .ends = true, .stream = true },
	{ .label = "version", .say = "GET / HTTP/3.0\r\nHost: h\r\n\r\n", .expect = { "505 HTTP Version Not Supported" }, .ends = true },
	{ .label = "too large", .say = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100001\r\n\r\n", .expect = { "413 Payload Too Large" }, .ends = true },
	{ .label = "other expectation", .say = "POST / HTTP/1.1\r\nHost: h\r\nExpect: x\r\nContent-Length: 1\r\n\r\n", .expect = { "417 " }, .ends = true },
	{ .label = "empty line before", .say = "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", .expect = { "200 OK" } },
	{ .label = "body without waiting for 100", .say = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
	    .expect = { "\r\n\r\nabc" }, .never = "100 Continue" },
	{ .label = "HTTP/1.0 gets no 100", .say = "POST / HTTP/1.0\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", .expect = { "" },
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
		int n = sprintf(text, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\nnumber%c", 'A' + i % 26);
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
	static const char head[] = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";

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
	static const char head[] = "POST /none HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";

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
	    (size_t)sprintf(head, "POST / HTTP/1.1\r\nHost: h\r\n%s%zu\r\n\r\n", by_chunks ? "Transfer-Encoding: chunked\r\nX: " : "Content-Length: ", size));
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
	static const char half[] = "GET / HTTP/1.1\r\nHo", body[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc";

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
	static const char request[] = "GET / HTTP/1.1\r\nHost: h\r\n\r\n", half[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc";

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

/* ---- client against a peer that this test plays ---- */

struct peer {
	int listener, fd;
	uint16_t port;
	struct buf got;
};

struct one_call {
	struct http_call call;
	struct arena arena;
	struct timeout_queue *q;
	bool over, ok, cut;
	enum http_failure why;
	int status;
	struct buf body;
	struct stream_sink sink;
	/* a request body that streams */
	struct stream source;
	size_t source_left, source_sent;
	bool cancelled;
};

static void
peer_open(struct peer *p)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof sin;

	p->fd = -1;
	buf_init(&p->got, 0);
	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(p->listener, (struct sockaddr *)&sin, sizeof sin), 0);
	assert_int_equal(listen(p->listener, 8), 0);
	assert_int_equal(getsockname(p->listener, (struct sockaddr *)&sin, &n), 0);
	p->port = ntohs(sin.sin_port);
}

static void
peer_close(struct peer *p)
{
	if (p->fd != -1)
		close(p->fd);
	close(p->listener);
	buf_fini(&p->got);
}

/* Turns the loop until the peer has a connection and read a text. */
static void
peer_expect(struct fixture *f, struct peer *p, const char *text)
{
	struct monotime deadline = monotime_add_ms(monotime_now(), DEADLINE_MS);
	char tmp[65536];

	while (strstr(buf_cstr(&p->got), text) == NULL) {
		if (monotime_now().ns > deadline.ns)
			fail_msg("the peer got \"%s\", not \"%s\"", buf_cstr(&p->got), text);
		loop_turn(&f->lp, 5);
		if (p->fd == -1)
			p->fd = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		ssize_t n = p->fd != -1 ? recv(p->fd, tmp, sizeof tmp, 0) : 0;
		if (n > 0)
			buf_add(&p->got, tmp, (size_t)n);
	}
}

static void
peer_say(struct peer *p, const char *text)
{
	assert_int_equal(send(p->fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static void
peer_hang_up(struct peer *p)
{
	close(p->fd);
	p->fd = -1;
	buf_clear(&p->got);
}

static void
sink_data(struct stream_sink *sink, struct str bytes, struct blob *blob)
{
	(void)blob;
	buf_add(&CONTAINER_OF(sink, struct one_call, sink)->body, bytes.p, bytes.n);
}

static void
sink_end(struct stream_sink *sink)
{
	CONTAINER_OF(sink, struct one_call, sink)->ok = true;
}

static void
sink_fail(struct stream_sink *sink, const struct hinny_error *err)
{
	(void)err;
	CONTAINER_OF(sink, struct one_call, sink)->cut = true;
}

static void
call_answer(struct http_call *call, const struct http_head *h, struct blob *head_blob, struct str bytes, struct blob *blob, struct stream *s)
{
	struct one_call *c = CONTAINER_OF(call, struct one_call, call);

	(void)head_blob;
	(void)blob;
	c->status = h->status;
	if (s == NULL) {
		buf_add(&c->body, bytes.p, bytes.n);
		c->ok = true;
		return;
	}
	c->sink = (struct stream_sink){ .data = sink_data, .end = sink_end, .fail = sink_fail };
	stream_attach(s, &c->sink);
}

static void
call_failed(struct http_call *call, enum http_failure why, const char *text)
{
	struct one_call *c = CONTAINER_OF(call, struct one_call, call);

	(void)text;
	c->cut = true;
	c->why = why;
}

static void
call_is_over(struct http_call *call)
{
	struct one_call *c = CONTAINER_OF(call, struct one_call, call);

	assert_false(c->over);
	c->over = true;
	http_origin_put(call->origin);
}

static const struct http_call_ops call_ops = { .answer = call_answer, .failed = call_failed, .over = call_is_over };

static void
call_begin(struct fixture *f, struct one_call *c, uint16_t port, const char *head, bool idempotent)
{
	memset(c, 0, sizeof *c);
	buf_init(&c->body, 0);
	struct timeout_queue *q = timeouts_queue(&f->io.timeouts, 1000);
	c->call = (struct http_call){ .ops = &call_ops, .cl = &f->cl, .origin = http_origin_get(&f->cl, STR_LIT("127.0.0.1"), port), .head = str_of(head),
		.idempotent = idempotent, .q_connect = q, .q_wait = q, .q_answer = q, .q_idle = q, .kept_body = 4000 };
}

static void
call_end(struct fixture *f, struct one_call *c)
{
	struct monotime deadline = monotime_add_ms(monotime_now(), DEADLINE_MS);

	while (!c->over && monotime_now().ns < deadline.ns)
		loop_turn(&f->lp, 10);
	assert_true(c->over);
	(void)buf_cstr(&c->body);
}

#define GET "GET /x HTTP/1.1\r\nHost: p\r\n\r\n"
#define POST "POST /x HTTP/1.1\r\nHost: p\r\nContent-Length: 0\r\n\r\n"

static const struct answer_row {
	const char *label, *say;
	bool hang_up;
	bool ok;
	enum http_failure why; /* when not ok and no status */
	int status;            /* 0: it failed before the answer */
	const char *body;
	bool kept;             /* the connection can be used again */
} answers[] = {
	{ "length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", false, true, 0, 200, "abc", true },
	{ "no body", "HTTP/1.1 204 No Content\r\n\r\n", false, true, 0, 204, "", true },
	{ "304 with a coding", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", false, true, 0, 304, "", true },
	{ "chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", false, true, 0, 200, "abc", true },
	{ "until the end", "HTTP/1.1 200 OK\r\n\r\nabc", true, true, 0, 200, "abc", false },
	{ "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", false, true, 0, 200, "abc", false },
	{ "close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", false, true, 0, 200, "abc", false },
	{ "interim answers", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nz", false, true, 0, 200, "z",
	    true },
	{ "too much", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", false, true, 0, 200, "abc", false },
	{ "short length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true, false, HTTP_FAIL_CUT, 0, NULL, false },
	{ "short stream", "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nabc", true, false, 0, 200, NULL, false },
	{ "short chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", true, false, 0, 200, NULL, false },
	{ "no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true, false, 0, 200, NULL, false },
	{ "wrong chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", false, false, HTTP_FAIL_PROTOCOL, 0, NULL, false },
	{ "half a head", "HTTP/1.1 200 OK\r\nConte", true, false, HTTP_FAIL_CUT, 0, NULL, false },
	{ "nothing", "", true, false, HTTP_FAIL_NO_ANSWER, 0, NULL, false },
	{ "no HTTP", "SSH-2.0-x\r\n\r\n", false, false, HTTP_FAIL_PROTOCOL, 0, NULL, false },
	{ "length and coding", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, false, HTTP_FAIL_PROTOCOL, 0, NULL,
	    false },
	{ "another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", false, false, HTTP_FAIL_PROTOCOL, 0, NULL, false },
	{ "silence", "", false, false, HTTP_FAIL_TIMEOUT, 0, NULL, false },
};

static void
check_answer(void **state)
{
	const struct answer_row *r = *state;
	struct fixture f;
	struct peer p;
	struct one_call c;

	setup(&f);
	peer_open(&p);
	call_begin(&f, &c, p.port, GET, true);
	http_call_start(&c.call);
	peer_expect(&f, &p, GET);
	peer_say(&p, r->say);
	if (r->hang_up)
		peer_hang_up(&p);
	call_end(&f, &c);
	assert_int_equal(c.ok, r->ok);
	assert_int_equal(c.status, r->status);
	if (!r->ok)
		assert_true(c.cut);
	if (!r->ok && r->status == 0)
		assert_int_equal(c.why, r->why);
	if (r->ok)
		assert_string_equal(buf_cstr(&c.body), r->body);
	assert_int_equal(f.cl.conns_n, r->kept ? 1 : 0);
	buf_fini(&c.body);
	peer_close(&p);
	teardown(&f);
}

/* A first call that leaves a kept connection. */
static void
warm_up(struct fixture *f, struct peer *p, const char *more)
{
	struct one_call c;
	char text[200];

	call_begin(f, &c, p->port, GET, true);
	http_call_start(&c.call);
	peer_expect(f, p, GET);
	sprintf(text, "HTTP/1.1 200 OK\r\n%sContent-Length: 1\r\n\r\n1", more);
	peer_say(p, text);
	call_end(f, &c);
	assert_true(c.ok);
	assert_int_equal(f->cl.conns_n, 1);
	buf_fini(&c.body);
	buf_clear(&p->got);
}

static void
test_kept_connection_is_used_again(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	(void)state;
	setup(&f);
	peer_open(&p);
	warm_up(&f, &p, "");
	call_begin(&f, &c, p.port, POST, false);
	http_call_start(&c.call);
	peer_expect(&f, &p, POST);
	peer_say(&p, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
	call_end(&f, &c);
	assert_true(c.ok);
	assert_int_equal(f.cl.conns_n, 1);
	buf_fini(&c.body);
	peer_close(&p);
	teardown(&f);
}

/* The peer closes the idle connection; the loop turns or (blind) does not before the next request. */
static void
stale(const char *head, bool idempotent, bool blind)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	setup(&f);
	peer_open(&p);
	warm_up(&f, &p, "");
	peer_hang_up(&p);
	if (!blind)
		settle(&f);
	call_begin(&f, &c, p.port, head, idempotent);
	http_call_start(&c.call);
	peer_expect(&f, &p, head);
	peer_say(&p, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
	call_end(&f, &c);
	assert_true(c.ok);
	assert_int_equal(count(&f, "x"), 0);
	buf_fini(&c.body);
	peer_close(&p);
	teardown(&f);
}

static void
test_stale_connection(void **state)
{
	(void)state;
	stale(GET, true, false);
	stale(POST, false, false);
	stale(GET, true, true);
	stale(POST, false, true); /* the peer's TCP has taken nothing: it may be sent again */
}

static void
test_post_that_may_have_been_acted_upon_is_not_repeated(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	(void)state;
	setup(&f);
	peer_open(&p);
	warm_up(&f, &p, "");
	call_begin(&f, &c, p.port, POST, false);
	http_call_start(&c.call);
	peer_expect(&f, &p, POST); /* it was read: it may have been acted upon */
	peer_hang_up(&p);
	call_end(&f, &c);
	assert_true(c.cut);
	assert_int_equal(c.why, HTTP_FAIL_NO_ANSWER);
	settle(&f);
	assert_int_equal(accept4(p.listener, NULL, NULL, 0), -1);
	buf_fini(&c.body);
	/* A GET is. */
	warm_up(&f, &p, "");
	call_begin(&f, &c, p.port, GET, true);
	http_call_start(&c.call);
	peer_expect(&f, &p, GET);
	peer_hang_up(&p);
	peer_expect(&f, &p, GET);
	peer_hang_up(&p); /* but not a third time */
	call_end(&f, &c);
	assert_int_equal(c.why, HTTP_FAIL_NO_ANSWER);
	buf_fini(&c.body);
	/* Nor when a byte of the answer has come. */
	warm_up(&f, &p, "");
	call_begin(&f, &c, p.port, GET, true);
	http_call_start(&c.call);
	peer_expect(&f, &p, GET);
	peer_say(&p, "H");
	peer_hang_up(&p);
	call_end(&f, &c);
	assert_int_equal(c.why, HTTP_FAIL_CUT);
	buf_fini(&c.body);
	peer_close(&p);
	teardown(&f);
}

static void
test_keep_alive_timeout_is_honoured(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	(void)state;
	setup(&f);
	peer_open(&p);
	warm_up(&f, &p, "Keep-Alive: timeout=0\r\n");
	int first = p.fd;
	p.fd = -1;
	call_begin(&f, &c, p.port, GET, true);
	http_call_start(&c.call);
	peer_expect(&f, &p, GET); /* over a new connection */
	peer_say(&p, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
	call_end(&f, &c);
	assert_true(c.ok);
	close(first);
	buf_fini(&c.body);
	peer_close(&p);
	teardown(&f);
}

static void
test_refused_connection(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	(void)state;
	setup(&f);
	peer_open(&p);
	close(p.listener);
	call_begin(&f, &c, p.port, GET, true);
	http_call_start(&c.call);
	call_end(&f, &c);
	assert_int_equal(c.why, HTTP_FAIL_REFUSED);
	buf_fini(&c.body);
	buf_fini(&p.got);
	teardown(&f);
}

static void
test_names_are_looked_up(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	(void)state;
	setup(&f);
	peer_open(&p);
	call_begin(&f, &c, p.port, GET, true);
	http_origin_put(c.call.origin);
	c.call.origin = http_origin_get(&f.cl, STR_LIT("LOCALHOST"), p.port);
	http_call_start(&c.call);
	peer_expect(&f, &p, GET);
	peer_say(&p, "HTTP/1.1 204 x\r\n\r\n");
	call_end(&f, &c);
	assert_true(c.ok);
	buf_fini(&c.body);
	call_begin(&f, &c, p.port, GET, true);
	http_origin_put(c.call.origin);
	c.call.origin = http_origin_get(&f.cl, STR_LIT("no-such-host.invalid"), p.port);
	http_call_start(&c.call);
	call_end(&f, &c);
	assert_int_equal(c.why, HTTP_FAIL_UNKNOWN_HOST);
	buf_fini(&c.body);
	peer_close(&p);
	teardown(&f);
}

static void
test_pool_is_bounded(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c[7];
	int fds[7], n = 0;
	struct monotime deadline = monotime_add_ms(monotime_now(), DEADLINE_MS);

	(void)state;
	setup(&f);
	peer_open(&p);
	for (int i = 0; i < 7; i++) {
		call_begin(&f, &c[i], p.port, GET, true);
		http_call_start(&c[i].call);
	}
	while (n < 4 && monotime_now().ns < deadline.ns) {
		loop_turn(&f.lp, 5);
		int fd = accept4(p.listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd != -1)
			fds[n++] = fd;
	}
	settle(&f);
	assert_int_equal(f.cl.conns_n, 4);
	assert_int_equal(accept4(p.listener, NULL, NULL, 0), -1);
	/* The first answers; its connection serves one that waited. Another closes; a new connection does. The last one waits in vain. */
	assert_int_equal(send(fds[0], "HTTP/1.1 204 x\r\n\r\n", 18, 0), 18);
	call_end(&f, &c[0]);
	assert_int_equal(send(fds[1], "HTTP/1.1 204 x\r\nConnection: close\r\n\r\n", 37, 0), 37);
	call_end(&f, &c[1]);
	assert_int_equal(f.cl.conns_n, 4);
	call_end(&f, &c[6]);
	assert_int_equal(c[6].why, HTTP_FAIL_POOL_TIMEOUT);
	for (int i = 2; i < 6; i++)
		call_end(&f, &c[i]);
	for (int i = 0; i < 7; i++)
		buf_fini(&c[i].body);
	for (int i = 0; i < n; i++)
		close(fds[i]);
	peer_close(&p);
	teardown(&f);
}

/* ---- request bodies that stream ---- */

static void
source_pump(struct one_call *c)
{
	char piece[1000];

	memset(piece, 'z', sizeof piece);
	while (c->source_left > 0 && c->source.sink != NULL && !c->source.paused && !c->cancelled) {
		size_t n = c->source_left < sizeof piece ? c->source_left : sizeof piece;
		c->source_left -= n;
		c->source_sent += n;
		c->source.sink->data(c->source.sink, (struct str){ piece, n }, NULL);
	}
	if (c->source_left == 0 && c->source.sink != NULL && !c->source.paused && !c->cancelled) {
		struct stream_sink *sink = c->source.sink;
		c->source.sink = NULL;
		sink->end(sink);
	}
}

static void
source_go(struct stream *s)
{
	source_pump(CONTAINER_OF(s, struct one_call, source));
}

static void
source_nothing(struct stream *s)
{
	(void)s;
}

static void
source_cancel(struct stream *s)
{
	CONTAINER_OF(s, struct one_call, source)->cancelled = true;
}

static const struct stream_ops source_ops = { .attach = source_go, .pause = source_nothing, .resume = source_go, .cancel = source_cancel };

#define PUT_HEAD "PUT /x HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n"

static void
stream_begin(struct fixture *f, struct one_call *c, uint16_t port, size_t n)
{
	call_begin(f, c, port, PUT_HEAD, true);
	c->source = (struct stream){ .ops = &source_ops, .length = -1 };
	c->source_left = n;
	c->call.stream = &c->source;
	http_call_start(&c->call);
}

static void
test_streamed_body_waits_for_a_slow_peer(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	(void)state;
	setup(&f);
	peer_open(&p);
	stream_begin(&f, &c, p.port, 100 << 20);
	peer_expect(&f, &p, PUT_HEAD);
	settle(&f);
	assert_true(c.source_sent < 32 << 20); /* what socket buffers take, and no more */
	peer_say(&p, "HTTP/1.1 413 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	call_end(&f, &c);
	assert_int_equal(c.status, 413);
	assert_true(c.cancelled);
	buf_fini(&c.body);
	peer_close(&p);
	teardown(&f);
}

static void
test_streamed_body_is_sent_again(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	(void)state;
	setup(&f);
	peer_open(&p);
	warm_up(&f, &p, "");
	peer_hang_up(&p);
	stream_begin(&f, &c, p.port, 10000);
	peer_expect(&f, &p, "0\r\n\r\n");
	assert_int_equal(p.got.n, sizeof PUT_HEAD - 1 + 10 * (5 + 1000 + 2) + 5);
	peer_say(&p, "HTTP/1.1 204 x\r\n\r\n");
	call_end(&f, &c);
	assert_true(c.ok);
	buf_fini(&c.body);
	peer_close(&p);
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
	UNIT_TABLE("answer", answers, check_answer);
	UNIT_CASE(test_kept_connection_is_used_again);
	UNIT_CASE(test_stale_connection);
	UNIT_CASE(test_post_that_may_have_been_acted_upon_is_not_repeated);
	UNIT_CASE(test_keep_alive_timeout_is_honoured);
	UNIT_CASE(test_refused_connection);
	UNIT_CASE(test_names_are_looked_up);
	UNIT_CASE(test_pool_is_bounded);
	UNIT_CASE(test_streamed_body_waits_for_a_slow_peer);
	UNIT_CASE(test_streamed_body_is_sent_again);
	return unit_run("http_engine");
}
