/*
 * threads: where Camel hands the exchange to a thread of a pool, here it lets others run first and
 * goes on when the loop has turned. No exchange holds a thread, so a pool's sizes mean nothing.
 */
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct threads_conf, m)

static enum step_rc
threads_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)st;
	en->ops->wait(en, ex, 0);
	return STEP_PENDING;
}

#define NO_POOL "without meaning here: there is no pool of threads"

static const struct option_desc options[] = {
	{ .name = "poolSize",
	    .type = OPTION_INT,
	    .dflt = "10",
	    .flags = OPTION_LABEL,
	    .min = 1,
	    .max = INT32_MAX,
	    .offset = AT(pool_size),
	    .help = NO_POOL },
	{ .name = "maxPoolSize",
	    .type = OPTION_INT,
	    .dflt = "20",
	    .flags = OPTION_LABEL,
	    .min = 1,
	    .max = INT32_MAX,
	    .offset = AT(max_pool_size),
	    .help = NO_POOL },
	{ .name = "keepAliveTime",
	    .type = OPTION_INT,
	    .dflt = "60",
	    .flags = OPTION_LABEL,
	    .min = 0,
	    .max = INT64_MAX,
	    .offset = AT(keep_alive),
	    .help = NO_POOL },
	{ .name = "timeUnit",
	    .type = OPTION_ENUM,
	    .dflt = "SECONDS",
	    .flags = OPTION_LABEL,
	    .values = "NANOSECONDS|MICROSECONDS|MILLISECONDS|SECONDS|MINUTES|HOURS|DAYS",
	    .offset = AT(time_unit),
	    .help = NO_POOL },
	{ .name = "maxQueueSize",
	    .type = OPTION_INT,
	    .dflt = "1000",
	    .flags = OPTION_LABEL,
	    .min = -1,
	    .max = INT32_MAX,
	    .offset = AT(max_queue_size),
	    .help = NO_POOL },
	{ .name = "allowCoreThreadTimeOut",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(core_time_out),
	    .help = NO_POOL },
	{ .name = "threadName",
	    .type = OPTION_STRING,
	    .dflt = "Threads",
	    .flags = OPTION_LABEL,
	    .offset = AT(thread_name),
	    .help = NO_POOL },
	{ .name = "rejectedPolicy",
	    .type = OPTION_ENUM,
	    .dflt = "CallerRuns",
	    .flags = OPTION_LABEL,
	    .values = "Abort|CallerRuns|Block",
	    .offset = AT(rejected_policy),
	    .help = "without meaning here: nothing is rejected" },
	{ .name = "callerRunsWhenRejected",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_LABEL,
	    .offset = AT(caller_runs),
	    .help = "without meaning here: nothing is rejected" },
	OPTIONS_END,
};

const struct eip_desc threads_eip = {
	.name = "threads",
	.options = options,
	.conf_size = sizeof(struct threads_conf),
	.run = threads_run,
	.help = "lets other exchanges run first",
};
