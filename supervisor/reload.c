/* The queue of reloads, which is at most one long. */
#include "supervisor/reload.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/config.h"
#include "supervisor/generation.h"
#include "supervisor/states.h"
#include "supervisor/supervisor_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
reload_init(struct reload *rl)
{
	*rl = (struct reload){ 0 };
	list_init(&rl->waiting);
	list_init(&rl->asking);
}

void
reload_fini(struct reload *rl)
{
	free(rl->last_text);
	rl->last_text = NULL;
}

static size_t
count_old(const struct supervisor *sv)
{
	size_t n = 0;

	LIST_FOREACH (&sv->generations, node, tmp) {
		const struct generation *gen = LIST_ENTRY(node, struct generation, node);
		n += gen != sv->serving && gen != sv->starting;
	}
	return n;
}

/* Why none can begin now; NULL when one can. */
static const char *
obstacle(const struct supervisor *sv)
{
	if (sv->phase == SUPERVISOR_STARTING)
		return "the broker is starting";
	if (sv->reload.running || sv->starting != NULL)
		return "a hand-over is under way";
	if (sv->serving != NULL && states_are_coming(sv->serving))
		return "the state of steps is being handed over";
	if (count_old(sv) >= SUPERVISOR_OLD_MAX)
		return "3 old generations are still draining";
	return NULL;
}

static void
move_all(struct list *to, struct list *from)
{
	while (!list_empty(from)) {
		struct list *node = from->next;
		list_remove(node);
		list_append(to, node);
	}
}

static void
answer_all(struct list *waiters, bool ok, const char *text)
{
	while (!list_empty(waiters)) {
		struct reload_waiter *w = LIST_FIRST(waiters, struct reload_waiter, node);
		list_remove(&w->node);
		w->done(w, ok, text);
	}
}

void
reload_finished(struct supervisor *sv, bool ok, const char *text)
{
	struct reload *rl = &sv->reload;

	if (!rl->running)
		return;
	rl->running = false;
	rl->last_ok = ok;
	rl->last_wall_ms = walltime_ms();
	free(rl->last_text);
	rl->last_text = ok ? NULL : mem_strdup(text);
	if (ok)
		log_info("reloaded: %s", text);
	else
		log_error("reload refused, the old generation goes on");
	if (!ok)
		(void)fprintf(stderr, "%s\n", text); /* as hinny check would print it */
	sdnotify_ready(&sv->notify, ok ? text : "serving; the last reload was refused");
	answer_all(&rl->asking, ok, text);
	reload_next(sv);
}

static char *
lines_of(struct diagnostics *ds)
{
	struct arena a;

	arena_init(&a);
	char *text = mem_strdup(diagnostics_text(ds, &a));
	arena_fini(&a);
	size_t n = strlen(text);
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	return text;
}

static void
begin(struct supervisor *sv)
{
	struct diagnostics ds;
	struct hinny_error err;

	sv->reload.pending = false;
	sv->reload.running = true;
	move_all(&sv->reload.asking, &sv->reload.waiting);
	sdnotify_reloading(&sv->notify);
	diagnostics_init(&ds);
	struct generation *gen = generation_new(sv, &ds);
	if (gen == NULL) {
		char *text = lines_of(&ds);
		reload_finished(sv, false, text);
		free(text);
	} else if (generation_launch(gen, &err) != HINNY_OK) {
		generation_refuse(gen, err.text);
	} else if (ds.n > 0) {
		diagnostics_print(&ds, stderr);
	}
	diagnostics_fini(&ds);
}

void
reload_next(struct supervisor *sv)
{
	if (!sv->reload.pending)
		return;
	if (sv->phase == SUPERVISOR_ENDING) {
		sv->reload.pending = false;
		answer_all(&sv->reload.waiting, false, "the broker is ending");
		return;
	}
	if (obstacle(sv) == NULL)
		begin(sv);
}

const char *
reload_request(struct supervisor *sv, struct reload_waiter *waiter)
{
	if (waiter != NULL)
		list_append(&sv->reload.waiting, &waiter->node);
	const char *why = obstacle(sv);
	if (why != NULL && !sv->reload.pending && sv->phase != SUPERVISOR_ENDING)
		log_info("reload waits: %s", why);
	sv->reload.pending = true;
	reload_next(sv);
	return why;
}
