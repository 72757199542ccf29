/* Descriptor of the mock component. */
#include "transports/mock/mock.h"

#include "core/model/descriptor.h"

#include <stddef.h>

#define AT(m) offsetof(struct mock_conf, m)

/* clang-format off */
#define LABEL_TIME(option) \
	{ .name = option, .type = OPTION_DURATION, .dflt = "0", \
	    .flags = OPTION_PRODUCER | OPTION_LABEL, .offset = AT(label_number), \
	    .help = "without meaning here: hinny test has the expectations" }
#define LABEL_NUMBER(option) \
	{ .name = option, .type = OPTION_INT, .dflt = "-1", \
	    .flags = OPTION_PRODUCER | OPTION_LABEL, .offset = AT(label_number), \
	    .help = "without meaning here: hinny test has the expectations" }
#define LABEL_FLAG(option, value, text) \
	{ .name = option, .type = OPTION_BOOL, .dflt = value, \
	    .flags = OPTION_PRODUCER | OPTION_LABEL, .offset = AT(label_flag), \
	    .help = text }
/* clang-format on */

static const struct option_desc options[] = {
	{ .name = "name",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(name),
	    .help = "name of the mock" },
	{ .name = "retainFirst",
	    .type = OPTION_INT,
	    .dflt = "-1",
	    .min = -1,
	    .max = INT32_MAX,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(retain_first),
	    .help = "keep the first so many messages; the others are counted only; -1: all" },
	{ .name = "retainLast",
	    .type = OPTION_INT,
	    .dflt = "-1",
	    .min = -1,
	    .max = INT32_MAX,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(retain_last),
	    .help = "keep the last so many messages; the others are counted only; -1: all" },
	{ .name = "log",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(log),
	    .help = "log each message" },
	LABEL_NUMBER("expectedCount"),
	LABEL_NUMBER("reportGroup"),
	LABEL_NUMBER("browseLimit"),
	LABEL_TIME("assertPeriod"),
	LABEL_TIME("resultWaitTime"),
	LABEL_TIME("resultMinimumWaitTime"),
	LABEL_TIME("sleepForEmptyTest"),
	LABEL_FLAG("failFast", "true", "without meaning here: hinny test has the expectations"),
	LABEL_FLAG("copyOnExchange", "true", "without meaning here: a copy is kept always"),
	LABEL_FLAG("lazyStartProducer", "false", "without meaning here"),
	OPTIONS_END,
};

const struct component_desc mock_component = {
	.scheme = "mock",
	.syntax = "mock:name",
	.options = options,
	.conf_size = sizeof(struct mock_conf),
	.owner = "flow",
	.flags = COMPONENT_PRODUCER | COMPONENT_LENIENT | COMPONENT_KEEPS_BODY,
	.help = "keeps what is sent to it, for hinny test and hinny status",
};
