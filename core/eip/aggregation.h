/*
 * Built-in aggregation strategies: what becomes of the results of items, branches and recipients.
 * The same for split, multicast, recipientList and enrich (and, later, aggregate).
 *
 * A strategy that a route does not name is one of the first two: the results of a multicast are
 * its last branch's, a split goes on with the message that it split.
 */
#ifndef HINNY_EIP_AGGREGATION_H
#define HINNY_EIP_AGGREGATION_H

#include "core/base/buf.h"
#include "core/model/descriptor.h"
#include "core/model/exchange.h"

enum aggregation_kind {
	AGGREGATION_LATEST,
	AGGREGATION_ORIGINAL,
	AGGREGATION_BODIES,
	AGGREGATION_EXCHANGES,
	AGGREGATION_MESSAGES,
	AGGREGATION_TEXT,
};

/* Of bean.conf, for AGGREGATION_TEXT. */
struct aggregation_text_conf {
	const char *delimiter;
};

/* What has been put together so far. */
struct aggregation {
	enum aggregation_kind kind;
	const char *delimiter;
	struct exchange *ex;     /* for whom: its arena holds what is gathered */
	struct exchange *result; /* whose headers and properties the result has; NULL: none yet, or
	                            those of ex */
	struct value list;
	struct buf text;
	uint32_t n;
	struct exception *exception; /* of the one that failed last, in ex's arena */
	struct exception *caught;
};

/* strategy NULL: `otherwise`. */
void aggregation_init(struct aggregation *ag, struct exchange *ex, const struct bean *strategy,
    enum aggregation_kind otherwise);
/* Takes the child, which is done. False: what is gathered is too large; the exception is set on
 * ag->ex. */
bool aggregation_add(struct aggregation *ag, struct exchange **child);
/* The result becomes ex's message, and what is left of children goes. ag->exception is left to the
 * caller. */
void aggregation_finish(struct aggregation *ag);
/* Drops it all. May be repeated. */
void aggregation_fini(struct aggregation *ag);

#endif
