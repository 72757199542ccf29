/* What claimCheck has put aside for an exchange. */
#ifndef HINNY_EIP_CLAIMS_H
#define HINNY_EIP_CLAIMS_H

#include "core/eip/engine.h"

/* Messages that one exchange may put aside; beyond that the step fails. */
enum { CLAIMS_MAX = 1000 };

/* `to` is a copy of `from`, or goes on with its message: it knows the same ones, unless it has its
 * own. */
void claims_share(struct exchange *to, const struct exchange *from);

#endif
