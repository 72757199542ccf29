/*
 * marshal, unmarshal: the body, or a variable, through a data format. The result becomes the body,
 * or with variableReceive a variable, and what headers it brings then become header:NAME.HEADER.
 */
#include "core/config/compile.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"
#include "core/model/format.h"

#include <stddef.h>

#define AT(m) offsetof(struct marshal_conf, m)

static int
marshal_check(struct compile *c, struct step *st)
{
	const struct marshal_conf *conf = st->conf;

	if (conf->variable_send != NULL)
		access_add_variable(c, &st->reads, conf->variable_send);
	else
		st->reads.flags |= ACCESS_BODY;
	if (conf->variable_receive != NULL) {
		st->writes.flags |= ACCESS_VARIABLES_ALL;
	} else {
		st->writes.flags |= ACCESS_BODY;
		access_merge(c, &st->writes, &st->format->writes);
	}
	if (names_send_variable(c, st, conf->variable_send) != 0)
		return -1;
	return names_receive_variable(c, st, conf->variable_receive);
}

static void
put_result(struct exchange *ex, const struct marshal_conf *conf, const struct format_result *result)
{
	const char *variable = conf->variable_receive;

	if (variable != NULL)
		exchange_set_variable(ex, str_of(variable), result->value);
	else
		exchange_set_body(ex, result->value);
	for (unsigned i = 0; i < result->headers_n; i++) {
		const struct format_header *h = &result->headers[i];
		if (variable == NULL)
			exchange_set_header(ex, h->name, h->value);
		else
			exchange_set_variable(ex,
			    str_of(arena_printf(&ex->arena, "header:%s.%.*s", variable,
				STR_FMT(h->name))),
			    h->value);
	}
}

/* What to work on; false: the body must be collected first. */
static bool
take_source(struct exchange *ex, const struct marshal_conf *conf, struct value *in)
{
	if (conf->variable_send == NULL) {
		*in = ex->body;
		return in->type != VALUE_STREAM;
	}
	const struct value *v = exchange_variable(ex, str_of(conf->variable_send));
	*in = v != NULL ? *v : value_null();
	return true;
}

static enum step_rc
marshal_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct format_result result = { .headers_n = 0 };
	struct value in;
	(void)en;

	if (!take_source(ex, st->conf, &in))
		return engine_need_body(ex);
	if (!st->format->desc->marshal(st->format, ex, &in, &result))
		return STEP_FAILED;
	put_result(ex, st->conf, &result);
	return STEP_DONE;
}

static enum step_rc
unmarshal_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct marshal_conf *conf = st->conf;
	struct format_result result = { .headers_n = 0 };
	struct value in;
	(void)en;

	if (!take_source(ex, conf, &in))
		return engine_need_body(ex);
	if (value_is_null(&in) && conf->allow_null_body)
		result.value = value_null();
	else if (!st->format->desc->unmarshal(st->format, ex, &in, &result))
		return STEP_FAILED;
	put_result(ex, conf, &result);
	return STEP_DONE;
}

/* clang-format off */
#define MARSHAL_OPTIONS \
	{ .name = "variableSend", \
	    .type = OPTION_STRING, \
	    .offset = AT(variable_send), \
	    .help = "variable to work on, in place of the body" }, \
	{ .name = "variableReceive", \
	    .type = OPTION_STRING, \
	    .offset = AT(variable_receive), \
	    .help = "variable that gets the result; the message stays as it is" }
/* clang-format on */

static const struct option_desc marshal_options[] = { MARSHAL_OPTIONS, OPTIONS_END };

static const struct option_desc unmarshal_options[] = {
	MARSHAL_OPTIONS,
	{ .name = "allowNullBody",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(allow_null_body),
	    .help = "null stays null, and is no error" },
	OPTIONS_END,
};

const struct eip_desc marshal_eip = {
	.name = "marshal",
	.flags = EIP_FORMAT | EIP_PLAIN,
	.options = marshal_options,
	.conf_size = sizeof(struct marshal_conf),
	.check = marshal_check,
	.run = marshal_run,
	.help = "writes the body as text of a data format",
};

const struct eip_desc unmarshal_eip = {
	.name = "unmarshal",
	.flags = EIP_FORMAT | EIP_PLAIN,
	.options = unmarshal_options,
	.conf_size = sizeof(struct marshal_conf),
	.check = marshal_check,
	.run = unmarshal_run,
	.help = "reads the body, text of a data format",
};
