/*
 * poll, pollEnrich: receive one message from an endpoint. Its body takes the place of the message's,
 * and is null when none came in time; its headers are added.
 *
 * The component's worker waits for the message, for a while: no call may take for ever. Where the
 * step may wait for longer its home asks again. An empty block is entered above which the receiving
 * runs, and whose end looks at what has come.
 */
#include "core/config/compile.h"
#include "core/eip/aggregation.h"
#include "core/eip/aside.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine_priv.h"
#include "core/eip/recipients.h"
#include "core/eip/steps.h"

#include <stddef.h>

enum { POLL_ONCE_MS = 1000 }; /* of one question */

#define AT(m) offsetof(struct poll_conf, m)

/* activation.state */
struct polling {
	struct aside before;
	struct endpoint *ep;
	int64_t asked_at_ms, asked_ms; /* the question that runs */
	int64_t until_ms;              /* INT64_MAX: no end */
};

static bool
keeps_original(const struct poll_conf *conf)
{
	return aggregation_keeps_original(conf->strategy);
}

static int
poll_check(struct compile *c, struct step *st)
{
	struct poll_conf *conf = st->conf;
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	if (conf->endpoint)
		st->expr = compile_expression(c, "constant", conf->endpoint->uri, false, st->at);
	else if (names_constant(st->expr) && !conf->ignore_invalid &&
	    compile_polled(c, names_constant(st->expr), st->expr->at) == NULL)
		return -1;
	return names_receive_variable(c, st, conf->variable_receive);
}

/* Asks for a message; the rest of the time is told to the worker that waits for it. */
static enum step_rc
ask(struct engine *en, struct exchange *ex, const struct step *st, struct polling *pl)
{
	int64_t now = en->ops->now_ms(en), left = pl->until_ms - now;
	if (pl->until_ms == INT64_MAX)
		left = INT64_MAX;
	pl->asked_at_ms = now;
	pl->asked_ms = left < 0 ? 0 : left < POLL_ONCE_MS ? left : POLL_ONCE_MS;
	exchange_set_property(ex, STR_LIT(POLL_PROPERTY), value_int(pl->asked_ms));
	enum step_rc rc = en->ops->send(en, ex, st, pl->ep);
	return rc == STEP_DONE ? STEP_ENTER : rc;
}

/* In the empty block from here on. */
static enum step_rc
begin(struct engine *en, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct poll_conf *conf = st->conf;
	struct polling *pl = arena_zalloc(&ex->arena, sizeof(*pl));
	pl->ep = ep;
	pl->until_ms = conf->timeout_ms < 0 ? INT64_MAX : en->ops->now_ms(en) + conf->timeout_ms;
	(void)engine_enter(ex, st, NULL, 0, pl);
	aside_keep(ex, &pl->before, conf->variable_receive || keeps_original(conf));
	return ask(en, ex, st, pl);
}

static enum step_rc
poll_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct poll_conf *conf = st->conf;
	struct recipient from;

	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	enum step_rc rc = recipient_named(
	    en, ex, st, st->expr, conf->allowed_schemes, conf->ignore_invalid, &from);
	if (rc != STEP_DONE || from.ep == NULL)
		return rc;
	struct endpoint *ep = from.ep;
	exchange_set_property(ex, STR_LIT("CamelToEndpoint"), value_str(str_of(endpoint_name(ep))));
	if (ex->top->kind == ACTIVATION_STEPS) /* asked by the home */
		return en->ops->send(en, ex, st, ep);
	return begin(en, ex, st, ep);
}

/* Has none come, and is there time for another question? */
static bool
is_late(struct engine *en, const struct exchange *ex, const struct polling *pl)
{
	int64_t now = en->ops->now_ms(en);
	return value_is_null(&ex->body) && now - pl->asked_at_ms >= pl->asked_ms &&
	    pl->until_ms > now;
}

static enum step_rc
poll_after(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	const struct poll_conf *conf = st->conf;
	struct polling *pl = act->state;
	if (is_late(en, ex, pl)) {
		(void)engine_enter(ex, st, NULL, 0, pl);
		return ask(en, ex, st, pl);
	}
	exchange_set_property(ex, STR_LIT(POLL_PROPERTY), value_null());
	if (conf->variable_receive)
		aside_receive(ex, ex, conf->variable_receive);
	if (pl->before.message)
		aside_return(ex, &pl->before);
	return STEP_DONE;
}

static enum step_rc
poll_caught(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	const struct poll_conf *conf = st->conf;
	struct polling *pl = act->state;
	(void)en;
	exchange_set_property(ex, STR_LIT(POLL_PROPERTY), value_null());
	if (pl->before.message)
		aside_return(ex, &pl->before);
	if (!conf->on_exception || !keeps_original(conf))
		return STEP_FAILED;
	ex->exception = NULL;
	return STEP_DONE;
}

static const struct option_desc poll_options[] = {
	{ .name = "uri",
	    .type = OPTION_URI,
	    .flags = OPTION_REQUIRED | OPTION_MAIN | OPTION_CONSUMER,
	    .offset = AT(endpoint),
	    .help = "endpoint to receive from" },
	{ .name = "timeout",
	    .type = OPTION_DURATION,
	    .dflt = "20000",
	    .min = -1,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(timeout_ms),
	    .help = "how long to wait for a message; 0: not at all; -1: for ever" },
	{ .name = "variableReceive",
	    .type = OPTION_STRING,
	    .offset = AT(variable_receive),
	    .help = "variable that gets what was received; the message stays as it is" },
	OPTIONS_END,
};

const struct eip_desc poll_eip = {
	.name = "poll",
	.flags = EIP_EFFECT | EIP_POLL,
	.options = poll_options,
	.conf_size = sizeof(struct poll_conf),
	.check = poll_check,
	.run = poll_run,
	.after = poll_after,
	.caught = poll_caught,
	.help = "receives one message from an endpoint, such as a queue or a folder",
};

static const struct option_desc enrich_options[] = {
	{ .name = "timeout",
	    .type = OPTION_DURATION,
	    .dflt = "-1",
	    .min = -1,
	    .max = INT64_MAX / 1000000,
	    .offset = AT(timeout_ms),
	    .help = "how long to wait for a message; 0: not at all; -1: for ever" },
	{ .name = "aggregationStrategy",
	    .type = OPTION_BEAN,
	    .values = "AggregationStrategy",
	    .offset = AT(strategy),
	    .help = "what is received is put into the message by; default: its body takes the "
		    "place of the message's, its headers are added" },
	{ .name = "aggregateOnException",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(on_exception),
	    .help = "the strategy takes a failure as well" },
	{ .name = "variableReceive",
	    .type = OPTION_STRING,
	    .offset = AT(variable_receive),
	    .help = "variable that gets what was received; the message stays as it is" },
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

const struct eip_desc pollEnrich_eip = {
	.name = "pollEnrich",
	.flags = EIP_EXPRESSION | EIP_EFFECT | EIP_POLL,
	.options = enrich_options,
	.conf_size = sizeof(struct poll_conf),
	.check = poll_check,
	.run = poll_run,
	.after = poll_after,
	.caught = poll_caught,
	.help = "takes a message that an endpoint gives, such as a file, into the message",
};
