/*
 * jsonpath, inside: a path is a list of tokens; a filter is a tree of conditions over paths and
 * literals.
 *
 *   jsonpath_parse.c      text -> tokens
 *   jsonpath_filter.c     what stands in [?( )]: text -> conditions, and their truth
 *   jsonpath_eval.c       tokens over a document
 *   jsonpath_functions.c  length(), min() …
 *   jsonpath.c            the language: options, Simple in paths, easy predicates
 */
#ifndef HINNY_LANG_JSONPATH_PRIV_H
#define HINNY_LANG_JSONPATH_PRIV_H

#include "core/lang/document.h"
#include "core/lang/jsonpath.h"
#include "core/lang/regex.h"

enum { JSONPATH_TOKENS_MAX = 128, JSONPATH_ITEMS_MAX = 256, JSONPATH_DEPTH_MAX = 64 };

struct jsonpath_condition;
struct jsonpath_run;

enum jsonpath_token_type {
	JSONPATH_PROPERTY, /* names */
	JSONPATH_WILDCARD,
	JSONPATH_INDEX,  /* indexes */
	JSONPATH_SLICE,  /* from, to */
	JSONPATH_FILTER, /* filter */
	JSONPATH_SCAN,
	JSONPATH_FUNCTION, /* fn with params */
	JSONPATH_TOKEN_TYPES
};

struct jsonpath_operand;

struct jsonpath_token {
	enum jsonpath_token_type type;
	bool definite; /* gives one value at most */
	union {
		struct {
			struct str *names;
			size_t n;
		} property;
		struct {
			int64_t *items;
			size_t n;
		} index;
		struct {
			int64_t from, to;
			bool has_from, has_to;
		} slice;
		const struct jsonpath_condition *filter;
		struct {
			const struct jsonpath_function *fn;
			struct jsonpath_operand *params;
			size_t n;
		} function;
	} u;
};

struct jsonpath_code {
	struct jsonpath_token *tokens;
	size_t n;
	bool current; /* begins with @ */
	bool definite;
	bool inverted;     /* $..x.f(): f of the list that $..x gives */
	const char *shown; /* $['a'][0] */
};

/* One side of a comparison, or an argument of a function. */
enum jsonpath_operand_type { JSONPATH_LITERAL, JSONPATH_PATH, JSONPATH_PATTERN };
struct jsonpath_operand {
	enum jsonpath_operand_type type;
	struct value literal;
	struct jsonpath_code *path;
	struct regex *pattern;
};

struct jsonpath_function {
	const char *name;
	/* The function's value for a model with its arguments' values (lists for indefinite paths).
	 * False: *why says what is wrong. */
	bool (*apply)(struct arena *a, const struct value *model, const struct value *args,
	    size_t n, struct value *out, const char **why);
};
const struct jsonpath_function *jsonpath_function_find(struct str name);

/* ---- parsing ---- */

struct jsonpath_reader {
	struct arena *arena;
	struct str text;
	size_t i;
	unsigned depth;
	struct hinny_error *err;
};

/* Sets the error and returns false. */
bool jsonpath_wrong(struct jsonpath_reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void jsonpath_skip_blanks(struct jsonpath_reader *r);
char jsonpath_peek(const struct jsonpath_reader *r); /* 0 at the end */
/* 'text' or "text" at r->i. */
bool jsonpath_read_quoted(struct jsonpath_reader *r, struct str *out);
/* A path from its $ or @ on; within a filter it also ends at operators and brackets. */
bool jsonpath_read_path(struct jsonpath_reader *r, bool in_filter, struct jsonpath_code **out);
/* The condition behind "[?(", with its ")". */
bool jsonpath_read_filter(struct jsonpath_reader *r, const struct jsonpath_condition **out);
bool jsonpath_read_operand(struct jsonpath_reader *r, struct jsonpath_operand *out);

/* ---- running ---- */

enum jsonpath_outcome { JSONPATH_FOUND, JSONPATH_MISSING, JSONPATH_FAILED };

struct jsonpath_run {
	struct arena *arena;
	const struct value *root;
	unsigned options;
	/* what went wrong */
	enum exception_id id;
	const char *why;
};

/* Reads `code`: one value for a definite path, else a list. MISSING and FAILED leave id and why. */
enum jsonpath_outcome jsonpath_evaluate(struct jsonpath_run *run, const struct jsonpath_code *code,
    const struct value *current, struct value *out);
/* Is the condition true for `current`? */
bool jsonpath_accepts(struct jsonpath_run *run, const struct jsonpath_condition *condition,
    const struct value *current);
/* The value of an operand; false: a path that is not there. */
bool jsonpath_operand_value(struct jsonpath_run *run, const struct jsonpath_operand *operand,
    const struct value *current, struct value *out);

#endif
