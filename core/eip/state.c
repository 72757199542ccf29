/* The life of a node of state in the process that owns it. */
#include "core/eip/state.h"

#include "core/base/assert.h"

void
state_open(struct engine *en, struct state_node *node)
{
	ASSERT(node->state == NULL);
	node->engine = en;
	node->state = node->desc->open(node);
	ASSERT(node->state != NULL);
}

void
state_serve(struct state_node *node)
{
	ASSERT(node->state != NULL && !node->serving);
	node->serving = true;
	if (node->desc->started)
		node->desc->started(node);
}

void
state_close(struct state_node *node)
{
	node->serving = false;
	if (node->state)
		node->desc->close(node);
	node->state = NULL;
}
