/*
 * Simple, inside: the nodes that a text compiles to, the parser's state, the tables of functions
 * and forms.
 *
 *   simple_scan.c      where functions, quotes, arguments end in the text
 *   simple_parse.c     templates and predicates -> nodes
 *   simple_init.c      $init{ $name := … }init$ before a template or predicate
 *   simple_form.c      what stands between ${ and }: access, prefixes, calls, the ternary -> nodes
 *   simple_args.c      the arguments of a call
 *   simple_document.c  paths into documents: jsonpath, xpath, jq
 *   simple_path.c      dotted access (.size, [0], ?.x, method calls): parse and apply
 *   simple_eval.c      nodes -> values
 *   simple_compare.c   the operators of comparisons
 *   simple_fn_*.c      the functions of simple_functions.def
 *
 * A node and all below it are immutable and lie in the program's arena. Evaluation allocates in the
 * exchange's arena only what a value needs: comparing a header with a text allocates nothing.
 */
#ifndef HINNY_LANG_SIMPLE_PRIV_H
#define HINNY_LANG_SIMPLE_PRIV_H

#include "core/lang/expression.h"
#include "core/lang/regex.h"

#include <stdbool.h>
#include <stdint.h>

struct jsonpath_code;
struct simple_date;
struct simple_node;

enum {
	SIMPLE_DEPTH_MAX = 64,
	SIMPLE_TERMS_MAX = 1000,
	SIMPLE_QUOTE_TRIES = 4096,
	SIMPLE_TEXT_MAX = 256 * 1024 * 1024,
	SIMPLE_READS_ORIGINAL = 1 << 16 /* of a function: the body that the exchange began with */
};

enum simple_type {
	SIMPLE_CONST,  /* u.value */
	SIMPLE_CONCAT, /* text of all kids */
	SIMPLE_BODY,
	SIMPLE_HEADER, /* u.key.name */
	SIMPLE_PROPERTY,
	SIMPLE_VARIABLE,
	SIMPLE_KEYED,         /* u.key: full name first, then name and path */
	SIMPLE_KEYED_DYNAMIC, /* kid 0: text of what stands behind "header." */
	SIMPLE_PATH,          /* u.path applied to kid 0 */
	SIMPLE_PATH_DYNAMIC,  /* text of kid 1 is a path, applied to kid 0 */
	SIMPLE_CALL,          /* u.fn with the kids; a kid may be NULL */
	SIMPLE_CONVERT,       /* kid 0 to u.convert.to */
	SIMPLE_COMPARE,       /* kids 0, 1; op, negate */
	SIMPLE_AND,
	SIMPLE_OR,
	SIMPLE_TRUTH,
	SIMPLE_TERNARY, /* kids: condition, then, else */
	SIMPLE_ELVIS,
	SIMPLE_CHAIN,    /* kid 1 with the value of kid 0 as body; null_safe */
	SIMPLE_STEP,     /* kid 0 plus u.step */
	SIMPLE_PART,     /* u.part: an expression with its own slot */
	SIMPLE_JSONPATH, /* u.jsonpath.code, or (NULL) the path that kid 0 gives */
	SIMPLE_DATE,
	SIMPLE_INIT, /* sets variables u.names[i] to kids i; the value is that of the last kid */
	SIMPLE_TYPES
};

enum simple_scope { SIMPLE_IN_HEADERS, SIMPLE_IN_PROPERTIES, SIMPLE_IN_VARIABLES };

enum simple_op {
	SIMPLE_EQ,
	SIMPLE_EQ_NOCASE,
	SIMPLE_GT,
	SIMPLE_GE,
	SIMPLE_LT,
	SIMPLE_LE,
	SIMPLE_CONTAINS,
	SIMPLE_CONTAINS_NOCASE,
	SIMPLE_STARTS,
	SIMPLE_ENDS,
	SIMPLE_REGEX,
	SIMPLE_IN,
	SIMPLE_RANGE,
	SIMPLE_IS
};

struct simple_key {
	enum simple_scope scope;
	struct str full, name;
	uint32_t full_hash, name_hash;
	struct simple_path *path; /* NULL: the full name is all */
};

struct simple_range {
	int64_t from, to;
};

struct simple_node {
	uint8_t type;
	uint8_t op;
	bool negate;
	bool null_safe;
	bool compiled; /* COMPARE: u.regex or u.range was made at load */
	uint32_t at;   /* where it stands in the text */
	uint32_t n;
	struct simple_node **kids;
	const struct program *program; /* CALL: for the functions of properties */
	union {
		struct value value;
		struct simple_key key;
		struct simple_path *path;
		const struct simple_function *fn;
		struct {
			enum value_class_id to;
			bool mandatory;
		} convert;
		struct regex *regex;
		struct simple_range range;
		int64_t step;
		struct expression *part;
		struct {
			const struct jsonpath_code *code;
			unsigned options;
			struct simple_key from; /* name empty: the body */
		} jsonpath;
		const struct simple_date *date;
		const struct str *names;
	} u;
};

/* What e->code of a Simple expression is. */
struct simple_program {
	struct simple_node *root;
	bool
	    effects; /* it sets headers or variables: remote parts must be there before it begins */
};

/* ---- evaluation ---- */

enum eval_rc simple_eval(const struct simple_node *node, struct exchange *ex, struct value *out);
enum eval_rc simple_eval_text(
    const struct simple_node *node, struct exchange *ex, struct str *out, bool *null);
enum eval_rc simple_eval_truth(const struct simple_node *node, struct exchange *ex, bool *out);
enum eval_rc simple_compare(const struct simple_node *node, struct exchange *ex,
    const struct value *l, const struct value *r, bool *out);
/* Sets the exception and returns EVAL_ERROR. */
enum eval_rc simple_fail(struct exchange *ex, enum exception_id id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A header, property or variable (with its scope prefixes); NULL when there is none. */
struct value *simple_lookup(
    struct exchange *ex, enum simple_scope scope, struct str name, uint32_t hash);
/* What "a..b" says; false when it says nothing. */
bool simple_range_parse(struct str text, struct simple_range *out);

/* ---- dotted access ---- */

/* False: it is no path; *why says so. */
bool simple_path_parse(
    struct arena *a, struct str text, struct simple_path **out, const char **why);
enum eval_rc simple_path_apply(
    const struct simple_path *path, struct exchange *ex, struct value v, struct value *out);
/* "name.a[0]" -> name and path; path NULL when there is none. */
void simple_key_split(struct arena *a, struct str text, struct simple_key *key);

/* ---- functions ---- */

struct simple_call {
	const struct simple_node *node;
	struct exchange *ex;
};

enum simple_form { SIMPLE_PARENS = 1, SIMPLE_BARE = 2, SIMPLE_EITHER = 3 };

/*
 * Arguments, one letter each: e expression · s expression, the body when missing (a leading s is
 * missing first, a leading S last) · p predicate · i and I expression and predicate on items · q
 * expression whose quotes stay · c class name (an INT constant with enum value_class_id) · b the
 * body, not written. A following * repeats the letter.
 */
struct simple_function {
	const char *name;
	uint8_t form;
	uint8_t min, max;
	const char *args;
	bool pure;
	unsigned reads; /* ACCESS_*: beyond its arguments; SIMPLE_READS_ORIGINAL */
	enum eval_rc (*eval)(struct simple_call *call, struct value *out);
	const char *help;
};

bool simple_file_part(struct str name); /* is it one that ${file:…} knows? */
const struct simple_function *simple_function_find(struct str name);
/* Functions of Camel that this version refuses by name: the reason, or NULL. */
const char *simple_function_refused(struct str name);
const struct simple_function *simple_function_all(size_t *n);

/* For functions: null when the argument is missing. */
enum eval_rc simple_arg(struct simple_call *call, size_t i, struct value *out);
bool simple_arg_given(const struct simple_call *call, size_t i);
enum eval_rc simple_arg_text(struct simple_call *call, size_t i, struct str *out, bool *null);
enum eval_rc simple_arg_int(
    struct simple_call *call, size_t i, int64_t *out); /* an error when it is none */
enum eval_rc simple_arg_truth(struct simple_call *call, size_t i, bool *out);
static inline size_t
simple_arg_count(const struct simple_call *call)
{
	return call->node->n;
}

/* ---- the parser ---- */

/* What an init block declares: a variable ($name), or a function (${name()}) with its chain. */
struct simple_declared {
	struct str name;
	struct simple_node *function; /* NULL: a variable */
};

struct simple_parser {
	struct compile *c;
	struct expression *e;
	struct arena *arena;
	const char *base; /* e->text: positions count from here */
	size_t length;    /* of e->text */
	unsigned depth;
	unsigned budget; /* how many quotes may turn out to be none */
	bool effects;
	bool in_chain;
	bool failed; /* something was reported */
	struct simple_declared *declared;
	size_t declared_n;
};

/* Compiles s as a template, or predicate, of e (whose text holds s). NULL: reported. */
struct simple_node *simple_compile_text(
    struct compile *c, struct expression *e, struct str s, bool predicate, bool *effects);

/* Reports at `at` and returns NULL. */
struct simple_node *simple_error(struct simple_parser *p, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
struct simple_node *simple_node_new(
    struct simple_parser *p, enum simple_type type, const char *at, uint32_t kids);
struct simple_node *simple_const(struct simple_parser *p, const char *at, struct value v);
struct simple_node *simple_body(struct simple_parser *p, const char *at);
void simple_record(
    struct simple_parser *p, enum simple_scope scope, struct str name); /* name p NULL: any */
void simple_record_key(struct simple_parser *p, const struct simple_key *key);

/* simple_init.c: does s begin with an init block? Then *rest is what follows it, and the
 * declarations are in p; the node lacks its last kid. NULL with *found: reported. */
struct simple_node *simple_parse_init(
    struct simple_parser *p, struct str s, struct str *rest, bool *found);
/* The declared variable $name at i: its length with the $, or 0. */
size_t simple_declared_at(const struct simple_parser *p, struct str s, size_t i);
struct simple_node *simple_declared_variable(struct simple_parser *p, struct str name);
/* ${name()} or ${name(argument)} of a declared function; *found false when it is none. */
struct simple_node *simple_declared_call(struct simple_parser *p, struct str f, bool *found);

enum simple_template_flag {
	SIMPLE_OPERATORS = 1,
	SIMPLE_ESCAPES = 2,
	SIMPLE_NO_QUOTES = 4 /* quotes in texts are left out */
};
struct simple_node *simple_parse_template(struct simple_parser *p, struct str s, unsigned flags);
/* A text without its quotes of both kinds; in the arena when it has any. */
struct str simple_without_quotes(struct arena *a, struct str s);
struct simple_node *simple_parse_predicate(struct simple_parser *p, struct str s);
/* `left op right`; bare: operands may be functions without ${ }. `*end` is where it ended. */
struct simple_node *simple_parse_comparison(
    struct simple_parser *p, struct str s, bool bare, size_t *end);
struct simple_node *simple_parse_function(struct simple_parser *p, struct str f);
/* An argument: quoted text, ${…} or bare text. */
struct simple_node *simple_parse_argument(struct simple_parser *p, struct str item, char letter);
/* The name of a class, in quotes or not. False: reported. */
bool simple_read_class(struct simple_parser *p, struct str item, enum value_class_id *id);
bool simple_parse_args(struct simple_parser *p, struct str args, const struct simple_function *fn,
    struct simple_node *call);
/* simple_document.c: `rest` is what stands behind "NAME(" of `whole`. NULL: reported. */
struct simple_node *simple_form_jsonpath(struct simple_parser *p, struct str whole, struct str rest);
struct simple_node *simple_form_simple_jsonpath(struct simple_parser *p, struct str whole, struct str rest);
struct simple_node *simple_form_xpath(struct simple_parser *p, struct str whole, struct str rest);
struct simple_node *simple_form_jq(struct simple_parser *p, struct str whole, struct str rest);
/* simple_fn_date.c: what stands behind "date:" or "date-with-timezone:". */
struct simple_node *simple_parse_date(struct simple_parser *p, struct str whole, struct str rest);
enum eval_rc simple_date_eval(const struct simple_date *d, struct exchange *ex, struct value *out);

/* ---- scanning ---- */

/* Length of "${" or "$simple{" at i, or 0. */
size_t simple_function_start(struct str s, size_t i);
/* i stands behind the "${": the position behind its "}", or SIZE_MAX. */
size_t simple_function_end(struct simple_parser *p, struct str s, size_t i);
/* i stands at a quote: the position behind the closing one, or SIZE_MAX; *open says that a function
 * in it is not closed. */
size_t simple_quote_end(struct simple_parser *p, struct str s, size_t i, bool *open);
/* Cuts the next argument off *rest (whose position was 0 at first); false at the end. */
bool simple_next_arg(struct simple_parser *p, struct str *rest, struct str *item);
bool simple_has_function(struct str s);
/* Are the quotes at both ends a pair that holds the whole? Then *inner is what is between. */
bool simple_unquote(struct simple_parser *p, struct str s, struct str *inner);
/* The first `what` that stands outside of quotes, functions and brackets, from i on; SIZE_MAX. */
size_t simple_find_outside(struct simple_parser *p, struct str s, size_t i, const char *what);
static inline bool
simple_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

#endif
