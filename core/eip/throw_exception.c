/* throwException: fails the exchange with an exception of a class, its message being a Simple text.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct throw_exception_conf, m)

static int
throw_exception_check(struct compile *c, struct step *st)
{
	const struct throw_exception_conf *conf = st->conf;
	if (conf->type.n > 1)
		return compile_error(
		    c, st->at, "exceptionType: expected one class, got %zu", conf->type.n);
	return 0;
}

static enum step_rc
throw_exception_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct throw_exception_conf *conf = st->conf;
	struct str message = { NULL, 0 };
	switch (conf->message ? expression_text(conf->message, ex, &message, NULL) : EVAL_OK) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	enum exception_id id = (enum exception_id)conf->type.ids[0];
	ex->exception = conf->message ? exception_new(&ex->arena, id, "%.*s", STR_FMT(message))
				      : exception_new(&ex->arena, id, NULL);
	return STEP_FAILED;
}

static const struct option_desc options[] = {
	{ .name = "exceptionType",
	    .type = OPTION_CLASSES,
	    .flags = OPTION_REQUIRED,
	    .offset = AT(type),
	    .help = "class of the exception" },
	{ .name = "message",
	    .type = OPTION_STRING,
	    .flags = OPTION_TEMPLATE,
	    .offset = AT(message),
	    .help = "its message; a Simple text when it has ${" },
	OPTIONS_END,
};

const struct eip_desc throwException_eip = {
	.name = "throwException",
	.options = options,
	.conf_size = sizeof(struct throw_exception_conf),
	.check = throw_exception_check,
	.run = throw_exception_run,
	.help = "fails with an exception",
};
