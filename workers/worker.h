/*
 * The worker skeleton: all that every kind of worker needs, once. It talks to the supervisor over the inherited control socket, loads the bundle, compiles the
 * program, binds endpoints and expressions to the runtimes that this executable has, runs exchanges through the engine, and makes and serves calls.
 * A kind's executable is one `struct worker_kind` and a main of one call.
 *
 * A worker ignores SIGINT, SIGTERM and SIGHUP: the control socket is its only master. When that ends it closes its listeners and sources at once, finishes
 * what is in flight for up to WORKER_ORPHAN_MS, and exits.
 */
#ifndef HINNY_WORKERS_WORKER_H
#define HINNY_WORKERS_WORKER_H

#include "core/config/settings.h"
#include "core/eip/engine.h"
#include "core/loop/loop.h"
#include "core/model/page.h"
#include "core/model/stream.h"
#include "workers/component.h"

enum { WORKER_ORPHAN_MS = 5000, WORKER_EXIT_NO_RESTART = 125 };

struct worker;

struct worker_kind {
	const char *kind;                                /* a row of kinds.def */
	const struct component_ops *const *components;   /* NULL-ended; NULL: none */
	const struct language_impl *const *languages;    /* NULL-ended; NULL: none */
	/* Before endpoints and expressions are prepared. HINNY_EINVAL refuses the generation. */
	enum hinny_rc (*init)(struct worker *wk, struct hinny_error *err);
	/* After all is prepared and the inbox is open, before READY: close the sandbox. */
	enum hinny_rc (*jail)(struct worker *wk, struct hinny_error *err);
	/* START: accept connections. Consumers that are not COMPONENT_EXCLUSIVE have been started just before. */
	void (*start)(struct worker *wk);
	/* No new work: close what takes it in. Consumers have been stopped just before. May come twice. */
	void (*drain)(struct worker *wk);
	/* The end of the broker: every worker has begun to drain, so nobody will call a route of it as
	 * before. May be NULL; may come twice. */
	void (*all_drain)(struct worker *wk);
	/* Beyond exchanges and calls: is anything not yet out (answer bytes in a buffer)? */
	bool (*busy)(struct worker *wk);
	/* A further listening socket (owned from now on); with `until_empty`: serve its queue, then close it. */
	void (*listener)(struct worker *wk, int fd, bool until_empty);
	/* End of the process: free everything, so that a leak checker sees leaks only. */
	void (*fini)(struct worker *wk);
	unsigned calls_at_once;                          /* xform: 1, else 0: no bound */
};

int worker_main(const struct worker_kind *kind, int argc, char **argv);

/* What a transport may ask. All are cheap. */
struct loop *worker_loop(struct worker *wk);
const struct settings *worker_settings(struct worker *wk);
const struct program *worker_program(struct worker *wk);
struct engine *worker_engine(struct worker *wk);
struct page *worker_page(struct worker *wk);
struct worker *worker_of(struct engine *en);
unsigned worker_index(struct worker *wk);
uint64_t worker_generation(struct worker *wk);
bool worker_draining(struct worker *wk);
/* While draining: does nobody follow (stop, not reload)? Then idle connections are closed at once. */
bool worker_drain_final(struct worker *wk);
/* The kind's own state. */
void worker_set_data(struct worker *wk, void *data);
void *worker_data(struct worker *wk);
/* What components that are no kind's own keep in a process, NULL at first. */
enum worker_slot { WORKER_SLOT_MOCKS, WORKER_SLOT_QUEUES, WORKER_SLOTS };
void **worker_slot(struct worker *wk, enum worker_slot slot);
/* Inherited listening sockets: those of this worker, in the order of settings.http.listen; -1 behind the last. `shared` says that other workers poll it too. */
int worker_listener(struct worker *wk, unsigned i, bool *shared);
int worker_generation_dir(struct worker *wk); /* open folder of the generation's files */
int worker_run_dir(struct worker *wk);        /* open run folder */

/* Exchanges. A consumer fills body and headers, sets ex->done and ex->owner, and starts it. In done it must end with worker_exchange_free. */
struct exchange *worker_exchange_new(struct worker *wk, const struct route *route);
void worker_exchange_start(struct worker *wk, struct exchange *ex);
void worker_exchange_free(struct worker *wk, struct exchange **ex);
/* As start, for a message that the source could not give: ex->exception is set, and goes to the route's error handler. */
void worker_exchange_start_failed(struct worker *wk, struct exchange *ex);
/* For a consumer whose stop takes its time: between the two SOURCES_STOPPED is not said, so that no other worker begins with its source, and this one does not end. */
void worker_source_stopping(struct worker *wk);
void worker_source_stopped(struct worker *wk);
/* The client is gone: the exchange runs to its end without it (its effects may have happened), nothing to call back. */
uint32_t worker_inflight(struct worker *wk);
struct collect_limits worker_collect_limits(struct worker *wk); /* for bodies: spool_memory, max_body */

#endif
