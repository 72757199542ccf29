/* The endpoints that a value names: of recipientList, routingSlip, dynamicRouter, toD,
 * enrich, poll. */
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
struct recipient {
	struct str uri;      /* trimmed */
	struct endpoint *ep; /* NULL: none, and there is nothing to do */
};

/* The one that e names, for a step that has not changed anything yet. STEP_DONE: there it is, or
 * the text is empty, or (ignore_invalid) there is no such endpoint. STEP_FAILED, STEP_NEED: to be
 * returned. */
enum step_rc recipient_named(struct engine *en, struct exchange *ex, const struct step *st,
    const struct expression *e, const char *schemes, bool ignore_invalid, struct recipient *out);
/* All of them; with ignore_invalid those that are not are left out. */
bool recipients_find(struct engine *en, struct exchange *ex, const struct step *st,
    struct recipients *rs, const char *schemes, bool ignore_invalid);
/* What the exchange is told of an endpoint that `uri` names: its normalised name, or uri where one
 * could not be sent to by that. */
struct str recipient_name(struct engine *en, struct exchange *ex, const struct step *st,
    const struct endpoint *ep, struct str uri);

#endif
