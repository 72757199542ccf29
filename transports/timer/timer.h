/* timer and scheduler: make exchanges at intervals (Camel: Timer and Scheduler components). Their home is the flow worker. */
#ifndef HINNY_TIMER_TIMER_H
#define HINNY_TIMER_TIMER_H

#include "workers/component.h"

#include <stdbool.h>
#include <stdint.h>

struct timer_conf {
	const char *name;
	int64_t delay_ms, period_ms;
	int64_t repeat_count; /* 0: no end */
	bool fixed_rate, include_metadata;
	bool bridge_error_handler, daemon, synchronous; /* labels: without meaning here */
	int pattern;                                    /* 0 InOnly, 1 InOut */
	int run_logging_level;
	bool fixed_delay; /* scheduler: the opposite of fixed_rate */
};

extern const struct component_ops scheduler_ops;
extern const struct component_ops timer_ops;

#endif
