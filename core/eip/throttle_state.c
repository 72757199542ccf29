/*
 * The shared state of throttle. Keys lie in a table of fixed size; one that limits nobody any more
 * gives its place away. A key is looked for in the places behind its own, all of which are looked at,
 * so that one which has gone leaves no gap.
 */
#include "core/eip/throttle.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static uint32_t
size_of(const struct throttle_layout *layout)
{
	return (uint32_t)offsetof(struct throttle_state, keys) + layout->keys * layout->stride;
}

static void
set_keys(struct throttle_layout *out, bool keyed)
{
	uint32_t n = THROTTLE_BYTES / out->stride;

	out->keys = !keyed ? 1 : n < THROTTLE_KEYS ? n : THROTTLE_KEYS;
}

uint32_t
throttle_times_layout(uint32_t max, bool keyed, struct throttle_layout *out)
{
	out->stride = (uint32_t)(offsetof(struct throttle_times, passes_ms) +
	    (max > 0 ? max : 1) * sizeof(int64_t));
	set_keys(out, keyed);
	return size_of(out);
}

uint32_t
throttle_permits_layout(bool keyed, struct throttle_layout *out)
{
	out->stride = sizeof(struct throttle_permits);
	set_keys(out, keyed);
	return size_of(out);
}

uint64_t
throttle_hash(struct str key)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) * 0x100000001b3u;
	return h != 0 ? h : 1;
}

static void *
key_at(struct throttle_state *ts, const struct throttle_layout *layout, uint64_t key, uint32_t i)
{
	return ts->keys + (size_t)((key + i) % layout->keys) * layout->stride;
}

static uint32_t
probes(const struct throttle_layout *layout)
{
	return layout->keys < THROTTLE_PROBES ? layout->keys : THROTTLE_PROBES;
}

/* ---- messages in a period ---- */

/* Has the last one passed so long ago that the key limits nobody? */
static bool
is_idle(const struct throttle_times *tt, int64_t period_ms, int64_t now_ms)
{
	uint32_t last = tt->max > 0 ? (tt->at + tt->max - 1) % tt->max : 0;

	return tt->key == 0 || tt->max == 0 || tt->passes_ms[last] + period_ms <= now_ms;
}

static struct throttle_times *
find_times(struct throttle_state *ts, const struct throttle_layout *layout, uint64_t key,
    int64_t period_ms, int64_t now_ms)
{
	struct throttle_times *idle = NULL;

	for (uint32_t i = 0; i < probes(layout); i++) {
		struct throttle_times *tt = key_at(ts, layout, key, i);
		if (tt->key == key)
			return tt;
		if (idle == NULL && is_idle(tt, period_ms, now_ms))
			idle = tt;
	}
	if (idle != NULL) {
		idle->key = key;
		idle->max = 0;
	}
	return idle;
}

static int64_t
reserve(struct throttle_times *tt, uint32_t max, int64_t period_ms, bool rejects, int64_t now_ms)
{
	if (tt->max != max) { /* another limit: those before count no more */
		tt->max = max;
		tt->at = 0;
		for (uint32_t i = 0; i < max; i++)
			tt->passes_ms[i] = INT64_MIN / 2;
	}
	int64_t free_ms = tt->passes_ms[tt->at] + period_ms;
	int64_t wait = free_ms > now_ms ? free_ms - now_ms : 0;
	if (wait > 0 && rejects)
		return THROTTLE_REJECTED;
	tt->passes_ms[tt->at] = now_ms + wait;
	tt->at = (tt->at + 1) % max;
	return wait;
}

int64_t
throttle_reserve(struct throttle_state *ts, const struct throttle_layout *layout, uint64_t key,
    uint32_t max, int64_t period_ms, bool rejects, int64_t now_ms)
{
	shared_lock(&ts->lock);
	struct throttle_times *tt = find_times(ts, layout, key, period_ms, now_ms);
	int64_t wait = tt != NULL ? reserve(tt, max, period_ms, rejects, now_ms) : THROTTLE_FULL;
	shared_unlock(&ts->lock);
	return wait;
}

/* ---- messages at a time ---- */

static uint32_t
count(const struct throttle_permits *tp)
{
	uint32_t n = 0;

	for (int i = 0; i < THROTTLE_HOLDERS; i++)
		n += (uint32_t)tp->holders[i].n;
	return n;
}

/* Takes back what processes have that are gone. */
static void
take_back(struct throttle_permits *tp)
{
	for (int i = 0; i < THROTTLE_HOLDERS; i++) {
		struct throttle_holder *h = &tp->holders[i];
		if (h->n > 0 && kill(h->pid, 0) == -1 && errno == ESRCH)
			h->n = 0;
	}
}

static struct throttle_permits *
find_permits(struct throttle_state *ts, const struct throttle_layout *layout, uint64_t key, bool add)
{
	struct throttle_permits *idle = NULL;

	for (uint32_t i = 0; i < probes(layout); i++) {
		struct throttle_permits *tp = key_at(ts, layout, key, i);
		if (tp->key == key)
			return tp;
		if (idle == NULL && add && (tp->key == 0 || count(tp) == 0))
			idle = tp;
	}
	if (idle != NULL) {
		memset(idle, 0, sizeof(*idle));
		idle->key = key;
	}
	return idle;
}

/* The place of this process; NULL: all are taken by others. */
static struct throttle_holder *
own_place(struct throttle_permits *tp)
{
	struct throttle_holder *empty = NULL;
	int32_t pid = (int32_t)getpid();

	for (int i = 0; i < THROTTLE_HOLDERS; i++) {
		struct throttle_holder *h = &tp->holders[i];
		if (h->pid == pid)
			return h;
		if (empty == NULL && h->n == 0)
			empty = h;
	}
	if (empty != NULL)
		*empty = (struct throttle_holder){ .pid = pid };
	return empty;
}

static int64_t
acquire(struct throttle_permits *tp, uint32_t max)
{
	if (count(tp) >= max)
		take_back(tp);
	if (count(tp) >= max)
		return THROTTLE_REJECTED;
	struct throttle_holder *own = own_place(tp);
	if (own == NULL)
		return THROTTLE_FULL;
	own->n++;
	return 0;
}

int64_t
throttle_acquire(
    struct throttle_state *ts, const struct throttle_layout *layout, uint64_t key, uint32_t max)
{
	shared_lock(&ts->lock);
	struct throttle_permits *tp = find_permits(ts, layout, key, true);
	int64_t rc = tp != NULL ? acquire(tp, max) : THROTTLE_FULL;
	shared_unlock(&ts->lock);
	return rc;
}

void
throttle_release(struct throttle_state *ts, const struct throttle_layout *layout, uint64_t key)
{
	shared_lock(&ts->lock);
	struct throttle_permits *tp = find_permits(ts, layout, key, false);
	struct throttle_holder *own = tp != NULL ? own_place(tp) : NULL;
	if (own != NULL && own->n > 0)
		own->n--;
	shared_unlock(&ts->lock);
}
