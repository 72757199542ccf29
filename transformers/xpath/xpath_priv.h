/* Within the folder: a prepared expression, and its parts. */
#ifndef HINNY_TRANSFORMERS_XPATH_PRIV_H
#define HINNY_TRANSFORMERS_XPATH_PRIV_H

#include "core/model/program.h"
#include "transformers/xml/xml.h"
#include "transformers/xpath/xpath_want.h"

#include <libxml/xpath.h>

/* expression.impl */
struct xpath_code {
	struct xml *xml;
	const struct program *program;
	xmlXPathCompExprPtr compiled; /* lives as long as the process */
	xmlNsPtr *namespaces;         /* borrowed by the XPath context for each evaluation */
	int namespaces_n;
	enum xpath_want want;
};

/* Checks the names in the text of an expression: each prefix is declared in ns, each function
 * exists. libxml2 would find out only when it comes there. */
enum hinny_rc xpath_check_names(
    const char *text, xmlNsPtr const *ns, int ns_n, struct hinny_error *err);

extern const char xpath_ns_in[], xpath_ns_out[], xpath_ns_function[];

/* Once a process: variables and functions of the context that all expressions share. */
void xpath_functions_register(struct xml *x);
/* A value as an XPath object: a number, a truth or a text. */
xmlXPathObjectPtr xpath_object(struct exchange *ex, const struct value *v);

#endif
