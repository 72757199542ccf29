/* throttle: the state that all workers of a generation share, and its two modes. Times come from the
 * caller, in milliseconds of one clock. */
#ifndef HINNY_EIP_THROTTLE_H
#define HINNY_EIP_THROTTLE_H

#include "core/base/str.h"
#include "core/eip/shared_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	THROTTLE_MAX = 10000,        /* of the limit */
	THROTTLE_HOLDERS = 16,       /* processes that hold permits of one key at a time */
	THROTTLE_BYTES = 4 << 20,    /* of a step's state with keys */
	THROTTLE_KEYS = 1024,
	THROTTLE_PROBES = 32,
};

/* What reserve and acquire come to, beside a wait. */
enum { THROTTLE_REJECTED = -1, THROTTLE_FULL = -2 };

/* Messages in a period: when the last ones passed, or will, as a ring of `max` times. */
struct throttle_times {
	uint64_t key;
	uint32_t max, at;
	int64_t passes_ms[];
};

/* Messages at a time: how many each process has let through that have not ended. */
struct throttle_permits {
	uint64_t key;
	struct throttle_holder {
		int32_t pid, n;
	} holders[THROTTLE_HOLDERS];
};

struct throttle_state {
	struct shared_lock lock;
	uint32_t pad;
	char keys[]; /* of one of the two, each `stride` bytes */
};

struct throttle_layout {
	uint32_t keys;   /* 1: without keys */
	uint32_t stride; /* bytes of each */
};

/* The layout for limits up to max, and the bytes of the state. */
uint32_t throttle_times_layout(uint32_t max, bool keyed, struct throttle_layout *out);
uint32_t throttle_permits_layout(bool keyed, struct throttle_layout *out);
/* Never 0. */
uint64_t throttle_hash(struct str key);

/* How long the message has to wait for its turn, which is its own then; THROTTLE_REJECTED: with
 * `rejects`, instead of waiting; THROTTLE_FULL: too many keys are in use. */
int64_t throttle_reserve(struct throttle_state *ts, const struct throttle_layout *layout,
    uint64_t key, uint32_t max, int64_t period_ms, bool rejects, int64_t now_ms);

/* 0: there was a permit, and it is taken. THROTTLE_REJECTED: there is none now; those of processes
 * that are gone have been taken back. THROTTLE_FULL: too many keys or processes. */
int64_t throttle_acquire(
    struct throttle_state *ts, const struct throttle_layout *layout, uint64_t key, uint32_t max);
void throttle_release(struct throttle_state *ts, const struct throttle_layout *layout, uint64_t key);

#endif
