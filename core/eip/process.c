/*
 * process: a processor by name. Those of Camel are Java; here are the few that are built in, as
 * the public Kamelets use them.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"

#include <stddef.h>

struct process_conf {
	const struct bean *ref;
};

struct header_deserializer_conf {
	bool enabled;
};

static int
process_check(struct compile *c, struct step *st)
{
	(void)c;
	st->reads.flags |= ACCESS_HEADERS_ALL;
	st->writes.flags |= ACCESS_HEADERS_ALL;
	return 0;
}

/* Every header becomes a text (camel-kafka, KafkaHeaderDeserializer). */
static void
deserialize_headers(struct exchange *ex)
{
	HEADERS_FOREACH (&ex->headers, h) {
		if (h->value.type == VALUE_NULL || h->value.type == VALUE_STRING ||
		    str_caseeq(h->name, STR_LIT("kafka.HEADERS")))
			continue;
		h->value = value_str(value_text(&ex->arena, &h->value));
		ex->dirty |= DIRTY_HEADERS;
	}
}

static enum step_rc
process_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct process_conf *conf = st->conf;
	const struct header_deserializer_conf *deserializer = conf->ref->conf;

	if (deserializer->enabled)
		deserialize_headers(ex);
	return STEP_DONE;
}

static const struct option_desc deserializer_options[] = {
	{ .name = "enabled",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = offsetof(struct header_deserializer_conf, enabled),
	    .help = "false: leaves the headers alone" },
	OPTIONS_END,
};

const struct bean_class KafkaHeaderDeserializer_bean = {
	.name = "org.apache.camel.component.kafka.KafkaHeaderDeserializer",
	.role = "Processor",
	.options = deserializer_options,
	.conf_size = sizeof(struct header_deserializer_conf),
	.help = "makes every header a text",
};

static const struct option_desc options[] = {
	{ .name = "ref",
	    .type = OPTION_BEAN,
	    .values = "Processor",
	    .flags = OPTION_REQUIRED | OPTION_MAIN,
	    .offset = offsetof(struct process_conf, ref),
	    .help = "a bean whose class is a processor that is built in" },
	OPTIONS_END,
};

const struct eip_desc process_eip = {
	.name = "process",
	.flags = EIP_PLAIN,
	.options = options,
	.conf_size = sizeof(struct process_conf),
	.check = process_check,
	.run = process_run,
	.help = "runs one of the built-in processors on the message",
};
