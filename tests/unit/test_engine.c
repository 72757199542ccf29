/* core/eip/engine: activations, calls, remote values, waiting, stop, abort. */
#include "core/eip/engine.h"

#include "tests/lib/engine_case.h"

#include "core/base/assert.h"
#include "core/eip/on_exception.h"

#include <string.h>

static struct build b;
static struct fake f;

static void
test_steps_in_order(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(
	    &b, "r", build_append(&b, "1"), build_append(&b, "2"), build_append(&b, "3"), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x123");
	assert_false(f.failed);
	case_end(&f);
}

static void
test_empty_route(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", NULL, NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x");
	case_end(&f);
}

static struct route *
choice_route(void)
{
	struct step *one =
	    build_when(&b, build_predicate(&b, fn_header_is, "h=1"), build_append(&b, "one"), NULL);
	struct step *two = build_when(&b, build_predicate(&b, fn_header_is, "h=2"), NULL, NULL);
	struct step *other = build_otherwise(&b, build_append(&b, "other"), NULL);
	return build_route(
	    &b, "r", build_choice(&b, other, one, two, NULL), build_append(&b, "."), NULL);
}

static const struct choice_row {
	const char *label, *header, *body;
} choice_rows[] = {
	{ "first", "1", "xone." },
	{ "a branch without steps", "2", "x." },
	{ "otherwise", "3", "xother." },
};

static void
check_choice(void **state)
{
	const struct choice_row *row = *state;
	build_init(&b);
	struct route *r = choice_route();
	case_begin(&f, &b);
	struct exchange *ex = fake_exchange(&f, "x");
	exchange_set_header(ex, STR_LIT("H"), value_str(str_of(row->header)));
	engine_start(&f.en, ex, r);
	assert_string_equal(f.body, row->body);
	case_end(&f);
}

static void
test_choice_without_otherwise(void **state)
{
	(void)state;
	build_init(&b);
	struct step *when =
	    build_when(&b, build_predicate(&b, fn_false, ""), build_append(&b, "no"), NULL);
	struct route *r =
	    build_route(&b, "r", build_choice(&b, NULL, when, NULL), build_append(&b, "."), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x.");
	case_end(&f);
}

/* ---- direct ---- */

static const char *seen_route;

static enum step_rc
note_route(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	seen_route = ex->route->id;
	return STEP_DONE;
}

static void
test_direct(void **state)
{
	(void)state;
	build_init(&b);
	struct route *inner =
	    build_route(&b, "inner", build_append(&b, "i"), build_run(&b, note_route), NULL);
	struct endpoint *ep = build_direct(&b, "inner", inner);
	struct route *outer = build_route(
	    &b, "outer", build_to(&b, ep), build_to(&b, ep), build_append(&b, "o"), NULL);
	struct route *last = build_route(&b, "last", build_to(&b, build_direct(&b, "outer", outer)),
	    build_run(&b, note_route), NULL);
	static const char *const properties[] = { "CamelToEndpoint", NULL };
	case_begin(&f, &b);
	fake_watch(&f, NULL, properties);
	case_run_at_once(&f, outer, "x");
	assert_string_equal(f.body, "xiio");
	assert_string_equal(seen_route, "inner");
	assert_string_equal(fake_seen(&f, "CamelToEndpoint"), "direct://inner");
	case_run_at_once(&f, last, "x");
	assert_string_equal(seen_route, "last");
	case_end(&f);
}

static void
test_direct_without_end(void **state)
{
	(void)state;
	build_init(&b);
	struct step *to = build_to(&b, NULL);
	struct route *r = build_route(&b, "r", build_append(&b, "1"), to, NULL);
	to->endpoint = build_direct(&b, "r", r);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "");
	assert_memory_equal(f.exception, "StackOverflowError: more than 1000 routes deep", 46);
	assert_int_equal(strlen(f.body), ENGINE_DEPTH_MAX + 1);
	case_end(&f);
}

/* ---- waiting ---- */

static void
test_pending_send(void **state)
{
	(void)state;
	build_init(&b);
	struct endpoint *ep = build_endpoint(&b, "fake:x", COMPONENT_PRODUCER);
	struct route *r = build_route(&b, "r", build_to(&b, ep), build_append(&b, "."), NULL);
	case_begin(&f, &b);
	f.send_mode = FAKE_LATER;
	struct exchange *ex = fake_start(&f, r, "x");
	assert_int_equal(f.done, 0);
	assert_true(engine_waits(ex));
	engine_resume(ex);
	assert_string_equal(f.body, "x.");
	ex = fake_start(&f, r, "x");
	exchange_fail(ex, EXCEPTION_CONNECT, "refused");
	engine_fail(ex);
	assert_string_equal(f.exception, "ConnectException: refused");
	case_end(&f);
}

static enum step_rc
resume_inside(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	engine_resume(ex);
	return STEP_PENDING;
}

static void
test_resume_from_inside_does_not_recurse(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_append(&b, "a"), NULL);
	struct step *st = r->block.first;
	for (int i = 0; i < 100000; i++, st = st->next)
		st->next = build_run(&b, resume_inside);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "xa");
	assert_int_equal(f.waits_n, 10); /* the loop turned every ENGINE_BURST steps */
	case_end(&f);
}

static void
test_burst(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_append(&b, "a"), NULL);
	struct step *st = r->block.first;
	for (int i = 0; i < ENGINE_BURST * 2; i++, st = st->next)
		st->next = build_set_body(&b, "b");
	case_begin(&f, &b);
	f.wakes = false;
	struct exchange *ex = fake_start(&f, r, "x");
	assert_int_equal(f.done, 0);
	assert_int_equal(f.waits[0], 0);
	engine_wake(ex);
	assert_int_equal(f.done, 0);
	engine_wake(ex);
	assert_int_equal(f.done, 1);
	assert_string_equal(f.body, "b");
	case_end(&f);
}

static void
test_abort(void **state)
{
	(void)state;
	build_init(&b);
	struct endpoint *ep = build_endpoint(&b, "fake:x", COMPONENT_PRODUCER);
	struct step *catch =
	    build_catch(&b, EXCEPTION_EXCEPTION, NULL, build_set_body(&b, "caught"), NULL);
	struct step *try = build_try(&b, NULL, catch, NULL, build_to(&b, ep), NULL);
	struct route *r = build_route(&b, "r", try, build_append(&b, "."), NULL);
	case_begin(&f, &b);
	f.send_mode = FAKE_LATER;
	struct exchange *ex = fake_start(&f, r, "x");
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "the broker stops");
	assert_int_equal(f.done, 1);
	assert_string_equal(f.exception, "RejectedExecutionException: the broker stops");
	assert_string_equal(f.body, "x");
	case_end(&f);
}

static enum step_rc
abort_inside(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "now");
	return STEP_PENDING;
}

static void
test_abort_from_inside(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r =
	    build_route(&b, "r", build_run(&b, abort_inside), build_append(&b, "."), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.exception, "RejectedExecutionException: now");
	case_end(&f);
}

/* ---- calls ---- */

/* Steps 2 and 3 of four belong to xform. */
static struct route *
call_route(void)
{
	struct route *r = build_route(&b, "r", build_append(&b, "1"), build_append(&b, "2"),
	    build_append(&b, "3"), build_append(&b, "4"), NULL);
	struct step *second = r->block.first->next;
	second->owner = second->next->owner = "xform";
	second->call_run = 2;
	second->next->call_run = 1;
	return r;
}

static void
test_call(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = call_route();
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x1CC4");
	assert_int_equal(f.calls, 1);
	f.call_mode = FAKE_LATER;
	struct exchange *ex = fake_start(&f, r, "y");
	exchange_set_body(ex, value_str(STR_LIT("reply")));
	engine_call_done(ex, true, NULL);
	assert_string_equal(f.body, "reply4");
	f.local = true;
	case_run_at_once(&f, r, "z");
	assert_string_equal(f.body, "z1234");
	case_end(&f);
}

static void
test_call_fails_at_its_second_step(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = call_route();
	struct step *handler = build_on_exception(&b, EXCEPTION_EXCEPTION, NULL, NULL);
	build_redelivery(&b, handler, 1, 0);
	build_handler(&b, r, handler, true);
	case_begin(&f, &b);
	f.call_mode = FAKE_LATER;
	struct exchange *ex = fake_start(&f, r, "x");
	/* the reply: the first step of the run has been done */
	exchange_set_body(ex, value_str(STR_LIT("x1-2")));
	exchange_fail(ex, EXCEPTION_TRANSFORMER, "at 3");
	f.call_mode = FAKE_NOW;
	engine_call_done(ex, false, r->block.first->next->next);
	/* that step alone is called again */
	assert_int_equal(f.calls, 2);
	assert_int_equal(f.redelivered, 1);
	assert_string_equal(f.body, "x1-2C4");
	case_end(&f);
}

static void
test_call_with_a_stop_in_its_run(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = call_route();
	case_begin(&f, &b);
	f.call_mode = FAKE_LATER;
	struct exchange *ex = fake_start(&f, r, "x");
	ex->stop = true;
	engine_call_done(ex, true, NULL);
	assert_string_equal(f.body, "x1");
	assert_false(f.failed);
	case_end(&f);
}

/* ---- remote values ---- */

static struct route *
remote_choice(struct expression *a, struct expression *c, struct expression *d)
{
	struct step *first = build_when(&b, a, build_append(&b, "A"), NULL);
	struct step *second = build_when(&b, c, build_append(&b, "C"), NULL);
	struct step *third = build_when(&b, d, build_append(&b, "D"), NULL);
	struct step *other = build_otherwise(&b, build_append(&b, "O"), NULL);
	return build_route(&b, "r", build_choice(&b, other, first, second, third, NULL), NULL);
}

static const struct remote_row {
	const char *label, *answers, *body, *exception;
} remote_rows[] = {
	{ "first", "a=true\nc=true\nd=true", "xA", "" },
	{ "second", "a=false\nc=true\nd=true", "xC", "" },
	{ "third", "a=false\nc=false\nd=true", "xD", "" },
	{ "none", "a=false\nc=false\nd=false", "xO", "" },
	{ "an error that is read", "a=false\nc=!bad\nd=true", "x",
	    "XPathExpressionException: bad" },
	{ "an error behind the match", "a=true\nc=!bad\nd=!bad", "xA", "" },
	{ "no answer", "c=true", "x",
	    "ExpressionEvaluationException: an expression was left without a value" },
};

static void
check_remote(void **state)
{
	const struct remote_row *row = *state;
	build_init(&b);
	struct route *r = remote_choice(build_remote(&b, "xform", "a", true),
	    build_remote(&b, "xform", "c", true), build_remote(&b, "xform", "d", true));
	case_begin(&f, &b);
	f.answers = row->answers;
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(f.exception, row->exception);
	assert_int_equal(f.evaluates, 1); /* all in one call */
	assert_int_equal(f.asked_n, 3);
	assert_true(f.asked_first_match);
	case_end(&f);
}

static void
test_remote_of_two_owners(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = remote_choice(build_remote(&b, "xform", "a", true),
	    build_remote(&b, "jq", "c", true), build_remote(&b, "xform", "d", true));
	case_begin(&f, &b);
	f.answers = "a=false\nc=false\nd=true";
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "xD");
	assert_int_equal(f.evaluates, 3);
	case_end(&f);
}

static void
test_remote_behind_a_local_predicate(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = remote_choice(build_remote(&b, "xform", "a", true),
	    build_predicate(&b, fn_true, ""), build_remote(&b, "xform", "d", true));
	case_begin(&f, &b);
	f.answers = "a=false\nd=true";
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "xC"); /* in order, although d was asked for with a */
	case_end(&f);
}

static void
test_remote_later_and_lost(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = remote_choice(build_remote(&b, "xform", "a", true),
	    build_remote(&b, "xform", "c", true), build_remote(&b, "xform", "d", true));
	case_begin(&f, &b);
	f.evaluate_mode = FAKE_LATER;
	f.answers = "a=false\nc=false\nd=true";
	struct exchange *ex = fake_start(&f, r, "x");
	assert_int_equal(f.done, 0);
	fake_answer_evaluate(&f, ex);
	assert_string_equal(f.body, "xD");
	f.evaluate_mode = FAKE_FAIL;
	case_run_at_once(&f, r, "x");
	assert_memory_equal(f.exception, "Worker", 6);
	assert_non_null(strstr(f.exception, "lost"));
	case_end(&f);
}

/* A step's slots are its own. */
static void
test_slots_are_cleared(void **state)
{
	(void)state;
	build_init(&b);
	struct expression *e = build_remote(&b, "xform", "a", false);
	struct step *one = build_set_body(&b, ""), *two = build_set_body(&b, "");
	one->expr = two->expr = e;
	struct route *r = build_route(&b, "r", one, two, NULL);
	case_begin(&f, &b);
	f.answers = "a=v";
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "v");
	assert_int_equal(f.evaluates, 2);
	case_end(&f);
}

/* ---- streams ---- */

static struct exchange *
stream_exchange(struct fake_stream *fs)
{
	struct exchange *ex = fake_exchange(&f, NULL);
	fake_stream_init(fs);
	ex->body = (struct value){ .type = VALUE_STREAM, .u.stream = &fs->stream };
	return ex;
}

static void
test_stream_is_collected_for_who_reads_it(void **state)
{
	(void)state;
	struct fake_stream fs;
	build_init(&b);
	struct route *r =
	    build_route(&b, "r", build_set_header(&b, "h", "v"), build_append(&b, "."), NULL);
	case_begin(&f, &b);
	engine_start(&f.en, stream_exchange(&fs), r);
	assert_string_equal(f.body, "collected.");
	assert_int_equal(f.collects, 1);
	f.collect_mode = FAKE_FAIL;
	engine_start(&f.en, stream_exchange(&fs), r);
	assert_string_equal(f.exception, "IOException: broken");
	case_end(&f);
}

static void
test_stream_passes_those_who_do_not(void **state)
{
	(void)state;
	struct fake_stream fs;
	build_init(&b);
	struct step *to =
	    build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER | COMPONENT_STREAM_IN));
	struct step *when = build_when(&b, build_predicate(&b, fn_true, ""), to, NULL);
	struct route *r = build_route(&b, "r", build_choice(&b, NULL, when, NULL), NULL);
	case_begin(&f, &b);
	to->body_once = true;
	engine_start(&f.en, stream_exchange(&fs), r);
	assert_int_equal(f.collects, 0);
	assert_string_equal(f.body, "S");
	assert_int_equal(fs.cancelled, 1); /* by the endpoint, which took it */
	to->body_once = false;
	engine_start(&f.en, stream_exchange(&fs), r);
	assert_string_equal(f.body, "collectedS");
	case_end(&f);
}

static void
test_stream_that_nobody_takes(void **state)
{
	(void)state;
	struct fake_stream fs;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_set_body(&b, "new"), NULL);
	case_begin(&f, &b);
	engine_start(&f.en, stream_exchange(&fs), r);
	assert_string_equal(f.body, "new");
	assert_int_equal(fs.cancelled, 1);
	case_end(&f);
}

/* ---- runs of steps ---- */

static const char *failed_step;

static void
steps_done(struct exchange *ex)
{
	const struct step *st = engine_failed_step(ex);
	failed_step = st ? st->id : NULL;
	ex->done = NULL;
}

static void
test_start_steps(void **state)
{
	(void)state;
	build_init(&b);
	struct step *boom = build_boom(&b, EXCEPTION_TRANSFORMER, "bad", 0);
	struct route *r = build_route(&b, "r", build_append(&b, "1"), build_append(&b, "2"), boom,
	    build_append(&b, "3"), NULL);
	case_begin(&f, &b);
	struct exchange *ex = fake_exchange(&f, "x");
	engine_start_steps(&f.en, ex, r->block.first, 2);
	assert_string_equal(f.body, "x12");
	assert_false(f.failed);

	/* of a failed step nothing is left, and it is named */
	ex = fake_exchange(&f, "x");
	exchange_set_header(ex, STR_LIT("h"), value_int(1));
	exchange_clean(ex);
	ex->done = steps_done;
	engine_start_steps(&f.en, ex, r->block.first->next, 3);
	assert_string_equal(failed_step, boom->id);
	assert_non_null(ex->exception);
	assert_string_equal(ex->exception->step_id, boom->id);
	struct str text = value_text(&ex->arena, &ex->body);
	assert_true(str_eq(text, STR_LIT("x2")));
	assert_int_equal(ex->dirty, DIRTY_BODY);
	exchange_free(&f.pool, &ex);
	case_end(&f);
}

/* ---- stop ---- */

extern const struct eip_desc stop_eip;

static void
test_stop(void **state)
{
	(void)state;
	build_init(&b);
	struct step *when = build_when(&b, build_predicate(&b, fn_true, ""),
	    build_step(&b, &stop_eip), build_append(&b, "no"), NULL);
	struct route *inner = build_route(&b, "inner", build_append(&b, "i"),
	    build_choice(&b, NULL, when, NULL), build_append(&b, "no"), NULL);
	struct step *to = build_to(&b, build_direct(&b, "inner", inner));
	struct step *try =
	    build_try(&b, build_finally(&b, build_append(&b, "no"), NULL), NULL, NULL, to, NULL);
	struct route *outer = build_route(&b, "outer", try, build_append(&b, "no"), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, outer, "x");
	assert_string_equal(f.body, "xi");
	assert_false(f.failed);
	case_end(&f);
}

/* ---- memory ---- */

static size_t used[2];

static enum step_rc
note_used(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	used[used[0] != 0] = ex->arena.used;
	return STEP_DONE;
}

/* Blocks that are entered again and again take no new memory. */
static void
test_activations_are_used_again(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_set_body(&b, "a"), NULL);
	struct step *st = r->block.first;
	for (int i = 0; i < 1000; i++, st = st->next) {
		struct step *when =
		    build_when(&b, build_predicate(&b, fn_true, ""), build_set_body(&b, "b"), NULL);
		st->next = i == 1 || i == 999 ? build_run(&b, note_used)
					      : build_choice(&b, NULL, when, NULL);
	}
	case_begin(&f, &b);
	used[0] = used[1] = 0;
	case_run_at_once(&f, r, "x");
	assert_true(used[0] > 0);
	assert_int_equal(used[0], used[1]);
	case_end(&f);
}

/* ---- order ---- */

struct gate {
	struct order order;
	bool open;
	int asked, ran;
};

static bool
gate_may_run(struct order *o, struct exchange *ex, const struct step *st)
{
	struct gate *g = CONTAINER_OF(o, struct gate, order);
	(void)ex;
	(void)st;
	g->asked++;
	return g->open;
}

static void
gate_ran(struct order *o, const struct step *st)
{
	(void)st;
	CONTAINER_OF(o, struct gate, order)->ran++;
}

/* A step that is ordered waits until it may run; others, and exchanges without an order, do not. */
static void
test_order(void **state)
{
	(void)state;
	build_init(&b);
	struct step *second = build_append(&b, "2");
	second->ordered = true;
	struct route *r =
	    build_route(&b, "r", build_append(&b, "1"), second, build_append(&b, "3"), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x"); /* without */
	assert_string_equal(f.body, "x123");
	struct gate g = { .order = { gate_may_run, gate_ran } };
	struct exchange *ex = fake_exchange(&f, "y");
	ex->order = &g.order;
	engine_start(&f.en, ex, r);
	assert_int_equal(f.done, 1);
	assert_int_equal(g.asked, 1);
	assert_true(engine_waits(ex));
	engine_wake(ex); /* not yet */
	assert_int_equal(g.asked, 2);
	assert_int_equal(g.ran, 0);
	g.open = true;
	engine_wake(ex);
	assert_int_equal(f.done, 2);
	assert_int_equal(g.asked, 3);
	assert_int_equal(g.ran, 1);
	assert_string_equal(f.body, "y123");
	case_end(&f);
}

static void
test_order_aborted(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_append(&b, "1");
	st->ordered = true;
	struct route *r = build_route(&b, "r", st, NULL);
	case_begin(&f, &b);
	struct gate g = { .order = { gate_may_run, gate_ran } };
	struct exchange *ex = fake_exchange(&f, "y");
	ex->order = &g.order;
	engine_start(&f.en, ex, r);
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "ends");
	assert_int_equal(f.done, 1);
	assert_int_equal(g.ran, 0);
	case_end(&f);
}

extern const struct eip_desc deadLetterChannel_eip;

static struct step *
dead_letter(struct step *first, int64_t redeliveries)
{
	struct step *st = build_step(&b, &deadLetterChannel_eip);
	struct error_handler_kind_conf *conf = st->conf;
	st->block = (struct block){ first, 1 };
	conf->on.dead_letter = conf->on.handles_new = true;
	build_redelivery(&b, st, redeliveries, 0);
	return st;
}

/* A source that could not give its message: the route's error handler has the exception. */
static void
test_start_failed(void **state)
{
	(void)state;
	build_init(&b);
	struct route *plain = build_route(&b, "plain", build_append(&b, "1"), NULL);
	struct route *r = build_route(&b, "r", build_append(&b, "1"), build_append(&b, "2"), NULL);
	r->error_handler = dead_letter(build_append(&b, "D"), 3);
	case_begin(&f, &b);
	struct exchange *ex = fake_exchange(&f, "x");
	exchange_fail(ex, EXCEPTION_IO, "no message");
	engine_start_failed(&f.en, ex, r);
	assert_int_equal(f.done, 1);
	assert_false(f.failed);
	assert_string_equal(f.body, "xD");
	ex = fake_exchange(&f, "x");
	exchange_fail(ex, EXCEPTION_IO, "no message");
	engine_start_failed(&f.en, ex, plain);
	assert_int_equal(f.done, 2);
	assert_true(f.failed);
	case_end(&f);
}

int
main(void)
{
	UNIT_CASE(test_order);
	UNIT_CASE(test_order_aborted);
	UNIT_CASE(test_start_failed);
	UNIT_CASE(test_steps_in_order);
	UNIT_CASE(test_empty_route);
	UNIT_TABLE("choice", choice_rows, check_choice);
	UNIT_CASE(test_choice_without_otherwise);
	UNIT_CASE(test_direct);
	UNIT_CASE(test_direct_without_end);
	UNIT_CASE(test_pending_send);
	UNIT_CASE(test_resume_from_inside_does_not_recurse);
	UNIT_CASE(test_burst);
	UNIT_CASE(test_abort);
	UNIT_CASE(test_abort_from_inside);
	UNIT_CASE(test_call);
	UNIT_CASE(test_call_fails_at_its_second_step);
	UNIT_CASE(test_call_with_a_stop_in_its_run);
	UNIT_TABLE("remote", remote_rows, check_remote);
	UNIT_CASE(test_remote_of_two_owners);
	UNIT_CASE(test_remote_behind_a_local_predicate);
	UNIT_CASE(test_remote_later_and_lost);
	UNIT_CASE(test_slots_are_cleared);
	UNIT_CASE(test_stream_is_collected_for_who_reads_it);
	UNIT_CASE(test_stream_passes_those_who_do_not);
	UNIT_CASE(test_stream_that_nobody_takes);
	UNIT_CASE(test_start_steps);
	UNIT_CASE(test_stop);
	UNIT_CASE(test_activations_are_used_again);
	return unit_run("engine");
}
