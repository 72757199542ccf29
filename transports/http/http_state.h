/* What hinny-http has beside the worker's own: server, client, route table. One a process, reached
 * by worker_data(). */
#ifndef HINNY_HTTP_HTTP_STATE_H
#define HINNY_HTTP_HTTP_STATE_H

#include "transports/http/client.h"
#include "transports/http/route_table.h"
#include "transports/http/server.h"
#include "workers/worker.h"

struct http_send;

struct http_state {
	struct worker *wk;
	struct http_io io;
	struct http_server server;
	struct http_client client;
	struct route_table routes;
	bool any_produces;       /* some route looks at Accept */
	bool ending;             /* nobody follows when this worker has drained */
	struct arena head_arena; /* what looking a request up needs; reset for each */
	struct list sends_free;  /* struct http_send */
	uint32_t sends_free_n;
	struct timeout_queue *q_connect, *q_answer;
};

static inline struct http_state *
http_state_of(struct worker *wk)
{
	return worker_data(wk);
}

extern const struct http_server_ops platform_http_server_ops;
void http_sends_free(struct http_state *hs);

/* What a body is on the wire. */
enum http_payload {
	HTTP_PAYLOAD_NONE, /* null */
	HTTP_PAYLOAD_BYTES,
	HTTP_PAYLOAD_STREAM,
	HTTP_PAYLOAD_NOT /* a list or map, which no converter turns into bytes */
};
/* Text and bytes as they are, numbers as text, a map as a form when content_type says that it is
 * one. */
enum http_payload http_payload_of(
    struct arena *a, const struct value *v, struct str content_type, struct str *bytes);
/* A header that is a number, or text of digits. False when it is neither. */
bool http_number_of(struct arena *a, const struct value *v, int64_t *out);

#endif
