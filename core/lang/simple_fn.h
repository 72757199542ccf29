/* The functions of simple_functions.def, declared. Each gets its call and *out null; EVAL_ERROR
 * with the exception set. */
#ifndef HINNY_LANG_SIMPLE_FN_H
#define HINNY_LANG_SIMPLE_FN_H

#include "core/lang/simple_priv.h"

typedef enum eval_rc simple_fn(struct simple_call *call, struct value *out);
#define SIMPLE_FORM(name, syntax, help)
#define SIMPLE_FUNCTION(name, form, min, max, args, pure, reads, fn, help) simple_fn fn;
#define SIMPLE_REFUSED(name, why)
#include "core/lang/simple_functions.def"
#undef SIMPLE_FORM
#undef SIMPLE_FUNCTION
#undef SIMPLE_REFUSED

static inline struct arena *
simple_arena(const struct simple_call *call)
{
	return &call->ex->arena;
}

/* Iterates over the items of a value as Camel does: those of a list, map (its values) or node-set;
 * the parts of a text between commas; else the value alone. Null has none. */
void simple_items(struct arena *a, const struct value *v, struct value_list *to);
/* The items of all arguments; one argument alone is taken apart by simple_items. A new list. */
enum eval_rc simple_arg_items(struct simple_call *call, struct value *list);

#endif
