/* core/config/plan_order: which steps of a route keep the order of its source, and for whom. */
#include "tests/unit/config_fixture.h"

#include "core/model/program.h"

static struct config_fixture fx;
static struct bundle *bundle;
static struct program *program;

static void
compile(const char *steps)
{
	fixture_init(&fx);
	char *text = arena_printf(&fx.arena,
	    "- route:\n    id: r\n    from:\n      uri: \"kafka:in?brokers=b:1\"\n      steps:\n%s"
	    "- route: {id: d, from: {uri: \"direct:d\", steps: [{to: \"kafka:d?brokers=b:1\"}]}}\n",
	    steps);
	program = fixture_compile(&fx, text, &bundle);
	if (program == NULL)
		fail_msg("%s", fixture_text(&fx));
}

static void
end(void)
{
	program_free(program);
	bundle_free(bundle);
	fixture_fini(&fx);
}

static const struct step *
step(const char *id)
{
	for (uint32_t i = 0; i < program->steps_n; i++)
		if (strcmp(program->steps[i]->id, id) == 0 && !program->steps[i]->hidden)
			return program->steps[i];
	fail_msg("there is no step %s", id);
	return NULL;
}

static uint64_t
all(void)
{
	return program->routes[0]->order_sends;
}

#define TO(id, topic) "        - to: {id: " id ", uri: \"kafka:" topic "?brokers=b:1\"}\n"

static void
test_last_send_holds_up_nobody(void **state)
{
	(void)state;
	compile("        - setBody: {id: s, constant: x}\n" TO("a", "a") TO("b", "b"));
	const struct step *a = step("a"), *b = step("b");
	assert_false(step("s")->ordered);
	assert_true(a->ordered && b->ordered);
	assert_false(a->order_by_key || b->order_by_key);
	assert_int_equal(__builtin_popcountll(a->order_sends), 1);
	assert_int_not_equal(a->order_sends, b->order_sends);
	assert_int_equal(a->order_left, b->order_sends);
	assert_int_equal(b->order_left, 0);
	assert_int_equal(all(), a->order_sends | b->order_sends);
	end();
}

static void
test_same_topic_twice(void **state)
{
	(void)state;
	compile(TO("a", "t") TO("b", "t"));
	assert_int_equal(step("a")->order_sends, step("b")->order_sends);
	assert_int_equal(step("a")->order_left, step("a")->order_sends);
	assert_int_equal(step("b")->order_left, 0);
	end();
}

static void
test_branches_do_not_wait_for_one_another(void **state)
{
	(void)state;
	compile(
	    "        - choice:\n"
	    "            when:\n"
	    "              - simple: \"${body} == 'a'\"\n"
	    "                steps: [{to: {id: a, uri: \"kafka:a?brokers=b:1\"}}]\n"
	    "            otherwise:\n"
	    "              steps: [{to: {id: b, uri: \"kafka:b?brokers=b:1\"}}]\n" TO("c", "c"));
	assert_int_equal(step("a")->order_left, step("c")->order_sends);
	assert_int_equal(step("b")->order_left, step("c")->order_sends);
	assert_int_equal(__builtin_popcountll(all()), 3);
	end();
}

static void
test_repeated(void **state)
{
	(void)state;
	compile("        - split:\n            id: sp\n            tokenize: \",\"\n"
		"            steps: [{to: {id: a, uri: \"kafka:a?brokers=b:1\"}}]\n" TO("b", "b"));
	assert_int_equal(step("a")->order_left, all()); /* of the next item */
	assert_int_equal(step("b")->order_left, 0);
	end();
}

static void
test_other_effects_go_by_key(void **state)
{
	(void)state;
	compile("        - to: {id: h, uri: \"http://127.0.0.1:1/x\"}\n"
		"        - toD: {id: td, uri: \"kafka:${header.t}?brokers=b:1\"}\n"
		"        - toD: {id: any, uri: \"${header.u}\"}\n"
		"        - wireTap: {id: w, uri: \"kafka:w?brokers=b:1\"}\n");
	assert_true(step("h")->ordered && step("h")->order_by_key);
	assert_int_equal(step("h")->order_sends, 0);
	assert_true(step("td")->order_sends == UINT64_MAX && !step("td")->order_by_key);
	assert_true(step("any")->order_sends == UINT64_MAX && step("any")->order_by_key);
	assert_int_equal(__builtin_popcountll(step("w")->order_sends), 1);
	assert_false(step("w")->order_by_key);
	assert_int_equal(step("w")->order_left, 0);
	end();
}

static void
test_called_routes_and_handlers(void **state)
{
	(void)state;
	fixture_init(&fx);
	program = fixture_compile(&fx,
	    "- route:\n    id: r\n    from:\n      uri: \"kafka:in?brokers=b:1\"\n      steps:\n"
	    "        - onException: {exception: [java.lang.Exception], steps: [{to: {id: dlq, uri: "
	    "\"kafka:dlq?brokers=b:1\"}}]}\n"
	    "        - to: {id: c, uri: \"direct:d\"}\n" TO(
		"b", "b") "- route: {id: d, from: {uri: \"direct:d\", steps: [{to: {id: in, uri: "
	                  "\"kafka:d?brokers=b:1\"}}]}}\n",
	    &bundle);
	if (program == NULL)
		fail_msg("%s", fixture_text(&fx));
	const struct step *in = step("in"), *b = step("b"), *dlq = step("dlq");
	assert_false(step("c")->ordered);
	assert_int_equal(in->order_left, b->order_sends | dlq->order_sends);
	assert_int_equal(b->order_left, dlq->order_sends);
	assert_int_equal(__builtin_popcountll(all()), 3);
	end();
}

static void
test_ring(void **state)
{
	(void)state;
	fixture_init(&fx);
	program = fixture_compile(&fx,
	    "- route: {id: r, from: {uri: \"kafka:in?brokers=b:1\", steps: [{to: \"direct:d\"}]}}\n"
	    "- route: {id: d, from: {uri: \"direct:d\", steps: [{to: {id: in, uri: "
	    "\"kafka:d?brokers=b:1\"}}, "
	    "{to: \"direct:d\"}]}}\n",
	    &bundle);
	if (program == NULL)
		fail_msg("%s", fixture_text(&fx));
	assert_true(all() == UINT64_MAX && step("in")->order_left == UINT64_MAX);
	end();
}

/* Routes of other sources keep nothing. */
static void
test_other_sources(void **state)
{
	(void)state;
	fixture_init(&fx);
	program = fixture_compile(&fx,
	    "- route: {id: r, from: {uri: \"timer:t\", steps: [{to: {id: a, uri: "
	    "\"kafka:a?brokers=b:1\"}}]}}\n",
	    &bundle);
	assert_non_null(program);
	assert_false(step("a")->ordered);
	end();
}

int
main(void)
{
	UNIT_CASE(test_last_send_holds_up_nobody);
	UNIT_CASE(test_same_topic_twice);
	UNIT_CASE(test_branches_do_not_wait_for_one_another);
	UNIT_CASE(test_repeated);
	UNIT_CASE(test_other_effects_go_by_key);
	UNIT_CASE(test_called_routes_and_handlers);
	UNIT_CASE(test_ring);
	UNIT_CASE(test_other_sources);
	return unit_run("order");
}
