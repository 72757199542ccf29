/*
 * The HTTP/1.1 client engine: sends requests over a pool of kept-alive connections and reads the
 * answers. It knows nothing of exchanges.
 *
 * What it guarantees: a request is written twice only when nothing can have been acted upon (RFC
 * 9112 9.3.1): the connection was a kept one, it died before any byte of the answer, and the method
 * is idempotent or the peer's TCP has taken no byte of the request. No request is written to a
 * connection idle for longer than its peer said (Keep-Alive: timeout). Idle connections are
 * watched, so one that the peer closed is not used. An answer whose framing cannot be trusted, or
 * that breaks off, is a failure, never a short answer.
 */
#ifndef HINNY_HTTP_CLIENT_H
#define HINNY_HTTP_CLIENT_H

#include "core/base/hash.h"
#include "core/model/stream.h"
#include "transports/http/conn.h"
#include "transports/http/uri.h"

#include <stdbool.h>
#include <stdint.h>

struct client_conn;
struct http_origin;
struct http_call;

enum http_failure {
	HTTP_FAIL_UNKNOWN_HOST,
	HTTP_FAIL_REFUSED, /* no address of the host could be connected to */
	HTTP_FAIL_CONNECT_TIMEOUT,
	HTTP_FAIL_POOL_TIMEOUT, /* all connections were in use for too long */
	HTTP_FAIL_NO_ANSWER,    /* the connection ended before the answer began */
	HTTP_FAIL_CUT,          /* …or within it */
	HTTP_FAIL_TIMEOUT,      /* the peer sends nothing */
	HTTP_FAIL_PROTOCOL,     /* what it sends is no HTTP/1.1 */
	HTTP_FAIL_BODY,         /* the body of the request could not be read */
};

struct http_client {
	struct http_io *io;
	struct hash origins; /* "host:port" -> struct http_origin */
	struct list origin_list;
	uint32_t origins_n, conns_n;
	uint32_t conns_max; /* of one origin */
	struct timeout_queue *q_idle;
	bool draining, closing;
	/* A connected socket to an address that is our own and takes no connections any more; -1: it is
	 * not. NULL: nobody to ask. */
	int (*self)(void *arg, const struct sockaddr *sa);
	/* Is it such an address? Asked when self is set. */
	bool (*is_self)(void *arg, const struct sockaddr *sa);
	void *self_arg;
	uint64_t max_head;
	size_t buffered_body; /* an answer's body of up to so many bytes is given whole */
};

struct http_call_ops {
	/* The head of the answer and its body: whole (`bytes` in `blob`, which may differ from
	 * `head_blob`) or, with `s`, a stream to attach to or cancel. h is valid during the call,
	 * its slices as long as head_blob lives. */
	void (*answer)(struct http_call *call, const struct http_head *h, struct blob *head_blob,
	    struct str bytes, struct blob *blob, struct stream *s);
	/* Instead of answer. A body stream of the request has been cancelled or has failed. */
	void (*failed)(struct http_call *call, enum http_failure why, const char *text);
	/* Last of all: the engine does not know the call any more (after failed, or after answer
	 * and the end of its stream). */
	void (*over)(struct http_call *call);
};

enum { CALL_KEEP = 64 * 1024, CALL_KEEP_PIECES = 16 };

/* One request. The caller fills the first part; all that it points at must live until over. */
struct http_call {
	const struct http_call_ops *ops;
	struct http_client *cl;
	struct http_origin *origin;
	struct str head; /* the whole head, empty line included */
	struct str body; /* with body_blob, or arena memory */
	struct blob *body_blob;
	struct stream *stream; /* the body instead, when it streams; owned by the call from
	                          http_call_start on */
	bool head_only;        /* HEAD: the answer has no body */
	bool idempotent;
	bool close; /* do not keep the connection */
	bool
	    whole; /* the caller needs the whole answer: wait for up to kept_body bytes in memory */
	size_t kept_body;
	struct timeout_queue *q_connect, *q_wait, *q_answer, *q_idle;

	/* the engine's */
	struct client_conn *cc;
	struct list node; /* in origin->waiting */
	struct timeout timeout;
	struct stream_sink sink;
	bool streams, stream_attached, stream_over, stream_paused, attaching, body_wrong,
	    out_chunked;
	bool fresh_only, tried_again, sent, answered;
	int64_t stream_left;
	struct conn_slice
	    kept[CALL_KEEP_PIECES]; /* what of a streamed body was sent, for another try */
	unsigned kept_n;
	size_t kept_bytes;
	bool kept_all; /* nothing was sent that is not in kept */
	/* the answer's stream */
	struct stream answer;
	bool answer_live;
};

void http_client_init(struct http_client *cl, struct http_io *io, uint32_t conns_max,
    int64_t idle_ms, uint64_t max_head, size_t buffered_body);
/* Closes idle connections. */
void http_client_drain(struct http_client *cl);
/* Fails what is under way (failed and over are called). */
void http_client_close(struct http_client *cl);
void http_client_fini(struct http_client *cl); /* after close and a turn of the loop */

/* The pool of one address; made when there is none. Lives at least until the next http_origin_put.
 */
struct http_origin *http_origin_get(struct http_client *cl, struct str host, uint16_t port);
struct http_origin *http_origin_ref(struct http_origin *o);
void http_origin_put(struct http_origin *o);
struct str http_origin_key(const struct http_origin *o); /* "host:port" */

/* Begins. The origin must be held until over. Callbacks may come from inside. */
void http_call_start(struct http_call *call);
/* Nobody wants the answer: no callback but over, maybe from inside. Before answer or failed. */
void http_call_cancel(struct http_call *call);

#endif
