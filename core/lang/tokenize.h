/* tokenize: the parts of a text, as a list. e->conf is a struct tokenize_conf. */
#ifndef HINNY_LANG_TOKENIZE_H
#define HINNY_LANG_TOKENIZE_H

#include "core/lang/regex.h"
#include "core/lang/source.h"
#include "core/model/descriptor.h"

struct tokenize_conf {
	const char *token, *end_token, *inherit, *group_text, *group_delimiter, *source_text;
	bool regex, xml, include_tokens, skip_first;
	/* from the above */
	struct str by, end_by; /* without < and > where it is an element's name */
	int64_t group;         /* 0: none */
	struct regex *re;
	struct source source;
};

extern const struct language_desc tokenize_language;

#endif
