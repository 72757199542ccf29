/*
 * The making and ending of generations.
 *
 * A generation is built beside what runs: files read, program compiled, folder, bundle, pages,
 * sockets bound, workers spawned. Until all of these have said READY nothing that serves is
 * touched, and whatever goes wrong (a file, a port, a worker that refuses or dies) ends the new one
 * alone. handover.c has the moment at which it takes over, drain.c what becomes of the old one. A
 * generation frees itself when its last worker has gone.
 */
#include "supervisor/generation.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "supervisor/generation_priv.h"
#include "supervisor/handover.h"
#include "supervisor/reload.h"
#include "supervisor/spawn.h"
#include "supervisor/shared.h"
#include "supervisor/states.h"
#include "supervisor/supervisor_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	DEFAULT_INSTANCES_MAX = 4,
	START_TRIES = 3, /* of one worker, until the generation is refused */
};

static void on_settle(struct loop_defer *d);

const struct settings *
generation_settings(const struct generation *gen)
{
	return gen->program->settings;
}

const char *
generation_state_name(const struct generation *gen)
{
	static const char *const names[] = {
		[GENERATION_STARTING] = "starting",
		[GENERATION_SERVING] = "serving",
		[GENERATION_DRAINING] = "draining",
		[GENERATION_STOPPING] = "stopping",
	};

	return gen->drained ? "drained" : names[gen->state];
}

/* -- making -- */

static unsigned
cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static unsigned
instances_of(const struct generation *gen, int kind_index)
{
	int64_t given = generation_settings(gen)->workers[kind_index].instances;
	unsigned n = 1;

	if (given > 0)
		return (unsigned)given;
	if ((kind_at(kind_index)->flags & KIND_SCALES) != 0)
		n = cores();
	return n < DEFAULT_INSTANCES_MAX ? n : DEFAULT_INSTANCES_MAX;
}

static bool
needs_kind(const struct generation *gen, int kind_index)
{
	return (gen->program->kinds >> kind_index & 1) != 0;
}

size_t
generation_count_kind(const struct generation *gen, int kind_index)
{
	return kind_index >= 0 && needs_kind(gen, kind_index) ? instances_of(gen, kind_index) : 0;
}

/* Do routes begin at a listening socket? */
static bool
has_listening_route(const struct program *p)
{
	for (uint32_t i = 0; i < p->routes_n; i++) {
		const char *owner = p->routes[i]->from->component->owner;
		const struct kind_desc *kind = owner != NULL ? kind_find(str_of(owner)) : NULL;
		if (kind != NULL && (kind->flags & KIND_LISTENS) != 0)
			return true;
	}
	return false;
}

static enum hinny_rc
check_executable(const struct kind_desc *kind, struct hinny_error *err)
{
	char *path = spawn_path(kind->executable);
	enum hinny_rc rc = HINNY_OK;

	if (access(path, X_OK) == -1)
		rc = hinny_error_errno(err, errno,
		    "routes need worker %s, which is not installed: \"%s\"", kind->executable,
		    path);
	free(path);
	return rc;
}

/* The user that workers.KIND names, if this process may become it. */
static enum hinny_rc
user_of_kind(int k, const struct settings_worker *sw, struct spawn_user *user,
    struct hinny_error *err)
{
	struct hinny_error why;

	if (spawn_user_find(sw->user, sw->group, user, &why) != HINNY_OK)
		return hinny_error_set(err, why.rc, "workers.%s: %s", kind_at(k)->kind, why.text);
	if (geteuid() != 0)
		return hinny_error_set(err, HINNY_EINVAL,
		    "workers.%s: only root can give workers a user or group",
		    kind_at(k)->kind);
	return HINNY_OK;
}

/*
 * Workers that run as other users make their inboxes in the run folder and connect to one
 * another's: one group has to do for all of them.
 */
static enum hinny_rc
share_rundir(struct generation *gen, struct hinny_error *err)
{
	struct spawn_user user;
	const char *first = NULL;
	gid_t gid = 0;

	for (int k = 0; k < kind_count(); k++) {
		const struct settings_worker *sw = &generation_settings(gen)->workers[k];
		if (!needs_kind(gen, k) || (sw->user == NULL && sw->group == NULL))
			continue;
		if (user_of_kind(k, sw, &user, err) != HINNY_OK)
			return err->rc;
		if (first != NULL && user.gid != gid)
			return hinny_error_set(err, HINNY_EINVAL,
			    "workers.%s.group: expected the group of workers.%s, whose inboxes it "
			    "uses",
			    kind_at(k)->kind, first);
		first = kind_at(k)->kind;
		gid = user.gid;
	}
	return first != NULL ? rundir_share(&gen->sv->run, gid, err) : HINNY_OK;
}

static enum hinny_rc
make_processes(struct generation *gen, struct hinny_error *err)
{
	for (int k = 0; k < kind_count(); k++) {
		unsigned n = (unsigned)generation_count_kind(gen, k);
		if (n == 0)
			continue;
		if (check_executable(kind_at(k), err) != HINNY_OK)
			return err->rc;
		gen->processes =
		    mem_realloc(gen->processes, (gen->n + n) * sizeof(struct process *));
		for (unsigned i = 0; i < n; i++) {
			struct process *pr = process_new(gen, k, i, err);
			if (pr == NULL)
				return err->rc;
			gen->processes[gen->n++] = pr;
		}
	}
	return HINNY_OK;
}

/* hinny run takes a fresh folder, whatever hinny.yaml says, unless the command line names one. */
static bool
run_dir_is_set(const struct supervisor_options *opt)
{
	for (const char *const *s = opt->bundle.set; s != NULL && *s != NULL; s++) {
		if (str_starts(str_of(*s), "run_dir="))
			return true;
	}
	return false;
}

/* The run folder is known when hinny.yaml has been read for the first time. */
static enum hinny_rc
open_rundir(struct supervisor *sv, const struct generation *gen, struct hinny_error *err)
{
	const char *path = sv->opt->run_dir;

	if (sv->run.fd != -1)
		return HINNY_OK;
	if (path == NULL && (!sv->opt->foreground || run_dir_is_set(sv->opt)))
		path = generation_settings(gen)->run_dir;
	return rundir_open(&sv->run, path, err);
}

static enum hinny_rc
prepare(struct generation *gen, struct diagnostics *ds, struct hinny_error *err)
{
	struct supervisor *sv = gen->sv;

	if (open_rundir(sv, gen, err) != HINNY_OK)
		return err->rc;
	gen->dir_fd = rundir_make_generation(&sv->run, gen->number, err);
	if (gen->dir_fd == -1)
		return err->rc;
	gen->signature_copied = supervisor_files_signature(gen, true);
	if (bundle_copy_files(gen->program, gen->dir_fd, ds) != HINNY_OK)
		return hinny_error_set(
		    err, HINNY_EINVAL, "cannot copy the files that the routes name");
	if (bundle_save(gen->bundle, &gen->bundle_fd, err) != HINNY_OK)
		return err->rc;
	if (share_rundir(gen, err) != HINNY_OK)
		return err->rc;
	return make_processes(gen, err);
}

/* Ends what runs nowhere. */
static void
generation_free(struct generation *gen)
{
	struct supervisor *sv = gen->sv;

	list_remove(&gen->node);
	for (size_t i = 0; i < gen->n; i++)
		process_free(gen->processes[i]);
	free(gen->processes);
	states_fini(gen);
	loop_timer_close(&gen->rounds, NULL);
	loop_defer_cancel(&gen->settle);
	if (gen->dir_fd != -1) {
		(void)close(gen->dir_fd);
		rundir_remove_generation(&sv->run, gen->number);
	}
	if (gen->bundle_fd != -1)
		(void)close(gen->bundle_fd);
	program_free(gen->program);
	bundle_free(gen->bundle);
	loop_free_later(&sv->lp, gen);
}

static bool
read_files(struct generation *gen, struct diagnostics *ds)
{
	gen->bundle = bundle_read(&gen->sv->opt->bundle, ds);
	if (gen->bundle == NULL)
		return false;
	while (bundle_sources(gen->bundle)[gen->sources_n] != NULL)
		gen->sources_n++;
	gen->signature = supervisor_files_signature(gen, false);
	gen->program = program_compile(gen->bundle, ds);
	return gen->program != NULL;
}

struct generation *
generation_new(struct supervisor *sv, struct diagnostics *ds)
{
	struct generation *gen = MEM_NEW(struct generation);
	struct hinny_error err;

	gen->sv = sv;
	gen->number = sv->next_generation;
	gen->bundle_fd = gen->dir_fd = -1;
	list_append(&sv->generations, &gen->node);
	loop_timer_init(&sv->lp, &gen->rounds, drain_on_round);
	loop_defer_init(&gen->settle, on_settle);
	states_init(gen);
	if (!read_files(gen, ds)) {
		generation_free(gen);
		return NULL;
	}
	if (prepare(gen, ds, &err) != HINNY_OK) {
		if (ds->errors == 0)
			diagnostics_add(ds, (struct position){ 0 }, false, "%s", err.text);
		generation_free(gen);
		return NULL;
	}
	gen->listens = has_listening_route(gen->program);
	sv->next_generation++;
	return gen;
}

static unsigned
count_listening(const struct generation *gen)
{
	for (int k = 0; k < kind_count() && gen->listens; k++) {
		if ((kind_at(k)->flags & KIND_LISTENS) != 0)
			return (unsigned)generation_count_kind(gen, k);
	}
	return 0;
}

enum hinny_rc
generation_launch(struct generation *gen, struct hinny_error *err)
{
	enum hinny_rc rc = listeners_prepare(
	    &gen->sv->listeners, &generation_settings(gen)->http, count_listening(gen), err);

	if (rc == HINNY_OK)
		rc = shared_make(gen, gen->sv->serving, err);
	if (rc != HINNY_OK)
		return rc;
	gen->sv->starting = gen;
	for (size_t i = 0; i < gen->n && gen->state == GENERATION_STARTING; i++)
		process_event(gen->processes[i], PROCESS_EVENT_SPAWN);
	if (gen->n == 0)
		loop_timer_start(&gen->rounds, 0, 0); /* nothing to wait for */
	return HINNY_OK;
}

/* -- starting -- */

static bool
all_ready(const struct generation *gen)
{
	for (size_t i = 0; i < gen->n; i++) {
		if (gen->processes[i]->state != PROCESS_READY)
			return false;
	}
	return true;
}

void
generation_process_ready(struct generation *gen, struct process *pr)
{
	switch (gen->state) {
	case GENERATION_STARTING:
		if (all_ready(gen))
			handover_commit(gen);
		return;
	case GENERATION_SERVING:
		states_process_ready(pr);
		process_event(pr, PROCESS_EVENT_START);
		if (gen->sources_started)
			process_send_type(pr, FRAME_START_SOURCES);
		return;
	case GENERATION_DRAINING:
		states_process_ready(pr);
		process_event(pr, PROCESS_EVENT_DRAIN);
		return;
	case GENERATION_STOPPING:
		process_event(pr, PROCESS_EVENT_STOP);
		return;
	}
}

void
generation_refuse(struct generation *gen, const char *text)
{
	struct supervisor *sv = gen->sv;

	if (gen->state != GENERATION_STARTING)
		return;
	listeners_discard(&sv->listeners);
	if (sv->starting == gen)
		sv->starting = NULL;
	generation_stop(gen, false);
	if (sv->phase == SUPERVISOR_STARTING) {
		(void)fprintf(stderr, "%s\n", text); /* nobody else to tell */
		supervisor_fail(sv);
	} else {
		reload_finished(sv, false, text);
	}
}

void
generation_process_refused(struct generation *gen, struct process *pr, const char *text)
{
	if (gen->state == GENERATION_STARTING)
		generation_refuse(gen, text);
	else /* it compiled before: a file that it reads by itself, or the system, has changed */
		log_error("worker %s refused its generation: %s", pr->name, text);
}

static void
refuse_for(struct generation *gen, const struct process *pr)
{
	char text[PROCESS_NAME_SIZE + PROCESS_WORDS_SIZE + 64];

	(void)snprintf(text, sizeof text, "worker %s ended before it was ready: %s", pr->name,
	    pr->last_words); /* fits */
	generation_refuse(gen, text);
}

bool
generation_process_failed(struct generation *gen, struct process *pr)
{
	if (gen->state != GENERATION_STARTING || pr->early < START_TRIES)
		return true;
	refuse_for(gen, pr);
	return false;
}

void
generation_process_gave_up(struct generation *gen, struct process *pr)
{
	if (gen->state == GENERATION_STARTING)
		refuse_for(gen, pr);
	else
		sdnotify_status(&gen->sv->notify, "serving; worker %s is degraded", pr->name);
}

/* -- ending -- */

static bool
all_gone(const struct generation *gen)
{
	for (size_t i = 0; i < gen->n; i++) {
		if (gen->processes[i]->pid != 0)
			return false;
	}
	return true;
}

/* At the end of the turn, so that nobody who is on the way here has it taken away. */
static void
on_settle(struct loop_defer *d)
{
	struct generation *gen = CONTAINER_OF(d, struct generation, settle);
	struct supervisor *sv = gen->sv;

	if (gen->state == GENERATION_STOPPING && all_gone(gen)) {
		if (sv->serving == gen)
			sv->serving = NULL;
		log_debug("generation %" PRIu64 " has gone", gen->number);
		generation_free(gen);
		handover_sources(sv);
		supervisor_generation_gone(sv);
		return;
	}
	handover_sources(sv);
}

void
generation_process_changed(struct generation *gen, struct process *pr)
{
	(void)pr;
	loop_defer(&gen->sv->lp, &gen->settle);
}

void
generation_stop(struct generation *gen, bool kill)
{
	gen->state = GENERATION_STOPPING;
	gen->drained = false;
	loop_timer_stop(&gen->rounds);
	for (size_t i = 0; i < gen->n; i++) {
		process_event(gen->processes[i], PROCESS_EVENT_STOP);
		if (kill)
			process_kill(gen->processes[i], "the broker ends at once");
	}
	loop_defer(&gen->sv->lp, &gen->settle);
}
