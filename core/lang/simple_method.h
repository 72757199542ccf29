/* Steps of dotted access, between the paths (simple_path.c) and the methods (simple_method.c). */
#ifndef HINNY_LANG_SIMPLE_METHOD_H
#define HINNY_LANG_SIMPLE_METHOD_H

#include "core/lang/simple_priv.h"

enum { METHOD_ARGS_MAX = 3 };

enum key_kind { KEY_TEXT, KEY_INDEX, KEY_LAST };

struct access_step {
	bool is_method, parens, null_safe;
	struct str name; /* of the method; or the key */
	enum key_kind kind;
	int64_t index; /* KEY_INDEX; KEY_LAST: how far before the last */
	struct str args[METHOD_ARGS_MAX];
	size_t args_n;
};

/* Calls the method that a step names on a value that is not null. EVAL_ERROR: there is none of that
 * name, or it failed; the exception is set. */
enum eval_rc simple_method_call(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out);
/* Is it ".class" or ".getClass()", and what is behind it the name? Fills *out and says how many
 * steps that were, or 0. `left`: how many steps there are. */
size_t simple_method_class(const struct access_step *step, size_t left, struct exchange *ex,
    const struct value *v, struct value *out);
/* The element of a list. EVAL_ERROR: it is beyond the end, unless null_safe. */
enum eval_rc simple_list_index(struct exchange *ex, const struct value *list, int64_t index,
    bool null_safe, struct value *out);

#endif
