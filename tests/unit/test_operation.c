/* Operations of states between workers (core/ipc/operation.c): a home, its owner and the owner of a newer generation in one process, over real sockets. */
#include "tests/lib/unit.h"

#include "core/base/mem.h"
#include "core/ipc/ipc.h"
#include "core/model/frame.h"
#include "tests/unit/stranger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOME = 1, OWNER = 2, NEXT = 3, OLDER_HOME = 77, GENERATION = 5, PATIENCE_MS = 20000, CALL_MS = 30000, LARGE = 3 << 20 };
enum { OP_WRITE, OP_READ, OP_MESSAGE, OPS };

static const struct state_desc desc = { .name = "kind", .ops = OPS, .read_ops = 1u << OP_READ, .message_ops = 1u << OP_MESSAGE };

enum behaviour { DO_ANSWER, DO_FAIL, DO_HOLD, DO_PASS_ON };

struct owner {
	struct fixture *f;
	struct ipc *ipc;
	struct page *page;
	enum behaviour behaviour;
	struct ipc_served *held;
	int served, page_fd;
	uint64_t home;
	size_t body;
	bool header;
	char what[128];
};

struct fixture {
	struct loop lp;
	char dir[64];
	struct exchange_pool pool;
	struct program program;
	struct state_node node;
	struct page *page;
	int page_fd;
	int64_t call_ms;
	struct ipc *home;
	struct owner owners[2];
	int done;
	char answer[128], exception[128];
};

static int
flow(void)
{
	return kind_index(STR_LIT("flow"));
}

static void
note_answer(struct fixture *f, struct exchange *ex, struct value v, struct exception *exception)
{
	snprintf(f->answer, sizeof f->answer, "%.*s", STR_FMT(value_text(&ex->arena, &v)));
	f->exception[0] = '\0';
	if (exception != NULL)
		snprintf(f->exception, sizeof f->exception, "%s: %.*s", exception_class(exception->id)->name, STR_FMT(exception->message));
	assert_null(ex->exception);
	f->done++;
}

static void
home_done(void *owner, struct exchange *ex, struct value v, struct exception *exception)
{
	note_answer(owner, ex, v, exception);
}

static struct exchange *
home_new(void *owner)
{
	return exchange_new(&((struct fixture *)owner)->pool);
}

static void
home_free(void *owner, struct exchange **ex)
{
	exchange_free(&((struct fixture *)owner)->pool, ex);
}

/* What was passed on has been answered. */
static void
owner_done(void *arg, struct exchange *ex, struct value v, struct exception *exception)
{
	(void)arg;
	ipc_state_reply(ex->owner, &v, exception);
}

static struct exchange *
owner_new(void *owner)
{
	return exchange_new(&((struct owner *)owner)->f->pool);
}

static void
owner_free(void *owner, struct exchange **ex)
{
	exchange_free(&((struct owner *)owner)->f->pool, ex);
}

static void
owner_serve(void *arg, struct ipc_served *sc, struct exchange *ex, const struct ipc_operation *op)
{
	struct owner *o = arg;
	o->served++;
	o->home = ex->home;
	o->body = value_is_null(&ex->body) ? 0 : value_text(&ex->arena, &ex->body).n;
	o->header = exchange_header(ex, STR_LIT("X-In")) != NULL;
	snprintf(o->what, sizeof o->what, "%.*s/%.*s/%.*s/%u/%.*s", STR_FMT(op->route_id), STR_FMT(op->node_id), STR_FMT(op->name),
	    op->op, STR_FMT(value_text(&ex->arena, &op->arg)));
	struct value v = value_str(str_of(o->what));
	switch (o->behaviour) {
	case DO_ANSWER:
		ipc_state_reply(sc, &v, NULL);
		return;
	case DO_FAIL:
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "no");
		ipc_state_reply(sc, &v, ex->exception);
		return;
	case DO_HOLD:
		o->held = sc;
		return;
	case DO_PASS_ON:
		ex->owner = sc;
		ipc_state(o->ipc, ex, &o->f->node, op->op, &op->arg, flow(), GENERATION);
		return;
	}
}

static const struct ipc_ops home_ops = { .state_done = home_done, .exchange_new = home_new, .exchange_free = home_free };
static const struct ipc_ops owner_ops = {
	.state_done = owner_done, .exchange_new = owner_new, .exchange_free = owner_free, .serve_state = owner_serve
};

static struct ipc *
open_ipc(struct fixture *f, const struct ipc_ops *ops, void *owner, struct page *page, const char *kind, uint64_t incarnation)
{
	struct hinny_error err;
	struct ipc *ipc;
	struct ipc_options opt = {
		.lp = &f->lp, .program = &f->program, .ops = ops, .owner = owner, .page = page, .run_dir = f->dir,
		.kind = kind_index(str_of(kind)), .incarnation = incarnation, .call_timeout_ms = f->call_ms, .max_tries = 2,
		.refuse_ms = 60000, .peer_calls = 100, .peer_bytes = 1 << 20, .max_body = 64 << 20, .spool_memory = 64 << 10,
	};
	if (ipc_open(&opt, &ipc, &err) != HINNY_OK)
		fail_msg("%s", err.text);
	return ipc;
}

static void
owner_open(struct fixture *f, int i, uint64_t incarnation)
{
	struct owner *o = &f->owners[i];
	*o = (struct owner){ .f = f };
	o->page = page_create(1, &o->page_fd);
	o->ipc = open_ipc(f, &owner_ops, o, o->page, "flow", incarnation);
}

static void
owner_close(struct owner *o)
{
	ipc_close(o->ipc);
	o->ipc = NULL;
	page_close(o->page);
	close(o->page_fd);
}

static struct fixture *
setup_for(int64_t call_ms)
{
	struct fixture *f = MEM_NEW(struct fixture);
	struct hinny_error err;
	f->call_ms = call_ms;
	strcpy(f->dir, "/tmp/hipo-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(loop_init(&f->lp, &err), HINNY_OK);
	exchange_pool_init(&f->pool, 8);
	f->node = (struct state_node){ .desc = &desc, .route_id = "r", .node_id = "n", .owner = "flow" };
	f->page = page_create(1, &f->page_fd);
	f->home = open_ipc(f, &home_ops, f, f->page, "http", HOME);
	owner_open(f, 0, OWNER);
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
	for (size_t i = 0; i < ARRAY_LEN(f->owners); i++)
		if (f->owners[i].ipc != NULL)
			owner_close(&f->owners[i]);
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
		if (monotime_ms_between(begin, monotime_now()) > PATIENCE_MS)
			fail_msg("nothing happened in time");
	}
}

static void
owner_up(struct fixture *f)
{
	ipc_peer_up(f->home, flow(), 0, OWNER);
}

static struct exchange *
ask(struct fixture *f, unsigned op, size_t body)
{
	struct exchange *ex = exchange_new(&f->pool);
	struct value arg = value_str(STR_LIT("key"));
	char *bytes = arena_alloc(&ex->arena, body + 1);
	memset(bytes, 'x', body);
	exchange_set_body(ex, value_str((struct str){ bytes, body }));
	exchange_set_header(ex, STR_LIT("X-In"), value_int(1));
	ipc_state(f->home, ex, &f->node, op, &arg, flow(), 0);
	return ex;
}

static const struct ask_row {
	const char *label;
	unsigned op;
	size_t body, seen;
	const char *answer;
} ask_rows[] = {
	{ "without the message", OP_WRITE, 10, 0, "r/n/kind/0/key" },
	{ "with it", OP_MESSAGE, 10, 10, "r/n/kind/2/key" },
	{ "large", OP_MESSAGE, LARGE, LARGE, "r/n/kind/2/key" },
};

static void
check_ask(void **state)
{
	const struct ask_row *row = *state;
	struct fixture *f = setup();
	owner_up(f);
	struct exchange *ex = ask(f, row->op, row->body);
	assert_int_equal(f->done, 0); /* never from inside */
	turn_until(f, &f->done, 1);
	assert_string_equal(f->answer, row->answer);
	assert_string_equal(f->exception, "");
	assert_int_equal(f->owners[0].body, row->seen);
	assert_int_equal(f->owners[0].header, row->seen > 0);
	assert_int_equal(f->owners[0].home, HOME);
	assert_int_equal(ipc_calls_out(f->home), 0);
	assert_int_equal(ipc_calls_in(f->owners[0].ipc), 0);
	exchange_free(&f->pool, &ex);
	teardown(f);
}

static void
test_fails(void **state)
{
	(void)state;
	struct fixture *f = setup();
	owner_up(f);
	f->owners[0].behaviour = DO_FAIL;
	struct exchange *ex = ask(f, OP_WRITE, 0);
	turn_until(f, &f->done, 1);
	assert_string_equal(f->exception, "java.lang.IllegalStateException: no");
	exchange_free(&f->pool, &ex);
	teardown(f);
}

/* The owner dies with the operation: one that reads is made again by its successor. */
static void
test_owner_dies(void **state)
{
	(void)state;
	for (unsigned op = OP_WRITE; op <= OP_READ; op++) {
		struct fixture *f = setup();
		owner_up(f);
		f->owners[0].behaviour = DO_HOLD;
		struct exchange *ex = ask(f, op, 0);
		turn_until(f, &f->owners[0].served, 1);
		owner_close(&f->owners[0]);
		ipc_peer_down(f->home, OWNER, 0, "killed", false);
		owner_open(f, 1, NEXT);
		ipc_peer_up(f->home, flow(), 0, NEXT);
		turn_until(f, &f->done, 1);
		if (op == OP_WRITE)
			assert_non_null(strstr(f->exception, "hinny.WorkerLostException: worker lost: killed"));
		else
			assert_string_equal(f->answer, "r/n/kind/1/key");
		assert_int_equal(f->owners[1].served, op == OP_READ);
		exchange_free(&f->pool, &ex);
		teardown(f);
	}
}

/* It is waited for, up to the deadline, and not at all when nobody will come. */
static void
test_no_owner(void **state)
{
	(void)state;
	struct fixture *f = setup_for(1500);
	struct exchange *a = ask(f, OP_WRITE, 0);
	turn_until(f, &f->done, 1);
	assert_non_null(strstr(f->exception, "hinny.CallDeadlineException"));
	struct exchange *b = ask(f, OP_WRITE, 0);
	ipc_peer_last(f->home, flow());
	turn_until(f, &f->done, 2);
	assert_non_null(strstr(f->exception, "hinny.WorkerLostException"));
	struct exchange *c = ask(f, OP_WRITE, 0);
	assert_int_equal(f->done, 2);
	turn_until(f, &f->done, 3);
	assert_non_null(strstr(f->exception, "hinny.WorkerLostException"));
	exchange_free(&f->pool, &c);
	c = ask(f, OP_WRITE, 0);
	turn_until(f, &f->done, 4);
	owner_up(f); /* one came after all */
	exchange_free(&f->pool, &c);
	c = ask(f, OP_WRITE, 0);
	turn_until(f, &f->done, 5);
	assert_string_equal(f->exception, "");
	exchange_free(&f->pool, &a);
	exchange_free(&f->pool, &b);
	exchange_free(&f->pool, &c);
	teardown(f);
}

/* One that the home has given up must not be done any more. */
static void
test_late(void **state)
{
	(void)state;
	struct fixture *f = setup_for(400);
	owner_up(f);
	f->owners[0].behaviour = DO_HOLD;
	struct exchange *ex = ask(f, OP_WRITE, 0);
	turn_until(f, &f->owners[0].served, 1);
	assert_false(ipc_state_is_late(f->owners[0].held));
	turn_until(f, &f->done, 1);
	struct monotime begin = monotime_now();
	while (!ipc_state_is_late(f->owners[0].held) && monotime_ms_between(begin, monotime_now()) < PATIENCE_MS)
		loop_turn(&f->lp, 5);
	assert_true(ipc_state_is_late(f->owners[0].held));
	struct value v = value_null();
	ipc_state_reply(f->owners[0].held, &v, NULL);
	assert_int_equal(ipc_calls_in(f->owners[0].ipc), 0);
	exchange_free(&f->pool, &ex);
	teardown(f);
}

/* A note counts as a call until the owner has it, so that no worker ends before. */
static void
test_note(void **state)
{
	(void)state;
	struct fixture *f = setup();
	char text[] = "gone soon";
	struct value arg = value_str(str_of(text));
	ipc_state_note(f->home, OLDER_HOME, &f->node, OP_WRITE, &arg, flow(), 0);
	memset(text, '?', strlen(text));
	assert_int_equal(ipc_calls_out(f->home), 1);
	owner_up(f);
	turn_until(f, &f->owners[0].served, 1);
	assert_string_equal(f->owners[0].what, "r/n/kind/0/gone soon");
	assert_int_equal(f->owners[0].home, OLDER_HOME);
	struct monotime begin = monotime_now();
	while (ipc_calls_out(f->home) > 0 && monotime_ms_between(begin, monotime_now()) < PATIENCE_MS)
		loop_turn(&f->lp, 5);
	assert_int_equal(ipc_calls_out(f->home), 0);
	assert_int_equal(f->done, 0);
	ipc_state_note(f->home, 0, &f->node, OP_WRITE, &arg, flow(), 0); /* dropped at the end */
	teardown(f);
}

/* The old owner passes on what still comes; the new one sees the home that it comes from. */
static void
test_passed_on(void **state)
{
	(void)state;
	static const size_t bodies[] = { 10, LARGE };
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct fixture *f = setup();
		owner_up(f);
		owner_open(f, 1, NEXT);
		f->owners[0].behaviour = DO_PASS_ON;
		struct exchange *ex = ask(f, OP_MESSAGE, bodies[i]);
		turn_until(f, &f->owners[0].served, 1);
		ipc_successor_up(f->owners[0].ipc, flow(), 0, NEXT, GENERATION);
		turn_until(f, &f->done, 1);
		assert_string_equal(f->answer, "r/n/kind/2/key");
		assert_int_equal(f->owners[1].body, bodies[i]);
		assert_int_equal(f->owners[1].home, HOME);
		assert_int_equal(ipc_calls_in(f->owners[0].ipc), 0);
		assert_int_equal(ipc_calls_out(f->owners[0].ipc), 0);
		exchange_free(&f->pool, &ex);
		teardown(f);
	}
}

static void
test_successor_dies(void **state)
{
	(void)state;
	struct fixture *f = setup();
	owner_up(f);
	owner_open(f, 1, NEXT);
	f->owners[0].behaviour = DO_PASS_ON;
	f->owners[1].behaviour = DO_HOLD;
	ipc_successor_up(f->owners[0].ipc, flow(), 0, NEXT, GENERATION);
	struct exchange *ex = ask(f, OP_MESSAGE, 10);
	turn_until(f, &f->owners[1].served, 1);
	owner_close(&f->owners[1]);
	ipc_peer_down(f->owners[0].ipc, NEXT, 0, "killed", false);
	turn_until(f, &f->done, 1);
	assert_non_null(strstr(f->exception, "hinny.WorkerLostException: worker lost: killed"));
	exchange_free(&f->pool, &ex);
	teardown(f);
}

/* Frames of the right types with anything in them. */
static void
test_broken_frames_are_dropped(void **state)
{
	(void)state;
	struct fixture *f = setup();
	owner_up(f);
	char inbox[32];
	snprintf(inbox, sizeof inbox, "flow.0.%d", OWNER);
	int fd = stranger_open(f->dir, inbox);
	unsigned seed = 1;
	for (int i = 0; i < 300; i++) {
		char bytes[300];
		size_t n = 8 + (size_t)rand_r(&seed) % (sizeof bytes - 8);
		for (size_t k = 0; k < n; k++)
			bytes[k] = rand_r(&seed) % 3 ? '\0' : (char)rand_r(&seed);
		uint32_t length = (uint32_t)(n - 4);
		memcpy(bytes, &length, 4);
		bytes[4] = FRAME_VERSION;
		bytes[5] = i % 2 ? FRAME_STATE : FRAME_STATE_VALUE;
		assert_true(stranger_send(&f->lp, fd, bytes, n));
	}
	close(fd);
	struct exchange *ex = ask(f, OP_WRITE, 0);
	turn_until(f, &f->done, 1);
	assert_string_equal(f->answer, "r/n/kind/0/key");
	exchange_free(&f->pool, &ex);
	teardown(f);
}

int
main(void)
{
	UNIT_TABLE("ask", ask_rows, check_ask);
	UNIT_CASE(test_fails);
	UNIT_CASE(test_owner_dies);
	UNIT_CASE(test_no_owner);
	UNIT_CASE(test_late);
	UNIT_CASE(test_note);
	UNIT_CASE(test_passed_on);
	UNIT_CASE(test_successor_dies);
	UNIT_CASE(test_broken_frames_are_dropped);
	return unit_run("operation");
}
