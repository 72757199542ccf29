/*
 * mock: keeps what is sent to it, so that a test can look at it (Camel: Mock component). All mocks
 * live in the flow worker, so messages of all workers have one order.
 */
#ifndef HINNY_MOCK_MOCK_H
#define HINNY_MOCK_MOCK_H

#include "workers/component.h"

#include <stdbool.h>
#include <stdint.h>

/* What a worker keeps in all: beyond that the oldest messages of a mock make room for its newest,
 * and one that does not fit by itself is counted only. */
enum { MOCK_MESSAGES_MAX = 10000, MOCK_BYTES_MAX = 64 << 20 };

struct mock_conf {
	const char *name;
	int64_t retain_first, retain_last; /* -1: as many as the bounds allow */
	bool log;
	/* without meaning here */
	int64_t label_number;
	bool label_flag;
};

extern const struct component_ops mock_ops;

#endif
