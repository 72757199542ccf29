/* rollback: fails the exchange, or marks it so that routing stops without an exception. What is
 * marked is not run again by an error handler, as in Camel. */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct rollback_conf, m)

static int
rollback_check(struct compile *c, struct step *st)
{
	const struct rollback_conf *conf = st->conf;
	if (conf->mark && conf->mark_last)
		return compile_error(c, st->at,
		    "only one of markRollbackOnly and markRollbackOnlyLast can be given");
	return 0;
}

static enum step_rc
rollback_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct rollback_conf *conf = st->conf;
	ex->rollback_only = true;
	if (conf->mark || conf->mark_last) {
		ex->stop = true;
		return STEP_DONE;
	}
	/* Camel's messages say the exchange's id only when somebody has asked for it before */
	exchange_fail(ex, EXCEPTION_ROLLBACK_EXCHANGE, "%s. Exchange[]",
	    conf->message ? conf->message : "Intended rollback");
	return STEP_FAILED;
}

static const struct option_desc options[] = {
	{ .name = "message",
	    .type = OPTION_STRING,
	    .flags = OPTION_MAIN,
	    .offset = AT(message),
	    .help = "message of the exception, as it stands" },
	{ .name = "markRollbackOnly",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(mark),
	    .help = "no exception: routing stops" },
	{ .name = "markRollbackOnlyLast",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(mark_last),
	    .help = "no exception: routing stops" },
	OPTIONS_END,
};

const struct eip_desc rollback_eip = {
	.name = "rollback",
	.options = options,
	.conf_size = sizeof(struct rollback_conf),
	.check = rollback_check,
	.run = rollback_run,
	.help = "fails the message, or stops it",
};
