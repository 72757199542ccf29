/*
 * What an aggregate has gathered: groups of messages by key, their time-outs, closed keys, and the
 * bounds of it all. Knows nothing of completion: core/eip/aggregate_state.c decides.
 *
 * A group's message is the first one's (strategies that put a body together) or the last one's.
 * Everything that is kept is copied: nothing points into the exchange that brought it, and a small
 * text does not keep the large body alive in which it lay.
 */
#ifndef HINNY_EIP_AGGREGATE_GROUPS_H
#define HINNY_EIP_AGGREGATE_GROUPS_H

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/eip/aggregation.h"
#include "core/eip/state.h"

#define GROUP_NEVER INT64_MAX

struct group {
	struct str key; /* its own copy */
	struct list node;
	struct exchange *ex; /* its message, by state_exchange_new(); NULL before the first */
	struct gathered gathered;
	uint32_t size;       /* messages */
	bool in_batch;       /* has messages of the batch that runs (completionFromBatchConsumer) */
	int64_t timeout_ms;  /* what CamelAggregatedTimeout says; 0: none */
	int64_t deadline_ms; /* of the engine's clock, or GROUP_NEVER */
	uint64_t bytes;      /* as counted in groups.bytes */
	uint64_t held;       /* of them, blobs that the message holds */
	int64_t queued_ms;   /* not after deadline_ms: its place in the queue */
	size_t queue_at;     /* position + 1; 0: not in it */
};

struct group_closed; /* a closed key */

struct groups {
	struct state_node *st;
	const struct bean *strategy;
	bool keeps_body; /* the message keeps its body although the strategy puts one together:
	                    somebody looks at it before completion */
	uint64_t max_groups, max_bytes;
	struct hash by_key;
	struct list all;    /* the oldest first */
	struct group *last; /* that was asked for */
	uint64_t bytes;     /* of all groups, and of those that were taken and not given back yet */
	uint64_t taken;     /* groups that were taken and not given back yet */
	struct group **queue; /* a heap by queued_ms */
	size_t queue_n, queue_cap;
	struct hash closed;
	struct list closed_all; /* the oldest first */
	uint64_t closed_bytes;  /* bounded by max_bytes, apart from the groups */
	uint64_t max_closed;    /* 0: keys are not closed */
};

void groups_init(struct groups *gs, struct state_node *node, const struct bean *strategy,
    uint64_t max_groups, uint64_t max_bytes);
void groups_fini(struct groups *gs);
static inline size_t
groups_count(const struct groups *gs)
{
	return gs->by_key.count;
}

/* A group that comes from another process, with its message, whatever the bounds say; NULL: there
 * is one with that key. When it is whole: groups_loaded(). */
struct group *groups_load(struct groups *gs, struct str key, struct exchange *message);
void groups_loaded(struct groups *gs, struct group *g);

/* NULL: there is none. */
struct group *groups_find(struct groups *gs, struct str key);
/* A new one, without messages; NULL at the bound of groups. */
struct group *groups_new(struct groups *gs, struct str key);
/* Adds a message. HINNY_ELIMIT: it would be beyond the bound of bytes, and nothing was changed. */
enum hinny_rc groups_add(struct groups *gs, struct group *g, struct exchange *ex);
/* Takes a message that is not the first of its group back; `before` as it was then. Only of
 * strategies that put a body together. */
struct group_mark {
	size_t text_n, list_n;
};
struct group_mark groups_mark(const struct group *g);
void groups_undo(struct groups *gs, struct group *g, struct group_mark before);
/* The group is no more. */
void groups_drop(struct groups *gs, struct group **g);
/*
 * Makes the group's message out of it, to be run, and drops the group. *bytes stays counted until
 * groups_give_back().
 */
struct exchange *groups_take(struct groups *gs, struct group **g, uint64_t *bytes);
/* One that was taken in another process. */
void groups_load_taken(struct groups *gs, uint64_t bytes);
void groups_give_back(struct groups *gs, uint64_t bytes);

void groups_set_deadline(struct groups *gs, struct group *g, int64_t deadline_ms);
/* A group whose deadline is not after now; NULL: none. */
struct group *groups_due(struct groups *gs, int64_t now_ms);
/* When to ask next: never after the first deadline, maybe before. */
int64_t groups_next(const struct groups *gs);

/* The oldest are forgotten when there are more than max_closed, or max_bytes of them. */
void groups_close_key(struct groups *gs, struct str key);
bool groups_is_closed(const struct groups *gs, struct str key);
typedef void groups_key_fn(void *arg, struct str key);
void groups_each_closed(const struct groups *gs, groups_key_fn *fn, void *arg);

#endif
