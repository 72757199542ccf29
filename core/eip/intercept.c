/*
 * intercept, interceptFrom: the compiler puts a copy of the step before each step of a route, or
 * before the first. interceptSendToEndpoint: `to` and toD ask for it (intercept_find) before they
 * send.
 */
#include "core/eip/intercept.h"

#include "core/config/compile.h"
#include "core/eip/engine_priv.h"
#include "core/model/headers.h"

#include <stddef.h>

#define AT(m) offsetof(struct intercept_conf, m)

static int
intercept_check(struct compile *c, struct step *st)
{
	struct intercept_conf *conf = st->conf;
	struct hinny_error err;
	access_add_property(c, &st->writes, "CamelInterceptedEndpoint");
	access_add_property(c, &st->writes, "CamelInterceptedNodeId");
	access_add_property(c, &st->writes, "CamelInterceptedRouteId");
	if (conf->uri &&
	    pattern_compile(compile_arena(c), str_of(conf->uri), true, &conf->pattern, &err) !=
		HINNY_OK)
		return compile_error(c, st->at, "uri: %s", err.text);
	if (st->block.first == NULL)
		return compile_error(
		    c, st->at, "steps: %s needs at least one step", st->eip->name);
	return 0;
}

static int
intercept_send_check(struct compile *c, struct step *st)
{
	struct intercept_conf *conf = st->conf;
	if (conf->after_uri) {
		struct step *send = compile_send(c, st, conf->after_uri, NULL);
		if (send == NULL)
			return -1;
		conf->after = (struct block){ send, 1 };
		st->endpoint = NULL; /* its block sends there */
	}
	return intercept_check(c, st);
}

enum eval_rc
intercept_test(const struct step *interceptor, struct exchange *ex, bool *out)
{
	const struct intercept_conf *conf = interceptor->conf;
	*out = true;
	return conf->on_when ? engine_test(conf->on_when, ex, out) : EVAL_OK;
}

const struct step *const *
intercept_find(const struct exchange *ex, const struct endpoint *ep, const struct step *const *from)
{
	const struct route *route = ex->route;
	if (route == NULL || route->interceptors_n == 0 || ex->top->kind == ACTIVATION_STEPS)
		return NULL;
	const struct step *const *end = route->interceptors + route->interceptors_n;
	for (const struct step *const *at = from ? from : route->interceptors; at < end; at++) {
		const struct intercept_conf *conf = (*at)->conf;
		if (endpoint_matches(conf->pattern, ep))
			return at;
	}
	return NULL;
}

/* A copy that the compiler has put into a route. */
static enum step_rc
intercept_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct intercept_conf *conf = st->conf;
	bool from = st->eip->scope == SCOPE_INTERCEPT_FROM, yes;
	(void)en;
	if (from && ex->route && !endpoint_matches(conf->pattern, ex->route->from))
		return STEP_DONE;
	switch (intercept_test(st, ex, &yes)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	if (!yes)
		return STEP_DONE;
	if (ex->route) {
		exchange_set_property(
		    ex, STR_LIT("CamelInterceptedRouteId"), value_str(str_of(ex->route->id)));
		const struct route *came = ex->from_route ? ex->from_route : ex->route;
		exchange_set_property(ex, STR_LIT("CamelInterceptedEndpoint"),
		    value_str(str_of(came->from->key)));
	}
	if (!from && st->next)
		exchange_set_property(
		    ex, STR_LIT("CamelInterceptedNodeId"), value_str(str_of(st->next->id)));
	return engine_enter(ex, st, &st->block, 0, NULL);
}

#define ON_WHEN                                                                                    \
	{                                                                                          \
		.name = "onWhen", .type = OPTION_PREDICATE, .offset = AT(on_when),                 \
		.help = "must hold as well"                                                        \
	}

static const struct option_desc intercept_options[] = { ON_WHEN, OPTIONS_END };

const struct eip_desc intercept_eip = {
	.name = "intercept",
	.flags = EIP_STEPS | EIP_ROOT | EIP_ROUTE_HEAD,
	.scope = SCOPE_INTERCEPT,
	.options = intercept_options,
	.conf_size = sizeof(struct intercept_conf),
	.check = intercept_check,
	.run = intercept_run,
	.help = "steps that run before each step of a route",
};

static const struct option_desc from_options[] = {
	{ .name = "uri",
	    .type = OPTION_STRING,
	    .flags = OPTION_MAIN,
	    .offset = AT(uri),
	    .help = "of which routes: the uri of their from; exact, with a * behind, or a regular "
		    "expression" },
	ON_WHEN,
	OPTIONS_END,
};

const struct eip_desc interceptFrom_eip = {
	.name = "interceptFrom",
	.flags = EIP_STEPS | EIP_ROOT | EIP_ROUTE_HEAD,
	.scope = SCOPE_INTERCEPT_FROM,
	.options = from_options,
	.conf_size = sizeof(struct intercept_conf),
	.check = intercept_check,
	.run = intercept_run,
	.help = "steps that run when a message enters a route",
};

static const struct option_desc send_options[] = {
	{ .name = "uri",
	    .type = OPTION_STRING,
	    .flags = OPTION_MAIN | OPTION_REQUIRED,
	    .offset = AT(uri),
	    .help = "of which endpoints: exact, with a * behind, or a regular expression" },
	{ .name = "skipSendToOriginalEndpoint",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(skips),
	    .help = "the message is not sent to the endpoint itself" },
	{ .name = "afterUri",
	    .type = OPTION_URI,
	    .offset = AT(after_uri),
	    .help = "endpoint that gets the message when it has been sent to the endpoint itself" },
	ON_WHEN,
	OPTIONS_END,
};

const struct eip_desc interceptSendToEndpoint_eip = {
	.name = "interceptSendToEndpoint",
	.flags = EIP_STEPS | EIP_ROOT | EIP_ROUTE_HEAD,
	.scope = SCOPE_INTERCEPT_SEND,
	.options = send_options,
	.conf_size = sizeof(struct intercept_conf),
	.check = intercept_send_check,
	.run = intercept_run,
	.help = "steps that run before a message is sent to an endpoint",
};
