/*
 * routingSlip, dynamicRouter: send the message to one endpoint after another, each getting what the
 * one before left. The slip is read once; the router asks its expression again after each, until it
 * names none.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/recipients.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct slip_conf, m)
#define PROPERTY "CamelSlipEndpoint"

extern const struct eip_desc dynamicRouter_eip;

static int
slip_check(struct compile *c, struct step *st)
{
	struct slip_conf *conf = st->conf;
	conf->asks_again = st->eip == &dynamicRouter_eip;
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	struct step *send = compile_send(c, st, NULL, "${exchangeProperty." PROPERTY "}");
	conf->send = (struct block){ send, send ? 1 : 0 };
	return send ? 0 : -1;
}

/* What the expression names now. */
static enum eval_rc
read_slip(struct exchange *ex, const struct step *st, struct recipients **out)
{
	const struct slip_conf *conf = st->conf;
	struct value v;
	enum eval_rc rc = expression_eval(st->expr, ex, &v);
	if (rc == EVAL_OK)
		*out = recipients_of(ex, &v, conf->delimiter);
	return rc;
}

/* To endpoint i, or the next one that there is. */
static enum step_rc
send_from(struct engine *en, struct exchange *ex, const struct step *st, struct recipients *rs,
    uint32_t i)
{
	const struct slip_conf *conf = st->conf;
	for (; i < rs->n; i++) {
		const struct endpoint *ep =
		    recipient_find(en, ex, st, rs->uris[i], conf->allowed_schemes);
		if (ep) {
			struct str name = recipient_name(en, ex, st, ep, rs->uris[i]);
			exchange_set_property(ex, STR_LIT(PROPERTY), value_str(name));
			return engine_enter(ex, st, &conf->send, i, rs);
		}
		if (!conf->ignore_invalid)
			return STEP_FAILED;
		ex->exception = NULL;
	}
	return STEP_DONE;
}

static enum step_rc
slip_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct recipients *rs;
	switch (read_slip(ex, st, &rs)) {
	case EVAL_OK:
		return send_from(en, ex, st, rs, 0);
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	return STEP_FAILED;
}

static enum step_rc
slip_after(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	const struct slip_conf *conf = st->conf;
	struct recipients *rs = act->state;
	uint32_t i = act->n + 1;
	if (i >= rs->n && conf->asks_again) {
		if (ex->body.type == VALUE_STREAM && (st->expr->reads.flags & ACCESS_BODY))
			return engine_need_body(ex);
		enum eval_rc rc = read_slip(ex, st, &rs);
		if (rc != EVAL_OK)
			return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
		i = 0;
	}
	return send_from(en, ex, st, rs, i);
}

static const struct option_desc options[] = {
	{ .name = "uriDelimiter",
	    .type = OPTION_STRING,
	    .dflt = ",",
	    .offset = AT(delimiter),
	    .help = "stands between the endpoints" },
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

const struct eip_desc routingSlip_eip = {
	.name = "routingSlip",
	.flags = EIP_EXPRESSION | EIP_EFFECT,
	.options = options,
	.conf_size = sizeof(struct slip_conf),
	.check = slip_check,
	.run = slip_run,
	.after = slip_after,
	.help = "sends the message to endpoints that an expression names, one after another",
};

const struct eip_desc dynamicRouter_eip = {
	.name = "dynamicRouter",
	.flags = EIP_EXPRESSION | EIP_EFFECT,
	.options = options,
	.conf_size = sizeof(struct slip_conf),
	.check = slip_check,
	.run = slip_run,
	.after = slip_after,
	.help =
	    "sends the message to the endpoint that an expression names, again and again until it "
	    "names none",
};
