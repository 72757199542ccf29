/*
 * wireTap: sends a copy of the message to an endpoint, and goes on at once. What becomes of the
 * copy does not concern the message: a failure is logged.
 */
#include "core/config/compile.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct wire_tap_conf, m)

static int
wire_tap_check(struct compile *c, struct step *st)
{
	struct wire_tap_conf *conf = st->conf;
	const struct expression *uri = conf->uri_template;
	int rc = 0;
	/* the endpoint is sent to by a step of its own, wherever that runs */
	conf->send = compile_send(c, st, st->endpoint, uri ? uri->text : NULL);
	if (uri && !conf->dynamic_uri)
		rc = compile_error(c, st->at,
		    "dynamicUri: \"false\" does not go with \"${\" in the uri of wireTap");
	if (conf->send) {
		struct to_conf *to = conf->send->conf;
		to->ignore_invalid = conf->ignore_invalid;
		to->allowed_schemes = conf->allowed_schemes;
	}
	if (names_send_variable(c, st, conf->variable_send) != 0)
		rc = -1;
	st->endpoint = NULL;
	conf->uri_template = NULL;
	st->reads.flags |= ACCESS_ALL;
	return conf->send ? rc : -1;
}

static void
tap_done(struct exchange *tap)
{
	const struct step *st = tap->owner;
	const struct exception *e = tap->exception;
	struct engine *en = tap->engine;
	if (e) {
		const char *text = arena_printf(&tap->arena,
		    "Error occurred during processing of wireTap %s, which is ignored: %s%s%.*s",
		    st->id, exception_class(e->id)->name, e->message.n ? ": " : "",
		    STR_FMT(e->message));
		en->ops->log(
		    en, LOG_LEVEL_WARNING, st->route ? st->route->id : "", str_of(text), tap);
	}
	engine_child_free(&tap);
}

static void
prepare(struct exchange *tap, const struct wire_tap_conf *conf)
{
	const struct value *v = conf->variable_send
	    ? exchange_variable(tap, str_of(conf->variable_send))
	    : NULL;
	if (conf->variable_send)
		exchange_set_body(tap, v ? *v : value_null());
	if (conf->copy)
		return;
	exchange_set_body(tap, value_null());
	headers_clear(&tap->headers);
	value_map_clear(&tap->properties);
	value_map_clear(&tap->variables);
}

static enum step_rc
wire_tap_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct wire_tap_conf *conf = st->conf;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	if (!engine_child_allowed(ex))
		return STEP_FAILED;
	struct exchange *tap = engine_child_new(ex, true);
	tap->pattern = PATTERN_IN_ONLY;
	prepare(tap, conf);
	tap->owner = (void *)st;
	tap->done = tap_done;
	engine_start_child(tap, conf->send, 1, false);
	return STEP_DONE;
}

static const struct option_desc options[] = {
	{ .name = "uri",
	    .type = OPTION_URI,
	    .flags = OPTION_REQUIRED | OPTION_PRODUCER | OPTION_TEMPLATE,
	    .offset = AT(uri_template),
	    .help =
		"endpoint to send the copy to; a Simple text that is evaluated for each message" },
	{ .name = "copy",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(copy),
	    .help = "the tap gets a copy; false: an empty message" },
	{ .name = "variableSend",
	    .type = OPTION_STRING,
	    .offset = AT(variable_send),
	    .help = "variable to send as the body" },
	{ .name = "ignoreInvalidEndpoint",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(ignore_invalid),
	    .help = "nothing is logged when there is no such endpoint" },
	{ .name = "allowedSchemes",
	    .type = OPTION_STRING,
	    .offset = AT(allowed_schemes),
	    .help = "the schemes that may be named, with commas; default: all" },
	{ .name = "dynamicUri",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(dynamic_uri),
	    .help = "the uri is a Simple text" },
	DYNAMIC_ENDPOINT_OPTIONS,
	OPTIONS_END,
};

const struct eip_desc wireTap_eip = {
	.name = "wireTap",
	.flags = EIP_EFFECT | EIP_TAKES,
	.options = options,
	.conf_size = sizeof(struct wire_tap_conf),
	.check = wire_tap_check,
	.run = wire_tap_run,
	.help = "sends a copy of the message to an endpoint and goes on at once",
};
