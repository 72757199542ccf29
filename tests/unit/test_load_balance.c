/* core/eip/load_balance: round robin, random, sticky, weighted, topic, failover. */
#include "core/eip/fan_out.h"

#include "tests/lib/engine_case.h"

extern const struct eip_desc loadBalance_eip, failoverLoadBalancer_eip, randomLoadBalancer_eip,
    roundRobinLoadBalancer_eip, stickyLoadBalancer_eip, topicLoadBalancer_eip,
    weightedLoadBalancer_eip, redeliveryPolicy_eip;

static struct build b;
static struct fake f;

static struct step *
balance(struct step *a, struct step *second, struct step *c)
{
	struct step *st = case_share(&f, build_step(&b, &loadBalance_eip), 1 << 18);
	struct load_balance_conf *conf = st->conf;
	struct step *all[] = { a, second, c };
	conf->branches.items = arena_alloc(&b.arena, sizeof(all));
	conf->blocks = arena_zalloc(&b.arena, 3 * sizeof(conf->blocks[0]));
	for (; conf->branches.n < 3 && all[conf->branches.n]; conf->branches.n++) {
		conf->branches.items[conf->branches.n] = all[conf->branches.n];
		conf->blocks[conf->branches.n] = (struct block){ all[conf->branches.n], 1 };
	}
	return st;
}

static void
test_round_robin(void **state)
{
	static const char *const expected[] = { "xa", "xb", "xc", "xa" };
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st =
	    balance(build_append(&b, "a"), build_append(&b, "b"), build_append(&b, "c"));
	((struct load_balance_conf *)st->conf)->round_robin =
	    build_step(&b, &roundRobinLoadBalancer_eip);
	struct route *r = build_route(&b, "r", st, NULL);
	for (size_t i = 0; i < 4; i++) {
		case_run(&f, r, "x");
		assert_string_equal(f.body, expected[i]);
	}
	case_end(&f);
}

static void
test_random_and_sticky(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	int seen[3] = { 0 };
	struct step *st =
	    balance(build_append(&b, "a"), build_append(&b, "b"), build_append(&b, "c"));
	struct load_balance_conf *conf = st->conf;
	conf->random = build_step(&b, &randomLoadBalancer_eip);
	struct route *r = build_route(&b, "r", st, NULL);
	for (int i = 0; i < 300; i++) {
		case_run(&f, r, "");
		seen[f.body[0] - 'a']++;
	}
	assert_true(seen[0] > 30 && seen[1] > 30 && seen[2] > 30);
	conf->random = NULL;
	conf->sticky = build_step(&b, &stickyLoadBalancer_eip);
	((struct sticky_conf *)conf->sticky->conf)->correlation = build_const(&b, "key");
	case_run(&f, r, "");
	char first = f.body[0];
	for (int i = 0; i < 10; i++) {
		case_run(&f, r, "");
		assert_int_equal(f.body[0], first);
	}
	for (int i = 1; i < 3; i++) { /* new values take turns, and keep what they got */
		static const char *const keys[] = { "", "two", "three" };
		struct sticky_conf *sticky = conf->sticky->conf;
		sticky->correlation = build_const(&b, keys[i]);
		case_run(&f, r, "");
		char got = f.body[0];
		assert_int_equal(got, 'a' + (first - 'a' + i) % 3);
		case_run(&f, r, "");
		assert_int_equal(f.body[0], got);
	}
	case_end(&f);
}

static void
test_weighted(void **state)
{
	static uint16_t cycle[] = { 0, 1, 0 };
	char got[8] = "";
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = balance(build_append(&b, "a"), build_append(&b, "b"), NULL);
	struct load_balance_conf *conf = st->conf;
	conf->weighted = build_step(&b, &weightedLoadBalancer_eip);
	struct weighted_conf *weighted = conf->weighted->conf;
	*weighted = (struct weighted_conf){ .round_robin = true, .cycle = cycle, .cycle_n = 3 };
	struct route *r = build_route(&b, "r", st, NULL);
	for (int i = 0; i < 6; i++) {
		case_run(&f, r, "");
		strcat(got, f.body);
	}
	assert_string_equal(got, "abaaba");
	case_end(&f);
}

static void
test_topic(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = balance(build_append(&b, "a"), build_run(&b, case_note), NULL);
	((struct load_balance_conf *)st->conf)->topic = build_step(&b, &topicLoadBalancer_eip);
	case_run(&f, build_route(&b, "r", st, build_append(&b, "."), NULL), "x");
	assert_string_equal(f.body, "x.");
	assert_string_equal(f.noted, "x 1");
	case_end(&f);
}

static const struct failover_row {
	const char *label;
	enum exception_id first, second, listed;
	int64_t attempts;
	const char *body, *exception;
} failover_rows[] = {
	{ "second", EXCEPTION_IO, EXCEPTION_COUNT, EXCEPTION_COUNT, -1, "xb.", "" },
	{ "listed", EXCEPTION_FILE_NOT_FOUND, EXCEPTION_COUNT, EXCEPTION_IO, -1, "xb.", "" },
	{ "not listed", EXCEPTION_ILLEGAL_STATE, EXCEPTION_COUNT, EXCEPTION_IO, -1, "x.",
	    "IllegalStateException: first" },
	{ "all fail", EXCEPTION_IO, EXCEPTION_ILLEGAL_STATE, EXCEPTION_COUNT, -1, "x.",
	    "IllegalStateException: second" },
	{ "no attempt", EXCEPTION_IO, EXCEPTION_COUNT, EXCEPTION_COUNT, 0, "x.",
	    "IOException: first" },
};

static void
check_failover(void **state)
{
	const struct failover_row *row = *state;
	static int listed[1];
	case_begin_shared(&f, &b);
	struct step *second = row->second == EXCEPTION_COUNT
	    ? build_append(&b, "b")
	    : build_boom(&b, row->second, "second", 0);
	struct step *st = balance(build_boom(&b, row->first, "first", 0), second, NULL);
	struct load_balance_conf *conf = st->conf;
	conf->failover = build_step(&b, &failoverLoadBalancer_eip);
	struct failover_conf *failover = conf->failover->conf;
	failover->attempts = row->attempts;
	listed[0] = (int)row->listed;
	if (row->listed != EXCEPTION_COUNT)
		failover->exception = (struct classes){ listed, 1 };
	case_run(&f, build_route(&b, "r", st, build_append(&b, "."), NULL), "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(f.exception, row->exception);
	case_end(&f);
}

/* It begins where the last message went on; without the error handler a failure is not tried again.
 */
static void
test_sticky_failover(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *first = build_boom(&b, EXCEPTION_IO, "first", 0),
		    *second = build_boom(&b, EXCEPTION_IO, "second", 0);
	struct step *st = balance(first, second, build_append(&b, "c"));
	struct load_balance_conf *conf = st->conf;
	conf->failover = build_step(&b, &failoverLoadBalancer_eip);
	struct failover_conf *failover = conf->failover->conf;
	*failover = (struct failover_conf){ .attempts = -1, .sticky = true, .inherit = true };
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, build_append(&b, "H"), NULL);
	struct on_exception_conf *on_conf = build_on_exception_conf(on);
	on_conf->redelivery_policy = build_step(&b, &redeliveryPolicy_eip);
	*(struct redelivery_conf *)on_conf->redelivery_policy->conf = redelivery_default;
	((struct redelivery_conf *)on_conf->redelivery_policy->conf)->maximum_redeliveries = 1;
	((struct redelivery_conf *)on_conf->redelivery_policy->conf)->redelivery_delay_ms = 0;
	build_handler(&b, r, on, true);
	struct boom_conf *tried = first->conf;
	failover->inherit = false;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xc.");
	assert_int_equal(tried->run, 1); /* no redelivery */
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xc.");
	assert_int_equal(tried->run, 1); /* the third at once */
	case_end(&f);
}

int
main(void)
{
	UNIT_CASE(test_round_robin);
	UNIT_CASE(test_random_and_sticky);
	UNIT_CASE(test_weighted);
	UNIT_CASE(test_topic);
	UNIT_TABLE("failover", failover_rows, check_failover);
	UNIT_CASE(test_sticky_failover);
	return unit_run("load_balance");
}
