/*
 * pollEnrich: receives one message from an endpoint. Its body takes the place of the message's, and
 * is null when none came in time; its headers are added.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct poll_conf, m)

static int
poll_check(struct compile *c, struct step *st)
{
	(void)c;
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	return 0;
}

static enum step_rc
poll_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct poll_conf *conf = st->conf;
	struct str uri;

	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	switch (expression_text(st->expr, ex, &uri, NULL)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	uri = str_trim(uri);
	if (uri.n == 0)
		return STEP_DONE;
	struct endpoint *ep = en->ops->endpoint(en, ex, st, uri);
	if (ep == NULL && conf->ignore_invalid) {
		ex->exception = NULL;
		return STEP_DONE;
	}
	if (ep == NULL)
		return STEP_FAILED;
	exchange_set_property(ex, STR_LIT("CamelToEndpoint"), value_str(str_of(ep->key)));
	return en->ops->send(en, ex, st, ep);
}

static const struct option_desc options[] = {
	{ .name = "timeout",
	    .type = OPTION_DURATION,
	    .dflt = "-1",
	    .min = -1,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(timeout_ms),
	    .help = "how long to wait for a message; 0: not at all; -1: as long as a call may take" },
	{ .name = "ignoreInvalidEndpoint",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(ignore_invalid),
	    .help = "go on when there is no such endpoint" },
	DYNAMIC_ENDPOINT_OPTIONS,
	OPTIONS_END,
};

const struct eip_desc pollEnrich_eip = {
	.name = "pollEnrich",
	.flags = EIP_EXPRESSION | EIP_EFFECT | EIP_POLL,
	.options = options,
	.conf_size = sizeof(struct poll_conf),
	.check = poll_check,
	.run = poll_run,
	.help = "takes a message that an endpoint gives, such as a file, into the message",
};
