/* Signals, by way of libuv: the handler wakes the loop, the callback runs in it. */
#include "core/loop/loop.h"

#include "core/base/assert.h"
#include "core/loop/loop_priv.h"

static void
on_signal(uv_signal_t *uv, int signum)
{
	struct loop_signal *s = CONTAINER_OF(uv, struct loop_signal, uv);
	s->fn(s, signum);
}

enum hinny_rc
loop_signal_init(
    struct loop *lp, struct loop_signal *s, int signum, loop_signal_fn *fn, struct hinny_error *err)
{
	s->lp = lp;
	s->fn = fn;
	s->open = false;
	int rc = uv_signal_init(&lp->uv, &s->uv);
	if (rc != 0)
		return hinny_error_errno(err, -rc, "cannot watch signal %d", signum);
	s->open = true;
	rc = uv_signal_start(&s->uv, on_signal, signum);
	if (rc == 0)
		return HINNY_OK;
	loop_signal_close(s);
	return hinny_error_errno(err, -rc, "cannot watch signal %d", signum);
}

static void
on_closed(uv_handle_t *h)
{
	struct loop_signal *s = CONTAINER_OF((uv_signal_t *)h, struct loop_signal, uv);
	loop_uv_closed(s->lp);
}

void
loop_signal_close(struct loop_signal *s)
{
	if (!s->open)
		return;
	s->open = false;
	loop_uv_close(s->lp, (uv_handle_t *)&s->uv, on_closed);
}
