/* Descriptor of kamelet: a route that was made of a Kamelet, as a subroutine of another. */
#include "transports/kamelet/kamelet_conf.h"

#include "core/model/descriptor.h"

#include <stddef.h>

#define AT(m) offsetof(struct kamelet_conf, m)

static const struct option_desc options[] = {
	{ .name = "templateId",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(name),
	    .help =
		"name of the Kamelet or routeTemplate; all further options are its parameters" },
	{ .name = "routeId",
	    .type = OPTION_STRING,
	    .flags = OPTION_PATH,
	    .offset = AT(id),
	    .help = "id of the route that is made of it; default: its name and a number" },
	{ .name = "location",
	    .type = OPTION_STRING,
	    .offset = AT(location),
	    .help = "file or folder of the Kamelet; default: the folders of Kamelets" },
	{ .name = "noErrorHandler",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(no_error_handler),
	    .help = "the route has no error handling of its own: failures go to its caller" },
	{ .name = "failIfNoConsumers",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(fail_if_no_consumers),
	    .help = "without meaning here: one that is not there is refused at load" },
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
	{ .name = "lazyStartProducer",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(lazy_start),
	    .help = "without meaning here: nothing is started" },
	OPTIONS_END,
};

const struct component_desc kamelet_component = {
	.scheme = "kamelet",
	.syntax = "kamelet:templateId/routeId",
	.options = options,
	.conf_size = sizeof(struct kamelet_conf),
	.flags =
	    COMPONENT_CONSUMER | COMPONENT_PRODUCER | COMPONENT_STREAM_IN | COMPONENT_STREAM_OUT,
	.help = "calls a route that is made of a Kamelet or routeTemplate, with its parameters",
};
