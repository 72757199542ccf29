/* Between the files of the http component. */
#ifndef HINNY_HTTP_HTTP_SEND_H
#define HINNY_HTTP_HTTP_SEND_H

#include "transports/http/http.h"
#include "transports/http/http_conf.h"
#include "transports/http/http_state.h"

/* What prepare makes of an endpoint: endpoint.impl. */
struct http_target {
	struct http_origin *origin;
	char *authority;     /* for Host */
	char *path;          /* encoded; may be empty */
	char *authorization; /* value of the header, or NULL */
	struct timeout_queue *q_connect, *q_wait, *q_answer, *q_idle;
	bool ok_is_2xx; /* okStatusCodeRange is the default */
};

/* One request under way. Not in the exchange's arena: an answer may still stream when the exchange
 * is done. */
struct http_send {
	struct http_call call;
	struct list node; /* in http_state.sends_free */
	struct http_state *hs;
	struct exchange *ex; /* NULL when it has gone on */
	const struct step *st;
	const struct endpoint *ep;
	struct str url;      /* asked for, for messages */
	bool starting;       /* http_send is on the stack */
	bool gone;           /* over came while it was starting */
	enum step_rc result; /* STEP_PENDING, or how it ended while it was starting */
	bool dynamic;        /* the step is a toD */
	int method;          /* enum http_method_option */
	/* an answer that leads elsewhere */
	struct str redirect;  /* the address to ask next; n 0: none */
	int redirect_method;  /* enum http_method_option */
	bool redirect_abroad; /* it is another host or port: no credentials go there */
	unsigned redirects;
	/* an answer that is being collected */
	struct headers headers;
	int status;
	struct str reason, location;
};

/* http_request.c: method, address, head and body of ex's message into s->call. False: the exception
 * is set. */
bool http_request_build(struct http_send *s);
/* http_redirect.c: does the answer lead elsewhere, and will it be followed? Then s->redirect says
 * where. */
bool http_redirect(struct http_send *s, const struct http_head *h);
/* http_answer.c */
extern const struct http_call_ops http_send_call_ops;
void http_send_over(struct http_call *call);
/* The call has ended for the exchange: with the exception set, or well. */
void http_send_finish(struct http_send *s, bool ok);

#endif
