/* core/eip/idempotent_consumer and its repository, here and in another process; core/eip/key_table.
 */
#include "core/eip/idempotent.h"

#include "core/eip/key_table.h"
#include "core/eip/state.h"
#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"
#include "tests/unit/config_fixture.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

static void
test_table(void **state)
{
	struct key_table t;
	(void)state;
	key_table_init(&t, 3);
	assert_true(key_table_add(&t, STR_LIT("a"), 0, 0));
	assert_false(key_table_add(&t, STR_LIT("a"), 0, 0));
	assert_true(key_table_add(&t, STR_LIT(""), 0, 0)); /* a key as any other */
	assert_true(key_table_add(&t, STR_LIT("c"), 0, 0));
	assert_false(key_table_add(&t, STR_LIT("a"), 0, 0)); /* which does not make it younger */
	assert_true(key_table_add(&t, STR_LIT("d"), 0, 0));
	assert_false(key_table_has(&t, STR_LIT("a")));
	assert_true(key_table_has(&t, STR_LIT("")));
	key_table_remove(&t, STR_LIT(""));
	key_table_remove(&t, STR_LIT("nosuch"));
	assert_true(key_table_add(&t, STR_LIT("a"), 0, 0));
	assert_true(key_table_has(&t, STR_LIT("c")));
	key_table_fini(&t);
}

static void
test_held(void **state)
{
	struct key_table t;
	(void)state;
	key_table_init(&t, 100);
	assert_true(key_table_add(&t, STR_LIT("a"), 7, 1));
	assert_true(key_table_add(&t, STR_LIT("b"), 7, 2));
	assert_true(key_table_add(&t, STR_LIT("c"), 8, 1));
	key_table_confirm(&t, STR_LIT("b"));
	key_table_give_back(&t, STR_LIT("a"), 7, 2); /* another's */
	key_table_give_back(&t, STR_LIT("a"), 8, 1);
	key_table_give_back(&t, STR_LIT("b"), 7, 2); /* it is final */
	assert_true(key_table_has(&t, STR_LIT("a")));
	assert_true(key_table_has(&t, STR_LIT("b")));
	key_table_lose(&t, 7);
	assert_false(key_table_has(&t, STR_LIT("a")));
	assert_true(key_table_has(&t, STR_LIT("b")));
	assert_true(key_table_has(&t, STR_LIT("c")));
	key_table_give_back(&t, STR_LIT("c"), 8, 1);
	assert_false(key_table_has(&t, STR_LIT("c")));
	key_table_fini(&t);
}

/* ---- the step ---- */

static struct build b;
static struct fake f;
static struct config_fixture fx;
static struct program *p;
static struct bundle *bundle;

static void
begin(const char *routes, bool here, enum fake_mode mode)
{
	fixture_init(&fx);
	p = fixture_compile(&fx, routes, &bundle);
	assert_string_equal(fixture_text(&fx), "");
	assert_int_equal(p->states_n, 1);
	build_init(&b);
	b.program.states = p->states;
	b.program.states_n = p->states_n;
	b.program.shared_size = p->shared_size;
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

#define MEMORY "org.apache.camel.support.processor.idempotent.MemoryIdempotentRepository"
#define BLOCK(options, steps)                                                                      \
	"{idempotentConsumer: {simple: '${body}', idempotentRepository: '#class:" MEMORY           \
	"'" options ", steps: [" steps "]}}"
#define NEW "{setBody: {simple: '${body}+'}}"
#define DUP "{setBody: {simple: '${body}${exchangeProperty.CamelDuplicateMessage}.'}}"
#define BOOM "{throwException: {exceptionType: java.io.IOException, message: b}}"
/* fails for the first message of two */
#define FIRST_FAILS(step)                                                                          \
	"{filter: {simple: '${exchangeProperty.first}', steps: [" step "]}}"
#define HANDLED                                                                                    \
	"{onException: {exception: [java.lang.Exception], handled: {constant: 'true'}, steps: "    \
	"[{setBody: {constant: h}}]}}, "
#define CONTINUED                                                                                  \
	"{onException: {exception: [java.lang.Exception], continued: {constant: 'true'}}}, "
#define FIRST                                                                                      \
	"{filter: {simple: \"${body} == 'F'\", steps: [{setProperty: {name: first, constant: "     \
	"'true'}}]}}, {setBody: {constant: k}}, "

static const struct row {
	const char *label, *steps, *messages, *want;
} rows[] = {
	{ "twice", BLOCK("", NEW) ", " DUP, "x x y x", "x+. xtrue. y+. xtrue." },
	{ "not eager", BLOCK(", eager: false", NEW) ", " DUP, "x x y x", "x+. xtrue. y+. xtrue." },
	{ "duplicates too", BLOCK(", skipDuplicate: false", DUP), "x x y", "x. xtrue. y." },
	{ "a loop", "{loop: {constant: 3, steps: [" BLOCK("", NEW) "]}}", "x x", "x+++ x" },
	{ "fails", FIRST BLOCK("", FIRST_FAILS(BOOM) ", " NEW), "F G G", "!IOException k+ k" },
	{ "fails behind it", FIRST BLOCK("", NEW) ", " FIRST_FAILS(BOOM), "F G G",
	    "!IOException k+ k" },
	{ "fails behind it, not eager", FIRST BLOCK(", eager: false", NEW) ", " FIRST_FAILS(BOOM),
	    "F G G", "!IOException k+ k" },
	{ "fails behind it, completion eager",
	    FIRST BLOCK(", completionEager: true", NEW) ", " FIRST_FAILS(BOOM), "F G G",
	    "!IOException k k" },
	{ "fails, completion eager",
	    FIRST BLOCK(", completionEager: true", FIRST_FAILS(BOOM) ", " NEW), "F G G",
	    "!IOException k+ k" },
	{ "fails, and stays", FIRST BLOCK(", removeOnFailure: false", FIRST_FAILS(BOOM) ", " NEW),
	    "F G G", "!IOException k k" },
	{ "fails, not eager, and stays", FIRST BLOCK(", eager: false, removeOnFailure: false",
	    FIRST_FAILS(BOOM) ", " NEW), "F G G", "!IOException k+ k" },
	{ "handled is failed", HANDLED FIRST BLOCK("", FIRST_FAILS(BOOM) ", " NEW), "F G G",
	    "h k+ k" },
	{ "handled, completion eager",
	    HANDLED FIRST BLOCK(", completionEager: true", FIRST_FAILS(BOOM) ", " NEW), "F G G",
	    "h k+ k" },
	{ "continued is not", CONTINUED FIRST BLOCK("", FIRST_FAILS(BOOM) ", " NEW), "F G G",
	    "k+ k k" },
	{ "caught is not", FIRST BLOCK("", "{doTry: {steps: [" FIRST_FAILS(BOOM) "], doCatch: "
					   "[{exception: [java.lang.Exception], steps: [{log: x}]}]}}, " NEW),
	    "F G G", "k+ k k" },
	{ "stop is not", FIRST BLOCK("", FIRST_FAILS("{stop: {}}") ", " NEW), "F G G", "k k k" },
	{ "in an item, which fails by itself",
	    "{split: {tokenize: ',', aggregationStrategy: "
	    "'#class:org.apache.camel.processor.aggregate.StringAggregationStrategy', steps: "
	    "[" BLOCK("", NEW) "]}}",
	    "a,b,a c,b", "a+b+a c+b" },
	{ "in a circuit breaker, which is no end",
	    FIRST "{circuitBreaker: {steps: [" BLOCK("", NEW) "]}}, " FIRST_FAILS(BOOM), "F G G",
	    "!IOException k+ k" },
	{ "the oldest is forgotten", "{to: 'direct:few'}", "1 2 3 2 1 2", "1+ 2+ 3+ 2 1+ 2+" },
	{ "no key", "{idempotentConsumer: {header: nosuch, idempotentRepository: '#class:" MEMORY
		    "', steps: []}}",
	    "x", "!NoMessageIdException" },
	{ "the key fails", "{idempotentConsumer: {jsonpath: $.id, idempotentRepository: '#class:"
			   MEMORY "', steps: []}}, {setBody: {constant: never}}",
	    "{}", "!PathNotFoundException" },
};

static void
check_row(const struct row *r, bool here, enum fake_mode mode)
{
	struct buf got;
	struct str rest = str_of(r->messages), message;
	bool few = strstr(r->steps, "direct:few") != NULL;
	buf_init(&got, 65536);
	struct arena a;
	arena_init(&a);
	begin(arena_printf(&a,
		  "- beans: [{name: few, type: " MEMORY ", properties: {cacheSize: 2}}]\n"
		  "- from: {uri: 'direct:t', steps: [%s]}\n%s",
		  r->steps,
		  few ? "- from: {uri: 'direct:few', steps: [{idempotentConsumer: {simple: "
			"'${body}', idempotentRepository: few, steps: [" NEW "]}}]}\n"
		      : ""),
	    here, mode);
	while (str_split(&rest, ' ', &message)) {
		char *end;
		run(arena_strndup(&a, message.p, message.n));
		if (got.n > 0)
			assert_int_equal(buf_add_str(&got, STR_LIT(" ")), HINNY_OK);
		if (f.failed && (end = strchr(f.exception, ':')) != NULL)
			*end = '\0';
		assert_int_equal(
		    buf_add_str(&got, f.failed ? str_of(arena_printf(&a, "!%s", f.exception)) : str_of(f.body)),
		    HINNY_OK);
	}
	assert_int_equal(got.n, strlen(r->want));
	assert_memory_equal(got.p, r->want, got.n);
	end();
	buf_fini(&got);
	arena_fini(&a);
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

/* ---- exchanges that do not end ---- */

#define WAITS "- from: {uri: 'direct:t', steps: [" BLOCK("", "{delay: {constant: 1000}}, " NEW) "]}\n"

/* Keys of a process that died are given back; those that were final stay. */
static void
test_home_lost(void **state)
{
	(void)state;
	begin(WAITS, true, FAKE_NOW);
	f.wakes = true;
	run("a");
	f.wakes = false;
	struct exchange *ex = fake_start(&f, p->routes[0], "b");
	run("b"); /* while the first has it */
	assert_string_equal(f.body, "b");
	p->states[0]->desc->home_lost(p->states[0], 8);
	run("b");
	assert_string_equal(f.body, "b");
	p->states[0]->desc->home_lost(p->states[0], 7);
	f.wakes = true;
	run("b");
	assert_string_equal(f.body, "b+");
	run("a");
	assert_string_equal(f.body, "a");
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "the end");
	end();
}

/* An exchange that is aborted while its key is asked for, or a deadline, leaves none behind. */
static void
test_no_answer(void **state)
{
	(void)state;
	begin(WAITS, false, FAKE_LATER);
	f.wakes = true;
	struct exchange *ex = fake_start(&f, p->routes[0], "a");
	struct value none = value_null();
	/* the owner has it, the answer is on its way */
	struct value list = value_new_list(&ex->arena, 2);
	value_list_add(&ex->arena, list.u.list, value_str(STR_LIT("a")));
	value_list_add(&ex->arena, list.u.list, value_int((int64_t)ex->seq));
	assert_true(idempotent_keys.serve(p->states[0], ex, KEYS_ADD, &list, &none));
	f.queue_n = 0;
	f.pending = PENDING_NOTHING;
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "the end");
	assert_int_equal(f.notes, 1);
	run("a");
	assert_string_equal(f.body, "a+");
	end();
}

/* A failure is told when its key has been taken back, and no sooner. */
static void
test_failure_waits(void **state)
{
	(void)state;
	begin("- from: {uri: 'direct:t', steps: [" BLOCK("", BOOM) "]}\n", false, FAKE_LATER);
	(void)fake_start(&f, p->routes[0], "a");
	fake_answer(&f, NULL); /* the key is new */
	assert_int_equal(f.done, 0);
	assert_int_equal(f.states, 2);
	fake_answer(&f, NULL); /* and is gone */
	assert_int_equal(f.done, 1);
	assert_string_equal(f.exception, "IOException: b");
	assert_int_equal(f.notes, 0);
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
	begin(WAITS, true, FAKE_NOW);
	f.wakes = true;
	for (int i = 0; i < 1500; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i); /* fits */
		run(key);
	}
	f.wakes = false;
	struct exchange *ex = fake_start(&f, p->routes[0], "held");
	buf_init(&saved, 1 << 20);
	state_writer_init(&w, keep_bytes, &saved);
	state_save(p->states[0], &w);
	assert_false(w.failed);
	state_writer_fini(&w);
	state_close(p->states[0]);
	state_open(&f.en, p->states[0]);
	assert_true(state_load(p, (struct str){ saved.p, saved.n }, NULL, &loaded));
	assert_int_equal(loaded.refused, 0);
	state_serve(p->states[0]);
	run("k1499");
	assert_string_equal(f.body, "k1499");
	run("k501"); /* the oldest of 1000 */
	assert_string_equal(f.body, "k501");
	f.wakes = true;
	run("held");
	assert_string_equal(f.body, "held");
	run("k500");
	assert_string_equal(f.body, "k500+");
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "the end"); /* gives its key back */
	run("held");
	assert_string_equal(f.body, "held+");
	buf_fini(&saved);
	end();
}

int
main(void)
{
	UNIT_CASE(test_table);
	UNIT_CASE(test_held);
	UNIT_TABLE("here", rows, check_here);
	UNIT_TABLE("elsewhere", rows, check_elsewhere);
	UNIT_CASE(test_home_lost);
	UNIT_CASE(test_no_answer);
	UNIT_CASE(test_failure_waits);
	UNIT_CASE(test_records);
	return unit_run("idempotent");
}
