/*
 * Watches the files that a generation came from, for `hinny run`: a change asks for a reload once
 * things have been quiet for a moment. It watches the folders, since editors put a new file in the
 * place of the old one.
 */
#ifndef HINNY_SUPERVISOR_WATCH_H
#define HINNY_SUPERVISOR_WATCH_H

#include "core/loop/loop.h"

enum { WATCH_QUIET_MS = 100 };

struct watch;
typedef void watch_changed_fn(void *arg);

/* NULL when the system has no inotify left (logged). */
struct watch *watch_new(struct loop *lp, watch_changed_fn *fn, void *arg);
/* Watches the files of `paths` (NULL-ended), and every *.yaml in those that are folders, instead of
 * what it watched. */
void watch_set(struct watch *w, const char *const *paths);
/*
 * A number that is another one when one of the files has changed. Taken when files are read and
 * again when they are being watched, it shows what happened between.
 */
uint64_t watch_signature(const char *const *paths);
void watch_free(struct watch *w); /* NULL is fine */

#endif
