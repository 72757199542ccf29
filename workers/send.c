/*
 * hinny send: the supervisor hands the client's socket to a home worker, and the client's message becomes an exchange here. docs/admin.md has the protocol: the body's
 * bytes up to the end of the client's sending side; the answer is one JSON line (outcome and headers) and the bytes of the body.
 */
#include "workers/worker_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/compile.h"
#include "core/model/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct send {
	struct worker *wk;
	struct loop_fd fd;
	int socket;
	struct buf in, out;
	size_t written;
	struct str endpoint, headers; /* in the arena */
	struct arena arena;
	struct exchange *ex;
	struct step *step;
};

static void
send_closed(struct loop_fd *w)
{
	struct send *sd = CONTAINER_OF(w, struct send, fd);
	const struct component_ops *ops = sd->step != NULL ? sd->step->endpoint->ops : NULL;
	close(sd->socket);
	if (ops != NULL && ops->release != NULL)
		ops->release(sd->wk, sd->step->endpoint);
	buf_fini(&sd->in);
	buf_fini(&sd->out);
	arena_fini(&sd->arena);
	sd->wk->sends--;
	free(sd);
}

static void
send_write(struct send *sd)
{
	while (sd->written < sd->out.n) {
		ssize_t n = send(sd->socket, sd->out.p + sd->written, sd->out.n - sd->written, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN) {
			loop_fd_watch(&sd->fd, LOOP_WRITE);
			return;
		}
		if (n == -1)
			break; /* the client is gone */
		sd->written += (size_t)n;
	}
	loop_fd_close(&sd->fd, send_closed);
}

/* One JSON line, then the body. `rest` is further members, beginning with a comma. */
static void
send_answer(struct send *sd, bool ok, struct str rest, struct str body)
{
	/* the buffer has no bound, so nothing can fail */
	(void)buf_printf(&sd->out, "{\"ok\":%s,\"length\":%zu%.*s}\n", ok ? "true" : "false", body.n, STR_FMT(rest));
	(void)buf_add_str(&sd->out, body);
	send_write(sd);
}

static void
add_member(struct buf *b, const char *name, struct str text)
{
	(void)buf_printf(b, ",\"%s\":", name); /* no bound */
	(void)json_print_string(b, text);
}

static void
send_refuse(struct send *sd, const char *why)
{
	struct buf rest;
	buf_init(&rest, 0);
	add_member(&rest, "error", str_of(why));
	send_answer(sd, false, (struct str){ rest.p, rest.n }, (struct str){ 0 });
	buf_fini(&rest);
}

static void
add_headers(struct buf *b, struct exchange *ex)
{
	const char *sep = ",\"headers\":{";
	HEADERS_FOREACH(&ex->headers, h) {
		(void)buf_add_str(b, str_of(sep)); /* no bound */
		(void)json_print_string(b, h->name);
		(void)buf_add_char(b, ':');
		(void)json_print_string(b, value_text(&ex->arena, &h->value));
		sep = ",";
	}
	(void)buf_add_str(b, str_of(*sep == ',' && sep[1] == '\0' ? "}" : ",\"headers\":{}"));
}

static void
send_done(struct exchange *ex)
{
	struct send *sd = ex->owner;
	struct buf rest;
	buf_init(&rest, 0);
	if (ex->exception != NULL) {
		add_member(&rest, "exception", str_of(exception_class(ex->exception->id)->name));
		add_member(&rest, "error", ex->exception->message);
	}
	add_headers(&rest, ex);
	struct str body = ex->body.type != VALUE_STREAM ? value_payload(&ex->arena, &ex->body) : (struct str){ 0 };
	send_answer(sd, ex->exception == NULL, (struct str){ rest.p, rest.n }, body);
	buf_fini(&rest);
	sd->wk->inflight--;
	exchange_free(&sd->wk->pool, &sd->ex);
}

static bool
set_headers(struct send *sd, struct exchange *ex)
{
	const struct json_node *root;
	if (sd->headers.n == 0)
		return true;
	if (json_parse(&ex->arena, sd->headers, &root, NULL) != HINNY_OK || root->type != JSON_IS_OBJECT)
		return false;
	const struct json_node *key = json_first(root);
	for (uint32_t i = 0; i < root->children; i++) {
		const struct json_node *v = json_next(key);
		if (v->type != JSON_IS_STRING)
			return false;
		exchange_set_header(ex, json_text(&ex->arena, key), value_str(json_text(&ex->arena, v)));
		key = json_next(v);
	}
	return true;
}

/* A program step of its own: `to` the endpoint. */
static struct step *
make_step(struct send *sd, struct hinny_error *err)
{
	struct endpoint *ep = endpoint_make(&sd->arena, sd->wk->program, sd->endpoint, err);
	if (ep == NULL)
		return NULL;
	ep->ops = bind_find_component(sd->wk, ep->component);
	bool mine = bind_is_mine(sd->wk, ep->component->owner);
	if (!mine || (ep->target == NULL && (ep->ops == NULL || ep->ops->send == NULL))) {
		hinny_error_set(err, HINNY_EREFUSED, "%.*s cannot be sent to from a worker of kind %s; send to a direct: route",
		    STR_FMT(sd->endpoint), sd->wk->kind->kind);
		return NULL;
	}
	if (ep->ops != NULL && ep->ops->prepare != NULL && ep->ops->prepare(sd->wk, ep, err) != HINNY_OK)
		return NULL;
	struct step *st = ARENA_NEW(&sd->arena, struct step);
	st->eip = eip_find(STR_LIT("to"));
	st->conf = arena_zalloc(&sd->arena, st->eip->conf_size); /* no options: none of them is set */
	st->id = "send";
	st->endpoint = ep;
	st->route = sd->wk->program->routes[0];
	st->reads = st->writes = (struct access){ .flags = ACCESS_ALL };
	st->call_run = 1;
	return st;
}

static void
send_run(struct send *sd)
{
	struct hinny_error err;
	loop_fd_watch(&sd->fd, 0);
	sd->step = make_step(sd, &err);
	if (sd->step == NULL) {
		send_refuse(sd, err.text);
		return;
	}
	struct exchange *ex = sd->ex = worker_exchange_new(sd->wk, sd->step->route);
	ex->pattern = PATTERN_IN_OUT;
	ex->owner = sd;
	ex->done = send_done;
	sd->wk->inflight++;
	if (!set_headers(sd, ex)) {
		sd->wk->inflight--;
		exchange_free(&sd->wk->pool, &sd->ex);
		send_refuse(sd, "the headers are no JSON object");
		return;
	}
	exchange_set_body(ex, value_str(arena_str(&ex->arena, (struct str){ sd->in.p, sd->in.n })));
	engine_start_steps(&sd->wk->engine, ex, sd->step, 1);
}

static void
send_ready(struct loop_fd *w, unsigned events)
{
	struct send *sd = CONTAINER_OF(w, struct send, fd);
	if (sd->out.n > 0) {
		send_write(sd);
		return;
	}
	if (sd->ex != NULL || !(events & LOOP_READ))
		return;
	char bytes[16384];
	for (;;) {
		ssize_t n = recv(sd->socket, bytes, sizeof bytes, 0);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return;
		if (n == -1) {
			loop_fd_close(&sd->fd, send_closed);
			return;
		}
		if (n == 0)
			break;
		if (buf_add(&sd->in, bytes, (size_t)n) != HINNY_OK) {
			send_refuse(sd, "the body is larger than http.max_body");
			return;
		}
	}
	send_run(sd);
}

void
send_start(struct worker *wk, struct str endpoint, struct str headers, int fd)
{
	struct hinny_error err;
	struct send *sd = MEM_NEW(struct send);
	sd->wk = wk;
	sd->socket = fd;
	arena_init(&sd->arena);
	sd->endpoint = arena_str(&sd->arena, endpoint);
	sd->headers = arena_str(&sd->arena, headers);
	buf_init(&sd->in, wk->program->settings->http.max_body);
	buf_init(&sd->out, 0);
	int flags = fcntl(fd, F_GETFL);
	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1 ||
	    loop_fd_init(&wk->lp, &sd->fd, fd, send_ready, &err) != HINNY_OK) {
		log_error("cannot serve hinny send: %s", strerror(errno));
		close(fd);
		arena_fini(&sd->arena);
		free(sd);
		return;
	}
	wk->sends++;
	loop_fd_watch(&sd->fd, LOOP_READ);
}
