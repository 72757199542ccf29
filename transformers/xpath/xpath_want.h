/*
 * What an expression of the xpath language asks for, read from its conf. Apart from the rest of the
 * folder since the names of core/lang/xpath.h and those of libxml2's xpath.h cannot stand in one
 * file.
 */
#ifndef HINNY_TRANSFORMERS_XPATH_WANT_H
#define HINNY_TRANSFORMERS_XPATH_WANT_H

#include "core/lang/source.h"
#include "core/model/program.h"

enum xpath_want { WANT_NODES, WANT_NODE, WANT_LIST, WANT_NUMBER, WANT_TEXT, WANT_TRUTH };

/* resultQName, else what fits resultType (a List: each node by itself, for split); a predicate wants a truth. */
enum xpath_want xpath_want_of(const struct expression *e);
/* Is the result type a number without NaN? */
bool xpath_want_integer(const struct expression *e);
const struct pairs *xpath_namespaces_of(const struct expression *e);
const struct source *xpath_source_of(const struct expression *e);

#endif
