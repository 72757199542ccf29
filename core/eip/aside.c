/* A message that is put aside. */
#include "core/eip/aside.h"

#include <string.h>

void
aside_keep(struct exchange *ex, struct aside *as, bool message)
{
	as->pattern = ex->pattern;
	as->body = ex->body;
	as->message = message;
	if (!message)
		return;
	as->headers = ex->headers;
	as->headers.items =
	    arena_alloc(&ex->arena, ex->headers.cap * sizeof(ex->headers.items[0]));
	if (ex->headers.n)
		memcpy(as->headers.items, ex->headers.items,
		    ex->headers.n * sizeof(ex->headers.items[0]));
}

void
aside_return(struct exchange *ex, struct aside *as)
{
	ex->pattern = as->pattern;
	if (!as->message)
		return;
	exchange_set_body(ex, as->body);
	ex->headers = as->headers;
	ex->headers.removed = true; /* those that the answer brought are gone */
	ex->dirty |= DIRTY_HEADERS;
}

void
aside_receive(struct exchange *ex, const struct exchange *from, const char *variable)
{
	struct arena *a = &ex->arena;
	bool own = from == ex;
	struct value body = from->body.type == VALUE_STREAM ? value_null() : from->body;
	HEADERS_FOREACH (&from->headers, h) {
		char *name = arena_printf(a, "header:%s.%.*s", variable, STR_FMT(h->name));
		exchange_set_variable(ex, str_of(name), own ? h->value : value_share(a, &h->value));
	}
	exchange_set_variable(ex, str_of(variable), own ? body : value_share(a, &body));
	if (own)
		ex->body = value_null();
}
