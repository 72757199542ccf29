/* Listening sockets: a worker's own are emptied in batches; one that other processes poll too gives
 * one connection a turn. */
#include "transports/http/server_priv.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	ACCEPT_BATCH = 64,
	ACCEPT_WAITING = 4096, /* before a listening socket goes for good */
	ACCEPT_PAUSE_MS = 100, /* when descriptors run out */
	ACCEPT_SAY_MS = 10000, /* and that is said once in this time */
};

struct listener {
	struct list node;
	struct loop_fd w;
	struct http_server *srv;
	struct timeout pause;
	struct monotime said;
	int fd;
	bool shared, owned, until_empty;
};

static void
listener_close(struct listener *l)
{
	list_remove(&l->node);
	timeout_cancel(&l->pause);
	loop_fd_close(&l->w, NULL);
	if (l->owned)
		(void)close(l->fd); /* nothing can be done about it */
	loop_free_later(l->srv->io->lp, l);
}

static void
listener_watch(struct listener *l)
{
	loop_fd_watch(&l->w, LOOP_READ | (l->shared ? LOOP_EXCLUSIVE : 0));
}

static void
on_pause_over(struct timeout *t)
{
	listener_watch(CONTAINER_OF(t, struct listener, pause));
}

static void
say_short(struct listener *l, int why)
{
	struct monotime now = monotime_now();

	if (l->said.ns != 0 && monotime_ms_between(l->said, now) < ACCEPT_SAY_MS)
		return;
	l->said = now;
	log_error("http: connections have to wait: %s", strerror(why));
}

/* Returns true when there may be more. */
static bool
accept_one(struct listener *l)
{
	struct hinny_error err;
	int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		if (http_server_adopt(l->srv, fd, &err) != HINNY_OK) {
			log_warning("http: %s", err.text);
			(void)close(fd); /* nothing can be done about it */
		}
		return true;
	}
	if (errno == EAGAIN || errno == EWOULDBLOCK) {
		if (l->until_empty)
			listener_close(l);
		return false;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
		say_short(l, errno);
		loop_fd_watch(&l->w, 0);
		timeout_set(&l->pause, timeouts_queue(&l->srv->io->timeouts, ACCEPT_PAUSE_MS));
		return false;
	}
	return true; /* that one broke before it was accepted */
}

static void
on_listener(struct loop_fd *w, unsigned events)
{
	struct listener *l = CONTAINER_OF(w, struct listener, w);
	int n = l->shared ? 1 : ACCEPT_BATCH;

	(void)events;
	while (n-- > 0 && accept_one(l))
		continue;
}

enum hinny_rc
http_server_listen(struct http_server *srv, int fd, bool shared, bool owned, bool until_empty,
    struct hinny_error *err)
{
	struct listener *l = MEM_NEW(struct listener);
	enum hinny_rc rc = loop_fd_init(srv->io->lp, &l->w, fd, on_listener, err);
	int on = 1;

	if (rc != HINNY_OK) {
		free(l);
		return rc;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on,
	    sizeof on); /* accepted ones inherit it; a unix socket needs none */
	l->srv = srv;
	l->fd = fd;
	l->shared = shared;
	l->owned = owned;
	l->until_empty = until_empty;
	timeout_init(&l->pause, on_pause_over);
	list_append(&srv->listeners, &l->node);
	srv->accepting = true;
	listener_watch(l);
	while (until_empty && accept_one(l))
		continue;
	return HINNY_OK;
}

void
http_server_accept_waiting(struct http_server *srv)
{
	LIST_FOREACH (&srv->listeners, it, tmp) {
		struct listener *l = LIST_ENTRY(it, struct listener, node);
		int n = ACCEPT_WAITING;
		while (n-- > 0 && accept_one(l))
			continue;
	}
}

void
server_stop_listening(struct http_server *srv)
{
	srv->accepting = false;
	LIST_FOREACH (&srv->listeners, it, tmp)
		listener_close(LIST_ENTRY(it, struct listener, node));
}
