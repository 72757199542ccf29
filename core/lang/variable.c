/* variable: the value of a variable of the exchange, or null. */
#include "core/lang/small.h"

#include "core/config/compile.h"

static int
variable_compile(struct compile *c, struct expression *e)
{
	struct str name = str_of(e->text);
	if (name.n == 0)
		return compile_error(c, e->at, "a name is missing");
	if (str_starts(name, "global:") || str_starts(name, "route:"))
		return compile_error(c, e->at,
		    "variables of other scopes are not available in this release, got "
		    "\"%s\"",
		    e->text);
	access_add_variable(c, &e->reads, e->text);
	return 0;
}

static enum eval_rc
variable_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct value *found = exchange_variable(ex, str_of(e->text));
	*out = found != NULL ? *found : value_null();
	return EVAL_OK;
}

const struct language_desc variable_language = {
	.name = "variable",
	.compile = variable_compile,
	.eval = variable_eval,
	.help = "the value of a variable, or null",
};
