/*
 * State of steps: what an EIP keeps from one message to the next (groups of an aggregate, keys of
 * an idempotent consumer, messages of a resequencer, global variables).
 *
 * One process owns a node of state: the worker in which all exchanges that can reach it are at home
 * when that is one process, else `flow`. A step asks its state by operations. Where the owner is
 * this process an operation is a function call; else it is a call to the owner. At a reload the
 * state goes over to the owner of the new generation, which loads it before it serves.
 *
 * How to write an EIP with state:
 *
 *   static const struct state_desc keys = { .name = "keys", .ops = OPS, .open = …, .serve = … };
 *
 *   check:  compile_state(c, st, &keys);
 *   run:    evaluate all expressions (EVAL_NEED: return STEP_NEED), then
 *           switch (engine_state(ex, st->state, OP_ADD, &key, &answer)) {
 *           case EVAL_OK:    go on with the answer
 *           case EVAL_ERROR: return STEP_FAILED;
 *           case EVAL_NEED:  return STEP_NEED;
 *           }
 *
 * Rules:
 * - After EVAL_NEED the step runs again from its start when the answer is there, and the same call
 *   finds it. So until its last operation has answered a step changes nothing. It may make
 *   several operations, in the same order each time; they are matched by that order (those of
 *   read_ops by their argument).
 * - An operation is made once for each run of the step. When an error handler redelivers the step
 *   it is made anew: one that must not be must look for itself (an exchange knows its id).
 * - What an owner has taken counts as done. When the owner dies its state in memory is gone; an
 *   operation that was not answered fails with hinny.WorkerLostException (one of read_ops is asked
 *   again).
 * - A thing that is held for an exchange until it is done is kept with state_home(ex) beside it, so
 *   that home_lost() can give it back.
 */
#ifndef HINNY_EIP_STATE_H
#define HINNY_EIP_STATE_H

#include "core/eip/engine.h"

/* ---- for steps ---- */

/*
 * Makes an operation. EVAL_OK: *out is its answer (it lives as long as the exchange). EVAL_ERROR:
 * ex->exception is set. EVAL_NEED: return STEP_NEED. What *arg points to must lie in the exchange's
 * arena or live longer; `arg` may be NULL: null. Also in `after`, in `caught`, and from
 * expressions.
 */
enum eval_rc engine_state(struct exchange *ex, struct state_node *node, unsigned op,
    const struct value *arg, struct value *out);
/* One way: no answer, no exception, no waiting. It gets there while the owner lives, and a worker
 * does not end before it has. Also when the exchange is done (engine_on_done). Never with a
 * message.
 */
void engine_state_note(
    struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg);
/* The incarnation of the process in which the exchange is at home, never 0. */
uint64_t state_home(const struct exchange *ex);

/* Does the process that state_home() named still live? Costs a system call; for what is held and
 * stands in somebody's way: a death is seen here before home_lost() tells of it, so a sender that
 * comes again at once is not sent away. */
bool state_home_lives(struct state_node *node, uint64_t home);

/* ---- for owners: messages that state holds, and what becomes of them ---- */

/*
 * An empty exchange to hold a message in (engine_share_message() puts one there), or to run later.
 * It is in nobody's way: a worker that drains does not wait for it. It belongs to the route of the
 * node. Ended by state_exchange_free or state_exchange_start.
 */
struct exchange *state_exchange_new(struct state_node *node);
void state_exchange_free(struct exchange **ex);
/* Runs the block of the node's step with it, as an exchange that is at home here; the error handler
 * of the route applies. Sets *ex to NULL. done (NULL: nothing) is called when it is done, with
 * ex->owner being `owner`; it is freed then. It begins at once, inside this call, and may come back
 * to the same node by another operation: have your own state in order first. (After
 * STATE_NESTED_MAX of them one in the other it begins when the loop has turned.) */
enum { STATE_NESTED_MAX = 16 };
void state_exchange_start(
    struct state_node *node, struct exchange **ex, exchange_done_fn *done, void *owner);

/* ---- for owners: the hand-over ---- */

/* A record: a value, and a message if `ex` is not NULL. Both are copied. Its body may be of any
 * size, the rest has to fit in a frame (16 MiB): what does not is lost, with a log line. So save
 * many small records rather than one large. */
void state_put(struct state_writer *w, const struct value *v, struct exchange *ex);

struct state_record {
	struct value value;       /* valid during load */
	struct exchange *message; /* NULL: it has none. Of state_exchange_new(); who keeps it sets
	                             this to NULL */
};

/* ---- for workers and tests: the life of a node in its owner ---- */

/* Saving. What is written goes to `write` piece by piece; false from there ends it. */
struct state_writer {
	bool (*write)(void *arg, struct str bytes);
	void *arg;
	uint64_t records, lost;
	bool failed;
	const struct state_node *node;
	struct buf buf;
};
void state_writer_init(
    struct state_writer *w, bool (*write)(void *arg, struct str bytes), void *arg);
void state_writer_fini(struct state_writer *w);
void state_save(struct state_node *node, struct state_writer *w);

/* Loads the records in `bytes` that belong to nodes of the program that are open here; blob: where
 * the bytes lie (large bodies stay there). False: what is left is no record. */
struct state_loaded {
	uint64_t records, refused, others;
};
bool state_load(
    const struct program *p, struct str bytes, struct blob *blob, struct state_loaded *loaded);

void state_open(struct engine *en, struct state_node *node);
/* Of a node that is open: from now on it serves. */
void state_serve(struct state_node *node);
/* Serves no more, and frees. Of one that is not open nothing. */
void state_close(struct state_node *node);

#endif
