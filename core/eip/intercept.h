/* Interceptors: before each step, before the first, before sends. */
#ifndef HINNY_EIP_INTERCEPT_H
#define HINNY_EIP_INTERCEPT_H

#include "core/eip/engine.h"

/* intercept, interceptFrom, interceptSendToEndpoint */
struct intercept_conf {
	const char *uri;
	struct pattern *pattern; /* of uri; NULL: any */
	struct expression *on_when;
	bool skips; /* skipSendToOriginalEndpoint */
	struct endpoint *after_uri;
	struct block after; /* sends there; empty: there is none */
};

/* The interceptor for a send to ep that comes at or behind `from` in the list of the exchange's
 * route; NULL: none, or nothing is intercepted here. */
const struct step *const *intercept_find(
    const struct exchange *ex, const struct endpoint *ep, const struct step *const *from);
/* Tests its onWhen. */
enum eval_rc intercept_test(const struct step *interceptor, struct exchange *ex, bool *out);

#endif
