/*
 * jsonpath, inside: a path is a list of tokens; a filter is a tree of conditions over paths and
 * literals.
 *
 *   jsonpath_parse.c      text -> tokens
 *   jsonpath_filter.c     what stands in [?( )]: text -> conditions, and their truth
 *   jsonpath_strict.c     what RFC 9535 has beside Jayway: its comparisons and functions in [? ]
 *   jsonpath_eval.c       tokens over a document
 *   jsonpath_functions.c  length(), min() …
 *   jsonpath.c            the language: options, Simple in paths, easy predicates
 */
#ifndef HINNY_LANG_JSONPATH_PRIV_H
#define HINNY_LANG_JSONPATH_PRIV_H

#include "core/lang/document.h"
#include "core/lang/jsonpath.h"
#include "core/lang/regex.h"

enum {
	JSONPATH_TOKENS_MAX = 128,
	JSONPATH_ITEMS_MAX = 256,
	JSONPATH_SELECTORS_FIRST = 4,
	JSONPATH_DEPTH_MAX = 64
};

struct jsonpath_condition;
struct jsonpath_run;

enum jsonpath_token_type {
	JSONPATH_PROPERTY, /* names */
	JSONPATH_WILDCARD,
	JSONPATH_INDEX,  /* indexes */
	JSONPATH_SLICE,  /* from, to, step */
	JSONPATH_FILTER, /* filter */
	JSONPATH_SCAN,
	JSONPATH_FUNCTION, /* fn with params */
	JSONPATH_UNION,    /* several of the above in one pair of brackets */
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
			int64_t from, to, step;
			bool has_from, has_to;
		} slice;
		struct {
			const struct jsonpath_condition *condition;
			bool strict; /* without parentheses, as RFC 9535 has it: it asks the
			                members of an object, too */
		} filter;
		struct {
			struct jsonpath_token *items;
			size_t n;
		} several;
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
enum jsonpath_operand_type { JSONPATH_LITERAL, JSONPATH_PATH, JSONPATH_PATTERN, JSONPATH_CALL };
struct jsonpath_operand {
	enum jsonpath_operand_type type;
	struct value literal;
	struct jsonpath_code *path;
	struct regex *pattern;
	bool strict;                /* PATH: of RFC 9535 */
	struct jsonpath_call *call; /* a function of RFC 9535 */
};

/* The value of an operand. */
struct jsonpath_side {
	bool there; /* false: a path without a result */
	struct value v;
	const struct regex *pattern;
};
typedef bool jsonpath_compare_fn(
    struct jsonpath_run *run, const struct jsonpath_side *l, const struct jsonpath_side *r);

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
	bool strict; /* in a filter without parentheses */
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
/* The condition of a filter, without parentheses around it. */
bool jsonpath_read_condition(struct jsonpath_reader *r, const struct jsonpath_condition **out);
bool jsonpath_read_operand(struct jsonpath_reader *r, struct jsonpath_operand *out);

/* jsonpath_strict.c: the comparison that `text` ("==" …) is in RFC 9535; NULL: it has none. */
jsonpath_compare_fn *jsonpath_strict_compare(const char *text);
/* A function of RFC 9535 at r->i, such as length(@.a). *found false: it is none. */
bool jsonpath_read_call(struct jsonpath_reader *r, struct jsonpath_operand *out, bool *found);
/* Is its result a truth (match, search), and so never compared? */
bool jsonpath_call_is_test(const struct jsonpath_call *call);
/* May the operand stand in a comparison of RFC 9535? */
bool jsonpath_is_singular(const struct jsonpath_code *code);
bool jsonpath_call_value(struct jsonpath_run *run, const struct jsonpath_call *call,
    const struct value *current, struct value *out);

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
