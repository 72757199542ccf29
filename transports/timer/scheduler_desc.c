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
	{ .name = "timeUnit",
	    .type = OPTION_ENUM,
	    .values = "NANOSECONDS|MICROSECONDS|MILLISECONDS|SECONDS|MINUTES|HOURS|DAYS",
	    .dflt = "MILLISECONDS",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(time_unit),
	    .help = "of delay and initialDelay, when they are plain numbers" },
	{ .name = "greedy",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(greedy),
	    .help = "the next exchange follows at once, unless the last one has set the property "
		    "CamelSchedulerPolledMessages to false" },
	{ .name = "startScheduler",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(start),
	    .help = "whether exchanges are made at all" },
	{ .name = "backoffMultiplier",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = 1000000,
	    .flags = OPTION_CONSUMER,
	    .offset = AT(backoff_multiplier),
	    .help = "so many times are passed over after idle exchanges or failures; 0: none" },
	{ .name = "backoffIdleThreshold",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = INT32_MAX,
	    .flags = OPTION_CONSUMER,
	    .offset = AT(backoff_idle),
	    .help = "after so many idle ones (property CamelSchedulerPolledMessages is false)" },
	{ .name = "backoffErrorThreshold",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = INT32_MAX,
	    .flags = OPTION_CONSUMER,
	    .offset = AT(backoff_error),
	    .help = "after so many that failed" },
	{ .name = "poolSize",
	    .type = OPTION_INT,
	    .dflt = "1",
	    .min = 1,
	    .max = INT32_MAX,
	    .flags = OPTION_LABEL,
	    .offset = AT(pool_size),
	    .help = "without meaning here: there are no threads" },
	{ .name = "sendEmptyMessageWhenIdle",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_CONSUMER | OPTION_LABEL,
	    .offset = AT(daemon),
	    .help = "without meaning here: the message is empty anyway" },
	{ .name = "bridgeErrorHandler",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_CONSUMER | OPTION_LABEL,
	    .offset = AT(bridge_error_handler),
	    .help = "without meaning here: the clock cannot fail" },
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

/* A number of units as milliseconds; `us` 0: nanoseconds. */
static int64_t
in_unit(int64_t n, int64_t us)
{
	return us == 0 ? n / 1000000 : n > INT64_MAX / 1000 / us ? INT64_MAX / 1000000 : n * us / 1000;
}

static int
scheduler_check(struct compile *c, struct endpoint *ep)
{
	/* in microseconds */
	static const int64_t units[] = { 0, 1, 1000, 1000000, 60000000, 3600000000, 86400000000 };
	struct timer_conf *conf = ep->conf;

	if (conf->backoff_multiplier > 0 && conf->backoff_idle == 0 && conf->backoff_error == 0)
		return compile_error(c, ep->at,
		    "backoffMultiplier: needs backoffIdleThreshold or backoffErrorThreshold");
	if (option_given(options, conf, "timeUnit")) {
		conf->period_ms = in_unit(conf->period_ms, units[conf->time_unit]);
		conf->delay_ms = in_unit(conf->delay_ms, units[conf->time_unit]);
	}
	if (conf->period_ms < 1)
		conf->period_ms = 1;
	conf->is_scheduler = true;
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
