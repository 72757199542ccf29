/* Within the folder: a compiled program, and values on their way to libjq and back. */
#ifndef HINNY_TRANSFORMERS_JQ_PRIV_H
#define HINNY_TRANSFORMERS_JQ_PRIV_H

#include "core/base/list.h"
#include "core/lang/jq.h"
#include "core/model/exchange.h"
#include "core/model/program.h"

#include <jq.h>

/* One a process: the worker's data. */
struct jq_runtime {
	struct list programs;
	uint64_t max_output; /* bytes of what a program gives; 0: no bound */
};

/* expression.impl; of several expressions with the same text there is one. */
struct jq_program {
	struct list node;
	struct jq_runtime *runtime;
	const char *text;
	bool message; /* its input is [what it works on, {"h": {…}, "p": {…}, "v": {…}, "b": …}] */
	jq_state *state;
};

/* jq_compile.c: HINNY_EINVAL with the column. *out is the runtime's. */
enum hinny_rc jq_program_new(struct jq_runtime *rt, const struct expression *e,
    struct jq_program **out, struct hinny_error *err);
void jq_program_free(struct jq_program *p);

/*
 * jq_value.c. What an expression works on: text is parsed as JSON, its first value counts. False:
 * the exception is set. The caller frees *out.
 */
bool jq_value_read(struct exchange *ex, const struct value *v, jv *out);
/* A value as a text of jq; null gives null. */
jv jq_value_text(struct exchange *ex, const struct value *v);
/* Consumes j. Arrays and objects are VALUE_JSON with VALUE_NODE. False: it is too deep, or larger
 * than *left, from which its size is taken. */
bool jq_value_give(struct arena *a, jv j, uint64_t *left, struct value *out);

#endif
