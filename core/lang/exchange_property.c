/* exchangeProperty: the value of an exchange property, or null. */
#include "core/lang/small.h"

#include "core/config/compile.h"

static int
property_compile(struct compile *c, struct expression *e)
{
	if (e->text[0] == '\0')
		return compile_error(c, e->at, "a name is missing");
	access_add_property(c, &e->reads, e->text);
	return 0;
}

static enum eval_rc
property_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct value *found = exchange_property(ex, str_of(e->text));
	*out = found != NULL ? *found : value_null();
	return EVAL_OK;
}

const struct language_desc exchangeProperty_language = {
	.name = "exchangeProperty",
	.compile = property_compile,
	.eval = property_eval,
	.help = "the value of an exchange property, or null",
};
