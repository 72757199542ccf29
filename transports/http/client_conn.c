/* The life of a client connection: connecting, requests one after another, rest in the pool. */
#include "transports/http/client_priv.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mem.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEEP_ALIVE_MARGIN_MS = 100 }; /* a request written so late might meet the peer's close */

static void on_ready(struct conn *c);
static void on_closed(struct conn *c);
static const struct conn_ops client_conn_ops = { .ready = on_ready, .closed = on_closed };

/* ---- life ---- */

static void
free_when_unused(struct client_conn *cc)
{
	if (cc->state != CLIENT_CLOSED || cc->conn.w.open || !list_empty(&cc->conn.w.closing) ||
	    cc->stepping || cc->freed)
		return;
	cc->freed = true;
	loop_free_later(cc->conn.io->lp, cc);
}

static void
on_closed(struct conn *c)
{
	free_when_unused(CONTAINER_OF(c, struct client_conn, conn));
}

void
client_close(struct client_conn *cc)
{
	struct http_origin *o = cc->origin;

	if (cc->state == CLIENT_CLOSED)
		return;
	ASSERT(cc->call == NULL);
	cc->state = CLIENT_CLOSED;
	timeout_cancel(&cc->timeout);
	list_remove(&cc->node);
	conn_close(&cc->conn, false);
	blob_put(cc->head_blob);
	cc->head_blob = NULL;
	o->conns_n--;
	o->cl->conns_n--;
	pool_closed(o);
}

static void
on_idle_timeout(struct timeout *t)
{
	client_close(CONTAINER_OF(t, struct client_conn, timeout));
}

void
client_keep(struct client_conn *cc)
{
	struct http_origin *o = cc->origin;

	if (cc->conn.readable && (conn_read(&cc->conn, CONN_READ) || cc->conn.eof)) {
		client_close(cc); /* closed, or bytes that nobody asked for */
		return;
	}
	cc->state = CLIENT_IDLE;
	list_remove(&cc->node);
	list_prepend(&o->idle, &cc->node);
	conn_release_input(&cc->conn);
	cc->usable_until.ns = INT64_MAX;
	if (cc->keep_alive_ms >= 0)
		cc->usable_until = monotime_add_ms(
		    loop_now(cc->conn.io->lp), cc->keep_alive_ms - KEEP_ALIVE_MARGIN_MS);
	cc->timeout.fn = on_idle_timeout;
	timeout_set(&cc->timeout, o->cl->q_idle);
}

void
client_assign(struct client_conn *cc, struct http_call *call)
{
	ASSERT(cc->call == NULL && call->cc == NULL);
	timeout_cancel(&cc->timeout);
	list_remove(&cc->node);
	list_append(&cc->origin->busy, &cc->node);
	cc->call = call;
	call->cc = cc;
	cc->state = CLIENT_HEAD;
	cc->scanned = 0;
	cc->answer_began = false;
	cc->written_before = cc->conn.written;
	call_send(call);
}

/* ---- connecting ---- */

static void
on_connect_timeout(struct timeout *t)
{
	struct client_conn *cc = CONTAINER_OF(t, struct client_conn, timeout);
	struct http_call *call = cc->call;
	struct http_origin *o = cc->origin;
	unsigned next = cc->address + 1;

	call_detach(call);
	if (next < o->addresses_n) {
		client_connect(o, call, next);
		client_close(cc);
		return;
	}
	client_close(cc);
	call_fail(call, HTTP_FAIL_CONNECT_TIMEOUT, "the peer does not take the connection");
}

static int
open_socket(const struct sockaddr *sa, socklen_t n, bool *connecting)
{
	int on = 1;
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd == -1)
		return -1;
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* only speed depends on it */
	*connecting = false;
	if (connect(fd, sa, n) == 0)
		return fd;
	*connecting = errno == EINPROGRESS;
	if (*connecting)
		return fd;
	int saved = errno;
	(void)close(fd); /* nothing was sent */
	errno = saved;
	return -1;
}

void
client_connect(struct http_origin *o, struct http_call *call, unsigned address)
{
	struct http_io *io = o->cl->io;
	struct hinny_error err;
	bool connecting = false;
	int fd = -1;

	for (; address < o->addresses_n && fd == -1; address++) {
		const struct sockaddr *sa = (const struct sockaddr *)&o->addresses[address].sa;
		if (o->cl->self != NULL)
			fd = o->cl->self(o->cl->self_arg, sa);
		if (fd == -1)
			fd = open_socket(sa, o->addresses[address].n, &connecting);
	}
	if (fd == -1) {
		(void)hinny_error_errno(&err, errno, "cannot connect to %.*s", STR_FMT(o->key));
		call_fail(call, HTTP_FAIL_REFUSED, err.text);
		return;
	}
	struct client_conn *cc = MEM_NEW(struct client_conn);
	if (conn_init(&cc->conn, io, fd, connecting, &client_conn_ops, &err) != HINNY_OK) {
		free(cc);
		(void)close(fd); /* nothing was sent */
		call_fail(call, HTTP_FAIL_REFUSED, err.text);
		return;
	}
	cc->origin = o;
	cc->address = address - 1;
	cc->keep_alive_ms = -1;
	o->conns_n++;
	o->cl->conns_n++;
	list_append(&o->busy, &cc->node);
	timeout_init(&cc->timeout, on_connect_timeout);
	if (!connecting) {
		client_assign(cc, call);
		return;
	}
	cc->state = CLIENT_CONNECTING;
	cc->call = call;
	call->cc = cc;
	timeout_set(&cc->timeout, call->q_connect);
}

static void
connect_ready(struct client_conn *cc)
{
	struct http_call *call = cc->call;
	struct http_origin *o = cc->origin;
	struct hinny_error err;
	int errnum = 0;
	socklen_t n = sizeof errnum;

	if (!cc->conn.writable)
		return;
	if (getsockopt(cc->conn.fd, SOL_SOCKET, SO_ERROR, &errnum, &n) == -1)
		errnum = errno;
	call_detach(call);
	timeout_cancel(&cc->timeout);
	if (errnum == 0) {
		client_assign(cc, call);
		client_step(cc);
		return;
	}
	if (cc->address + 1 < o->addresses_n) {
		client_connect(o, call, cc->address + 1);
		client_close(cc);
		return;
	}
	client_close(cc);
	(void)hinny_error_errno(&err, errnum, "cannot connect to %.*s", STR_FMT(o->key));
	call_fail(
	    call, errnum == ETIMEDOUT ? HTTP_FAIL_CONNECT_TIMEOUT : HTTP_FAIL_REFUSED, err.text);
}

/* ---- the end under a call ---- */

/*
 * Can nothing of the request have been acted upon? The peer's TCP tells how far it has taken our
 * bytes: a peer that had closed before the request came answers it with a reset and takes nothing.
 * The SYN counts as one byte.
 */
static bool
peer_took_nothing(const struct client_conn *cc)
{
	struct {
		struct tcp_info base;
		uint64_t pacing_rate, max_pacing_rate,
		    bytes_acked; /* what glibc's older structure lacks */
	} info;
	socklen_t n = sizeof info;

	_Static_assert(sizeof(struct tcp_info) == 104, "bytes_acked follows the two rates");
	memset(&info, 0, sizeof info);
	if (getsockopt(cc->conn.fd, IPPROTO_TCP, TCP_INFO, &info, &n) == -1 || n < sizeof info)
		return false;
	return info.bytes_acked <= cc->written_before + 1;
}

/*
 * A worker that ends closes what waits in its queue of connections and what is idle, whatever has been
 * sent on it: it has read none of that, and closes nothing else. So what is lost on a connection to the
 * broker itself has not been acted upon.
 */
static bool
lost_at_own_end(const struct client_conn *cc)
{
	const struct http_client *cl = cc->origin->cl;

	return cl->self != NULL && cc->address < cc->origin->addresses_n &&
	    cl->is_self(cl->self_arg, (const struct sockaddr *)&cc->origin->addresses[cc->address].sa);
}

void
client_lost(struct client_conn *cc, enum http_failure why, const char *text)
{
	struct http_call *call = cc->call;

	if (call == NULL) {
		client_close(cc);
		return;
	}
	bool untouched = (cc->reused && (call->idempotent || peer_took_nothing(cc))) || lost_at_own_end(cc);
	bool again = untouched && !cc->answer_began && why == HTTP_FAIL_NO_ANSWER &&
	    !cc->origin->cl->closing && call_may_try_again(call);
	if (again)
		call_pause_body(call); /* until there is another connection */
	call_detach(call);
	client_close(cc);
	if (!again) {
		call_fail(call, why, text);
		return;
	}
	call->tried_again = call->fresh_only = true;
	pool_take(call);
}

/* ---- events ---- */

static bool
step(struct client_conn *cc)
{
	switch (cc->state) {
	case CLIENT_HEAD:
		return answer_step_head(cc);
	case CLIENT_WHOLE:
		return answer_step_whole(cc);
	case CLIENT_STREAM:
		answer_pump(cc);
		return false;
	default:
		return false;
	}
}

void
client_step(struct client_conn *cc)
{
	if (cc->stepping)
		return;
	cc->stepping = true;
	while (step(cc))
		continue;
	cc->stepping = false;
	free_when_unused(cc);
}

static void
idle_ready(struct client_conn *cc)
{
	/* The peer has closed, or says something that nobody asked for. */
	if (cc->conn.peer_closed || cc->conn.readable)
		client_close(cc);
}

static void
on_ready(struct conn *c)
{
	struct client_conn *cc = CONTAINER_OF(c, struct client_conn, conn);

	if (cc->state == CLIENT_CONNECTING) {
		connect_ready(cc);
		return;
	}
	if (cc->state == CLIENT_IDLE) {
		idle_ready(cc);
		return;
	}
	if (cc->call != NULL)
		call_pump(cc->call);
	client_step(cc);
}
