/* ref: an expression that is a bean. There is no Java here, and so no such bean: every name is as
 * unknown as Camel says it is. */
#include "core/lang/small.h"

#include "core/config/compile.h"

static int
ref_compile(struct compile *c, struct expression *e)
{
	return compile_error(c, e->at,
	    "Cannot find expression or predicate in registry with ref: %s (there are no beans that are "
	    "expressions: write it here, in simple, jsonpath, jq or xpath)",
	    e->text);
}

static enum eval_rc
ref_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	(void)out;
	exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "no expression %s", e->text);
	return EVAL_ERROR;
}

const struct language_desc ref_language = {
	.name = "ref",
	.compile = ref_compile,
	.eval = ref_eval,
	.help = "an expression that is a bean: always refused, as there are none",
};
