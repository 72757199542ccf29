/* Asks the owners of a program's parts, each a worker in check mode, whether they can run it: what
 * only they can compile is checked too. */
#ifndef HINNY_SUPERVISOR_CHECK_H
#define HINNY_SUPERVISOR_CHECK_H

#include "core/config/config.h"
#include "core/model/exchange.h"
#include "core/model/program.h"

#include <stdbool.h>
#include <stdio.h>

/* hinny eval: an expression that an owner evaluates, for a message. */
struct check_question {
	const struct expression *e;
	struct exchange *ex;
	/* The answer, in the exchange's arena. */
	struct value value;
	const char *exception; /* its class; NULL: none */
	const char *text;
};

/* Prints what they find to `to`. True: nobody has found a problem. An owner that is not installed
 * is named, and is none. */
bool check_owners(struct bundle *b, const struct program *p, FILE *to);

/* Starts the owner of q->e and has it evaluate. False: it could not; `to` says why. */
bool check_evaluate(
    struct bundle *b, const struct program *p, struct check_question *q, FILE *to);

#endif
