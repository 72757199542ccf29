/*
 * Beginning and end of a broker. Everything between is events: of workers (process.c), of the admin
 * socket (admin.c), of signals (here).
 *
 * The workers are spawned as early as can be; what can wait (the admin socket, the clean-up of the
 * run folder) is done while they start.
 */
#include "supervisor/supervisor_priv.h"

#include "core/base/assert.h"
#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "supervisor/admin.h"
#include "supervisor/generation.h"
#include "supervisor/watch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PORT_RETRY_MS = 50,
	PORT_WAIT_DAEMON_MS =
	    10000, /* the workers of one that was killed may hold it for a moment */
	PORT_WAIT_FOREGROUND_MS = 1000, /* somebody looks on */
	TIDY_AFTER_MS = 1000,
};

/* -- ready -- */

static void
print_workers(const struct generation *gen, struct buf *out)
{
	for (int k = 0; k < kind_count(); k++) {
		size_t n = generation_count_kind(gen, k);
		if (n > 0)
			(void)buf_printf(out, ", %zu %s", n,
			    kind_at(k)->kind); /* short texts; the buffer has no bound */
	}
}

static void
print_ready(const struct supervisor *sv, struct buf *out)
{
	const struct generation *gen = sv->serving;
	struct buf where;
	/* Rounded up: nothing is ready in no time. */
	int64_t ms = (monotime_now().ns - sv->started.ns + 999999) / 1000000;

	buf_init(&where, 0);
	listeners_print(&sv->listeners, &where);
	(void)buf_printf(out,
	    "ready in %" PRId64 " ms, generation %" PRIu64 ", %" PRIu32 " route%s", ms, gen->number,
	    gen->program->routes_n, gen->program->routes_n == 1 ? "" : "s");
	print_workers(gen, out);
	if (where.n > 0)
		(void)buf_printf(out, ", %.*s", (int)where.n, where.p);
	(void)buf_printf(out, ", run folder %s", sv->run.path);
	buf_fini(&where);
}

void
supervisor_is_ready(struct supervisor *sv)
{
	bool first = sv->phase == SUPERVISOR_STARTING;
	struct buf text;

	sv->phase = SUPERVISOR_SERVING;
	if (!first)
		return;
	buf_init(&text, 0);
	print_ready(sv, &text);
	if (sv->opt->foreground)
		(void)dprintf(STDERR_FILENO, "hinny: %s\n",
		    buf_cstr(&text)); /* nobody to tell when that fails */
	else
		log_info("%s", buf_cstr(&text));
	sdnotify_ready(&sv->notify, buf_cstr(&text));
	buf_fini(&text);
	loop_timer_start(&sv->tidy, TIDY_AFTER_MS, 0);
}

static void
on_files_changed(void *arg)
{
	struct supervisor *sv = arg;

	log_info("a file has changed");
	(void)reload_request(sv, NULL); /* it is logged when it has to wait */
}

/* What the files that the routes name were like when they were copied, and the others when read.
 * Compiling adds those that routes name to the sources: they are not among those that were read. */
uint64_t
supervisor_files_signature(const struct generation *gen, bool copied)
{
	const struct program *p = gen->program;
	const char *const *sources = bundle_sources(gen->bundle);
	size_t n = copied ? p->files_n : gen->sources_n;

	if (!gen->sv->opt->watch)
		return 0;
	const char **paths = mem_alloc((n + 1) * sizeof *paths);
	for (size_t i = 0; i < n; i++)
		paths[i] = copied ? p->files[i].path : sources[i];
	paths[n] = NULL;
	uint64_t signature = watch_signature(paths);
	free(paths);
	return signature;
}

static void
watch_paths(struct watch *w, const struct generation *gen)
{
	const struct program *p = gen->program;
	const char *const *sources = bundle_sources(gen->bundle);
	size_t n = 0;

	while (sources[n] != NULL)
		n++;
	const char **all = mem_alloc((n + p->files_n + 1) * sizeof *all);
	for (size_t i = 0; i < n; i++)
		all[i] = sources[i];
	for (uint32_t i = 0; i < p->files_n; i++)
		all[n++] = p->files[i].path;
	all[n] = NULL;
	watch_set(w, all);
	free(all);
}

void
supervisor_watch_files(struct supervisor *sv)
{
	const struct generation *gen = sv->serving;

	if (!sv->opt->watch)
		return;
	if (sv->watch == NULL)
		sv->watch = watch_new(&sv->lp, on_files_changed, sv);
	if (sv->watch == NULL)
		return;
	watch_paths(sv->watch, gen);
	if (supervisor_files_signature(gen, false) != gen->signature ||
	    supervisor_files_signature(gen, true) != gen->signature_copied)
		on_files_changed(sv);
}

/* -- the end -- */

const char *
supervisor_phase_name(const struct supervisor *sv)
{
	static const char *const names[] = {
		[SUPERVISOR_STARTING] = "starting",
		[SUPERVISOR_SERVING] = "serving",
		[SUPERVISOR_DRAINED] = "drained",
		[SUPERVISOR_ENDING] = "ending",
	};

	return names[sv->phase];
}

void
supervisor_generation_gone(struct supervisor *sv)
{
	if (sv->phase == SUPERVISOR_ENDING && list_empty(&sv->generations)) {
		loop_stop(&sv->lp);
		return;
	}
	reload_next(sv);
}

static void
kill_all(struct supervisor *sv)
{
	sv->at_once = true;
	LIST_FOREACH (&sv->generations, node, tmp)
		generation_stop(LIST_ENTRY(node, struct generation, node), true);
}

static void
drain_all(struct supervisor *sv)
{
	LIST_FOREACH (&sv->generations, node, tmp) {
		struct generation *gen = LIST_ENTRY(node, struct generation, node);
		if (gen->drained && gen->program->states_n == 0)
			generation_stop(gen, false);
		else
			generation_drain(gen, true);
	}
}

void
supervisor_end(struct supervisor *sv, bool at_once)
{
	bool again = sv->phase == SUPERVISOR_ENDING;

	sv->phase = SUPERVISOR_ENDING;
	if (!again) {
		log_info(at_once ? "ending at once"
				 : "ending: no new work, what is in flight is finished");
		sdnotify_stopping(&sv->notify);
		loop_timer_stop(&sv->port_retry);
	}
	if (sv->starting != NULL)
		generation_refuse(sv->starting, "the broker is ending");
	listeners_close(&sv->listeners);
	if (again || at_once)
		kill_all(sv);
	else
		drain_all(sv);
	if (list_empty(&sv->generations))
		loop_stop(&sv->lp);
}

void
supervisor_drain(struct supervisor *sv)
{
	if (sv->phase != SUPERVISOR_SERVING)
		return;
	sv->phase = SUPERVISOR_DRAINED;
	log_info("draining: no new work until a reload");
	listeners_close(&sv->listeners);
	drain_all(sv);
}

void
supervisor_fail(struct supervisor *sv)
{
	sv->exit_status = 1;
	sv->phase = SUPERVISOR_ENDING;
}

/* -- signals -- */

static void
reap_all(struct supervisor *sv)
{
	LIST_FOREACH (&sv->generations, node, tmp) {
		struct generation *gen = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < gen->n; i++)
			process_reap(gen->processes[i]);
	}
}

static void
on_signal(struct loop_signal *s, int signum)
{
	struct supervisor *sv = CONTAINER_OF(s->lp, struct supervisor, lp);

	switch (signum) {
	case SIGCHLD:
		reap_all(sv);
		return;
	case SIGHUP:
		log_info("SIGHUP: reload");
		(void)reload_request(sv, NULL); /* it is logged when it has to wait */
		return;
	default:
		supervisor_end(sv, false);
		return;
	}
}

static const int watched_signals[SUPERVISOR_SIGNALS] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM };

static void
block_signals(int how)
{
	sigset_t set;

	(void)sigemptyset(&set); /* the numbers are valid: these cannot fail */
	for (size_t i = 0; i < ARRAY_LEN(watched_signals); i++)
		(void)sigaddset(&set, watched_signals[i]);
	(void)sigprocmask(how, &set, NULL);
}

static enum hinny_rc
watch_signals(struct supervisor *sv, struct hinny_error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(watched_signals); i++) {
		if (loop_signal_init(
			&sv->lp, &sv->signals[i], watched_signals[i], on_signal, err) != HINNY_OK)
			return err->rc;
	}
	block_signals(SIG_UNBLOCK);
	return HINNY_OK;
}

/* -- the beginning -- */

/* The first generation's workers start, or a held port is waited for. */
static void
launch(struct supervisor *sv, struct generation *gen)
{
	struct hinny_error err;
	enum hinny_rc rc = generation_launch(gen, &err);

	if (rc == HINNY_OK)
		return;
	if (rc != HINNY_EEXIST || monotime_now().ns >= sv->port_deadline.ns) {
		generation_refuse(gen, err.text);
		return;
	}
	if (!loop_timer_active(&sv->port_retry))
		log_warning("%s; trying again for a while", err.text);
	loop_timer_start(&sv->port_retry, PORT_RETRY_MS, PORT_RETRY_MS);
}

static void
on_port_retry(struct loop_timer *t)
{
	struct supervisor *sv = CONTAINER_OF(t, struct supervisor, port_retry);
	struct generation *gen = LIST_FIRST(&sv->generations, struct generation, node);
	struct hinny_error err;
	enum hinny_rc rc = generation_launch(gen, &err);

	if (rc == HINNY_EEXIST && monotime_now().ns < sv->port_deadline.ns)
		return;
	loop_timer_stop(t);
	if (rc != HINNY_OK)
		generation_refuse(gen, err.text);
}

static void
on_tidy(struct loop_timer *t)
{
	rundir_tidy(&CONTAINER_OF(t, struct supervisor, tidy)->run);
}

static struct generation *
first_generation(struct supervisor *sv)
{
	struct diagnostics ds;

	diagnostics_init(&ds);
	struct generation *gen = generation_new(sv, &ds);
	if (ds.n > 0)
		diagnostics_print(&ds, stderr);
	diagnostics_fini(&ds);
	return gen;
}

static enum hinny_rc
begin(struct supervisor *sv, struct hinny_error *err)
{
	struct generation *gen = first_generation(sv);

	if (gen == NULL) {
		sv->exit_status = 1;
		return HINNY_OK;
	}
	const struct settings *s = generation_settings(gen);
	log_setup("hinnyd", s->log.level, s->log.format);
	sv->port_deadline = monotime_add_ms(
	    monotime_now(), sv->opt->foreground ? PORT_WAIT_FOREGROUND_MS : PORT_WAIT_DAEMON_MS);
	launch(sv, gen);
	if (watch_signals(sv, err) != HINNY_OK)
		return err->rc;
	sv->admin = admin_open(sv, err);
	if (sv->admin == NULL)
		return err->rc;
	rundir_clean(&sv->run, gen->number);
	sdnotify_watch(&sv->notify, &sv->lp);
	return HINNY_OK;
}

static void
fini(struct supervisor *sv)
{
	reload_next(sv); /* tells those who still wait */
	admin_close(sv->admin);
	watch_free(sv->watch);
	for (size_t i = 0; i < ARRAY_LEN(sv->signals); i++)
		loop_signal_close(&sv->signals[i]);
	loop_timer_close(&sv->ping, NULL);
	loop_timer_close(&sv->limits, NULL);
	loop_timer_close(&sv->port_retry, NULL);
	loop_timer_close(&sv->tidy, NULL);
	reload_fini(&sv->reload);
	listeners_fini(&sv->listeners);
	sdnotify_fini(&sv->notify);
	rundir_close(&sv->run);
	loop_fini(&sv->lp);
}

static struct supervisor *
supervisor_new(const struct supervisor_options *opt)
{
	struct supervisor *sv = MEM_NEW(struct supervisor);
	struct hinny_error err;

	sv->opt = opt;
	sv->started = monotime_now();
	sv->started_wall_ms = walltime_ms();
	sv->next_generation = 1;
	sv->log_level = -1;
	sv->run.fd = sv->run.lock = -1;
	list_init(&sv->generations);
	reload_init(&sv->reload);
	listeners_init(&sv->listeners);
	sdnotify_init(&sv->notify);
	sv->envp = environ;
	if (loop_init(&sv->lp, &err) != HINNY_OK)
		fatal("%s", err.text);
	loop_timer_init(&sv->lp, &sv->port_retry, on_port_retry);
	loop_timer_init(&sv->lp, &sv->tidy, on_tidy);
	return sv;
}

int
supervisor_main(const struct supervisor_options *opt)
{
	struct hinny_error err;

	block_signals(SIG_BLOCK);
	struct supervisor *sv = supervisor_new(opt);
	if (begin(sv, &err) != HINNY_OK) {
		(void)fprintf(stderr, "hinny: %s\n", err.text); /* nobody else to tell */
		sv->exit_status = 1;
		supervisor_end(sv, true);
	}
	if (!list_empty(&sv->generations))
		loop_run(&sv->lp);
	int status = sv->exit_status;
	fini(sv);
	free(sv);
	return status;
}
