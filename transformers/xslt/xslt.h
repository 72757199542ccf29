/*
 * The xslt component: `to: xslt:file:order.xsl`. The transformation runs in hinny-xform; for
 * output=file the home writes the file (xslt_home.c).
 */
#ifndef HINNY_TRANSFORMERS_XSLT_H
#define HINNY_TRANSFORMERS_XSLT_H

#include "core/lang/source.h"
#include "core/model/descriptor.h"

#include <stdbool.h>

enum xslt_output { XSLT_OUTPUT_STRING, XSLT_OUTPUT_BYTES, XSLT_OUTPUT_DOM, XSLT_OUTPUT_FILE };

struct xslt_conf {
	const char *resource_uri; /* as written */
	const char *copy;         /* of the stylesheet, below the generation's folder */
	const char *source_text;  /* NULL: the body */
	struct source source;     /* source_text, parsed */
	int output;               /* enum xslt_output */
	bool fail_on_null_body;
	bool content_cache;
	bool delete_output_file;
	bool template_from_header;
	int64_t cache_size;
	int64_t op_limit;
	bool lazy_start;
};

extern const struct component_desc xslt_component;

/* hinny-xform: compiles in prepare, transforms in send. The home's side is xslt_home.h. */
extern const struct component_ops xslt_ops;

#endif
