/* core/eip/claim_check: what is put aside and taken back, and that nothing of it is left. */
#include "core/eip/claims.h"

#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"
#include "tests/unit/config_fixture.h"

#include <string.h>

/* Routes as text; their result as "body|a|b", or the exception. */
static const struct row {
	const char *label, *steps, *want;
} rows[] = {
	{ "set and get", "{claimCheck: {operation: Set, key: k}}, {setBody: {constant: y}}, "
			 "{claimCheck: {operation: Get, key: k}}",
	    "x|1|2" },
	{ "get twice", "{claimCheck: {operation: Set, key: k}}, {setBody: {constant: y}}, "
		       "{claimCheck: {operation: Get, key: k}}, {setBody: {constant: z}}, "
		       "{claimCheck: {operation: Get, key: k}}",
	    "x|1|2" },
	{ "get and remove",
	    "{claimCheck: {operation: Set, key: k}}, {setBody: {constant: y}}, "
	    "{claimCheck: {operation: GetAndRemove, key: k}}, {setBody: {constant: z}}, "
	    "{claimCheck: {operation: GetAndRemove, key: k}}",
	    "z|1|2" },
	{ "an unknown key", "{claimCheck: {operation: Get, key: nosuch}}", "x|1|2" },
	{ "set twice: the later", "{claimCheck: {operation: Set, key: k}}, {setBody: {constant: y}}, "
				  "{claimCheck: {operation: Set, key: k}}, {setBody: {constant: z}}, "
				  "{claimCheck: {operation: Get, key: k}}",
	    "y|1|2" },
	{ "two keys", "{claimCheck: {operation: Set, key: k}}, {setBody: {constant: y}}, "
		      "{claimCheck: {operation: Set, key: l}}, {setBody: {constant: z}}, "
		      "{claimCheck: {operation: Get, key: k}}",
	    "x|1|2" },
	{ "a key of the message",
	    "{claimCheck: {operation: Set, key: 'k${header.a}'}}, {setBody: {constant: y}}, "
	    "{claimCheck: {operation: Get, key: k1}}",
	    "x|1|2" },
	{ "push and pop", "{claimCheck: {operation: Push}}, {setBody: {constant: y}}, "
			  "{claimCheck: {operation: Push}}, {setBody: {constant: z}}, "
			  "{claimCheck: {operation: Pop}}, {setBody: {simple: '${body}${body}'}}, "
			  "{claimCheck: {operation: Pop}}",
	    "x|1|2" },
	{ "the last is the first", "{claimCheck: {operation: Push}}, {setBody: {constant: y}}, "
				   "{claimCheck: {operation: Push}}, {setBody: {constant: z}}, "
				   "{claimCheck: {operation: Pop}}",
	    "y|1|2" },
	{ "an empty stack", "{claimCheck: {operation: Pop}}", "x|1|2" },
	{ "lower case", "{claimCheck: {operation: push}}, {setBody: {constant: y}}, "
			"{claimCheck: {operation: pop}}",
	    "x|1|2" },
#define CHANGED                                                                                    \
	"{claimCheck: {operation: Push}}, {setBody: {constant: y}}, "                              \
	"{setHeader: {name: a, constant: 8}}, {setHeader: {name: b, constant: 9}}, "
	{ "headers come back", CHANGED "{claimCheck: {operation: Pop}}", "x|1|2" },
	{ "star", CHANGED "{claimCheck: {operation: Pop, filter: '*'}}", "x|1|2" },
	{ "body", CHANGED "{claimCheck: {operation: Pop, filter: body}}", "x|8|9" },
	{ "headers", CHANGED "{claimCheck: {operation: Pop, filter: headers}}", "y|1|2" },
	{ "+headers", CHANGED "{claimCheck: {operation: Pop, filter: +headers}}", "y|1|2" },
	{ "a header", CHANGED "{claimCheck: {operation: Pop, filter: 'header:a'}}", "y|1|9" },
	{ "body and a header", CHANGED "{claimCheck: {operation: Pop, filter: 'body, header:b*'}}",
	    "x|8|2" },
	{ "one of several", CHANGED "{claimCheck: {operation: Pop, filter: 'header:(a|c)'}}",
	    "y|1|9" },
	{ "a comma within parentheses",
	    CHANGED "{claimCheck: {operation: Pop, filter: 'header:(a{1,2}|c)'}}", "y|1|9" },
	{ "all but the body", CHANGED "{claimCheck: {operation: Pop, filter: '-body'}}", "y|1|2" },
	{ "all but the headers", CHANGED "{claimCheck: {operation: Pop, filter: '-headers'}}",
	    "x|8|9" },
	{ "all but a header", CHANGED "{claimCheck: {operation: Pop, filter: '-header:a'}}",
	    "x|8|2" },
	{ "the body, and headers but one",
	    CHANGED "{claimCheck: {operation: Pop, filter: 'body,-header:a'}}", "x|8|2" },
	{ "headers but not the body, named too",
	    CHANGED "{claimCheck: {operation: Pop, filter: 'headers,-body'}}", "y|1|2" },
	{ "remove the body", CHANGED "{claimCheck: {operation: Pop, filter: '--body'}}", "(null)|1|2" },
	{ "remove headers", CHANGED "{claimCheck: {operation: Pop, filter: 'body,--headers'}}",
	    "x||" },
	{ "remove one", CHANGED "{claimCheck: {operation: Pop, filter: 'body,--header:b'}}",
	    "x|8|" },
	{ "attachments: there are none",
	    CHANGED "{claimCheck: {operation: Pop, filter: attachments}}", "y|8|9" },
#define STRATEGY(name)                                                                             \
	CHANGED "{claimCheck: {operation: Pop, aggregationStrategy: "                              \
		"'#class:org.apache.camel.processor.aggregate." name "'}}"
	{ "the latest", STRATEGY("UseLatestAggregationStrategy"), "x|1|2" },
	{ "the original", STRATEGY("UseOriginalAggregationStrategy"), "y|8|9" },
	{ "texts", STRATEGY("StringAggregationStrategy"), "yx|8|9" },
	{ "a list",
	    STRATEGY("GroupedBodyAggregationStrategy") ", {setBody: {simple: '${body[1]}'}}",
	    "x|8|9" },
	{ "an item sees what its message has put aside",
	    "{claimCheck: {operation: Set, key: k}}, {split: {tokenize: ',', aggregationStrategy: "
	    "'#class:org.apache.camel.processor.aggregate.UseLatestAggregationStrategy', steps: ["
	    "{setBody: {constant: y}}, {claimCheck: {operation: Get, key: k}}]}}",
	    "x|1|2" },
	{ "and the message what its item has",
	    "{claimCheck: {operation: Set, key: k}}, {split: {tokenize: ',', steps: ["
	    "{setBody: {constant: y}}, {claimCheck: {operation: Set, key: l}}]}}, "
	    "{claimCheck: {operation: Get, key: l}}",
	    "y|1|2" },
	{ "through direct", "{claimCheck: {operation: Set, key: k}}, {to: 'direct:sub'}", "x|1|2" },
	{ "too many",
	    "{loop: {constant: 1001, steps: [{claimCheck: {operation: Push}}]}}",
	    "IllegalStateException: claimCheck: more than 1000 messages are put aside" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	static const char *const headers[] = { "a", "b", NULL };
	struct config_fixture fx;
	struct bundle *bundle;
	struct build b;
	struct fake f;
	char got[8192 + 1024];

	fixture_init(&fx);
	struct program *p = fixture_compile(&fx,
	    arena_printf(&fx.arena,
		"- from: {uri: 'direct:t', steps: [{setHeader: {name: a, constant: 1}}, "
		"{setHeader: {name: b, constant: 2}}, %s]}\n"
		"- from: {uri: 'direct:sub', steps: [{setBody: {constant: y}}, "
		"{claimCheck: {operation: Get, key: k}}]}\n",
		r->steps),
	    &bundle);
	assert_string_equal(fixture_text(&fx), "");
	build_init(&b);
	fake_init(&f, &b);
	f.en.program = p;
	fake_watch(&f, headers, NULL);
	(void)fake_start(&f, p->routes[0], "x");
	while (f.done == 0)
		fake_answer(&f, NULL);
	snprintf(got, sizeof(got), "%s|%s|%s", f.body, fake_seen(&f, "a"), fake_seen(&f, "b"));
	assert_string_equal(f.failed ? f.exception : got, r->want);
	assert_int_equal(f.pool.live, 0); /* nothing that was put aside is left */
	fake_fini(&f);
	build_fini(&b);
	program_free(p);
	bundle_free(bundle);
	fixture_fini(&fx);
}

int
main(void)
{
	UNIT_TABLE("claim", rows, check_row);
	return unit_run("claim_check");
}
