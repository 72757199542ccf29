/* filter: its steps run only when the predicate holds; the message goes on behind it either way. */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct filter_conf, m)

static int
filter_check(struct compile *c, struct step *st)
{
	const struct filter_conf *conf = st->conf;
	if (conf->status_property)
		access_add_property(c, &st->writes, conf->status_property);
	return 0;
}

static enum step_rc
filter_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct filter_conf *conf = st->conf;
	bool holds = false;
	switch (expression_test(st->expr, ex, &holds)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	if (conf->status_property)
		exchange_set_property(ex, str_of(conf->status_property), value_bool(holds));
	return holds ? engine_enter(ex, st, &st->block, 0, NULL) : STEP_DONE;
}

static const struct option_desc filter_options[] = {
	{ .name = "statusPropertyName",
	    .type = OPTION_STRING,
	    .offset = AT(status_property),
	    .help = "exchange property that gets true or false" },
	OPTIONS_END,
};

const struct eip_desc filter_eip = {
	.name = "filter",
	.flags = EIP_EXPRESSION | EIP_PREDICATE | EIP_STEPS,
	.options = filter_options,
	.conf_size = sizeof(struct filter_conf),
	.check = filter_check,
	.run = filter_run,
	.help = "runs its steps only when the predicate holds",
};
