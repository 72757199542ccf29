/* script: evaluates an expression for what it does; its value is dropped. */
#include "core/eip/engine.h"

static enum step_rc
script_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	struct value v;
	switch (expression_eval(st->expr, ex, &v)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	return STEP_DONE;
}

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc script_eip = {
	.name = "script",
	.flags = EIP_EXPRESSION,
	.options = no_options,
	.run = script_run,
	.help = "evaluates an expression and drops its value",
};
