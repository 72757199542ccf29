/* The `source` option. A name without a prefix is that of a variable. */
#include "core/lang/source.h"

#include "core/base/assert.h"
#include "core/config/compile.h"

static const struct {
	const char *prefix;
	enum source_kind kind;
} prefixes[] = {
	{ "header:", SOURCE_HEADER },
	{ "exchangeProperty:", SOURCE_PROPERTY },
	{ "property:", SOURCE_PROPERTY },
	{ "variable:", SOURCE_VARIABLE },
};

bool
source_parse(const char *text, struct source *out)
{
	struct str s = str_of(text);
	*out = (struct source){ .kind = SOURCE_BODY, .name = { "", 0 } };
	if (text == NULL || str_eq(s, STR_LIT("body")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i].prefix);
		if (!str_starts(s, prefixes[i].prefix) || s.n == n)
			continue;
		*out = (struct source){ .kind = prefixes[i].kind, .name = { s.p + n, s.n - n } };
		return true;
	}
	if (s.n == 0 || memchr(s.p, ':', s.n) != NULL)
		return false;
	*out = (struct source){ .kind = SOURCE_VARIABLE, .name = s };
	return true;
}

void
source_record(struct compile *c, struct expression *e, const struct source *src)
{
	const char *name = arena_strndup(compile_arena(c), src->name.p, src->name.n);
	switch (src->kind) {
	case SOURCE_BODY:
		e->reads.flags |= ACCESS_BODY;
		break;
	case SOURCE_HEADER:
		access_add_header(c, &e->reads, name);
		break;
	case SOURCE_PROPERTY:
		access_add_property(c, &e->reads, name);
		break;
	case SOURCE_VARIABLE:
		access_add_variable(c, &e->reads, name);
		break;
	}
}

int
source_compile(struct compile *c, struct expression *e, const char *text, struct source *out)
{
	if (!source_parse(text, out))
		return compile_error(c, e->at,
		    "source: expected body, header:NAME, exchangeProperty:NAME or variable:NAME, "
		    "got \"%s\"",
		    text);
	if (out->kind == SOURCE_VARIABLE &&
	    (str_starts(out->name, "global:") || str_starts(out->name, "route:")))
		return compile_error(c, e->at,
		    "source: a variable that all exchanges share cannot be the source: set one "
		    "of the exchange to it before; got \"%s\"",
		    text);
	source_record(c, e, out);
	return 0;
}

struct value *
source_value(const struct source *src, struct exchange *ex)
{
	switch (src->kind) {
	case SOURCE_HEADER:
		return exchange_header(ex, src->name);
	case SOURCE_PROPERTY:
		return exchange_property(ex, src->name);
	case SOURCE_VARIABLE:
		return exchange_variable(ex, src->name);
	case SOURCE_BODY:
		break;
	}
	return &ex->body;
}
