/* The endpoints that a value names: of recipientList, routingSlip, dynamicRouter, enrich. */
#ifndef HINNY_EIP_RECIPIENTS_H
#define HINNY_EIP_RECIPIENTS_H

#include "core/eip/engine.h"

struct recipients {
	struct str *uris; /* trimmed, none is empty */
	uint32_t n;
};

/* The elements of a list, or the parts of a text. Memory of ex. */
struct recipients *recipients_of(struct exchange *ex, const struct value *v, const char *delimiter);
/* The endpoint, if it may be sent to; NULL with the exception set. schemes: with commas, NULL: all. */
struct endpoint *recipient_find(struct engine *en, struct exchange *ex, const struct step *st, struct str uri,
    const char *schemes);
/* All of them; with ignore_invalid those that are not are left out. */
bool recipients_find(struct engine *en, struct exchange *ex, const struct step *st,
    struct recipients *rs, const char *schemes, bool ignore_invalid);

#endif
