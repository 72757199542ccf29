/* core/loop: every wait is for an event, with a deadline. */
#include "core/loop/loop.h"

#include "core/base/mem.h"
#include "tests/lib/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEADLINE_MS = 10000 };

struct fixture {
	struct loop lp;
	int pair[2];
};

static void
setup(struct fixture *f)
{
	struct hinny_error err;

	assert_int_equal(loop_init(&f->lp, &err), HINNY_OK);
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, f->pair), 0);
}

static void
teardown(struct fixture *f)
{
	close(f->pair[0]);
	if (f->pair[1] != -1)
		close(f->pair[1]);
	loop_fini(&f->lp);
}

/* Turns the loop until *n has reached `want`. */
static void
turn_until(struct loop *lp, const int *n, int want)
{
	struct monotime deadline = monotime_add_ms(monotime_now(), DEADLINE_MS);

	while (*n < want && monotime_now().ns < deadline.ns)
		loop_turn(lp, 100);
	assert_true(*n >= want);
}

/* ---- descriptors ---- */

struct watcher {
	struct loop_fd w;
	int calls;
	unsigned events;
	struct watcher *closes; /* closes that one from its callback */
	bool pauses;
};

static void
on_fd(struct loop_fd *w, unsigned events)
{
	struct watcher *me = CONTAINER_OF(w, struct watcher, w);

	me->calls++;
	me->events = events;
	if (me->closes != NULL)
		loop_fd_close(&me->closes->w, NULL);
	if (me->pauses)
		loop_fd_watch(w, 0);
}

static void
watch(struct fixture *f, struct watcher *me, int fd, unsigned events)
{
	*me = (struct watcher){ .calls = 0 };
	assert_int_equal(loop_fd_init(&f->lp, &me->w, fd, on_fd, NULL), HINNY_OK);
	loop_fd_watch(&me->w, events);
}

static void
put(int fd)
{
	assert_int_equal(write(fd, "x", 1), 1);
}

static void
test_fd_is_level_triggered(void **state)
{
	struct fixture f;
	struct watcher me;
	char c;

	(void)state;
	setup(&f);
	watch(&f, &me, f.pair[0], LOOP_READ);
	loop_turn(&f.lp, 0);
	assert_int_equal(me.calls, 0);
	put(f.pair[1]);
	turn_until(&f.lp, &me.calls, 2);
	assert_int_equal(me.events, LOOP_READ);
	assert_int_equal(read(f.pair[0], &c, 1), 1);
	loop_turn(&f.lp, 0);
	assert_int_equal(me.calls, 2);
	loop_fd_close(&me.w, NULL);
	loop_fd_close(&me.w, NULL);
	teardown(&f);
}

static void
test_fd_events_can_be_changed(void **state)
{
	struct fixture f;
	struct watcher me;

	(void)state;
	setup(&f);
	put(f.pair[1]);
	watch(&f, &me, f.pair[0], LOOP_WRITE);
	turn_until(&f.lp, &me.calls, 1);
	assert_int_equal(me.events, LOOP_WRITE);
	loop_fd_watch(&me.w, LOOP_READ | LOOP_WRITE);
	turn_until(&f.lp, &me.calls, 2);
	assert_int_equal(me.events, LOOP_READ | LOOP_WRITE);
	loop_fd_watch(&me.w, 0);
	loop_turn(&f.lp, 0);
	assert_int_equal(me.calls, 2);
	loop_fd_watch(&me.w, LOOP_READ | LOOP_EXCLUSIVE);
	turn_until(&f.lp, &me.calls, 3);
	loop_fd_watch(&me.w, LOOP_READ);
	turn_until(&f.lp, &me.calls, 4);
	loop_fd_close(&me.w, NULL);
	teardown(&f);
}

static void
test_fd_hang_up_is_both(void **state)
{
	struct fixture f;
	struct watcher me;

	(void)state;
	setup(&f);
	watch(&f, &me, f.pair[0], LOOP_READ);
	close(f.pair[1]);
	f.pair[1] = -1;
	turn_until(&f.lp, &me.calls, 1);
	assert_int_equal(me.events, LOOP_READ | LOOP_WRITE);
	loop_fd_close(&me.w, NULL);
	teardown(&f);
}

static void
test_fd_edge_tells_once(void **state)
{
	struct fixture f;
	struct watcher me;

	(void)state;
	setup(&f);
	put(f.pair[1]);
	watch(&f, &me, f.pair[0], LOOP_READ | LOOP_EDGE);
	turn_until(&f.lp, &me.calls, 1);
	assert_int_equal(me.events, LOOP_READ);
	for (int i = 0; i < 3; i++)
		loop_turn(&f.lp, 0);
	assert_int_equal(me.calls, 1);
	put(f.pair[1]); /* more: another edge */
	turn_until(&f.lp, &me.calls, 2);
	assert_int_equal(shutdown(f.pair[1], SHUT_WR), 0);
	turn_until(&f.lp, &me.calls, 3);
	assert_int_equal(me.events, LOOP_READ | LOOP_PEER_CLOSED);
	loop_fd_close(&me.w, NULL);
	teardown(&f);
}

static void
test_fd_paused_sees_no_hang_up(void **state)
{
	struct fixture f;
	struct watcher me;

	(void)state;
	setup(&f);
	watch(&f, &me, f.pair[0], LOOP_READ);
	loop_fd_watch(&me.w, 0);
	close(f.pair[1]);
	f.pair[1] = -1;
	for (int i = 0; i < 3; i++)
		loop_turn(&f.lp, 0);
	assert_int_equal(me.calls, 0);
	loop_fd_close(&me.w, NULL);
	teardown(&f);
}

static void
test_fd_closed_by_another_of_the_same_turn(void **state)
{
	struct fixture f;
	struct watcher a, b;

	(void)state;
	setup(&f);
	watch(&f, &a, f.pair[0], LOOP_READ);
	watch(&f, &b, f.pair[1], LOOP_READ);
	a.closes = &b;
	b.closes = &a;
	put(f.pair[0]);
	put(f.pair[1]);
	struct monotime deadline = monotime_add_ms(monotime_now(), DEADLINE_MS);
	while (a.calls + b.calls == 0 && monotime_now().ns < deadline.ns)
		loop_turn(&f.lp, 100);
	assert_int_equal(a.calls + b.calls, 1);
	loop_fd_close(&a.w, NULL);
	loop_fd_close(&b.w, NULL);
	teardown(&f);
}

static void
test_fd_negative_is_refused(void **state)
{
	struct fixture f;
	struct loop_fd w;
	struct hinny_error err;

	(void)state;
	setup(&f);
	assert_int_equal(loop_fd_init(&f.lp, &w, -1, on_fd, &err), HINNY_EINVAL);
	assert_string_equal(err.text, "cannot watch descriptor -1");
	teardown(&f);
}

static int closed_n;

static void
free_watcher(struct loop_fd *w)
{
	closed_n++;
	free(CONTAINER_OF(w, struct watcher, w));
}

static void
test_fd_close_callback_may_free(void **state)
{
	struct fixture f;
	struct watcher *me = MEM_NEW(struct watcher);

	(void)state;
	setup(&f);
	closed_n = 0;
	watch(&f, me, f.pair[0], LOOP_READ);
	loop_fd_close(&me->w, free_watcher);
	assert_int_equal(closed_n, 0);
	loop_turn(&f.lp, -1); /* does not wait */
	assert_int_equal(closed_n, 1);
	teardown(&f);
}

static void
test_fd_may_be_reused_at_once(void **state)
{
	struct fixture f;
	struct watcher me;

	(void)state;
	setup(&f);
	put(f.pair[0]);
	watch(&f, &me, f.pair[0], LOOP_READ);
	loop_fd_close(&me.w, NULL);
	watch(&f, &me, f.pair[1], LOOP_READ);
	turn_until(&f.lp, &me.calls, 1);
	loop_fd_close(&me.w, NULL);
	teardown(&f);
}

/* ---- timers ---- */

struct ticker {
	struct loop_timer t;
	int calls;
	int stop_at;
	char *order;
	char name;
};

static void
on_timer(struct loop_timer *t)
{
	struct ticker *me = CONTAINER_OF(t, struct ticker, t);

	me->calls++;
	if (me->order != NULL)
		me->order[strlen(me->order)] = me->name;
	if (me->calls == me->stop_at)
		loop_timer_stop(t);
}

static void
test_timer_fires_once_and_not_early(void **state)
{
	struct fixture f;
	struct ticker me = { .calls = 0 };

	(void)state;
	setup(&f);
	loop_timer_init(&f.lp, &me.t, on_timer);
	assert_false(loop_timer_active(&me.t));
	struct monotime start = monotime_now();
	loop_timer_start(&me.t, 20, 0);
	assert_true(loop_timer_active(&me.t));
	turn_until(&f.lp, &me.calls, 1);
	/* Whole milliseconds of the clock are counted: one less may pass. */
	assert_true(monotime_ms_between(start, monotime_now()) >= 19);
	assert_false(loop_timer_active(&me.t));
	loop_turn(&f.lp, 0);
	assert_int_equal(me.calls, 1);
	loop_timer_close(&me.t, NULL);
	assert_false(loop_timer_active(&me.t));
	teardown(&f);
}

static void
test_timer_order_restart_and_stop(void **state)
{
	struct fixture f;
	char order[16] = "";
	struct ticker a = { .order = order, .name = 'a' }, b = { .order = order, .name = 'b' };
	struct ticker c = { .order = order, .name = 'c' };

	(void)state;
	setup(&f);
	loop_timer_init(&f.lp, &a.t, on_timer);
	loop_timer_init(&f.lp, &b.t, on_timer);
	loop_timer_init(&f.lp, &c.t, on_timer);
	loop_timer_start(&a.t, 1, 0);
	loop_timer_start(&b.t, 10, 0);
	loop_timer_start(&c.t, 5, 0);
	loop_timer_start(&a.t, 30, 0); /* restarted */
	loop_timer_stop(&c.t);
	loop_timer_stop(&c.t);
	turn_until(&f.lp, &a.calls, 1);
	assert_string_equal(order, "ba");
	teardown(&f); /* closes what is left */
}

static void
test_timer_repeats(void **state)
{
	struct fixture f;
	struct ticker me = { .stop_at = 3 };

	(void)state;
	setup(&f);
	loop_timer_init(&f.lp, &me.t, on_timer);
	loop_timer_start(&me.t, 0, 1);
	turn_until(&f.lp, &me.calls, 3);
	assert_false(loop_timer_active(&me.t));
	loop_timer_close(&me.t, NULL);
	loop_timer_close(&me.t, NULL);
	teardown(&f);
}

static void
free_ticker(struct loop_timer *t)
{
	closed_n++;
	free(CONTAINER_OF(t, struct ticker, t));
}

static void
test_timer_memory(void **state)
{
	struct fixture f;
	struct ticker *a = MEM_NEW(struct ticker), *b = MEM_NEW(struct ticker);

	(void)state;
	setup(&f);
	closed_n = 0;
	loop_timer_init(&f.lp, &a->t, on_timer);
	loop_timer_init(&f.lp, &b->t, on_timer);
	loop_timer_start(&a->t, 0, 0);
	loop_timer_close(&a->t, free_ticker);
	loop_timer_close(&b->t, NULL);
	loop_free_later(&f.lp, b);
	loop_free_later(&f.lp, NULL);
	turn_until(&f.lp, &closed_n, 1);
	assert_int_equal(f.lp.garbage_n, 0);
	teardown(&f);
}

/* ---- the end of the turn ---- */

struct deferred {
	struct loop_defer d;
	struct loop *lp;
	int calls, again;
	struct loop_defer *cancels;
};

static void
on_defer(struct loop_defer *d)
{
	struct deferred *me = CONTAINER_OF(d, struct deferred, d);

	me->calls++;
	if (me->cancels != NULL)
		loop_defer_cancel(me->cancels);
	if (me->again-- > 0)
		loop_defer(me->lp, d);
}

static void
test_defer_runs_once_a_turn(void **state)
{
	struct fixture f;
	struct deferred me = { .lp = &f.lp, .again = 1 };

	(void)state;
	setup(&f);
	loop_defer_init(&me.d, on_defer);
	loop_defer(&f.lp, &me.d);
	loop_defer(&f.lp, &me.d);
	loop_turn(&f.lp, -1); /* does not wait */
	assert_int_equal(me.calls, 1);
	loop_turn(&f.lp, -1); /* nor does this one: it was asked for again */
	assert_int_equal(me.calls, 2);
	loop_turn(&f.lp, 0);
	assert_int_equal(me.calls, 2);
	teardown(&f);
}

static void
test_defer_can_be_cancelled(void **state)
{
	struct fixture f;
	struct deferred a = { .lp = &f.lp }, b = { .lp = &f.lp };

	(void)state;
	setup(&f);
	loop_defer_init(&a.d, on_defer);
	loop_defer_init(&b.d, on_defer);
	a.cancels = &b.d;
	loop_defer(&f.lp, &a.d);
	loop_defer(&f.lp, &b.d);
	loop_turn(&f.lp, 0);
	assert_int_equal(a.calls, 1);
	assert_int_equal(b.calls, 0);
	teardown(&f);
}

static struct loop *stopped;

static void
stop_loop(struct loop_timer *t)
{
	struct ticker *me = CONTAINER_OF(t, struct ticker, t);

	me->calls++;
	loop_stop(stopped);
}

static void
test_run_ends_after_the_turn_of_stop(void **state)
{
	struct fixture f;
	struct ticker me = { .calls = 0 };
	struct deferred last = { .lp = &f.lp };

	(void)state;
	setup(&f);
	stopped = &f.lp;
	loop_defer_init(&last.d, on_defer);
	loop_timer_init(&f.lp, &me.t, stop_loop);
	loop_timer_start(&me.t, 1, 0);
	loop_run(&f.lp);
	assert_int_equal(me.calls, 1);
	loop_timer_start(&me.t, 1, 0);
	loop_defer(&f.lp, &last.d);
	loop_run(&f.lp); /* again */
	assert_int_equal(me.calls, 2);
	assert_int_equal(last.calls, 1);
	loop_timer_close(&me.t, NULL);
	teardown(&f);
}

static void
test_now_moves_with_the_turns(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	struct monotime before = loop_now(&f.lp);
	assert_true(before.ns > 0);
	loop_turn(&f.lp, 1);
	assert_true(loop_now(&f.lp).ns > before.ns);
	teardown(&f);
}

/* ---- signals and wake-ups ---- */

struct signalled {
	struct loop_signal s;
	int calls, signum;
};

static void
on_signal(struct loop_signal *s, int signum)
{
	struct signalled *me = CONTAINER_OF(s, struct signalled, s);

	me->calls++;
	me->signum = signum;
}

static void
test_signal(void **state)
{
	struct fixture f;
	struct signalled me = { .calls = 0 };

	(void)state;
	setup(&f);
	assert_int_equal(loop_signal_init(&f.lp, &me.s, SIGUSR1, on_signal, NULL), HINNY_OK);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(me.calls, 0);
	turn_until(&f.lp, &me.calls, 1);
	assert_int_equal(me.signum, SIGUSR1);
	loop_signal_close(&me.s);
	loop_signal_close(&me.s);
	teardown(&f);
}

static void
test_signal_that_cannot_be_caught(void **state)
{
	struct fixture f;
	struct signalled me = { .calls = 0 };
	struct hinny_error err;

	(void)state;
	setup(&f);
	assert_int_equal(loop_signal_init(&f.lp, &me.s, SIGKILL, on_signal, &err), HINNY_EINVAL);
	assert_string_equal(err.text, "cannot watch signal 9: invalid argument");
	loop_turn(&f.lp, 0);
	teardown(&f);
}

static void
test_sigpipe_is_ignored(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	close(f.pair[1]);
	f.pair[1] = -1;
	assert_int_equal(write(f.pair[0], "x", 1), -1);
	teardown(&f);
}

enum { WAKES = 10000 };

struct woken {
	struct loop_wake w;
	int calls;
	atomic_int sent;
	int seen;
};

static void
on_wake(struct loop_wake *w)
{
	struct woken *me = CONTAINER_OF(w, struct woken, w);

	me->calls++;
	me->seen = atomic_load(&me->sent);
}

static void *
send_wakes(void *arg)
{
	struct woken *me = arg;

	for (int i = 0; i < WAKES; i++) {
		atomic_fetch_add(&me->sent, 1);
		loop_wake_send(&me->w);
	}
	return NULL;
}

static void
test_wake_from_a_thread_loses_nothing(void **state)
{
	struct fixture f;
	struct woken me = { .calls = 0 };
	pthread_t thread;

	(void)state;
	setup(&f);
	assert_int_equal(loop_wake_init(&f.lp, &me.w, on_wake, NULL), HINNY_OK);
	assert_int_equal(pthread_create(&thread, NULL, send_wakes, &me), 0);
	turn_until(&f.lp, &me.seen, WAKES);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(me.calls >= 1 && me.calls <= WAKES);
	loop_turn(&f.lp, 0);
	int calls = me.calls;
	loop_turn(&f.lp, 0);
	assert_int_equal(me.calls, calls); /* silent when nobody sends */
	loop_wake_send(&me.w);
	turn_until(&f.lp, &me.calls, calls + 1);
	loop_wake_close(&me.w);
	loop_wake_close(&me.w);
	teardown(&f);
}

int
main(void)
{
	UNIT_CASE(test_fd_is_level_triggered);
	UNIT_CASE(test_fd_events_can_be_changed);
	UNIT_CASE(test_fd_hang_up_is_both);
	UNIT_CASE(test_fd_edge_tells_once);
	UNIT_CASE(test_fd_paused_sees_no_hang_up);
	UNIT_CASE(test_fd_closed_by_another_of_the_same_turn);
	UNIT_CASE(test_fd_negative_is_refused);
	UNIT_CASE(test_fd_close_callback_may_free);
	UNIT_CASE(test_fd_may_be_reused_at_once);
	UNIT_CASE(test_timer_fires_once_and_not_early);
	UNIT_CASE(test_timer_order_restart_and_stop);
	UNIT_CASE(test_timer_repeats);
	UNIT_CASE(test_timer_memory);
	UNIT_CASE(test_defer_runs_once_a_turn);
	UNIT_CASE(test_defer_can_be_cancelled);
	UNIT_CASE(test_run_ends_after_the_turn_of_stop);
	UNIT_CASE(test_now_moves_with_the_turns);
	UNIT_CASE(test_signal);
	UNIT_CASE(test_signal_that_cannot_be_caught);
	UNIT_CASE(test_sigpipe_is_ignored);
	UNIT_CASE(test_wake_from_a_thread_loses_nothing);
	return unit_run("loop");
}
