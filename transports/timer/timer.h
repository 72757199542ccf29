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
	const char *time; /* of the first exchange, "yyyy-MM-dd HH:mm:ss"; NULL: after the delay */
	int64_t first_ms; /* of it, wall time (check) */
	bool fixed_delay; /* scheduler: the opposite of fixed_rate */
	bool is_scheduler;  /* (check) */
	bool greedy, start; /* scheduler */
	int time_unit;      /* scheduler: of delay and initialDelay */
	int64_t backoff_multiplier, backoff_idle, backoff_error; /* scheduler */
	int64_t pool_size;                                       /* scheduler: accepted */
};

extern const struct component_ops scheduler_ops;
extern const struct component_ops timer_ops;

#endif
