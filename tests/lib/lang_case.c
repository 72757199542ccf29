/* One exchange and one compilation, for tests of languages. */
#include "tests/lib/lang_case.h"

const char lang_case_silent[] = "<no reason>";

void
lang_case_init(struct lang_case *lc)
{
	compile_fake_init(&lc->c);
	exchange_pool_init(&lc->pool, 4);
	lc->ex = exchange_new(&lc->pool);
}

void
lang_case_fini(struct lang_case *lc)
{
	exchange_free(&lc->pool, &lc->ex);
	exchange_pool_fini(&lc->pool);
	compile_fake_fini(&lc->c);
}

struct str
lang_case_text(struct lang_case *lc, const char *text)
{
	return str_of(arena_strdup(&lc->ex->arena, text));
}

void
lang_case_header(struct lang_case *lc, const char *name, struct value v)
{
	exchange_set_header(lc->ex, lang_case_text(lc, name), v);
}

void
lang_case_body(struct lang_case *lc, const char *text)
{
	exchange_set_body(
	    lc->ex, text != NULL ? value_str(lang_case_text(lc, text)) : value_null());
}

const char *
lang_case_eval(struct lang_case *lc, const struct expression *e)
{
	struct value v;
	lc->ex->exception = NULL;
	enum eval_rc rc = expression_eval(e, lc->ex, &v);
	if (rc == EVAL_NEED)
		return "<need>";
	if (rc == EVAL_ERROR)
		return lc->ex->exception != NULL ? FAILS : lang_case_silent;
	if (value_is_null(&v))
		return NULL_VALUE;
	struct str s = value_text(&lc->ex->arena, &v);
	return arena_strndup(&lc->ex->arena, s.p, s.n);
}

const char *
lang_case_run(struct lang_case *lc, const char *language, const char *text, bool predicate)
{
	struct expression *e = compile_fake_new(&lc->c, language, text, predicate);
	size_t errors = lc->c.errors_n;
	if (!compile_fake_finish(&lc->c, e))
		return lc->c.errors_n > errors ? REFUSED : lang_case_silent;
	return lang_case_eval(lc, e);
}
