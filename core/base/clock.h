/* Times are structs so that units cannot be mixed up. */
#ifndef HINNY_BASE_CLOCK_H
#define HINNY_BASE_CLOCK_H

#include <stdint.h>

struct monotime {
	int64_t ns; /* CLOCK_MONOTONIC; 0: never */
};

struct monotime monotime_now(void);
static inline struct monotime
monotime_add_ms(struct monotime t, int64_t ms)
{
	return (struct monotime){ t.ns + ms * 1000000 };
}
static inline int64_t
monotime_ms_between(struct monotime from, struct monotime to)
{
	return (to.ns - from.ns) / 1000000;
}
int64_t walltime_ms(void); /* since 1970, UTC */

#endif
