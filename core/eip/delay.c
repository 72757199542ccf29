/* delay: waits as many milliseconds as the expression says. No thread is held. */
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct delay_conf, m)

static enum step_rc
delay_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct value v, ms;
	switch (expression_eval(st->expr, ex, &v)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	struct hinny_error err;
	if (value_convert_number(&ex->arena, &v, CLASS_LONG, &ms, &err) != HINNY_OK) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "delay: %s", err.text);
		return STEP_FAILED;
	}
	if (value_is_null(&ms) || ms.u.i <= 0)
		return STEP_DONE;
	en->ops->wait(en, ex, ms.u.i);
	return STEP_PENDING;
}

static const struct option_desc delay_options[] = {
	{ .name = "asyncDelayed",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_LABEL,
	    .offset = AT(async_delayed),
	    .help = "without meaning here: no thread waits" },
	{ .name = "callerRunsWhenRejected",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_LABEL,
	    .offset = AT(caller_runs),
	    .help = "without meaning here: no wait is ever rejected" },
	OPTIONS_END,
};

const struct eip_desc delay_eip = {
	.name = "delay",
	.flags = EIP_EXPRESSION,
	.options = delay_options,
	.conf_size = sizeof(struct delay_conf),
	.run = delay_run,
	.help = "waits for some milliseconds",
};
