/* The validator component: `to: validator:file:order.xsd`. Runs in hinny-xform; the body stays as
 * it was. */
#ifndef HINNY_TRANSFORMERS_VALIDATOR_H
#define HINNY_TRANSFORMERS_VALIDATOR_H

#include "core/model/descriptor.h"

#include <stdbool.h>

struct validator_conf {
	const char *resource_uri; /* as written */
	const char *copy;         /* of the schema, below the generation's folder */
	const char *header_name;  /* NULL: the body is validated */
	const char *schema_language;
	bool fail_on_null_body, fail_on_null_header;
	bool shared_schema, lazy_start;
};

extern const struct component_desc validator_component;
extern const struct component_ops validator_ops; /* hinny-xform */

#endif
