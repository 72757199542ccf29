/* What the options of direct fill. */
#ifndef HINNY_TRANSPORTS_DIRECT_CONF_H
#define HINNY_TRANSPORTS_DIRECT_CONF_H

#include <stdbool.h>
#include <stdint.h>

struct direct_conf {
	const char *name;
	bool fail_if_no_consumers;
	/* accepted: the routes of a generation are all there from its start, so there is nothing to
	 * wait for */
	bool block, lazy_start, synchronous;
	int64_t timeout_ms;
};

#endif
