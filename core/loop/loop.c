/*
 * The loop's turn: wait; events; libuv if it has something to do; then what was put off to the end:
 * deferred functions, closed watchers, garbage. Nothing here blocks but the one wait.
 */
#include "core/loop/loop.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/loop_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* -- what is put off to the end of the turn -- */

void
loop_defer_init(struct loop_defer *d, loop_defer_fn *fn)
{
	list_init(&d->node);
	d->fn = fn;
}

void
loop_defer(struct loop *lp, struct loop_defer *d)
{
	if (list_empty(&d->node))
		list_append(&lp->deferred, &d->node);
}

void
loop_defer_cancel(struct loop_defer *d)
{
	list_remove(&d->node);
}

/* Those that are asked for meanwhile belong to the next turn, which then does not wait. */
static void
run_deferred(struct loop *lp)
{
	struct list mine;

	if (list_empty(&lp->deferred))
		return;
	list_init(&mine);
	list_append(&lp->deferred, &mine); /* mine becomes the head of the ring … */
	list_remove(&lp->deferred);        /* … and the loop's list is empty */
	while (!list_empty(&mine)) {
		struct loop_defer *d = LIST_FIRST(&mine, struct loop_defer, node);
		list_remove(&d->node);
		d->fn(d);
	}
}

void
loop_free_later(struct loop *lp, void *p)
{
	if (p == NULL)
		return;
	if (lp->garbage_n == lp->garbage_cap) {
		lp->garbage_cap = lp->garbage_cap ? lp->garbage_cap * 2 : 16;
		lp->garbage = mem_realloc(lp->garbage, lp->garbage_cap * sizeof *lp->garbage);
	}
	lp->garbage[lp->garbage_n++] = p;
}

static void
run_uv(struct loop *lp)
{
	(void)uv_run(&lp->uv, UV_RUN_NOWAIT); /* the result only tells whether handles are left */
}

static void
free_garbage(struct loop *lp)
{
	if (lp->garbage_n == 0)
		return;
	if (lp->uv_closing > 0)
		run_uv(lp);
	if (lp->uv_closing > 0)
		return; /* a signal on its way keeps its handle for another turn */
	for (size_t i = 0; i < lp->garbage_n; i++)
		free(lp->garbage[i]);
	lp->garbage_n = 0;
}

void
loop_uv_close(struct loop *lp, uv_handle_t *h, uv_close_cb cb)
{
	lp->uv_closing++;
	uv_close(h, cb);
}

void
loop_uv_closed(struct loop *lp)
{
	lp->uv_closing--;
}

static void
end_turn(struct loop *lp)
{
	run_deferred(lp);
	loop_fd_run_closed(lp);
	free_garbage(lp);
}

/* -- the turn -- */

static int
wait_time(struct loop *lp, int max_wait_ms)
{
	if (!list_empty(&lp->deferred) || !list_empty(&lp->closing) || lp->garbage_n > 0)
		return 0;
	int ms = uv_backend_timeout(&lp->uv);
	if (ms == -1 || (max_wait_ms != -1 && max_wait_ms < ms))
		return max_wait_ms;
	return ms;
}

static void
wait_events(struct loop *lp, int ms)
{
	int n = epoll_wait(lp->epfd, lp->batch, LOOP_BATCH, ms);
	if (n == -1 && errno != EINTR)
		fatal("cannot wait for events: %m");
	lp->batch_at = 0;
	lp->batch_n = n > 0 ? n : 0;
	lp->now = monotime_now();
	uv_update_time(&lp->uv);
}

static void
dispatch_events(struct loop *lp)
{
	bool uv_ready = false;

	while (lp->batch_at < lp->batch_n) {
		struct epoll_event *ev = &lp->batch[lp->batch_at++];
		if (ev->data.ptr == &lp->uv)
			uv_ready = true;
		else if (ev->data.ptr != NULL)
			loop_fd_dispatch(ev->data.ptr, ev->events);
	}
	if (uv_ready || uv_backend_timeout(&lp->uv) == 0)
		run_uv(lp);
}

void
loop_turn(struct loop *lp, int max_wait_ms)
{
	uv_update_time(&lp->uv);
	wait_events(lp, wait_time(lp, max_wait_ms));
	dispatch_events(lp);
	end_turn(lp);
}

void
loop_run(struct loop *lp)
{
	end_turn(lp); /* what was asked for before the loop ran */
	while (!lp->stopping)
		loop_turn(lp, -1);
	lp->stopping = false;
}

void
loop_stop(struct loop *lp)
{
	lp->stopping = true;
}

/* -- beginning and end -- */

static void
do_nothing(uv_prepare_t *h)
{
	(void)h;
}

static enum hinny_rc
open_uv(struct loop *lp, struct hinny_error *err)
{
	int rc = uv_loop_init(&lp->uv);
	if (rc != 0)
		return hinny_error_errno(err, -rc, "cannot make an event loop");
	(void)uv_prepare_init(&lp->uv, &lp->alive); /* these two cannot fail */
	(void)uv_prepare_start(&lp->alive, do_nothing);
	return HINNY_OK;
}

static enum hinny_rc
open_epoll(struct loop *lp, struct hinny_error *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &lp->uv };

	lp->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (lp->epfd == -1 || epoll_ctl(lp->epfd, EPOLL_CTL_ADD, uv_backend_fd(&lp->uv), &ev) == -1)
		return hinny_error_errno(err, errno, "cannot make an epoll set");
	return HINNY_OK;
}

enum hinny_rc
loop_init(struct loop *lp, struct hinny_error *err)
{
	*lp = (struct loop){ .epfd = -1, .now = monotime_now() };
	list_init(&lp->deferred);
	list_init(&lp->closing);
	enum hinny_rc rc = open_uv(lp, err);
	if (rc != HINNY_OK)
		return rc;
	rc = open_epoll(lp, err);
	if (rc != HINNY_OK)
		loop_fini(lp);
	(void)signal(SIGPIPE, SIG_IGN); /* a valid signal: cannot fail */
	return rc;
}

static void
close_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

void
loop_fini(struct loop *lp)
{
	loop_fd_run_closed(lp);
	uv_walk(&lp->uv, close_handle, NULL);
	(void)uv_run(&lp->uv, UV_RUN_DEFAULT); /* until the last handle is closed */
	(void)uv_loop_close(&lp->uv);          /* nothing is left that could keep it busy */
	for (size_t i = 0; i < lp->garbage_n; i++)
		free(lp->garbage[i]);
	free(lp->garbage);
	lp->garbage = NULL;
	lp->garbage_n = 0;
	if (lp->epfd != -1)
		(void)close(lp->epfd); /* holds nothing that could be lost */
	lp->epfd = -1;
}
