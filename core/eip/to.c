/*
 * to, toD: sends the message to an endpoint. A direct endpoint is a subroutine of the same program,
 * others are the worker's.
 *
 * With variableSend, variableReceive or pattern, part of the message is put aside during the send:
 * the step then enters an empty block above which the send runs, and that ends when the send has.
 */
#include "core/config/compile.h"
#include "core/eip/aside.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine.h"
#include "core/eip/intercept.h"
#include "core/eip/recipients.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct to_conf, m)

/* activation.n */
enum { IN_SEND, IN_INTERCEPTOR, IN_BEFORE_AFTER };

/* activation.state of IN_INTERCEPTOR, and of IN_BEFORE_AFTER beneath it: there is an afterUri */
struct intercepted {
	struct endpoint *ep;
	const struct step *const *at; /* in the list of the route */
	bool skipped;
};

static int
to_check(struct compile *c, struct step *st)
{
	struct to_conf *conf = st->conf;
	if (st->endpoint == NULL)
		st->endpoint = conf->endpoint;
	access_add_property(c, &st->writes, "CamelToEndpoint");
	if (conf->variable_send)
		access_add_variable(c, &st->reads, conf->variable_send);
	if (conf->variable_receive)
		st->writes.flags |= ACCESS_VARIABLES_ALL;
	if (names_send_variable(c, st, conf->variable_send) != 0)
		return -1;
	return names_receive_variable(c, st, conf->variable_receive);
}

/* Must the body be collected before it can be sent to ep? */
static bool
needs_body(const struct exchange *ex, const struct step *st, const struct endpoint *ep)
{
	if (ex->body.type != VALUE_STREAM || ep->target ||
	    (ep->component->flags & COMPONENT_READS_NO_BODY))
		return false;
	return !(st->body_once && (ep->component->flags & COMPONENT_STREAM_IN));
}

static void
put_aside(struct exchange *ex, const struct to_conf *conf, struct aside *as)
{
	aside_keep(ex, as, conf->variable_receive != NULL);
	if (conf->variable_send) {
		const struct value *v = exchange_variable(ex, str_of(conf->variable_send));
		ex->body = v
		    ? *v
		    : value_null(); /* not exchange_set_body: a stream that is put aside lives on */
		ex->dirty |= DIRTY_BODY;
	}
	if (conf->pattern)
		ex->pattern = conf->pattern == 1 ? PATTERN_IN_ONLY : PATTERN_IN_OUT;
}

static enum step_rc
send_to(struct engine *en, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct to_conf *conf = st->conf;
	if (needs_body(ex, st, ep) && conf->variable_send == NULL)
		return engine_need_body(ex);
	bool wraps = conf->variable_send || conf->variable_receive || conf->pattern;
	if (wraps) {
		if (conf->variable_receive && ex->body.type == VALUE_STREAM)
			return engine_need_body(ex);
		struct aside *as = arena_zalloc(&ex->arena, sizeof(*as));
		(void)engine_enter(ex, st, NULL, 0, as);
		put_aside(ex, conf, as);
	}
	if (!ep->unseen)
		exchange_set_property(
		    ex, STR_LIT("CamelToEndpoint"), value_str(str_of(endpoint_name(ep))));
	enum step_rc rc =
	    ep->target ? engine_enter_route(ex, st, ep->target) : en->ops->send(en, ex, st, ep);
	return wraps && rc == STEP_DONE ? STEP_ENTER : rc;
}

/* To ep, behind the interceptors from `from` on (NULL: all) that take it. */
static enum step_rc
intercept_or_send(struct engine *en, struct exchange *ex, const struct step *st,
    struct endpoint *ep, const struct step *const *from)
{
	const struct step *const *at = intercept_find(ex, ep, from);
	if (at && !ep->unseen)
		exchange_set_property(
		    ex, STR_LIT("CamelToEndpoint"), value_str(str_of(endpoint_name(ep))));
	for (; at; at = intercept_find(ex, ep, at + 1)) {
		bool yes;
		enum eval_rc rc = intercept_test(*at, ex, &yes);
		if (rc != EVAL_OK)
			return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
		if (!yes)
			continue;
		struct intercepted *in = arena_alloc(&ex->arena, sizeof(*in));
		*in = (struct intercepted){ ep, at, false };
		exchange_set_property(
		    ex, STR_LIT("CamelInterceptedEndpoint"), value_str(str_of(endpoint_name(ep))));
		exchange_set_property(
		    ex, STR_LIT("CamelInterceptedRouteId"), value_str(str_of(ex->route->id)));
		if (((const struct intercept_conf *)(*at)->conf)->after.n > 0)
			(void)engine_enter(ex, st, NULL, IN_BEFORE_AFTER, in);
		return engine_enter(ex, st, &(*at)->block, IN_INTERCEPTOR, in);
	}
	return send_to(en, ex, st, ep);
}

static enum step_rc
to_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	return intercept_or_send(en, ex, st, st->endpoint, NULL);
}

static enum step_rc
to_d_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct to_conf *conf = st->conf;
	if (st->endpoint)
		return intercept_or_send(en, ex, st, st->endpoint, NULL);
	struct recipient to;
	enum step_rc rc = recipient_named(
	    en, ex, st, conf->uri_template, conf->allowed_schemes, conf->ignore_invalid, &to);
	if (rc != STEP_DONE || to.ep == NULL)
		return rc;
	return intercept_or_send(en, ex, st, to.ep, NULL);
}

/* An interceptor has ended. */
static enum step_rc
after_interceptor(
    struct engine *en, struct exchange *ex, const struct step *st, struct intercepted *in)
{
	const struct intercept_conf *conf = (*in->at)->conf;
	in->skipped = conf->skips;
	return conf->skips ? STEP_DONE : intercept_or_send(en, ex, st, in->ep, in->at + 1);
}

/* The send that was intercepted has ended: to the afterUri. */
static enum step_rc
send_after(struct exchange *ex, const struct step *st, const struct intercepted *in)
{
	const struct intercept_conf *conf = (*in->at)->conf;
	return in->skipped ? STEP_DONE : engine_enter(ex, st, &conf->after, IN_SEND, NULL);
}

/* The send has ended (act has what was put aside), or a called route has (it has nothing). */
static enum step_rc
to_after(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	const struct to_conf *conf = st->conf;
	if (act->n == IN_INTERCEPTOR)
		return after_interceptor(en, ex, st, act->state);
	if (act->n == IN_BEFORE_AFTER)
		return send_after(ex, st, act->state);
	if (act->state == NULL)
		return STEP_DONE;
	if (conf->variable_receive && ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	if (conf->variable_receive)
		aside_receive(ex, ex, conf->variable_receive);
	aside_return(ex, act->state);
	return STEP_DONE;
}

static enum step_rc
to_caught(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)en;
	(void)st;
	if (act->state && act->n == IN_SEND)
		aside_return(ex, act->state);
	return STEP_FAILED;
}

/* What to and toD share. */
/* clang-format off */
#define SEND_OPTIONS \
	{ .name = "pattern", \
	    .type = OPTION_ENUM, \
	    .values = "|InOnly|InOut", \
	    .offset = AT(pattern), \
	    .help = "exchange pattern during the send" }, \
	{ .name = "variableSend", \
	    .type = OPTION_STRING, \
	    .offset = AT(variable_send), \
	    .help = "variable to send as the body" }, \
	{ .name = "variableReceive", \
	    .type = OPTION_STRING, \
	    .offset = AT(variable_receive), \
	    .help = "variable that gets the answer; the message stays as it is" }
/* clang-format on */

static const struct option_desc to_options[] = {
	{ .name = "uri",
	    .type = OPTION_URI,
	    .flags = OPTION_REQUIRED | OPTION_MAIN | OPTION_PRODUCER,
	    .offset = AT(endpoint),
	    .help = "endpoint to send to" },
	SEND_OPTIONS,
	OPTIONS_END,
};

const struct eip_desc to_eip = {
	.name = "to",
	.flags = EIP_EFFECT,
	.options = to_options,
	.conf_size = sizeof(struct to_conf),
	.check = to_check,
	.run = to_run,
	.after = to_after,
	.caught = to_caught,
	.help = "sends the message to an endpoint",
};

static const struct option_desc to_d_options[] = {
	{ .name = "uri",
	    .type = OPTION_URI,
	    .flags = OPTION_REQUIRED | OPTION_MAIN | OPTION_PRODUCER | OPTION_TEMPLATE,
	    .offset = AT(uri_template),
	    .help = "endpoint to send to; a Simple text that is evaluated for each message" },
	SEND_OPTIONS,
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

const struct eip_desc toD_eip = {
	.name = "toD",
	.flags = EIP_EFFECT,
	.options = to_d_options,
	.conf_size = sizeof(struct to_conf),
	.check = to_check,
	.run = to_d_run,
	.after = to_after,
	.caught = to_caught,
	.help = "sends the message to an endpoint that a Simple text names",
};

/* ---- kamelet: a send to a route that was made of a Kamelet ---- */

#undef AT
#define AT(m) offsetof(struct kamelet_step_conf, m)

struct kamelet_step_conf {
	struct to_conf to;
	const char *name;
	struct pairs parameters;
};

static int
kamelet_check(struct compile *c, struct step *st)
{
	struct kamelet_step_conf *conf = st->conf;
	const char *uri = arena_printf(compile_arena(c), "kamelet:%s", conf->name);
	conf->to.endpoint = compile_endpoint(c, uri, false, st->at);
	return conf->to.endpoint ? to_check(c, st) : -1;
}

static const struct option_desc kamelet_options[] = {
	{ .name = "name",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_MAIN,
	    .offset = AT(name),
	    .help = "name of the Kamelet or routeTemplate, with parameters behind \"?\" if need be" },
	{ .name = "parameters",
	    .type = OPTION_PAIRS,
	    .offset = AT(parameters),
	    .help = "values of its parameters" },
	OPTIONS_END,
};

const struct eip_desc kamelet_eip = {
	.name = "kamelet",
	.flags = EIP_EFFECT | EIP_STEPS,
	.options = kamelet_options,
	.conf_size = sizeof(struct kamelet_step_conf),
	.check = kamelet_check,
	.run = to_run,
	.after = to_after,
	.caught = to_caught,
	.help = "sends the message through a Kamelet; its steps run where that sends to kamelet:sink",
};
