/*
 * recipientList: sends copies of the message to the endpoints that an expression names. All names
 * are looked up before anything is sent.
 */
#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/eip/fan_out.h"
#include "core/eip/recipients.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct recipient_list_conf, m)
#define PROPERTY "CamelRecipientListEndpoint"

static int
recipient_list_check(struct compile *c, struct step *st)
{
	struct recipient_list_conf *conf = st->conf;
	conf->send = compile_send(c, st, NULL, "${exchangeProperty." PROPERTY "}");
	return fan_out_check(c, st, &conf->fan_out) | (conf->send ? 0 : -1);
}

static void
recipient_branch(const struct fan_out *fo, struct exchange *child, uint32_t i, struct branch *out)
{
	const struct recipient_list_conf *conf = fo->st->conf;
	const struct recipients *rs = fo->source;
	struct value uri = value_str(rs->uris[i]);
	exchange_set_property(
	    child, STR_LIT(PROPERTY), child->detached ? value_share(&child->arena, &uri) : uri);
	exchange_set_property(child, STR_LIT("CamelMulticastIndex"), value_int(i));
	exchange_set_property(
	    child, STR_LIT("CamelMulticastComplete"), value_bool(i + 1 == fo->total));
	*out = (struct branch){ conf->send, 1 };
}

static const struct fan_out_ops recipient_ops = { .branch = recipient_branch };

static enum step_rc
recipient_list_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct recipient_list_conf *conf = st->conf;
	struct recipients *rs;
	struct value v;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	switch (expression_eval(st->expr, ex, &v)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	rs = recipients_of(ex, &v, conf->delimiter);
	if (!recipients_find(en, ex, st, rs, conf->allowed_schemes, conf->ignore_invalid))
		return STEP_FAILED;
	return fan_out_run(ex, st, &conf->fan_out, AGGREGATION_LATEST, &recipient_ops, rs, rs->n);
}

static const struct option_desc options[] = {
	FAN_OUT_OPTIONS(AT(fan_out)),
	{ .name = "delimiter",
	    .type = OPTION_STRING,
	    .dflt = ",",
	    .offset = AT(delimiter),
	    .help = "stands between the endpoints; false: there is one" },
	{ .name = "ignoreInvalidEndpoints",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(ignore_invalid),
	    .help = "what names no endpoint is left out" },
	{ .name = "allowedSchemes",
	    .type = OPTION_STRING,
	    .offset = AT(allowed_schemes),
	    .help = "the schemes that may be named, with commas; default: all" },
	{ .name = "cacheSize",
	    .type = OPTION_INT,
	    .dflt = "1000",
	    .flags = OPTION_LABEL,
	    .min = -1,
	    .max = INT32_MAX,
	    .offset = AT(cache_size),
	    .help = "without meaning here: a worker has one bounded cache of endpoints" },
	OPTIONS_END,
};

const struct eip_desc recipientList_eip = {
	.name = "recipientList",
	.flags = EIP_EXPRESSION | EIP_EFFECT,
	.options = options,
	.conf_size = sizeof(struct recipient_list_conf),
	.check = recipient_list_check,
	.run = recipient_list_run,
	.help = "sends copies of the message to the endpoints that an expression names",
};
