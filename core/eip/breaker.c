/* The state of a circuit breaker. */
#include "core/eip/breaker.h"

#include <stddef.h>

uint32_t
breaker_size(const struct breaker_conf *conf)
{
	int64_t n = conf->window > conf->half_open_calls ? conf->window : conf->half_open_calls;
	return (uint32_t)(offsetof(struct breaker, window) + (size_t)n);
}

static void
enter(struct breaker *b, enum breaker_mode mode, int64_t now_ms)
{
	b->mode = mode;
	b->since_ms = now_ms;
	b->at = b->n = b->failed = b->slow = b->begun = 0;
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
	if (b->mode == BREAKER_OPEN && is_due(b, conf, now_ms))
		enter(b, BREAKER_HALF_OPEN, now_ms);
	if (b->mode == BREAKER_HALF_OPEN && conf->half_open_ms > 0 &&
	    now_ms - b->since_ms >= conf->half_open_ms)
		enter(b, BREAKER_OPEN, now_ms);
	bool yes = b->mode == BREAKER_CLOSED ||
	    (b->mode == BREAKER_HALF_OPEN && b->begun < conf->half_open_calls);
	if (yes && b->mode == BREAKER_HALF_OPEN)
		b->begun++;
	shared_unlock(&b->lock);
	return yes;
}

/* Into the window; the oldest goes out. */
static void
push(struct breaker *b, uint32_t size, uint8_t flags)
{
	if (b->n == size) {
		uint8_t old = b->window[b->at];
		b->failed -= (old & BREAKER_FAILED) != 0;
		b->slow -= (old & BREAKER_SLOW) != 0;
	} else {
		b->n++;
	}
	b->window[b->at] = flags;
	b->at = (b->at + 1) % size;
	b->failed += (flags & BREAKER_FAILED) != 0;
	b->slow += (flags & BREAKER_SLOW) != 0;
}

static bool
is_too_bad(const struct breaker *b, const struct breaker_conf *conf)
{
	return 100.0 * b->failed / b->n >= conf->failure_rate ||
	    100.0 * b->slow / b->n >= conf->slow_rate;
}

void
breaker_note(struct breaker *b, const struct breaker_conf *conf, int64_t now_ms, int64_t took_ms,
    enum breaker_outcome outcome)
{
	shared_lock(&b->lock);
	bool half = b->mode == BREAKER_HALF_OPEN;
	if (outcome == BREAKER_IGNORED) {
		if (half && b->begun > 0)
			b->begun--;
	} else if (b->mode != BREAKER_OPEN) { /* one that began before it opened counts no more */
		int64_t size = half ? conf->half_open_calls : conf->window;
		int64_t least = half ? size : conf->minimum < size ? conf->minimum : size;
		push(b, (uint32_t)size,
		    (uint8_t)(BREAKER_SEEN | (outcome == BREAKER_FAILURE ? BREAKER_FAILED : 0) |
			(took_ms > conf->slow_ms ? BREAKER_SLOW : 0)));
		if (b->n >= least && is_too_bad(b, conf))
			enter(b, BREAKER_OPEN, now_ms);
		else if (half && b->n >= least)
			enter(b, BREAKER_CLOSED, now_ms);
	}
	shared_unlock(&b->lock);
}

enum breaker_mode
breaker_mode(struct breaker *b)
{
	return (enum breaker_mode)__atomic_load_n(&b->mode, __ATOMIC_RELAXED);
}
