/*
 * jq, the part that every process has: options, the record of what a program reads. The runtime is
 * transformers/jq. e->conf is a struct jq_conf, e->code a struct jq_code.
 */
#ifndef HINNY_LANG_JQ_H
#define HINNY_LANG_JQ_H

#include "core/lang/source.h"
#include "core/model/descriptor.h"

struct jq_conf {
	const char *source_text;
	struct source source; /* parsed source_text */
};

/* Which of Camel's functions the program calls. What header(), property() and variable() may ask
 * for is in e->reads: names, or all. */
struct jq_code {
	bool message; /* header, property, variable or constant */
	bool body;
};

/* For ${jq(…)} of Simple: works on src instead of the body. */
void jq_set_source(struct compile *c, struct expression *e, const struct source *src);

extern const struct language_desc jq_language;

#endif
