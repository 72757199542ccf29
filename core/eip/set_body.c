/* setBody and transform: the value of the expression becomes the body. The same for routes. */
#include "core/config/compile.h"
#include "core/eip/engine.h"

static int
set_body_check(struct compile *c, struct step *st)
{
	(void)c;
	st->writes.flags |= ACCESS_BODY;
	return 0;
}

static enum step_rc
set_body_run(struct engine *en, struct exchange *ex, const struct step *st)
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
	exchange_set_body(ex, v);
	return STEP_DONE;
}

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc setBody_eip = {
	.name = "setBody",
	.flags = EIP_EXPRESSION | EIP_PLAIN,
	.options = no_options,
	.check = set_body_check,
	.run = set_body_run,
	.help = "sets the body",
};

const struct eip_desc transform_eip = {
	.name = "transform",
	.flags = EIP_EXPRESSION | EIP_PLAIN,
	.options = no_options,
	.check = set_body_check,
	.run = set_body_run,
	.help = "sets the body",
};
