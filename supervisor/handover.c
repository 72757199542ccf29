/* One point at which a generation takes over. */
#include "supervisor/handover.h"

#include "core/base/log.h"
#include "core/config/settings.h"
#include "supervisor/reload.h"
#include "supervisor/states.h"
#include "supervisor/supervisor_priv.h"
#include "supervisor/watchdogs.h"

#include <inttypes.h>
#include <stdio.h>

/* -- sockets -- */

struct orphans {
	struct generation *gen;
	size_t next; /* so that they are spread */
};

static void
send_listener(struct process *pr, int fd, uint32_t address, bool until_empty)
{
	struct control_message m = { .type = FRAME_LISTENER, .fd = fd };

	m.listener.address = address;
	m.listener.until_empty = until_empty;
	process_send(pr, &m);
}

static void
hand_out(void *arg, int fd)
{
	struct orphans *o = arg;

	for (size_t i = 0; i < o->gen->n; i++) {
		struct process *pr = o->gen->processes[o->next++ % o->gen->n];
		if ((pr->kind->flags & KIND_LISTENS) != 0 && process_is_up(pr)) {
			send_listener(pr, fd, UINT32_MAX, true);
			return;
		}
	}
}

void
handover_lend(struct process *pr)
{
	struct generation *gen = pr->gen;
	const struct settings_http *http = &generation_settings(gen)->http;

	if (pr->lent || (pr->kind->flags & KIND_LISTENS) == 0 || !gen->listens ||
	    gen->state != GENERATION_SERVING)
		return;
	for (size_t i = 0; i < gen->n; i++) {
		struct process *other = gen->processes[i];
		if (other == pr || other->kind != pr->kind || !process_is_up(other))
			continue;
		pr->lent = true;
		for (size_t k = 0; k < http->listen_n; k++)
			send_listener(other,
			    listeners_fd(&gen->sv->listeners, &http->listen[k], pr->index),
			    (uint32_t)k, false);
		log_info("worker %s serves the listening sockets of %s", other->name, pr->name);
		return;
	}
}

/* -- sources -- */

/* May it still run exclusive sources? */
static bool
runs_sources(const struct process *pr)
{
	bool started = pr->state == PROCESS_SERVING || pr->state == PROCESS_DRAINING ||
	    pr->state == PROCESS_STOPPING;

	return started && pr->pid != 0 && pr->ready.ns != 0 && !pr->sources_stopped;
}

static bool
older_sources_stopped(const struct supervisor *sv)
{
	LIST_FOREACH (&sv->generations, node, tmp) {
		const struct generation *gen = LIST_ENTRY(node, struct generation, node);
		if (gen == sv->serving)
			return true;
		for (size_t i = 0; i < gen->n && gen->sources_started; i++) {
			if (runs_sources(gen->processes[i]))
				return false;
		}
	}
	return true;
}

void
handover_sources(struct supervisor *sv)
{
	struct generation *gen = sv->serving;

	if (gen == NULL || gen->state != GENERATION_SERVING || gen->sources_started ||
	    !older_sources_stopped(sv))
		return;
	gen->sources_started = true;
	for (size_t i = 0; i < gen->n; i++) {
		if (gen->processes[i]->state == PROCESS_SERVING)
			process_send_type(gen->processes[i], FRAME_START_SOURCES);
	}
}

/* -- the point -- */

void
handover_commit(struct generation *gen)
{
	struct supervisor *sv = gen->sv;
	struct generation *old = sv->serving;
	struct orphans orphans = { .gen = gen };
	struct hinny_error err;
	char text[64];

	if (listeners_commit(&sv->listeners, hand_out, &orphans, &err) != HINNY_OK) {
		generation_refuse(gen, err.text);
		return;
	}
	gen->state = GENERATION_SERVING;
	sv->serving = gen;
	sv->starting = NULL;
	states_begin(gen);
	for (size_t i = 0; i < gen->n; i++)
		process_event(gen->processes[i], PROCESS_EVENT_START);
	if (old != NULL && old->drained && !states_are_coming(gen))
		generation_stop(old, false);
	else if (old != NULL)
		generation_drain(old, false);
	handover_sources(sv);
	if (sv->phase != SUPERVISOR_SERVING)
		supervisor_is_ready(sv);
	ping_start(sv);
	limits_start(sv);
	(void)snprintf(text, sizeof text, "generation %" PRIu64 " serves", gen->number); /* fits */
	reload_finished(sv, true, text);
	supervisor_watch_files(sv);
	reload_next(sv); /* one that was asked for meanwhile */
}
