/*
 * errorHandler: deadLetterChannel, defaultErrorHandler or noErrorHandler, for what no onException
 * takes. Descriptors; the engine (engine_errors.c) works by their options, as by those of
 * onException.
 */
#include "core/eip/on_exception.h"

#include "core/config/compile.h"
#include "core/model/program.h"

#include <stddef.h>

#define AT(m) offsetof(struct error_handler_conf, m)
#define AT_KIND(m) offsetof(struct error_handler_kind_conf, m)

static int
error_handler_check(struct compile *c, struct step *st)
{
	const struct error_handler_conf *conf = st->conf;
	int n = (conf->dead_letter != NULL) + (conf->standard != NULL) + (conf->none != NULL);
	if (n == 1)
		return 0;
	return compile_error(c, st->at,
	    "errorHandler needs one of deadLetterChannel, defaultErrorHandler and noErrorHandler");
}

static int
kind_check(struct compile *c, struct step *st)
{
	const struct error_handler_kind_conf *conf = st->conf;
	if (conf->on.use_original_body && conf->on.use_original_message)
		return compile_error(
		    c, st->at, "only one of useOriginalMessage and useOriginalBody can be given");
	return 0;
}

static int
dead_letter_check(struct compile *c, struct step *st)
{
	struct error_handler_kind_conf *conf = st->conf;
	struct step *send = compile_send(c, st, conf->dead_letter_uri, NULL);
	st->endpoint = NULL; /* its block sends there */
	st->block = (struct block){ send, send ? 1 : 0 };
	conf->on.dead_letter = true;
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	return send ? kind_check(c, st) : -1;
}

static const struct option_desc error_handler_options[] = {
	{ .name = "deadLetterChannel",
	    .type = OPTION_NODE,
	    .values = "deadLetterChannel",
	    .offset = AT(dead_letter),
	    .help = "the message goes to an endpoint, and the failure is handled" },
	{ .name = "defaultErrorHandler",
	    .type = OPTION_NODE,
	    .values = "defaultErrorHandler",
	    .offset = AT(standard),
	    .help = "the failure is logged and goes to the caller" },
	{ .name = "noErrorHandler",
	    .type = OPTION_NODE,
	    .values = "noErrorHandler",
	    .offset = AT(none),
	    .help = "the failure goes to the caller, and its error handler" },
	OPTIONS_END,
};

const struct eip_desc errorHandler_eip = {
	.name = "errorHandler",
	.flags = EIP_ROOT,
	.scope = SCOPE_ERROR_HANDLER,
	.options = error_handler_options,
	.conf_size = sizeof(struct error_handler_conf),
	.check = error_handler_check,
	.help = "what becomes of failures that no onException takes",
};

/* clang-format off */
#define POLICY_OPTIONS \
	{ .name = "redeliveryPolicy", \
	    .type = OPTION_NODE, \
	    .values = "redeliveryPolicy", \
	    .offset = AT_KIND(on.redelivery_policy), \
	    .help = "whether and when the failed step is tried again" }, \
	{ .name = "logName", \
	    .type = OPTION_STRING, \
	    .offset = AT_KIND(on.log_name), \
	    .help = "name of the logger; the route's id when not given" }, \
	{ .name = "level", \
	    .type = OPTION_ENUM, \
	    .values = LOG_LEVELS, \
	    .dflt = "ERROR", \
	    .flags = OPTION_LABEL, \
	    .offset = AT_KIND(on.level), \
	    .help = "without meaning here: the redeliveryPolicy has the levels" }, \
	{ .name = "useOriginalMessage", \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .offset = AT_KIND(on.use_original_message), \
	    .help = "the message as it came into the route" }, \
	{ .name = "useOriginalBody", \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .offset = AT_KIND(on.use_original_body), \
	    .help = "the body as it came into the route" }
/* clang-format on */

static const struct option_desc dead_letter_options[] = {
	{ .name = "deadLetterUri",
	    .type = OPTION_URI,
	    .flags = OPTION_REQUIRED | OPTION_PRODUCER,
	    .offset = AT_KIND(dead_letter_uri),
	    .help = "endpoint that gets the message" },
	{ .name = "deadLetterHandleNewException",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT_KIND(on.handles_new),
	    .help = "a failure to send it there is logged, and handled too" },
	POLICY_OPTIONS,
	OPTIONS_END,
};

const struct eip_desc deadLetterChannel_eip = {
	.name = "deadLetterChannel",
	.flags = EIP_NOT_A_STEP,
	.options = dead_letter_options,
	.conf_size = sizeof(struct error_handler_kind_conf),
	.check = dead_letter_check,
	.help = "sends messages that failed to an endpoint",
};

static const struct option_desc default_options[] = { POLICY_OPTIONS, OPTIONS_END };

const struct eip_desc defaultErrorHandler_eip = {
	.name = "defaultErrorHandler",
	.flags = EIP_NOT_A_STEP,
	.options = default_options,
	.conf_size = sizeof(struct error_handler_kind_conf),
	.check = kind_check,
	.help = "logs failures and leaves them to the caller",
};

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc noErrorHandler_eip = {
	.name = "noErrorHandler",
	.flags = EIP_NOT_A_STEP,
	.options = no_options,
	.conf_size = sizeof(struct error_handler_kind_conf),
	.help = "leaves failures to the caller, and its error handler",
};
