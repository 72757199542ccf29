/* header: the value of a header, or null. e->code is a struct header_name. */
#include "core/lang/small.h"

#include "core/config/compile.h"

struct header_name {
	struct str name;
	uint32_t hash;
};

static int
header_compile(struct compile *c, struct expression *e)
{
	struct header_name *code = ARENA_NEW(compile_arena(c), struct header_name);
	code->name = str_of(e->text);
	code->hash = str_casehash(code->name);
	e->code = code;
	if (code->name.n == 0)
		return compile_error(c, e->at, "a name is missing");
	access_add_header(c, &e->reads, e->text);
	return 0;
}

static enum eval_rc
header_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct header_name *code = e->code;
	const struct header *h = headers_find_hashed(&ex->headers, code->name, code->hash);
	*out = h != NULL ? h->value : value_null();
	return EVAL_OK;
}

const struct language_desc header_language = {
	.name = "header",
	.compile = header_compile,
	.eval = header_eval,
	.help = "the value of a header, or null",
};
