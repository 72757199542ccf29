/*
 * enrich: sends a copy of the message to an endpoint, and takes its answer into the message. The
 * failure of the copy is that of the step.
 */
#include "core/config/compile.h"
#include "core/eip/aggregation.h"
#include "core/eip/aside.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine.h"
#include "core/eip/recipients.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct enrich_conf, m)
#define PROPERTY "CamelToEndpoint"

static int
enrich_check(struct compile *c, struct step *st)
{
	struct enrich_conf *conf = st->conf;
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	conf->send = compile_send(c, st, NULL, "${exchangeProperty." PROPERTY "}");
	if (names_send_variable(c, st, conf->variable_send) != 0 ||
	    names_receive_variable(c, st, conf->variable_receive) != 0)
		return -1;
	return conf->send ? 0 : -1;
}

static void
orphan_done(struct exchange *child)
{
	engine_child_free(&child);
}

static void
aborted(void *arg)
{
	struct exchange *child = arg;
	child->done = orphan_done;
	child->parent = NULL;
	engine_abort(child, EXCEPTION_REJECTED_EXECUTION, "the exchange was aborted");
}

static void
answer(struct exchange *child)
{
	struct exchange *ex = child->parent;
	const struct step *st = child->owner;
	const struct enrich_conf *conf = st->conf;
	bool keeps = aggregation_keeps_original(conf->strategy);
	struct exception *e =
	    child->exception ? exception_share(&ex->arena, child->exception) : NULL;
	bool failed_over = child->failed_over;
	engine_on_abort(ex, NULL, NULL);
	if (e == NULL && conf->variable_receive)
		aside_receive(ex, child, conf->variable_receive);
	else if (!keeps && e == NULL)
		engine_take_result(ex, child);
	engine_child_free(&child);
	if (e == NULL || (keeps && conf->on_exception)) {
		engine_resume(ex);
		return;
	}
	ex->exception = e;
	ex->failed_over = failed_over;
	engine_fail(ex);
}

static enum step_rc
enrich_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct enrich_conf *conf = st->conf;
	struct recipient to;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	enum step_rc rc = recipient_named(
	    en, ex, st, st->expr, conf->allowed_schemes, conf->ignore_invalid, &to);
	if (rc != STEP_DONE || to.ep == NULL)
		return rc;
	if (!engine_child_allowed(ex))
		return STEP_FAILED;
	struct exchange *child = engine_child_new(ex, false);
	child->pattern = PATTERN_IN_OUT;
	if (conf->variable_send) {
		const struct value *v = exchange_variable(ex, str_of(conf->variable_send));
		exchange_set_body(child, v ? *v : value_null());
	}
	child->owner = (void *)st;
	child->done = answer;
	exchange_set_property(child, STR_LIT(PROPERTY), value_str(to.uri));
	engine_on_abort(ex, aborted, child);
	engine_start_child(child, conf->send, 1, false);
	return STEP_PENDING;
}

static const struct option_desc options[] = {
	{ .name = "aggregationStrategy",
	    .type = OPTION_BEAN,
	    .values = "AggregationStrategy",
	    .offset = AT(strategy),
	    .help = "what the answer is put into the message by; default: its body and headers "
		    "take the place of the message's" },
	{ .name = "aggregateOnException",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(on_exception),
	    .help = "the strategy takes a failure as well" },
	{ .name = "variableSend",
	    .type = OPTION_STRING,
	    .offset = AT(variable_send),
	    .help = "variable to send as the body" },
	{ .name = "variableReceive",
	    .type = OPTION_STRING,
	    .offset = AT(variable_receive),
	    .help = "variable that gets the answer; the message stays as it is" },
	{ .name = "shareUnitOfWork",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(share_unit_of_work),
	    .help = "without meaning here: the failure of the answer is that of the step always" },
	{ .name = "ignoreInvalidEndpoint",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(ignore_invalid),
	    .help = "go on when there is no such endpoint" },
	{ .name = "allowedSchemes",
	    .type = OPTION_STRING,
	    .offset = AT(allowed_schemes),
	    .help = "the schemes that may be named, with commas; default: all" },
	DYNAMIC_ENDPOINT_OPTIONS,
	OPTIONS_END,
};

const struct eip_desc enrich_eip = {
	.name = "enrich",
	.flags = EIP_EXPRESSION | EIP_EFFECT,
	.options = options,
	.conf_size = sizeof(struct enrich_conf),
	.check = enrich_check,
	.run = enrich_run,
	.help = "takes the answer of an endpoint into the message",
};
