/* variable: the value of a variable of the exchange, or null. */
#include "core/lang/small.h"

#include "core/config/compile.h"
#include "core/eip/variables.h"

static int
variable_compile(struct compile *c, struct expression *e)
{
	struct str name = str_of(e->text);
	if (name.n == 0)
		return compile_error(c, e->at, "a name is missing");
	if (variables_is_shared(name)) {
		e->reads.flags |= ACCESS_STATE;
		variables_use(c);
		return variables_check(c, e->at, "variable", name);
	}
	access_add_variable(c, &e->reads, e->text);
	return 0;
}

static enum eval_rc
variable_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	if (variables_is_shared(str_of(e->text)))
		return variables_get(ex, str_of(e->text), out);
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
