/*
 * Calls between workers, over unix sockets: inboxes, batches, calls, replies, chunks with credit, deadlines.
 *
 * What makes calls safe (what was sent is queued, not received; around a SIGKILL it vanishes): an address ends in the worker's incarnation and is never reused; a
 * call is settled only by its reply, its deadline, or the death of that incarnation as the supervisor announces it. A late reply is dropped. Nobody blocks in a
 * send: what cannot leave waits here, bounded. Replies need no credit. A callee never calls, so two workers that call one another cannot lock up.
 *
 * All functions belong to the loop's thread; callbacks of struct ipc_ops come on it too. docs/wire.md has the layout of every frame.
 */
#ifndef HINNY_IPC_IPC_H
#define HINNY_IPC_IPC_H

#include "core/base/error.h"
#include "core/loop/loop.h"
#include "core/model/exchange.h"
#include "core/model/page.h"
#include "core/model/program.h"

#include <stdbool.h>
#include <stdint.h>

struct ipc;
struct ipc_served;

/* How a call ended, for ops->call_done. */
enum ipc_outcome {
	IPC_OK,     /* the reply has been applied to the exchange */
	IPC_FAILED, /* ex->exception is set; the message is as it was when the failing step began */
};

/* An operation of a state, as its owner gets it. Texts are valid as long as the exchange. */
struct ipc_operation {
	struct str route_id, node_id, name; /* of the node; of its kind of state */
	unsigned op;
	struct value arg;
};

struct ipc_ops {
	/* Home. The call of ex is over; `failed` is the step of the run that failed, NULL with IPC_OK. */
	void (*call_done)(void *owner, struct exchange *ex, enum ipc_outcome outcome, const struct step *failed);
	/* Home. One result of an evaluate call; value and exception live in the exchange's arena. */
	void (*slot)(void *owner, struct exchange *ex, const struct expression *e, struct value v, struct exception *exception);
	/* Home. The evaluate call is over; ex->exception is set when it could not be made at all. */
	void (*evaluate_done)(void *owner, struct exchange *ex);
	/* Callee. An exchange to work on (from its pool), and its end. */
	struct exchange *(*exchange_new)(void *owner);
	void (*exchange_free)(void *owner, struct exchange **ex);
	/* Callee. The call sc with its message in ex is whole: run steps first .. first + n, then ipc_reply(). May reply at once. */
	void (*serve_call)(void *owner, struct ipc_served *sc, struct exchange *ex, const struct step *first, uint32_t n);
	/* Callee. Evaluate one expression now (expressions never wait in their owner). ex->exception is set on failure. */
	enum eval_rc (*serve_eval)(void *owner, struct exchange *ex, const struct expression *e, struct value *out);
	/* Callee. The caller gave up a call that is being worked on (it may go on; its reply is dropped). May be NULL. */
	void (*serve_abort)(void *owner, struct ipc_served *sc);
	/* Home. The operation is over: its value, or its exception; both live in the exchange's arena. */
	void (*state_done)(void *owner, struct exchange *ex, struct value v, struct exception *exception);
	/* Owner. An operation has come, with what it wants of the message in ex; ends by ipc_state_reply(), maybe from inside. */
	void (*serve_state)(void *owner, struct ipc_served *sc, struct exchange *ex, const struct ipc_operation *op);
	/* Home. A message has ended a worker: the other homes should note it too (ipc_note_poison there). May be NULL. */
	void (*poison)(void *owner, uint64_t key);
};

struct ipc_options {
	struct loop *lp;
	const struct program *program;
	const struct ipc_ops *ops;
	void *owner;
	struct page *page;          /* calls being worked on are written here first */
	const char *run_dir;        /* sockets: RUN/KIND.INDEX.INCARNATION */
	int kind;                   /* kind_index() of this worker */
	uint32_t index;
	uint64_t incarnation;       /* below 2^24 */
	uint32_t serve_at_once;     /* 0: no bound */
	int64_t call_timeout_ms;
	uint32_t max_tries;         /* of a stateless callee, by its deaths */
	int64_t refuse_ms;          /* a step and body that used up its tries is refused so long */
	uint32_t peer_calls;        /* bounds of what is outstanding at one peer */
	uint64_t peer_bytes;
	uint64_t max_body;          /* of bodies that come in chunks */
	size_t spool_memory;
};

/* Opens the inbox. */
enum hinny_rc ipc_open(const struct ipc_options *opt, struct ipc **out, struct hinny_error *err);
void ipc_close(struct ipc *ipc); /* drops what is in flight without a word; NULL is fine */

/* A process of a newer generation (its number) that operations may be passed on to. */
void ipc_successor_up(struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation, uint64_t generation);
/* What the supervisor announces. `running`: the call id that the dead one's page showed (0: none). */
void ipc_peer_up(struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation);
void ipc_peer_down(struct ipc *ipc, uint64_t incarnation, uint64_t running, const char *reason, bool time_limit);
/* No process of that kind and index comes any more: operations of states that it owns fail at once. */
void ipc_peer_last(struct ipc *ipc, int kind);

/* Another home says that this step and message have ended a worker. */
void ipc_note_poison(struct ipc *ipc, uint64_t key);

/* Home side. One call at a time for an exchange (ex->call). Ends by ops->call_done, never from inside. `stream`: a large reply body may be left as VALUE_STREAM. */
void ipc_call(struct ipc *ipc, struct exchange *ex, const struct step *first, uint32_t n, bool stream);
/* One step that has no owner of its own (toD), in a worker of that kind. */
void ipc_call_kind(struct ipc *ipc, struct exchange *ex, const char *kind, const struct step *st);
void ipc_evaluate(struct ipc *ipc, struct exchange *ex, struct expression *const *e, uint32_t n, bool first_match);
/* An operation of a node, in the first worker of its kind, or (generation not 0) in that of a newer generation, whose kind may be another. What *arg points to stays until
 * the end. An operation that was not answered when its owner dies is made again if it only reads. Ends by ops->state_done, never from inside. */
void ipc_state(struct ipc *ipc, struct exchange *ex, const struct state_node *node, unsigned op, const struct value *arg, int kind, uint64_t generation);
/* The same, and nobody waits for it; all is copied. `home`: whose incarnation the owner is told, 0: this one. */
void ipc_state_note(struct ipc *ipc, uint64_t home, const struct state_node *node, unsigned op, const struct value *arg, int kind, uint64_t generation);
/* Operations of the node that wait for an owner in a newer generation are for this one now. */
void ipc_state_moved(struct ipc *ipc, const struct state_node *node, int kind, uint64_t generation);
void ipc_cancel(struct ipc *ipc, struct exchange *ex); /* no call_done any more; the callee is told */

/* Callee side. Sends the outcome and ends sc; ex goes back by exchange_free when its body has left. failed: with ex->exception set. */
void ipc_reply(struct ipc_served *sc, struct exchange *ex, const struct step *failed);
/* Owner side. Ends sc, whose exchange goes; v counts when there is no exception. */
void ipc_state_reply(struct ipc_served *sc, const struct value *v, const struct exception *exception);
/* Has the home given it up, or is it too late? Then it must not be done any more. */
bool ipc_state_is_late(const struct ipc_served *sc);
/* A result that is a stream of items: any number of items, then ipc_reply. False when the home has given it up. The items are sent as credit allows, at most
 * IPC_ITEMS_QUEUED wait: then *full is set, and ops->… resumes by ipc_item_resume_fn. */
enum { IPC_ITEMS_QUEUED = 64 };
typedef void ipc_items_more_fn(void *arg);
bool ipc_item(struct ipc_served *sc, struct value item, ipc_items_more_fn *more, void *arg, bool *full);
/* Home side of items: called for each one in order; set before the call is made by ipc_call_items. Returning false pauses until ipc_items_resume. */
typedef bool ipc_item_fn(void *arg, struct exchange *ex, uint64_t seq, struct value item);
void ipc_call_items(struct ipc *ipc, struct exchange *ex, const struct step *first, uint32_t n, ipc_item_fn *item, void *arg);
void ipc_items_resume(struct exchange *ex);

/* Is one of the peers that were announced still there, as far as its inbox shows? One that ends in order takes it away. */
bool ipc_peers_left(const struct ipc *ipc);
/* Calls that this process has made / is working on. */
uint32_t ipc_calls_out(const struct ipc *ipc);
uint32_t ipc_calls_in(const struct ipc *ipc);

#endif
