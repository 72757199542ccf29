/* What the files of core/loop share. */
#ifndef HINNY_LOOP_LOOP_PRIV_H
#define HINNY_LOOP_LOOP_PRIV_H

#include "core/loop/loop.h"

/* One event of this turn's batch. */
void loop_fd_dispatch(struct loop_fd *w, unsigned epoll_events);
/* Runs and empties the list of closed watchers. */
void loop_fd_run_closed(struct loop *lp);
/* uv_close that the loop keeps count of; cb must call loop_uv_closed. */
void loop_uv_close(struct loop *lp, uv_handle_t *h, uv_close_cb cb);
void loop_uv_closed(struct loop *lp);

#endif
