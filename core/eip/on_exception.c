/*
 * onException and its redeliveryPolicy: descriptors. The step never runs as one: the compiler puts
 * it into route.handlers, and the engine's error handler (engine_errors.c) works by its options and
 * runs its block.
 */
#include "core/eip/on_exception.h"

#include "core/config/compile.h"
#include "core/model/program.h"

#include <stddef.h>
#include <string.h>

#define AT(m) offsetof(struct on_exception_conf, m)
#define AT_POLICY(m) offsetof(struct redelivery_conf, m)

static int
on_exception_check(struct compile *c, struct step *st)
{
	static const char *const written[] = { "CamelExceptionCaught", "CamelFailureEndpoint",
		"CamelFailureRouteId" };
	const struct on_exception_conf *conf = st->conf;
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		access_add_property(c, &st->writes, written[i]);
	access_add_header(c, &st->writes, "CamelRedelivered");
	access_add_header(c, &st->writes, "CamelRedeliveryCounter");
	access_add_header(c, &st->writes, "CamelRedeliveryMaxCounter");
	if (conf->use_original_body || conf->use_original_message) {
		st->reads.flags |=
		    ACCESS_BODY | (conf->use_original_message ? ACCESS_HEADERS_ALL : 0);
		st->writes.flags |=
		    ACCESS_BODY | (conf->use_original_message ? ACCESS_HEADERS_ALL : 0);
	}
	if (conf->exception.n == 0)
		return compile_error(
		    c, st->at, "exception: at least one exception class is needed");
	if (conf->handled && conf->continued)
		return compile_error(c, st->at, "only one of handled and continued can be given");
	if (conf->use_original_body && conf->use_original_message)
		return compile_error(
		    c, st->at, "only one of useOriginalMessage and useOriginalBody can be given");
	return 0;
}

/* ---- redeliveryPolicy ---- */

/* "5:1000" to a group. */
static bool
parse_group(struct str text, struct delay_group *out)
{
	struct str from, delay = text;
	if (!str_split(&delay, ':', &from) || !str_to_int64(str_trim(from), &out->from) ||
	    out->from < 0)
		return false;
	return str_to_int64(str_trim(delay), &out->delay_ms) && out->delay_ms >= 0;
}

static int
parse_pattern(struct compile *c, struct step *st, struct redelivery_conf *conf)
{
	struct str rest = str_of(conf->delay_pattern), item;
	size_t n = 1;
	for (size_t i = 0; i < rest.n; i++)
		n += rest.p[i] == ';';
	conf->groups = arena_alloc(compile_arena(c), n * sizeof(conf->groups[0]));
	while (str_split(&rest, ';', &item)) {
		if (str_trim(item).n == 0)
			continue;
		struct delay_group *g = &conf->groups[conf->groups_n];
		if (!parse_group(item, g) || (conf->groups_n > 0 && g->from <= g[-1].from))
			return compile_error(c, st->at,
			    "delayPattern: expected \"limit:delay;limit:delay\" with rising "
			    "limits, such as \"0:1000;5:5000\", got \"%s\"",
			    conf->delay_pattern);
		conf->groups_n++;
	}
	return 0;
}

static int
redelivery_check(struct compile *c, struct step *st)
{
	struct redelivery_conf *conf = st->conf;
	if (conf->multiplier < 1)
		return compile_error(c, st->at,
		    "backOffMultiplier: expected a number of at least 1, got %g", conf->multiplier);
	if (conf->collision_factor < 0 || conf->collision_factor > 1)
		return compile_error(c, st->at,
		    "collisionAvoidanceFactor: expected a number from 0 to 1, got %g",
		    conf->collision_factor);
	return conf->delay_pattern ? parse_pattern(c, st, conf) : 0;
}

static const struct option_desc redelivery_options[] = {
	{ .name = "maximumRedeliveries",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = -1,
	    .max = INT32_MAX,
	    .offset = AT_POLICY(maximum_redeliveries),
	    .help = "how often the failed step is tried again; -1: for ever" },
	{ .name = "redeliveryDelay",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .offset = AT_POLICY(redelivery_delay_ms),
	    .help = "time between tries" },
	{ .name = "useExponentialBackOff",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_POLICY(exponential),
	    .help = "each wait is backOffMultiplier times the last" },
	{ .name = "backOffMultiplier",
	    .type = OPTION_DOUBLE,
	    .dflt = "2.0",
	    .offset = AT_POLICY(multiplier),
	    .help = "for useExponentialBackOff" },
	{ .name = "maximumRedeliveryDelay",
	    .type = OPTION_DURATION,
	    .dflt = "60000",
	    .offset = AT_POLICY(maximum_delay_ms),
	    .help = "longest time between tries; 0: no bound" },
	{ .name = "useCollisionAvoidance",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_POLICY(collision_avoidance),
	    .help = "vary each wait at random" },
	{ .name = "collisionAvoidanceFactor",
	    .type = OPTION_DOUBLE,
	    .dflt = "0.15",
	    .offset = AT_POLICY(collision_factor),
	    .help = "by how much of it, at most" },
	{ .name = "delayPattern",
	    .type = OPTION_STRING,
	    .offset = AT_POLICY(delay_pattern),
	    .help = "waits by number of the try, such as \"0:1000;5:5000\"; in place of "
		    "redeliveryDelay" },
	{ .name = "disableRedelivery",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_POLICY(disable),
	    .help = "never try again" },
	{ .name = "retriesExhaustedLogLevel",
	    .type = OPTION_ENUM,
	    .dflt = "ERROR",
	    .values = LOG_LEVELS,
	    .offset = AT_POLICY(exhausted_level),
	    .help = "level of the line when the last try has failed" },
	{ .name = "retryAttemptedLogLevel",
	    .type = OPTION_ENUM,
	    .dflt = "DEBUG",
	    .values = LOG_LEVELS,
	    .offset = AT_POLICY(retry_level),
	    .help = "level of the line for each try" },
	{ .name = "retryAttemptedLogInterval",
	    .type = OPTION_INT,
	    .dflt = "1",
	    .min = 1,
	    .max = INT32_MAX,
	    .offset = AT_POLICY(retry_log_interval),
	    .help = "log every so many tries" },
	{ .name = "logRetryAttempted",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT_POLICY(log_retry),
	    .help = "log tries at all" },
	{ .name = "logExhausted",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT_POLICY(log_exhausted),
	    .help = "log failures that nobody handles" },
	{ .name = "logHandled",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_POLICY(log_handled),
	    .help = "log failures that are handled" },
	{ .name = "logContinued",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_POLICY(log_continued),
	    .help = "log failures after which the route goes on" },
	{ .name = "logNewException",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT_POLICY(log_new),
	    .help = "log an exception of the steps of onException" },
	{ .name = "logStackTrace",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_LABEL,
	    .offset = AT_POLICY(log_stack),
	    .help = "without meaning here: an exception has no stack" },
	{ .name = "logRetryStackTrace",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT_POLICY(log_retry_stack),
	    .help = "without meaning here: an exception has no stack" },
	{ .name = "allowRedeliveryWhileStopping",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT_POLICY(while_stopping),
	    .help = "try again also when the broker ends" },
	{ .name = "logExhaustedMessageHistory",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT_POLICY(log_history),
	    .help = "without meaning here: hinny trace shows the steps" },
	{ .name = "logExhaustedMessageBody",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT_POLICY(log_body),
	    .help = "without meaning here: no history is logged" },
	{ .name = "asyncDelayedRedelivery",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT_POLICY(async_delayed),
	    .help = "without meaning here: no thread waits" },
	OPTIONS_END,
};

const struct redelivery_conf redelivery_default = {
	.redelivery_delay_ms = 1000,
	.multiplier = 2,
	.maximum_delay_ms = 60000,
	.collision_factor = 0.15,
	.exhausted_level = ROUTE_LOG_ERROR,
	.retry_level = ROUTE_LOG_DEBUG,
	.retry_log_interval = 1,
	.log_retry = true,
	.log_exhausted = true,
	.log_new = true,
	.while_stopping = true,
};

static size_t
option_size(const struct option_desc *o)
{
	switch (o->type) {
	case OPTION_BOOL:
		return sizeof(bool);
	case OPTION_ENUM:
		return sizeof(int);
	case OPTION_DOUBLE:
		return sizeof(double);
	case OPTION_STRING:
		return sizeof(const char *);
	default:
		return sizeof(int64_t);
	}
}

static void
take_given(struct redelivery_conf *to, const struct redelivery_conf *from)
{
	for (const struct option_desc *o = redelivery_options; o->name; o++)
		if (option_given(redelivery_options, from, o->name))
			memcpy((char *)to + o->offset, (const char *)from + o->offset,
			    option_size(o));
	if (from->delay_pattern) {
		to->groups = from->groups;
		to->groups_n = from->groups_n;
	}
}

const struct redelivery_conf *
redelivery_inherit(struct arena *a, const struct step *handler, const struct step *error_handler)
{
	const struct on_exception_conf *conf = handler->conf;
	const struct on_exception_conf *outer = error_handler ? error_handler->conf : NULL;
	const struct redelivery_conf *parent = outer && outer->redelivery_policy
	    ? outer->redelivery_policy->conf
	    : &redelivery_default;
	struct redelivery_conf *policy = ARENA_NEW(a, struct redelivery_conf);
	*policy = *parent;
	if (conf->redelivery_policy)
		take_given(policy, conf->redelivery_policy->conf);
	else if (handler->block.first)
		policy->maximum_redeliveries = 0;
	return policy;
}

const struct eip_desc redeliveryPolicy_eip = {
	.name = "redeliveryPolicy",
	.flags = EIP_CHILD | EIP_NOT_A_STEP,
	.options = redelivery_options,
	.conf_size = sizeof(struct redelivery_conf),
	.check = redelivery_check,
	.help = "how often and when a failed step is tried again",
};

static const struct option_desc on_exception_options[] = {
	{ .name = "exception",
	    .type = OPTION_CLASSES,
	    .flags = OPTION_REQUIRED,
	    .offset = AT(exception),
	    .help = "exception classes" },
	{ .name = "onWhen",
	    .type = OPTION_PREDICATE,
	    .flags = OPTION_LABELLED,
	    .offset = AT(on_when),
	    .help = "must hold as well" },
	{ .name = "retryWhile",
	    .type = OPTION_PREDICATE,
	    .offset = AT(retry_while),
	    .help = "try again while it holds; in place of maximumRedeliveries" },
	{ .name = "redeliveryPolicy",
	    .type = OPTION_NODE,
	    .values = "redeliveryPolicy",
	    .offset = AT(redelivery_policy),
	    .help = "how often and when to try again" },
	{ .name = "handled",
	    .type = OPTION_PREDICATE,
	    .offset = AT(handled),
	    .help =
		"the exception is over when the steps have run; the message then is the reply" },
	{ .name = "continued",
	    .type = OPTION_PREDICATE,
	    .offset = AT(continued),
	    .help = "the route goes on behind the step that failed" },
	{ .name = "useOriginalMessage",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(use_original_message),
	    .help = "the steps start with the message as it came in" },
	{ .name = "useOriginalBody",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(use_original_body),
	    .help = "the steps start with the body as it came in" },
	OPTIONS_END,
};

const struct eip_desc onException_eip = {
	.name = "onException",
	.scope = SCOPE_EXCEPTION,
	.flags = EIP_ROOT | EIP_ROUTE_HEAD | EIP_STEPS,
	.options = on_exception_options,
	.conf_size = sizeof(struct on_exception_conf),
	.check = on_exception_check,
	.help = "steps for exceptions of some classes, with redelivery",
};
