/* The supervisor's own object: everything it has hangs on it. */
#ifndef HINNY_SUPERVISOR_SUPERVISOR_PRIV_H
#define HINNY_SUPERVISOR_SUPERVISOR_PRIV_H

#include "core/base/clock.h"
#include "core/base/list.h"
#include "core/loop/loop.h"
#include "supervisor/listeners.h"
#include "supervisor/reload.h"
#include "supervisor/rundir.h"
#include "supervisor/sdnotify.h"
#include "supervisor/supervisor.h"

struct admin;
struct generation;
struct watch;

enum supervisor_phase {
	SUPERVISOR_STARTING, /* the first generation is not ready */
	SUPERVISOR_SERVING,
	SUPERVISOR_DRAINED, /* `hinny drain`: takes nothing in, until a reload */
	SUPERVISOR_ENDING,
};

enum { SUPERVISOR_SIGNALS = 4, SUPERVISOR_OLD_MAX = 3 };

struct supervisor {
	const struct supervisor_options *opt;
	struct loop lp;
	enum supervisor_phase phase;
	int exit_status;
	bool at_once; /* a second order to end came */
	struct monotime started;
	int64_t started_wall_ms;
	char **envp; /* of workers */

	struct rundir run;
	struct listeners listeners;
	struct sdnotify notify;
	struct watch *watch; /* NULL: watches no files */
	struct admin *admin; /* NULL: not open */
	struct reload reload;
	struct loop_signal signals[SUPERVISOR_SIGNALS];
	struct loop_timer ping, limits, port_retry, tidy;
	int64_t ping_ms, limits_ms; /* intervals of these timers; 0: stopped */
	struct monotime port_deadline;

	struct list generations;               /* struct generation, oldest first */
	struct generation *serving, *starting; /* NULL: none */
	uint64_t next_generation, next_sequence;
	int log_level; /* set by `hinny log-level`; -1: that of the settings */
};

/* The first generation serves. */
void supervisor_is_ready(struct supervisor *sv);
/* SIGTERM, `hinny stop`: drains, then ends. A second time, or `at_once`: ends without waiting. */
void supervisor_end(struct supervisor *sv, bool at_once);
/* `hinny drain`: takes nothing new in and finishes what is there; goes on after a reload. */
void supervisor_drain(struct supervisor *sv);
/* The first generation was refused. */
void supervisor_fail(struct supervisor *sv);
/* A generation has gone. */
void supervisor_generation_gone(struct supervisor *sv);
/* What the files of a generation look like now (watch.h); 0 when they are not watched. */
uint64_t supervisor_files_signature(const struct generation *gen, bool copied);
/* Watches the files of the serving generation. */
void supervisor_watch_files(struct supervisor *sv);
const char *supervisor_phase_name(const struct supervisor *sv);

#endif
