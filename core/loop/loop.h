/*
 * The event loop: descriptors, timers, an end-of-turn hook, signals. One loop a process, one
 * thread. Descriptors are in an epoll set of the loop's own, where a connection costs one system
 * call and EPOLLEXCLUSIVE can be had; libuv lies in that set as one more descriptor and is run when
 * it has something to do (timers, signals, wake-ups, and whatever a caller starts on `uv`). Objects
 * are embedded in the caller's; after *_close they may be freed only once the close callback has
 * run (or with NULL, at the end of the turn: use loop_free_later for the memory).
 */
#ifndef HINNY_LOOP_LOOP_H
#define HINNY_LOOP_LOOP_H

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/list.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <uv.h>

enum { LOOP_BATCH = 256 };

struct loop {
	uv_loop_t uv;
	/* Does nothing: an active handle, without which libuv says that there is nothing to wait
	 * for. */
	uv_prepare_t alive;
	int epfd;
	struct list deferred; /* struct loop_defer */
	struct list closing;  /* struct loop_fd that have a callback to come */
	void **garbage;       /* of loop_free_later */
	size_t garbage_n, garbage_cap;
	size_t uv_closing;   /* handles of libuv whose close callback has not run */
	struct monotime now; /* of this turn */
	bool stopping;
	struct epoll_event batch[LOOP_BATCH];
	int batch_at, batch_n; /* events of this turn not yet seen: [batch_at, batch_n) */
};

/* Also has SIGPIPE ignored. */
enum hinny_rc loop_init(struct loop *lp, struct hinny_error *err);
/* Until loop_stop; the deferred ones of the last turn are run. */
void loop_run(struct loop *lp);
/*
 * One turn: waits for events, at most so long (-1: no limit), and serves them. For tests, and for
 * loops around this one.
 */
void loop_turn(struct loop *lp, int max_wait_ms);
void loop_stop(struct loop *lp);
/* Closes what is left of libuv's and frees; the process's descriptors stay as they are. */
void loop_fini(struct loop *lp);
static inline struct monotime
loop_now(const struct loop *lp)
{
	return lp->now;
}
/* Frees p (malloc'ed) when no callback of this turn can use it any more. */
void loop_free_later(struct loop *lp, void *p);

enum {
	LOOP_READ = 1,
	LOOP_WRITE = 2,
	/* For a listening socket that other processes watch as well: only some of them wake up. */
	LOOP_EXCLUSIVE = 4,
	/* Edge-triggered: what is ready is reported once, until it has been used up. Costs no
	   system call afterwards. */
	LOOP_EDGE = 8,
	/* Reported only, with LOOP_EDGE: the peer will send no more (what it has sent can still be
	   read), or the connection broke. */
	LOOP_PEER_CLOSED = 16,
};

struct loop_fd;
/* An error or hang-up is reported as both. */
typedef void loop_fd_fn(struct loop_fd *w, unsigned events);
/*
 * Watches a descriptor (socket, pipe, eventfd …; not a regular file, which is always ready). Does
 * not own it: close the watcher first, then the descriptor. Level-triggered.
 */
struct loop_fd {
	struct list closing; /* in loop.closing */
	struct loop *lp;
	loop_fd_fn *fn;
	void (*closed)(struct loop_fd *w);
	int fd;
	unsigned events; /* what is being watched; 0: paused */
	bool open;
};
/* Watches nothing yet. */
enum hinny_rc loop_fd_init(
    struct loop *lp, struct loop_fd *w, int fd, loop_fd_fn *fn, struct hinny_error *err);
void loop_fd_watch(struct loop_fd *w, unsigned events); /* cheap when nothing changes */
/*
 * Stops at once; `closed` (may be NULL) runs at the end of the turn, when the memory of w may be
 * freed. Without a callback w may be initialised again at once. May be repeated.
 */
void loop_fd_close(struct loop_fd *w, void (*closed)(struct loop_fd *w));

struct loop_timer;
typedef void loop_timer_fn(struct loop_timer *t);
struct loop_timer {
	uv_timer_t uv;
	struct loop *lp;
	loop_timer_fn *fn;
	void (*closed)(struct loop_timer *t);
	bool open;
};
void loop_timer_init(struct loop *lp, struct loop_timer *t, loop_timer_fn *fn);
void loop_timer_start(struct loop_timer *t, int64_t ms, int64_t repeat_ms); /* restarts */
void loop_timer_stop(struct loop_timer *t);
bool loop_timer_active(const struct loop_timer *t);
void loop_timer_close(struct loop_timer *t, void (*closed)(struct loop_timer *t));

/*
 * A function to run once at the end of this turn of the loop, before it sleeps: batches leave here.
 */
struct loop_defer;
typedef void loop_defer_fn(struct loop_defer *d);
struct loop_defer {
	struct list node;
	loop_defer_fn *fn;
};
void loop_defer_init(struct loop_defer *d, loop_defer_fn *fn);
void loop_defer(struct loop *lp, struct loop_defer *d); /* once a turn however often it is asked */
void loop_defer_cancel(struct loop_defer *d);

struct loop_signal;
typedef void loop_signal_fn(struct loop_signal *s, int signum);
struct loop_signal {
	uv_signal_t uv;
	struct loop *lp;
	loop_signal_fn *fn;
	bool open;
};
enum hinny_rc loop_signal_init(struct loop *lp, struct loop_signal *s, int signum,
    loop_signal_fn *fn, struct hinny_error *err);
void loop_signal_close(struct loop_signal *s);

/*
 * Work that would keep the loop waiting (disks): `run` is called on a thread of libuv's pool and may
 * touch nothing but what is its own, `done` afterwards on the loop. It cannot be called off; the
 * memory of w stays until `done`, which may free it or start it anew. loop_fini waits for all.
 */
struct loop_work;
typedef void loop_work_fn(struct loop_work *w);
struct loop_work {
	uv_work_t uv;
	loop_work_fn *run, *done;
};
void loop_work_start(struct loop *lp, struct loop_work *w, loop_work_fn *run, loop_work_fn *done);

/* Wakes the loop from another thread (librdkafka's callbacks): they queue and wake, no more. */
struct loop_wake;
typedef void loop_wake_fn(struct loop_wake *w);
struct loop_wake {
	struct loop_fd fd; /* of an eventfd */
	loop_wake_fn *fn;
	atomic_bool pending;
	bool open;
};
enum hinny_rc loop_wake_init(
    struct loop *lp, struct loop_wake *w, loop_wake_fn *fn, struct hinny_error *err);
void loop_wake_send(struct loop_wake *w); /* any thread, until loop_wake_close */
void loop_wake_close(struct loop_wake *w);

/*
 * Looks the addresses of a host up on libuv's threads; `port` is put into them. fn is called once, never from inside: with the addresses (its until it returns), or with
 * NULL and a text that says why there are none. It cannot be cancelled: arg must outlive it, or know that it is of no use any more.
 */
struct addrinfo;
typedef void loop_resolve_fn(void *arg, const struct addrinfo *addresses, const char *error);
enum hinny_rc loop_resolve(
    struct loop *lp, const char *host, uint16_t port, loop_resolve_fn *fn, void *arg, struct hinny_error *err);

#endif
