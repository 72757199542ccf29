/* Descriptor of the timer component. */
#include "transports/timer/timer.h"

#include "core/config/compile.h"
#include "core/model/descriptor.h"

#include <stddef.h>
#include <time.h>

#define AT(m) offsetof(struct timer_conf, m)

static const struct option_desc options[] = {
	{ .name = "timerName", .type = OPTION_STRING, .flags = OPTION_REQUIRED | OPTION_PATH, .offset = AT(name), .help = "name of the timer" },
	{ .name = "delay", .type = OPTION_DURATION, .dflt = "1000", .min = -1, .max = INT64_MAX / 1000000, .offset = AT(delay_ms),
	  .help = "wait before the first exchange; with -1 and a repeatCount: as fast as possible, without a period" },
	{ .name = "fixedRate", .type = OPTION_BOOL, .dflt = "false", .offset = AT(fixed_rate),
	  .help = "keep to the clock: periods that were missed are made up for" },
	{ .name = "includeMetadata", .type = OPTION_BOOL, .dflt = "false", .offset = AT(include_metadata),
	  .help = "set CamelTimerName, CamelTimerCounter, CamelTimerPeriod (properties), CamelTimerFiredTime, CamelMessageTimestamp (headers)" },
	{ .name = "period", .type = OPTION_DURATION, .dflt = "1000", .min = 1, .max = INT64_MAX / 1000000, .offset = AT(period_ms),
	  .help = "time from one exchange to the next" },
	{ .name = "repeatCount", .type = OPTION_INT, .dflt = "0", .min = 0, .max = INT64_MAX, .offset = AT(repeat_count),
	  .help = "exchanges in all; 0: no end" },
	{ .name = "exchangePattern", .type = OPTION_ENUM, .values = "InOnly|InOut", .dflt = "InOnly", .flags = OPTION_CONSUMER,
	  .offset = AT(pattern), .help = "pattern of the exchanges" },
	{ .name = "time", .type = OPTION_STRING, .offset = AT(time),
	  .help = "when the first exchange is made, such as 2026-12-31 23:59:00 (local time); one that was is now" },
	{ .name = "bridgeErrorHandler", .type = OPTION_BOOL, .dflt = "false", .flags = OPTION_CONSUMER | OPTION_LABEL,
	  .offset = AT(bridge_error_handler), .help = "without meaning here: the clock cannot fail" },
	{ .name = "daemon", .type = OPTION_BOOL, .dflt = "true", .flags = OPTION_LABEL, .offset = AT(daemon),
	  .help = "without meaning here: there is no thread" },
	{ .name = "synchronous", .type = OPTION_BOOL, .dflt = "false", .flags = OPTION_LABEL, .offset = AT(synchronous),
	  .help = "without meaning here" },
	{ .name = "runLoggingLevel", .type = OPTION_ENUM, .values = "TRACE|DEBUG|INFO|WARN|ERROR|OFF", .dflt = "TRACE",
	  .flags = OPTION_CONSUMER | OPTION_LABEL, .offset = AT(run_logging_level), .help = "without meaning here: hinny status has the counters" },
	OPTIONS_END
};

/* "2026-12-31 23:59:00", or with a T, as a time of the process's zone. */
static int
parse_time(struct compile *c, const struct endpoint *ep, struct timer_conf *conf)
{
	struct tm tm = { .tm_isdst = -1 };
	const char *end = strptime(conf->time, "%Y-%m-%d %H:%M:%S", &tm);
	if (end == NULL)
		end = strptime(conf->time, "%Y-%m-%dT%H:%M:%S", &tm);
	time_t at = end != NULL && *end == '\0' ? mktime(&tm) : -1;
	if (at == -1)
		return compile_error(c, ep->at, "time: expected a time such as \"2026-12-31 23:59:00\", got \"%s\"", conf->time);
	conf->first_ms = (int64_t)at * 1000;
	return 0;
}

static int
timer_check(struct compile *c, struct endpoint *ep)
{
	struct timer_conf *conf = ep->conf;
	if (conf->time != NULL && parse_time(c, ep, conf) != 0)
		return -1;
	if (conf->delay_ms < 0 && conf->repeat_count == 0)
		return compile_error(c, ep->at, "delay: -1 means as fast as possible and needs a repeatCount");
	return 0;
}

const struct component_desc timer_component = {
	.scheme = "timer",
	.syntax = "timer:timerName",
	.options = options,
	.conf_size = sizeof(struct timer_conf),
	.owner = "flow",
	.flags = COMPONENT_CONSUMER | COMPONENT_EXCLUSIVE,
	.check = timer_check,
	.help = "makes an exchange with an empty body at intervals",
};
