/* constant: the text itself; resultType converts it, at load already so that a text which cannot be
 * converted is an error there. */
#include "core/lang/small.h"

#include "core/config/compile.h"

static int
constant_compile(struct compile *c, struct expression *e)
{
	struct value *v = ARENA_NEW(compile_arena(c), struct value);
	struct hinny_error err;
	*v = value_str(str_of(e->text));
	e->code = v;
	if (e->predicate || e->result_type == CLASS_NONE)
		return 0;
	struct value text = *v;
	if (value_convert(compile_arena(c), &text, e->result_type, v, &err) != HINNY_OK)
		return compile_error(c, e->at, "%s", err.text);
	return 0;
}

static enum eval_rc
constant_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	(void)ex;
	*out = *(const struct value *)e->code;
	return EVAL_OK;
}

const struct language_desc constant_language = {
	.name = "constant",
	.compile = constant_compile,
	.eval = constant_eval,
	.help = "the text itself",
};
