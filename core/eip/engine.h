/*
 * Runs a program at home. Pure: calls, time and I/O come in through struct engine_ops, which tests
 * fake.
 *
 * Each exchange has a stack of activations (one a block that is being run). The engine runs steps
 * until one is pending, returns, and goes on in engine_resume(). It never recurses into itself for
 * blocks, so depth costs heap, not stack; and it lets the loop turn after ENGINE_BURST steps of one
 * exchange without a pause, so that a long loop starves nobody.
 *
 * Error handling follows spec/eips.md section 3: an exception unwinds activations to the nearest
 * boundary: doTry (the step's `caught`), or the route's onException handlers, with redelivery of
 * the failed step alone, its message being as it was when the step began. A route reached by direct
 * has its own. What the handlers of a called route have seen is not offered to the caller's.
 *
 * Whatever is said to be called "maybe from inside" may be called before the function that asked
 * for it has returned: the engine then goes on when that function returns.
 */
#ifndef HINNY_EIP_ENGINE_H
#define HINNY_EIP_ENGINE_H

#include "core/base/log.h"
#include "core/lang/expression.h"
#include "core/model/exchange.h"
#include "core/model/program.h"

enum { ENGINE_BURST = 10000, ENGINE_DEPTH_MAX = 1000 };

struct snapshot; /* engine_priv.h */

/* One block being run. Lives in the exchange's arena; ended ones are used again. */
struct activation {
	struct activation *below;
	const struct step *owner; /* whose block it is; NULL: the route's own block, of the start */
	const struct step *at;    /* step that runs or runs next; NULL: the end */
	const struct route *route; /* in which it runs */
	void *state;               /* the owner's */
	uint32_t n;                /* the owner's: which branch, index … */
	/* the engine's own */
	uint8_t kind;
	uint8_t outcome; /* of a handler's block: what becomes of the exception */
	bool keeps;      /* steps may be run again: the message is kept when one begins */
	bool handles;    /* of a child's own: the route's error handler applies in it */
	bool alone;      /* no error handler of the route applies in it */
	bool ends;       /* when this block has ended, unwinding goes on */
	bool completed;  /* of a route: an onCompletion of BeforeConsumer has run */
	bool stopped, failed_over, handled; /* of an onCompletion: what the exchange was before */
	uint32_t completion; /* of a route: which onCompletion is next */
	uint32_t tries;  /* redeliveries of the step `at` so far */
	int64_t delay_ms;
	struct snapshot *began;  /* the message when the step `at` began */
	struct exception *saved; /* waits for the end of this block, of onException or doFinally */
};

/* Of a source that has several messages in flight and keeps the order that they came in where it
 * could be seen (step.ordered). Embedded in the source's own. */
struct order {
	/* The exchange has come to the step, which it has not begun. False: it must wait;
	 * engine_wake() then asks again. May be asked again without a wait in between. */
	bool (*may_run)(struct order *o, struct exchange *ex, const struct step *st);
	/* The step has been begun: what it sends has been queued. */
	void (*ran)(struct order *o, const struct step *st);
};

struct engine_timer;
typedef void engine_timer_fn(void *arg);

struct engine_ops {
	/* Runs st (and the following, st->call_run of them) in a worker of kind st->owner.
	 * Completes by engine_call_done(), maybe from inside. The message of the exchange stays as
	 * it is until then. */
	void (*call)(struct engine *en, struct exchange *ex, const struct step *st);
	/* Evaluates e[0..n-1], all of one owner, in order; with first_match stops behind the first
	 * true one. Answers by engine_slot_fill(), then engine_evaluate_done(), maybe from inside.
	 * The array stays until then. */
	void (*evaluate)(struct engine *en, struct exchange *ex, struct expression *const *e,
	    uint32_t n, bool first_match);
	/* Sends to an endpoint whose component runs in this process (http from an http worker, log,
	 * file from file). Returns like a step. */
	enum step_rc (*send)(
	    struct engine *en, struct exchange *ex, const struct step *st, struct endpoint *ep);
	/* toD: an endpoint made at run time; cached by the worker. NULL with the exception set. */
	struct endpoint *(*endpoint)(
	    struct engine *en, struct exchange *ex, const struct step *st, struct str uri);
	/* engine_wake() after ms milliseconds (0: when the loop has turned). */
	void (*wait)(struct engine *en, struct exchange *ex, int64_t ms);
	/* Is `kind` this process? Then steps owned by it run here. */
	bool (*is_local)(struct engine *en, const char *kind);
	/* The log step, the log component, and what the error handler reports: one line. */
	void (*log)(struct engine *en, enum log_level level, const char *logger, struct str text,
	    struct exchange *ex);
	/* Before an expression or step that reads the body, when it is a VALUE_STREAM: collect it
	 * into a blob, which becomes the body, and engine_wake(); or set the exception and
	 * engine_fail(). Maybe from inside. */
	void (*collect)(struct engine *en, struct exchange *ex);
	/* An empty exchange for a branch or an item; detached: one that may outlive the exchange
	 * it is made for. child_free gives it back. */
	struct exchange *(*child_new)(struct engine *en, bool detached);
	void (*child_free)(struct engine *en, struct exchange **child);
	/* The child was made as not detached, and from now on is: in flight by itself. */
	void (*child_detach)(struct engine *en, struct exchange *child);
	/* An operation of a state that is not served here (core/eip/state.h). Answers by
	 * engine_state_done(), maybe from inside. *arg has been copied for it. */
	void (*state)(struct engine *en, struct exchange *ex, struct state_node *node, unsigned op,
	    const struct value *arg);
	/* The same, and nobody waits: the exchange may be gone when this returns. */
	void (*state_note)(struct engine *en, struct exchange *ex, struct state_node *node,
	    unsigned op, const struct value *arg);
	/* May be NULL: does the process with that incarnation live? */
	bool (*home_lives)(struct engine *en, uint64_t home);
	/* Calls fn(arg) once, after ms milliseconds (0: when the loop has turned), never from
	 * inside. The timer is gone then, or when it was cancelled. */
	struct engine_timer *(*timer_start)(
	    struct engine *en, int64_t ms, engine_timer_fn *fn, void *arg);
	void (*timer_cancel)(struct engine *en, struct engine_timer *timer);
	/* Milliseconds of a clock that never goes back. */
	int64_t (*now_ms)(struct engine *en);
	/* May be NULL: a step is about to be run again by an error handler. */
	void (*redelivered)(struct engine *en, struct exchange *ex, const struct step *st);
	/* May be NULL: the step is about to be run, of an exchange that is traced. A step that has to
	 * wait for a value first may be told twice. */
	void (*trace)(struct engine *en, struct exchange *ex, const struct step *st);
};

struct engine {
	const struct engine_ops *ops;
	void *owner; /* the worker */
	const struct program *program;
	bool stopping;       /* the broker ends; set by the worker */
	bool keeps_original; /* some onException wants the message as it came in */
	void *shared; /* program->shared_size bytes that all workers of the generation share, zero
	                 at first; set by the worker */
	uint64_t incarnation;  /* of this process; set by the worker */
	unsigned state_nested; /* core/eip/engine_state.c */
	struct engine_local *locals; /* engine_local() */
};

/* Borrows all; the program may be NULL in tests. */
void engine_init(
    struct engine *en, const struct engine_ops *ops, void *owner, const struct program *program);
void engine_fini(struct engine *en);

/* Starts the exchange in a route; ex->done is called when it is done, maybe from inside. */
void engine_start(struct engine *en, struct exchange *ex, const struct route *route);
/* As engine_start, but the source could not give its message: ex->exception, which is set, goes to
 * the route's error handler, as if the first step had failed with it; there is no redelivery. */
void engine_start_failed(struct engine *en, struct exchange *ex, const struct route *route);
/* Runs n consecutive steps from `first` and then done: the callee's side of a call, and `hinny
 * send`'s single step. No error handler applies. When a step fails, the message is as it was when
 * that step began, and engine_failed_step() names it. */
void engine_start_steps(
    struct engine *en, struct exchange *ex, const struct step *first, uint32_t n);
/* The step of the run that failed, for done of engine_start_steps; NULL when none did. */
const struct step *engine_failed_step(const struct exchange *ex);

/* For steps that returned STEP_PENDING: go on with the next step / fail with ex->exception, which
 * is set. */
void engine_resume(struct exchange *ex);
void engine_fail(struct exchange *ex);
/* For ops->wait and ops->collect: the exchange goes on where it stands. */
void engine_wake(struct exchange *ex);
/* For ops->call. ok: the reply of the whole run has been applied to the exchange. Not ok:
 * ex->exception is set, `failed` is the step of the run that failed (NULL: the first), and the
 * message is as it was when that step began. */
void engine_call_done(struct exchange *ex, bool ok, const struct step *failed);
/* For ops->evaluate. The value and exception live in the exchange's arena. */
void engine_slot_fill(
    struct exchange *ex, const struct expression *e, struct value v, struct exception *exception);
/* With ex->exception set the step fails with it (worker lost, deadline). */
void engine_evaluate_done(struct exchange *ex);
/* For ops->state: the answer, or its exception, in the exchange's arena. */
void engine_state_done(struct exchange *ex, struct value v, struct exception *exception);
/* Does the exchange wait for one of the functions above? */
bool engine_waits(const struct exchange *ex);
/* The process stops: drops the exchange wherever it is; done is called with an exception. Calls and
 * sends in flight must have been cancelled. */
void engine_abort(struct exchange *ex, enum exception_id id, const char *why);

/* For steps: run `block` (which belongs to st; NULL is empty), then st's `after`, with n and state
 * in its activation. Returns STEP_ENTER, or STEP_DONE for an empty block of a step without `after`.
 */
enum step_rc engine_enter(
    struct exchange *ex, const struct step *st, const struct block *block, uint32_t n, void *state);
/* Runs a route as a subroutine (direct); st's `after` comes when it has ended. STEP_FAILED when
 * routes have called one another ENGINE_DEPTH_MAX deep. */
enum step_rc engine_enter_route(
    struct exchange *ex, const struct step *st, const struct route *route);
/* What the step keeps in this process, NULL at first; engine_fini gives it to free_fn. Found by a
 * walk over the steps that have some: few. */
void **engine_local(struct engine *en, const struct step *st, engine_timer_fn *free_fn);
/* The step's part of the shared state: st->shared_size bytes, aligned as for any type. */
void *engine_shared(struct engine *en, const struct step *st);

/*
 * Children: a copy of the parent's message (body, headers, properties, variables) for a branch, an
 * item, a tap. One that is not detached borrows from its parent, which must wait for it. A body
 * that streams is not copied: the child's is null.
 */
struct exchange *engine_child_new(struct exchange *parent, bool detached);
void engine_child_free(struct exchange **child);
/* The message of `from` becomes that of a new exchange, which owes it nothing. */
void engine_share_message(struct exchange *to, const struct exchange *from);
/* May a child be begun, or is this too deep? False: the exception is set on the parent. */
bool engine_child_allowed(struct exchange *parent);
/* Runs n consecutive steps from `first` (0: to the end of the block) and then child->done, maybe
 * from inside. handles: the route's error handler applies in it; see engine_handles_errors(). */
void engine_start_child(struct exchange *child, const struct step *first, uint32_t n, bool handles);
/* The body that the exchange began with; NULL: it is not kept (program.keeps_original) */
const struct value *engine_original_body(const struct exchange *ex);
/* Is the error handler of the route on where the exchange stands (not in a doTry or a handler)? */
bool engine_handles_errors(const struct exchange *ex);
/* Was the child ended by an onException that handled its exception? */
bool engine_was_handled(const struct exchange *ex);
/* Calls fn(ex, arg) when the exchange is done, with the exception that is left or without, or is
 * aborted; just before ex->done, the one that was asked for last first (Camel's onCompletion of the
 * unit of work). engine_was_handled() says whether an exception was handled. */
typedef void engine_done_fn(struct exchange *ex, void *arg);
void engine_on_done(struct exchange *ex, engine_done_fn *fn, void *arg);
/* The same before that, when nothing is left to run: it may ask states (EVAL_NEED: it is called again
 * when the answer is there), and the exchange is not done until it has. Not of one that is aborted.
 */
typedef enum eval_rc engine_end_fn(struct exchange *ex, void *arg);
void engine_on_end(struct exchange *ex, engine_end_fn *fn, void *arg);
/* The argument with which this fn was asked for last and has not been called yet, or NULL. */
void *engine_done_arg(const struct exchange *ex, engine_done_fn *fn);
/* The exchange whose end counts for what ex does: itself, or the one that it is a part of. */
struct exchange *engine_unit(struct exchange *ex);
/* From a step: when it returns STEP_DONE, or is resumed, the exchange ends as if an onException had
 * handled an exception. */
void engine_end(struct exchange *ex);
/* From a step's `after`, for something that is done later: `return engine_again(ex);` and then
 * engine_wake(): `after` runs again, with its activation. */
enum step_rc engine_again(struct exchange *ex);
/* Called when the exchange is aborted while it waits for the step; NULL: no more. */
void engine_on_abort(struct exchange *ex, engine_timer_fn *fn, void *arg);
/* The message of `from` becomes that of ex: body, headers; properties and variables are added to
 * those that are there. All is shared, `from` may be freed afterwards. */
void engine_take_message(struct exchange *ex, struct exchange *from);
/* The same of a child, before ex is resumed: when it was ended by a stop, or by an onException that
 * handled its exception, so is ex. */
void engine_take_result(struct exchange *ex, struct exchange *from);
/* Was it ended before the end of its steps, without an exception? */
bool engine_was_ended(const struct exchange *ex);
/* From a step that has not changed anything yet, when it needs the body and that is a VALUE_STREAM:
 * `return engine_need_body(ex);` the step runs again when the body has been collected. */
enum step_rc engine_need_body(struct exchange *ex);

#endif
