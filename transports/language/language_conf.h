/* What the options of language fill. */
#ifndef HINNY_TRANSPORTS_LANGUAGE_LANGUAGE_CONF_H
#define HINNY_TRANSPORTS_LANGUAGE_LANGUAGE_CONF_H

#include "core/model/program.h"

struct language_endpoint_conf {
	const char *name, *resource, *script;
	int result_type; /* enum value_class_id */
	bool transform;
	bool content_cache, cache_script, lazy_start;           /* without meaning here */
	bool binary, allow_template_from_header, allow_context; /* refused when true */
	struct expression *e;
};

#endif
