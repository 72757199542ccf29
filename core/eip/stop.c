/* stop: ends the routing of this exchange at once, without an error, in the routes that called this
 * one too. */
#include "core/eip/engine.h"

static enum step_rc
stop_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	ex->stop = true;
	return STEP_DONE;
}

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc stop_eip = {
	.name = "stop",
	.options = no_options,
	.run = stop_run,
	.help = "ends the routing of the message",
};
