/* The functions that an expression can call without a prefix, for what is checked at load. */
#ifndef HINNY_TRANSFORMERS_XML_FUNCTIONS_H
#define HINNY_TRANSFORMERS_XML_FUNCTIONS_H

#include "core/base/str.h"

#include <stdbool.h>

struct xml_function {
	const char *name;
	int least, most; /* arguments */
	bool xslt;       /* not of XPath itself */
};

/* NULL: there is none of that name. */
const struct xml_function *xml_function_find(struct str name, bool xslt);
/* The name most like it, or NULL. */
const char *xml_function_nearest(struct str name);
/* Can a call have the arguments that follow at p, which is at its "("? True too when its ")" is
 * missing, of which the compiler knows. */
bool xml_function_takes(const struct xml_function *f, const char *p);
/* Is the "|" at p without what it joins? libxml2 lets that pass. */
bool xml_union_is_open(const char *p);

#endif
