/*
 * The error handler of a route: which onException takes an exception, whether the failed step is
 * run again, and what becomes of the exception.
 *
 * The search (spec/eips.md section 3): the chain of causes from the innermost outwards; an exact
 * class ends it, else the nearest superclass of all wins, and of equals the one defined first (of
 * the same class without onWhen: last). The
 * route's own are searched before the file's. A failure that no onException takes is logged, and is
 * offered to no other route.
 */
#include "core/base/assert.h"
#include "core/eip/engine_priv.h"
#include "core/eip/log_level.h"
#include "core/eip/steps.h"

#include <limits.h>

/* Of one of the route's handlers, or of its error handler. */
static const struct redelivery_conf *
policy_of(const struct route *route, const struct step *handler)
{
	const struct on_exception_conf *conf = handler->conf;
	for (uint32_t i = 0; route && route->policies && i < route->handlers_n; i++)
		if (route->handlers[i] == handler)
			return route->policies[i];
	const struct step *outer = route ? route->error_handler : NULL;
	if (conf->redelivery_policy == NULL && outer && handler->block.first == NULL)
		conf = outer->conf;
	return conf->redelivery_policy ? conf->redelivery_policy->conf : &redelivery_default;
}

bool
engine_route_redelivers(const struct route *route)
{
	for (uint32_t i = 0; i < route->handlers_n; i++) {
		const struct on_exception_conf *conf = route->handlers[i]->conf;
		if (conf->retry_while ||
		    policy_of(route, route->handlers[i])->maximum_redeliveries != 0)
			return true;
	}
	return route->error_handler &&
	    policy_of(route, route->error_handler)->maximum_redeliveries != 0;
}

static bool
wants_original(const struct step *st)
{
	const struct on_exception_conf *conf = st->conf;
	return conf->use_original_message || conf->use_original_body;
}

bool
engine_program_wants_original(const struct program *program)
{
	if (program && program->keeps_original)
		return true;
	for (uint32_t i = 0; program && i < program->routes_n; i++) {
		const struct route *route = program->routes[i];
		for (uint32_t k = 0; k < route->handlers_n; k++)
			if (wants_original(route->handlers[k]))
				return true;
		if (route->error_handler && wants_original(route->error_handler))
			return true;
		for (uint32_t k = 0; k < route->completions_n; k++)
			if (((const struct on_completion_conf *)route->completions[k]->conf)
				->use_original)
				return true;
	}
	return false;
}

bool
engine_handler_applies(const struct exchange *ex)
{
	const struct step *st = ex->top->at;
	if (ex->failed_over || ((st->eip->flags & EIP_CATCHES) && !st->inherits))
		return false;
	return engine_handles_errors(ex);
}

bool
engine_handles_errors(const struct exchange *ex)
{
	for (const struct activation *act = ex->top; act; act = act->below) {
		if (act->kind == ACTIVATION_ROUTE)
			return !act->route->no_error_handler;
		if (act->kind == ACTIVATION_CHILD)
			return act->handles;
		if (act->kind == ACTIVATION_COMPLETION)
			continue;
		if (act->alone)
			return false;
		if (act->kind != ACTIVATION_BLOCK || (act->owner->eip->flags & EIP_CATCHES))
			return false;
	}
	return false;
}

enum eval_rc
engine_test(const struct expression *e, struct exchange *ex, bool *out)
{
	if (ex->body.type == VALUE_STREAM && (e->reads.flags & ACCESS_BODY)) {
		ex->need = NULL;
		return EVAL_NEED;
	}
	return expression_test(e, ex, out);
}

/* ---- what the exchange is told ---- */

static void
set_property(struct exchange *ex, const char *name, struct str text)
{
	exchange_set_property(ex, str_of(name), value_str(text));
}

/* The exception and where it came from, in the properties. */
static void
note(struct exchange *ex)
{
	struct exception *e = ex->exception;
	if (ex->caught != e) {
		const char *name = exception_class(e->id)->name;
		const char *text = e->message.p
		    ? arena_printf(&ex->arena, "%s: %.*s", name, STR_FMT(e->message))
		    : name;
		set_property(ex, "CamelExceptionCaught", str_of(text));
		ex->caught = e;
	}
	const struct value *to = exchange_property(ex, STR_LIT("CamelToEndpoint"));
	if (to)
		exchange_set_property(ex, STR_LIT("CamelFailureEndpoint"), *to);
	if (ex->route)
		set_property(ex, "CamelFailureRouteId", str_of(ex->route->id));
}

void
engine_catch(struct exchange *ex)
{
	note(ex);
	ex->exception = NULL;
	ex->failed_over = false;
	ex->rollback_only = false;
}

static const struct str redelivered = STR_LIT("CamelRedelivered");
static const struct str counter = STR_LIT("CamelRedeliveryCounter");
static const struct str max_counter = STR_LIT("CamelRedeliveryMaxCounter");

static void
set_headers(struct exchange *ex, uint32_t tries, const struct redelivery_conf *policy)
{
	exchange_set_header(ex, redelivered, value_bool(tries > 0));
	exchange_set_header(ex, counter, value_int(tries));
	if (policy->maximum_redeliveries > 0)
		exchange_set_header(ex, max_counter, value_int(policy->maximum_redeliveries));
}

static void
remove_headers(struct exchange *ex)
{
	(void)exchange_remove_header(ex, redelivered); /* any of them may be absent */
	(void)exchange_remove_header(ex, counter);
	(void)exchange_remove_header(ex, max_counter);
}

static const char *
logger_of(const struct route *route)
{
	const struct step *handler = route ? route->error_handler : NULL;
	const struct on_exception_conf *conf = handler ? handler->conf : NULL;
	return conf && conf->log_name ? conf->log_name : route ? route->id : "";
}

static void
report(struct exchange *ex, int route_level, const char *what, uint32_t attempt)
{
	enum log_level level;
	if (!route_log_level(route_level, &level))
		return;
	const struct exception *e = ex->exception;
	struct str id = exchange_id(ex);
	const char *text = arena_printf(&ex->arena,
	    "Failed delivery for (MessageId: %.*s on ExchangeId: %.*s). %s: %u caught: %s%s%.*s",
	    STR_FMT(id), STR_FMT(id), what, attempt, exception_class(e->id)->name,
	    e->message.n ? ": " : "", STR_FMT(e->message));
	ex->engine->ops->log(ex->engine, level, logger_of(ex->route), str_of(text), ex);
}

void
engine_report_failure(struct exchange *ex)
{
	const struct exception *e = ex->exception;
	struct str id = exchange_id(ex);
	const char *text = arena_printf(&ex->arena,
	    "Error processing exchange. Exchange[%.*s]. Caused by: [%s%s%.*s]", STR_FMT(id),
	    exception_class(e->id)->name, e->message.n ? " - " : "", STR_FMT(e->message));
	ex->engine->ops->log(
	    ex->engine, LOG_LEVEL_WARNING, logger_of(ex->from_route), str_of(text), ex);
}

/* ---- the search ---- */

struct best {
	const struct step *handler;
	int distance; /* of its class to the exception's */
};

/* Of several onException for the same class that ask for nothing more, in the same scope, the one that
 * was defined last takes the place of the first. */
static const struct step *
last_alike(const struct exchange *ex, const struct step *handler, enum exception_id id)
{
	const struct route *route = ex->route;
	const struct step *last = handler;
	bool own = handler->route == route;
	for (uint32_t i = 0; i < route->handlers_n; i++) {
		const struct step *other = route->handlers[i];
		const struct on_exception_conf *conf = other->conf;
		if ((other->route == route) != own || conf->on_when)
			continue;
		for (size_t k = 0; k < conf->exception.n; k++)
			if ((enum exception_id)conf->exception.ids[k] == id)
				last = other;
	}
	return last;
}

static enum eval_rc
match_handler(
    struct exchange *ex, const struct exception *e, const struct step *handler, struct best *b)
{
	const struct on_exception_conf *conf = handler->conf;
	for (size_t i = 0; i < conf->exception.n; i++) {
		int distance = exception_distance(e->id, (enum exception_id)conf->exception.ids[i]);
		if (distance < 0 || distance >= b->distance)
			continue;
		bool holds = true;
		enum eval_rc rc = conf->on_when ? engine_test(conf->on_when, ex, &holds) : EVAL_OK;
		if (rc != EVAL_OK)
			return rc;
		if (!holds)
			continue;
		b->distance = distance;
		b->handler = conf->on_when ? handler
					   : last_alike(ex, handler,
						 (enum exception_id)conf->exception.ids[i]);
	}
	return EVAL_OK;
}

/* The n-th of a chain of causes. */
static const struct exception *
cause_at(const struct exception *e, uint32_t n)
{
	while (n-- > 0)
		e = e->cause;
	return e;
}

/* Searches the route's own handlers, or the others. */
static enum eval_rc
search_scope(struct exchange *ex, bool own, struct best *b)
{
	const struct route *route = ex->route;
	const struct exception *thrown = ex->exception;
	uint32_t depth = 0;
	for (const struct exception *e = thrown->cause; e; e = e->cause)
		depth++;
	for (uint32_t d = depth + 1; d-- > 0 && b->distance > 0;) {
		const struct exception *e = cause_at(thrown, d);
		for (uint32_t i = 0; i < route->handlers_n && b->distance > 0; i++) {
			const struct step *handler = route->handlers[i];
			if ((handler->route == route) != own)
				continue;
			enum eval_rc rc = match_handler(ex, e, handler, b);
			if (rc != EVAL_OK)
				return rc;
		}
	}
	return EVAL_OK;
}

static enum eval_rc
search(struct exchange *ex, const struct step **handler)
{
	struct best b = { .handler = NULL, .distance = INT_MAX };
	enum eval_rc rc = search_scope(ex, true, &b);
	if (rc == EVAL_OK && b.distance > 0)
		rc = search_scope(ex, false, &b);
	*handler = b.handler;
	return rc;
}

/* ---- redelivery ---- */

/* A number from -1 to 1 that differs from exchange to exchange and from try to try. */
static double
jitter(const struct exchange *ex, uint32_t tries)
{
	uint64_t x = ex->seq * 0x9e3779b97f4a7c15u + tries * 0xbf58476d1ce4e5b9u;
	x ^= x >> 30;
	x *= 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (double)(x >> 11) / (double)(1ull << 52) - 1;
}

static int64_t
next_delay(
    const struct exchange *ex, const struct redelivery_conf *policy, uint32_t tries, int64_t last)
{
	if (policy->groups_n > 0) {
		int64_t ms = 0;
		for (size_t i = 0; i < policy->groups_n && policy->groups[i].from <= tries; i++)
			ms = policy->groups[i].delay_ms;
		return ms;
	}
	double ms = (double)policy->redelivery_delay_ms;
	if (last > 0)
		ms = (double)last * (policy->exponential ? policy->multiplier : 1);
	if (policy->collision_avoidance)
		ms += ms * policy->collision_factor * jitter(ex, tries);
	if (policy->maximum_delay_ms > 0 && ms > (double)policy->maximum_delay_ms)
		ms = (double)policy->maximum_delay_ms;
	return (int64_t)(ms + 0.5);
}

static enum step_rc
redeliver(struct exchange *ex, const struct redelivery_conf *policy)
{
	struct engine *en = ex->engine;
	struct activation *top = ex->top;
	uint32_t tries = ++top->tries;
	if (policy->log_retry && tries % (uint32_t)policy->retry_log_interval == 0)
		report(ex, policy->retry_level, "On delivery attempt", tries - 1);
	top->delay_ms = next_delay(ex, policy, tries, top->delay_ms);
	snapshot_restore(ex, top->began);
	set_headers(ex, tries, policy);
	ex->exception = NULL;
	ex->slots_n = 0;
	ex->run->op = OP_STEP;
	if (en->ops->redelivered)
		en->ops->redelivered(en, ex, top->at);
	if (top->delay_ms <= 0)
		return STEP_DONE;
	ex->run->wait = WAIT_AGAIN;
	en->ops->wait(en, ex, top->delay_ms);
	return STEP_PENDING;
}

/* ---- exhaustion ---- */

static void
use_original(struct exchange *ex, const struct on_exception_conf *conf)
{
	const struct snapshot *original = ex->run->original;
	if (original == NULL)
		return;
	if (conf->use_original_message)
		snapshot_restore(ex, original);
	else if (conf->use_original_body)
		exchange_set_body(ex, original->body);
}

/* No further try: the steps of the handler run, and `outcome` says what then. */
static void
run_handler(struct exchange *ex, const struct step *handler, enum outcome outcome)
{
	static const char what[] = "Exhausted after delivery attempt";
	const struct on_exception_conf *conf = handler->conf;
	const struct redelivery_conf *policy = policy_of(ex->route, handler);
	struct activation *top = ex->top;
	uint32_t tries = top->tries;
	bool logs = outcome == OUTCOME_HANDLED ? policy->log_handled
	    : outcome == OUTCOME_CONTINUED     ? policy->log_continued
					       : policy->log_exhausted;
	if (logs)
		report(ex, policy->exhausted_level, what, tries + 1);
	ex->run->reported = true;
	use_original(ex, conf);
	if (outcome == OUTCOME_NONE) {
		set_headers(ex, tries, policy);
	} else {
		remove_headers(ex);
		ex->rollback_only = false;
	}
	top->tries = 0;
	top->delay_ms = 0;
	struct activation *act = engine_push(ex, ACTIVATION_HANDLER, handler, &handler->block);
	act->outcome = (uint8_t)outcome;
	act->saved = ex->exception;
	ex->exception = NULL;
	ex->run->op = OP_STEP;
}

/* An onException that has no steps leaves the message to the dead letter channel, whatever it says of
 * `handled`. */
static bool
goes_to_dead_letter(
    const struct exchange *ex, const struct step *handler, enum outcome outcome)
{
	const struct step *outer = ex->route->error_handler;
	return handler->block.first == NULL && outcome != OUTCOME_CONTINUED && outer &&
	    ((const struct on_exception_conf *)outer->conf)->dead_letter;
}

/* Takes the handler's decisions. Nothing but the redelivery headers has been changed when it
 * returns EVAL_NEED. */
static enum eval_rc
decide(struct exchange *ex, const struct step *handler, bool *again, enum outcome *outcome)
{
	const struct on_exception_conf *conf = handler->conf;
	const struct redelivery_conf *policy = policy_of(ex->route, handler);
	uint32_t tries = ex->top->tries + 1;
	bool handled = false, continued = false;
	*again = policy->maximum_redeliveries < 0 || tries <= policy->maximum_redeliveries;
	set_headers(ex, tries, policy); /* retryWhile may read them */
	enum eval_rc rc = conf->retry_while ? engine_test(conf->retry_while, ex, again) : EVAL_OK;
	*again = *again && !policy->disable && ex->top->keeps && !ex->rollback_only &&
	    (policy->while_stopping || !ex->engine->stopping);
	if (rc == EVAL_OK && !*again && conf->handled)
		rc = engine_test(conf->handled, ex, &handled);
	if (rc == EVAL_OK && !*again && conf->continued)
		rc = engine_test(conf->continued, ex, &continued);
	handled = handled || conf->dead_letter;
	*outcome = continued ? OUTCOME_CONTINUED : handled ? OUTCOME_HANDLED : OUTCOME_NONE;
	return rc;
}

static enum step_rc
as_step_rc(enum eval_rc rc)
{
	return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
}

enum step_rc
engine_handle(struct exchange *ex)
{
	const struct step *handler;
	enum eval_rc rc = search(ex, &handler);
	if (rc != EVAL_OK)
		return as_step_rc(rc);
	note(ex);
	if (handler == NULL)
		handler = ex->route->error_handler;
	if (handler == NULL) {
		ex->run->reported = true;
		report(ex, redelivery_default.exhausted_level, "Exhausted after delivery attempt", 1);
		return STEP_FAILED;
	}
	bool again;
	enum outcome outcome;
	rc = decide(ex, handler, &again, &outcome);
	if (rc != EVAL_OK)
		return as_step_rc(rc);
	if (again)
		return redeliver(ex, policy_of(ex->route, handler));
	if (goes_to_dead_letter(ex, handler, outcome)) {
		handler = ex->route->error_handler;
		outcome = OUTCOME_HANDLED;
	}
	run_handler(ex, handler, outcome);
	return STEP_DONE;
}

void
engine_handler_ended(struct exchange *ex, struct activation *act, bool failed)
{
	const struct on_exception_conf *conf = act->owner->conf;
	enum outcome outcome = act->outcome;
	struct exception *saved = act->saved;
	const struct step *handler = act->owner;
	engine_release(ex, act);
	if (failed && conf->dead_letter && conf->handles_new) {
		report(ex, ROUTE_LOG_WARN, "On delivery to the dead letter channel, attempt", 1);
		ex->exception = NULL;
		failed = false;
	}
	if (failed) { /* the new exception takes the place of the first, and ends it */
		if (policy_of(ex->route, handler)->log_new)
			report(ex, ROUTE_LOG_ERROR, "On error handling, attempt", 1);
	} else if (outcome == OUTCOME_HANDLED) {
		ex->run->handled = true;
		ex->run->op = OP_UNWIND;
		return;
	} else if (outcome == OUTCOME_CONTINUED) {
		engine_advance(ex);
		return;
	} else {
		ex->exception = saved;
	}
	ex->failed_over = true;
	engine_fail_here(ex);
}
