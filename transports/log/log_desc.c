/* Descriptor of the log component: one line for each message, or for each group of them. */
#include "core/config/compile.h"
#include "core/eip/on_exception.h"
#include "core/model/descriptor.h"
#include "transports/log/log_conf.h"

#include <stddef.h>

#define AT(m) offsetof(struct log_endpoint_conf, m)
/* A switch that is off by default. */
/* clang-format off */
#define SHOW(option, member, text) \
	{ .name = (option), \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .flags = OPTION_PRODUCER, \
	    .offset = AT(member), \
	    .help = (text) }
/* A switch that is accepted. */
#define UNUSED(option, default_value, member, why) \
	{ .name = (option), \
	    .type = OPTION_BOOL, \
	    .dflt = default_value, \
	    .flags = OPTION_PRODUCER | OPTION_LABEL, \
	    .offset = AT(member), \
	    .help = "without meaning here: " why }
/* clang-format on */

static const struct option_desc options[] = {
	{ .name = "loggerName",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(logger),
	    .help = "name of the logger" },
	{ .name = "level",
	    .type = OPTION_ENUM,
	    .dflt = "INFO",
	    .values = LOG_LEVELS,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(level),
	    .help = "level of the line" },
	{ .name = "marker",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(marker),
	    .help = "without meaning here" },
	SHOW("plain", plain, "the body alone"),
	SHOW("multiline", multiline, "each part on a line of its own"),
	{ .name = "maxChars",
	    .type = OPTION_INT,
	    .dflt = "10000",
	    .flags = OPTION_PRODUCER,
	    .min = 0,
	    .max = INT32_MAX,
	    .offset = AT(max_chars),
	    .help = "longest body that is shown whole; 0: any" },
	SHOW("showAll", show_all, "all parts"),
	SHOW("showAllProperties", show_all_properties,
	    "all exchange properties, those of the bus too"),
	SHOW("showExchangeId", show_id, "the id"),
	SHOW("showRouteGroup", show_route_group, "the group of the route"),
	SHOW("showRouteId", show_route_id, "the id of the route"),
	SHOW("showExchangePattern", show_pattern, "InOnly or InOut"),
	SHOW("showProperties", show_properties, "the exchange properties"),
	SHOW("showVariables", show_variables, "the variables"),
	SHOW("showHeaders", show_headers, "the headers"),
	{ .name = "showBodyType",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(show_body_type),
	    .help = "the type of the body" },
	{ .name = "showBody",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(show_body),
	    .help = "the body" },
	{ .name = "skipBodyLineSeparator",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(skip_line_separator),
	    .help = "leave out line ends in the body" },
	SHOW("showException", show_exception, "the exception"),
	SHOW("showCaughtException", show_caught, "the exception that was caught before"),
	UNUSED("showStreams", "false", show_streams, "a body is text when it is shown"),
	UNUSED("showCachedStreams", "true", show_cached_streams, "a body is text when it is shown"),
	UNUSED("showFiles", "false", show_files, "a body that is a file is text when it is shown"),
	UNUSED("showFuture", "false", show_future, "no body is a future"),
	UNUSED("lazyStartProducer", "false", lazy_start, "nothing is started"),
	{ .name = "logMask",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(mask),
	    .help = "values of passwords, tokens and the like are masked" },
	{ .name = "groupSize",
	    .type = OPTION_INT,
	    .flags = OPTION_PRODUCER,
	    .min = 0,
	    .max = INT32_MAX,
	    .offset = AT(group_size),
	    .help = "one line with the throughput for so many messages" },
	{ .name = "groupInterval",
	    .type = OPTION_DURATION,
	    .dflt = "0",
	    .flags = OPTION_PRODUCER,
	    .min = 0,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(group_interval_ms),
	    .help = "one line with the throughput in so long, for each worker by itself" },
	{ .name = "groupDelay",
	    .type = OPTION_DURATION,
	    .dflt = "0",
	    .flags = OPTION_PRODUCER,
	    .min = 0,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(group_delay_ms),
	    .help = "with groupInterval: until the first line, from the first message on; 0: the interval" },
	{ .name = "groupActiveOnly",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(group_active_only),
	    .help = "with groupInterval: no line when no message came" },
	UNUSED("showStackTrace", "false", show_stack, "an exception has no stack"),
	{ .name = "style",
	    .type = OPTION_ENUM,
	    .values = "Default|Tab|Fixed",
	    .dflt = "Default",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(style),
	    .help = "how the parts are set out: with commas, a tab before each, or a tab and names of 20 characters" },
	OPTIONS_END,
};

static int
log_check(struct compile *c, struct endpoint *ep)
{
	const struct log_endpoint_conf *conf = ep->conf;
	if (conf->group_size > 0 && conf->group_interval_ms > 0)
		return compile_error(c, ep->at, "groupInterval: cannot be together with groupSize");
	return 0;
}

const struct component_desc log_component = {
	.scheme = "log",
	.syntax = "log:loggerName",
	.options = options,
	.conf_size = sizeof(struct log_endpoint_conf),
	.flags = COMPONENT_PRODUCER | COMPONENT_PURE | COMPONENT_KEEPS_BODY,
	.check = log_check,
	.help = "logs messages",
};
