/* The client connection and the pool, shared by the files of the client engine. */
#ifndef HINNY_HTTP_CLIENT_PRIV_H
#define HINNY_HTTP_CLIENT_PRIV_H

#include "transports/http/body.h"
#include "transports/http/client.h"

#include <sys/socket.h>

enum { ORIGIN_ADDRESSES = 8, ORIGINS_MAX = 1024, ORIGIN_FRESH_MS = 30000 };

struct http_origin {
	struct http_client *cl;
	struct list node; /* in cl->origin_list */
	struct str key;   /* "host:port", follows this struct */
	char *host;       /* as text, for getaddrinfo */
	uint16_t port;
	uint32_t refs;
	struct list idle;    /* client_conn, newest first */
	struct list busy;    /* client_conn: connecting, or with a call */
	struct list waiting; /* calls without a connection: for one, or for the addresses */
	uint32_t conns_n;
	struct {
		struct sockaddr_storage sa;
		socklen_t n;
	} addresses[ORIGIN_ADDRESSES];
	unsigned addresses_n;
	struct monotime resolved; /* when; 0: never */
	bool numeric;             /* it never has to be looked up again */
	bool resolving;
	struct loop_defer serve; /* those who wait, when a connection was closed */
};

enum client_state {
	CLIENT_CONNECTING,
	CLIENT_HEAD,   /* the request is being sent; the head of the answer is awaited */
	CLIENT_WHOLE,  /* the body is being read into the buffer */
	CLIENT_STREAM, /* the body goes to a sink as it comes */
	CLIENT_IDLE,
	CLIENT_CLOSED
};

struct client_conn {
	struct conn conn;
	struct http_origin *origin;
	struct list node; /* in origin->idle or ->busy */
	struct timeout timeout;
	enum client_state state;
	struct http_call *call;
	unsigned address; /* which one is being tried */
	bool reused;      /* it has served a call before this one */
	bool stepping, freed;
	bool keep_alive;              /* as the answer says */
	int64_t keep_alive_ms;        /* Keep-Alive: timeout; -1: not said */
	bool answer_began;            /* a byte of the answer has come */
	uint64_t written_before;      /* bytes of earlier requests */
	struct monotime usable_until; /* idle: not to be used any more from then on */
	size_t scanned;
	struct blob *head_blob; /* CLIENT_WHOLE: where the head lies, to be parsed again when the
	                           body is there */
	struct str head_bytes;
	struct http_body body;
};

/* pool.c */
/* Gives the call a connection, or lets it wait for one. */
void pool_take(struct http_call *call);
/* The connection is free: for the next who waits, or to be kept. */
void pool_give(struct client_conn *cc);
/* The connection was closed: somebody may want a new one. */
void pool_closed(struct http_origin *o);
void pool_unwait(struct http_call *call);

/* client_conn.c */
/* Connects to the origin's addresses, from the given one on. */
void client_connect(struct http_origin *o, struct http_call *call, unsigned address);
void client_assign(struct client_conn *cc,
    struct http_call *call);               /* a connection that stands: sends the request */
void client_keep(struct client_conn *cc);  /* it is idle from now on */
void client_close(struct client_conn *cc); /* its call, if any, has been detached */
/* The connection ends under its call: the call is tried again or fails. */
void client_lost(struct client_conn *cc, enum http_failure why, const char *text);
void client_step(struct client_conn *cc);

/* client_answer.c */
/* Reads on; true when something was achieved. */
bool answer_step_head(struct client_conn *cc);
bool answer_step_whole(struct client_conn *cc);
void answer_pump(struct client_conn *cc);
void answer_break(
    struct http_call *call, const char *text); /* the rest of a streaming answer will not come */

/* client.c */
void call_send(struct http_call *call);                /* on call->cc */
void call_pump(struct http_call *call);                /* the queue went down: the body goes on */
bool call_may_try_again(const struct http_call *call); /* as far as its body goes */
void call_pause_body(struct http_call *call);
void call_detach(struct http_call *call);       /* from its connection */
void call_answer_began(struct http_call *call); /* it will not be sent again */
void call_fail(struct http_call *call, enum http_failure why, const char *text);
void call_over(struct http_call *call);

#endif
