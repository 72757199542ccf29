/* State of a step that all workers of a generation share. */
#include "core/eip/shared_state.h"

#include "core/base/clock.h"

#include <sched.h>
#include <stdbool.h>

enum { SPINS = 200 };

static bool
try_lock(struct shared_lock *l)
{
	uint32_t free = 0;
	return __atomic_compare_exchange_n(
	    &l->held, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void
shared_lock(struct shared_lock *l)
{
	int64_t since = 0;
	for (unsigned i = 1; !try_lock(l); i++) {
		if (i % SPINS != 0)
			continue;
		int64_t now = monotime_now().ns;
		if (since == 0)
			since = now;
		else if (now - since > (int64_t)SHARED_STEAL_MS * 1000000)
			return;      /* whoever held it is dead */
		(void)sched_yield(); /* cannot fail */
	}
}

void
shared_unlock(struct shared_lock *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

uint64_t
shared_random(uint64_t *counter)
{
	uint64_t x = shared_next(counter) * 0x9e3779b97f4a7c15u + (uint64_t)monotime_now().ns;
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}
