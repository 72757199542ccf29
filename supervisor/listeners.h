/*
 * Listening sockets. The supervisor binds them and keeps them: one SO_REUSEPORT socket for each
 * http worker and address, so that there is no herd, and so that connections which wait in a dead
 * worker's queue are served by its successor, in whatever generation. Unix sockets and those that
 * systemd passed are one for all workers. listen() comes when the first generation is ready, so
 * nobody connects to a broker that cannot serve yet.
 */
#ifndef HINNY_SUPERVISOR_LISTENERS_H
#define HINNY_SUPERVISOR_LISTENERS_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/list.h"
#include "core/config/settings.h"

#include <stdbool.h>
#include <stdint.h>

struct listeners {
	struct list all; /* struct listener */
	int64_t backlog;
	int inherited; /* descriptors from systemd, from 3 on */
	char **inherited_names;
};

/* Called once for each orphan at a commit. The descriptor is borrowed. */
typedef void listener_orphan_fn(void *arg, int fd);

/* Takes LISTEN_FDS and LISTEN_FDNAMES out of the environment. */
void listeners_init(struct listeners *ls);
void listeners_fini(struct listeners *ls); /* closes all, removes unix sockets */

/*
 * Sees that each address has a bound socket for each of `workers` workers; workers 0: needs none.
 * HINNY_EEXIST: an address is in use (err names it): may be tried again. On failure nothing is left
 * of the try.
 */
enum hinny_rc listeners_prepare(struct listeners *ls, const struct settings_http *http,
    unsigned workers, struct hinny_error *err);
/* The socket of worker `index` for an address that was prepared. */
int listeners_fd(const struct listeners *ls, const struct listen_address *at, unsigned index);
/* The prepared generation is refused: closes what was bound for it. */
void listeners_discard(struct listeners *ls);
/* The prepared generation serves: listen(), no new connections for sockets beyond its workers,
 * addresses it does not name are closed. */
enum hinny_rc listeners_commit(
    struct listeners *ls, listener_orphan_fn *orphan, void *arg, struct hinny_error *err);
/* Closes all: connections are refused from now on (once the workers have closed theirs). Those from
 * systemd stay systemd's. */
void listeners_close(struct listeners *ls);

/* "http://127.0.0.1:8080", "unix:/run/x.sock": where clients connect; appended, with ", " between.
 */
void listeners_print(const struct listeners *ls, struct buf *out);
/* Each address in use: text is valid during the call. */
void listeners_each(const struct listeners *ls, void (*fn)(void *arg, const char *text), void *arg);

#endif
