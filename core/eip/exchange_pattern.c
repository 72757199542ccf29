/* setExchangePattern: InOnly or InOut, for what is sent from here on. */
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct exchange_pattern_conf, m)

static enum step_rc
exchange_pattern_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct exchange_pattern_conf *conf = st->conf;
	ex->pattern = conf->pattern == 0 ? PATTERN_IN_ONLY : PATTERN_IN_OUT;
	return STEP_DONE;
}

static const struct option_desc options[] = {
	{ .name = "pattern",
	    .type = OPTION_ENUM,
	    .flags = OPTION_REQUIRED | OPTION_MAIN,
	    .values = "InOnly|InOut",
	    .offset = AT(pattern),
	    .help = "the pattern" },
	OPTIONS_END,
};

const struct eip_desc setExchangePattern_eip = {
	.name = "setExchangePattern",
	.options = options,
	.conf_size = sizeof(struct exchange_pattern_conf),
	.run = exchange_pattern_run,
	.help = "sets the exchange pattern",
};
