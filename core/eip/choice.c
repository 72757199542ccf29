/* choice, when, otherwise: the first `when` whose predicate holds, else `otherwise`, else the
 * message goes on as it is. */
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct choice_conf, m)

static enum step_rc
choice_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct choice_conf *conf = st->conf;
	for (size_t i = 0; i < conf->when.n; i++) {
		const struct step *when = conf->when.items[i];
		bool holds = false;
		switch (expression_test(when->expr, ex, &holds)) {
		case EVAL_OK:
			break;
		case EVAL_ERROR:
			return STEP_FAILED;
		case EVAL_NEED:
			return STEP_NEED;
		}
		if (holds)
			return engine_enter(ex, st, &when->block, (uint32_t)i, NULL);
	}
	if (conf->otherwise)
		return engine_enter(ex, st, &conf->otherwise->block, (uint32_t)conf->when.n, NULL);
	return STEP_DONE;
}

static const struct option_desc choice_options[] = {
	{ .name = "when",
	    .type = OPTION_NODES,
	    .values = "when",
	    .offset = AT(when),
	    .help = "branches, tried in order" },
	{ .name = "otherwise",
	    .type = OPTION_NODE,
	    .values = "otherwise",
	    .offset = AT(otherwise),
	    .help = "steps when no branch was taken" },
	{ .name = "precondition",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(precondition),
	    .help = "the branch is chosen once, at load" },
	OPTIONS_END,
};

const struct eip_desc choice_eip = {
	.name = "choice",
	.flags = EIP_FIRST_MATCH,
	.options = choice_options,
	.conf_size = sizeof(struct choice_conf),
	.run = choice_run,
	.help = "runs the steps of the first branch whose predicate holds",
};

/* Parts of choice: choice_run evaluates and enters them. */
static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc when_eip = {
	.name = "when",
	.flags = EIP_CHILD | EIP_EXPRESSION | EIP_PREDICATE | EIP_STEPS,
	.options = no_options,
	.help = "a branch of choice",
};

const struct eip_desc otherwise_eip = {
	.name = "otherwise",
	.flags = EIP_CHILD | EIP_STEPS,
	.options = no_options,
	.help = "the branch of choice that is taken when no other is",
};
