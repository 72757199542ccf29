/* The tables of roots.h. Where only a help stands (templates, beans), the parts that read them
 * check their keys. */
#include "core/config/roots.h"

#include "core/base/assert.h"

#include <stddef.h>

#define AT(m) offsetof(struct route_conf, m)

static const struct option_desc route_options[] = {
	{ .name = "id",
	    .type = OPTION_STRING,
	    .offset = AT(id),
	    .help = "name of the route; default: route1, route2 …" },
	{ .name = "description",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = AT(description),
	    .help = "what it is for" },
	{ .name = "group",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = AT(group),
	    .help = "what it belongs to" },
	{ .name = "note",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = AT(note),
	    .help = "a remark" },
	{ .name = "autoStartup",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(auto_startup),
	    .help = "does it take in work from the start" },
	{ .name = "startupOrder",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = INT32_MAX,
	    .flags = OPTION_LABEL,
	    .offset = AT(startup_order),
	    .help = "without meaning here: all routes are there before the first takes in work" },
	{ .name = "nodePrefixId",
	    .type = OPTION_STRING,
	    .offset = AT(prefix),
	    .help = "stands in front of the ids of its steps" },
	{ .name = "precondition",
	    .type = OPTION_STRING,
	    .offset = AT(precondition),
	    .help = "a predicate in Simple, evaluated at load: when it does not hold there is no "
		    "such route" },
	{ .name = "routeConfigurationId",
	    .type = OPTION_STRING,
	    .offset = AT(configurations),
	    .help = "the routeConfigurations that it is in, with commas" },
	{ .name = "streamCache",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_LABEL,
	    .offset = AT(stream_cache),
	    .help = "without meaning here: a body that is read twice is kept" },
	{ .name = "messageHistory",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(message_history),
	    .help = "without meaning here: no history is printed with a failure" },
	{ .name = "shutdownRoute",
	    .type = OPTION_ENUM,
	    .values = "Default|Defer",
	    .dflt = "Default",
	    .flags = OPTION_LABEL,
	    .offset = AT(shutdown_route),
	    .help =
		"without meaning here: all sources stop first, then what they began is finished" },
	{ .name = "shutdownRunningTask",
	    .type = OPTION_ENUM,
	    .values = "CompleteCurrentTaskOnly|CompleteAllTasks",
	    .dflt = "CompleteCurrentTaskOnly",
	    .flags = OPTION_LABEL,
	    .offset = AT(shutdown_task),
	    .help = "without meaning here: what was begun is finished" },
	{ .name = "logMask",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(log_mask),
	    .help = "what its log steps write is masked: values of passwords, tokens and the like" },
	{ .name = "trace",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(trace),
	    .help = "false: steps are not logged; true is refused" },
	OPTIONS_END
};

#undef AT
#define AT(m) offsetof(struct from_conf, m)

static const struct option_desc from_options[] = { { .name = "id",
						       .type = OPTION_STRING,
						       .flags = OPTION_LABEL,
						       .offset = AT(id),
						       .help = "its name" },
	{ .name = "description",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = AT(description),
	    .help = "what it is for" },
	{ .name = "note",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = AT(note),
	    .help = "a remark" },
	{ .name = "variableReceive",
	    .type = OPTION_STRING,
	    .offset = AT(variable),
	    .help = "variable that gets the message; the route begins with an empty body" },
	OPTIONS_END };

#undef AT
#define AT(m) offsetof(struct configuration_conf, m)

static const struct option_desc configuration_options[] = {
	{ .name = "id",
	    .type = OPTION_STRING,
	    .offset = AT(id),
	    .help = "what routes name it by; without: it holds for those that name none" },
	{ .name = "description",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = AT(description),
	    .help = "what it is for" },
	{ .name = "note",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = AT(note),
	    .help = "a remark" },
	{ .name = "precondition",
	    .type = OPTION_STRING,
	    .offset = AT(precondition),
	    .help = "a predicate in Simple, evaluated at load: when it does not hold there is no "
		    "such configuration" },
	OPTIONS_END,
};

const struct root_desc route_root = {
	.name = "route", .options = route_options, .more = "from errorHandler", .help = "a route"
};
const struct root_desc from_root = { .name = "from",
	.options = from_options,
	.more = "uri parameters steps",
	.help = "where the messages of a route come from, and its steps; alone it is a route" };
const struct root_desc configuration_root = { .name = "routeConfiguration",
	.options = configuration_options,
	.more = "errorHandler onException onCompletion intercept interceptFrom "
		"interceptSendToEndpoint",
	.help = "handlers of errors and interceptors for routes of all files" };
static const struct root_desc template_root = { .name = "routeTemplate",
	.more = "id description note parameters beans from route",
	.help = "a route with parameters, {{name}} in it; made by templatedRoute or kamelet:ID" };
static const struct root_desc templated_root = { .name = "templatedRoute",
	.more = "routeTemplateRef routeId prefixId group parameters beans",
	.help = "makes a route of a routeTemplate" };
static const struct root_desc beans_root = { .name = "beans",
	.more = "name type properties",
	.help = "beans of the classes that are built in, by name" };

static const struct root_desc *const roots[] = { &beans_root, &from_root, &route_root,
	&configuration_root, &template_root, &templated_root };

const struct root_desc *
root_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		if (str_eq(name, str_of(roots[i]->name)))
			return roots[i];
	}
	return NULL;
}

const struct root_desc *const *
root_all(size_t *n)
{
	*n = ARRAY_LEN(roots);
	return roots;
}
