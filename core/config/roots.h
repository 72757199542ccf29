/*
 * What stands at the root of a route file and is no step: route, from, routeConfiguration,
 * routeTemplate, templatedRoute, beans. Their options, for parsing and for `hinny doc`.
 */
#ifndef HINNY_CONFIG_ROOTS_H
#define HINNY_CONFIG_ROOTS_H

#include "core/base/str.h"
#include "core/model/descriptor.h"

struct route_conf {
	const char *id, *description, *group, *note;
	const char *configurations;
	const char *prefix;       /* nodePrefixId */
	const char *precondition; /* evaluated before (preconditions.c) */
	int64_t startup_order;
	bool auto_startup;
	/* accepted */
	bool message_history, stream_cache;
	int shutdown_route, shutdown_task;
	/* refused when true */
	bool log_mask, trace;
};
struct from_conf {
	const char *id, *description, *note;
	const char *variable; /* variableReceive */
};
struct configuration_conf {
	const char *id, *description, *note, *precondition;
};

struct root_desc {
	const char *name;
	const struct option_desc *options;
	const char *more; /* what it takes beside its options, apart by blanks */
	const char *help;
};

extern const struct root_desc route_root, from_root, configuration_root;

const struct root_desc *root_find(struct str name);
const struct root_desc *const *root_all(size_t *n);

#endif
