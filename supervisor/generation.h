/*
 * A generation: one bundle, the program that it compiles to, the workers that run it. It starts,
 * serves, drains and stops as a whole (generation.c); the moment at which one takes over from
 * another is in handover.c.
 */
#ifndef HINNY_SUPERVISOR_GENERATION_H
#define HINNY_SUPERVISOR_GENERATION_H

#include "core/config/config.h"
#include "core/loop/loop.h"
#include "supervisor/process.h"

enum generation_state {
	GENERATION_STARTING,
	GENERATION_SERVING,
	GENERATION_DRAINING,
	GENERATION_STOPPING, /* all have been told to exit */
};

struct generation {
	struct list node; /* in supervisor.generations */
	struct supervisor *sv;
	uint64_t number;
	enum generation_state state;
	struct bundle *bundle;
	struct program *program;
	int bundle_fd, dir_fd;
	/* What its files were like when they were read, and copied. */
	uint64_t signature, signature_copied;
	size_t sources_n; /* of its bundle, when they were read */
	struct process **processes; /* by kind, then index */
	size_t n;
	bool listens;             /* some route is served on the listening sockets */
	bool sources_started;     /* START_SOURCES was sent */
	struct loop_defer settle; /* looks whether it has gone */

	/* the state of its steps: states.c */
	bool states_coming; /* older generations have not handed over all yet */
	bool states_older;  /* there were some that had any */
	bool states_ended;
	struct state_file *state_files; /* until every owner has got them */
	size_t state_files_n;
	struct loop_timer states_deadline;
	struct loop_defer states_settle;

	/* draining */
	bool final;   /* nobody follows */
	bool drained; /* `hinny drain`: all is done, and it stays */
	bool idle_closed; /* final: connections that wait for a request have been told to go */
	struct monotime drain_deadline;
	struct loop_timer rounds;
	int64_t round_ms;
	uint64_t round; /* sequence of the ping that is out */
	unsigned quiet_rounds;
};

/* Reads the files, compiles, prepares folder, bundle and pages. NULL: ds says why. It is in
 * supervisor.generations and nothing of it runs. */
struct generation *generation_new(struct supervisor *sv, struct diagnostics *ds);
/* Binds what it listens on and starts its workers. HINNY_EEXIST: an address is in use; may be tried
 * again. */
enum hinny_rc generation_launch(struct generation *gen, struct hinny_error *err);
/* Ends a generation that does not serve yet; `text` are lines that say why. It frees itself when
 * its workers have gone. */
void generation_refuse(struct generation *gen, const char *text);
/* No new work; stops when everything is finished or the time is up. Draining again may make it
 * final. */
void generation_drain(struct generation *gen, bool final);
/* All workers exit now (SIGKILL when they do not, at once with `kill`). */
void generation_stop(struct generation *gen, bool kill);

/* What its processes tell. */
void generation_process_ready(struct generation *gen, struct process *pr);
void generation_process_refused(struct generation *gen, struct process *pr, const char *text);
/* Died early; false: it is of no use to try again (the generation is being refused). */
bool generation_process_failed(struct generation *gen, struct process *pr);
void generation_process_gave_up(struct generation *gen, struct process *pr);
void generation_process_pong(struct generation *gen, struct process *pr);
/* Exited, or stopped its sources. */
void generation_process_changed(struct generation *gen, struct process *pr);

const char *generation_state_name(const struct generation *gen);
const struct settings *generation_settings(const struct generation *gen);
size_t generation_count_kind(const struct generation *gen, int kind_index);

#endif
