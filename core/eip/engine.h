/*
 * Runs a program at home. Pure: calls, time and I/O come in through struct engine_ops, which tests fake.
 *
 * Each exchange has a stack of activations (one a block that is being run). The engine runs steps until one is pending, returns, and goes on in
 * engine_resume(). It never recurses into itself for blocks, so depth costs heap, not stack; and it yields to the loop after ENGINE_BURST steps of one
 * exchange without a pause (ops->yield), so that a long loop starves nobody.
 *
 * Error handling follows spec/eips.md section 3: an exception unwinds activations to the nearest boundary: doTry (the step's `caught`), or the route's
 * onException handlers, with redelivery of the failed step alone, its message being as it was when the step began. A route reached by direct has its own.
 */
#ifndef HINNY_EIP_ENGINE_H
#define HINNY_EIP_ENGINE_H

#include "core/base/log.h"
#include "core/lang/expression.h"
#include "core/model/exchange.h"
#include "core/model/program.h"

enum { ENGINE_BURST = 10000, ENGINE_DEPTH_MAX = 1000 };

/* One block being run. Lives in the exchange's arena; freed ones are reused through engine's free list in the exchange. */
struct activation {
	struct activation *below;
	const struct step *owner; /* whose block it is; NULL: the route's own block */
	const struct step *at;    /* step that runs or runs next; NULL: the end */
	const struct route *route; /* set on a route's own block: boundary of its error handlers */
	uint8_t kind;             /* private to the engine (route, block, handler) */
	uint32_t n;               /* the owner's: which branch, index … */
	void *state;              /* the owner's */
	/* redelivery of the step `at` */
	uint32_t tries;
	const struct step *handler; /* the onException step that is redelivering or being run */
	struct value saved_body;
	struct exception *saved_exception;
};

struct engine_ops {
	/* Runs st (and the following, st->call_run of them) in a worker of kind st->owner. Completes by engine_call_done(), maybe from inside. The message of the
	 * exchange stays as it is until then. */
	void (*call)(struct engine *en, struct exchange *ex, const struct step *st);
	/* Evaluates e[0..n-1], all of one owner, in order; with first_match stops behind the first true one. Fills ex->slots by engine_slot_fill(), then
	 * engine_evaluate_done(). */
	void (*evaluate)(struct engine *en, struct exchange *ex, struct expression *const *e, uint32_t n, bool first_match);
	/* Sends to an endpoint whose component runs in this process (http from an http worker, log, file from file). Returns like a step. */
	enum step_rc (*send)(struct engine *en, struct exchange *ex, const struct step *st, struct endpoint *ep);
	/* toD: an endpoint made at run time; cached by the worker. NULL with the exception set. */
	struct endpoint *(*endpoint)(struct engine *en, struct exchange *ex, const struct step *st, struct str uri);
	/* engine_resume() after ms milliseconds (0: when the loop has turned). */
	void (*wait)(struct engine *en, struct exchange *ex, int64_t ms);
	/* Is `kind` this process? Then steps owned by it run here. */
	bool (*is_local)(struct engine *en, const char *kind);
	/* The log step and component: one line. */
	void (*log)(struct engine *en, enum log_level level, const char *logger, struct str text, struct exchange *ex);
	/* Before an expression or step that reads the body, when it is a VALUE_STREAM: collect it into a blob and engine_resume() (the step runs then), or
	 * engine_fail(). */
	void (*collect)(struct engine *en, struct exchange *ex);
	/* Counters (may be NULL): a step began / ended. */
	void (*trace)(struct engine *en, struct exchange *ex, const struct step *st, enum step_rc rc);
};

struct engine {
	const struct engine_ops *ops;
	void *owner; /* the worker */
	const struct program *program;
	struct value_map globals; /* global: variables of this process */
	struct arena globals_arena;
};

void engine_init(struct engine *en, const struct engine_ops *ops, void *owner, const struct program *program);
void engine_fini(struct engine *en);

/* Starts the exchange in a route; ex->done is called when it is done, maybe from inside. */
void engine_start(struct engine *en, struct exchange *ex, const struct route *route);
/* Runs n consecutive steps from `first` and then done: the callee's side of a call, and `hinny send`'s single step. No error handler applies. */
void engine_start_steps(struct engine *en, struct exchange *ex, const struct step *first, uint32_t n);

/* For steps that returned STEP_PENDING: go on with the next step / fail with ex->exception, which is set. */
void engine_resume(struct exchange *ex);
void engine_fail(struct exchange *ex);
/* For ops: a call ended. ok: the reply has been applied to the exchange; not ok: ex->exception is set. */
void engine_call_done(struct exchange *ex, bool ok);
void engine_slot_fill(struct exchange *ex, const struct expression *e, struct value v, struct exception *exception);
void engine_evaluate_done(struct exchange *ex); /* with ex->exception set: the step fails with it (worker lost, deadline) */
/* For ops->wait and ops->collect. */
void engine_wake(struct exchange *ex);
/* The process stops: drops the exchange wherever it is; done is called with an exception. Calls in flight must have been cancelled. */
void engine_abort(struct exchange *ex, enum exception_id id, const char *why);

/* For steps: run `block` (which belongs to st), then st's after. Returns STEP_ENTER, or STEP_DONE for an empty block. */
enum step_rc engine_enter(struct exchange *ex, const struct step *st, const struct block *block, uint32_t n, void *state);
/* Runs a route as a subroutine (direct). */
enum step_rc engine_enter_route(struct exchange *ex, const struct step *st, const struct route *route);

#endif
