/*
 * hinny trace: each client that looks on has a place among WORKER_TRACES; an exchange that is sampled
 * for it carries the place's bit, and so do its children. A line goes out whole or not at all: a
 * client that does not read loses lines, which it is told, and holds nobody up. Several workers write
 * to the socket of one client, so a line is short enough to be one piece of the socket's buffer.
 *
 * docs/admin.md has what a line says.
 */
#include "workers/worker_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/model/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8192, BODY_SHOWN = 1000, HEADER_SHOWN = 100, HEADERS_SHOWN = 30 };

struct trace {
	struct worker *wk;
	struct loop_fd fd;
	int socket;
	unsigned place;
	char *route; /* id; NULL: all */
	uint32_t every, most;
	uint64_t seen, sampled, dropped;
	bool body;
};

static void
trace_closed(struct loop_fd *w)
{
	struct trace *tr = CONTAINER_OF(w, struct trace, fd);
	close(tr->socket);
	free(tr->route);
	free(tr);
}

/* Exchanges may still carry its bit: lines for a place that nobody has are not written. */
static void
trace_end(struct trace *tr)
{
	struct worker *wk = tr->wk;
	wk->traces[tr->place] = NULL;
	wk->traces_n--;
	loop_fd_close(&tr->fd, trace_closed);
}

/* The client says nothing: what can be read is its end. */
static void
trace_ready(struct loop_fd *w, unsigned events)
{
	struct trace *tr = CONTAINER_OF(w, struct trace, fd);
	char bytes[256];
	ssize_t n;
	(void)events;
	while ((n = recv(tr->socket, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
		;
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		trace_end(tr);
}

/* ---- lines ---- */

static void
add_text(struct buf *b, const char *name, struct str text, size_t max)
{
	bool cut = text.n > max;
	size_t n = cut ? max : text.n;
	while (cut && n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--; /* at a character's border */
	(void)buf_printf(b, ",\"%s\":", name); /* a line that is too long is dropped */
	(void)json_print_string(b, (struct str){ text.p, n });
	if (cut)
		(void)buf_printf(b, ",\"%s_length\":%zu", name, text.n);
}

static void
add_headers(struct buf *b, struct exchange *ex)
{
	uint32_t n = 0;
	(void)buf_add_str(b, STR_LIT(",\"headers\":{"));
	HEADERS_FOREACH(&ex->headers, h) {
		struct str text = h->value.type == VALUE_STREAM ? STR_LIT("[stream]") : value_text(&ex->arena, &h->value);
		if (n == HEADERS_SHOWN)
			break;
		if (n++ > 0)
			(void)buf_add_char(b, ',');
		(void)json_print_string(b, h->name);
		(void)buf_add_char(b, ':');
		(void)json_print_string(b, (struct str){ text.p, text.n < HEADER_SHOWN ? text.n : HEADER_SHOWN });
	}
	(void)buf_add_char(b, '}');
}

static void
add_message(struct buf *b, struct exchange *ex)
{
	bool stream = ex->body.type == VALUE_STREAM;
	const char *type = stream ? "stream" : value_class(&ex->body);
	add_headers(b, ex);
	if (type != NULL)
		add_text(b, "type", str_of(type), BODY_SHOWN);
	if (!stream && type != NULL)
		add_text(b, "body", value_text(&ex->arena, &ex->body), BODY_SHOWN);
}

static void
add_head(struct buf *b, struct worker *wk, struct exchange *ex, const char *event)
{
	int64_t us = ex->started.ns != 0 ? (monotime_now().ns - ex->started.ns) / 1000 : 0;
	(void)buf_printf(b, "{\"event\":\"%s\",\"worker\":\"%s.%u\",\"us\":%lld", event, wk->kind->kind, wk->args.index,
	    (long long)us);
	add_text(b, "exchange", exchange_id(ex), BODY_SHOWN);
	if (ex->parent != NULL)
		add_text(b, "parent", exchange_id(ex->parent), BODY_SHOWN);
	if (ex->route != NULL)
		add_text(b, "route", str_of(ex->route->id), HEADER_SHOWN);
}

static void
write_line(struct trace *tr, struct buf *b)
{
	if (tr->dropped > 0)
		(void)buf_printf(b, ",\"dropped\":%llu", (unsigned long long)tr->dropped);
	if (buf_add_str(b, STR_LIT("}\n")) != HINNY_OK) {
		tr->dropped++;
		return;
	}
	ssize_t n = send(tr->socket, b->p, b->n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == (ssize_t)b->n)
		tr->dropped = 0;
	else if (n == -1 && (errno == EAGAIN || errno == EINTR))
		tr->dropped++;
	else
		trace_end(tr); /* gone, or half a line */
}

typedef void add_fn(struct buf *b, struct exchange *ex, const void *arg, bool body);

static void
tell(struct worker *wk, struct exchange *ex, const char *event, add_fn *add, const void *arg)
{
	for (unsigned i = 0; i < WORKER_TRACES; i++) {
		struct trace *tr = wk->traces[i];
		struct buf b;
		if (tr == NULL || !(ex->traced >> i & 1))
			continue;
		buf_init(&b, LINE_MAX_BYTES);
		add_head(&b, wk, ex, event);
		add(&b, ex, arg, tr->body);
		write_line(tr, &b);
		buf_fini(&b);
	}
}

static void
add_begin(struct buf *b, struct exchange *ex, const void *arg, bool body)
{
	(void)arg;
	if (ex->from_route != NULL)
		add_text(b, "from", str_of(ex->from_route->from->key), BODY_SHOWN);
	if (body)
		add_message(b, ex);
}

static void
add_step(struct buf *b, struct exchange *ex, const void *arg, bool body)
{
	const struct step *st = arg;
	add_text(b, "step", str_of(st->id != NULL ? st->id : st->parent != NULL ? st->parent->id : ""), HEADER_SHOWN);
	add_text(b, "kind", str_of(st->eip->name), HEADER_SHOWN);
	if (st->endpoint != NULL)
		add_text(b, "endpoint", str_of(endpoint_name(st->endpoint)), BODY_SHOWN);
	if (st->owner != NULL)
		add_text(b, "owner", str_of(st->owner), HEADER_SHOWN);
	if (st->at.file != NULL) {
		add_text(b, "file", str_of(st->at.file), BODY_SHOWN);
		(void)buf_printf(b, ",\"line\":%u", st->at.line);
	}
	if (ex->top != NULL && ex->top->tries > 0)
		(void)buf_printf(b, ",\"try\":%u", ex->top->tries);
	if (body)
		add_message(b, ex);
}

static void
add_end(struct buf *b, struct exchange *ex, const void *arg, bool body)
{
	const struct exception *e = ex->exception;
	(void)arg;
	if (e != NULL) {
		add_text(b, "exception", str_of(exception_class(e->id)->name), BODY_SHOWN);
		add_text(b, "error", e->message, BODY_SHOWN);
	}
	if (body)
		add_message(b, ex);
}

/* ---- what the worker tells ---- */

void
trace_begin(struct worker *wk, struct exchange *ex)
{
	for (unsigned i = 0; i < WORKER_TRACES; i++) {
		struct trace *tr = wk->traces[i];
		if (tr == NULL || (tr->route != NULL && strcmp(tr->route, ex->from_route->id) != 0) ||
		    (tr->most > 0 && tr->sampled >= tr->most) || tr->seen++ % tr->every != 0)
			continue;
		tr->sampled++;
		ex->traced |= (uint8_t)(1u << i);
	}
	if (ex->traced != 0)
		tell(wk, ex, "begin", add_begin, NULL);
}

void
trace_step(struct engine *en, struct exchange *ex, const struct step *st)
{
	tell(worker_of(en), ex, "step", add_step, st);
}

void
trace_done(struct worker *wk, struct exchange *ex)
{
	tell(wk, ex, "end", add_end, NULL);
}

/* ---- clients ---- */

void
trace_start(struct worker *wk, const struct control_trace *wanted, int fd)
{
	struct hinny_error err;
	unsigned place = 0;
	while (place < WORKER_TRACES && wk->traces[place] != NULL)
		place++;
	if (place == WORKER_TRACES) {
		static const char text[] = "{\"event\":\"refused\",\"error\":\"too many look on already\"}\n";
		(void)send(fd, text, sizeof text - 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* a courtesy */
		close(fd);
		return;
	}
	struct trace *tr = MEM_NEW(struct trace);
	*tr = (struct trace){
		.wk = wk,
		.socket = fd,
		.place = place,
		.route = wanted->route.n > 0 ? mem_strndup(wanted->route.p, wanted->route.n) : NULL,
		.every = wanted->every > 0 ? wanted->every : 1,
		.most = wanted->most,
		.body = wanted->body,
	};
	if (loop_fd_init(&wk->lp, &tr->fd, fd, trace_ready, &err) != HINNY_OK) {
		log_error("cannot serve hinny trace: %s", err.text);
		close(fd);
		free(tr->route);
		free(tr);
		return;
	}
	wk->traces[place] = tr;
	wk->traces_n++;
	loop_fd_watch(&tr->fd, LOOP_READ);
}

void
trace_fini(struct worker *wk)
{
	for (unsigned i = 0; i < WORKER_TRACES; i++)
		if (wk->traces[i] != NULL)
			trace_end(wk->traces[i]);
}
