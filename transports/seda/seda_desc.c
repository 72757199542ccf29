/* Descriptors of seda, and of stub, which is the same for endpoints that are not to be reached. */
#include "transports/seda/seda.h"

#include "core/config/compile.h"
#include "core/model/descriptor.h"

#include <stddef.h>

#define AT(m) offsetof(struct seda_conf, m)
#define DAYS ((int64_t)365 * 86400 * 1000)

/* clang-format off */
#define FLAG(option, side, member, text) \
	{ .name = option, .type = OPTION_BOOL, .dflt = "false", .flags = side, .offset = AT(member), \
	    .help = text }
/* clang-format on */

static const struct option_desc options[] = {
	{ .name = "name",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(name),
	    .help = "name of the queue" },
	{ .name = "size",
	    .type = OPTION_INT,
	    .dflt = "1000",
	    .min = 1,
	    .max = 10000000,
	    .offset = AT(size),
	    .help = "messages that may wait; that of the route that consumes counts when it has one" },
	{ .name = "concurrentConsumers",
	    .type = OPTION_INT,
	    .dflt = "1",
	    .flags = OPTION_CONSUMER,
	    .min = 1,
	    .max = 100000,
	    .offset = AT(concurrent),
	    .help = "messages that are worked on at a time" },
	{ .name = "limitConcurrentConsumers",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(limits),
	    .help = "concurrentConsumers is at most 500" },
	{ .name = "multipleConsumers",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_UNIQUE,
	    .offset = AT(multiple),
	    .help = "several routes may consume, and each gets a copy of every message" },
	{ .name = "exchangePattern",
	    .type = OPTION_ENUM,
	    .values = "|InOnly|InOut",
	    .flags = OPTION_CONSUMER | OPTION_LABEL,
	    .offset = AT(label_pattern),
	    .help = "without meaning here: the sender says whether it waits" },
	{ .name = "bridgeErrorHandler",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_CONSUMER | OPTION_LABEL,
	    .offset = AT(labels),
	    .help = "without meaning here: taking a message out cannot fail" },
	FLAG("purgeWhenStopping", OPTION_CONSUMER, purge, "drops what waits at a reload or the end"),
	{ .name = "waitForTaskToComplete",
	    .type = OPTION_ENUM,
	    .values = "Never|IfReplyExpected|Always",
	    .dflt = "IfReplyExpected",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(wait),
	    .help = "whether the sender waits for the end of the other route; IfReplyExpected: when "
		    "its pattern is InOut" },
	{ .name = "timeout",
	    .type = OPTION_DURATION,
	    .dflt = "30000",
	    .flags = OPTION_PRODUCER,
	    .min = 0,
	    .max = DAYS,
	    .offset = AT(timeout_ms),
	    .help = "how long the sender waits; 0: no limit but that of calls" },
	FLAG("blockWhenFull", OPTION_PRODUCER, block_when_full, "waits for room in a full queue"),
	{ .name = "offerTimeout",
	    .type = OPTION_DURATION,
	    .dflt = "0",
	    .flags = OPTION_PRODUCER,
	    .min = 0,
	    .max = DAYS,
	    .offset = AT(offer_timeout_ms),
	    .help = "how long blockWhenFull waits; 0: no limit" },
	FLAG("discardWhenFull", OPTION_PRODUCER, discard_when_full, "a full queue drops the message"),
	FLAG("discardIfNoConsumers", OPTION_PRODUCER, discard_if_none,
	    "drops the message when no route consumes"),
	FLAG("failIfNoConsumers", OPTION_PRODUCER, fail_if_none, "fails when no route consumes"),
	{ .name = "pollTimeout",
	    .type = OPTION_INT,
	    .dflt = "1000",
	    .flags = OPTION_CONSUMER | OPTION_LABEL,
	    .offset = AT(label_number),
	    .help = "without meaning here: nothing is polled" },
	{ .name = "browseLimit",
	    .type = OPTION_INT,
	    .dflt = "100",
	    .flags = OPTION_LABEL,
	    .offset = AT(label_number),
	    .help = "without meaning here" },
	FLAG("lazyStartProducer", OPTION_PRODUCER | OPTION_LABEL, labels, "without meaning here"),
	FLAG("virtualThreadPerTask", OPTION_CONSUMER | OPTION_LABEL, labels,
	    "without meaning here: there are no threads"),
	OPTIONS_END,
};

static int
seda_check(struct compile *c, struct endpoint *ep)
{
	const struct seda_conf *conf = ep->conf;

	if (conf->limits && conf->concurrent > 500)
		return compile_error(c, ep->at,
		    "concurrentConsumers: at most 500, unless limitConcurrentConsumers=false");
	if (conf->block_when_full && conf->discard_when_full)
		return compile_error(
		    c, ep->at, "blockWhenFull: cannot be together with discardWhenFull");
	if (conf->discard_if_none && conf->fail_if_none)
		return compile_error(
		    c, ep->at, "discardIfNoConsumers: cannot be together with failIfNoConsumers");
	return 0;
}

const struct component_desc seda_component = {
	.scheme = "seda",
	.syntax = "seda:name",
	.options = options,
	.conf_size = sizeof(struct seda_conf),
	.owner = "flow",
	.flags = COMPONENT_CONSUMER | COMPONENT_PRODUCER | COMPONENT_UNIQUE | COMPONENT_POLLED |
	    COMPONENT_TAKES,
	.check = seda_check,
	.help = "a queue in memory: the sender goes on while another route works on the message",
};

const struct component_desc stub_component = {
	.scheme = "stub",
	.syntax = "stub:name",
	.options = options,
	.conf_size = sizeof(struct seda_conf),
	.owner = "flow",
	.flags =
	    COMPONENT_CONSUMER | COMPONENT_PRODUCER | COMPONENT_UNIQUE | COMPONENT_LENIENT | COMPONENT_POLLED,
	.check = seda_check,
	.help = "stands for any other endpoint, whose options it takes without a word: a queue as seda's",
};
