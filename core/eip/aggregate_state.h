/*
 * The owner's side of an aggregate: takes messages into groups, says when a group is complete, runs
 * completed groups.
 */
#ifndef HINNY_EIP_AGGREGATE_STATE_H
#define HINNY_EIP_AGGREGATE_STATE_H

#include "core/eip/aggregate_groups.h"
#include "core/eip/steps.h"

enum aggregate_op {
	/* The exchange's message; arg: see aggregate_arg. Answers how long the exchange should wait
	   before it goes on, milliseconds; null: not at all. */
	AGGREGATE_ADD,
	AGGREGATE_COMPLETE_ALL, /* no arg */
	AGGREGATE_OPS
};

/* Members of the list that is the argument of AGGREGATE_ADD: what the home has evaluated. Without
 * more than the key the argument is the key alone. */
enum aggregate_arg {
	ARG_KEY,
	ARG_TIMEOUT,   /* milliseconds; 0: none given */
	ARG_SIZE,      /* null: none given */
	ARG_PREDICATE, /* null: not evaluated at home */
	ARG_N
};

struct aggregate_state {
	struct state_node *node;
	struct engine *en;
	const struct aggregate_conf *conf;
	struct groups groups;
	bool serving, ending, saved, closed;
	bool groups_read;     /* expressions of the options are evaluated here */
	bool timed;           /* there may be time-outs or intervals */
	struct arena scratch; /* for expressions that look at groups */
	/* completed groups */
	struct list waiting; /* struct completed */
	uint32_t waiting_n, running, burst;
	uint64_t waiting_bytes;
	bool pumping;
	struct engine_timer *pause;
	/* time */
	struct engine_timer *timer;
	int64_t timer_ms;  /* when it goes off */
	int64_t origin_ms; /* checks and intervals are counted from here */
	int64_t interval_next_ms;
	uint32_t batch_n;      /* messages of the batch that runs */
	struct group *loading; /* whose parts come next */
};

extern const struct state_desc aggregate_state_desc;

/* A completed group, taken by groups_take(): it is run when its turn comes. */
void aggregate_queue(struct aggregate_state *s, struct exchange *ex, uint64_t bytes);
/* The same one after another, the first first; for the hand-over. */
typedef void aggregate_waiting_fn(void *arg, struct exchange *ex, uint64_t bytes);
void aggregate_each_waiting(struct aggregate_state *s, aggregate_waiting_fn *fn, void *arg);

/* aggregate_save.c */
void aggregate_save(struct state_node *node, struct state_writer *w);
bool aggregate_load(struct state_node *node, struct state_record *r, struct hinny_error *err);

#endif
