/* Work on the threads of libuv's pool. */
#include "core/loop/loop.h"

#include "core/base/assert.h"

static void
on_run(uv_work_t *uv)
{
	struct loop_work *w = CONTAINER_OF(uv, struct loop_work, uv);

	w->run(w);
}

static void
on_done(uv_work_t *uv, int status)
{
	struct loop_work *w = CONTAINER_OF(uv, struct loop_work, uv);

	ASSERT(status == 0); /* it is never called off */
	w->done(w);
}

void
loop_work_start(struct loop *lp, struct loop_work *w, loop_work_fn *run, loop_work_fn *done)
{
	w->run = run;
	w->done = done;
	int rc = uv_queue_work(&lp->uv, &w->uv, on_run, on_done);
	ASSERT(rc == 0); /* fails without a function only */
}
