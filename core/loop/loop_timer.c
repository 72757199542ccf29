/*
 * Timers: libuv's heap, no system call. A time counts from the beginning of the turn in which the
 * timer is started.
 */
#include "core/loop/loop.h"

#include "core/base/assert.h"
#include "core/loop/loop_priv.h"

void
loop_timer_init(struct loop *lp, struct loop_timer *t, loop_timer_fn *fn)
{
	t->lp = lp;
	t->fn = fn;
	t->closed = NULL;
	t->open = true;
	(void)uv_timer_init(&lp->uv, &t->uv); /* cannot fail */
}

static void
on_timer(uv_timer_t *uv)
{
	struct loop_timer *t = CONTAINER_OF(uv, struct loop_timer, uv);
	t->fn(t);
}

void
loop_timer_start(struct loop_timer *t, int64_t ms, int64_t repeat_ms)
{
	ASSERT(t->open);
	(void)uv_timer_start(&t->uv, on_timer, ms > 0 ? (uint64_t)ms : 0,
	    repeat_ms > 0 ? (uint64_t)repeat_ms : 0); /* fails for closed timers only */
}

void
loop_timer_stop(struct loop_timer *t)
{
	if (t->open)
		(void)uv_timer_stop(&t->uv); /* cannot fail */
}

bool
loop_timer_active(const struct loop_timer *t)
{
	return t->open && uv_is_active((const uv_handle_t *)&t->uv);
}

static void
on_closed(uv_handle_t *h)
{
	struct loop_timer *t = CONTAINER_OF((uv_timer_t *)h, struct loop_timer, uv);

	loop_uv_closed(t->lp);
	if (t->closed != NULL)
		t->closed(t);
}

void
loop_timer_close(struct loop_timer *t, void (*closed)(struct loop_timer *t))
{
	if (!t->open)
		return;
	t->open = false;
	t->closed = closed;
	loop_uv_close(t->lp, (uv_handle_t *)&t->uv, on_closed);
}
