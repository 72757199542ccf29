/* core/eip/sequence, core/eip/resequence and its state, here and in another process. */
#include "core/eip/sequence.h"

#include "core/eip/state.h"
#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"
#include "tests/unit/config_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order of a stream ---- */

/* "5" inserts 5 (waiting until 10 ms after the time now), "+" lets 10 ms go by, "!" gives up what
 * is missing; what leaves after each stands in the result, "=" for one of a number that is there. */
static const struct stream_row {
	const char *label, *script, *want;
} stream_rows[] = {
	{ "the first waits", "1 +", "1" },
	{ "in order", "1 2 3 +", "1 2 3" },
	{ "the last two in turn", "2 1 3 +", "1 2 3" },
	{ "successors of the last leave at once", "1 + 2 3 5 4", "1 2 3 4 5" },
	{ "a gap is waited for", "1 + 3 2", "1 2 3" },
	{ "and given up", "1 + 3 4 + 2 +", "1 3 4 2" },
	{ "the first blocks those behind it", "1 + 5 3 +", "1 3 5" },
	{ "a predecessor that waits itself", "4 3 2 +", "2 3 4" },
	{ "the same twice", "2 2 +", "= 2" },
	{ "the last again", "1 + 1 +", "1 1" },
	{ "negative numbers", "-1 0 -2 +", "-2 -1 0" },
	{ "the ends", "9223372036854775807 -9223372036854775808 +",
	    "-9223372036854775808 9223372036854775807" },
	{ "nothing is waited for", "7 3 5 !", "3 5 7" },
};

static void
take_all(struct sequence *s, int64_t now, struct buf *got)
{
	long long *thing;
	char text[32];
	while ((thing = sequence_take(s, now)) != NULL) {
		(void)snprintf(text, sizeof(text), "%s%lld", got->n ? " " : "", *thing); /* fits */
		assert_int_equal(buf_add_str(got, str_of(text)), HINNY_OK);
		free(thing);
	}
}

static void
check_stream(void **state)
{
	const struct stream_row *r = *state;
	struct sequence s;
	struct buf got;
	struct str rest = str_of(r->script), word;
	int64_t now = 0;
	buf_init(&got, 4096);
	sequence_init(&s);
	while (str_split(&rest, ' ', &word)) {
		if (word.p[0] == '+' && word.n == 1) {
			now += 10;
		} else if (word.p[0] == '!') {
			sequence_release(&s);
		} else {
			long long *thing = malloc(sizeof(*thing));
			assert_non_null(thing);
			*thing = strtoll(word.p, NULL, 10);
			if (sequence_insert(&s, *thing, now + 10, thing) == SEQUENCE_SAME) {
				assert_int_equal(buf_add_str(&got, STR_LIT("=")), HINNY_OK);
				free(thing);
			}
		}
		take_all(&s, now, &got);
	}
	assert_int_equal(s.n, 0);
	assert_int_equal(got.n, strlen(r->want));
	assert_memory_equal(got.p, r->want, got.n);
	sequence_fini(&s);
	buf_fini(&got);
}

/* ---- the step ---- */

static struct build b;
static struct fake f;
static struct config_fixture fx;
static struct program *p;
static struct bundle *bundle;

static void
begin(const char *config, const char *steps, bool here, enum fake_mode mode)
{
	fixture_init(&fx);
	p = fixture_compile(&fx,
	    arena_printf(&fx.arena,
		"- from:\n    uri: direct:t\n    steps:\n      - resequence:\n"
		"          simple: '${body}'\n          %s\n          steps: [%s]\n"
		"      - log: {message: 'after', logName: after}\n",
		config, steps),
	    &bundle);
	assert_string_equal(fixture_text(&fx), "");
	assert_int_equal(p->states_n, 1);
	build_init(&b);
	b.program.states = p->states;
	b.program.states_n = p->states_n;
	fake_init(&f, &b);
	f.en.program = p;
	f.en.incarnation = 7;
	f.wakes = false;
	f.state_mode = mode;
	state_open(&f.en, p->states[0]);
	if (here)
		state_serve(p->states[0]);
	else
		p->states[0]->desc->started(p->states[0]);
}

static void
end(void)
{
	state_close(p->states[0]);
	assert_int_equal(f.pool.live, 0);
	assert_int_equal(f.queue_n, 0);
	fake_fini(&f);
	build_fini(&b);
	program_free(p);
	bundle_free(bundle);
	fixture_fini(&fx);
}

/* What the steps have logged: "1 2 3". */
static const char *
left(void)
{
	static char text[8192];
	char *line, *rest = f.log, *to = text;
	*to = '\0';
	while ((line = strchr(rest, '\n')) != NULL) {
		*line = '\0';
		if (strstr(rest, " out ") != NULL)
			to += sprintf(to, "%s%s", to > text ? " " : "",
			    strstr(rest, " out ") + 5); /* it is shorter than the log */
		*line = '\n';
		rest = line + 1;
	}
	return text;
}

#define OUT "{log: {message: '${body}', logName: out}}"

/* Words are messages; "." lets the oldest thing happen that is waited for, "~" ends the broker. */
static const struct row {
	const char *label, *config, *script, *want;
} rows[] = {
	{ "a batch", "batchConfig: {batchSize: 4}", "3 1 4 2", "1 2 3 4" },
	{ "as text", "batchConfig: {batchSize: 3}", "10 9 1", "1 10 9" },
	{ "by default", "", "b a .", "a b" },
	{ "two batches", "batchConfig: {batchSize: 2}", "4 3 2 1", "3 4 1 2" },
	{ "a batch that is not full", "batchConfig: {batchSize: 4, batchTimeout: 50}", "3 1 2 .",
	    "1 2 3" },
	{ "nothing yet", "batchConfig: {batchSize: 4}", "3 1 2", "" },
	{ "reverse", "batchConfig: {batchSize: 3, reverse: true}", "b a c", "c b a" },
	{ "duplicates", "batchConfig: {batchSize: 4}", "b a b c", "a b c" },
	{ "duplicates that stay", "batchConfig: {batchSize: 4, allowDuplicates: true}", "b a b c",
	    "a b b c" },
	{ "reverse, with duplicates",
	    "batchConfig: {batchSize: 4, allowDuplicates: true, reverse: true}", "b a b c",
	    "c b b a" },
	{ "the end", "batchConfig: {batchSize: 4}", "3 1 2 ~", "1 2 3" },
	{ "a stream", "streamConfig: {}", "2 1 3 .", "1 2 3" },
	{ "as numbers", "streamConfig: {}", "10 9 11 .", "9 10 11" },
	{ "a stream that waits", "streamConfig: {}", "1 . 3 5", "1" },
	{ "and gives up", "streamConfig: {}", "1 . 3 5 .", "1 3 5" },
	{ "attempts come more often than time-outs",
	    "streamConfig: {timeout: 1000, deliveryAttemptInterval: 400}", "1 . .", "" },
	{ "and then", "streamConfig: {timeout: 1000, deliveryAttemptInterval: 400}", "1 . . .",
	    "1" },
	{ "attempts come more seldom",
	    "streamConfig: {timeout: 10, deliveryAttemptInterval: 4000}", "1 .", "1" },
	{ "old ones leave too", "streamConfig: {}", "5 . 3 .", "5 3" },
	{ "the end of a stream", "streamConfig: {}", "9 3 ~", "3 9" },
};

static void
check_row(const struct row *r, bool here, enum fake_mode mode)
{
	struct str rest = str_of(r->script), word;
	begin(r->config, OUT, here, mode);
	while (str_split(&rest, ' ', &word)) {
		if (word.p[0] == '.') {
			fake_answer(&f, NULL);
		} else if (word.p[0] == '~') {
			p->states[0]->desc->end(p->states[0], STATE_END_BROKER);
		} else {
			int done = f.done;
			(void)fake_start(
			    &f, p->routes[0], arena_strndup(&fx.arena, word.p, word.n));
			while (f.done == done)
				fake_answer(&f, NULL);
			assert_false(f.failed);
			assert_memory_equal(f.body, word.p, word.n);
		}
	}
	assert_string_equal(left(), r->want);
	end();
}

static void
check_here(void **state)
{
	check_row(*state, true, FAKE_NOW);
}

/* ---- messages that cannot be ordered ---- */

static const struct invalid_row {
	const char *label, *config, *bodies, *exception, *cause;
} invalid_rows[] = {
	{ "null in a batch", "batchConfig: {batchSize: 1}", "", "CamelExchangeException", NULL },
	{ "null that is ignored", "batchConfig: {batchSize: 1, ignoreInvalidExchanges: true}", "",
	    "", NULL },
	{ "text in a stream", "streamConfig: {}", "x", "CamelExchangeException",
	    "IllegalArgumentException" },
	{ "null in a stream", "streamConfig: {}", "", "CamelExchangeException",
	    "IllegalArgumentException" },
	{ "text that is ignored", "streamConfig: {ignoreInvalidExchanges: true}", "x", "", NULL },
	{ "too old", "streamConfig: {rejectOld: true, timeout: 0}", "5 3",
	    "CamelExchangeException", "MessageRejectedException" },
	{ "too old, ignored", "streamConfig: {rejectOld: true, timeout: 0, "
			      "ignoreInvalidExchanges: true}",
	    "5 3", "", NULL },
	{ "the same as the last is not", "streamConfig: {rejectOld: true, timeout: 0}", "5 5", "",
	    NULL },
};

static void
check_invalid(void **state)
{
	const struct invalid_row *r = *state;
	struct str rest = str_of(r->bodies), word = { NULL, 0 };
	begin(r->config, OUT, true, FAKE_NOW);
	do {
		(void)str_split(&rest, ' ', &word); /* there may be none */
		(void)fake_start(&f, p->routes[0],
		    word.n > 0 ? arena_strndup(&fx.arena, word.p, word.n) : NULL);
	} while (rest.n > 0);
	assert_int_equal(f.failed, r->exception[0] != '\0');
	assert_memory_equal(f.exception, r->exception, strlen(r->exception));
	if (r->cause)
		assert_non_null(strstr(f.exception, r->cause));
	p->states[0]->desc->end(p->states[0], STATE_END_BROKER);
	end();
}

/* ---- one at a time, bounds ---- */

/* The next leaves when the one before it has been through the steps. */
static void
test_one_at_a_time(void **state)
{
	(void)state;
	begin("batchConfig: {batchSize: 3}", OUT ", {delay: {constant: 10}}", true, FAKE_NOW);
	(void)fake_start(&f, p->routes[0], "3");
	(void)fake_start(&f, p->routes[0], "2");
	(void)fake_start(&f, p->routes[0], "1");
	assert_string_equal(left(), "1");
	fake_answer(&f, NULL);
	assert_string_equal(left(), "1 2");
	fake_answer(&f, NULL);
	fake_answer(&f, NULL);
	assert_string_equal(left(), "1 2 3");
	end();
}

/* One that fails holds up nobody. */
static void
test_failures(void **state)
{
	(void)state;
	begin("batchConfig: {batchSize: 2}",
	    OUT ", {throwException: {exceptionType: java.io.IOException, message: m}}", true,
	    FAKE_NOW);
	(void)fake_start(&f, p->routes[0], "2");
	(void)fake_start(&f, p->routes[0], "1");
	assert_string_equal(left(), "1 2");
	assert_non_null(strstr(f.log, "Failed delivery"));
	end();
}

/* Beyond its capacity messages wait before the step. */
static void
check_full(bool here)
{
	begin("streamConfig: {capacity: 2, timeout: 100, deliveryAttemptInterval: 1000}", OUT, here,
	    FAKE_NOW);
	(void)fake_start(&f, p->routes[0], "8");
	(void)fake_start(&f, p->routes[0], "5");
	assert_int_equal(f.done, 2);
	(void)fake_start(&f, p->routes[0], "3");
	assert_int_equal(f.done, 2);
	assert_int_equal(f.waits[0], 100);
	fake_answer(&f, NULL);
	assert_int_equal(f.done, 2);
	p->states[0]->desc->end(p->states[0], STATE_END_BROKER);
	assert_string_equal(left(), "5 8");
	fake_answer(&f, NULL);
	assert_int_equal(f.done, 3);
	assert_string_equal(left(), "5 8 3");
	end();
}

static void
test_full(void **state)
{
	(void)state;
	check_full(true);
	check_full(false);
}

/* The state ends while a message of it is in the steps. */
static void
test_closed(void **state)
{
	(void)state;
	begin("batchConfig: {batchSize: 2}", OUT ", {delay: {constant: 10}}", true, FAKE_NOW);
	(void)fake_start(&f, p->routes[0], "2");
	(void)fake_start(&f, p->routes[0], "1");
	state_close(p->states[0]);
	fake_answer(&f, NULL);
	assert_string_equal(left(), "1");
	end();
}

/* ---- the hand-over ---- */

static bool
keep_bytes(void *arg, struct str bytes)
{
	return buf_add_str(arg, bytes) == HINNY_OK;
}

static void
hand_over(void)
{
	struct state_writer w;
	struct state_loaded loaded = { 0 };
	struct buf saved;
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
	buf_fini(&saved);
}

static void
test_records(void **state)
{
	(void)state;
	begin("batchConfig: {batchSize: 3}", OUT ", {delay: {constant: 10}}", true, FAKE_NOW);
	for (int i = 8; i > 0; i--) { /* one is in the steps, five are in order, two wait */
		char text[2] = { (char)('0' + i), '\0' };
		(void)fake_start(&f, p->routes[0], text);
	}
	assert_string_equal(left(), "6");
	hand_over();
	(void)fake_start(&f, p->routes[0], "0");
	for (int i = 0; i < 9; i++)
		fake_answer(&f, NULL);
	assert_string_equal(left(), "6 7 8 3 4 5 0 1 2");
	end();
}

static void
test_records_of_a_stream(void **state)
{
	(void)state;
	begin("streamConfig: {rejectOld: true}", OUT, true, FAKE_NOW);
	(void)fake_start(&f, p->routes[0], "1");
	fake_answer(&f, NULL);
	(void)fake_start(&f, p->routes[0], "4");
	(void)fake_start(&f, p->routes[0], "3");
	hand_over();
	(void)fake_start(&f, p->routes[0], "0");
	assert_true(f.failed); /* it knows what left last */
	(void)fake_start(&f, p->routes[0], "2");
	assert_string_equal(left(), "1 2 3 4");
	end();
}

int
main(void)
{
	UNIT_TABLE("stream", stream_rows, check_stream);
	UNIT_TABLE("here", rows, check_here);
	UNIT_TABLE("invalid", invalid_rows, check_invalid);
	UNIT_CASE(test_one_at_a_time);
	UNIT_CASE(test_failures);
	UNIT_CASE(test_full);
	UNIT_CASE(test_closed);
	UNIT_CASE(test_records);
	UNIT_CASE(test_records_of_a_stream);
	return unit_run("resequence");
}
