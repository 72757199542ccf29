/* core/eip: errorHandler, onCompletion, interceptSendToEndpoint; core/eip/intercept. */
#include "core/eip/intercept.h"

#include "tests/lib/engine_case.h"

#include <stdio.h>
#include <string.h>

extern const struct eip_desc deadLetterChannel_eip, defaultErrorHandler_eip, onCompletion_eip,
    interceptSendToEndpoint_eip, intercept_eip, interceptFrom_eip, redeliveryPolicy_eip, stop_eip;

static struct build b;
static struct fake f;

static struct step *
boom(void)
{
	return build_boom(&b, EXCEPTION_IO, "boom", 0);
}

/* An errorHandler of this kind; a dead letter channel runs `dead`. */
static struct step *
handler(const struct eip_desc *eip, struct step *dead, int64_t redeliveries)
{
	struct step *st = build_step(&b, eip);
	struct error_handler_kind_conf *conf = st->conf;
	st->block = (struct block){ dead, dead ? 1 : 0 };
	conf->on.dead_letter = dead != NULL;
	conf->on.handles_new = true;
	if (redeliveries > 0)
		build_redelivery(&b, st, redeliveries, 0);
	return st;
}

/* ---- errorHandler ---- */

static void
test_dead_letter_channel(void **state)
{
	static const char *const properties[] = { "CamelExceptionCaught", NULL };
	(void)state;
	build_init(&b);
	struct route *r =
	    build_route(&b, "r", build_append(&b, "1"), boom(), build_append(&b, "2"), NULL);
	r->error_handler = handler(&deadLetterChannel_eip, build_append(&b, "D"), 2);
	case_begin(&f, &b);
	fake_watch(&f, NULL, properties);
	case_run(&f, r, "x");
	assert_false(f.failed);
	assert_string_equal(f.body, "x1.D");
	assert_string_equal(fake_seen(&f, "CamelExceptionCaught"), "java.io.IOException: boom");
	assert_int_equal(f.redelivered, 2);
	assert_null(strstr(f.log, "Exhausted")); /* it is handled */
	case_end(&f);
}

static void
test_dead_letter_channel_with_the_original(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(
	    &b, "r", build_append(&b, "1"), build_set_header(&b, "h", "1"), boom(), NULL);
	struct step *st = handler(&deadLetterChannel_eip, build_append(&b, "D"), 0);
	((struct error_handler_kind_conf *)st->conf)->on.use_original_message = true;
	r->error_handler = st;
	static const char *const headers[] = { "h", NULL };
	case_begin(&f, &b);
	fake_watch(&f, headers, NULL);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xD");
	assert_string_equal(fake_seen(&f, "h"), "");
	case_end(&f);
}

static void
test_dead_letter_channel_that_fails(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(), NULL);
	struct step *st =
	    handler(&deadLetterChannel_eip, build_boom(&b, EXCEPTION_ILLEGAL_STATE, "dead", 0), 0);
	r->error_handler = st;
	case_begin(&f, &b);
	case_run(&f, r, "x");
	assert_false(f.failed);
	assert_non_null(strstr(f.log, "java.lang.IllegalStateException: dead"));
	((struct error_handler_kind_conf *)st->conf)->on.handles_new = false;
	case_run(&f, r, "x");
	assert_string_equal(f.exception, "IllegalStateException: dead");
	case_end(&f);
}

static void
test_on_exception_before_the_dead_letter_channel(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", boom(), NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, build_append(&b, "H"), NULL);
	build_handler(&b, r, on, true);
	r->error_handler = handler(&deadLetterChannel_eip, build_append(&b, "D"), 2);
	case_begin(&f, &b);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x.H");
	assert_true(f.failed);
	assert_int_equal(f.redelivered, 0); /* one with steps has a policy of its own */
	on->block = (struct block){ NULL, 0 };
	case_run(
	    &f, r, "x"); /* one without steps leaves it to the channel, with its redeliveries */
	assert_string_equal(f.body, "x.D");
	assert_false(f.failed);
	assert_int_equal(f.redelivered, 2);
	case_end(&f);
}

static void
test_default_error_handler(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_boom(&b, EXCEPTION_IO, "boom", 2), NULL);
	struct route *never = build_route(&b, "never", boom(), NULL);
	r->error_handler = never->error_handler = handler(&defaultErrorHandler_eip, NULL, 2);
	case_begin(&f, &b);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x.");
	assert_int_equal(f.redelivered, 2);
	case_run(&f, never, "x");
	assert_string_equal(f.exception, "IOException: boom");
	assert_non_null(strstr(f.log, "Exhausted after delivery attempt: 3"));
	case_end(&f);
}

/* The failure goes to the caller, whose handler runs the whole callee again. */
static void
test_no_error_handler(void **state)
{
	(void)state;
	build_init(&b);
	struct route *callee = build_route(
	    &b, "callee", build_append(&b, "c"), build_boom(&b, EXCEPTION_IO, "boom", 2), NULL);
	build_handler(&b, callee,
	    build_on_exception(&b, EXCEPTION_IO, build_append(&b, "never"), NULL), true);
	callee->no_error_handler = true;
	struct route *r =
	    build_route(&b, "r", build_to(&b, build_direct(&b, "callee", callee)), NULL);
	r->error_handler = handler(&defaultErrorHandler_eip, NULL, 2);
	case_begin(&f, &b);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xc.");
	assert_int_equal(f.redelivered, 2);
	case_end(&f);
}

/* ---- onCompletion ---- */

static char seen[512];

static enum step_rc
note_completion(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct str body = value_text(&ex->arena, &ex->body);
	const struct value *caught = exchange_property(ex, STR_LIT("CamelExceptionCaught"));
	const struct value *mark = exchange_property(ex, STR_LIT("CamelOnCompletion"));
	(void)en;
	(void)st;
	(void)snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "[%.*s%s%s%s]",
	    STR_FMT(body), caught ? " caught" : "", ex->exception ? " exception" : "",
	    mark ? " copy" : "");
	return STEP_DONE;
}

static struct step *
completion(struct route *r, struct step *first)
{
	struct step *st = build_step(&b, &onCompletion_eip);
	const struct step **all = arena_alloc(&b.arena, 2 * sizeof(all[0]));
	build_block(&st->block, first, build_run(&b, note_completion), NULL);
	for (uint32_t i = 0; i < r->completions_n; i++)
		all[i] = r->completions[i];
	all[r->completions_n++] = st;
	r->completions = all;
	return st;
}

/* What runs afterwards. */
static void
run_rest(void)
{
	while (f.queue_n)
		fake_answer(&f, NULL);
}

static void
test_completion_afterwards(void **state)
{
	(void)state;
	build_init(&b);
	struct route *fine = build_route(&b, "fine", build_append(&b, "1"), NULL),
		     *bad = build_route(&b, "bad", boom(), NULL);
	struct on_completion_conf *conf = completion(fine, build_append(&b, "C"))->conf;
	bad->completions = fine->completions;
	bad->completions_n = 1;
	case_begin(&f, &b);
	seen[0] = 0;
	case_run(&f, fine, "x");
	assert_string_equal(f.body, "x1");
	assert_string_equal(seen, "");
	run_rest();
	assert_string_equal(seen, "[x1C copy]");
	seen[0] = 0;
	case_run(&f, bad, "x");
	assert_true(f.failed);
	run_rest();
	assert_string_equal(seen, "[x.C caught copy]");
	conf->failure_only = true;
	seen[0] = 0;
	case_run(&f, fine, "x");
	run_rest();
	assert_string_equal(seen, "");
	conf->failure_only = false;
	conf->complete_only = true;
	case_run(&f, bad, "x");
	run_rest();
	assert_string_equal(seen, "");
	conf->on_when = build_predicate(&b, fn_false, "");
	case_run(&f, fine, "x");
	run_rest();
	assert_string_equal(seen, "");
	conf->on_when = NULL;
	conf->use_original = true;
	f.en.keeps_original = true;
	case_run(&f, fine, "x");
	run_rest();
	assert_string_equal(seen, "[xC copy]");
	case_end(&f);
}

static void
test_completion_before(void **state)
{
	(void)state;
	build_init(&b);
	struct route *fine = build_route(
			 &b, "fine", build_append(&b, "1"), build_step(&b, &stop_eip), NULL),
		     *bad = build_route(&b, "bad", boom(), NULL);
	struct on_completion_conf *conf = completion(fine, build_append(&b, "C"))->conf;
	conf->mode = COMPLETION_BEFORE;
	bad->completions = fine->completions;
	bad->completions_n = 1;
	case_begin(&f, &b);
	seen[0] = 0;
	case_run(&f, fine, "x");
	assert_string_equal(f.body, "x1C");
	assert_string_equal(seen, "[x1C copy]");
	seen[0] = 0;
	case_run(&f, bad, "x");
	assert_string_equal(f.body, "x.C");
	assert_string_equal(f.exception, "IOException: boom");
	assert_string_equal(seen, "[x.C caught copy]");
	case_end(&f);
}

/* A called route brings its own, and each runs once for each call. */
static void
test_completions_of_called_routes(void **state)
{
	(void)state;
	build_init(&b);
	struct route *callee = build_route(&b, "callee", build_append(&b, "c"), NULL);
	struct endpoint *ep = build_direct(&b, "callee", callee);
	struct route *r = build_route(&b, "r", build_to(&b, ep), build_to(&b, ep), NULL);
	(void)completion(callee, build_append(&b, "1"));
	(void)completion(r, boom());
	case_begin(&f, &b);
	seen[0] = 0;
	case_run(&f, r, "x");
	assert_false(f.failed);
	run_rest();
	assert_string_equal(seen, "[xcc1 copy][xcc1 copy]");
	assert_non_null(strstr(f.log, "java.io.IOException: boom"));
	case_end(&f);
}

/* ---- interceptors ---- */

static struct intercept_conf *
intercept_sends(struct route *r, const char *pattern, struct step *first)
{
	struct step *st = build_step(&b, &interceptSendToEndpoint_eip);
	struct intercept_conf *conf = st->conf;
	const struct step **all = arena_alloc(&b.arena, 4 * sizeof(all[0]));
	struct hinny_error err;
	st->block = (struct block){ first, first ? 1 : 0 };
	assert_int_equal(
	    pattern_compile(&b.arena, str_of(pattern), true, &conf->pattern, &err), HINNY_OK);
	for (uint32_t i = 0; i < r->interceptors_n; i++)
		all[i] = r->interceptors[i];
	all[r->interceptors_n++] = st;
	r->interceptors = all;
	return conf;
}

static void
test_intercept_sends(void **state)
{
	static const char *const properties[] = { "CamelInterceptedEndpoint", NULL };
	(void)state;
	build_init(&b);
	struct route *callee = build_route(&b, "b1", build_append(&b, "b"), NULL);
	struct route *r = build_route(&b, "r", build_append(&b, "1"),
	    build_to(&b, build_direct(&b, "b1", callee)),
	    build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)), NULL);
	struct intercept_conf *conf = intercept_sends(r, "direct:b*", build_append(&b, "i"));
	(void)intercept_sends(r, "direct://b1", build_append(&b, "j"));
	case_begin(&f, &b);
	fake_watch(&f, NULL, properties);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x1ijbS");
	assert_string_equal(fake_seen(&f, "CamelInterceptedEndpoint"), "direct://b1");
	conf->skips = true;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x1iS");
	conf->on_when = build_predicate(&b, fn_false, "");
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x1jbS"); /* the condition does not hold: it is sent */
	conf->on_when = build_remote(&b, "xform", "true", true);
	f.evaluate_mode = FAKE_LATER;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x1iS");
	case_end(&f);
}

static void
test_intercept_that_fails(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(
	    &b, "r", build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)), NULL);
	(void)intercept_sends(r, "fake:.*", boom());
	case_begin(&f, &b);
	case_run(&f, r, "x");
	assert_string_equal(f.exception, "IOException: boom");
	assert_int_equal(f.sends, 0);
	case_end(&f);
}

/* Steps as the compiler puts them into a route. */
static void
test_intercept_steps(void **state)
{
	static const char *const properties[] = { "CamelInterceptedNodeId",
		"CamelInterceptedRouteId", NULL };
	(void)state;
	build_init(&b);
	struct step *from = build_step(&b, &interceptFrom_eip),
		    *other = build_step(&b, &interceptFrom_eip),
		    *each = build_step(&b, &intercept_eip), *last = build_append(&b, "1");
	struct hinny_error err;
	from->block = (struct block){ build_append(&b, "f"), 1 };
	other->block = (struct block){ build_append(&b, "never"), 1 };
	each->block = (struct block){ build_append(&b, "e"), 1 };
	assert_int_equal(pattern_compile(&b.arena, STR_LIT("fake:from*"), true,
			     &((struct intercept_conf *)from->conf)->pattern, &err),
	    HINNY_OK);
	assert_int_equal(pattern_compile(&b.arena, STR_LIT("other:*"), true,
			     &((struct intercept_conf *)other->conf)->pattern, &err),
	    HINNY_OK);
	struct route *r = build_route(&b, "r", from, other, each, last, NULL);
	case_begin(&f, &b);
	fake_watch(&f, NULL, properties);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xfe1");
	assert_string_equal(fake_seen(&f, "CamelInterceptedNodeId"), last->id);
	assert_string_equal(fake_seen(&f, "CamelInterceptedRouteId"), "r");
	case_end(&f);
}

int
main(void)
{
	UNIT_CASE(test_dead_letter_channel);
	UNIT_CASE(test_dead_letter_channel_with_the_original);
	UNIT_CASE(test_dead_letter_channel_that_fails);
	UNIT_CASE(test_on_exception_before_the_dead_letter_channel);
	UNIT_CASE(test_default_error_handler);
	UNIT_CASE(test_no_error_handler);
	UNIT_CASE(test_completion_afterwards);
	UNIT_CASE(test_completion_before);
	UNIT_CASE(test_completions_of_called_routes);
	UNIT_CASE(test_intercept_sends);
	UNIT_CASE(test_intercept_that_fails);
	UNIT_CASE(test_intercept_steps);
	return unit_run("scopes");
}
