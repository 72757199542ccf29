/* A route with one aggregate, on the fake engine. */
#include "tests/lib/aggregate_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct eip_desc aggregate_eip;
extern const struct bean_class UseLatest_bean, UseOriginal_bean, GroupedBody_bean,
    GroupedMessage_bean, String_bean;

struct aggregate_case ag;

/* A message is "k" and more: k is its key, "" and " …" have none. */
static enum eval_rc
fn_key(struct exchange *ex, const char *arg, struct value *out)
{
	struct str text = value_text(&ex->arena, &ex->body);
	(void)arg;
	*out = text.n > 0 ? value_str((struct str){ text.p, 1 }) : value_null();
	return EVAL_OK;
}

struct str
ag_property(struct exchange *ex, const char *name)
{
	const struct value *v = exchange_property(ex, str_of(name));
	return v ? value_text(&ex->arena, v) : STR_LIT("-");
}

enum step_rc
ag_note(struct engine *en, struct exchange *ex, const struct step *step)
{
	struct value body = ex->body;
	(void)en;
	(void)step;
	body.flags &= (uint8_t)~VALUE_GROUPED;
	struct str text = value_text(&ex->arena, &body);
	size_t n = strlen(ag.ran);
	(void)snprintf(ag.ran + n, sizeof(ag.ran) - n, "%.*s/%.*s/%.*s/%.*s/%.*s ", STR_FMT(text),
	    STR_FMT(ag_property(ex, "CamelAggregatedSize")),
	    STR_FMT(ag_property(ex, "CamelAggregatedCompletedBy")),
	    STR_FMT(ag_property(ex, "CamelAggregatedCorrelationKey")),
	    STR_FMT(ag_property(ex, "CamelAggregatedTimeout"))); /* fits */
	assert_null(exchange_property(ex, STR_LIT("CamelGroupedExchange")));
	return STEP_DONE;
}

const struct bean *
ag_bean(const struct bean_class *class, const char *delimiter)
{
	struct bean *bn = ARENA_NEW(&ag.b.arena, struct bean);
	struct aggregation_text_conf *text = ARENA_NEW(&ag.b.arena, struct aggregation_text_conf);
	text->delimiter = delimiter;
	bn->class = class;
	bn->conf = text;
	return bn;
}

void
ag_build(void)
{
	build_init(&ag.b);
	ag.b.program.limits = (struct state_limits){ 1000, 1 << 20 };
	ag.st = build_step(&ag.b, &aggregate_eip);
	ag.conf = ag.st->conf;
	ag.conf->strategy = ag_bean(&String_bean, NULL);
	ag.conf->correlation = build_expr(&ag.b, fn_key, "");
	ag.conf->all_hash = header_hash(STR_LIT("CamelAggregationCompleteAllGroups"));
	ag.conf->inclusive_hash =
	    header_hash(STR_LIT("CamelAggregationCompleteAllGroupsInclusive"));
	build_block(&ag.st->block, build_run(&ag.b, ag_note), NULL);
	ag.route = build_route(&ag.b, "r", ag.st, build_append(&ag.b, "."), NULL);
	ag.node = (struct state_node){ .desc = &aggregate_state_desc,
		.step = ag.st,
		.route_id = "r",
		.node_id = "aggregate1" };
	ag.st->state = &ag.node;
	ag.nodes[0] = &ag.node;
	ag.b.program.states = ag.nodes;
	ag.b.program.states_n = 1;
	ag.ran[0] = '\0';
}

void
ag_begin(void)
{
	fake_init(&ag.f, &ag.b);
	state_open(&ag.f.en, &ag.node);
	state_serve(&ag.node);
}

void
ag_setup(void)
{
	ag_build();
	ag_begin();
}

void
ag_end(void)
{
	state_close(&ag.node);
	assert_int_equal(ag.f.pool.live, 0);
	assert_int_equal(ag.f.queue_n, 0);
	fake_fini(&ag.f);
	build_fini(&ag.b);
}

void
ag_send(const char *text)
{
	int done = ag.f.done;
	struct exchange *ex = fake_start(&ag.f, ag.route, text);
	while (ag.f.done == done)
		fake_answer(&ag.f, ex);
}

void
ag_advance(int64_t ms)
{
	int64_t until = ag.f.now_ms + ms;
	while (ag.f.queue_n > 0 && ag.f.now_ms + ag.f.queue[0].ms <= until)
		fake_answer(&ag.f, NULL);
	for (int i = 0; i < ag.f.queue_n; i++)
		ag.f.queue[i].ms -= until - ag.f.now_ms;
	ag.f.now_ms = until;
}

void
ag_play(const char *script)
{
	char text[256], *save = NULL;
	(void)snprintf(text, sizeof(text), "%s", script); /* fits */
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (word[0] == '+')
			ag_advance(atoll(word + 1));
		else if (word[0] == '!')
			ag.node.desc->end(&ag.node, STATE_END_BROKER);
		else
			ag_send(word);
	}
}

/* ---- options ---- */

void
ag_by_size2(void)
{
	ag.conf->size = 2;
}

void
ag_by_size3(void)
{
	ag.conf->size = 3;
}

void
ag_by_timeout(void)
{
	ag.conf->timeout_ms = 100;
	ag.conf->checker_ms = 10;
}

void
ag_by_timeout_grid(void)
{
	ag.conf->timeout_ms = 100;
	ag.conf->checker_ms = 1000;
}

void
ag_by_interval(void)
{
	ag.conf->interval_ms = 500;
}

void
ag_joined(void)
{
	ag.conf->size = 2;
	ag.conf->strategy = ag_bean(&String_bean, "+");
}

void
ag_latest(void)
{
	ag.conf->size = 2;
	ag.conf->strategy = ag_bean(&UseLatest_bean, NULL);
}

void
ag_original(void)
{
	ag.conf->size = 2;
	ag.conf->strategy = ag_bean(&UseOriginal_bean, NULL);
}

void
ag_bodies(void)
{
	ag.conf->size = 2;
	ag.conf->strategy = ag_bean(&GroupedBody_bean, NULL);
}

void
ag_messages(void)
{
	ag.conf->size = 2;
	ag.conf->strategy = ag_bean(&GroupedMessage_bean, NULL);
}
