/*
 * circuitBreaker: its steps run on a copy of the message while the breaker lets calls through; what
 * the copy leaves becomes the message. When it fails, when its time is up, or when the breaker is
 * open, onFallback runs on the message as it was. The route's error handler is off within; with
 * inheritErrorHandler it takes what comes out, and may run the whole again.
 *
 * The breaker itself is breaker.c. Here: a state machine in the activation of an empty block, whose
 * `after` runs again when the copy has ended.
 */
#include "core/config/compile.h"
#include "core/eip/breaker.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct circuit_breaker_conf, m)

/* activation.n */
enum { IN_CALL, IN_FALLBACK };

/* activation.state of IN_CALL */
struct call {
	struct exchange *ex;
	const struct step *st;
	struct exchange *child; /* runs, or has ended */
	struct engine_timer *timer;
	int64_t began_ms;
	int64_t until_ms; /* for a place in the bulkhead */
	bool permitted, begun, ended, timed_out, full, waits;
	bool in_bulkhead;
};

static const struct resilience_conf default_conf = {
	.breaker = { .failure_rate = 50,
	    .slow_rate = 100,
	    .window = 100,
	    .minimum = 100,
	    .half_open_calls = 10,
	    .slow_ms = 60000,
	    .open_ms = 60000 },
	.timeout_ms = 1000,
};

static const struct resilience_conf *
conf_of(const struct step *st)
{
	const struct circuit_breaker_conf *conf = st->conf;
	return conf->resilience ? conf->resilience->conf : &default_conf;
}

static int
circuit_breaker_check(struct compile *c, struct step *st)
{
	struct circuit_breaker_conf *conf = st->conf;
	if (st->block.first == NULL)
		return compile_error(c, st->at, "steps: a circuitBreaker needs at least one step");
	st->inherits = conf->inherit;
	st->shared_size = breaker_size(&conf_of(st)->breaker);
	if (conf_of(st)->bulkhead) {
		conf->bulkhead_at = (st->shared_size + 7) & ~7u;
		st->shared_size =
		    conf->bulkhead_at + throttle_permits_layout(false, &conf->bulkhead);
	}
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	return 0;
}

/* ---- the message ---- */

static void
set_flag(struct exchange *ex, const char *name, bool yes)
{
	exchange_set_property(ex, str_of(name), value_bool(yes));
}

static void
set_mode(struct exchange *ex, struct breaker *b)
{
	static const char *const names[] = { "CLOSED", "OPEN", "HALF_OPEN" };
	exchange_set_property(
	    ex, STR_LIT("CamelCircuitBreakerState"), value_str(str_of(names[breaker_mode(b)])));
}

static bool
is_listed(const struct classes *list, const struct exception *exception)
{
	for (const struct exception *e = exception; e; e = e->cause)
		for (size_t i = 0; i < list->n; i++)
			if (exception_is_a(e->id, (enum exception_id)list->ids[i]))
				return true;
	return false;
}

static enum breaker_outcome
judge(const struct resilience_conf *conf, const struct exception *e)
{
	if (e == NULL)
		return BREAKER_SUCCESS;
	if (is_listed(&conf->ignore, e))
		return BREAKER_IGNORED;
	return conf->record.n == 0 || is_listed(&conf->record, e) ? BREAKER_FAILURE
								  : BREAKER_SUCCESS;
}

/* ---- the bulkhead: so many at a time ---- */

enum { BULKHEAD_LOOK_MS = 5, BULKHEAD_KEY = 1 };

static struct throttle_state *
bulkhead_of(struct engine *en, const struct step *st)
{
	const struct circuit_breaker_conf *conf = st->conf;
	return (struct throttle_state *)((char *)engine_shared(en, st) + conf->bulkhead_at);
}

/* True: there is a place, or none is needed. */
static bool
enter_bulkhead(struct engine *en, struct call *call)
{
	const struct circuit_breaker_conf *conf = call->st->conf;
	const struct resilience_conf *rc = conf_of(call->st);
	if (!rc->bulkhead)
		return true;
	call->in_bulkhead = throttle_acquire(bulkhead_of(en, call->st), &conf->bulkhead,
				BULKHEAD_KEY, (uint32_t)rc->bulkhead_calls) == 0;
	return call->in_bulkhead;
}

static void
leave_bulkhead(struct engine *en, const struct step *st)
{
	const struct circuit_breaker_conf *conf = st->conf;
	throttle_release(bulkhead_of(en, st), &conf->bulkhead, BULKHEAD_KEY);
}

/* ---- the copy ---- */

/* Its owner is the step when it has a place in the bulkhead. */
static void
orphan_done(struct exchange *child)
{
	if (child->owner)
		leave_bulkhead(child->engine, child->owner);
	engine_child_free(&child);
}

/* Nobody waits for the copy any more. */
static void
let_go(struct call *call)
{
	call->child->done = orphan_done;
	call->child->owner = call->in_bulkhead ? (void *)call->st : NULL;
}

static void
go_on(struct call *call)
{
	struct engine *en = call->ex->engine;
	call->ended = true;
	if (call->timer)
		en->ops->timer_cancel(en, call->timer);
	call->timer = NULL;
	if (call->waits)
		engine_wake(call->ex);
}

static void
child_done(struct exchange *child)
{
	struct call *call = child->owner;
	if (call->in_bulkhead)
		leave_bulkhead(child->engine, call->st);
	call->in_bulkhead = false;
	go_on(call);
}

/* The copy goes on by itself. */
static void
time_is_up(void *arg)
{
	struct call *call = arg;
	call->timer = NULL;
	call->timed_out = true;
	let_go(call);
	call->child = NULL;
	go_on(call);
}

static void
aborted(void *arg)
{
	struct call *call = arg;
	struct engine *en = call->ex->engine;
	if (call->timer)
		en->ops->timer_cancel(en, call->timer);
	if (call->child == NULL)
		return;
	let_go(call);
	call->child->parent = NULL;
	if (call->ended)
		engine_child_free(&call->child);
	else
		engine_abort(call->child, EXCEPTION_REJECTED_EXECUTION, "the exchange was aborted");
}

static void
begin(struct engine *en, struct call *call)
{
	const struct resilience_conf *conf = conf_of(call->st);
	call->begun = true;
	call->began_ms = en->ops->now_ms(en);
	struct exchange *child = engine_child_new(call->ex, conf->timeout_enabled);
	call->child = child;
	child->owner = call;
	child->done = child_done;
	child->shares_unit = true;
	engine_on_abort(call->ex, aborted, call);
	if (conf->timeout_enabled)
		call->timer = en->ops->timer_start(en, conf->timeout_ms, time_is_up, call);
	engine_start_child(child, call->st->block.first, 0, false);
}

/* ---- the end ---- */

/* With the exception in ex->exception, or (open) none. */
static enum step_rc
fall_back(struct exchange *ex, const struct step *st)
{
	const struct circuit_breaker_conf *conf = st->conf;
	if (conf->fallback == NULL)
		return ex->exception ? STEP_FAILED : STEP_DONE;
	set_flag(ex, "CamelCircuitBreakerSuccessfulExecution", false);
	set_flag(ex, "CamelCircuitBreakerResponseFromFallback", true);
	set_flag(ex, "CamelCircuitBreakerResponseShortCircuited", true);
	exchange_set_property(
	    ex, STR_LIT("CamelCircuitBreakerResponseRejected"), value_null());
	exchange_set_property(
	    ex, STR_LIT("CamelCircuitBreakerResponseTimedOut"), value_null());
	ex->exception = NULL;
	ex->failed_over = false;
	return engine_enter(ex, st, &conf->fallback->block, IN_FALLBACK, NULL);
}

static void
note_caught(struct exchange *ex)
{
	const struct exception *e = ex->exception;
	const char *name = exception_class(e->id)->name;
	const char *text =
	    e->message.p ? arena_printf(&ex->arena, "%s: %.*s", name, STR_FMT(e->message)) : name;
	ex->caught = ex->exception;
	exchange_set_property(ex, STR_LIT("CamelExceptionCaught"), value_str(str_of(text)));
}

static enum step_rc
succeed(struct exchange *ex, struct exchange **child)
{
	engine_take_message(ex, *child);
	ex->stop = (*child)->stop;
	if (engine_was_handled(*child))
		engine_end(ex);
	engine_child_free(child);
	set_flag(ex, "CamelCircuitBreakerSuccessfulExecution", true);
	set_flag(ex, "CamelCircuitBreakerResponseFromFallback", false);
	return STEP_DONE;
}

static enum step_rc
time_out(struct exchange *ex, const struct step *st)
{
	exchange_fail(
	    ex, EXCEPTION_TIMEOUT, "TimeLimiter '%s' recorded a timeout exception.", st->id);
	set_flag(ex, "CamelCircuitBreakerResponseTimedOut", true);
	return fall_back(ex, st);
}

/* The copy has ended. */
static enum step_rc
conclude(struct engine *en, struct exchange *ex, const struct step *st, struct call *call)
{
	const struct resilience_conf *conf = conf_of(st);
	struct breaker *b = engine_shared(en, st);
	int64_t now = en->ops->now_ms(en);
	struct exception *e = call->full ? ex->exception : call->child ? call->child->exception : NULL;
	enum breaker_outcome outcome = call->timed_out ? BREAKER_FAILURE : judge(conf, e);
	engine_on_abort(ex, NULL, NULL);
	breaker_note(b, &conf->breaker, now, now - call->began_ms, outcome);
	set_mode(ex, b);
	if (call->timed_out)
		return time_out(ex, st);
	if (e == NULL)
		return succeed(ex, &call->child);
	if (!call->full)
		ex->exception = exception_share(&ex->arena, e);
	engine_child_free(&call->child);
	if (outcome == BREAKER_IGNORED) { /* neither a failure nor an answer */
		ex->exception = NULL;
		set_flag(ex, "CamelCircuitBreakerResponseIgnored", true);
		return STEP_DONE;
	}
	note_caught(ex);
	return fall_back(ex, st);
}

static enum step_rc
reject(struct exchange *ex, const struct step *st, struct breaker *b)
{
	set_mode(ex, b);
	set_flag(ex, "CamelCircuitBreakerSuccessfulExecution", false);
	set_flag(ex, "CamelCircuitBreakerResponseFromFallback", false);
	set_flag(ex, "CamelCircuitBreakerResponseShortCircuited", true);
	set_flag(ex, "CamelCircuitBreakerResponseRejected", true);
	const struct circuit_breaker_conf *conf = st->conf;
	if (conf->fallback || conf_of(st)->throw_when_open)
		exchange_fail(ex, EXCEPTION_CALL_NOT_PERMITTED,
		    "CircuitBreaker '%s' is %s and does not permit further calls", st->id,
		    breaker_mode(b) == BREAKER_OPEN ? "OPEN" : "HALF_OPEN");
	return fall_back(ex, st);
}

static enum step_rc
circuit_breaker_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	if (!engine_child_allowed(ex))
		return STEP_FAILED;
	struct call *call = arena_zalloc(&ex->arena, sizeof(*call));
	*call = (struct call){ .ex = ex, .st = st };
	return engine_enter(ex, st, NULL, IN_CALL, call);
}

/* A place in the bulkhead, soon or never. True: the copy runs, or it is known that none will. */
static bool
try_begin(struct engine *en, struct exchange *ex, struct call *call)
{
	const struct resilience_conf *conf = conf_of(call->st);
	int64_t now = en->ops->now_ms(en);
	if (!call->permitted)
		call->until_ms = now + conf->bulkhead_wait_ms;
	call->permitted = true;
	if (enter_bulkhead(en, call)) {
		begin(en, call);
		return true;
	}
	if (now < call->until_ms)
		return false;
	exchange_fail(ex, EXCEPTION_BULKHEAD_FULL,
	    "Bulkhead '%s' is full and does not permit further calls", call->st->id);
	call->began_ms = now;
	call->begun = call->ended = call->full = true;
	return true;
}

static enum step_rc
circuit_breaker_after(
    struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	struct call *call = act->state;
	struct breaker *b = engine_shared(en, st);
	if (act->n == IN_FALLBACK)
		return STEP_DONE;
	if (!call->begun) {
		if (!call->permitted && !breaker_permits(b, &conf_of(st)->breaker, en->ops->now_ms(en)))
			return reject(ex, st, b);
		if (!try_begin(en, ex, call)) {
			en->ops->wait(en, ex, BULKHEAD_LOOK_MS);
			return engine_again(ex);
		}
	}
	if (call->ended)
		return conclude(en, ex, st, call);
	call->waits = true;
	return engine_again(ex);
}

static const struct option_desc options[] = {
	{ .name = "resilience4jConfiguration",
	    .type = OPTION_NODE,
	    .values = "resilience4jConfiguration",
	    .offset = AT(resilience),
	    .help = "when it opens and closes" },
	{ .name = "onFallback",
	    .type = OPTION_NODE,
	    .values = "onFallback",
	    .offset = AT(fallback),
	    .help = "steps that run instead" },
	{ .name = "inheritErrorHandler",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(inherit),
	    .help = "the route's error handler takes what comes out, and may run it all again" },
	OPTIONS_END,
};

const struct eip_desc circuitBreaker_eip = {
	.name = "circuitBreaker",
	.flags = EIP_STEPS | EIP_CATCHES,
	.options = options,
	.conf_size = sizeof(struct circuit_breaker_conf),
	.check = circuit_breaker_check,
	.run = circuit_breaker_run,
	.after = circuit_breaker_after,
	.help = "stops calling what fails too often",
};
