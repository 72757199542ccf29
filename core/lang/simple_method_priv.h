/* Methods that a dotted path of Simple can call: their tables, one a kind of receiver. */
#ifndef HINNY_LANG_SIMPLE_METHOD_PRIV_H
#define HINNY_LANG_SIMPLE_METHOD_PRIV_H

#include "core/lang/simple_method.h"

enum receiver {
	ON_TEXT,
	ON_LIST,
	ON_MAP,
	ON_ENTRY,
	ON_NUMBER,
	ON_DATE,
	ON_BOOL,
	ON_STREAM,
	ON_ANY
};

struct invocation {
	struct exchange *ex;
	struct value self;
	struct str text; /* ON_TEXT, ON_STREAM */
	const struct access_step *step;
};

/* EVAL_ERROR: the exception is set. */
typedef enum eval_rc method_fn(struct invocation *in, struct value *out);

/* parens: Java has several of that name, so it is found only when called with ( ). */
struct method {
	const char *name;
	enum receiver on;
	uint8_t min, max; /* arguments */
	bool parens;
	method_fn *fn;
};
struct method_table {
	const struct method *rows;
	size_t n;
};
extern const struct method_table simple_methods_text, simple_methods_container;

/* The value in another class of Java, as a method's result. */
enum eval_rc simple_method_convert(
    struct invocation *in, enum value_class_id class, struct value *out);

static inline bool
arg_int(const struct invocation *in, size_t i, int64_t *out)
{
	return str_to_int64(in->step->args[i], out);
}

static inline enum eval_rc
out_int(struct value *out, int64_t i)
{
	*out = value_int(i);
	return EVAL_OK;
}

static inline enum eval_rc
out_bool(struct value *out, bool b)
{
	*out = value_bool(b);
	return EVAL_OK;
}

static inline enum eval_rc
out_text(struct value *out, struct str s)
{
	*out = value_str(s);
	return EVAL_OK;
}

#endif
