/*
 * xtokenize, the part that every process has. The runtime is transformers/xtokenize. e->conf is a
 * struct xtokenize_conf; e->code is a struct xtokenize_path.
 */
#ifndef HINNY_LANG_XTOKENIZE_H
#define HINNY_LANG_XTOKENIZE_H

#include "core/lang/source.h"
#include "core/model/descriptor.h"

enum xtokenize_mode { XTOKENIZE_INJECT, XTOKENIZE_WRAP, XTOKENIZE_UNWRAP, XTOKENIZE_TEXT };

struct xtokenize_conf {
	int mode;      /* enum xtokenize_mode */
	int64_t group; /* 0: none */
	struct pairs namespaces;
	const char *source_text;
	struct source source;
};

/* "/a/b", "//x:i": the steps of the path. */
struct xtokenize_step {
	struct str prefix; /* empty: no namespace */
	struct str name;   /* "*": any */
	const char *uri;   /* of the prefix, NULL for none */
	bool anywhere;     /* reached by "//" */
};
struct xtokenize_path {
	struct xtokenize_step *steps;
	size_t n;
};

extern const struct language_desc xtokenize_language;

#endif
