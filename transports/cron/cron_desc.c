/* Descriptors of cron and quartz. */
#include "transports/cron/cron.h"

#include "core/base/clock.h"
#include "core/config/compile.h"
#include "core/model/descriptor.h"

#include <stddef.h>
#include <string.h>

#define AT(m) offsetof(struct cron_conf, m)

/* clang-format off */
#define NAME(text) \
	{ .name = "name", .type = OPTION_STRING, .flags = OPTION_REQUIRED | OPTION_PATH, \
	    .offset = AT(name), .help = text }
#define PATTERN \
	{ .name = "exchangePattern", .type = OPTION_ENUM, .values = "InOnly|InOut", .dflt = "InOnly", \
	    .flags = OPTION_CONSUMER, .offset = AT(pattern), .help = "pattern of the exchanges" }
#define BRIDGE \
	{ .name = "bridgeErrorHandler", .type = OPTION_BOOL, .dflt = "false", \
	    .flags = OPTION_CONSUMER | OPTION_LABEL, .offset = AT(labels), \
	    .help = "without meaning here: the clock cannot fail" }
#define LABEL(option, value) \
	{ .name = option, .type = OPTION_BOOL, .dflt = value, .flags = OPTION_LABEL, \
	    .offset = AT(labels), .help = "without meaning here: there is no store of jobs" }
/* clang-format on */

static const struct option_desc cron_options[] = {
	NAME("name of the trigger"),
	{ .name = "schedule",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED,
	    .offset = AT(schedule),
	    .help = "cron expression, seconds first: 0 0/5 8-18 ? * MON-FRI" },
	PATTERN,
	BRIDGE,
	OPTIONS_END,
};

static const struct option_desc quartz_options[] = {
	NAME("group and name of the trigger, group/name or name"),
	{ .name = "cron",
	    .type = OPTION_STRING,
	    .offset = AT(schedule),
	    .help = "cron expression, seconds first: 0 0/5 8-18 ? * MON-FRI" },
	{ .name = "trigger.timeZone",
	    .type = OPTION_STRING,
	    .offset = AT(time_zone),
	    .help = "time zone of the expression, such as Europe/Paris; default: that of the process" },
	{ .name = "trigger.repeatInterval",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .min = 1,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(repeat_interval_ms),
	    .help = "without cron: time from one exchange to the next" },
	{ .name = "trigger.repeatCount",
	    .type = OPTION_INT,
	    .dflt = "-1",
	    .min = -1,
	    .max = INT32_MAX,
	    .offset = AT(repeat_count),
	    .help = "without cron: exchanges behind the first; -1: no end" },
	{ .name = "triggerStartDelay",
	    .type = OPTION_DURATION,
	    .dflt = "500",
	    .min = 0,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(start_delay_ms),
	    .help = "wait before the first exchange" },
	{ .name = "stateful",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(stateful),
	    .help = "one exchange at a time" },
	PATTERN,
	LABEL("deleteJob", "true"),
	LABEL("durableJob", "false"),
	LABEL("recoverableJob", "false"),
	LABEL("autoStartScheduler", "true"),
	LABEL("pauseJob", "false"),
	LABEL("ignoreExpiredNextFireTime", "false"),
	LABEL("prefixJobNameWithEndpointId", "false"),
	LABEL("usingFixedCamelContextName", "false"),
	BRIDGE,
	OPTIONS_END,
};

static int
check_schedule(struct compile *c, struct endpoint *ep, const char *option)
{
	struct cron_conf *conf = ep->conf;
	struct hinny_error err;

	if (timezone_load(compile_arena(c), conf->time_zone, &conf->tz, &err) != HINNY_OK)
		return compile_error(c, ep->at, "trigger.timeZone: %s", err.text);
	if (conf->schedule == NULL)
		return 0;
	if (cron_parse(str_of(conf->schedule), &conf->expr, &err) != HINNY_OK)
		return compile_error(c, ep->at, "%s: \"%s\": %s", option, conf->schedule, err.text);
	if (cron_next(&conf->expr, conf->tz, walltime_ms() / 1000) < 0)
		compile_warning(c, ep->at, "%s: \"%s\" is never due again", option, conf->schedule);
	return 0;
}

static int
cron_check(struct compile *c, struct endpoint *ep)
{
	struct cron_conf *conf = ep->conf;

	conf->group = "Camel";
	conf->trigger = conf->name;
	return check_schedule(c, ep, "schedule");
}

static int
quartz_check(struct compile *c, struct endpoint *ep)
{
	struct cron_conf *conf = ep->conf;
	const char *slash = strchr(conf->name, '/');

	conf->group = slash != NULL
	    ? arena_strndup(compile_arena(c), conf->name, (size_t)(slash - conf->name))
	    : "Camel";
	conf->trigger = slash != NULL ? slash + 1 : conf->name;
	if (conf->schedule != NULL &&
	    (option_given(quartz_options, conf, "trigger.repeatInterval") ||
		option_given(quartz_options, conf, "trigger.repeatCount")))
		return compile_error(
		    c, ep->at, "cron: cannot be together with trigger.repeatInterval or repeatCount");
	return check_schedule(c, ep, "cron");
}

const struct component_desc cron_component = {
	.scheme = "cron",
	.syntax = "cron:name",
	.options = cron_options,
	.conf_size = sizeof(struct cron_conf),
	.owner = "flow",
	.flags = COMPONENT_CONSUMER | COMPONENT_EXCLUSIVE,
	.check = cron_check,
	.help = "makes an exchange with an empty body by the calendar",
};

const struct component_desc quartz_component = {
	.scheme = "quartz",
	.syntax = "quartz:name",
	.options = quartz_options,
	.conf_size = sizeof(struct cron_conf),
	.owner = "flow",
	.flags = COMPONENT_CONSUMER | COMPONENT_EXCLUSIVE,
	.check = quartz_check,
	.help = "makes an exchange with an empty body by the calendar, or at intervals",
};
