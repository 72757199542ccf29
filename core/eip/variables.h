/*
 * Variables that all exchanges of the program share: "global:NAME" and "route:ID:NAME". They live
 * in one process, the owner of the state "variables", and are kept over reloads. The variables of
 * an exchange itself are in the exchange.
 */
#ifndef HINNY_EIP_VARIABLES_H
#define HINNY_EIP_VARIABLES_H

#include "core/eip/engine.h"

struct compile;

/* Operations of the state. */
enum {
	VARIABLES_GET,    /* name: its value, or null */
	VARIABLES_SET,    /* [name, value, name, value …]; null removes */
	VARIABLES_REMOVE, /* name; with "*" at its end all that begin so */
	VARIABLES_OPS
};
/* Of all values together, of one, and how many there may be; beyond that setting fails. */
enum {
	VARIABLES_BYTES_MAX = 64 << 20,
	VARIABLES_VALUE_MAX = 8 << 20,
	VARIABLES_MAX = 10000
};

/* Is it the name of a shared one? */
bool variables_is_shared(struct str name);
/* Has it all its parts: global:NAME, route:ID:NAME? */
bool variables_is_whole(struct str name);
/* At load: the route, or whatever is compiled, uses shared variables. */
void variables_use(struct compile *c);
/* 0, or -1 having reported that the name of a shared one is not whole. */
int variables_check(struct compile *c, struct position at, const char *option, struct str name);

/* As engine_state: EVAL_NEED when the answer has to be waited for. */
enum eval_rc variables_ask(
    struct exchange *ex, unsigned op, const struct value *arg, struct value *out);
enum eval_rc variables_get(struct exchange *ex, struct str name, struct value *out);
enum eval_rc variables_set(struct exchange *ex, struct str name, struct value v);

extern const struct state_desc variables_state;

#endif
