/*
 * loadBalance: the message goes through one of the branches. Which one, says the balancer; its
 * counter is shared by all workers of the generation.
 *
 *   roundRobin, random, weighted   in turn, at random, by given shares
 *   sticky                         the next in turn for a new value of an expression, then always that
 *   failover                       the first, and when it fails the next, with the message as it
 * was topic                          all, each with a copy; the message stays as it was
 */
#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/engine_priv.h"
#include "core/eip/kept.h"
#include "core/eip/fan_out.h"
#include "core/eip/shared_state.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct load_balance_conf, m)
#define AT_FAILOVER(m) offsetof(struct failover_conf, m)
#define AT_WEIGHTED(m) offsetof(struct weighted_conf, m)
#define AT_STICKY(m) offsetof(struct sticky_conf, m)

enum { CYCLE_MAX = 100000, STICKY_GROUPS = 65536 };

struct balancer_state {
	uint64_t counter;
	uint32_t last_good;
	uint16_t groups[]; /* sticky: branch of each, from 1; 0: none yet */
};

/* Of a failover: activation.state; activation.n is the branch. */
struct attempts {
	struct kept before;
	int64_t left;
};

/* ---- at load ---- */

/* The order in which branches take turns by their shares: 2,1 gives 0 1 0. */
static int
make_cycle(struct compile *c, struct step *st, struct weighted_conf *conf, size_t branches)
{
	struct str rest = str_of(conf->ratio), item;
	int64_t shares[256], sum = 0;
	size_t n = 0;
	while (n < 256 && str_split(&rest, conf->delimiter[0], &item)) {
		if (!str_to_int64(str_trim(item), &shares[n]) || shares[n] < 1 ||
		    shares[n] > CYCLE_MAX)
			return compile_error(c, st->at,
			    "distributionRatio: expected whole numbers such as \"2,1\", got "
			    "\"%s\"",
			    conf->ratio);
		sum += shares[n++];
	}
	if (n != branches || sum > CYCLE_MAX)
		return compile_error(c, st->at,
		    "distributionRatio \"%s\" has %zu shares, and the loadBalance %zu steps: "
		    "expected as many, %d in all at most",
		    conf->ratio, n, branches, CYCLE_MAX);
	conf->cycle = arena_alloc(compile_arena(c), (size_t)sum * sizeof(conf->cycle[0]));
	conf->cycle_n = (uint32_t)sum;
	for (int64_t k = 0; k < sum;)
		for (uint32_t i = 0; i < n; i++)
			if (shares[i]-- > 0)
				conf->cycle[k++] = (uint16_t)i;
	return 0;
}

static int
load_balance_check(struct compile *c, struct step *st)
{
	struct load_balance_conf *conf = st->conf;
	struct step *const given[] = { conf->round_robin, conf->random, conf->failover,
		conf->weighted, conf->sticky, conf->topic };
	int n = 0, rc = 0;
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		n += given[i] != NULL;
	if (n != 1)
		return compile_error(c, st->at,
		    "loadBalance needs one of roundRobinLoadBalancer, randomLoadBalancer, "
		    "failoverLoadBalancer, weightedLoadBalancer, stickyLoadBalancer and "
		    "topicLoadBalancer");
	if (conf->branches.n == 0 || conf->branches.n > UINT16_MAX)
		return compile_error(c, st->at, "steps: loadBalance needs at least one step");
	if (conf->weighted)
		rc = make_cycle(c, st, conf->weighted->conf, conf->branches.n);
	conf->blocks = arena_zalloc(compile_arena(c), conf->branches.n * sizeof(conf->blocks[0]));
	for (size_t i = 0; i < conf->branches.n; i++)
		conf->blocks[i] = (struct block){ conf->branches.items[i], 1 };
	st->shared_size = (uint32_t)(offsetof(struct balancer_state, groups) +
	    (conf->sticky ? STICKY_GROUPS * sizeof(uint16_t) : 0));
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	return rc;
}

/* ---- topic ---- */

static void
topic_branch(const struct fan_out *fo, struct exchange *child, uint32_t i, struct branch *out)
{
	const struct load_balance_conf *conf = fo->st->conf;
	(void)child;
	*out = (struct branch){ conf->branches.items[i], 1 };
}

static const struct fan_out_ops topic_ops = { .branch = topic_branch };

static enum step_rc
run_topic(struct exchange *ex, const struct step *st)
{
	static const struct fan_out_conf plain = { 0 };
	const struct load_balance_conf *conf = st->conf;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	return fan_out_run(
	    ex, st, &plain, AGGREGATION_ORIGINAL, &topic_ops, NULL, (uint32_t)conf->branches.n);
}

/* ---- failover ---- */

static enum step_rc
enter_attempt(struct exchange *ex, const struct step *st, uint32_t i, struct attempts *at)
{
	const struct load_balance_conf *conf = st->conf;
	const struct failover_conf *failover = conf->failover->conf;
	enum step_rc rc = engine_enter(ex, st, &conf->blocks[i], i, at);
	ex->top->alone = !failover->inherit;
	return rc;
}

static enum step_rc
run_failover(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct load_balance_conf *conf = st->conf;
	const struct failover_conf *failover = conf->failover->conf;
	struct balancer_state *state = engine_shared(en, st);
	uint32_t n = (uint32_t)conf->branches.n, first = 0;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	struct attempts *at = arena_zalloc(&ex->arena, sizeof(*at));
	at->left = failover->attempts < 0 ? n - 1 : failover->attempts;
	kept_take(ex, &at->before);
	if (failover->sticky)
		first = __atomic_load_n(&state->last_good, __ATOMIC_RELAXED) % n;
	else if (failover->round_robin)
		first = (uint32_t)(shared_next(&state->counter) % n);
	return enter_attempt(ex, st, first, at);
}

static bool
is_failed_over(const struct failover_conf *conf, const struct exception *exception)
{
	if (conf->exception.n == 0)
		return true;
	for (const struct exception *e = exception; e; e = e->cause)
		for (size_t i = 0; i < conf->exception.n; i++)
			if (exception_is_a(e->id, (enum exception_id)conf->exception.ids[i]))
				return true;
	return false;
}

static enum step_rc
load_balance_caught(
    struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	const struct load_balance_conf *conf = st->conf;
	struct balancer_state *state = engine_shared(en, st);
	struct attempts *at = act->state;
	if (at == NULL || at->left == 0 || !is_failed_over(conf->failover->conf, ex->exception))
		return STEP_FAILED;
	uint32_t i = (act->n + 1) % (uint32_t)conf->branches.n;
	at->left--;
	ex->exception = NULL;
	ex->failed_over = false;
	kept_restore(ex, &at->before);
	__atomic_store_n(&state->last_good, i, __ATOMIC_RELAXED); /* until it fails as well */
	return enter_attempt(ex, st, i, at);
}

/* ---- one of them ---- */

/* The branch of the value's group; of two workers that meet a new group the first says which. */
static enum eval_rc
stick(struct exchange *ex, const struct step *sticky, struct balancer_state *state, uint32_t n,
    uint32_t *out)
{
	const struct sticky_conf *conf = sticky->conf;
	struct str key;
	enum eval_rc rc = expression_text(conf->correlation, ex, &key, NULL);
	if (rc != EVAL_OK)
		return rc;
	uint16_t *group = &state->groups[str_hash(key) % STICKY_GROUPS], none = 0;
	uint16_t branch = __atomic_load_n(group, __ATOMIC_RELAXED);
	if (branch == 0 || branch > n) {
		none = branch;
		branch = (uint16_t)(shared_next(&state->counter) % n + 1);
		if (!__atomic_compare_exchange_n(
			group, &none, branch, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			branch = none;
	}
	*out = (branch - 1u) % n;
	return EVAL_OK;
}

static enum step_rc
load_balance_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct load_balance_conf *conf = st->conf;
	struct balancer_state *state = engine_shared(en, st);
	uint32_t n = (uint32_t)conf->branches.n, i = 0;
	if (conf->topic)
		return run_topic(ex, st);
	if (conf->failover)
		return run_failover(en, ex, st);
	if (conf->sticky) {
		enum eval_rc rc = stick(ex, conf->sticky, state, n, &i);
		if (rc != EVAL_OK)
			return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	} else if (conf->random) {
		i = (uint32_t)(shared_random(&state->counter) % n);
	} else if (conf->weighted) {
		const struct weighted_conf *weighted = conf->weighted->conf;
		uint64_t turn = weighted->round_robin ? shared_next(&state->counter)
						      : shared_random(&state->counter);
		i = weighted->cycle[turn % weighted->cycle_n];
	} else {
		i = (uint32_t)(shared_next(&state->counter) % n);
	}
	return engine_enter(ex, st, &conf->blocks[i], i, NULL);
}

#define BALANCER(text, member, about)                                                              \
	{                                                                                          \
		.name = text, .type = OPTION_NODE, .values = text, .offset = AT(member),           \
		.help = about                                                                      \
	}

static const struct option_desc options[] = {
	BALANCER("roundRobinLoadBalancer", round_robin, "one after another"),
	BALANCER("randomLoadBalancer", random, "any"),
	BALANCER("failoverLoadBalancer", failover, "the first that does not fail"),
	BALANCER("weightedLoadBalancer", weighted, "by shares"),
	BALANCER("stickyLoadBalancer", sticky, "the same for equal values of an expression"),
	BALANCER("topicLoadBalancer", topic, "all of them"),
	{ .name = "steps",
	    .type = OPTION_BRANCHES,
	    .offset = AT(branches),
	    .help = "the branches" },
	OPTIONS_END,
};

const struct eip_desc loadBalance_eip = {
	.name = "loadBalance",
	.options = options,
	.conf_size = sizeof(struct load_balance_conf),
	.check = load_balance_check,
	.run = load_balance_run,
	.caught = load_balance_caught,
	.help = "sends the message through one of several branches",
};

/* ---- balancers: they hold options ---- */

static const struct option_desc no_options[] = { OPTIONS_END };

static const struct option_desc failover_options[] = {
	{ .name = "exception",
	    .type = OPTION_CLASSES,
	    .offset = AT_FAILOVER(exception),
	    .help = "exceptions that make the next branch be tried; none: all" },
	{ .name = "roundRobin",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_FAILOVER(round_robin),
	    .help = "begins with the next branch each time" },
	{ .name = "sticky",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_FAILOVER(sticky),
	    .help = "begins with the one that the last message did not fail at" },
	{ .name = "maximumFailoverAttempts",
	    .type = OPTION_INT,
	    .dflt = "-1",
	    .min = -1,
	    .max = INT32_MAX,
	    .offset = AT_FAILOVER(attempts),
	    .help = "further branches that are tried; -1: each once" },
	{ .name = "inheritErrorHandler",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT_FAILOVER(inherit),
	    .help = "the route's error handler comes first, with its redeliveries" },
	OPTIONS_END,
};

static const struct option_desc weighted_options[] = {
	{ .name = "distributionRatio",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED,
	    .offset = AT_WEIGHTED(ratio),
	    .help = "the shares, such as \"2,1\"" },
	{ .name = "distributionRatioDelimiter",
	    .type = OPTION_STRING,
	    .dflt = ",",
	    .offset = AT_WEIGHTED(delimiter),
	    .help = "stands between the shares; one character" },
	{ .name = "roundRobin",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_WEIGHTED(round_robin),
	    .help = "in turn, not at random" },
	OPTIONS_END,
};

static const struct option_desc sticky_options[] = {
	{ .name = "correlationExpression",
	    .type = OPTION_EXPRESSION,
	    .flags = OPTION_REQUIRED,
	    .offset = AT_STICKY(correlation),
	    .help = "messages with the same value go to the same branch" },
	OPTIONS_END,
};

const struct eip_desc roundRobinLoadBalancer_eip = {
	.name = "roundRobinLoadBalancer",
	.flags = EIP_NOT_A_STEP,
	.options = no_options,
	.help = "branches in turn",
};
const struct eip_desc randomLoadBalancer_eip = {
	.name = "randomLoadBalancer",
	.flags = EIP_NOT_A_STEP,
	.options = no_options,
	.help = "branches at random",
};
const struct eip_desc failoverLoadBalancer_eip = {
	.name = "failoverLoadBalancer",
	.flags = EIP_NOT_A_STEP,
	.options = failover_options,
	.conf_size = sizeof(struct failover_conf),
	.help = "the next branch when one fails",
};
const struct eip_desc weightedLoadBalancer_eip = {
	.name = "weightedLoadBalancer",
	.flags = EIP_NOT_A_STEP,
	.options = weighted_options,
	.conf_size = sizeof(struct weighted_conf),
	.help = "branches by shares",
};
const struct eip_desc stickyLoadBalancer_eip = {
	.name = "stickyLoadBalancer",
	.flags = EIP_NOT_A_STEP,
	.options = sticky_options,
	.conf_size = sizeof(struct sticky_conf),
	.help = "one branch for equal values of an expression",
};
const struct eip_desc topicLoadBalancer_eip = {
	.name = "topicLoadBalancer",
	.flags = EIP_NOT_A_STEP,
	.options = no_options,
	.help = "all branches",
};
