/* What the options of kamelet fill. */
#ifndef HINNY_TRANSPORTS_KAMELET_CONF_H
#define HINNY_TRANSPORTS_KAMELET_CONF_H

#include <stdbool.h>
#include <stdint.h>

struct kamelet_conf {
	const char *name, *id;
	/* taken when the route of the Kamelet is made (core/config/expand_uses.c) */
	const char *location;
	bool no_error_handler;
	/* accepted: the routes of a generation are all there from its start */
	bool fail_if_no_consumers, block, lazy_start;
	int64_t timeout_ms;
};

#endif
