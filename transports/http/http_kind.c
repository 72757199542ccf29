/* The http worker as a kind: what it makes at its start, how it drains, how it ends. */
#include "transports/http/http.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "transports/http/http_state.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFERED_BODY = CONN_READ - 2048 }; /* with its head it fits a usual read */

static int64_t
at_least_one(int64_t ms)
{
	return ms > 0 ? ms : 1;
}

static enum hinny_rc
kind_init(struct worker *wk, struct hinny_error *err)
{
	const struct settings *set = worker_settings(wk);
	struct http_state *hs = MEM_NEW(struct http_state);
	struct http_server_limits limits = {
		.max_head = set->http.max_head,
		.buffered_body = BUFFERED_BODY,
		.kept_body = set->spool_memory,
		.max_body = set->http.max_body,
		.head_ms = at_least_one(set->http.request_head_timeout_ms),
		.body_ms = at_least_one(set->http.request_body_timeout_ms),
		.idle_ms = at_least_one(set->http.idle_timeout_ms),
		.write_ms = at_least_one(set->http.write_timeout_ms),
		.server_header = set->http.server_header,
	};

	(void)err;
	hs->wk = wk;
	http_io_init(&hs->io, worker_loop(wk));
	http_server_init(&hs->server, &hs->io, &platform_http_server_ops, hs, &limits);
	http_client_init(&hs->client, &hs->io, (uint32_t)set->http.client_connections,
	    at_least_one(set->http.client_idle_timeout_ms), set->http.max_head, BUFFERED_BODY);
	route_table_init(&hs->routes);
	arena_init(&hs->head_arena);
	list_init(&hs->sends_free);
	hs->q_connect =
	    timeouts_queue(&hs->io.timeouts, at_least_one(set->http.connect_timeout_ms));
	hs->q_answer =
	    timeouts_queue(&hs->io.timeouts, at_least_one(set->http.response_timeout_ms));
	worker_set_data(wk, hs);
	return HINNY_OK;
}

static void
kind_start(struct worker *wk)
{
	struct http_state *hs = http_state_of(wk);
	struct hinny_error err;
	bool shared;

	for (unsigned i = 0;; i++) {
		int fd = worker_listener(wk, i, &shared);
		if (fd == -1)
			break;
		if (http_server_listen(&hs->server, fd, shared, true, false, &err) != HINNY_OK)
			log_error("http: cannot serve: %s", err.text);
	}
}

/* Do we listen on that address? Loopback ones alone: others may be another machine's. */
static bool
is_own_address(const struct settings *set, const struct sockaddr *sa)
{
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)(const void *)sa;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)sa;
	uint16_t port = ntohs(sa->sa_family == AF_INET6 ? in6->sin6_port : in4->sin_port);

	if (sa->sa_family == AF_INET6 ? !IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr)
				      : ntohl(in4->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		return false;
	for (size_t i = 0; i < set->http.listen_n; i++) {
		const struct listen_address *at = &set->http.listen[i];
		if (at->unix_path == NULL && at->fd_name == NULL && at->port == port)
			return true;
	}
	return false;
}

static bool
address_is_self(void *arg, const struct sockaddr *sa)
{
	const struct http_state *hs = arg;

	return is_own_address(worker_settings(hs->wk), sa);
}

/* Exchanges that are finished while the broker ends may still call a route of it, though nobody
 * else is let in. -1: it is not our address. */
static int
connect_to_self(void *arg, const struct sockaddr *sa)
{
	struct http_state *hs = arg;
	struct hinny_error err;
	int pair[2];

	if (!address_is_self(hs, sa) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == -1)
		return -1;
	if (http_server_adopt(&hs->server, pair[0], &err) == HINNY_OK)
		return pair[1];
	(void)close(pair[0]); /* nothing was sent */
	(void)close(pair[1]);
	return -1;
}

/* Idle connections are kept at first even when nobody follows: exchanges of the other workers that
 * are still in flight may come over them. When these are done, a second order closes what is left. */
static void
kind_drain(struct worker *wk)
{
	struct http_state *hs = http_state_of(wk);
	bool final = worker_drain_final(wk);

	if (hs == NULL)
		return;
	if (final) /* other workers' exchanges may still call a route of ours: see kind_all_drain() */
		http_server_wind_down(&hs->server);
	else
		http_server_drain(&hs->server);
	hs->client.self = final ? connect_to_self : NULL;
	hs->client.is_self = address_is_self;
	hs->client.self_arg = hs;
	if (!final)
		http_client_drain(&hs->client); /* idle ones may be what another draining worker waits for */
	if (final && hs->ending)
		http_server_close_idle(&hs->server);
	hs->ending = final;
}

static void
kind_all_drain(struct worker *wk)
{
	struct http_state *hs = http_state_of(wk);

	if (hs == NULL)
		return;
	http_server_accept_waiting(&hs->server); /* nobody follows who could answer them */
	http_server_drain(&hs->server);
}

static bool
kind_busy(struct worker *wk)
{
	const struct http_state *hs = http_state_of(wk);

	return hs != NULL && hs->server.active_n > 0;
}

static void
kind_listener(struct worker *wk, int fd, bool until_empty)
{
	struct http_state *hs = http_state_of(wk);
	struct hinny_error err;

	if (http_server_listen(&hs->server, fd, true, true, until_empty, &err) == HINNY_OK)
		return;
	log_error("http: cannot serve a further socket: %s", err.text);
	(void)close(fd); /* it is ours, and of no use */
}

static void
kind_fini(struct worker *wk)
{
	struct http_state *hs = http_state_of(wk);

	if (hs == NULL)
		return;
	http_client_close(&hs->client);
	http_server_close(&hs->server);
	http_client_fini(&hs->client);
	http_server_fini(&hs->server);
	http_sends_free(hs);
	route_table_fini(&hs->routes);
	arena_fini(&hs->head_arena);
	http_io_fini(&hs->io);
	worker_set_data(wk, NULL);
	loop_free_later(
	    worker_loop(wk), hs); /* connections that close this turn still look at it */
}

static const struct component_ops *const components[] = { &platform_http_ops, &http_ops, NULL };

const struct worker_kind http_kind = {
	.kind = "http",
	.components = components,
	.init = kind_init,
	.start = kind_start,
	.drain = kind_drain,
	.all_drain = kind_all_drain,
	.busy = kind_busy,
	.listener = kind_listener,
	.fini = kind_fini,
};
