/*
 * Evaluates the expressions of a program, wherever they run: in place (a language of every process,
 * or the owner's own), or as a remote value that the engine has fetched before into ex->slots.
 *
 * A VALUE_STREAM must have been collected before: the engine does so when st->reads says that the
 * body is read.
 */
#ifndef HINNY_LANG_EXPRESSION_H
#define HINNY_LANG_EXPRESSION_H

#include "core/model/exchange.h"
#include "core/model/program.h"

#include <stdbool.h>

/* The outcome of a remote expression: one of ex->slots[0 .. ex->slots_n - 1], found by `e`. */
struct eval_slot {
	const struct expression *e;
	bool filled;
	struct value value;
	struct exception *exception; /* surfaces when the value is read */
};

/* The slot of e, or NULL. */
struct eval_slot *expression_slot(const struct exchange *ex, const struct expression *e);

/* The value, converted to e->result_type. EVAL_ERROR: ex->exception is set. EVAL_NEED: ex->need
 * names the expression whose slot is unfilled. None of them blocks. */
enum eval_rc expression_eval(const struct expression *e, struct exchange *ex, struct value *out);
/* The truth of e as a predicate (value_truth for languages whose predicates give other values). */
enum eval_rc expression_test(const struct expression *e, struct exchange *ex, bool *out);
/* Text form in the exchange's arena; null gives an empty slice and *null true. `null` may be NULL.
 */
enum eval_rc expression_text(
    const struct expression *e, struct exchange *ex, struct str *out, bool *null);

#endif
