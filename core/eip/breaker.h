/*
 * The state of a circuit breaker, shared by all workers of a generation: closed while calls
 * succeed, open when too many of the last ones failed or were slow, half open when the time to try
 * again has come. Times come from the caller, in milliseconds of one clock.
 */
#ifndef HINNY_EIP_BREAKER_H
#define HINNY_EIP_BREAKER_H

#include "core/eip/shared_state.h"

#include <stdbool.h>
#include <stdint.h>

enum breaker_mode { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };
enum breaker_outcome { BREAKER_SUCCESS, BREAKER_FAILURE, BREAKER_IGNORED };
enum { BREAKER_WINDOW_MAX = 100000, BREAKER_SLOW = 1, BREAKER_FAILED = 2, BREAKER_SEEN = 4 };

struct breaker_conf {
	double failure_rate, slow_rate; /* percent */
	bool by_time;                   /* the window is seconds, not calls */
	int64_t window, minimum, half_open_calls;
	int64_t slow_ms, open_ms, half_open_ms; /* half_open_ms 0: as long as it takes */
};

struct breaker {
	struct shared_lock lock;
	uint32_t mode;
	int64_t since_ms; /* of the mode */
	uint32_t at, n;   /* the window: next place, calls in it */
	uint32_t failed, slow;
	uint32_t begun;   /* calls of this half-open time that were let through */
	uint32_t by_time; /* what the window is; another one begins anew */
	int64_t second;   /* by time: the one that is counted into */
	struct breaker_second {
		uint32_t n, failed, slow;
	} seconds[]; /* by time: window of them; behind them, or in their place, flags of calls */
};

/* Bytes of a breaker with this window. */
uint32_t breaker_size(const struct breaker_conf *conf);
/* May a call be made now? */
bool breaker_permits(struct breaker *b, const struct breaker_conf *conf, int64_t now_ms);
/* A call that was permitted has ended. */
void breaker_note(struct breaker *b, const struct breaker_conf *conf, int64_t now_ms,
    int64_t took_ms, enum breaker_outcome outcome);
enum breaker_mode breaker_mode(struct breaker *b);

#endif
