/*
 * doTry, doCatch, doFinally: the route's error handler is off within; the first doCatch that
 * matches the exception (or a cause of it) takes it; doFinally runs in any case, and an exception
 * that nobody took goes on behind it.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/engine_priv.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct do_try_conf, m)
#define AT_CATCH(m) offsetof(struct do_catch_conf, m)

/* Which of the blocks: activation.n. */
enum { IN_TRY, IN_CATCH, IN_FINALLY };

/* What waits behind doFinally: activation.state; NULL: nothing. */
struct waiting {
	struct exception *exception;
	bool failed_over;
};

static int
do_try_check(struct compile *c, struct step *st)
{
	access_add_property(c, &st->writes, "CamelExceptionCaught");
	access_add_property(c, &st->writes, "CamelFailureEndpoint");
	access_add_property(c, &st->writes, "CamelFailureRouteId");
	return 0;
}

static enum step_rc
do_try_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	return engine_enter(ex, st, &st->block, IN_TRY, NULL);
}

static enum step_rc
enter_finally(struct exchange *ex, const struct step *st)
{
	const struct do_try_conf *conf = st->conf;
	struct waiting *w = NULL;
	if (ex->exception) {
		w = arena_alloc(&ex->arena, sizeof(*w));
		*w = (struct waiting){ .exception = ex->exception, .failed_over = ex->failed_over };
		engine_catch(ex);
	}
	enum step_rc rc = engine_enter(ex, st, &conf->finally->block, IN_FINALLY, w);
	ex->top->saved = w ? w->exception : NULL; /* for a stop */
	return rc;
}

/* doFinally has ended: the exception that waited goes on, whatever happened in it. */
static enum step_rc
leave_finally(struct exchange *ex, const struct activation *act)
{
	const struct waiting *w = act->state;
	if (w) {
		ex->exception = w->exception;
		ex->failed_over = w->failed_over;
	} else if (ex->exception == NULL) {
		exchange_set_property(ex, STR_LIT("CamelFailureEndpoint"), value_null());
		exchange_set_property(ex, STR_LIT("CamelFailureRouteId"), value_null());
	}
	return ex->exception ? STEP_FAILED : STEP_DONE;
}

static enum step_rc
do_try_after(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)en;
	const struct do_try_conf *conf = st->conf;
	if (act->n == IN_FINALLY)
		return leave_finally(ex, act);
	return conf->finally ? enter_finally(ex, st) : STEP_DONE;
}

static bool
class_matches(const struct classes *classes, const struct exception *exception)
{
	if (classes->n == 0)
		return true;
	for (const struct exception *e = exception; e; e = e->cause)
		for (size_t i = 0; i < classes->n; i++)
			if (exception_is_a(e->id, (enum exception_id)classes->ids[i]))
				return true;
	return false;
}

static enum step_rc
do_try_caught(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)en;
	const struct do_try_conf *conf = st->conf;
	for (size_t i = 0; act->n == IN_TRY && i < conf->catches.n; i++) {
		const struct step *catch = conf->catches.items[i];
		const struct do_catch_conf *cc = catch->conf;
		if (!class_matches(&cc->exception, ex->exception))
			continue;
		bool holds = true;
		enum eval_rc rc = cc->on_when ? engine_test(cc->on_when, ex, &holds) : EVAL_OK;
		if (rc == EVAL_NEED)
			return STEP_NEED;
		if (rc == EVAL_OK && holds) {
			engine_catch(ex);
			return engine_enter(ex, st, &catch->block, IN_CATCH, NULL);
		}
		if (rc == EVAL_ERROR)
			break; /* its exception has taken the place of the other */
	}
	if (act->n == IN_FINALLY)
		return leave_finally(ex, act);
	return conf->finally ? enter_finally(ex, st) : STEP_FAILED;
}

static const struct option_desc do_try_options[] = {
	{ .name = "doCatch",
	    .type = OPTION_NODES,
	    .values = "doCatch",
	    .offset = AT(catches),
	    .help = "what to do for which exceptions, tried in order" },
	{ .name = "doFinally",
	    .type = OPTION_NODE,
	    .values = "doFinally",
	    .offset = AT(finally),
	    .help = "steps that run in any case" },
	OPTIONS_END,
};

const struct eip_desc doTry_eip = {
	.name = "doTry",
	.flags = EIP_STEPS | EIP_CATCHES,
	.options = do_try_options,
	.conf_size = sizeof(struct do_try_conf),
	.check = do_try_check,
	.run = do_try_run,
	.after = do_try_after,
	.caught = do_try_caught,
	.help = "runs its steps with error handling of its own",
};

static int
do_catch_check(struct compile *c, struct step *st)
{
	const struct do_catch_conf *conf = st->conf;
	if (conf->exception.n == 0)
		return compile_error(
		    c, st->at, "doCatch needs at least one exception: such as [java.lang.Exception]");
	return 0;
}

/* Parts of doTry: its functions above evaluate and enter them. */
static const struct option_desc do_catch_options[] = {
	{ .name = "exception",
	    .type = OPTION_CLASSES,
	    .flags = OPTION_REQUIRED,
	    .offset = AT_CATCH(exception),
	    .help = "exception classes" },
	{ .name = "onWhen",
	    .type = OPTION_PREDICATE,
	    .flags = OPTION_LABELLED,
	    .offset = AT_CATCH(on_when),
	    .help = "must hold as well" },
	OPTIONS_END,
};

const struct eip_desc doCatch_eip = {
	.name = "doCatch",
	.flags = EIP_CHILD | EIP_STEPS,
	.options = do_catch_options,
	.conf_size = sizeof(struct do_catch_conf),
	.check = do_catch_check,
	.help = "steps for the exceptions that doTry catches",
};

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc doFinally_eip = {
	.name = "doFinally",
	.flags = EIP_CHILD | EIP_STEPS,
	.options = no_options,
	.help = "steps that run when doTry ends, with or without an exception",
};
