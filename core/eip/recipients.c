/* The endpoints that a value names. */
#include "core/eip/recipients.h"

#include "core/eip/items.h"

#include <string.h>

struct recipients *
recipients_of(struct exchange *ex, const struct value *v, const char *delimiter)
{
	struct recipients *rs = arena_zalloc(&ex->arena, sizeof(*rs));
	struct value text = *v;
	struct items it;
	if (v->type == VALUE_BYTES || v->type == VALUE_STRING) { /* a body as it came, too */
		text.type = VALUE_STRING;
		text.flags = 0;
	}
	items_of(&ex->arena, &text, delimiter, 0, &it);
	rs->uris = arena_alloc(&ex->arena, (it.n + 1) * sizeof(rs->uris[0]));
	for (uint32_t i = 0; i < it.n; i++) {
		struct value item = items_at(&ex->arena, &it, i);
		struct str uri = str_trim(value_text(&ex->arena, &item));
		if (uri.n > 0)
			rs->uris[rs->n++] = uri;
	}
	return rs;
}

static bool
scheme_is_allowed(struct str uri, const char *schemes)
{
	struct str rest = str_of(schemes), scheme, own;
	(void)str_split(&uri, ':', &own);
	while (str_split(&rest, ',', &scheme))
		if (str_caseeq(str_trim(scheme), own))
			return true;
	return false;
}

struct endpoint *
recipient_find(struct engine *en, struct exchange *ex, const struct step *st, struct str uri,
    const char *schemes)
{
	if (schemes == NULL || scheme_is_allowed(uri, schemes))
		return en->ops->endpoint(en, ex, st, uri);
	exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT,
	    "the scheme of endpoint %.*s is not among the allowedSchemes %s", STR_FMT(uri),
	    schemes);
	return NULL;
}

struct str
recipient_name(struct engine *en, struct exchange *ex, const struct step *st,
    const struct endpoint *ep, struct str uri)
{
	struct str name = str_of(endpoint_name(ep));
	if (str_eq(name, uri))
		return uri;
	/* a name that hides a password is not the endpoint's address */
	struct exception *before = ex->exception;
	const struct endpoint *same = en->ops->endpoint(en, ex, st, name);
	ex->exception = before;
	return same && str_eq(str_of(endpoint_name(same)), name) &&
		strstr(name.p, "xxxxxx") == NULL
	    ? name
	    : uri;
}

enum step_rc
recipient_named(struct engine *en, struct exchange *ex, const struct step *st,
    const struct expression *e, const char *schemes, bool ignore_invalid, struct recipient *out)
{
	out->ep = NULL;
	switch (expression_text(e, ex, &out->uri, NULL)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	out->uri = str_trim(out->uri);
	if (out->uri.n == 0)
		return STEP_DONE;
	out->ep = recipient_find(en, ex, st, out->uri, schemes);
	if (out->ep == NULL && !ignore_invalid)
		return STEP_FAILED;
	if (out->ep == NULL)
		ex->exception = NULL;
	return STEP_DONE;
}

bool
recipients_find(struct engine *en, struct exchange *ex, const struct step *st,
    struct recipients *rs, const char *schemes, bool ignore_invalid)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < rs->n; i++) {
		const struct endpoint *ep = recipient_find(en, ex, st, rs->uris[i], schemes);
		if (ep)
			rs->uris[n++] = recipient_name(en, ex, st, ep, rs->uris[i]);
		else if (!ignore_invalid)
			return false;
		else
			ex->exception = NULL;
	}
	rs->n = n;
	return true;
}
