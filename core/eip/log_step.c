/* log: one line with the text of the message. */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/log_level.h"
#include "core/eip/log_mask.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct log_conf, m)

static int
log_check(struct compile *c, struct step *st)
{
	struct log_conf *conf = st->conf;
	if (conf->log_language == NULL)
		return 0;
	conf->message = compile_expression(
	    c, conf->log_language, conf->message->text, false, conf->message->at);
	return conf->message ? 0 : -1;
}

static enum step_rc
log_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct log_conf *conf = st->conf;
	enum log_level level;
	if (!route_log_level(conf->level, &level))
		return STEP_DONE;
	struct str text;
	switch (expression_text(conf->message, ex, &text, NULL)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	const struct route *route = st->route ? st->route : ex->route;
	if (route != NULL && route->log_mask)
		text = log_mask(&ex->arena, text);
	const char *logger = conf->log_name ? conf->log_name : route ? route->id : "log";
	en->ops->log(en, level, logger, text, ex);
	return STEP_DONE;
}

static const struct option_desc log_options[] = {
	{ .name = "message",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_MAIN | OPTION_TEMPLATE,
	    .offset = AT(message),
	    .help = "text, a Simple text when it has ${" },
	{ .name = "loggingLevel",
	    .type = OPTION_ENUM,
	    .dflt = "INFO",
	    .values = LOG_LEVELS,
	    .offset = AT(level),
	    .help = "level of the line" },
	{ .name = "logName",
	    .type = OPTION_STRING,
	    .offset = AT(log_name),
	    .help = "name of the logger; the route's id when not given" },
	{ .name = "logLanguage",
	    .type = OPTION_STRING,
	    .offset = AT(log_language),
	    .help = "language of the message; Simple when not given" },
	{ .name = "marker",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = AT(marker),
	    .help = "without meaning here" },
	OPTIONS_END,
};

const struct eip_desc log_eip = {
	.name = "log",
	.options = log_options,
	.conf_size = sizeof(struct log_conf),
	.check = log_check,
	.run = log_run,
	.help = "logs a text",
};
