/*
 * Finds what a stylesheet or schema names: by the shape of its tags alone, since the supervisor
 * runs no XML parser. What it overlooks is not copied, and then the worker that compiles the file
 * says so; what it takes for a name and is none costs an error here, so it looks at the elements of
 * the two namespaces only.
 */
#ifndef HINNY_CONFIG_COPY_SCAN_H
#define HINNY_CONFIG_COPY_SCAN_H

#include "core/base/str.h"

#include <stdbool.h>

struct copy_reference {
	struct str href; /* as written; entities are not resolved */
	unsigned line;
};

typedef void copy_reference_fn(void *arg, struct copy_reference ref);

/* Calls fn for each href of xsl:include, xsl:import, schemaLocation of xs:include, xs:import,
 * xs:redefine and each document('literal'). *computed: there is a document() of which only the
 * message knows what it opens. Any bytes will do. */
void copy_scan(struct str text, copy_reference_fn *fn, void *arg, bool *computed);

#endif
