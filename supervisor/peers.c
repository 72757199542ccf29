/* Every worker of a generation hears of every other that has an inbox; of deaths, all hear. */
#include "supervisor/peers.h"

#include "supervisor/generation.h"
#include "supervisor/states.h"
#include "supervisor/supervisor_priv.h"

static void
tell_of(struct process *to, const struct process *pr)
{
	struct control_message m = { .type = FRAME_PEER_UP, .fd = -1 };

	if (pr->inbox == NULL)
		return;
	m.peer_up = (struct control_peer_up){
		.kind = str_of(pr->kind->kind),
		.index = pr->index,
		.incarnation = pr->incarnation,
		.inbox = str_of(pr->inbox),
	};
	process_send(to, &m);
}

void
peers_up(struct process *pr)
{
	for (size_t i = 0; i < pr->gen->n; i++) {
		struct process *other = pr->gen->processes[i];
		if (other == pr || !process_is_up(other))
			continue;
		tell_of(other, pr);
		tell_of(pr, other);
	}
}

/* Owners of states keep things for exchanges that are at home in an older generation, and pass
 * operations on to a newer one. */
static void
tell_other_generations(const struct process *pr, struct control_message *m)
{
	m->peer_down.last = false;
	LIST_FOREACH (&pr->sv->generations, node, tmp) {
		struct generation *gen = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; gen != pr->gen && i < gen->n; i++) {
			if (states_is_owner(gen->processes[i]) && process_is_up(gen->processes[i]))
				process_send(gen->processes[i], m);
		}
	}
}

void
peers_down(struct process *pr, const struct process_death *death)
{
	struct control_message m = { .type = FRAME_PEER_DOWN, .fd = -1 };

	if (!death->was_ready && !death->last)
		return; /* nobody has heard of it */
	m.peer_down = (struct control_peer_down){
		.kind = str_of(pr->kind->kind),
		.index = pr->index,
		.incarnation = death->incarnation,
		.call_id = death->call_id,
		.call_home = death->call_home,
		.last = death->last,
		.time_limit = death->time_limit,
		.reason = str_of(death->reason),
	};
	for (size_t i = 0; i < pr->gen->n && pr->gen->state != GENERATION_STOPPING; i++) {
		struct process *other = pr->gen->processes[i];
		if (other != pr && process_is_up(other))
			process_send(other, &m);
	}
	tell_other_generations(pr, &m);
}

void
peers_poison(struct process *pr, uint64_t key)
{
	struct control_message m = { .type = FRAME_POISON, .fd = -1 };

	m.poison.key = key;
	for (size_t i = 0; i < pr->gen->n; i++) {
		struct process *other = pr->gen->processes[i];
		if (other != pr && (other->kind->flags & KIND_STATELESS) == 0 &&
		    process_is_up(other))
			process_send(other, &m);
	}
}
