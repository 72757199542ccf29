/*
 * The order of a stream resequencer: things with numbers, each of which waits for the one before
 * it, up to a time. Pure: times come in.
 *
 * As in Camel: one whose predecessor is not here, and was not the last to leave, waits; the others
 * leave as soon as all before them have. The first blocks those behind it.
 */
#ifndef HINNY_EIP_SEQUENCE_H
#define HINNY_EIP_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sequence_item {
	int64_t number;
	int64_t due_ms; /* it waits until then; -1: it does not */
	void *thing;
};

struct sequence {
	struct sequence_item *items; /* in order */
	size_t n, cap;
	bool has_last;
	int64_t last; /* the one that left last */
};

enum sequence_rc {
	SEQUENCE_TAKEN,
	SEQUENCE_SAME, /* one of this number is here already */
};

void sequence_init(struct sequence *s);
void sequence_fini(struct sequence *s); /* not the things */
/* due_ms: when it need not be waited for any more. */
enum sequence_rc sequence_insert(
    struct sequence *s, int64_t number, int64_t due_ms, void *thing);
/* As it was saved. */
void sequence_restore(struct sequence *s, int64_t number, int64_t due_ms, void *thing);
/* Is the number before that of the last that left? */
bool sequence_is_old(const struct sequence *s, int64_t number);
/* The next that may leave now, or NULL. */
void *sequence_take(struct sequence *s, int64_t now_ms);
/* Nothing waits any more for what is missing. */
void sequence_release(struct sequence *s);

#endif
