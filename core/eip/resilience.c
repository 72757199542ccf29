/* Parts of a circuitBreaker that hold options: resilience4jConfiguration, and onFallback with its
 * steps. */
#include "core/config/compile.h"
#include "core/eip/steps.h"
#include "core/model/program.h"

#include <stddef.h>

#define AT_CONF(m) offsetof(struct resilience_conf, m)

static int
fallback_check(struct compile *c, struct step *st)
{
	const struct fallback_conf *conf = st->conf;
	return conf->via_network ? compile_error(c, st->at,
				       "option \"fallbackViaNetwork: true\" of onFallback is not "
				       "implemented in this release")
				 : 0;
}

static const struct option_desc fallback_options[] = {
	{ .name = "fallbackViaNetwork",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = offsetof(struct fallback_conf, via_network),
	    .help = "true is not implemented" },
	OPTIONS_END,
};

const struct eip_desc onFallback_eip = {
	.name = "onFallback",
	.flags = EIP_CHILD | EIP_STEPS,
	.options = fallback_options,
	.conf_size = sizeof(struct fallback_conf),
	.check = fallback_check,
	.help = "what runs instead of the steps of a circuitBreaker that fail",
};

#define PERCENT(text, member, default_text, about)                                                 \
	{                                                                                          \
		.name = text, .type = OPTION_DOUBLE, .dflt = default_text,                         \
		.offset = AT_CONF(member), .help = about                                           \
	}
#define COUNT(text, member, default_text, about)                                                   \
	{                                                                                          \
		.name = text, .type = OPTION_INT, .dflt = default_text, .min = 1,                  \
		.max = BREAKER_WINDOW_MAX, .offset = AT_CONF(member), .help = about                \
	}
#define TIME(text, member, default_text, about)                                                    \
	{                                                                                          \
		.name = text, .type = OPTION_DURATION, .dflt = default_text, .min = 0,             \
		.max = INT64_MAX, .offset = AT_CONF(member), .help = about                         \
	}
#define ACCEPTED(text, member, default_text, about)                                                \
	{                                                                                          \
		.name = text, .type = OPTION_BOOL, .dflt = default_text, .flags = OPTION_LABEL,    \
		.offset = AT_CONF(member), .help = about                                           \
	}

static const struct option_desc resilience_options[] = {
	PERCENT("failureRateThreshold", breaker.failure_rate, "50",
	    "percent of failures in the window that open it"),
	PERCENT("slowCallRateThreshold", breaker.slow_rate, "100",
	    "percent of slow calls in the window that open it"),
	COUNT("slidingWindowSize", breaker.window, "100",
	    "calls that are looked at; with TIME_BASED seconds"),
	{ .name = "slidingWindowType",
	    .type = OPTION_ENUM,
	    .values = "COUNT_BASED|TIME_BASED",
	    .dflt = "COUNT_BASED",
	    .offset = AT_CONF(window_type),
	    .help = "whether the last calls are looked at, or those of the last seconds" },
	COUNT("minimumNumberOfCalls", breaker.minimum, "100",
	    "calls before it can open; with COUNT_BASED at most the window"),
	{ .name = "bulkheadEnabled",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_CONF(bulkhead),
	    .help = "so many calls run at a time" },
	COUNT("bulkheadMaxConcurrentCalls", bulkhead_calls, "25", "how many, with bulkheadEnabled"),
	TIME("bulkheadMaxWaitDuration", bulkhead_wait_ms, "0", "how long a call waits for a place"),
	COUNT("permittedNumberOfCallsInHalfOpenState", breaker.half_open_calls, "10",
	    "calls that decide whether it closes again"),
	TIME("slowCallDurationThreshold", breaker.slow_ms, "60000", "longer calls are slow"),
	TIME("waitDurationInOpenState", breaker.open_ms, "60000", "how long it stays open"),
	TIME("maxWaitDurationInHalfOpenState", breaker.half_open_ms, "0",
	    "how long it stays half open; 0: until its calls have ended"),
	TIME("timeoutDuration", timeout_ms, "1000", "time for the steps, with timeoutEnabled"),
	{ .name = "timeoutEnabled",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_CONF(timeout_enabled),
	    .help = "the steps have a time limit" },
	{ .name = "throwExceptionWhenHalfOpenOrOpenState",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_CONF(throw_when_open),
	    .help = "without onFallback: an exception while it is open" },
	{ .name = "recordException",
	    .type = OPTION_CLASSES,
	    .offset = AT_CONF(record),
	    .help = "exceptions that are failures; none: all" },
	{ .name = "ignoreException",
	    .type = OPTION_CLASSES,
	    .offset = AT_CONF(ignore),
	    .help = "exceptions that are neither failures nor successes" },
	ACCEPTED("automaticTransitionFromOpenToHalfOpenEnabled", automatic, "false",
	    "without meaning here: the next call finds it half open"),
	ACCEPTED("writableStackTraceEnabled", stack_trace, "true", "without meaning here"),
	ACCEPTED("micrometerEnabled", stack_trace, "false",
	    "without meaning here: hinny status has the counters"),
	ACCEPTED("asynchronous", stack_trace, "false", "without meaning here: no thread waits"),
	ACCEPTED("bulkheadFairCallHandlingEnabled", stack_trace, "true",
	    "without meaning here: those that wait look again in turn"),
	{ .name = "slidingWindowSynchronizationStrategy",
	    .type = OPTION_ENUM,
	    .values = "LOCK_FREE|SYNCHRONIZED",
	    .dflt = "SYNCHRONIZED",
	    .flags = OPTION_LABEL,
	    .offset = AT_CONF(label_enum),
	    .help = "without meaning here" },
	ACCEPTED("timeoutCancelRunningFuture", cancels, "true",
	    "without meaning here: what goes on is seen by nobody"),
	OPTIONS_END,
};

static int
resilience_check(struct compile *c, struct step *st)
{
	struct resilience_conf *conf = st->conf;
	(void)c;
	conf->breaker.by_time = conf->window_type == 1;
	return 0;
}

const struct eip_desc resilience4jConfiguration_eip = {
	.name = "resilience4jConfiguration",
	.check = resilience_check,
	.flags = EIP_NOT_A_STEP,
	.options = resilience_options,
	.conf_size = sizeof(struct resilience_conf),
	.help = "when a circuitBreaker opens and closes",
};
