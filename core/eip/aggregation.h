/*
 * Built-in aggregation strategies: what becomes of the results of items, branches and recipients,
 * and of the messages of an aggregate. The same for split, multicast, recipientList, enrich and
 * aggregate.
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

/* What a strategy takes out of messages, one after another: their texts or a list. */
struct gathered {
	enum aggregation_kind kind;
	const char *delimiter;
	struct value list; /* the strategies that make a list: null before the first message */
	struct buf text;
	uint32_t n;    /* messages */
	uint64_t held; /* bytes of blobs that the list holds */
};

void gathered_init(
    struct gathered *ga, const struct bean *strategy, enum aggregation_kind otherwise, size_t max);
/* Adds that of one more; the list is in the arena. HINNY_ELIMIT: the texts would be larger than
 * max, and nothing was added. */
enum hinny_rc gathered_add(struct gathered *ga, struct arena *a, struct exchange *ex);
/* Adds a value as one item of a list, whatever the strategy would make of a message. */
void gathered_add_value(struct gathered *ga, struct arena *a, const struct value *v);
/* Takes the last one back; text_n: what ga->text.n was before it. */
void gathered_undo(struct gathered *ga, size_t text_n, size_t list_n);
/* Does the strategy put a body together, or is the body that of a message? */
static inline bool
gathered_is_body(const struct gathered *ga)
{
	return ga->kind != AGGREGATION_LATEST && ga->kind != AGGREGATION_ORIGINAL;
}
/* That body; a text is copied into the arena. */
struct value gathered_body(struct gathered *ga, struct arena *a);
void gathered_fini(struct gathered *ga); /* may be repeated */

/* What has been put together so far. */
struct aggregation {
	struct gathered gathered;
	struct exchange *ex;     /* for whom: its arena holds what is gathered */
	struct exchange *result; /* whose headers and properties the result has; NULL: none yet, or
	                            those of ex */
	struct exception *exception; /* of the one that failed last, in ex's arena */
	bool failed_over; /* an error handler has had its say about it */
	struct exception *caught;
};

/* In steps that take one message into another (enrich, pollEnrich): does the message stay as it is?
 * As in Camel that is so with strategies that gather, too: what they gathered would become the body at
 * an end that these steps do not have. NULL is fine. */
bool aggregation_keeps_original(const struct bean *strategy);
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
