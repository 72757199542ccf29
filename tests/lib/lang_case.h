/* One exchange and one compilation, for tests of languages. */
#ifndef HINNY_TESTS_LIB_LANG_CASE_H
#define HINNY_TESTS_LIB_LANG_CASE_H

#include "core/lang/expression.h"
#include "tests/lib/compile_fake.h"

/* What a case may expect beside a text. */
#define NULL_VALUE "<null>"
#define FAILS "<fails>"     /* an exception */
#define REFUSED "<refused>" /* an error at load */
#define IS_TRUE "true"
#define IS_FALSE "false"

/* What must never come back, by address: a refusal or a failure without a reason. */
extern const char lang_case_silent[];

struct lang_case {
	struct compile c;
	struct exchange_pool pool;
	struct exchange *ex;
};

void lang_case_init(struct lang_case *lc);
void lang_case_fini(struct lang_case *lc);
/* Headers, body … for lang_case_run; text is copied. */
struct str lang_case_text(struct lang_case *lc, const char *text);
void lang_case_header(struct lang_case *lc, const char *name, struct value v);
void lang_case_body(struct lang_case *lc, const char *text); /* NULL: null */
/* Evaluates a compiled expression: its text, or one of the marks above. */
const char *lang_case_eval(struct lang_case *lc, const struct expression *e);
/* Compiles with default options and evaluates. */
const char *lang_case_run(
    struct lang_case *lc, const char *language, const char *text, bool predicate);

#endif
