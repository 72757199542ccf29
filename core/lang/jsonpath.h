/*
 * jsonpath with Jayway's results: definite paths give a value or PathNotFoundException, indefinite
 * ones a list. It walks the parsed form that the exchange keeps beside the text, or lists and maps
 * as they are; objects and arrays of the result are nodes of that form, nothing is copied.
 */
#ifndef HINNY_LANG_JSONPATH_H
#define HINNY_LANG_JSONPATH_H

#include "core/lang/source.h"
#include "core/model/descriptor.h"

struct jsonpath_code;

enum jsonpath_option {
	JSONPATH_LEAF_TO_NULL = 1,      /* DEFAULT_PATH_LEAF_TO_NULL */
	JSONPATH_ALWAYS_LIST = 2,       /* ALWAYS_RETURN_LIST */
	JSONPATH_SUPPRESS = 4,          /* SUPPRESS_EXCEPTIONS */
	JSONPATH_REQUIRE_PROPERTIES = 8, /* REQUIRE_PROPERTIES */
	JSONPATH_AS_PATHS = 16           /* AS_PATH_LIST */
};

struct jsonpath_conf {
	bool suppress_exceptions, allow_simple, allow_easy_predicate, write_as_string, unpack_array;
	struct strings option;
	unsigned options; /* enum jsonpath_option, worked out of the above */
	const char *source_text;
	struct source source;
};

/* Compiles a path; memory from `a`. HINNY_EINVAL: err says why, *at is the position in the text. */
enum hinny_rc jsonpath_parse(struct arena *a, struct str text, struct jsonpath_code **out,
    size_t *at, struct hinny_error *err);
/* Reads `from` (text, bytes, JSON, list or map; NULL or null is an error) by a compiled path. The
 * exception is set on EVAL_ERROR. */
enum eval_rc jsonpath_read(const struct jsonpath_code *code, struct exchange *ex,
    const struct value *from, unsigned options, struct value *out);

extern const struct language_desc jsonpath_language;

#endif
