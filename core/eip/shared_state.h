/*
 * State of a step that all workers of a generation share (step.shared_size, engine_shared()): it
 * lies in memory that they map, zero at first. What one number cannot hold is kept under a lock
 * that is held for a few instructions. A worker that dies with the lock loses it after
 * SHARED_STEAL_MS.
 */
#ifndef HINNY_EIP_SHARED_STATE_H
#define HINNY_EIP_SHARED_STATE_H

#include <stdint.h>

enum { SHARED_STEAL_MS = 20 };

struct shared_lock {
	uint32_t held;
};

void shared_lock(struct shared_lock *l);
void shared_unlock(struct shared_lock *l);
/* Returns the number as it was before. */
static inline uint64_t
shared_next(uint64_t *counter)
{
	return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}
/* A number that looks random, from a counter. */
uint64_t shared_random(uint64_t *counter);

#endif
