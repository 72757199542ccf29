/* Descriptor of the scheduler component: a timer that counts from the end of an exchange. */
#include "transports/timer/timer.h"

#include "core/config/compile.h"
#include "core/model/descriptor.h"

#include <stddef.h>

#define AT(m) offsetof(struct timer_conf, m)

static const struct option_desc options[] = {
	{ .name = "name",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(name),
	    .help = "name of the scheduler" },
	{ .name = "delay",
	    .type = OPTION_DURATION,
	    .dflt = "500",
	    .min = 1,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(period_ms),
	    .help = "time from one exchange to the next" },
	{ .name = "initialDelay",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .min = 0,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(delay_ms),
	    .help = "wait before the first exchange" },
	{ .name = "repeatCount",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = INT64_MAX,
	    .offset = AT(repeat_count),
	    .help = "exchanges in all; 0: no end" },
	{ .name = "useFixedDelay",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(fixed_delay),
	    .help = "count from the end of an exchange; else keep to the clock" },
	{ .name = "includeMetadata",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(include_metadata),
	    .help = "set CamelTimerName, CamelTimerCounter, CamelTimerPeriod (properties), "
		    "CamelTimerFiredTime, CamelMessageTimestamp (headers)" },
	{ .name = "exchangePattern",
	    .type = OPTION_ENUM,
	    .values = "InOnly|InOut",
	    .dflt = "InOnly",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(pattern),
	    .help = "pattern of the exchanges" },
	{ .name = "runLoggingLevel",
	    .type = OPTION_ENUM,
	    .values = "TRACE|DEBUG|INFO|WARN|ERROR|OFF",
	    .dflt = "TRACE",
	    .flags = OPTION_CONSUMER | OPTION_LABEL,
	    .offset = AT(run_logging_level),
	    .help = "without meaning here: hinny status has the counters" },
	{ .name = "synchronous",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(synchronous),
	    .help = "without meaning here" },
	OPTIONS_END,
};

static int
scheduler_check(struct compile *c, struct endpoint *ep)
{
	struct timer_conf *conf = ep->conf;
	(void)c;

	conf->fixed_rate = !conf->fixed_delay;
	return 0;
}

const struct component_desc scheduler_component = {
	.scheme = "scheduler",
	.syntax = "scheduler:name",
	.options = options,
	.conf_size = sizeof(struct timer_conf),
	.owner = "flow",
	.flags = COMPONENT_CONSUMER | COMPONENT_EXCLUSIVE,
	.check = scheduler_check,
	.help = "makes an exchange with an empty body at intervals that begin when the one before is done",
};
