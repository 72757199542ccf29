/* validate: fails the exchange when the predicate does not hold. */
#include "core/eip/engine.h"

static enum step_rc
validate_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	bool holds = false;
	switch (expression_test(st->expr, ex, &holds)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	if (holds)
		return STEP_DONE;
	exchange_fail(ex, EXCEPTION_PREDICATE_VALIDATION,
	    "Validation failed for Predicate[%s]. Exchange[]", st->expr->text);
	return STEP_FAILED;
}

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc validate_eip = {
	.name = "validate",
	.flags = EIP_EXPRESSION | EIP_PREDICATE,
	.options = no_options,
	.run = validate_run,
	.help = "fails when the predicate does not hold",
};
