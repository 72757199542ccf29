/*
 * The engine behind `xslt`. There is one, libxslt; a compiled one of our own will stand beside it,
 * so nothing outside of an engine's file knows how a stylesheet is kept or a document read.
 */
#ifndef HINNY_TRANSFORMERS_XSLT_PRIV_H
#define HINNY_TRANSFORMERS_XSLT_PRIV_H

#include "core/model/exchange.h"
#include "transformers/xml/xml.h"

#include <stdbool.h>

enum xslt_rc {
	XSLT_DONE,
	XSLT_EXCEPTION, /* ex->exception is set: the document is no XML, or too large */
	XSLT_STOPPED,   /* xsl:message terminate="yes": result.why is its text */
	XSLT_FAILED,    /* at run time: result.why */
	XSLT_TOO_LARGE, /* the result passes limits.max_output */
};

struct xslt_result {
	bool utf8; /* xml.out holds UTF-8; else bytes in the encoding of xsl:output */
	char why[HINNY_ERROR_TEXT];
};

struct xslt_engine_ops {
	const char *name;
	/* Before READY: compiles the stylesheet at url (below the generation's folder:
	 * "/order.xsl"); *sheet is the engine's, read-only from there on. HINNY_EINVAL: err has the
	 * line of the stylesheet. */
	enum hinny_rc (*compile)(
	    struct xml *x, const char *url, void **sheet, struct hinny_error *err);
	/* Transforms v, or an empty document when it is NULL; the result lies in x->out. Blocks for
	 * as long as it takes. */
	enum xslt_rc (*transform)(struct xml *x, void *sheet, struct exchange *ex,
	    const struct value *v, struct xslt_result *result);
	void (*free)(void *sheet);
};

extern const struct xslt_engine_ops xslt_libxslt;

#endif
