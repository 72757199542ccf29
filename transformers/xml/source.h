/*
 * Where a transformer takes its document from: the option `source` of xslt, xpath and xtokenize: "body", "header:NAME", "exchangeProperty:NAME",
 * "property:NAME", "variable:NAME". Inline and free of libraries, since descriptors use it too.
 */
#ifndef HINNY_TRANSFORMERS_XML_SOURCE_H
#define HINNY_TRANSFORMERS_XML_SOURCE_H

#include "core/model/exchange.h"

static inline bool
xml_source_cut(struct str *s, const char *prefix)
{
	size_t n = strlen(prefix);
	if (!str_starts(*s, prefix) || s->n == n)
		return false;
	s->p += n;
	s->n -= n;
	return true;
}

/* Is it a source that xml_source_find knows? */
static inline bool
xml_source_valid(struct str s)
{
	return str_eq(s, STR_LIT("body")) || xml_source_cut(&s, "header:") || xml_source_cut(&s, "exchangeProperty:") ||
	       xml_source_cut(&s, "property:") || xml_source_cut(&s, "variable:");
}

/* The value, borrowed from the exchange; NULL when there is no header, property or variable of that name. source NULL: the body. */
static inline struct value *
xml_source_find(struct exchange *ex, const char *source)
{
	struct str s = str_of(source);
	if (!source || str_eq(s, STR_LIT("body")))
		return &ex->body;
	if (xml_source_cut(&s, "header:"))
		return exchange_header(ex, s);
	if (xml_source_cut(&s, "exchangeProperty:") || xml_source_cut(&s, "property:"))
		return exchange_property(ex, s);
	return xml_source_cut(&s, "variable:") ? exchange_variable(ex, s) : NULL;
}

#endif
