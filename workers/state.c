/* The states of steps that this process owns: they are opened before READY and served from START on. */
#include "workers/worker_priv.h"

#include "core/eip/state.h"

#include <string.h>

static bool
is_owned(const struct worker *wk, const struct state_node *node)
{
	return wk->args.index == 0 && strcmp(node->owner, wk->kind->kind) == 0;
}

void
states_open(struct worker *wk)
{
	for (uint32_t i = 0; i < wk->program->states_n; i++)
		if (is_owned(wk, wk->program->states[i]))
			state_open(&wk->engine, wk->program->states[i]);
}

void
states_serve(struct worker *wk)
{
	for (uint32_t i = 0; i < wk->program->states_n; i++)
		if (wk->program->states[i]->state != NULL)
			state_serve(wk->program->states[i]);
}

void
states_close(struct worker *wk)
{
	for (uint32_t i = 0; wk->program != NULL && i < wk->program->states_n; i++)
		state_close(wk->program->states[i]);
}
