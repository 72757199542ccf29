/* Between state.c and state_handover.c. */
#ifndef HINNY_WORKERS_STATE_PRIV_H
#define HINNY_WORKERS_STATE_PRIV_H

#include "core/eip/state.h"
#include "workers/worker_priv.h"

struct state_place {
	enum { STATE_ELSEWHERE, STATE_COMING, STATE_HERE, STATE_MOVED } where;
	int kind;            /* of its owner: ELSEWHERE, MOVED */
	uint64_t generation; /* of its owner: MOVED; else 0 */
};

struct states {
	bool owns;
	struct list pending; /* struct pending */
	uint32_t pending_n;  /* of notes: the others count as exchanges or calls */
	uint64_t *lost;      /* homes that died while nodes were coming */
	size_t lost_n;
	struct state_place places[]; /* by node.index */
};

/* state.c: what waits for a node that has moved now goes there. */
void states_pass_on(struct worker *wk);

#endif
