/* What a case begins and ends with that runs routes on the fake engine. */
#include "tests/lib/engine_case.h"

#include <stdio.h>

enum { SHARED_MAX = 1 << 20 };

void
case_begin(struct fake *f, struct build *b)
{
	static const char *const headers[] = { "a", "b", "x-one", "x-two", "CamelLoopIndex", NULL };
	static const char *const properties[] = { "p", "CamelToEndpoint", "CamelLoopIndex",
		"CamelLoopSize", "CamelCharsetName", NULL };
	fake_init(f, b);
	fake_watch(f, headers, properties);
}

void
case_begin_shared(struct fake *f, struct build *b)
{
	build_init(b);
	b->program.shared_size = SHARED_MAX;
	case_begin(f, b);
}

void
case_end(struct fake *f)
{
	struct build *b = f->b;
	assert_int_equal(f->pool.live, 0);
	assert_int_equal(f->queue_n, 0);
	fake_fini(f);
	build_fini(b);
}

void
case_run(struct fake *f, const struct route *route, const char *body)
{
	int done = f->done;
	(void)fake_start(f, route, body);
	while (f->done == done)
		fake_answer(f, NULL);
	assert_int_equal(f->done, done + 1);
}

void
case_run_at_once(struct fake *f, const struct route *route, const char *body)
{
	int done = f->done;
	(void)fake_start(f, route, body);
	assert_int_equal(f->done, done + 1);
}

void
case_run_step(struct fake *f, struct build *b, struct step *st, const char *body)
{
	struct route *r = build_route(b, "r", st, NULL);
	case_begin(f, b);
	case_run_at_once(f, r, body);
}

struct step *
case_share(struct fake *f, struct step *st, uint32_t size)
{
	st->shared_size = size;
	st->shared_at = f->shared_used;
	f->shared_used += (size + 63) & ~63u;
	assert_true(f->shared_used <= SHARED_MAX);
	return st;
}

enum step_rc
case_show_variables(struct engine *en, struct exchange *ex, const struct step *st)
{
	static const char *const names[] = { "a", "b" };
	(void)en;
	(void)st;
	for (size_t i = 0; i < 2; i++) {
		const struct value *v = exchange_variable(ex, str_of(names[i]));
		if (v)
			exchange_set_header(ex, str_of(names[i]), *v);
	}
	return STEP_DONE;
}

enum step_rc
case_note(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct fake *f = en->owner;
	struct str body = value_text(&ex->arena, &ex->body);
	(void)st;
	(void)snprintf(f->noted, sizeof(f->noted), "%.*s %d", STR_FMT(body), (int)ex->pattern);
	exchange_set_header(ex, STR_LIT("t"), value_int(1));
	return STEP_DONE;
}

enum eval_rc
case_property(struct exchange *ex, const char *arg, struct value *out)
{
	const struct value *v = exchange_property(ex, str_of(arg));
	*out = v ? *v : value_null();
	return EVAL_OK;
}
