/*
 * onCompletion: steps that run when an exchange is done: on a copy of it, afterwards, or
 * (BeforeConsumer) on itself before its consumer gets the answer.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/engine_priv.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct on_completion_conf, m)

static int
on_completion_check(struct compile *c, struct step *st)
{
	const struct on_completion_conf *conf = st->conf;
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	if (conf->complete_only && conf->failure_only)
		return compile_error(
		    c, st->at, "only one of onCompleteOnly and onFailureOnly can be given");
	return 0;
}

/* In the copy, or in the exchange itself: when it was wanted at all. */
static enum step_rc
on_completion_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct on_completion_conf *conf = st->conf;
	bool yes = true;
	(void)en;
	if (conf->on_when) {
		enum eval_rc rc = engine_test(conf->on_when, ex, &yes);
		if (rc != EVAL_OK)
			return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	}
	if (!yes)
		return STEP_DONE;
	engine_completion_runs(ex, conf);
	return engine_enter(ex, st, &st->block, 0, NULL);
}

static const struct option_desc options[] = {
	{ .name = "mode",
	    .type = OPTION_ENUM,
	    .values = "AfterConsumer|BeforeConsumer",
	    .dflt = "AfterConsumer",
	    .offset = AT(mode),
	    .help = "after the consumer has its answer, on a copy; or before, on the message" },
	{ .name = "onCompleteOnly",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(complete_only),
	    .help = "only when the exchange has not failed" },
	{ .name = "onFailureOnly",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(failure_only),
	    .help = "only when the exchange has failed" },
	{ .name = "onWhen",
	    .type = OPTION_PREDICATE,
	    .flags = OPTION_LABELLED,
	    .offset = AT(on_when),
	    .help = "must hold as well" },
	{ .name = "useOriginalMessage",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(use_original),
	    .help = "the message as it came into the route" },
	{ .name = "parallelProcessing",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(parallel),
	    .help = "without meaning here: it never keeps anything waiting" },
	OPTIONS_END,
};

const struct eip_desc onCompletion_eip = {
	.name = "onCompletion",
	.flags = EIP_STEPS | EIP_ROOT | EIP_ROUTE_HEAD,
	.scope = SCOPE_COMPLETION,
	.options = options,
	.conf_size = sizeof(struct on_completion_conf),
	.check = on_completion_check,
	.run = on_completion_run,
	.help = "steps that run when an exchange is done",
};
