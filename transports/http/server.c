/* The life of a server connection from request to request. Accepting: server_accept.c, bodies:
 * server_body.c, answers: server_reply.c. */
#include "transports/http/server_priv.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mem.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
	LINGER_MS = 2000,
	DISCARD_MAX = 64 * 1024, /* of a body that nobody wants, for the sake of the connection */
};

/* ---- life ---- */

void
server_update_active(struct server_conn *sc)
{
	bool active = sc->state != SERVER_CLOSED &&
	    (sc->in_hand || (sc->answered && !sc->answer_whole) || sc->conn.out_n > 0 ||
		sc->stream_live);
	struct http_server *srv = sc->srv;

	if (active == sc->active)
		return;
	sc->active = active;
	srv->active_n += active ? 1 : -1u;
	if (srv->active_n == 0 && srv->idle != NULL)
		srv->idle(srv);
}

void
server_free_when_unused(struct server_conn *sc)
{
	if (sc->state != SERVER_CLOSED || sc->conn.w.open || !list_empty(&sc->conn.w.closing) ||
	    sc->in_hand || sc->in_head || sc->stepping || sc->stream_live || sc->freed)
		return;
	sc->freed = true;
	loop_free_later(sc->srv->io->lp, sc);
}

static void
on_closed(struct conn *c)
{
	struct server_conn *sc = CONTAINER_OF(c, struct server_conn, conn);

	server_free_when_unused(sc);
}

static void
count_conn(struct http_server *srv, bool more)
{
	srv->conns_n += more ? 1 : -1u;
	srv->conns_total += more;
	if (srv->ops->connections != NULL)
		srv->ops->connections(srv);
}

void
server_abort(struct server_conn *sc, bool reset)
{
	bool waiting = sc->in_hand && sc->state == SERVER_WHOLE;

	if (sc->state == SERVER_CLOSED)
		return;
	sc->state = SERVER_CLOSED;
	timeout_cancel(&sc->read_timeout);
	timeout_cancel(&sc->write_timeout);
	list_remove(&sc->node);
	count_conn(sc->srv, false);
	conn_close(&sc->conn, reset);
	server_stream_break(sc, HINNY_ECLOSED);
	server_reply_break(sc);
	if (waiting) {
		sc->in_hand = false;
		sc->srv->ops->gone(&sc->rq);
	}
	server_update_active(sc);
}

void
server_watch_output(struct server_conn *sc)
{
	if (sc->state == SERVER_CLOSED)
		return;
	if (sc->conn.out_n == 0) {
		timeout_cancel(&sc->write_timeout);
	} else if (sc->conn.progress || !timeout_is_set(&sc->write_timeout)) {
		sc->conn.progress = false;
		timeout_set(&sc->write_timeout, sc->srv->q_write);
	}
	if (sc->conn.broken || sc->conn.out_broken)
		conn_again(&sc->conn); /* not from inside of what is being sent */
	server_update_active(sc);
}

static void
on_write_timeout(struct timeout *t)
{
	struct server_conn *sc = CONTAINER_OF(t, struct server_conn, write_timeout);

	server_abort(sc, true);
	server_free_when_unused(sc);
}

static void
on_read_timeout(struct timeout *t)
{
	struct server_conn *sc = CONTAINER_OF(t, struct server_conn, read_timeout);

	switch (sc->state) {
	case SERVER_HEAD:
		if (conn_input(&sc->conn).n > 0)
			server_refuse(sc, 408);
		else
			server_abort(sc, false);
		break;
	case SERVER_WHOLE:
		sc->in_hand = false;
		sc->srv->ops->gone(&sc->rq);
		server_refuse(sc, 408);
		break;
	case SERVER_STREAM:
		if (!sc->answered)
			server_refuse(sc, 408);
		server_stream_break(sc, HINNY_ETIMEOUT);
		if (!sc->mute)
			server_abort(sc, true);
		break;
	default:
		server_abort(sc, false);
		break;
	}
	server_step(sc);
}

/* ---- from request to request ---- */

/* What is left of the body of a request that has been answered. */
static bool
can_discard(const struct server_conn *sc)
{
	if (sc->body.framing == HTTP_NO_BODY)
		return true;
	return !sc->expects && sc->body.framing == HTTP_LENGTH && sc->body.left <= DISCARD_MAX;
}

static void
start_linger(struct server_conn *sc)
{
	if (sc->conn.eof || sc->conn.out_broken || shutdown(sc->conn.fd, SHUT_WR) == -1) {
		server_abort(sc, false);
		return;
	}
	sc->state = SERVER_LINGER;
	timeout_set(&sc->read_timeout, sc->srv->q_linger);
}

/* The answer is out of the handler's hands: what now? */
static bool
next_request(struct server_conn *sc)
{
	if (!sc->answer_whole || sc->in_hand || sc->stream_live)
		return false;
	if (sc->close_after || !can_discard(sc)) {
		if (sc->conn.out_n > 0)
			return false; /* first all must be out */
		start_linger(sc);
		return true;
	}
	if (sc->body.framing != HTTP_NO_BODY) {
		sc->state = SERVER_DISCARD;
		timeout_set(&sc->read_timeout, sc->srv->q_body);
		return true;
	}
	sc->state = SERVER_HEAD;
	sc->answered = sc->answer_whole = false;
	sc->scanned = 0;
	if (conn_input(&sc->conn).n == 0)
		timeout_set(&sc->read_timeout, sc->srv->q_idle);
	return true;
}

/* ---- the body of a request, at its beginning ---- */

static void
send_continue(struct server_conn *sc)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct conn_slice s = { { text, sizeof text - 1 }, NULL };

	if (!sc->expects)
		return;
	sc->expects = false;
	conn_send(&sc->conn, &s, 1);
	server_watch_output(sc);
}

static void
give_whole(struct server_conn *sc, struct str bytes, struct blob *blob)
{
	sc->body.framing = HTTP_NO_BODY;
	sc->state = SERVER_ANSWER;
	timeout_cancel(&sc->read_timeout);
	sc->srv->ops->body(&sc->rq, bytes, blob, NULL);
}

static void
refuse_in_hand(struct server_conn *sc, int status)
{
	sc->in_hand = false;
	sc->srv->ops->gone(&sc->rq);
	server_refuse(sc, status);
}

static void
begin_chunked(struct server_conn *sc)
{
	struct str bytes;
	int whole = http_body_unchunk(&sc->conn, &bytes);

	if (whole < 0)
		refuse_in_hand(sc, 400);
	else if (whole > 0)
		give_whole(sc, bytes, sc->conn.in);
	else
		sc->srv->ops->body(&sc->rq, (struct str){ NULL, 0 }, NULL, server_stream_open(sc));
}

static void
begin_body(struct server_conn *sc, enum http_want want)
{
	const struct http_server_limits *limits = &sc->srv->limits;

	if (sc->body.framing == HTTP_NO_BODY) {
		give_whole(sc, (struct str){ NULL, 0 }, NULL);
		return;
	}
	if (want == HTTP_WANT_WHOLE && sc->body.framing == HTTP_LENGTH &&
	    sc->body.left > limits->max_body) {
		refuse_in_hand(sc, 413);
		return;
	}
	send_continue(sc);
	if (sc->body.framing == HTTP_CHUNKED) {
		begin_chunked(sc);
		return;
	}
	if (sc->body.left <=
	    (want == HTTP_WANT_WHOLE ? limits->kept_body : limits->buffered_body)) {
		sc->state = SERVER_WHOLE;
		conn_want_input(&sc->conn, (size_t)sc->body.left);
		timeout_set(&sc->read_timeout, sc->srv->q_body);
		return;
	}
	sc->srv->ops->body(&sc->rq, (struct str){ NULL, 0 }, NULL, server_stream_open(sc));
}

/* ---- steps ---- */

static void
handle_head(struct server_conn *sc, struct str bytes)
{
	struct http_server *srv = sc->srv;
	struct http_head *h = &srv->io->head;
	const char *why = "";

	timeout_cancel(&sc->read_timeout);
	srv->requests_total++;
	int status = http_head_parse_request(h, bytes.p, bytes.n, &why);
	if (status != 0) {
		log_debug("http: request refused with %d: %s", status, why);
		server_refuse(sc, status);
		return;
	}
	conn_consume(&sc->conn, bytes.n);
	sc->scanned = 0;
	http_body_init(&sc->body, h->framing, h->length);
	sc->answered = sc->answer_whole = sc->mute = false;
	sc->close_after = !h->keep_alive;
	sc->expects =
	    h->expect_continue && h->framing != HTTP_NO_BODY && conn_input(&sc->conn).n == 0;
	sc->rq = (struct http_request){ .head_only = str_eq(h->method, STR_LIT("HEAD")),
		.has_body = h->framing != HTTP_NO_BODY,
		.empty_body = h->empty_body,
		.minor = h->minor };
	sc->state = SERVER_ANSWER;
	sc->in_hand = sc->in_head = true;
	enum http_want want = srv->ops->head(&sc->rq, h, sc->conn.in);
	sc->in_head = false;
	if (want == HTTP_WANT_NOTHING) {
		sc->in_hand = false;
		return;
	}
	begin_body(sc, want);
}

static bool
step_head(struct server_conn *sc)
{
	struct str in = conn_input(&sc->conn);

	if (conn_out_high(&sc->conn))
		return false; /* this client does not read its answers */
	if (in.n >= 2 && sc->scanned == 0 && in.p[0] == '\r' && in.p[1] == '\n') {
		conn_consume(
		    &sc->conn, 2); /* RFC 9112 2.2: an empty line before the request line */
		return true;
	}
	if (in.n > sc->scanned) {
		enum http_scan rc = http_head_scan(in.p, in.n, &sc->scanned);
		if (rc == HTTP_SCAN_DONE && sc->scanned <= sc->srv->limits.max_head) {
			handle_head(sc, (struct str){ in.p, sc->scanned });
			return true;
		}
		if (rc == HTTP_SCAN_BAD) {
			server_refuse(sc, 400);
			return true;
		}
		if (in.n > sc->srv->limits.max_head || rc == HTTP_SCAN_DONE) {
			server_refuse(
			    sc, memchr(in.p, '\n', sc->srv->limits.max_head) == NULL ? 414 : 431);
			return true;
		}
	}
	bool first = in.n == 0;
	if (conn_read(&sc->conn, CONN_READ)) {
		if (first)
			timeout_cancel(&sc->read_timeout);
		return true;
	}
	if (sc->conn.eof && sc->conn.out_n > 0)
		return false; /* the client may still be reading */
	if (sc->conn.eof) {
		server_abort(sc, false);
		return true;
	}
	if (in.n > 0 && !timeout_is_set(&sc->read_timeout))
		timeout_set(&sc->read_timeout, sc->srv->q_head);
	if (in.n == 0 && sc->srv->ending && sc->conn.out_n == 0) {
		start_linger(sc);
		return true;
	}
	return false;
}

static bool
step_whole(struct server_conn *sc)
{
	struct str in = conn_input(&sc->conn);

	if (in.n >= sc->body.left) {
		struct str bytes = { in.p, (size_t)sc->body.left };
		conn_consume(&sc->conn, bytes.n);
		give_whole(sc, bytes, sc->conn.in);
		return true;
	}
	if (conn_read(&sc->conn, CONN_READ)) {
		timeout_set(&sc->read_timeout, sc->srv->q_body);
		return true;
	}
	if (sc->conn.eof) {
		server_abort(sc, false);
		return true;
	}
	return false;
}

static bool
step_discard(struct server_conn *sc)
{
	bool bad = false;

	if (server_body_discard(sc, &bad)) {
		timeout_cancel(&sc->read_timeout);
		return next_request(sc);
	}
	if (bad || sc->conn.eof) {
		server_abort(sc, false);
		return true;
	}
	return conn_read(&sc->conn, CONN_READ) || sc->conn.eof;
}

static bool
step_linger(struct server_conn *sc)
{
	struct str in = conn_input(&sc->conn);

	if (in.n > 0)
		conn_consume(&sc->conn, in.n);
	if (conn_read(&sc->conn, CONN_READ))
		return true;
	if (!sc->conn.eof)
		return false;
	server_abort(sc, false);
	return true;
}

static bool
step(struct server_conn *sc)
{
	switch (sc->state) {
	case SERVER_HEAD:
		return step_head(sc);
	case SERVER_WHOLE:
		return step_whole(sc);
	case SERVER_STREAM:
		server_stream_pump(sc);
		return sc->state != SERVER_STREAM;
	case SERVER_ANSWER:
		return next_request(sc);
	case SERVER_DISCARD:
		return step_discard(sc);
	case SERVER_LINGER:
		return step_linger(sc);
	case SERVER_CLOSED:
		break;
	}
	return false;
}

void
server_step(struct server_conn *sc)
{
	if (sc->stepping)
		return;
	sc->stepping = true;
	while (step(sc))
		continue;
	sc->stepping = false;
	if (sc->state != SERVER_CLOSED) {
		conn_release_input(&sc->conn);
		server_watch_output(sc);
	}
	server_free_when_unused(sc);
}

void
server_answer_over(struct server_conn *sc)
{
	sc->answer_whole = true;
	server_step(sc);
}

void
http_request_done(struct http_request *rq)
{
	struct server_conn *sc = server_conn_of(rq);

	ASSERT(sc->in_hand && !sc->in_head);
	if (sc->state != SERVER_CLOSED && !sc->answered)
		http_reply_plain(rq, 500, NULL, "");
	sc->in_hand = false;
	rq->owner = NULL;
	server_step(sc);
}

static void
on_ready(struct conn *c)
{
	struct server_conn *sc = CONTAINER_OF(c, struct server_conn, conn);

	if (c->broken || c->out_broken) {
		server_abort(sc, false);
		server_free_when_unused(sc);
		return;
	}
	if (sc->source != NULL && sc->source_paused)
		server_reply_pump(sc);
	server_step(sc);
}

static const struct conn_ops server_conn_ops = { .ready = on_ready, .closed = on_closed };

/* ---- a connection begins ---- */

enum hinny_rc
http_server_adopt(struct http_server *srv, int fd, struct hinny_error *err)
{
	struct server_conn *sc = MEM_NEW(struct server_conn);
	enum hinny_rc rc = conn_init(&sc->conn, srv->io, fd, false, &server_conn_ops, err);

	if (rc != HINNY_OK) {
		free(sc);
		return rc;
	}
	sc->srv = srv;
	sc->state = SERVER_HEAD;
	timeout_init(&sc->read_timeout, on_read_timeout);
	timeout_init(&sc->write_timeout, on_write_timeout);
	list_append(&srv->conns, &sc->node);
	count_conn(srv, true);
	timeout_set(&sc->read_timeout, srv->q_idle);
	return HINNY_OK;
}

/* ---- the server ---- */

void
http_server_init(struct http_server *srv, struct http_io *io, const struct http_server_ops *ops,
    void *owner, const struct http_server_limits *limits)
{
	*srv = (struct http_server){ .io = io, .ops = ops, .owner = owner, .limits = *limits };
	srv->q_head = timeouts_queue(&io->timeouts, limits->head_ms);
	srv->q_body = timeouts_queue(&io->timeouts, limits->body_ms);
	srv->q_idle = timeouts_queue(&io->timeouts, limits->idle_ms);
	srv->q_write = timeouts_queue(&io->timeouts, limits->write_ms);
	srv->q_linger = timeouts_queue(&io->timeouts, LINGER_MS);
	list_init(&srv->conns);
	list_init(&srv->listeners);
}

void
http_server_wind_down(struct http_server *srv)
{
	srv->draining = true;
}

void
http_server_drain(struct http_server *srv)
{
	http_server_wind_down(srv);
	server_stop_listening(srv);
}

static bool
is_idle(const struct server_conn *sc)
{
	return sc->state == SERVER_HEAD && sc->conn.out_n == 0 && conn_input(&sc->conn).n == 0;
}

void
http_server_close_idle(struct http_server *srv)
{
	LIST_FOREACH (&srv->conns, it, tmp) {
		struct server_conn *sc = LIST_ENTRY(it, struct server_conn, node);
		if (!is_idle(sc))
			continue;
		sc->conn.readable =
		    true; /* a request that has come, but was not seen yet, is answered */
		server_step(sc);
		if (is_idle(sc))
			server_abort(sc, false);
	}
	srv->ending = true;
}

void
http_server_close(struct http_server *srv)
{
	http_server_drain(srv);
	while (!list_empty(&srv->conns))
		server_abort(LIST_FIRST(&srv->conns, struct server_conn, node), false);
}

void
http_server_fini(struct http_server *srv)
{
	ASSERT(list_empty(&srv->conns) && list_empty(&srv->listeners));
}

struct http_server *
http_request_server(struct http_request *rq)
{
	return server_conn_of(rq)->srv;
}

bool
http_request_alive(const struct http_request *rq)
{
	return CONTAINER_OF(rq, const struct server_conn, rq)->state != SERVER_CLOSED;
}

const char *
http_request_peer(struct http_request *rq, char *buf, size_t size)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof ss;
	int fd = server_conn_of(rq)->conn.fd;

	buf[0] = '\0';
	if (fd == -1 || getpeername(fd, (struct sockaddr *)&ss, &n) == -1 ||
	    (ss.ss_family != AF_INET && ss.ss_family != AF_INET6))
		return buf;
	if (getnameinfo((struct sockaddr *)&ss, n, buf, (socklen_t)size, NULL, 0, NI_NUMERICHOST) !=
	    0)
		buf[0] = '\0';
	return buf;
}
