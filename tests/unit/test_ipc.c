/* Calls between workers: a home and two callees in one process, over real sockets. Deaths are played by closing a callee and telling the home. */
#include "tests/lib/unit.h"

#include "core/base/mem.h"
#include "core/ipc/ipc_priv.h"
#include "core/model/frame.h"
#include "core/model/stream.h"
#include "tests/unit/stranger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOME = 1, FIRST = 2, SECOND = 3, TURNS = 20000, CALL_MS = 30000, LARGE = 3 << 20 };

static const struct language_impl impl = { .name = "xpath" };

/* What a callee does with the calls that it gets. */
enum behaviour { DO_ECHO, DO_FAIL, DO_HOLD, DO_ITEMS };

struct callee {
	struct fixture *f;
	struct ipc *ipc;
	struct page *page;
	enum behaviour behaviour;
	struct ipc_served *held;
	uint64_t item;
	unsigned served;
	int page_fd;
};

struct fixture {
	struct loop lp;
	char dir[64];
	struct exchange_pool pool;
	struct program program;
	struct step steps[3], *step_list[3];
	struct expression exprs[3], *expr_list[3];
	struct route route;
	struct page *page;
	int page_fd;
	int64_t call_ms;
	struct ipc *home;
	struct callee callees[2];
	/* what the home has seen */
	int done, outcome, slots, evaluated;
	const struct step *failed;
	struct value slot_values[3];
	uint64_t items;
};

static struct fixture *current; /* ops without a fixture of their own */

static void
home_done(void *owner, struct exchange *ex, enum ipc_outcome outcome, const struct step *failed)
{
	struct fixture *f = owner;
	(void)ex;
	f->done++;
	f->outcome = outcome;
	f->failed = failed;
}

static void
home_slot(void *owner, struct exchange *ex, const struct expression *e, struct value v, struct exception *exception)
{
	struct fixture *f = owner;
	(void)ex;
	assert_null(exception);
	f->slot_values[e->slot] = v;
	f->slots++;
}

static void
home_evaluated(void *owner, struct exchange *ex)
{
	(void)ex;
	((struct fixture *)owner)->evaluated++;
}

static struct exchange *
callee_new(void *owner)
{
	return exchange_new(&((struct callee *)owner)->f->pool);
}

static void
callee_free(void *owner, struct exchange **ex)
{
	exchange_free(&((struct callee *)owner)->f->pool, ex);
}

static void
callee_more(void *arg)
{
	struct callee *ce = arg;
	bool full = false;
	while (ce->item < 1000) {
		if (!ipc_item(ce->held, value_int((int64_t)ce->item), callee_more, ce, &full))
			return;
		ce->item++;
		if (full)
			return;
	}
	struct ipc_served *sc = ce->held;
	ce->held = NULL;
	(void)sc;
}

static void
callee_call(void *owner, struct ipc_served *sc, struct exchange *ex, const struct step *first, uint32_t n)
{
	struct callee *ce = owner;
	ce->served++;
	switch (ce->behaviour) {
	case DO_ECHO:
		exchange_set_header(ex, STR_LIT("X-Steps"), value_int(n));
		exchange_set_body(ex, ex->body);
		ipc_reply(sc, ex, NULL);
		return;
	case DO_FAIL:
		exchange_fail(ex, EXCEPTION_TRANSFORMER, "no good");
		ipc_reply(sc, ex, n > 1 ? first->next : first);
		return;
	case DO_HOLD:
		ce->held = sc;
		return;
	case DO_ITEMS:
		ce->held = sc;
		callee_more(ce);
		return;
	}
}

static enum eval_rc
callee_eval(void *owner, struct exchange *ex, const struct expression *e, struct value *out)
{
	(void)owner;
	*out = e->predicate ? value_bool(str_eq(value_text(&ex->arena, &ex->body), str_of(e->text))) : value_str(str_of(e->text));
	return EVAL_OK;
}

static const struct ipc_ops home_ops = { .call_done = home_done, .slot = home_slot, .evaluate_done = home_evaluated };
static const struct ipc_ops callee_ops = {
	.exchange_new = callee_new,
	.exchange_free = callee_free,
	.serve_call = callee_call,
	.serve_eval = callee_eval,
};

static struct ipc *
open_ipc(struct fixture *f, const struct ipc_ops *ops, void *owner, struct page *page, const char *kind, uint64_t incarnation)
{
	struct hinny_error err;
	struct ipc *ipc;
	struct ipc_options opt = {
		.lp = &f->lp, .program = &f->program, .ops = ops, .owner = owner, .page = page, .run_dir = f->dir,
		.kind = kind_index(str_of(kind)), .incarnation = incarnation, .serve_at_once = ops == &callee_ops,
		.call_timeout_ms = f->call_ms, .max_tries = 2, .refuse_ms = 60000, .peer_calls = 100, .peer_bytes = 1 << 20,
		.max_body = 64 << 20, .spool_memory = 64 << 10,
	};
	if (ipc_open(&opt, &ipc, &err) != HINNY_OK)
		fail_msg("%s", err.text);
	return ipc;
}

static void
callee_open(struct fixture *f, int i, uint64_t incarnation)
{
	struct callee *ce = &f->callees[i];
	*ce = (struct callee){ .f = f };
	ce->page = page_create(1, &ce->page_fd);
	ce->ipc = open_ipc(f, &callee_ops, ce, ce->page, "xform", incarnation);
	ipc_peer_up(f->home, kind_index(STR_LIT("xform")), 0, incarnation);
}

static void
callee_close(struct callee *ce)
{
	ipc_close(ce->ipc);
	ce->ipc = NULL;
	page_close(ce->page);
	close(ce->page_fd);
}

static void
make_program(struct fixture *f)
{
	static const char *const texts[] = { "one", "two", "three" };
	f->program = (struct program){ .steps = f->step_list, .steps_n = 3, .remotes = f->expr_list, .remotes_n = 3 };
	for (uint32_t i = 0; i < 3; i++) {
		f->step_list[i] = &f->steps[i];
		f->steps[i] = (struct step){ .index = i, .owner = "xform", .call_run = 1, .route = &f->route,
			.reads = { .flags = ACCESS_ALL }, .next = i < 2 ? &f->steps[i + 1] : NULL };
		f->expr_list[i] = &f->exprs[i];
		f->exprs[i] = (struct expression){ .slot = i, .owner = "xform", .text = texts[i], .predicate = i < 2, .ops = &impl,
			.reads = { .flags = ACCESS_BODY } };
	}
}

static struct fixture *
setup_for(int64_t call_ms)
{
	struct fixture *f = MEM_NEW(struct fixture);
	struct hinny_error err;
	current = f;
	f->call_ms = call_ms;
	strcpy(f->dir, "/tmp/hipc-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(loop_init(&f->lp, &err), HINNY_OK);
	exchange_pool_init(&f->pool, 8);
	make_program(f);
	f->page = page_create(1, &f->page_fd);
	f->home = open_ipc(f, &home_ops, f, f->page, "http", HOME);
	callee_open(f, 0, FIRST);
	return f;
}

static struct fixture *
setup(void)
{
	return setup_for(CALL_MS);
}

static void
teardown(struct fixture *f)
{
	for (size_t i = 0; i < ARRAY_LEN(f->callees); i++)
		if (f->callees[i].ipc != NULL)
			callee_close(&f->callees[i]);
	ipc_close(f->home);
	loop_fini(&f->lp);
	page_close(f->page);
	close(f->page_fd);
	assert_int_equal(f->pool.live, 0);
	exchange_pool_fini(&f->pool);
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
}

static void
turn_until(struct fixture *f, const int *what, int n)
{
	struct monotime begin = monotime_now();
	while (*what < n) {
		loop_turn(&f->lp, 10);
		if (monotime_ms_between(begin, monotime_now()) > TURNS)
			fail_msg("nothing happened in time");
	}
}

static void
turn_for(struct fixture *f, int64_t ms)
{
	struct monotime begin = monotime_now();
	while (monotime_ms_between(begin, monotime_now()) < ms)
		loop_turn(&f->lp, 5);
}

/* What was given up is forgotten. */
static void
turn_until_idle(struct fixture *f, struct callee *ce)
{
	struct monotime begin = monotime_now();
	while (ipc_calls_in(ce->ipc) > 0) {
		loop_turn(&f->lp, 10);
		if (monotime_ms_between(begin, monotime_now()) > TURNS)
			fail_msg("a call is still being served");
	}
}

static struct exchange *
make_exchange(struct fixture *f, size_t body)
{
	struct exchange *ex = exchange_new(&f->pool);
	struct blob *b = blob_new(body);
	memset(b->data, 'x', body);
	b->size = body;
	exchange_set_body(ex, value_str((struct str){ b->data, b->size }));
	ex->body.blob = arena_hold(&ex->arena, b);
	blob_put(b);
	exchange_set_header(ex, STR_LIT("X-In"), value_str(STR_LIT("1")));
	ex->route = ex->from_route = &f->route;
	return ex;
}

static void
check_echo(struct fixture *f, size_t size)
{
	struct exchange *ex = make_exchange(f, size);
	int before = f->done;
	ipc_call(f->home, ex, &f->steps[0], 2, false);
	turn_until(f, &f->done, before + 1);
	assert_int_equal(f->outcome, IPC_OK);
	struct str body = value_text(&ex->arena, &ex->body);
	assert_int_equal(body.n, size);
	for (size_t i = 0; i < body.n; i += 997)
		assert_int_equal(body.p[i], 'x');
	assert_int_equal(exchange_header(ex, STR_LIT("X-Steps"))->u.i, 2);
	assert_non_null(exchange_header(ex, STR_LIT("X-In")));
	exchange_free(&f->pool, &ex);
}

static const struct echo_row {
	const char *label;
	size_t size;
} echo_rows[] = {
	{ "empty", 0 },
	{ "small", 10 },
	{ "just inline", 64 << 10 },
	{ "one more", (64 << 10) + 1 },
	{ "many chunks", LARGE },
};

static void
test_echo(void **state)
{
	const struct echo_row *row = *state;
	struct fixture *f = setup();
	check_echo(f, row->size);
	check_echo(f, row->size);
	teardown(f);
}

/* ---- a reply that streams ---- */

struct sink {
	struct stream_sink sink;
	size_t got;
	int ended, failed;
};

static void
sink_data(struct stream_sink *s, struct str bytes, struct blob *blob)
{
	(void)blob;
	CONTAINER_OF(s, struct sink, sink)->got += bytes.n;
}

static void
sink_end(struct stream_sink *s)
{
	CONTAINER_OF(s, struct sink, sink)->ended++;
}

static void
sink_fail(struct stream_sink *s, const struct hinny_error *err)
{
	(void)err;
	CONTAINER_OF(s, struct sink, sink)->failed++;
}

static void
test_reply_streams(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct exchange *ex = make_exchange(f, LARGE);
	struct sink sink = { .sink = { sink_data, sink_end, sink_fail } };
	ipc_call(f->home, ex, &f->steps[0], 1, true);
	turn_until(f, &f->done, 1);
	assert_int_equal(ex->body.type, VALUE_STREAM);
	struct stream *s = ex->body.u.stream;
	ex->body = value_null();
	turn_for(f, 50);
	assert_int_equal(sink.got, 0);
	stream_attach(s, &sink.sink);
	turn_until(f, &sink.ended, 1);
	assert_int_equal(sink.got, LARGE);
	exchange_free(&f->pool, &ex);
	/* one that nobody wants is given up, and the callee forgets it */
	ex = make_exchange(f, LARGE);
	ipc_call(f->home, ex, &f->steps[0], 1, true);
	turn_until(f, &f->done, 2);
	exchange_free(&f->pool, &ex);
	turn_until_idle(f, &f->callees[0]);
	teardown(f);
}

static void
test_stream_of_a_dead_callee_fails(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct exchange *ex = make_exchange(f, LARGE);
	struct sink sink = { .sink = { sink_data, sink_end, sink_fail } };
	ipc_call(f->home, ex, &f->steps[0], 1, true);
	turn_until(f, &f->done, 1);
	struct stream *s = ex->body.u.stream;
	ex->body = value_null();
	callee_close(&f->callees[0]);
	ipc_peer_down(f->home, FIRST, 0, "killed", false);
	stream_attach(s, &sink.sink);
	turn_until(f, &sink.failed, 1);
	assert_int_equal(sink.ended, 0);
	exchange_free(&f->pool, &ex);
	teardown(f);
}

static void
test_failure_names_the_step(void **state)
{
	(void)state;
	struct fixture *f = setup();
	f->callees[0].behaviour = DO_FAIL;
	struct exchange *ex = make_exchange(f, 10);
	ipc_call(f->home, ex, &f->steps[0], 2, false);
	turn_until(f, &f->done, 1);
	assert_int_equal(f->outcome, IPC_FAILED);
	assert_ptr_equal(f->failed, &f->steps[1]);
	assert_int_equal(ex->exception->id, EXCEPTION_TRANSFORMER);
	assert_true(str_eq(ex->exception->message, STR_LIT("no good")));
	exchange_free(&f->pool, &ex);
	teardown(f);
}

static void
test_evaluate(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct exchange *ex = make_exchange(f, 0);
	exchange_set_body(ex, value_str(STR_LIT("one")));
	ipc_evaluate(f->home, ex, f->expr_list, 3, true);
	turn_until(f, &f->evaluated, 1);
	assert_int_equal(f->slots, 1); /* the first was true */
	assert_true(f->slot_values[0].u.b);
	ipc_evaluate(f->home, ex, f->expr_list, 3, false);
	turn_until(f, &f->evaluated, 2);
	assert_int_equal(f->slots, 4);
	assert_false(f->slot_values[1].u.b);
	assert_true(str_eq(value_text(&ex->arena, &f->slot_values[2]), STR_LIT("three")));
	exchange_free(&f->pool, &ex);
	teardown(f);
}

/* ---- deaths ---- */

static uint64_t
wait_running(struct fixture *f, struct callee *ce)
{
	struct monotime begin = monotime_now();
	while (PAGE_GET(ce->page->call_id) == 0) {
		loop_turn(&f->lp, 5);
		if (monotime_ms_between(begin, monotime_now()) > TURNS)
			fail_msg("no call was begun");
	}
	return PAGE_GET(ce->page->call_id);
}

static void
test_only_the_running_call_uses_up_a_try(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct exchange *running = make_exchange(f, 10), *waiting = make_exchange(f, 11);
	for (uint64_t incarnation = FIRST; incarnation < FIRST + 2; incarnation++) {
		struct callee *ce = &f->callees[0];
		ce->behaviour = DO_HOLD;
		if (incarnation == FIRST) {
			ipc_call(f->home, running, &f->steps[0], 1, false);
			ipc_call(f->home, waiting, &f->steps[0], 1, false);
		}
		uint64_t id = wait_running(f, ce);
		ipc_close(ce->ipc);
		ipc_peer_down(f->home, incarnation, id, "killed by signal 9", false);
		ce->ipc = NULL;
		page_close(ce->page);
		close(ce->page_fd);
		turn_for(f, 20);
		if (incarnation == FIRST)
			assert_int_equal(f->done, 0);
		callee_open(f, 0, incarnation + 1);
		f->callees[0].behaviour = incarnation == FIRST ? DO_HOLD : DO_ECHO;
	}
	turn_until(f, &f->done, 2);
	assert_int_equal(running->exception->id, EXCEPTION_WORKER_LOST);
	assert_null(waiting->exception);
	/* the same step and body are now refused untried, others are not */
	struct exchange *again = make_exchange(f, 10);
	ipc_call(f->home, again, &f->steps[0], 1, false);
	turn_until(f, &f->done, 3);
	assert_int_equal(again->exception->id, EXCEPTION_POISON);
	check_echo(f, 12);
	exchange_free(&f->pool, &again);
	exchange_free(&f->pool, &running);
	exchange_free(&f->pool, &waiting);
	teardown(f);
}

static void
test_effects_are_not_repeated(void **state)
{
	(void)state;
	struct fixture *f = setup();
	f->steps[0].effect = true;
	f->callees[0].behaviour = DO_HOLD;
	struct exchange *ex = make_exchange(f, 10);
	ipc_call(f->home, ex, &f->steps[0], 1, false);
	(void)wait_running(f, &f->callees[0]);
	callee_close(&f->callees[0]);
	ipc_peer_down(f->home, FIRST, 0, "killed", false);
	callee_open(f, 0, FIRST + 1);
	turn_until(f, &f->done, 1);
	assert_int_equal(ex->exception->id, EXCEPTION_WORKER_LOST);
	assert_int_equal(f->callees[0].served, 0);
	exchange_free(&f->pool, &ex);
	teardown(f);
}

static void
test_time_limit_fails_at_once(void **state)
{
	(void)state;
	struct fixture *f = setup();
	f->callees[0].behaviour = DO_HOLD;
	struct exchange *ex = make_exchange(f, 10);
	ipc_call(f->home, ex, &f->steps[0], 1, false);
	uint64_t id = wait_running(f, &f->callees[0]);
	callee_close(&f->callees[0]);
	ipc_peer_down(f->home, FIRST, id, "time limit of 5 s", true);
	turn_until(f, &f->done, 1);
	assert_true(exception_is_a(ex->exception->id, EXCEPTION_EXCHANGE_TIMED_OUT));
	exchange_free(&f->pool, &ex);
	teardown(f);
}

static void
test_deadline(void **state)
{
	(void)state;
	struct fixture *f = setup_for(400);
	f->callees[0].behaviour = DO_HOLD;
	struct exchange *ex = make_exchange(f, 10);
	ipc_call(f->home, ex, &f->steps[0], 1, false);
	turn_until(f, &f->done, 1);
	assert_int_equal(ex->exception->id, EXCEPTION_CALL_DEADLINE);
	/* the late reply is dropped */
	struct ipc_served *sc = f->callees[0].held;
	assert_non_null(sc);
	exchange_free(&f->pool, &ex);
	teardown(f);
}

static void
test_no_callee_at_all(void **state)
{
	(void)state;
	struct fixture *f = setup();
	callee_close(&f->callees[0]);
	ipc_peer_down(f->home, FIRST, 0, "killed", false);
	struct exchange *ex = make_exchange(f, 10);
	ipc_call(f->home, ex, &f->steps[0], 1, false);
	turn_for(f, 50);
	assert_int_equal(f->done, 0); /* it waits for the successor */
	callee_open(f, 0, FIRST + 1);
	turn_until(f, &f->done, 1);
	assert_null(ex->exception);
	exchange_free(&f->pool, &ex);
	teardown(f);
}

static void
test_cancel(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct exchange *ex = make_exchange(f, LARGE);
	ipc_call(f->home, ex, &f->steps[0], 1, false);
	loop_turn(&f->lp, 5);
	ipc_cancel(f->home, ex);
	assert_int_equal(ipc_calls_out(f->home), 0);
	exchange_free(&f->pool, &ex);
	turn_for(f, 50);
	assert_int_equal(f->done, 0);
	turn_until_idle(f, &f->callees[0]);
	check_echo(f, 100);
	teardown(f);
}

/* ---- items ---- */

static bool
home_item(void *arg, struct exchange *ex, uint64_t seq, struct value item)
{
	struct fixture *f = arg;
	(void)ex;
	assert_int_equal(seq, f->items);
	assert_int_equal(item.u.i, f->items);
	f->items++;
	return f->items != 500; /* then pause */
}

static void
test_items_come_in_order_and_wait(void **state)
{
	(void)state;
	struct fixture *f = setup();
	f->callees[0].behaviour = DO_ITEMS;
	struct exchange *ex = make_exchange(f, 10);
	ipc_call_items(f->home, ex, &f->steps[0], 1, home_item, f);
	struct monotime begin = monotime_now();
	while (f->items < 500 && monotime_ms_between(begin, monotime_now()) < TURNS)
		loop_turn(&f->lp, 5);
	turn_for(f, 30);
	assert_in_range(f->items, 500, 520); /* what credit had let out */
	ipc_items_resume(ex);
	begin = monotime_now();
	while (f->items < 1000 && monotime_ms_between(begin, monotime_now()) < TURNS)
		loop_turn(&f->lp, 5);
	assert_int_equal(f->items, 1000);
	ipc_cancel(f->home, ex);
	exchange_free(&f->pool, &ex);
	teardown(f);
}

/* ---- strangers ---- */

static void
test_broken_frames_are_dropped(void **state)
{
	(void)state;
	struct fixture *f = setup();
	char inbox[32];
	snprintf(inbox, sizeof inbox, "xform.0.%d", FIRST);
	int fd = stranger_open(f->dir, inbox);
	unsigned seed = 1;
	for (int i = 0; i < 300; i++) {
		char bytes[200];
		size_t n = 8 + (size_t)rand_r(&seed) % (sizeof bytes - 8);
		for (size_t k = 0; k < n; k++)
			bytes[k] = (char)rand_r(&seed);
		if (i % 2 == 0) { /* a good head with a bad payload */
			uint32_t length = (uint32_t)(n - 4);
			memcpy(bytes, &length, 4);
			bytes[4] = FRAME_VERSION;
			bytes[5] = (char)(1 + i % 9);
			assert_true(stranger_send(&f->lp, fd, bytes, n));
			continue;
		}
		memcpy(bytes, "\1\0\0\0", 4); /* what is no frame ends the connection */
		assert_true(stranger_send(&f->lp, fd, bytes, n));
		stranger_is_cut_off(&f->lp, fd);
		close(fd);
		fd = stranger_open(f->dir, inbox);
	}
	close(fd);
	check_echo(f, 1000);
	teardown(f);
}

/* ---- ends and breaks in the middle ---- */

/* A callee goes while its inbox is being filled, and the next one comes. */
static void
test_callees_end_in_the_traffic(void **state)
{
	(void)state;
	enum { ENDS = 60, CALLS = 30 };
	struct fixture *f = setup();
	struct exchange *exs[CALLS];
	unsigned seed = 1;
	alarm(60);
	for (uint64_t i = 0; i < ENDS; i++) {
		int before = f->done;
		for (size_t k = 0; k < CALLS; k++) {
			exs[k] = make_exchange(f, k % 10 == 0 ? 200000 : 2000);
			ipc_call(f->home, exs[k], &f->steps[0], 1, false);
		}
		for (int turns = rand_r(&seed) % 8; turns > 0; turns--)
			loop_turn(&f->lp, 1);
		callee_close(&f->callees[0]);
		ipc_peer_down(f->home, FIRST + i, 0, "killed", false);
		callee_open(f, 0, FIRST + i + 1);
		turn_until(f, &f->done, before + CALLS);
		for (size_t k = 0; k < CALLS; k++)
			exchange_free(&f->pool, &exs[k]);
	}
	alarm(0);
	teardown(f);
}

/* The callee lives, and what was sent to it is lost. */
static void
test_broken_connection(void **state)
{
	(void)state;
	struct fixture *f = setup();
	f->steps[2].effect = true;
	f->callees[0].behaviour = DO_HOLD;
	struct exchange *pure = make_exchange(f, 10), *effect = make_exchange(f, 11);
	ipc_call(f->home, pure, &f->steps[0], 1, false);
	(void)wait_running(f, &f->callees[0]);
	f->callees[0].behaviour = DO_ECHO;
	ipc_call(f->home, effect, &f->steps[2], 1, false);
	struct ipc_peer *peer = peer_find(f->home, FIRST);
	peer_flush(peer);
	assert_int_equal(buf_add(peer_out(peer), "\0\0\0\0", 4), HINNY_OK); /* no frame: the inbox closes the connection */
	turn_until(f, &f->done, 1);
	assert_int_equal(effect->exception->id, EXCEPTION_WORKER_LOST); /* it may have had its effect */
	ipc_reply(f->callees[0].held, f->callees[0].held->ex, NULL); /* late: it was called again */
	turn_until(f, &f->done, 2);
	assert_null(pure->exception);
	assert_int_equal(f->callees[0].served, 3);
	check_echo(f, 100);
	exchange_free(&f->pool, &pure);
	exchange_free(&f->pool, &effect);
	teardown(f);
}

int
main(void)
{
	UNIT_TABLE("echo", echo_rows, test_echo);
	UNIT_CASE(test_reply_streams);
	UNIT_CASE(test_stream_of_a_dead_callee_fails);
	UNIT_CASE(test_failure_names_the_step);
	UNIT_CASE(test_evaluate);
	UNIT_CASE(test_only_the_running_call_uses_up_a_try);
	UNIT_CASE(test_effects_are_not_repeated);
	UNIT_CASE(test_time_limit_fails_at_once);
	UNIT_CASE(test_deadline);
	UNIT_CASE(test_no_callee_at_all);
	UNIT_CASE(test_cancel);
	UNIT_CASE(test_items_come_in_order_and_wait);
	UNIT_CASE(test_broken_frames_are_dropped);
	UNIT_CASE(test_callees_end_in_the_traffic);
	UNIT_CASE(test_broken_connection);
	return unit_run("ipc");
}
