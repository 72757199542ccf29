/* The server connection, shared by the files of the server engine. */
#ifndef HINNY_HTTP_SERVER_PRIV_H
#define HINNY_HTTP_SERVER_PRIV_H

#include "transports/http/body.h"
#include "transports/http/server.h"

enum server_state {
	SERVER_HEAD,    /* between requests, or a head is arriving */
	SERVER_WHOLE,   /* the body is being read into the buffer */
	SERVER_STREAM,  /* the body goes to a sink as it comes */
	SERVER_ANSWER,  /* the body has been read (or given up): the answer is awaited */
	SERVER_DISCARD, /* the answer is out, what is left of the body is read and dropped */
	SERVER_LINGER,  /* our side is closed; the client gets time to read the answer */
	SERVER_CLOSED
};

struct server_conn {
	struct conn conn;
	struct http_server *srv;
	struct list node; /* in srv->conns */
	struct timeout read_timeout, write_timeout;
	struct http_request rq;
	enum server_state state;
	size_t scanned;    /* of the head that is arriving */
	bool stepping;     /* server_step is on the stack */
	bool in_hand;      /* rq is: from head to http_request_done */
	bool in_head;      /* ops->head is on the stack */
	bool answered;     /* the answer has been begun */
	bool answer_whole; /* …and has been given to the connection to its end */
	bool close_after;  /* the connection ends with this answer */
	bool active;       /* counted in srv->active_n */
	bool expects;      /* waits for 100 Continue */
	bool mute;         /* the engine has answered: what the handler says is dropped */
	bool freed;
	/* the request's body */
	struct http_body body;
	struct stream stream;
	bool stream_live;   /* given to the handler, neither ended, failed nor cancelled */
	bool stream_failed; /* to be told when somebody attaches */
	enum hinny_rc stream_why;
	/* the answer's body, when it streams */
	struct stream_sink sink;
	struct stream *source; /* NULL: none, or over */
	bool source_paused;
	int answer_status;
	bool out_chunked;
	int64_t out_left; /* of a known length; -1: not known */
};

static inline struct server_conn *
server_conn_of(struct http_request *rq)
{
	return CONTAINER_OF(rq, struct server_conn, rq);
}

/* server.c */
void server_step(struct server_conn *sc);
void server_free_when_unused(struct server_conn *sc);
void server_abort(
    struct server_conn *sc, bool reset); /* the connection ends now; the handler hears of it */
void server_answer_over(struct server_conn *sc); /* the answer is with the connection to its end */
void server_update_active(struct server_conn *sc);
void server_watch_output(
    struct server_conn *sc); /* after something was sent: write time-out, back-pressure */

/* server_accept.c */
void server_stop_listening(struct http_server *srv);

/* server_body.c */
/* The body goes to the handler as a stream from now on. */
struct stream *server_stream_open(struct server_conn *sc);
void server_stream_pump(struct server_conn *sc);
void server_stream_break(struct server_conn *sc,
    enum hinny_rc why); /* the client is gone: whoever reads the body hears of it */
/* Drops input that belongs to the body. True when the body is over; *bad when it is wrong. */
bool server_body_discard(struct server_conn *sc, bool *bad);

/* server_reply.c */
void server_reply_pump(struct server_conn *sc);  /* the queue went down: go on */
void server_reply_break(struct server_conn *sc); /* the client is gone: nobody wants the rest */
void server_refuse(
    struct server_conn *sc, int status); /* an answer of the engine's own, then the end */

#endif
