/* seda: queues in memory between routes (Camel: Seda component). They live in the flow worker. */
#ifndef HINNY_SEDA_SEDA_H
#define HINNY_SEDA_SEDA_H

#include "workers/component.h"

#include <stdbool.h>
#include <stdint.h>

/* Positions of waitForTaskToComplete. */
enum seda_wait { SEDA_WAIT_NEVER, SEDA_WAIT_IF_REPLY_EXPECTED, SEDA_WAIT_ALWAYS };

struct seda_conf {
	const char *name;
	int64_t size;
	/* from */
	int64_t concurrent;
	bool purge, multiple, limits;
	/* to */
	int wait;
	int64_t timeout_ms, offer_timeout_ms;
	bool block_when_full, discard_when_full, discard_if_none, fail_if_none;
	bool labels; /* without meaning here */
	int64_t label_number;
	int label_pattern;
};

extern const struct component_ops seda_ops, stub_ops;

#endif
