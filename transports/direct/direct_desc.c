/* Descriptor of direct: a route as a subroutine of another. */
#include "transports/direct/direct_conf.h"

#include "core/model/descriptor.h"

#include <stddef.h>

#define AT(m) offsetof(struct direct_conf, m)

static const struct option_desc options[] = {
	{ .name = "name",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(name),
	    .help = "name that the two routes share" },
	{ .name = "failIfNoConsumers",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(fail_if_no_consumers),
	    .help = "fail when no route has this name; else the message goes on" },
	{ .name = "block",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(block),
	    .help = "without meaning here: all routes are there from the start" },
	{ .name = "timeout",
	    .type = OPTION_DURATION,
	    .dflt = "30000",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(timeout_ms),
	    .help = "without meaning here: all routes are there from the start" },
	{ .name = "bridgeErrorHandler",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_CONSUMER | OPTION_LABEL,
	    .offset = AT(synchronous),
	    .help = "without meaning here: taking a message over cannot fail" },
	{ .name = "lazyStartProducer",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(lazy_start),
	    .help = "without meaning here: nothing is started" },
	{ .name = "synchronous",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(synchronous),
	    .help = "without meaning here: a call of a route never waits for a thread" },
	OPTIONS_END,
};

const struct component_desc direct_component = {
	.scheme = "direct",
	.syntax = "direct:name",
	.options = options,
	.conf_size = sizeof(struct direct_conf),
	.flags = COMPONENT_CONSUMER | COMPONENT_PRODUCER | COMPONENT_STREAM_IN |
	    COMPONENT_STREAM_OUT | COMPONENT_UNIQUE,
	.help = "calls a route as a subroutine",
};
