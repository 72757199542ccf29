/* transports/http: the client engine against a peer that the test plays. */
#include "tests/unit/http_fixture.h"

#include <arpa/inet.h>
#include <stdio.h>

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
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
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
call_answer(struct http_call *call, const struct http_head *h, struct blob *head_blob,
    struct str bytes, struct blob *blob, struct stream *s)
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

static const struct http_call_ops call_ops = {
	.answer = call_answer, .failed = call_failed, .over = call_is_over
};

static void
call_begin(struct fixture *f, struct one_call *c, uint16_t port, const char *head, bool idempotent)
{
	memset(c, 0, sizeof *c);
	buf_init(&c->body, 0);
	struct timeout_queue *q = timeouts_queue(&f->io.timeouts, 1000);
	c->call = (struct http_call){ .ops = &call_ops,
		.cl = &f->cl,
		.origin = http_origin_get(&f->cl, STR_LIT("127.0.0.1"), port),
		.head = str_of(head),
		.idempotent = idempotent,
		.q_connect = q,
		.q_wait = q,
		.q_answer = q,
		.q_idle = q,
		.kept_body = 4000 };
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
	bool kept; /* the connection can be used again */
} answers[] = {
	{ "length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", false, true, 0, 200, "abc",
	    true },
	{ "no body", "HTTP/1.1 204 No Content\r\n\r\n", false, true, 0, 204, "", true },
	{ "304 with a coding", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
	    false, true, 0, 304, "", true },
	{ "chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	    false, true, 0, 200, "abc", true },
	{ "until the end", "HTTP/1.1 200 OK\r\n\r\nabc", true, true, 0, 200, "abc", false },
	{ "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", false, true, 0, 200, "abc",
	    false },
	{ "close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", false,
	    true, 0, 200, "abc", false },
	{ "interim answers",
	    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
	    "1\r\n\r\nz",
	    false, true, 0, 200, "z", true },
	{ "too much", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", false, true, 0, 200,
	    "abc", false },
	{ "short length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true, false,
	    HTTP_FAIL_CUT, 0, NULL, false },
	{ "short stream", "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nabc", true, false, 0,
	    200, NULL, false },
	{ "short chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", true,
	    false, 0, 200, NULL, false },
	{ "no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	    true, false, 0, 200, NULL, false },
	{ "wrong chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", false,
	    false, HTTP_FAIL_PROTOCOL, 0, NULL, false },
	{ "half a head", "HTTP/1.1 200 OK\r\nConte", true, false, HTTP_FAIL_CUT, 0, NULL, false },
	{ "nothing", "", true, false, HTTP_FAIL_NO_ANSWER, 0, NULL, false },
	{ "no HTTP", "SSH-2.0-x\r\n\r\n", false, false, HTTP_FAIL_PROTOCOL, 0, NULL, false },
	{ "length and coding",
	    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	    false, false, HTTP_FAIL_PROTOCOL, 0, NULL, false },
	{ "another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", false, false,
	    HTTP_FAIL_PROTOCOL, 0, NULL, false },
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

/* The peer closes the idle connection; the loop turns or (blind) does not before the next request.
 */
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
	/* The first answers; its connection serves one that waited. Another closes; a new
	 * connection does. The last one waits in vain. */
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

static const struct stream_ops source_ops = {
	.attach = source_go, .pause = source_nothing, .resume = source_go, .cancel = source_cancel
};

/* One that gives nothing by itself. */
static const struct stream_ops held_source_ops = {
	.attach = source_nothing,
	.pause = source_nothing,
	.resume = source_nothing,
	.cancel = source_cancel,
};

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

/* A source that pauses is not the peer's fault; a peer that stays silent afterwards is. */
static void
test_slow_source_is_not_the_peers_fault(void **state)
{
	struct fixture f;
	struct peer p;
	struct one_call c;

	(void)state;
	setup(&f);
	peer_open(&p);
	call_begin(&f, &c, p.port, PUT_HEAD, true);
	c.call.q_answer = timeouts_queue(&f.io.timeouts, 50);
	c.source = (struct stream){ .ops = &held_source_ops, .length = -1 };
	c.call.stream = &c.source;
	http_call_start(&c.call);
	peer_expect(&f, &p, PUT_HEAD);
	struct monotime until = monotime_add_ms(monotime_now(), 300);
	while (monotime_now().ns < until.ns)
		loop_turn(&f.lp, 20);
	assert_false(c.over);
	c.source_left = 10;
	source_pump(&c);
	peer_expect(&f, &p, "0\r\n\r\n");
	call_end(&f, &c);
	assert_int_equal(c.why, HTTP_FAIL_TIMEOUT);
	buf_fini(&c.body);
	peer_close(&p);
	teardown(&f);
}

int
main(void)
{
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
	UNIT_CASE(test_slow_source_is_not_the_peers_fault);
	return unit_run("http_client");
}
