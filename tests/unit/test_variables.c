/* core/eip/variables: global: and route: variables in steps and expressions, here and in another
 * process; bounds; records. */
#include "core/eip/variables.h"

#include "core/eip/state.h"
#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"
#include "tests/unit/config_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct build b;
static struct fake f;
static struct config_fixture fx;
static struct program *p;
static struct bundle *bundle;

static void
begin(const char *steps, bool here, enum fake_mode mode)
{
	fixture_init(&fx);
	p = fixture_compile(&fx,
	    arena_printf(&fx.arena,
		"- from: {uri: 'direct:t', steps: [%s]}\n"
		"- from: {uri: 'direct:sub', steps: [{setHeader: {name: h, constant: hh}}, "
		"{setBody: {simple: 'got ${body}'}}]}\n",
		steps),
	    &bundle);
	assert_string_equal(fixture_text(&fx), "");
	assert_int_equal(p->states_n, 1);
	build_init(&b);
	b.program.states = p->states;
	b.program.states_n = p->states_n;
	fake_init(&f, &b);
	f.en.program = p;
	f.en.incarnation = 7;
	f.state_mode = mode;
	state_open(&f.en, p->states[0]);
	if (here)
		state_serve(p->states[0]);
}

static void
end(void)
{
	state_close(p->states[0]);
	assert_int_equal(f.pool.live, 0);
	fake_fini(&f);
	build_fini(&b);
	program_free(p);
	bundle_free(bundle);
	fixture_fini(&fx);
}

static void
run(const char *body)
{
	int done = f.done;
	(void)fake_start(&f, p->routes[0], body);
	while (f.done == done)
		fake_answer(&f, NULL);
}

#define SET(name, text) "{setVariable: {name: '" name "', simple: \"" text "\"}}, "
#define BODY(text) "{setBody: {simple: \"" text "\"}}"

/* Each runs twice; the body after the second time. */
static const struct row {
	const char *label, *steps, *want;
} rows[] = {
	{ "from one message to the next",
	    SET("global:x", "${variable.global:x}1") BODY("${variable.global:x}"), "11" },
	{ "of a route", SET("route:r:x", "${variable.route:r:x}1") BODY("${variable[route:r:x]}"),
	    "11" },
	{ "not one of the exchange", SET("global:x", "g") SET("x", "l") BODY(
				     "${variable.global:x}${variable.x} ${variables}"),
	    "gl {x=l}" },
	{ "the language",
	    SET("global:x", "g") "{setBody: {variable: 'global:x'}}", "g" },
	{ "as a predicate", SET("global:x", "true") "{filter: {variable: 'global:x', steps: ["
						     "{setBody: {constant: yes}}]}}",
	    "yes" },
	{ "with a path", "{unmarshal: {json: {}, variableReceive: 'global:j'}}, " BODY(
			 "${variable.global:j[a]}"),
	    "5" },
	{ "a computed name", "{setHeader: {name: n, constant: 'global:q'}}, "
			     "{setVariable: {name: '${header.n}', constant: v}}, " BODY(
				 "${variable.global:q}${variable.${header.n}}"),
	    "vv" },
	{ "several in turn",
	    "{setVariables: {variables: [{name: 'global:a', constant: 1}, {name: l, simple: "
	    "'${variable.global:a}2'}, {name: 'global:b', simple: '${variable.l}3'}]}}, " BODY(
		"${variable.global:b}"),
	    "123" },
	{ "in headers in turn",
	    SET("global:a", "1") "{setHeader: {name: h, constant: x}}, {setHeaders: {headers: "
				 "[{name: h, simple: '${header.h}1'}, {name: h, simple: "
				 "'${header.h}${variable.global:a}'}]}}, " BODY("${header.h}"),
	    "x11" },
	{ "null removes", SET("global:x", "1") SET("global:x", "${null}") BODY(
			  "${variable.global:x} ${variable.global:x} == null"),
	    "  == null" },
	{ "removed", SET("global:x", "1") SET("global:y", "2") "{removeVariable: 'global:x'}, " BODY(
		     "[${variable.global:x}${variable.global:y}]"),
	    "[2]" },
	{ "all removed", SET("global:x", "1") SET("route:r:y", "2") "{removeVariable: 'global:*'}, " BODY(
			 "[${variable.global:x}${variable.route:r:y}]"),
	    "[2]" },
	{ "all of the exchange removed",
	    SET("x", "1") SET("y", "2") SET("global:y", "3") "{removeVariable: '*'}, " BODY(
		"[${variable.x}${variable.y}${variable.global:y}]"),
	    "[3]" },
	{ "converted", SET("global:x", "12") "{convertVariableTo: {name: 'global:x', type: int}}, " BODY(
		       "${variable.global:x} is 'Integer'"),
	    "12 is 'Integer'" },
	{ "converted to another",
	    SET("x", "12") "{convertVariableTo: {name: x, toName: 'global:y', type: int}}, "
			   "{setBody: {variable: 'global:y'}}",
	    "12" },
	{ "sent", SET("global:x", "s") "{to: {uri: 'direct:sub', variableSend: 'global:x'}}", "got s" },
	{ "sent, and gone again",
	    SET("global:x", "s") "{to: {uri: 'direct:sub', variableSend: 'global:x'}}, " BODY(
		"${variables}"),
	    "{}" },
	{ "received", "{to: {uri: 'direct:sub', variableReceive: 'global:x'}}, " BODY(
		      "${body} ${variable.global:x} ${variable.global:header:x.h} ${header.h}."),
	    "{\"a\":5} got {\"a\":5} hh ." },
	{ "set by a function", BODY("${setVariable('global:x',7)}${variable.global:x}"), "7" },
	{ "a list that grows",
	    "{filter: {simple: '${variable.global:l} == null', steps: [{setVariable: {name: "
	    "'global:l', simple: \"${list('a')}\"}}]}}, "
	    "{script: {simple: \"${listAdd(${variable.global:l},'b')}\"}}, " BODY(
		"${variable.global:l}"),
	    "[a, b, b]" },
};

static void
check_row(const struct row *r, bool here, enum fake_mode mode)
{
	begin(r->steps, here, mode);
	run("{\"a\":5}");
	run("{\"a\":5}");
	assert_string_equal(f.exception, "");
	assert_string_equal(f.body, r->want);
	end();
}

static void
check_here(void **state)
{
	check_row(*state, true, FAKE_NOW);
}

static void
check_elsewhere(void **state)
{
	check_row(*state, false, FAKE_NOW);
	check_row(*state, false, FAKE_LATER);
}

/* ---- bounds ---- */

static void
test_bounds(void **state)
{
	(void)state;
	begin("{setVariable: {name: '${header.n}', simple: '${body}'}}", true, FAKE_NOW);
	char *large = malloc(VARIABLES_VALUE_MAX + 1);
	assert_non_null(large);
	memset(large, 'x', VARIABLES_VALUE_MAX);
	large[VARIABLES_VALUE_MAX] = '\0';
	struct exchange *ex = exchange_new(&f.pool);
	ex->engine = &f.en;
	struct value small = value_str(STR_LIT("1")), big = value_str(str_of(large)), none;
	assert_int_equal(variables_set(ex, STR_LIT("global:big"), big), EVAL_ERROR);
	assert_int_equal(ex->exception->id, EXCEPTION_ILLEGAL_STATE);
	big.u.s.n /= 2;
	for (int i = 0; i < 15; i++)
		assert_int_equal(variables_set(ex,
				     str_of(arena_printf(&ex->arena, "global:b%d", i)), big),
		    EVAL_OK);
	assert_int_equal(variables_set(ex, STR_LIT("global:b15"), big), EVAL_ERROR);
	assert_int_equal(variables_set(ex, STR_LIT("global:b14"), big), EVAL_OK); /* the same */
	struct value all = value_str(STR_LIT("global:b*"));
	assert_int_equal(variables_ask(ex, VARIABLES_REMOVE, &all, &none), EVAL_OK);
	for (int i = 0; i < VARIABLES_MAX; i++)
		assert_int_equal(variables_set(ex,
				     str_of(arena_printf(&ex->arena, "global:v%d", i)), small),
		    EVAL_OK);
	assert_int_equal(variables_set(ex, STR_LIT("global:w"), small), EVAL_ERROR);
	assert_int_equal(variables_set(ex, STR_LIT("global:v1"), small), EVAL_OK);
	exchange_free(&f.pool, &ex);
	free(large);
	end();
}

/* ---- the hand-over ---- */

static bool
keep_bytes(void *arg, struct str bytes)
{
	return buf_add_str(arg, bytes) == HINNY_OK;
}

static void
test_records(void **state)
{
	struct state_writer w;
	struct state_loaded loaded = { 0 };
	struct buf saved;
	(void)state;
	begin(SET("global:x", "${variable.global:x}1") SET("route:r:y", "${list('a','b')}") BODY(
		  "${variable.global:x} ${variable.route:r:y[1]}"),
	    true, FAKE_NOW);
	run("x");
	assert_string_equal(f.body, "1 b");
	buf_init(&saved, 1 << 20);
	state_writer_init(&w, keep_bytes, &saved);
	state_save(p->states[0], &w);
	assert_false(w.failed);
	state_writer_fini(&w);
	state_close(p->states[0]);
	state_open(&f.en, p->states[0]);
	assert_true(state_load(p, (struct str){ saved.p, saved.n }, NULL, &loaded));
	assert_int_equal(loaded.refused, 0);
	assert_int_equal(loaded.records, 2);
	state_serve(p->states[0]);
	run("x");
	assert_string_equal(f.body, "11 b");
	buf_fini(&saved);
	end();
}

int
main(void)
{
	UNIT_TABLE("here", rows, check_here);
	UNIT_TABLE("elsewhere", rows, check_elsewhere);
	UNIT_CASE(test_bounds);
	UNIT_CASE(test_records);
	return unit_run("variables");
}
