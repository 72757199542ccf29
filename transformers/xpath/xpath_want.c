/* Reads struct xpath_conf: see xpath_want.h. */
#include "transformers/xpath/xpath_want.h"

#include "core/lang/xpath.h"

enum xpath_want
xpath_want_of(const struct expression *e)
{
	static const enum xpath_want given[] = {
		[XPATH_NODESET] = WANT_NODES,
		[XPATH_NUMBER] = WANT_NUMBER,
		[XPATH_STRING] = WANT_TEXT,
		[XPATH_BOOLEAN] = WANT_TRUTH,
		[XPATH_NODE] = WANT_NODE,
	};
	const struct xpath_conf *conf = e->conf;

	if (e->predicate)
		return WANT_TRUTH;
	if (conf->result_given)
		return given[conf->result];
	if (xpath_want_integer(e))
		return WANT_NUMBER;
	switch (e->result_type) {
	case CLASS_DOUBLE:
	case CLASS_FLOAT:
	case CLASS_BIG_DECIMAL:
		return WANT_NUMBER;
	case CLASS_STRING:
		return WANT_TEXT;
	case CLASS_BOOLEAN:
		return WANT_TRUTH;
	case CLASS_NODE:
		return WANT_NODE;
	case CLASS_LIST:
		return WANT_LIST;
	default:
		return WANT_NODES;
	}
}

bool
xpath_want_integer(const struct expression *e)
{
	switch (e->result_type) {
	case CLASS_INTEGER:
	case CLASS_LONG:
	case CLASS_SHORT:
	case CLASS_BYTE:
	case CLASS_BIG_INTEGER:
		return true;
	default:
		return false;
	}
}

const struct pairs *
xpath_namespaces_of(const struct expression *e)
{
	const struct xpath_conf *conf = e->conf;

	return &conf->namespaces;
}

const struct source *
xpath_source_of(const struct expression *e)
{
	const struct xpath_conf *conf = e->conf;

	return &conf->source;
}
