/*
 * variableReceive of from: the message that came goes to a variable, and the route begins with an
 * empty body; the headers stay. The compiler puts this step before the first of the route.
 */
#include "core/config/compile.h"
#include "core/eip/aside.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

static int
receive_check(struct compile *c, struct step *st)
{
	(void)c;
	st->reads.flags |= ACCESS_BODY | ACCESS_HEADERS_ALL;
	st->writes.flags |= ACCESS_BODY | ACCESS_VARIABLES_ALL;
	return 0;
}

static enum step_rc
receive_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct from_receive_conf *conf = st->conf;
	(void)en;
	aside_receive(ex, ex, conf->variable);
	ex->dirty |= DIRTY_BODY;
	return STEP_DONE;
}

static const struct option_desc options[] = {
	{ .name = "variable",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED,
	    .offset = offsetof(struct from_receive_conf, variable),
	    .help = "its name" },
	OPTIONS_END,
};

const struct eip_desc fromReceive_eip = {
	.name = "fromReceive",
	.flags = EIP_NOT_A_STEP,
	.options = options,
	.conf_size = sizeof(struct from_receive_conf),
	.check = receive_check,
	.run = receive_run,
	.help = "what variableReceive of from does: the message goes to a variable",
};
