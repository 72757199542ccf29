/* core/eip/aggregate*: the groups go to another process. */
#include "core/eip/aggregate_state.h"

#include "tests/lib/aggregate_case.h"

#include <string.h>

/* ---- the hand-over ---- */

static bool
write_records(void *arg, struct str bytes)
{
	return buf_add_str(arg, bytes) == HINNY_OK;
}

/* Another process takes over; `change` may change its options. */
static void
hand_over(void (*change)(void))
{
	struct buf records;
	struct state_writer w;
	struct state_loaded loaded = { 0 };
	buf_init(&records, 0);
	state_writer_init(&w, write_records, &records);
	state_save(&ag.node, &w);
	assert_false(w.failed);
	assert_int_equal(w.lost, 0);
	state_writer_fini(&w);
	state_close(&ag.node);
	if (change)
		change();
	state_open(&ag.f.en, &ag.node);
	struct blob *blob = blob_copy(records.p, records.n);
	assert_true(
	    state_load(&ag.b.program, (struct str){ blob->data, blob->size }, blob, &loaded));
	blob_put(blob);
	assert_int_equal(loaded.refused, 0);
	state_serve(&ag.node);
	buf_fini(&records);
}

static const struct over_row {
	const char *label;
	void (*options)(void), (*change)(void);
	const char *before, *after, *ran;
} over_rows[] = {
	{ "text", ag_by_size3, NULL, "a1 a2 b1", "a3 b2 b3",
	    "a1a2a3/3/size/a/- b1b2b3/3/size/b/- " },
	{ "delimiter", ag_joined, NULL, "a1", "a2", "a1+a2/2/size/a/- " },
	{ "latest", ag_latest, NULL, "a1", "a2", "a2/2/size/a/- " },
	{ "original", ag_original, NULL, "a1", "a2", "a1/2/size/a/- " },
	{ "bodies", ag_bodies, NULL, "a1", "a2", "[a1, a2]/2/size/a/- " },
	{ "messages", ag_messages, NULL, "a1", "a2",
	    "[{body=a1, headers={}}, {body=a2, headers={}}]/2/size/a/- " },
	{ "a time-out goes on", ag_by_timeout, NULL, "a1 +60", "+50", "a1/1/timeout/a/100 " },
	{ "a time-out that was over", ag_by_timeout_grid, NULL, "a1 +200", "+800",
	    "a1/1/timeout/a/100 " },
	{ "a time-out is new", ag_by_size3, ag_by_timeout, "a1 +60", "+110", "a1/1/timeout/a/- " },
	{ "interval", ag_by_interval, NULL, "a1 +400", "+100", "a1/1/interval/a/- " },
	{ "text becomes a list", ag_by_size2, ag_bodies, "a1", "a2", "[a1, a2]/2/size/a/- " },
	{ "a list becomes text", ag_bodies, ag_joined, "a1", "a2", "a1+a2/2/size/a/- " },
	{ "text becomes the latest", ag_by_size3, ag_latest, "a1 a2", "a3", "a3/3/size/a/- " },
	{ "the latest becomes text", ag_latest, ag_joined, "a1", "a2", "a1+a2/2/size/a/- " },
	{ "less makes it complete", ag_by_size3, ag_by_size2, "a1 a2", "a3", "a1a2a3/3/size/a/- " },
};

static void
check_over(void **state)
{
	const struct over_row *row = *state;
	ag_build();
	row->options();
	ag_begin();
	ag_play(row->before);
	assert_string_equal(ag.ran, "");
	uint64_t n = ag.node.desc->count(&ag.node);
	hand_over(row->change);
	assert_int_equal(ag.node.desc->count(&ag.node), n);
	hand_over(NULL);
	ag_play(row->after);
	assert_string_equal(ag.ran, row->ran);
	ag_end();
}

/* Headers, properties, and an item of any size. */
static void
test_hand_over_of_messages(void **state)
{
	static char large[300000];
	(void)state;
	ag_build();
	ag_bodies();
	ag_begin();
	memset(large, 'a', sizeof(large) - 1);
	struct exchange *ex = fake_exchange(&ag.f, large);
	exchange_set_header(ex, STR_LIT("h"), value_str(STR_LIT("1")));
	exchange_set_property(ex, STR_LIT("p"), value_int(2));
	exchange_set_variable(ex, STR_LIT("v"), value_int(3));
	engine_start(&ag.f.en, ex, ag.route);
	hand_over(NULL);
	struct aggregate_state *s = ag.node.state;
	struct group *g = groups_find(&s->groups, STR_LIT("a"));
	assert_non_null(g);
	assert_int_equal(g->gathered.list.u.list->items[0].u.s.n, sizeof(large) - 1);
	assert_int_equal(exchange_property(g->ex, STR_LIT("p"))->u.i, 2);
	assert_int_equal(exchange_variable(g->ex, STR_LIT("v"))->u.i, 3);
	assert_non_null(exchange_header(g->ex, STR_LIT("H")));
	ag_end();
}

static void
test_hand_over_of_the_rest(void **state)
{
	(void)state;
	ag_build();
	ag.conf->size = 1;
	ag.conf->closes_keys = true;
	build_block(&ag.st->block,
	    build_to(&ag.b, build_endpoint(&ag.b, "fake:x", COMPONENT_PRODUCER)),
	    build_run(&ag.b, ag_note), NULL);
	ag_begin();
	ag.f.send_mode = FAKE_LATER;
	ag_play("a1 b1 c1");
	assert_int_equal(ag.f.sends, 1);
	hand_over(NULL);
	while (ag.f.queue_n > 0)
		fake_answer(&ag.f, NULL);
	/* one ran in the old process */
	assert_string_equal(ag.ran, "a1S/1/size/a/- b1S/1/size/b/- c1S/1/size/c/- ");
	ag_send("b2");
	assert_true(ag.f.failed);
	ag_end();
}

static void
test_bad_records(void **state)
{
	static const char *const kinds[] = { "part", "group", "waiting", "other", "" };
	(void)state;
	ag_setup();
	struct arena a;
	arena_init(&a);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hinny_error err;
		struct state_record r = { .value = value_new_list(&a, 1) };
		value_list_add(&a, r.value.u.list, value_str(str_of(kinds[i])));
		assert_false(ag.node.desc->load(&ag.node, &r, &err));
		r.value = value_int(1);
		assert_false(ag.node.desc->load(&ag.node, &r, &err));
	}
	arena_fini(&a);
	ag_end();
}

int
main(void)
{
	UNIT_TABLE("hand-over", over_rows, check_over);
	UNIT_CASE(test_hand_over_of_messages);
	UNIT_CASE(test_hand_over_of_the_rest);
	UNIT_CASE(test_bad_records);
	return unit_run("aggregate_handover");
}
