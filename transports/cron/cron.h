/* cron and quartz: make exchanges by the calendar (Camel: Cron and Quartz components). */
#ifndef HINNY_CRON_CRON_H
#define HINNY_CRON_CRON_H

#include "transports/cron/cron_expr.h"
#include "workers/component.h"

struct cron_conf {
	const char *name, *schedule, *time_zone;
	int64_t start_delay_ms;
	int64_t repeat_interval_ms, repeat_count;
	bool stateful;
	int pattern; /* 0 InOnly, 1 InOut */
	bool labels; /* without meaning here */
	/* worked out by the check */
	const char *group, *trigger;
	struct cron_expr expr;
	struct timezone_rules *tz;
};

extern const struct component_ops cron_ops, quartz_ops;

#endif
