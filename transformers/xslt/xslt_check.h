/*
 * What libxslt finds out only when it comes there: names in a compiled stylesheet that nobody has.
 * Within the folder.
 */
#ifndef HINNY_TRANSFORMERS_XSLT_CHECK_H
#define HINNY_TRANSFORMERS_XSLT_CHECK_H

#include "core/base/error.h"

#include <libxslt/xsltInternals.h>

/*
 * Looks through the stylesheet and what it includes and imports for prefixes that are not declared,
 * variables, templates and functions that are nowhere defined, and instructions that are not XSLT
 * 1.0 and have no xsl:fallback. Functions and instructions are let pass in a stylesheet that asks
 * what there is (function-available() and the like). HINNY_EINVAL: the first of them, with its
 * line.
 */
enum hinny_rc xslt_check(xsltStylesheetPtr style, struct hinny_error *err);

#endif
