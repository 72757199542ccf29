/* The state of a circuit breaker. */
#include "core/eip/breaker.h"

#include <stddef.h>
#include <string.h>

/* Calls are looked at one by one in a window of calls, and while it is half open. */
static uint32_t
flags_n(const struct breaker_conf *conf)
{
	bool window = !conf->by_time && conf->window > conf->half_open_calls;
	return (uint32_t)(window ? conf->window : conf->half_open_calls);
}

static uint32_t
seconds_n(const struct breaker_conf *conf)
{
	return conf->by_time ? (uint32_t)conf->window : 0;
}

uint32_t
breaker_size(const struct breaker_conf *conf)
{
	return (uint32_t)(offsetof(struct breaker, seconds) +
	    seconds_n(conf) * sizeof(struct breaker_second) + flags_n(conf));
}

static uint8_t *
flags_of(struct breaker *b, const struct breaker_conf *conf)
{
	return (uint8_t *)&b->seconds[seconds_n(conf)];
}

static void
enter(struct breaker *b, const struct breaker_conf *conf, enum breaker_mode mode, int64_t now_ms)
{
	b->mode = mode;
	b->since_ms = now_ms;
	b->at = b->n = b->failed = b->slow = b->begun = 0;
	b->second = now_ms / 1000;
	memset(b->seconds, 0, seconds_n(conf) * sizeof(b->seconds[0]));
}

/* What an earlier generation has left may be of another kind of window. */
static void
check_kind(struct breaker *b, const struct breaker_conf *conf, int64_t now_ms)
{
	uint32_t kind = conf->by_time ? 2 : 1;
	if (b->by_time == kind)
		return;
	b->by_time = kind;
	enter(b, conf, BREAKER_CLOSED, now_ms);
}

static bool
is_due(const struct breaker *b, const struct breaker_conf *conf, int64_t now_ms)
{
	return now_ms - b->since_ms >= conf->open_ms;
}

bool
breaker_permits(struct breaker *b, const struct breaker_conf *conf, int64_t now_ms)
{
	shared_lock(&b->lock);
	check_kind(b, conf, now_ms);
	if (b->mode == BREAKER_OPEN && is_due(b, conf, now_ms))
		enter(b, conf, BREAKER_HALF_OPEN, now_ms);
	if (b->mode == BREAKER_HALF_OPEN && conf->half_open_ms > 0 &&
	    now_ms - b->since_ms >= conf->half_open_ms)
		enter(b, conf, BREAKER_OPEN, now_ms);
	bool yes = b->mode == BREAKER_CLOSED ||
	    (b->mode == BREAKER_HALF_OPEN && b->begun < conf->half_open_calls);
	if (yes && b->mode == BREAKER_HALF_OPEN)
		b->begun++;
	shared_unlock(&b->lock);
	return yes;
}

/* Into the window of calls; the oldest goes out. */
static void
push(struct breaker *b, uint8_t *window, uint32_t size, uint8_t flags)
{
	if (b->n == size) {
		uint8_t old = window[b->at];
		b->failed -= (old & BREAKER_FAILED) != 0;
		b->slow -= (old & BREAKER_SLOW) != 0;
	} else {
		b->n++;
	}
	window[b->at] = flags;
	b->at = (b->at + 1) % size;
	b->failed += (flags & BREAKER_FAILED) != 0;
	b->slow += (flags & BREAKER_SLOW) != 0;
}

/* Seconds that have passed since the last call are empty, and those before the window count no more. */
static void
turn(struct breaker *b, uint32_t size, int64_t second)
{
	for (uint32_t i = 0; b->second < second && i < size; i++) {
		struct breaker_second *s = &b->seconds[++b->second % size];
		b->n -= s->n;
		b->failed -= s->failed;
		b->slow -= s->slow;
		*s = (struct breaker_second){ 0 };
	}
	if (b->second < second)
		b->second = second;
}

/* Into the window of seconds. */
static void
push_timed(struct breaker *b, uint32_t size, int64_t second, uint8_t flags)
{
	turn(b, size, second);
	struct breaker_second *s = &b->seconds[b->second % size];
	bool failed = (flags & BREAKER_FAILED) != 0, slow = (flags & BREAKER_SLOW) != 0;
	s->n++;
	s->failed += failed;
	s->slow += slow;
	b->n++;
	b->failed += failed;
	b->slow += slow;
}

static bool
is_too_bad(const struct breaker *b, const struct breaker_conf *conf)
{
	return 100.0 * b->failed / b->n >= conf->failure_rate ||
	    100.0 * b->slow / b->n >= conf->slow_rate;
}

/* Returns how many calls it takes to judge. */
static int64_t
note(struct breaker *b, const struct breaker_conf *conf, int64_t now_ms, uint8_t flags)
{
	bool half = b->mode == BREAKER_HALF_OPEN;
	int64_t size = half ? conf->half_open_calls : conf->window;
	if (!half && conf->by_time) {
		push_timed(b, (uint32_t)size, now_ms / 1000, flags);
		return conf->minimum;
	}
	push(b, flags_of(b, conf), (uint32_t)size, flags);
	return half ? size : conf->minimum < size ? conf->minimum : size;
}

void
breaker_note(struct breaker *b, const struct breaker_conf *conf, int64_t now_ms, int64_t took_ms,
    enum breaker_outcome outcome)
{
	shared_lock(&b->lock);
	check_kind(b, conf, now_ms);
	bool half = b->mode == BREAKER_HALF_OPEN;
	if (outcome == BREAKER_IGNORED) {
		if (half && b->begun > 0)
			b->begun--;
	} else if (b->mode != BREAKER_OPEN) { /* one that began before it opened counts no more */
		int64_t least = note(b, conf, now_ms,
		    (uint8_t)(BREAKER_SEEN | (outcome == BREAKER_FAILURE ? BREAKER_FAILED : 0) |
			(took_ms > conf->slow_ms ? BREAKER_SLOW : 0)));
		if (b->n >= least && is_too_bad(b, conf))
			enter(b, conf, BREAKER_OPEN, now_ms);
		else if (half && b->n >= least)
			enter(b, conf, BREAKER_CLOSED, now_ms);
	}
	shared_unlock(&b->lock);
}

enum breaker_mode
breaker_mode(struct breaker *b)
{
	return (enum breaker_mode)__atomic_load_n(&b->mode, __ATOMIC_RELAXED);
}
