/*
 * What the tests of the HTTP engine share: a loop with a server, whose handler echoes, at one end
 * of a socket pair, and a client. Every wait is for an event, with a deadline.
 */
#ifndef HINNY_TESTS_UNIT_HTTP_FIXTURE_H
#define HINNY_TESTS_UNIT_HTTP_FIXTURE_H

#include "transports/http/client.h"
#include "transports/http/server.h"

#include "core/base/mem.h"
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define UNUSED_OK __attribute__((unused)) /* not every program calls all of them */

enum { DEADLINE_MS = 10000 };

/* ---- a handler that answers with what it got ---- */

struct fixture {
	struct loop lp;
	struct http_io io;
	struct http_server srv;
	struct http_client cl;
	int pair[2];    /* [0]: ours */
	struct buf got; /* what came out of ours */
	bool got_end;
	/* how the handler behaves */
	enum http_want want;
	bool hold; /* does not answer by itself */
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

static UNUSED_OK void
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

static const struct http_server_ops handler = {
	.head = handler_head, .body = handler_body, .gone = handler_gone
};

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

static UNUSED_OK void
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
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, f->pair), 0);
	assert_int_equal(http_server_adopt(&f->srv, f->pair[1], &err), HINNY_OK);
}

static UNUSED_OK void
setup(struct fixture *f)
{
	setup_with(f, &default_limits);
}

static UNUSED_OK void
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

static UNUSED_OK void
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

static UNUSED_OK void
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
static UNUSED_OK void
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

static UNUSED_OK void
settle(struct fixture *f)
{
	for (int i = 0; i < 10; i++)
		loop_turn(&f->lp, 0);
	take_output(f);
}

static UNUSED_OK unsigned
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

#endif
