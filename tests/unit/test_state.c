/* core/eip/state.h: operations served here and elsewhere, messages that state holds, records; and
 * core/config/plan_states.c: who owns what. */
#include "core/eip/state.h"

#include "core/config/compile_priv.h"
#include "core/config/config.h"
#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a state: a text to which is added, by the name of the operation ---- */

enum { OP_ADD, OP_GET, OP_FAIL, OP_MESSAGE, OPS };

struct texts {
	char text[4096];
	int opened, started;
	struct exchange *held;
};
static struct texts texts;
static int closed;

static void *
texts_open(struct state_node *node)
{
	(void)node;
	memset(&texts, 0, sizeof(texts));
	texts.opened++;
	return &texts;
}

static void
texts_close(struct state_node *node)
{
	struct texts *t = node->state;
	state_exchange_free(&t->held);
	closed++;
}

static void
texts_started(struct state_node *node)
{
	((struct texts *)node->state)->started++;
}

static bool
texts_serve(struct state_node *node, struct exchange *ex, unsigned op, const struct value *arg,
    struct value *out)
{
	struct texts *t = node->state;
	size_t n = strlen(t->text);
	switch (op) {
	case OP_ADD:
		(void)snprintf(t->text + n, sizeof(t->text) - n, "%.*s",
		    STR_FMT(value_text(&ex->arena, arg))); /* fits */
		*out = value_str(str_of(arena_strdup(&ex->arena, t->text)));
		return true;
	case OP_GET:
		*out = value_str(str_of(arena_printf(
		    &ex->arena, "%s=%.*s", t->text, STR_FMT(value_text(&ex->arena, arg)))));
		return true;
	case OP_MESSAGE:
		t->held = state_exchange_new(node);
		engine_share_message(t->held, ex);
		return true;
	default:
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "no");
		return false;
	}
}

static void
texts_save(struct state_node *node, struct state_writer *w)
{
	struct texts *t = node->state;
	struct value v = value_str(str_of(t->text));
	state_put(w, &v, NULL);
	if (t->held)
		state_put(w, &v, t->held);
}

static bool
texts_load(struct state_node *node, struct state_record *r, struct hinny_error *err)
{
	struct texts *t = node->state;
	if (r->value.type != VALUE_STRING) {
		(void)hinny_error_set(err, HINNY_EINVAL, "not a text");
		return false;
	}
	(void)snprintf(t->text, sizeof(t->text), "%.*s", STR_FMT(r->value.u.s)); /* fits */
	if (r->message) {
		t->held = r->message;
		r->message = NULL;
	}
	return true;
}

static const struct state_desc texts_desc = {
	.name = "texts",
	.ops = OPS,
	.message_ops = 1u << OP_MESSAGE,
	.read_ops = 1u << OP_GET,
	.open = texts_open,
	.close = texts_close,
	.started = texts_started,
	.serve = texts_serve,
	.save = texts_save,
	.load = texts_load,
};

/* ---- a step that uses it ---- */

static struct state_node node;
static struct state_node *nodes[] = { &node };
static int runs;
static const char *todo; /* "a": add "a"; "?": get; "!": fail; several in one step */

static enum step_rc
use_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct value v = value_null();
	(void)en;
	(void)st;
	runs++;
	for (const char *p = todo; *p; p++) {
		unsigned op = *p == '?' ? OP_GET : *p == '!' ? OP_FAIL : OP_ADD;
		struct value arg = value_str(str_of(arena_strndup(&ex->arena, p, 1)));
		switch (engine_state(ex, &node, op, &arg, &v)) {
		case EVAL_OK:
			break;
		case EVAL_ERROR:
			return STEP_FAILED;
		case EVAL_NEED:
			return STEP_NEED;
		}
	}
	exchange_set_body(ex, v);
	return STEP_DONE;
}

static enum step_rc
enter_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	return engine_enter(ex, st, &st->block, 0, NULL);
}

static enum step_rc
use_after(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)act;
	return use_run(en, ex, st);
}

static const struct eip_desc use_eip = { .name = "use", .run = use_run };
static const struct eip_desc after_eip = { .name = "after", .run = enter_run, .after = use_after };

static struct build b;
static struct fake f;

/* The state is open; `here`: served too. */
static void
begin(bool here)
{
	node = (struct state_node){ .desc = &texts_desc, .route_id = "r", .node_id = "n" };
	runs = closed = 0;
	b.program.states = nodes;
	b.program.states_n = 1;
	fake_init(&f, &b);
	f.en.incarnation = 7;
	state_open(&f.en, &node);
	if (here)
		state_serve(&node);
}

static void
end(void)
{
	state_close(&node);
	state_close(&node);
	assert_int_equal(closed, 1);
	assert_int_equal(f.pool.live, 0);
	fake_fini(&f);
	build_fini(&b);
}

static const struct use_row {
	const char *label, *todo, *body, *exception;
	int runs_remote; /* how often the step runs when each answer comes from elsewhere */
} use_rows[] = {
	{ "one", "a", "a", "", 2 },
	{ "several", "abc", "abc", "", 4 },
	{ "reads", "a?", "a=?", "", 3 },
	{ "a read that is asked again", "??a", "a", "", 4 },
	{ "fails", "a!", NULL, "IllegalStateException: no", 3 },
};

static void
check_use(const struct use_row *row, bool here, enum fake_mode mode)
{
	build_init(&b);
	struct route *r = build_route(&b, "r", build_step(&b, &use_eip), NULL);
	begin(here);
	f.state_mode = mode;
	todo = row->todo;
	struct exchange *ex = fake_start(&f, r, "x");
	while (f.done == 0)
		fake_answer(&f, ex);
	if (row->body)
		assert_string_equal(f.body, row->body);
	assert_string_equal(f.exception, row->exception);
	assert_int_equal(runs, here ? 1 : row->runs_remote);
	assert_int_equal(f.states, here ? 0 : row->runs_remote - 1);
	assert_int_equal(texts.started, here);
	end();
}

static void
check_local(void **state)
{
	check_use(*state, true, FAKE_NOW);
}

static void
check_remote(void **state)
{
	check_use(*state, false, FAKE_NOW);
	check_use(*state, false, FAKE_LATER);
}

static void
test_owner_lost(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_step(&b, &use_eip), NULL);
	begin(false);
	f.state_mode = FAKE_FAIL;
	todo = "a";
	(void)fake_start(&f, r, "x");
	assert_string_equal(f.exception, "WorkerLostException: the owner is lost");
	end();
}

/* The exception that a handler works on is not lost while a state is asked. */
static void
test_in_after_and_twice(void **state)
{
	(void)state;
	build_init(&b);
	struct step *after = build_step(&b, &after_eip);
	build_block(&after->block, build_append(&b, "1"), NULL);
	struct route *r =
	    build_route(&b, "r", after, build_step(&b, &use_eip), build_append(&b, "."), NULL);
	begin(false);
	f.state_mode = FAKE_LATER;
	todo = "ab";
	struct exchange *ex = fake_start(&f, r, "x");
	while (f.done == 0)
		fake_answer(&f, ex);
	assert_string_equal(f.body, "abab.");
	end();
}

static void
test_redelivery_asks_anew(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_step(&b, &use_eip), NULL);
	struct step *handler = build_on_exception(&b, EXCEPTION_ILLEGAL_STATE, NULL, NULL);
	(void)build_redelivery(&b, handler, 2, 0);
	build_handler(&b, r, handler, true);
	begin(false);
	todo = "a!";
	(void)fake_start(&f, r, "x");
	assert_string_equal(texts.text, "aaa");
	assert_int_equal(f.redelivered, 2);
	end();
}

static void
test_serving_ends_while_asked(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_step(&b, &use_eip), NULL);
	begin(true);
	node.serving = false;
	f.state_mode = FAKE_LATER;
	todo = "a";
	struct exchange *ex = fake_start(&f, r, "x");
	node.serving = true; /* the answer that was asked for counts */
	texts.text[0] = 'z';
	fake_answer(&f, ex);
	assert_string_equal(f.body, "za");
	end();
}

/* ---- notes, and what is called when the exchange is done ---- */

static void
note_done(struct exchange *ex, void *arg)
{
	struct value v = value_str(str_of(arg));
	engine_state_note(ex, &node, OP_ADD, &v);
	v = value_str(str_of(engine_was_handled(ex) ? "h" : ex->exception ? "e" : "-"));
	engine_state_note(ex, &node, OP_ADD, &v);
}

static enum step_rc
notes_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	static char first[] = "1", second[] = "2";
	(void)en;
	(void)st;
	assert_int_equal(state_home(ex), 7);
	engine_on_done(ex, note_done, first);
	engine_on_done(ex, note_done, second);
	return STEP_DONE;
}

static const struct notes_row {
	const char *label, *text;
	bool here, fails, handled;
} notes_rows[] = {
	{ "here", "2-1-", true, false, false },
	{ "elsewhere", "2-1-", false, false, false },
	{ "fails", "2e1e", true, true, false },
	{ "handled", "2h1h", false, true, true },
};

static void
check_notes(void **state)
{
	const struct notes_row *row = *state;
	build_init(&b);
	struct step *boom = row->fails ? build_boom(&b, EXCEPTION_IO, "io", 0) : NULL;
	struct route *r = build_route(&b, "r", build_run(&b, notes_run), boom, NULL);
	if (row->handled) {
		struct step *handler = build_on_exception(&b, EXCEPTION_IO, NULL, NULL);
		build_on_exception_conf(handler)->handled = build_predicate(&b, fn_true, "");
		build_handler(&b, r, handler, true);
	}
	begin(row->here);
	(void)fake_start(&f, r, "x");
	assert_int_equal(f.failed, row->fails && !row->handled);
	assert_string_equal(texts.text, row->text);
	assert_int_equal(f.notes, row->here ? 0 : 4);
	end();
}

static void
test_a_note_that_fails_says_nothing(void **state)
{
	(void)state;
	build_init(&b);
	begin(true);
	struct exchange *ex = fake_exchange(&f, "x");
	ex->engine = &f.en;
	engine_state_note(ex, &node, OP_FAIL, NULL);
	assert_null(ex->exception);
	exchange_free(&f.pool, &ex);
	end();
}

/* ---- messages that state holds ---- */

static int block_done;

static void
on_block_done(struct exchange *ex)
{
	assert_ptr_equal(ex->owner, &block_done);
	assert_string_equal(ex->from_route->id, "r");
	struct str body = value_text(&ex->arena, &ex->body);
	(void)snprintf(f.body, sizeof(f.body), "%.*s", STR_FMT(body)); /* fits */
	block_done++;
}

static void
test_a_held_message_runs_the_block(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &use_eip);
	build_block(&st->block, build_append(&b, "1"), build_append(&b, "2"), NULL);
	struct route *r = build_route(&b, "r", st, NULL);
	begin(true);
	node.step = st;
	st->route = r;
	for (int i = 0; i < 2; i++) { /* with steps, and without */
		block_done = 0;
		struct exchange *ex = state_exchange_new(&node);
		exchange_set_body(ex, value_str(STR_LIT("x")));
		state_exchange_start(&node, &ex, on_block_done, &block_done);
		assert_null(ex);
		assert_int_equal(block_done, 1);
		assert_string_equal(f.body, i == 0 ? "x12" : "x");
		st->block = (struct block){ 0 };
	}
	end();
}

/* ---- records ---- */

static bool
to_buf(void *arg, struct str bytes)
{
	return buf_add_str(arg, bytes) == HINNY_OK;
}

/* Saves a text and a message with a body of so many bytes, and what holds it is closed. */
static struct blob *
save(size_t body_n, uint64_t *records)
{
	struct buf out;
	struct state_writer w;
	struct value none;
	buf_init(&out, 0);
	state_writer_init(&w, to_buf, &out);
	struct exchange *ex = fake_exchange(&f, NULL);
	ex->engine = &f.en;
	char *body = arena_alloc(&ex->arena, body_n + 1);
	memset(body, 'q', body_n);
	exchange_set_body(ex, value_str((struct str){ body, body_n }));
	exchange_set_header(ex, STR_LIT("Content-Type"), value_str(STR_LIT("text/x")));
	exchange_set_property(ex, STR_LIT("p"), value_int(3));
	assert_true(engine_state(ex, &node, OP_MESSAGE, NULL, &none) == EVAL_OK);
	(void)strcpy(texts.text, "kept");
	exchange_free(&f.pool, &ex);
	state_save(&node, &w);
	*records = w.records;
	assert_false(w.failed);
	state_writer_fini(&w);
	struct blob *blob = blob_copy(out.p, out.n);
	buf_fini(&out);
	return blob;
}

static const size_t sizes[] = { 0, 10, 65536, 65537, 1000000 };

static void
test_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		build_init(&b);
		begin(true);
		uint64_t records;
		struct state_loaded loaded = { 0 };
		struct blob *blob = save(sizes[i], &records);
		assert_int_equal(records, 2);
		state_close(&node);
		state_open(&f.en, &node);
		assert_true(
		    state_load(&b.program, (struct str){ blob->data, blob->size }, blob, &loaded));
		blob_put(blob);
		assert_int_equal(loaded.records, 2);
		assert_string_equal(texts.text, "kept");
		assert_int_equal(value_text(&texts.held->arena, &texts.held->body).n, sizes[i]);
		assert_non_null(exchange_header(texts.held, STR_LIT("content-type")));
		assert_int_equal(exchange_property(texts.held, STR_LIT("p"))->u.i, 3);
		closed = 0;
		end();
	}
}

static void
test_records_of_others_and_broken_ones(void **state)
{
	(void)state;
	build_init(&b);
	begin(true);
	uint64_t records;
	struct state_loaded loaded = { 0 };
	struct blob *blob = save(70000, &records);
	struct str all = { blob->data, blob->size };
	node.node_id = "other";
	state_exchange_free(&texts.held);
	assert_true(state_load(&b.program, all, blob, &loaded));
	assert_int_equal(loaded.others, 2);
	node.node_id = "n";
	for (size_t n = 1; n < all.n; n += n < 400 ? 1 : 997) { /* cut anywhere */
		loaded = (struct state_loaded){ 0 };
		bool whole = state_load(&b.program, (struct str){ all.p, n }, blob, &loaded);
		assert_true(!whole || loaded.records < 2);
		state_exchange_free(&texts.held);
	}
	blob_put(blob);
	end();
}

/* ---- owners ---- */

struct plan {
	struct compile c;
	struct diagnostics ds;
	struct settings settings;
	struct settings_worker workers[64];
	struct program *p;
};

static const struct component_desc direct_component = { .scheme = "direct",
	.flags = COMPONENT_CONSUMER | COMPONENT_PRODUCER };
static const struct eip_desc to_something = { .name = "to" };
static const struct state_desc block_desc = {
	.name = "block",
	.ops = 1,
	.runs_block = true,
	.open = texts_open,
	.close = texts_close,
	.serve = texts_serve,
};

static void
plan_init(struct plan *pl)
{
	memset(pl, 0, sizeof(*pl));
	build_init(&b);
	diagnostics_init(&pl->ds);
	pl->p = &b.program;
	pl->settings.workers = pl->workers;
	pl->p->settings = &pl->settings;
	arena_init(&pl->p->arena);
	pl->c = (struct compile){ .arena = &b.arena, .program = pl->p, .ds = &pl->ds };
}

static void
plan_fini(struct plan *pl)
{
	free(pl->p->states);
	free(pl->p->steps);
	arena_fini(&pl->p->arena);
	diagnostics_fini(&pl->ds);
	build_fini(&b);
}

static struct step *
plan_step(
    struct plan *pl, const struct route *route, const struct step *parent, struct endpoint *to)
{
	struct step *st = ARENA_NEW(&b.arena, struct step);
	compile_grow(
	    (void **)&pl->p->steps, pl->p->steps_n, &pl->c.steps_cap, sizeof(struct step *));
	*st = (struct step){
		.eip = &to_something, .route = route, .parent = parent, .id = "st", .endpoint = to
	};
	pl->p->steps[pl->p->steps_n++] = st;
	return st;
}

static struct route *
plan_route(struct plan *pl, const char *home)
{
	struct route *r = ARENA_NEW(&b.arena, struct route);
	*r = (struct route){ .id = "r", .home = home, .index = pl->p->routes_n };
	pl->p->routes[pl->p->routes_n++] = r;
	return r;
}

static struct endpoint *
plan_direct(const struct route *target)
{
	struct endpoint *ep = ARENA_NEW(&b.arena, struct endpoint);
	*ep = (struct endpoint){ .component = &direct_component, .target = target };
	return ep;
}

/* A state in a direct route that routes with these homes call; the owner. */
static const struct owner_row {
	const char *label, *homes[3], *owner;
	int http_instances;
} owner_rows[] = {
	{ "nobody calls it", { NULL }, "flow", 0 },
	{ "one process", { "file" }, "file", 0 },
	{ "one process twice", { "file", "file" }, "file", 0 },
	{ "two kinds", { "file", "flow" }, "flow", 0 },
	{ "one kind, several processes", { "http" }, "flow", 2 },
	{ "as many as there are cores", { "http" }, "flow", 0 },
	{ "one process of a kind that scales", { "http" }, "http", 1 },
};

static void
check_owner(void **state)
{
	const struct owner_row *row = *state;
	struct plan pl;
	plan_init(&pl);
	struct route *inner = plan_route(&pl, NULL), *middle = plan_route(&pl, NULL);
	(void)plan_step(&pl, middle, NULL, plan_direct(inner));
	for (size_t i = 0; i < 3 && row->homes[i]; i++)
		(void)plan_step(&pl, plan_route(&pl, row->homes[i]), NULL, plan_direct(middle));
	pl.workers[kind_index(STR_LIT("http"))].instances = row->http_instances;
	struct step *st = plan_step(&pl, inner, NULL, NULL);
	struct state_node *own = compile_state(&pl.c, st, &texts_desc);
	assert_ptr_equal(st->state, own);
	plan_states(&pl.c);
	assert_string_equal(own->owner, row->owner);
	assert_string_equal(own->route_id, "r");
	assert_string_equal(own->node_id, "st");
	plan_fini(&pl);
}

/* What a block sends runs where its state is; what stands outside of routes, anywhere. */
static void
test_owners_of_blocks_and_shared(void **state)
{
	(void)state;
	struct plan pl;
	plan_init(&pl);
	struct route *file = plan_route(&pl, "file"), *http = plan_route(&pl, "http"),
		     *inner = plan_route(&pl, NULL);
	struct step *aggregate = plan_step(&pl, http, NULL, NULL);
	struct state_node *block = compile_state(&pl.c, aggregate, &block_desc);
	(void)plan_step(&pl, http, aggregate, plan_direct(inner));
	struct step *in_block = plan_step(&pl, http, aggregate, NULL);
	struct state_node *in = compile_state(&pl.c, in_block, &texts_desc);
	struct state_node *behind =
	    compile_state(&pl.c, plan_step(&pl, inner, NULL, NULL), &texts_desc);
	pl.c.route = file;
	struct state_node *shared = compile_state_shared(&pl.c, "v", &texts_desc);
	struct state_node *of_file = compile_state_shared(&pl.c, "u", &texts_desc);
	pl.c.route = NULL;
	struct state_node *anywhere = compile_state_shared(&pl.c, "w", &texts_desc);
	assert_ptr_equal(compile_state_shared(&pl.c, "v", &texts_desc), shared);
	plan_states(&pl.c);
	assert_string_equal(block->owner, "flow");
	assert_string_equal(in->owner, "flow");
	assert_string_equal(behind->owner, "flow");
	assert_string_equal(shared->owner, "flow"); /* since v is used outside of routes, too */
	assert_string_equal(of_file->owner, "file");
	assert_string_equal(anywhere->owner, "flow");
	assert_string_equal(anywhere->route_id, "");
	assert_string_equal(anywhere->node_id, "w");
	plan_fini(&pl);
}

int
main(void)
{
	UNIT_TABLE("here", use_rows, check_local);
	UNIT_TABLE("elsewhere", use_rows, check_remote);
	UNIT_CASE(test_owner_lost);
	UNIT_CASE(test_in_after_and_twice);
	UNIT_CASE(test_redelivery_asks_anew);
	UNIT_CASE(test_serving_ends_while_asked);
	UNIT_TABLE("notes", notes_rows, check_notes);
	UNIT_CASE(test_a_note_that_fails_says_nothing);
	UNIT_CASE(test_a_held_message_runs_the_block);
	UNIT_CASE(test_records);
	UNIT_CASE(test_records_of_others_and_broken_ones);
	UNIT_TABLE("owner", owner_rows, check_owner);
	UNIT_CASE(test_owners_of_blocks_and_shared);
	return unit_run("state");
}
