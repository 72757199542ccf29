/* Between the files of the engine, and for steps that take part in error handling. */
#ifndef HINNY_EIP_ENGINE_PRIV_H
#define HINNY_EIP_ENGINE_PRIV_H

#include "core/eip/engine.h"
#include "core/eip/on_exception.h"

/* What an activation is. */
enum activation_kind {
	ACTIVATION_BLOCK,   /* of a step */
	ACTIVATION_ROUTE,   /* a route's own: its error handlers end the search */
	ACTIVATION_HANDLER, /* of an onException that runs: no error handler applies within */
	ACTIVATION_STEPS,   /* of engine_start_steps: n counts what is left */
	ACTIVATION_CHILD,   /* of engine_start_child: n counts what is left, 0: the whole block */
	ACTIVATION_COMPLETION, /* of an onCompletion of BeforeConsumer; outcome: enum leaving */
};

/* What becomes of the exception when a handler's block has ended. */
enum outcome { OUTCOME_NONE, OUTCOME_HANDLED, OUTCOME_CONTINUED };

/* How a route is left. */
enum leaving { LEAVING_DONE, LEAVING_FAILED, LEAVING_UNWOUND };

/* What the engine does next. */
enum engine_op {
	OP_STEP,   /* run top->at, or leave the block when there is none */
	OP_AFTER,  /* the block of run->act has ended: its owner's `after` */
	OP_CAUGHT, /* an exception came out of the block of run->act: its owner's `caught` */
	OP_HANDLE, /* top->at has failed and the route's error handler decides */
	OP_UNWIND, /* stop or handled: leave everything, without an exception */
};

/* What the exchange waits for. */
enum engine_wait {
	WAIT_NOTHING,
	WAIT_STEP,     /* the outcome of the op: engine_resume, engine_fail, engine_wake */
	WAIT_CALL,     /* engine_call_done */
	WAIT_EVALUATE, /* engine_evaluate_done, then the op runs again */
	WAIT_COLLECT,  /* engine_wake, then the op runs again; or engine_fail */
	WAIT_STATE,    /* engine_state_done, then the op runs again */
	WAIT_AGAIN,    /* engine_wake, then the op runs (again): redelivery, burst, engine_again */
};

/* A message put aside. Bodies and header values are shared, not copied. */
struct snapshot {
	struct value body;
	struct headers headers; /* items are its own */
	unsigned dirty;
};

struct state_call; /* What no error handler has logged (doTry, circuitBreaker, noErrorHandler): one line. */
void engine_report_failure(struct exchange *ex);
/* engine_state.c */
struct done_call;  /* engine_completion.c */
struct end_call;   /* the same */

struct engine_run {
	struct activation *free;
	struct activation *act; /* of OP_AFTER and OP_CAUGHT: taken off the stack */
	enum engine_op op;
	enum engine_wait wait;
	bool active; /* the engine is on the call stack: answers are noted, it acts on them there */
	bool answered; /* the wait is over… */
	bool refused;  /* …with an exception */
	bool ending;   /* OP_AFTER belongs to OP_UNWIND: unwinding goes on behind it */
	bool aborted;
	bool handled; /* ended by a handler */
	bool leaves;  /* engine_end was called */
	engine_timer_fn *on_abort;
	void *on_abort_arg;
	uint32_t burst;
	uint32_t slots_cap;
	struct expression *one;         /* an array of it, for ops->evaluate */
	const struct expression *asked; /* the one that the op cannot do without */
	struct exception *aside;        /* the exchange's exception while a value is waited for */
	const struct step *call_failed; /* of the run of a call */
	const struct step *failed_step; /* of engine_start_steps */
	struct snapshot *original;
	struct completion *completions; /* engine_completion.c */
	uint32_t completions_n;
	bool completing; /* an onCompletion had its onWhen hold */
	bool routed;     /* begun by a consumer: its failure is nobody else's to tell */
	bool reported;   /* an error handler has logged a failure */
	struct done_call *done_calls;
	struct end_call *end_calls;
	struct state_call *states;       /* those of the op that runs, in order */
	struct state_call *states_spare; /* used before */
	struct state_call *state_asked;  /* the one that the op cannot do without */
};

/* engine.c */
struct activation *engine_push(struct exchange *ex, enum activation_kind kind,
    const struct step *owner, const struct block *block);
void engine_release(struct exchange *ex, struct activation *act);
/* A run without activations. */
void engine_begin(struct engine *en, struct exchange *ex);
/* Runs until the exchange waits or is done; then it may be gone. */
void engine_loop(struct exchange *ex);
/* The step top->at has been done: to the next. */
void engine_advance(struct exchange *ex);
/* The step top->at has failed with ex->exception: to the error handler, or out of its block. */
void engine_fail_here(struct exchange *ex);
/* Out of the top block with ex->exception. */
void engine_leave_failed(struct exchange *ex);

/* The answer to WAIT_STATE has been noted. */
void engine_state_answered(struct exchange *ex);

/* engine_completion.c */
/* The exchange has entered the route. */
void engine_note_completions(struct exchange *ex, const struct route *route);
/* The top block is to be left. True: it is a route's, and an onCompletion of BeforeConsumer runs
 * first. */
bool engine_complete_before(struct exchange *ex, enum leaving how);
/* That has ended, and act has been taken off: leaves the route as it would have been. */
void engine_completed(struct exchange *ex, struct activation *act);
/* The condition of an onCompletion holds: its steps are about to run. */
struct on_completion_conf;
void engine_completion_runs(struct exchange *ex, const struct on_completion_conf *conf);
/* Makes the copies for those of AfterConsumer. */
void engine_complete_after(struct exchange *ex);
/* Those of engine_on_end. True: one of them waits for an answer. */
bool engine_end_waits(struct exchange *ex);
/* Those of engine_on_done. */
void engine_call_done_fns(struct exchange *ex);

/* engine_message.c */
void snapshot_take(struct exchange *ex, struct snapshot **sn);
void snapshot_restore(struct exchange *ex, const struct snapshot *sn);
/* Does the step read the body, as far as it evaluates expressions itself (not in its blocks)? */
bool step_evaluates_body(const struct step *st);

/* engine_slots.c: remote values */
/* The op cannot go on without ex->need (NULL: without the body): asks for it, for all that follows
 * it where that is known to be wanted too. */
void engine_ask(struct exchange *ex);
/* The answer is there. True: the op can run again, and finds the value or the failure in its slot.
 * False: the body could not be had, and the exception is set. */
bool engine_take_answer(struct exchange *ex);

/* engine_state.c */
/* The op begins to run, for the first time or again. */
void engine_state_begin(struct engine_run *run);
/* The op is over: its answers are used up. */
void engine_state_end(struct engine_run *run);
/* The op cannot go on without the answer of run->state_asked. */
void engine_state_ask(struct exchange *ex);

/* engine_errors.c */
/* Does the error handler of the route apply to the step top->at that has failed? */
bool engine_handler_applies(const struct exchange *ex);
/* OP_HANDLE: decides, and sets the next op. STEP_DONE, STEP_PENDING (a wait was begun), or
 * STEP_NEED: again when the value is there. */
enum step_rc engine_handle(struct exchange *ex);
/* The block of a handler has ended, with or without an exception of its own. */
void engine_handler_ended(struct exchange *ex, struct activation *act, bool failed);
/* The exception is being caught: notes it in the properties and clears it. */
void engine_catch(struct exchange *ex);
/* A predicate in `caught` or in the error handler. EVAL_NEED with ex->need NULL: the body has to be
 * collected. */
enum eval_rc engine_test(const struct expression *e, struct exchange *ex, bool *out);
/* May a step of the route be run again by one of its handlers? */
bool engine_route_redelivers(const struct route *route);
/* Does some onException of the program want the message as it came in? */
bool engine_program_wants_original(const struct program *program);

#endif
