/* pipeline: groups steps into one. */
#include "core/eip/engine.h"

static enum step_rc
pipeline_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	return engine_enter(ex, st, &st->block, 0, NULL);
}

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc pipeline_eip = {
	.name = "pipeline",
	.flags = EIP_STEPS,
	.options = no_options,
	.run = pipeline_run,
	.help = "groups steps into one",
};
