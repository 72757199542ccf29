/*
 * The HTTP/1.1 server engine: accepts connections, reads requests one after another (pipelined ones
 * wait their turn in the buffer), and writes the answers. It knows nothing of exchanges: a handler
 * (struct http_server_ops) sees each request and answers it.
 *
 * What it guarantees: a request that RFC 9112 forbids is answered 4xx/5xx and the connection is
 * closed; answers leave in the order of the requests; the framing of an answer is its own, whatever
 * the handler says; an answer that breaks off is cut, never ended as if it were whole; a slow
 * client costs a buffer, not memory without bound; nobody is waited for without a time-out but the
 * handler.
 */
#ifndef HINNY_HTTP_SERVER_H
#define HINNY_HTTP_SERVER_H

#include "core/model/stream.h"
#include "transports/http/conn.h"

#include <stdbool.h>
#include <stdint.h>

struct http_server;
struct http_request;

struct http_server_limits {
	uint64_t max_head;
	size_t buffered_body; /* a body of up to so many bytes is given whole even where a stream
	                         would do */
	size_t kept_body;  /* a body that is wanted whole is read into memory up to this; a longer
	                      one is given as a stream to be collected */
	uint64_t max_body; /* of bodies that are wanted whole: 413 beyond */
	int64_t head_ms, body_ms, idle_ms, write_ms;
	bool server_header;
};

/* What the handler wants of the body. */
enum http_want {
	HTTP_WANT_NOTHING, /* it has answered already */
	HTTP_WANT_WHOLE,   /* it will need all of it */
	HTTP_WANT_STREAM,  /* it can take it as it comes */
};

struct http_server_ops {
	/* A request has come. `h` is valid during the call, its slices as long as `blob` (or the
	 * request) lives. The handler sets rq->owner, or answers. */
	enum http_want (*head)(
	    struct http_request *rq, const struct http_head *h, struct blob *blob);
	/* The body: whole (`bytes` in `blob`, both empty for none) or, with `s`, a stream that the
	 * handler must attach to or cancel. Follows head unless that wanted nothing. */
	void (*body)(
	    struct http_request *rq, struct str bytes, struct blob *blob, struct stream *s);
	/* The client went away, or broke the rules, before its request was whole: body will not
	 * come, and there is nothing to answer. */
	void (*gone)(struct http_request *rq);
	/* The number of connections has changed. May be NULL. */
	void (*connections)(struct http_server *srv);
};

/* One request in hand: embedded in its connection. Valid from head until http_request_done. */
struct http_request {
	void *owner;    /* the handler's */
	bool head_only; /* the method is HEAD */
	bool has_body;
	bool empty_body; /* there is one, of no bytes */
	bool form; /* the handler's */
	unsigned minor;
};

struct http_server {
	struct http_io *io;
	const struct http_server_ops *ops;
	void *owner;
	struct http_server_limits limits;
	struct timeout_queue *q_head, *q_body, *q_idle, *q_write, *q_linger;
	struct list conns;
	struct list listeners;
	uint32_t conns_n, active_n; /* active: a request in hand, or an answer not all out */
	uint64_t conns_total, requests_total;
	bool draining, accepting;
	bool ending; /* draining, and connections are closed as soon as they are idle */
	void (*idle)(struct http_server *srv); /* may be NULL: active_n came down to 0 */
};

void http_server_init(struct http_server *srv, struct http_io *io,
    const struct http_server_ops *ops, void *owner, const struct http_server_limits *limits);
/* Serves a listening socket. Does not own it unless `owned`. `shared`: other processes poll it too.
 * `until_empty`: close it when its queue is empty. */
enum hinny_rc http_server_listen(struct http_server *srv, int fd, bool shared, bool owned,
    bool until_empty, struct hinny_error *err);
/* Takes a connected socket (hinny send; tests). */
enum hinny_rc http_server_adopt(struct http_server *srv, int fd, struct hinny_error *err);
/* Stops accepting; every answer from now on says Connection: close, unless the client's next
 * request has come behind this one; idle connections live on until their next request or time-out.
 */
void http_server_drain(struct http_server *srv);
/* The same, and goes on accepting: until http_server_drain(). */
void http_server_wind_down(struct http_server *srv);
/* Accepts the connections that wait in the listening sockets: before a drain after which nobody
 * follows. */
void http_server_accept_waiting(struct http_server *srv);
/* Closes the connections that wait for a request of which nothing has come, and from now on each as
 * soon as it does: one may have begun its answer before the drain. */
void http_server_close_idle(struct http_server *srv);
/* Closes all at once. Requests in hand stay valid (their answers go nowhere) until
 * http_request_done. */
void http_server_close(struct http_server *srv);
void http_server_fini(struct http_server
	*srv); /* after http_server_close, a turn of the loop, and the end of every request */

/* ---- answering: begin, headers, then exactly one end; then http_request_done ---- */

/* reason n 0: the usual one. */
void http_reply_begin(struct http_request *rq, int status, struct str reason);
/* A name that is no token is left out; control characters in a value become blanks. Framing headers
 * are not for the handler. */
void http_reply_header(struct http_request *rq, struct str name, struct str value);
/* The connection is closed behind this answer. */
void http_reply_close(struct http_request *rq);
/* With a whole body: in `blob`, or valid during the call. What cannot leave at once is queued by
 * reference or copied. */
void http_reply_end(struct http_request *rq, struct str body, struct blob *blob);
/* Without a body, for HEAD: what it would be long, or -1 when that is not known. */
void http_reply_end_head(struct http_request *rq, int64_t length);
/* With a body still to come: attaches to the stream (length known or -1). */
void http_reply_end_stream(struct http_request *rq, struct stream *s);
/* Begin, Content-Type, body and end in one: for answers of the engine and handler. content_type
 * NULL: none. */
void http_reply_plain(
    struct http_request *rq, int status, const char *content_type, const char *body);
/* The handler is finished with the request and has answered it; rq may be gone or be the next one
 * afterwards. Not to be called when head returned HTTP_WANT_NOTHING, nor after gone. */
void http_request_done(struct http_request *rq);

struct http_server *http_request_server(struct http_request *rq);
/* Is the client still there? */
bool http_request_alive(const struct http_request *rq);
/* The client's address as text; "" for a unix socket. */
const char *http_request_peer(struct http_request *rq, char *buf, size_t size);
/* "OK" … for a status; "Unknown" when there is none. */
const char *http_status_text(int status);

#endif
