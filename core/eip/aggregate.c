/*
 * aggregate: puts messages into groups by a key. A message goes on unchanged when its group has
 * taken it; a group that is complete runs the steps as a new exchange.
 *
 * The key and what the home alone can evaluate (completionTimeoutExpression, which always looks at
 * the message; expressions of other workers) are evaluated here, all else by the owner of the
 * groups (core/eip/aggregate_state.c).
 */
#include "core/config/compile.h"
#include "core/eip/aggregate_state.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct aggregate_conf, m)

#define ALL_FLAG STR_LIT("CamelAggregationCompleteAllGroups")
#define INCLUSIVE_FLAG STR_LIT("CamelAggregationCompleteAllGroupsInclusive")

static const struct option_desc options[];

/* ---- check ---- */

static bool
is_remote(const struct expression *e)
{
	if (e->language->owner)
		return true;
	for (uint32_t i = 0; i < e->parts_n; i++)
		if (is_remote(e->parts[i]))
			return true;
	return false;
}

/*
 * An expression of another worker cannot be had while a group is looked at. Where the group's
 * message is the one that has just come (UseLatest), or that one is looked at (eager), it is
 * evaluated before.
 */
static int
check_side(struct compile *c, const struct step *st, const struct expression *e, const char *name,
    bool *home)
{
	const struct aggregate_conf *conf = st->conf;
	if (e == NULL || !is_remote(e))
		return 0;
	*home =
	    conf->eager || (conf->strategy && conf->strategy->class->kind == AGGREGATION_LATEST);
	if (*home)
		return 0;
	return compile_error(c, e->at,
	    "%s: %s over the whole group is not implemented in this release: set "
	    "eagerCheckCompletion, which looks at the message that comes",
	    name, e->language->owner ? e->language->name : "an expression of another worker");
}

static int
check_completion(struct compile *c, const struct step *st)
{
	const struct aggregate_conf *conf = st->conf;
	if (conf->size <= 0 && conf->timeout_ms <= 0 && conf->interval_ms <= 0 &&
	    !conf->predicate && !conf->from_batch && !conf->size_by && !conf->timeout_by)
		return compile_error(c, st->at,
		    "at least one of the completion options [completionTimeout, "
		    "completionInterval, completionSize, completionPredicate, "
		    "completionFromBatchConsumer] must be set");
	if (conf->interval_ms > 0 && conf->timeout_ms > 0)
		return compile_error(c, st->at,
		    "only one of completionInterval or completionTimeout can be used, not both");
	if (conf->from_batch && conf->discard_on_failure)
		return compile_error(c, st->at,
		    "completionFromBatchConsumer and discardOnAggregationFailure cannot be used "
		    "together");
	return 0;
}

static int
check_repository(struct compile *c, const struct step *st)
{
	const struct aggregate_conf *conf = st->conf;
	if (conf->repository == NULL || conf->repository->name == NULL)
		return 0;
	struct aggregation_repository_conf *repo = conf->repository->conf;
	if (repo->user && repo->user != st)
		return compile_error(c, st->at,
		    "aggregationRepository: bean \"%s\" is that of the aggregate in line %u "
		    "already: "
		    "each has its own in this release",
		    conf->repository->name, repo->user->at.line);
	repo->user = st;
	return 0;
}

static int
aggregate_check(struct compile *c, struct step *st)
{
	struct aggregate_conf *conf = st->conf;
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_HEADERS_ALL | ACCESS_PROPERTIES_ALL;
	conf->closes_keys = option_given(options, conf, "closeCorrelationKeyOnCompletion");
	conf->all_hash = header_hash(ALL_FLAG);
	conf->inclusive_hash = header_hash(INCLUSIVE_FLAG);
	if (conf->correlation && conf->correlation->language->owner &&
	    conf->correlation->result_type == CLASS_NONE)
		conf->correlation->result_type = CLASS_STRING;
	(void)compile_state(c, st, &aggregate_state_desc);
	int rc = check_completion(c, st) | check_repository(c, st);
	rc |= check_side(c, st, conf->predicate, "completionPredicate", &conf->home_predicate);
	rc |= check_side(c, st, conf->size_by, "completionSizeExpression", &conf->home_size);
	if (st->block.first == NULL)
		rc |= compile_error(c, st->at, "aggregate needs steps");
	return rc;
}

/* ---- run ---- */

static enum step_rc
step_rc(enum eval_rc rc)
{
	return rc == EVAL_OK ? STEP_DONE : rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
}

static enum eval_rc
eval_as(const struct expression *e, struct exchange *ex, enum value_class_id as, struct value *out)
{
	struct hinny_error err;
	enum eval_rc rc = expression_eval(e, ex, out);
	if (rc != EVAL_OK || value_convert(&ex->arena, out, as, out, &err) == HINNY_OK)
		return rc;
	exchange_fail(ex, EXCEPTION_TYPE_CONVERSION, "%s", err.text);
	return EVAL_ERROR;
}

/* What is evaluated at home beside the key; the owner gets it in a list with the key. */
static enum eval_rc
eval_rest(const struct aggregate_conf *conf, struct exchange *ex, struct value *arg)
{
	enum eval_rc rc = EVAL_OK;
	if (!conf->timeout_by && !conf->home_size && !conf->home_predicate)
		return rc;
	struct value list = value_new_list(&ex->arena, ARG_N), *items = list.u.list->items;
	list.u.list->n = ARG_N;
	for (size_t i = 0; i < ARG_N; i++)
		items[i] = value_null();
	items[ARG_KEY] = *arg;
	if (conf->timeout_by)
		rc = eval_as(conf->timeout_by, ex, CLASS_LONG, &items[ARG_TIMEOUT]);
	if (rc == EVAL_OK && conf->home_size)
		rc = eval_as(conf->size_by, ex, CLASS_INTEGER, &items[ARG_SIZE]);
	if (rc == EVAL_OK && conf->home_predicate) {
		bool yes = false;
		rc = expression_test(conf->predicate, ex, &yes);
		items[ARG_PREDICATE] = value_bool(yes);
	}
	*arg = list;
	return rc;
}

static bool
wants_all(const struct aggregate_conf *conf, struct exchange *ex)
{
	const struct header *h = headers_find_hashed(&ex->headers, ALL_FLAG, conf->all_hash);
	if (h && value_truth(&h->value))
		return true;
	const struct value *v = exchange_property(ex, ALL_FLAG);
	return v && value_truth(v);
}

/* The message itself belongs to no group then. */
static enum step_rc
complete_all(struct exchange *ex, const struct step *st)
{
	struct value out;
	enum eval_rc rc = engine_state(ex, st->state, AGGREGATE_COMPLETE_ALL, NULL, &out);
	if (rc == EVAL_OK) {
		exchange_remove_header(ex, ALL_FLAG);
		exchange_set_property(ex, ALL_FLAG, value_null());
	}
	return step_rc(rc);
}

static enum step_rc
aggregate_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct aggregate_conf *conf = st->conf;
	struct value arg, out;
	bool null;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	if (wants_all(conf, ex))
		return complete_all(ex, st);
	arg = value_null();
	enum eval_rc rc = expression_text(conf->correlation, ex, &arg.u.s, &null);
	if (rc != EVAL_OK)
		return step_rc(rc);
	arg = value_str(arg.u.s);
	if (null || str_trim(arg.u.s).n == 0) {
		if (conf->ignore_invalid)
			return STEP_DONE;
		exchange_fail(
		    ex, EXCEPTION_CAMEL_EXCHANGE, "Invalid correlation key. Exchange[]");
		return STEP_FAILED;
	}
	rc = eval_rest(conf, ex, &arg);
	if (rc == EVAL_OK)
		rc = engine_state(ex, st->state, AGGREGATE_ADD, &arg, &out);
	if (rc != EVAL_OK)
		return step_rc(rc);
	if (headers_find_hashed(&ex->headers, INCLUSIVE_FLAG, conf->inclusive_hash))
		exchange_remove_header(ex, INCLUSIVE_FLAG);
	if (out.type != VALUE_INT || out.u.i <= 0)
		return STEP_DONE;
	en->ops->wait(en, ex, out.u.i); /* completed groups come faster than they run */
	return STEP_PENDING;
}

/* ---- options ---- */

/* clang-format off */
#define FLAG(option, member, text) \
	{ .name = option, .type = OPTION_BOOL, .dflt = "false", .offset = AT(member), .help = text }
/* clang-format on */

static const struct option_desc options[] = {
	{ .name = "correlationExpression",
	    .type = OPTION_EXPRESSION,
	    .flags = OPTION_REQUIRED,
	    .offset = AT(correlation),
	    .help = "messages for which it gives the same text are one group" },
	{ .name = "aggregationStrategy",
	    .type = OPTION_BEAN,
	    .flags = OPTION_REQUIRED,
	    .values = "AggregationStrategy",
	    .offset = AT(strategy),
	    .help = "what the messages of a group are put together by" },
	{ .name = "completionSize",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = INT32_MAX,
	    .offset = AT(size),
	    .help = "a group of so many messages is complete" },
	{ .name = "completionSizeExpression",
	    .type = OPTION_EXPRESSION,
	    .offset = AT(size_by),
	    .help = "the same, evaluated for each message; goes before completionSize where it "
		    "gives a number" },
	{ .name = "completionTimeout",
	    .type = OPTION_DURATION,
	    .dflt = "0",
	    .min = 0,
	    .max = INT64_MAX,
	    .offset = AT(timeout_ms),
	    .help = "a group to which nothing came for so long is complete" },
	{ .name = "completionTimeoutExpression",
	    .type = OPTION_EXPRESSION,
	    .offset = AT(timeout_by),
	    .help = "the same in milliseconds, evaluated for each message; goes before "
		    "completionTimeout where it gives a number" },
	{ .name = "completionTimeoutCheckerInterval",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .min = 1,
	    .max = INT32_MAX,
	    .offset = AT(checker_ms),
	    .help = "how often it is looked for groups whose time is up: how late they may be" },
	{ .name = "completionInterval",
	    .type = OPTION_DURATION,
	    .dflt = "0",
	    .min = 0,
	    .max = INT64_MAX / 4,
	    .offset = AT(interval_ms),
	    .help = "all groups are complete each time that so much time has gone" },
	{ .name = "completionPredicate",
	    .type = OPTION_PREDICATE,
	    .offset = AT(predicate),
	    .help = "a group is complete when it holds; looks at the group's message" },
	FLAG("completionFromBatchConsumer", from_batch,
	    "groups are complete when all messages of the consumer's batch have come "
	    "(CamelBatchSize)"),
	FLAG("completionOnNewCorrelationGroup", on_new_group,
	    "a message that begins a new group completes all others"),
	FLAG("eagerCheckCompletion", eager,
	    "completionPredicate and completionSizeExpression look at the message that comes, "
	    "not at the group's"),
	FLAG("ignoreInvalidCorrelationKeys", ignore_invalid,
	    "a message whose key is null or empty goes on; else it fails"),
	{ .name = "closeCorrelationKeyOnCompletion",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = INT32_MAX,
	    .flags = OPTION_GIVEN,
	    .offset = AT(close_keys),
	    .help = "messages for a group that was completed fail; so many keys are remembered, "
		    "0: as many as aggregate.max_groups" },
	FLAG("discardOnCompletionTimeout", discard_on_timeout,
	    "a group whose time is up is dropped"),
	FLAG("discardOnAggregationFailure", discard_on_failure,
	    "a group that cannot take a message is dropped, and the message goes on; else it "
	    "fails"),
	FLAG("forceCompletionOnStop", force_on_stop,
	    "all groups are complete when the broker stops"),
	FLAG(
	    "completeAllOnStop", complete_on_stop, "all groups are complete when the broker stops"),
	FLAG("parallelProcessing", parallel,
	    "completed groups run at the same time; else one after another"),
	{ .name = "aggregationRepository",
	    .type = OPTION_BEAN,
	    .values = "AggregationRepository",
	    .offset = AT(repository),
	    .help = "where the groups are; default: in memory" },
	{ .name = "optimisticLocking",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(optimistic),
	    .help = "without meaning here: one process has the groups, and none is taken twice" },
	{ .name = "optimisticLockingSyncRetry",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(optimistic_sync),
	    .help = "without meaning here, as optimisticLocking" },
	{ .name = "optimisticLockRetryPolicy",
	    .type = OPTION_NODE,
	    .values = "optimisticLockRetryPolicy",
	    .offset = AT(retry_policy),
	    .help = "without meaning here, as optimisticLocking" },
	OPTIONS_END,
};

const struct eip_desc aggregate_eip = {
	.name = "aggregate",
	.flags = EIP_STEPS | EIP_TAKES,
	.options = options,
	.conf_size = sizeof(struct aggregate_conf),
	.check = aggregate_check,
	.run = aggregate_run,
	.help = "puts messages together into groups, and runs its steps for each complete group",
};

/* ---- what comes with it ---- */

#define AT_POLICY(m) offsetof(struct optimistic_lock_conf, m)
#define POLICY_HELP "without meaning here: one process has the groups"

/* clang-format off */
static const struct option_desc policy_options[] = {
	{ .name = "maximumRetries", .type = OPTION_INT, .dflt = "0", .flags = OPTION_LABEL,
	    .min = 0, .max = INT32_MAX, .offset = AT_POLICY(retries), .help = POLICY_HELP },
	{ .name = "retryDelay", .type = OPTION_DURATION, .dflt = "50", .flags = OPTION_LABEL,
	    .offset = AT_POLICY(delay_ms), .help = POLICY_HELP },
	{ .name = "maximumRetryDelay", .type = OPTION_DURATION, .dflt = "1000",
	    .flags = OPTION_LABEL, .offset = AT_POLICY(max_delay_ms), .help = POLICY_HELP },
	{ .name = "exponentialBackOff", .type = OPTION_BOOL, .dflt = "true",
	    .flags = OPTION_LABEL, .offset = AT_POLICY(exponential), .help = POLICY_HELP },
	{ .name = "randomBackOff", .type = OPTION_BOOL, .dflt = "false", .flags = OPTION_LABEL,
	    .offset = AT_POLICY(random), .help = POLICY_HELP },
	OPTIONS_END,
};
/* clang-format on */

const struct eip_desc optimisticLockRetryPolicy_eip = {
	.name = "optimisticLockRetryPolicy",
	.flags = EIP_CHILD | EIP_NOT_A_STEP,
	.options = policy_options,
	.conf_size = sizeof(struct optimistic_lock_conf),
	.help = "how often optimistic locking tries again: without meaning here",
};

static const struct option_desc repository_options[] = {
	{ .name = "optimisticLocking",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = offsetof(struct aggregation_repository_conf, optimistic),
	    .help = "without meaning here: one process has the groups" },
	OPTIONS_END,
};

const struct bean_class MemoryAggregation_bean = {
	.name = "org.apache.camel.processor.aggregate.MemoryAggregationRepository",
	.role = "AggregationRepository",
	.options = repository_options,
	.conf_size = sizeof(struct aggregation_repository_conf),
	.help = "groups in the memory of the process that owns them; a reload hands them over",
};
