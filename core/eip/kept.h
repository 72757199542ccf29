/* A whole message put aside, with its properties and variables: for steps that begin again from it
 * (loop with copy, failover). */
#ifndef HINNY_EIP_KEPT_H
#define HINNY_EIP_KEPT_H

#include "core/model/exchange.h"

struct snapshot;

/* Zero at first. */
struct kept {
	struct snapshot *message;
	struct value_map properties, variables;
	struct exception *caught;
};

/* The body must not be a stream. All lies in ex's arena. */
void kept_take(struct exchange *ex, struct kept *kept);
/* The exchange is as it was; may be repeated. */
void kept_restore(struct exchange *ex, const struct kept *kept);

#endif
