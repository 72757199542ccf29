/* The order of a stream resequencer: a sorted array, since what waits is little and mostly comes
 * near its end. */
#include "core/eip/sequence.h"

#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

void
sequence_init(struct sequence *s)
{
	*s = (struct sequence){ 0 };
}

void
sequence_fini(struct sequence *s)
{
	free(s->items);
	sequence_init(s);
}

/* The first that is not before the number. */
static size_t
position(const struct sequence *s, int64_t number)
{
	size_t lo = 0, hi = s->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (s->items[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
follows(int64_t number, int64_t before)
{
	return before != INT64_MAX && number == before + 1;
}

static struct sequence_item *
put(struct sequence *s, size_t at)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 16;
		s->items = mem_realloc(s->items, s->cap * sizeof(s->items[0]));
	}
	memmove(s->items + at + 1, s->items + at, (s->n - at) * sizeof(s->items[0]));
	s->n++;
	return &s->items[at];
}

enum sequence_rc
sequence_insert(struct sequence *s, int64_t number, int64_t due_ms, void *thing)
{
	size_t at = position(s, number);
	if (at < s->n && s->items[at].number == number)
		return SEQUENCE_SAME;
	bool waits = !(s->has_last && follows(number, s->last)) &&
	    !(at > 0 && follows(number, s->items[at - 1].number));
	*put(s, at) = (struct sequence_item){ number, waits ? due_ms : -1, thing };
	if (at + 1 < s->n && follows(s->items[at + 1].number, number))
		s->items[at + 1].due_ms = -1;
	return SEQUENCE_TAKEN;
}

void
sequence_restore(struct sequence *s, int64_t number, int64_t due_ms, void *thing)
{
	*put(s, position(s, number)) = (struct sequence_item){ number, due_ms, thing };
}

bool
sequence_is_old(const struct sequence *s, int64_t number)
{
	return s->has_last && number < s->last;
}

void *
sequence_take(struct sequence *s, int64_t now_ms)
{
	if (s->n == 0 || s->items[0].due_ms > now_ms)
		return NULL;
	void *thing = s->items[0].thing;
	s->has_last = true;
	s->last = s->items[0].number;
	s->n--;
	memmove(s->items, s->items + 1, s->n * sizeof(s->items[0]));
	return thing;
}

void
sequence_release(struct sequence *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->items[i].due_ms = -1;
}
