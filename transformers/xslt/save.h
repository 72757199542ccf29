/* Within libxslt's engine: the result tree as xsl:output wants it. */
#ifndef HINNY_TRANSFORMERS_XSLT_SAVE_H
#define HINNY_TRANSFORMERS_XSLT_SAVE_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>

#include <libxml/encoding.h>
#include <libxslt/xsltInternals.h>

enum xslt_method { XSLT_METHOD_UNSET, XSLT_METHOD_XML, XSLT_METHOD_HTML, XSLT_METHOD_TEXT };

/* xsl:output of a stylesheet and what it imports, looked up once. */
struct xslt_output_rules {
	enum xslt_method method;
	const char *encoding; /* as written; NULL: none, UTF-8 then */
	bool utf8;
	bool indent, indent_given;
	bool omit_declaration;
	int standalone; /* -1: not given */
	const char *version;
	xmlCharEncodingHandlerPtr
	    keeps; /* of an encoding that is not UTF-8: keeps loaded what iconv needs for it */
};

/* HINNY_EINVAL: an encoding or method that we do not have. */
enum hinny_rc xslt_rules_read(
    struct xslt_output_rules *rules, xsltStylesheetPtr style, struct hinny_error *err);
void xslt_rules_fini(struct xslt_output_rules *rules);
/* Appends the serialised result to b. HINNY_ELIMIT: b is full. */
enum hinny_rc xslt_save(const struct xslt_output_rules *rules, xmlDocPtr result, struct buf *b);

#endif
