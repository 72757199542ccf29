/* Putting a message aside and taking it back: for redelivery, for the original message, for calls.
 */
#include "core/eip/engine_priv.h"

#include <string.h>

void
snapshot_take(struct exchange *ex, struct snapshot **psn)
{
	struct snapshot *sn = *psn;
	if (sn == NULL)
		*psn = sn = arena_zalloc(&ex->arena, sizeof(*sn));
	struct header *items = sn->headers.items;
	uint32_t cap = sn->headers.cap;
	if (cap < ex->headers.n) {
		cap = ex->headers.cap;
		items = arena_alloc(&ex->arena, cap * sizeof(items[0]));
	}
	if (ex->headers.n)
		memcpy(items, ex->headers.items, ex->headers.n * sizeof(items[0]));
	sn->headers = ex->headers;
	sn->headers.items = items;
	sn->headers.cap = cap;
	sn->body = ex->body;
	sn->dirty = ex->dirty;
}

void
snapshot_restore(struct exchange *ex, const struct snapshot *sn)
{
	bool same_stream = ex->body.type == VALUE_STREAM && sn->body.type == VALUE_STREAM &&
	    ex->body.u.stream == sn->body.u.stream;
	if (!same_stream)
		exchange_set_body(ex, sn->body);
	struct header *items = ex->headers.items;
	uint32_t cap = ex->headers.cap;
	if (cap < sn->headers.n) {
		cap = sn->headers.n;
		items = arena_alloc(&ex->arena, cap * sizeof(items[0]));
	}
	if (sn->headers.n)
		memcpy(items, sn->headers.items, sn->headers.n * sizeof(items[0]));
	ex->headers = sn->headers;
	ex->headers.items = items;
	ex->headers.cap = cap;
	ex->dirty = sn->dirty | (ex->dirty & (unsigned)~(DIRTY_BODY | DIRTY_HEADERS));
}

const struct value *
engine_original_body(const struct exchange *ex)
{
	const struct snapshot *sn = ex->run != NULL ? ex->run->original : NULL;
	return sn != NULL && sn->body.type != VALUE_STREAM ? &sn->body : NULL;
}

/* ---- who reads the body ---- */

static bool
reads_body(const struct expression *e)
{
	return e && (e->reads.flags & ACCESS_BODY);
}

/* Of one option: an expression, or child nodes with expressions. */
static bool
option_reads_body(const struct option_desc *opt, const char *conf)
{
	const void *at = conf + opt->offset;
	switch (opt->type) {
	case OPTION_EXPRESSION:
	case OPTION_PREDICATE:
		return reads_body(*(struct expression *const *)at);
	case OPTION_STRING:
	case OPTION_URI:
		return (opt->flags & OPTION_TEMPLATE) &&
		    reads_body(*(struct expression *const *)at);
	case OPTION_NODES: {
		const struct step_list *list = at;
		for (size_t i = 0; i < list->n; i++)
			if (step_evaluates_body(list->items[i]))
				return true;
		return false;
	}
	default:
		return false;
	}
}

/* Only asked when the body is a stream, so this walk costs the others nothing. */
bool
step_evaluates_body(const struct step *st)
{
	if (reads_body(st->expr))
		return true;
	for (const struct option_desc *opt = st->eip->options; opt && opt->name; opt++)
		if (st->conf && option_reads_body(opt, st->conf))
			return true;
	return false;
}
