/*
 * An aggregate by any options, messages, time and reloads: each message that it has taken is in a
 * group or has left with one, and what it counts is what it holds. First byte 0: the rest are
 * records of another generation instead, in which any bytes may stand.
 */
#include "core/eip/aggregate_state.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "tests/lib/engine_fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct eip_desc aggregate_eip;
extern const struct bean_class UseLatest_bean, UseOriginal_bean, GroupedBody_bean,
    GroupedExchange_bean, GroupedMessage_bean, String_bean;

enum { OPS_MAX = 2000 };

struct input {
	const uint8_t *p, *end;
};

static struct build b;
static struct fake f;
static struct state_node node;
static struct state_node *nodes[] = { &node };
static struct step *st;
static struct route *route;
static uint64_t taken, ran;

static unsigned
next(struct input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

/* ---- the route ---- */

static enum eval_rc
fn_key(struct exchange *ex, const char *arg, struct value *out)
{
	(void)arg;
	*out = *exchange_header(ex, STR_LIT("k"));
	return EVAL_OK;
}

/* Fails, holds or not, as the message says. */
static enum eval_rc
fn_says(struct exchange *ex, const char *arg, struct value *out)
{
	const struct value *v = exchange_header(ex, STR_LIT("p"));
	(void)arg;
	if (v && v->u.i == 2) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "no");
		return EVAL_ERROR;
	}
	*out = value_bool(v && v->u.i == 1);
	return EVAL_OK;
}

static enum eval_rc
fn_number(struct exchange *ex, const char *arg, struct value *out)
{
	const struct value *v = exchange_header(ex, str_of(arg));
	*out = v ? *v : value_null();
	return EVAL_OK;
}

static enum step_rc
note(struct engine *en, struct exchange *ex, const struct step *step)
{
	(void)en;
	(void)step;
	ran += (uint64_t)exchange_property(ex, STR_LIT("CamelAggregatedSize"))->u.i;
	return STEP_DONE;
}

static void
options(struct aggregate_conf *conf, struct input *in)
{
	static const struct bean_class *const classes[] = { &String_bean, &UseLatest_bean,
		&UseOriginal_bean, &GroupedBody_bean, &GroupedExchange_bean, &GroupedMessage_bean };
	struct bean *bn = ARENA_NEW(&b.arena, struct bean);
	struct aggregation_text_conf *text = ARENA_NEW(&b.arena, struct aggregation_text_conf);
	unsigned what = next(in), more = next(in);
	bn->class = classes[next(in) % 6];
	bn->conf = text;
	text->delimiter = what & 1 ? "+" : NULL;
	conf->strategy = bn;
	conf->size = next(in) % 8;
	conf->timeout_ms = what & 2 ? 1 + next(in) : 0;
	conf->interval_ms = what & 4 ? 1 + next(in) : 0;
	conf->checker_ms = 1 + next(in);
	conf->from_batch = what & 8;
	conf->on_new_group = what & 16;
	conf->eager = what & 32;
	conf->parallel = what & 64;
	conf->force_on_stop = what & 128;
	conf->closes_keys = more & 1;
	conf->close_keys = next(in) % 4;
	/* the latest keeps a message that could not be looked at */
	if ((more & 2) && (conf->eager || bn->class != &UseLatest_bean))
		conf->predicate = build_predicate(&b, fn_says, "");
	if (more & 4)
		conf->size_by = build_expr(&b, fn_number, "n");
	if (more & 8)
		conf->timeout_by = build_expr(&b, fn_number, "t");
}

static void
make(struct input *in)
{
	build_init(&b);
	b.program.limits = (struct state_limits){ 6, 64 << 10 };
	st = build_step(&b, &aggregate_eip);
	struct aggregate_conf *conf = st->conf;
	conf->correlation = build_expr(&b, fn_key, "");
	conf->all_hash = header_hash(STR_LIT("CamelAggregationCompleteAllGroups"));
	conf->inclusive_hash = header_hash(STR_LIT("CamelAggregationCompleteAllGroupsInclusive"));
	options(conf, in);
	bool waits = next(in) & 1;
	struct step *first = build_run(&b, note);
	build_block(&st->block, first,
	    waits ? build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)) : NULL, NULL);
	route = build_route(&b, "r", st, NULL);
	node = (struct state_node){
		.desc = &aggregate_state_desc, .step = st, .route_id = "r", .node_id = "n"
	};
	st->state = &node;
	b.program.states = nodes;
	b.program.states_n = 1;
	fake_init(&f, &b);
	f.wakes = true;
	f.send_mode = waits ? FAKE_LATER : FAKE_NOW;
	taken = ran = 0;
}

/* ---- what it holds ---- */

static uint64_t
held(void)
{
	struct aggregate_state *s = node.state;
	uint64_t messages = 0, bytes = 0, groups = 0;
	LIST_FOREACH (&s->groups.all, it, tmp) {
		struct group *g = LIST_ENTRY(it, struct group, node);
		ASSERT(groups_find(&s->groups, g->key) == g && g->size > 0 && g->ex != NULL);
		ASSERT(!g->queue_at || g->queued_ms <= g->deadline_ms);
		messages += g->size;
		bytes += g->bytes;
		groups++;
	}
	ASSERT(groups == groups_count(&s->groups) && groups + s->groups.taken <= 6);
	ASSERT(bytes <= s->groups.bytes && s->groups.bytes <= (64 << 10) + 4096);
	ASSERT(s->groups.taken == s->waiting_n + s->running);
	return messages;
}

static void
waiting(void *arg, struct exchange *ex, uint64_t bytes)
{
	uint64_t *messages = arg;
	(void)bytes;
	*messages += (uint64_t)exchange_property(ex, STR_LIT("CamelAggregatedSize"))->u.i;
}

static void
check(void)
{
	uint64_t messages = held();
	aggregate_each_waiting(node.state, waiting, &messages);
	ASSERT(messages + ran == taken);
}

/* ---- what happens ---- */

static void
message(struct input *in)
{
	static const char *const keys[] = { "a", "b", "c", "d", "e", "f", "g", "longer key" };
	unsigned what = next(in), more = next(in);
	char text[256];
	size_t n = more & 1 ? next(in) : next(in) % 8;
	memset(text, 'x', n);
	text[n < sizeof(text) ? n : sizeof(text) - 1] = 0;
	struct exchange *ex = fake_exchange(&f, what & 8 ? NULL : text);
	exchange_set_header(ex, STR_LIT("k"), value_str(str_of(keys[what & 7])));
	exchange_set_header(ex, STR_LIT("p"), value_int(next(in) % 3));
	if (what & 16)
		exchange_set_header(ex, STR_LIT("n"), value_int(next(in) % 5));
	if (what & 32)
		exchange_set_header(ex, STR_LIT("t"), value_int(next(in)));
	if (what & 64)
		exchange_set_property(ex, STR_LIT("CamelBatchSize"), value_int(next(in) % 5));
	if (more & 2)
		exchange_set_property(
		    ex, STR_LIT("CamelAggregationCompleteCurrentGroup"), value_bool(true));
	if (more & 4)
		exchange_set_header(
		    ex, STR_LIT("CamelAggregationCompleteAllGroupsInclusive"), value_bool(true));
	bool all = (more & 56) == 56;
	if (all)
		exchange_set_header(
		    ex, STR_LIT("CamelAggregationCompleteAllGroups"), value_bool(true));
	int done = f.done;
	taken++; /* it may leave before it is known that it was taken */
	engine_start(&f.en, ex, route);
	ASSERT(f.done > done);
	if (f.failed || all)
		taken--;
}

static bool
to_buf(void *arg, struct str bytes)
{
	return buf_add_str(arg, bytes) == HINNY_OK;
}

static void
load(struct str bytes, struct state_loaded *loaded)
{
	struct blob *blob = blob_copy(bytes.p, bytes.n);
	state_open(&f.en, &node);
	(void)state_load(&b.program, (struct str){ blob->data, blob->size }, blob,
	    loaded); /* bytes may be anything */
	blob_put(blob);
}

static void
reload(void)
{
	struct buf out;
	struct state_writer w;
	struct state_loaded loaded = { 0 };
	buf_init(&out, 0);
	state_writer_init(&w, to_buf, &out);
	state_save(&node, &w);
	ASSERT(w.lost == 0);
	state_close(&node);
	load((struct str){ out.p, out.n }, &loaded);
	ASSERT(loaded.records == w.records && loaded.refused == 0 && loaded.others == 0);
	state_writer_fini(&w);
	buf_fini(&out);
	state_serve(&node);
}

static void
answer_all(void)
{
	for (int i = 0; f.queue_n > 0 && i < OPS_MAX; i++)
		fake_answer(&f, NULL);
}

static void
play(struct input *in)
{
	state_open(&f.en, &node);
	state_serve(&node);
	for (int i = 0; in->p < in->end && i < OPS_MAX; i++) {
		unsigned what = next(in);
		if (what < 200)
			message(in);
		else if (what < 240 && f.queue_n > 0)
			fake_answer(&f, NULL);
		else if (what < 250)
			reload();
		else
			node.desc->end(&node, STATE_END_BROKER);
		check();
		ASSERT(f.queue_n < FAKE_PENDING_MAX - 8);
	}
	node.desc->end(&node, STATE_END_GONE);
	answer_all();
	ASSERT(ran == taken && held() == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct state_loaded loaded = { 0 };
	log_set_level(LOG_LEVEL_ERROR);
	bool records = next(&in) == 0;
	make(&in);
	if (records)
		load((struct str){ (const char *)in.p, (size_t)(in.end - in.p) }, &loaded);
	else
		play(&in);
	state_close(&node);
	answer_all();
	ASSERT(f.pool.live == 0);
	fake_fini(&f);
	build_fini(&b);
	return 0;
}
