/* Talks to systemd by its notify socket, without its library. Without NOTIFY_SOCKET in the
 * environment everything here does nothing. */
#ifndef HINNY_SUPERVISOR_SDNOTIFY_H
#define HINNY_SUPERVISOR_SDNOTIFY_H

#include "core/loop/loop.h"

struct sdnotify {
	int fd; /* -1: nobody listens */
	struct loop_timer watchdog;
	int64_t watchdog_ms; /* 0: not asked for */
};

/* Takes NOTIFY_SOCKET and WATCHDOG_* out of the environment, so that no worker speaks for us. */
void sdnotify_init(struct sdnotify *sd);
/* Begins to send WATCHDOG=1 when the unit asks for it. */
void sdnotify_watch(struct sdnotify *sd, struct loop *lp);
void sdnotify_fini(struct sdnotify *sd);

void sdnotify_ready(struct sdnotify *sd,
    const char *status); /* READY=1: after start and after a reload, whatever its outcome */
void sdnotify_reloading(struct sdnotify *sd); /* RELOADING=1 with MONOTONIC_USEC */
void sdnotify_stopping(struct sdnotify *sd);
void sdnotify_status(struct sdnotify *sd, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
