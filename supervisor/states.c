/*
 * The state of steps between generations.
 *
 * The turn: every owner of an older generation is told which nodes the new one has, and who owns
 * them there (STATE_SAVE). It answers with a file (STATE_SAVED); from then on it passes operations
 * on. When all have answered, died, or the time is up, each owner of the new generation gets all
 * the files and is told to serve (STATE_FILE, STATE_SERVE). The supervisor does not look into them.
 */
#include "supervisor/states.h"

#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "supervisor/generation_priv.h"
#include "supervisor/reload.h"
#include "supervisor/supervisor_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURN_MS = 10000 };

struct state_file {
	int fd;
	uint64_t bytes;
};

bool
states_is_owner(const struct process *pr)
{
	const struct program *p = pr->gen->program;

	for (uint32_t i = 0; pr->index == 0 && i < p->states_n; i++) {
		if (strcmp(p->states[i]->owner, pr->kind->kind) == 0)
			return true;
	}
	return false;
}

bool
states_are_coming(const struct generation *gen)
{
	return gen->states_coming;
}

/* -- the end of the turn -- */

static void
close_files(struct generation *gen)
{
	for (size_t i = 0; i < gen->state_files_n; i++)
		(void)close(gen->state_files[i].fd);
	free(gen->state_files);
	gen->state_files = NULL;
	gen->state_files_n = 0;
}

/* Each place gets the files once: one that died with them has lost what was in them. */
static void
tell_to_serve(struct process *pr)
{
	struct generation *gen = pr->gen;
	struct control_message m = { .type = FRAME_STATE_FILE, .fd = -1 };

	for (size_t i = 0; i < gen->state_files_n && !pr->got_states; i++) {
		m.fd = gen->state_files[i].fd;
		m.state_file.bytes = gen->state_files[i].bytes;
		process_send(pr, &m);
	}
	pr->got_states = true;
	m = (struct control_message){ .type = FRAME_STATE_SERVE, .fd = -1 };
	m.state_serve.older = gen->states_older;
	process_send(pr, &m);
}

static bool
is_wanted_by_some(const struct generation *gen)
{
	for (size_t i = 0; i < gen->n; i++) {
		const struct process *pr = gen->processes[i];
		if (states_is_owner(pr) && !pr->got_states && pr->state != PROCESS_DEGRADED)
			return true;
	}
	return false;
}

static void
end_turn(struct generation *gen)
{
	struct supervisor *sv = gen->sv;

	gen->states_coming = false;
	loop_timer_stop(&gen->states_deadline);
	for (size_t i = 0; i < gen->n; i++) {
		if (states_is_owner(gen->processes[i]) && process_is_up(gen->processes[i]))
			tell_to_serve(gen->processes[i]);
	}
	if (!is_wanted_by_some(gen))
		close_files(gen);
	LIST_FOREACH (&sv->generations, node, tmp) {
		struct generation *old = LIST_ENTRY(node, struct generation, node);
		if (!old->drained || old == sv->serving)
			continue;
		if (old->program->states_n > 0)
			generation_drain(old, true); /* what has not gone over ends there */
		else
			generation_stop(old, false);
	}
	reload_next(sv);
}

static bool
is_saving(const struct generation *gen)
{
	for (size_t i = 0; i < gen->n; i++) {
		if (gen->processes[i]->saving)
			return true;
	}
	return false;
}

/* At the end of the turn of the loop, so that nobody who is on the way here is taken by surprise. */
static void
on_settle(struct loop_defer *d)
{
	struct generation *gen = CONTAINER_OF(d, struct generation, states_settle);

	if (!gen->states_coming)
		return;
	LIST_FOREACH (&gen->sv->generations, node, tmp) {
		if (is_saving(LIST_ENTRY(node, struct generation, node)))
			return;
	}
	end_turn(gen);
}

static void
on_deadline(struct loop_timer *t)
{
	struct generation *gen = CONTAINER_OF(t, struct generation, states_deadline);

	LIST_FOREACH (&gen->sv->generations, node, tmp) {
		struct generation *old = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < old->n; i++) {
			struct process *pr = old->processes[i];
			if (!pr->saving)
				continue;
			pr->saving = false;
			log_error("worker %s of generation %" PRIu64 " did not hand over the state "
				  "of its steps within %d ms: it is lost",
			    pr->name, old->number, TURN_MS);
		}
	}
	end_turn(gen);
}

void
states_init(struct generation *gen)
{
	loop_timer_init(&gen->sv->lp, &gen->states_deadline, on_deadline);
	loop_defer_init(&gen->states_settle, on_settle);
}

void
states_fini(struct generation *gen)
{
	close_files(gen);
	loop_timer_close(&gen->states_deadline, NULL);
	loop_defer_cancel(&gen->states_settle);
}

/* -- the beginning -- */

static void
tell_of_successor(struct process *old, const struct process *pr)
{
	struct control_message m = { .type = FRAME_PEER_UP, .fd = -1 };

	m.peer_up = (struct control_peer_up){
		.kind = str_of(pr->kind->kind),
		.index = pr->index,
		.incarnation = pr->incarnation,
		.inbox = STR_LIT(""),
		.successor = pr->gen->number,
	};
	process_send(old, &m);
}

static void
add_text(struct buf *b, const char *text)
{
	(void)buf_add(b, text, strlen(text) + 1); /* has no bound */
}

static void
list_nodes(const struct program *p, struct buf *b)
{
	for (uint32_t i = 0; i < p->states_n; i++) {
		add_text(b, p->states[i]->route_id);
		add_text(b, p->states[i]->node_id);
		add_text(b, p->states[i]->desc->name);
		add_text(b, p->states[i]->owner);
	}
}

static void
ask_to_save(struct process *old, const struct generation *gen, struct str nodes)
{
	struct control_message m = { .type = FRAME_STATE_SAVE, .fd = -1 };

	m.state_save.generation = gen->number;
	m.state_save.nodes = nodes;
	old->saving = true;
	process_send(old, &m);
	for (size_t i = 0; i < gen->n; i++) {
		if (states_is_owner(gen->processes[i]))
			tell_of_successor(old, gen->processes[i]);
	}
}

/* Those of older generations that own states and live. */
static bool
is_older_owner(const struct process *pr, const struct generation *gen)
{
	return pr->gen != gen && pr->gen->number < gen->number &&
	    pr->gen->state != GENERATION_STOPPING && pr->gen->state != GENERATION_STARTING &&
	    states_is_owner(pr) && process_is_up(pr);
}

void
states_begin(struct generation *gen)
{
	struct buf nodes;

	buf_init(&nodes, 0);
	list_nodes(gen->program, &nodes);
	LIST_FOREACH (&gen->sv->generations, node, tmp) {
		struct generation *old = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < old->n; i++) {
			if (!is_older_owner(old->processes[i], gen))
				continue;
			gen->states_coming = gen->states_older = true;
			ask_to_save(old->processes[i], gen, (struct str){ nodes.p, nodes.n });
		}
	}
	buf_fini(&nodes);
	if (gen->states_coming)
		loop_timer_start(&gen->states_deadline, TURN_MS, 0);
	else
		end_turn(gen);
}

/* -- what processes do -- */

/* It has replaced an owner that died while its generation drained, so it has nothing; what comes to
 * it goes on to the generation that serves. */
static void
tell_to_pass_on(struct process *pr, const struct generation *serving)
{
	struct buf nodes;

	buf_init(&nodes, 0);
	list_nodes(serving->program, &nodes);
	ask_to_save(pr, serving, (struct str){ nodes.p, nodes.n });
	buf_fini(&nodes);
	pr->got_states = true;
	tell_to_serve(pr);
}

void
states_process_ready(struct process *pr)
{
	struct generation *gen = pr->gen, *serving = gen->sv->serving;

	if (!states_is_owner(pr))
		return;
	if (serving != NULL && serving != gen) {
		tell_to_pass_on(pr, serving);
		return;
	}
	LIST_FOREACH (&gen->sv->generations, node, tmp) {
		struct generation *old = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < old->n; i++) {
			if (is_older_owner(old->processes[i], gen))
				tell_of_successor(old->processes[i], pr);
		}
	}
	if (gen->states_coming)
		return;
	tell_to_serve(pr);
	if (!is_wanted_by_some(gen))
		close_files(gen);
}

static void
keep_file(struct generation *gen, int fd, uint64_t bytes)
{
	gen->state_files = mem_realloc(
	    gen->state_files, (gen->state_files_n + 1) * sizeof(struct state_file));
	gen->state_files[gen->state_files_n++] = (struct state_file){ fd, bytes };
}

void
states_process_saved(struct process *pr, const struct control_message *m)
{
	struct generation *gen = pr->sv->serving;
	bool wanted = pr->saving && gen != NULL && gen->states_coming;

	if (!wanted || m->state_saved.bytes == 0)
		(void)close(m->fd);
	else
		keep_file(gen, m->fd, m->state_saved.bytes);
	if (wanted && m->state_saved.records > 0)
		log_info("generation %" PRIu64 " hands over the state of its steps: %" PRIu64
			 " records, %" PRIu64 " bytes",
		    pr->gen->number, m->state_saved.records, m->state_saved.bytes);
	pr->saving = false;
	if (wanted)
		loop_defer(&pr->sv->lp, &gen->states_settle);
}

void
states_process_gone(struct process *pr)
{
	struct generation *gen = pr->sv->serving;

	if (!pr->saving)
		return;
	pr->saving = false;
	log_error("worker %s of generation %" PRIu64
		  " died before it handed over the state of its steps: it is lost",
	    pr->name, pr->gen->number);
	if (gen != NULL && gen->states_coming)
		loop_defer(&pr->sv->lp, &gen->states_settle);
}

/* -- the end of a generation -- */

bool
states_are_unsettled(const struct generation *gen)
{
	if (gen->states_coming || is_saving(gen))
		return true;
	LIST_FOREACH (&gen->sv->generations, node, tmp) { /* it passes operations on */
		const struct generation *old = LIST_ENTRY(node, struct generation, node);
		if (old->number < gen->number && gen->program->states_n > 0 &&
		    old->program->states_n > 0 && old->state == GENERATION_DRAINING &&
		    !old->drained)
			return true;
	}
	return false;
}

bool
states_end(struct generation *gen)
{
	struct control_message m = { .type = FRAME_STATE_END, .fd = -1 };
	bool told = false;

	if (gen->states_ended)
		return false;
	gen->states_ended = true;
	m.state_end.final = gen->sv->phase == SUPERVISOR_ENDING;
	for (size_t i = 0; i < gen->n; i++) {
		if (!states_is_owner(gen->processes[i]) || !process_is_up(gen->processes[i]))
			continue;
		process_send(gen->processes[i], &m);
		told = true;
	}
	return told;
}
