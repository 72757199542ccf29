/* resequence: what the step (resequence.c) and its state (resequence_state.c) share. */
#ifndef HINNY_EIP_RESEQUENCE_H
#define HINNY_EIP_RESEQUENCE_H

#include "core/model/descriptor.h"
#include "core/model/program.h"

struct batch_conf {
	int64_t size, timeout_ms;
	bool duplicates, reverse, ignore_invalid;
};

struct stream_conf {
	int64_t capacity, timeout_ms, interval_ms;
	bool ignore_invalid, reject_old;
};

struct resequence_conf {
	struct step *batch, *stream;
	const struct batch_conf *batching; /* NULL: a stream (check) */
};

/* The operation: the message with its key (stream: an INT). */
enum { RESEQUENCE_INSERT, RESEQUENCE_OPS };

/* Its answer, an INT. */
enum resequence_answer {
	RESEQUENCE_TAKEN,
	RESEQUENCE_FULL, /* try again later */
	RESEQUENCE_OLD,  /* rejectOld: one behind it has left already */
};

/* NULL: it works by a stream. */
static inline const struct batch_conf *
resequence_batch(const struct step *st)
{
	return ((const struct resequence_conf *)st->conf)->batching;
}

/* NULL: it works by batches. */
static inline const struct stream_conf *
resequence_stream(const struct step *st)
{
	const struct resequence_conf *conf = st->conf;
	return conf->stream ? conf->stream->conf : NULL;
}

extern const struct state_desc resequence_messages;

#endif
