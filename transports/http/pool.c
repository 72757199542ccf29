/* Pools: one an address. Who gets which connection, who waits, what the name of the host means. */
#include "transports/http/client_priv.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

static void serve_waiting(struct http_origin *o);
static void on_serve(struct loop_defer *d);

/* ---- addresses ---- */

static bool
add_address(struct http_origin *o, const void *sa, socklen_t n)
{
	if (o->addresses_n == ORIGIN_ADDRESSES || n > sizeof o->addresses[0].sa)
		return false;
	memcpy(&o->addresses[o->addresses_n].sa, sa, n);
	o->addresses[o->addresses_n++].n = n;
	return true;
}

static void
set_numeric(struct http_origin *o)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = htons(o->port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(o->port) };

	if (inet_pton(AF_INET, o->host, &in4.sin_addr) == 1)
		o->numeric = add_address(o, &in4, sizeof in4);
	else if (inet_pton(AF_INET6, o->host, &in6.sin6_addr) == 1)
		o->numeric = add_address(o, &in6, sizeof in6);
}

static void
free_origin(struct http_origin *o)
{
	loop_defer_cancel(&o->serve);
	free(o->host);
	free(o);
}

/* Takes origins that nobody uses out, oldest first, when there are many. */
static void
trim(struct http_client *cl)
{
	LIST_FOREACH (&cl->origin_list, it, tmp) {
		struct http_origin *o = LIST_ENTRY(it, struct http_origin, node);
		if (cl->origins_n < ORIGINS_MAX)
			return;
		if (o->refs > 0 || o->conns_n > 0 || o->resolving || !list_empty(&o->waiting))
			continue;
		list_remove(&o->node);
		(void)hash_remove(&cl->origins, o->key);
		cl->origins_n--;
		free_origin(o);
	}
}

struct http_origin *
http_origin_get(struct http_client *cl, struct str host, uint16_t port)
{
	char key[300];
	int n =
	    snprintf(key, sizeof key, "%.*s:%u", (int)(host.n < 256 ? host.n : 256), host.p, port);

	for (int i = 0; i < n; i++)
		if (key[i] >= 'A' && key[i] <= 'Z')
			key[i] |= 0x20;
	struct http_origin *o = hash_find(&cl->origins, (struct str){ key, (size_t)n });
	if (o == NULL) {
		trim(cl);
		o = mem_zalloc(sizeof *o + (size_t)n);
		memcpy(o + 1, key, (size_t)n);
		o->key = (struct str){ (char *)(o + 1), (size_t)n };
		o->cl = cl;
		o->host = mem_strndup(host.p, host.n);
		o->port = port;
		list_init(&o->idle);
		list_init(&o->busy);
		list_init(&o->waiting);
		loop_defer_init(&o->serve, on_serve);
		set_numeric(o);
		(void)hash_put(&cl->origins, o->key, o); /* there was none */
		list_append(&cl->origin_list, &o->node);
		cl->origins_n++;
	}
	o->refs++;
	return o;
}

struct http_origin *
http_origin_ref(struct http_origin *o)
{
	o->refs++;
	return o;
}

struct str
http_origin_key(const struct http_origin *o)
{
	return o->key;
}

void
http_origin_put(struct http_origin *o)
{
	ASSERT(o->refs > 0);
	o->refs--;
}

/* ---- looking a name up ---- */

static void
fail_waiting(struct http_origin *o, const char *text)
{
	while (!list_empty(&o->waiting)) {
		struct http_call *call = LIST_FIRST(&o->waiting, struct http_call, node);
		pool_unwait(call);
		call_fail(call, HTTP_FAIL_UNKNOWN_HOST, text);
	}
}

static void
on_lookup(void *arg, const struct addrinfo *addresses, const char *error)
{
	struct http_origin *o = arg;

	o->resolving = false;
	if (o->cl == NULL) { /* the client has gone meanwhile */
		free_origin(o);
		return;
	}
	if (addresses != NULL) {
		o->addresses_n = 0;
		for (const struct addrinfo *ai = addresses; ai != NULL; ai = ai->ai_next)
			if (!add_address(o, ai->ai_addr, ai->ai_addrlen))
				break;
		o->resolved = loop_now(o->cl->io->lp);
	}
	o->refs++; /* what is called here may let go of it */
	if (o->addresses_n == 0)
		fail_waiting(o, error != NULL ? error : "the name has no address");
	else
		serve_waiting(o); /* with the old addresses when looking them up failed */
	o->refs--;
}

static void
look_up(struct http_origin *o)
{
	struct hinny_error err;

	o->resolving = true;
	if (loop_resolve(o->cl->io->lp, o->host, o->port, on_lookup, o, &err) != HINNY_OK) {
		o->resolving = false;
		fail_waiting(o, err.text);
	}
}

static bool
has_addresses(const struct http_origin *o)
{
	if (o->numeric)
		return true;
	return o->addresses_n > 0 &&
	    monotime_ms_between(o->resolved, loop_now(o->cl->io->lp)) < ORIGIN_FRESH_MS;
}

/* ---- connections ---- */

static struct client_conn *
take_idle(struct http_origin *o)
{
	int64_t now = loop_now(o->cl->io->lp).ns;

	while (!list_empty(&o->idle)) {
		struct client_conn *cc = LIST_FIRST(&o->idle, struct client_conn, node);
		if (cc->usable_until.ns > now && !cc->conn.peer_closed && !cc->conn.readable)
			return cc;
		client_close(cc);
	}
	return NULL;
}

static void
on_wait_timeout(struct timeout *t)
{
	struct http_call *call = CONTAINER_OF(t, struct http_call, timeout);

	pool_unwait(call);
	call_fail(call, HTTP_FAIL_POOL_TIMEOUT, "no connection became free in time");
}

void
pool_unwait(struct http_call *call)
{
	list_remove(&call->node);
	timeout_cancel(&call->timeout);
}

void
pool_take(struct http_call *call)
{
	struct http_origin *o = call->origin;
	struct client_conn *cc = call->fresh_only ? NULL : take_idle(o);

	if (cc != NULL) {
		client_assign(cc, call);
		return;
	}
	if (call->fresh_only && o->conns_n >= o->cl->conns_max && !list_empty(&o->idle))
		client_close(LIST_ENTRY(o->idle.prev, struct client_conn, node));
	if (has_addresses(o) && o->conns_n < o->cl->conns_max) {
		client_connect(o, call, 0);
		return;
	}
	list_append(&o->waiting, &call->node);
	call->timeout.fn = on_wait_timeout;
	timeout_set(&call->timeout, call->q_wait);
	if (!has_addresses(o) && !o->resolving)
		look_up(o);
}

static void
serve_waiting(struct http_origin *o)
{
	while (!list_empty(&o->waiting) && o->conns_n < o->cl->conns_max) {
		struct http_call *call = LIST_FIRST(&o->waiting, struct http_call, node);
		pool_unwait(call);
		client_connect(o, call, 0);
	}
}

/* At the end of the turn: whoever closed a connection is in the middle of something. */
static void
on_serve(struct loop_defer *d)
{
	struct http_origin *o = CONTAINER_OF(d, struct http_origin, serve);

	if (list_empty(&o->waiting) || o->cl->closing)
		return;
	if (has_addresses(o))
		serve_waiting(o);
	else if (!o->resolving)
		look_up(o);
}

void
pool_closed(struct http_origin *o)
{
	if (!list_empty(&o->waiting) && !o->cl->closing)
		loop_defer(o->cl->io->lp, &o->serve);
}

void
pool_give(struct client_conn *cc)
{
	struct http_origin *o = cc->origin;

	LIST_FOREACH (&o->waiting, it, tmp) {
		struct http_call *call = LIST_ENTRY(it, struct http_call, node);
		if (call->fresh_only)
			continue;
		pool_unwait(call);
		client_assign(cc, call);
		return;
	}
	if (o->cl->draining) {
		client_close(cc);
		return;
	}
	client_keep(cc);
}

/* ---- the client ---- */

void
http_client_init(struct http_client *cl, struct http_io *io, uint32_t conns_max, int64_t idle_ms,
    uint64_t max_head, size_t buffered_body)
{
	*cl = (struct http_client){ .io = io,
		.conns_max = conns_max,
		.max_head = max_head,
		.buffered_body = buffered_body };
	cl->q_idle = timeouts_queue(&io->timeouts, idle_ms);
	hash_init(&cl->origins, false);
	list_init(&cl->origin_list);
}

void
http_client_drain(struct http_client *cl)
{
	cl->draining = true;
	LIST_FOREACH (&cl->origin_list, it, tmp) {
		struct http_origin *o = LIST_ENTRY(it, struct http_origin, node);
		while (!list_empty(&o->idle))
			client_close(LIST_FIRST(&o->idle, struct client_conn, node));
	}
}

void
http_client_close(struct http_client *cl)
{
	cl->closing = true;
	http_client_drain(cl);
	LIST_FOREACH (&cl->origin_list, it, tmp) {
		struct http_origin *o = LIST_ENTRY(it, struct http_origin, node);
		fail_waiting(o, "the worker stops");
		while (!list_empty(&o->busy)) {
			struct client_conn *cc = LIST_FIRST(&o->busy, struct client_conn, node);
			client_lost(cc, cc->answer_began ? HTTP_FAIL_CUT : HTTP_FAIL_NO_ANSWER,
			    "the worker stops");
		}
	}
}

void
http_client_fini(struct http_client *cl)
{
	LIST_FOREACH (&cl->origin_list, it, tmp) {
		struct http_origin *o = LIST_ENTRY(it, struct http_origin, node);
		list_remove(&o->node);
		o->cl = NULL;
		if (!o->resolving)
			free_origin(o);
	}
	hash_fini(&cl->origins);
}
