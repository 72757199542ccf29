/* The `source` option of xpath, jsonpath, xtokenize …: which part of the message an expression
 * works on. */
#ifndef HINNY_LANG_SOURCE_H
#define HINNY_LANG_SOURCE_H

#include "core/lang/expression.h"

#include <stdbool.h>

enum source_kind { SOURCE_BODY, SOURCE_HEADER, SOURCE_PROPERTY, SOURCE_VARIABLE };

struct source {
	enum source_kind kind;
	struct str name; /* empty for the body */
};

/* "body", "header:N", "exchangeProperty:N", "property:N", "variable:N"; NULL is the body. False
 * when it is none of them. The name is a slice of `text`. */
bool source_parse(const char *text, struct source *out);
/* Adds what the source reads to e->reads. */
void source_record(struct compile *c, struct expression *e, const struct source *src);
/* Both of a language's compile function, for its `source` option: 0, or -1 having reported. */
int source_compile(struct compile *c, struct expression *e, const char *text, struct source *out);
/* The value, NULL when there is none. It stays the exchange's. */
struct value *source_value(const struct source *src, struct exchange *ex);

#endif
