/* The two clocks of the system. */
#include "core/base/clock.h"

#include <time.h>

struct monotime
monotime_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
	return (struct monotime){ (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec };
}

int64_t
walltime_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts); /* cannot fail for this clock */
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
