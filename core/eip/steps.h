/*
 * What the option tables of the steps fill (step.conf). For the steps themselves, for the planner
 * of core/config, and for tests that build programs by hand. Steps without a structure here have no
 * options.
 */
#ifndef HINNY_EIP_STEPS_H
#define HINNY_EIP_STEPS_H

#include "core/eip/breaker.h"
#include "core/eip/fan_out.h"
#include "core/eip/on_exception.h"
#include "core/eip/throttle.h"
#include "core/model/descriptor.h"
#include "core/model/headers.h"

struct choice_conf {
	struct step_list when;
	struct step *otherwise;
	bool precondition; /* decided at load: what is left is one branch or none */
};

struct filter_conf {
	const char *status_property;
};

/* variableReceive of from */
struct from_receive_conf {
	const char *variable;
};

/* setHeader, setProperty, setVariable */
struct set_conf {
	struct expression *name;
	struct str fixed; /* the name when it is constant (check), else p is NULL */
};

/* setHeaders, setVariables */
struct set_many_conf {
	struct step_list items;
	bool at_once; /* no item reads what one before it sets (check) */
	bool asks;    /* an item asks a state (check) */
};

/* removeHeader, removeProperty, removeVariable */
struct remove_conf {
	const char *name;
};

/* removeHeaders, removeProperties */
struct remove_many_conf {
	const char *pattern, *exclude_pattern;
	struct pattern *remove, *keep; /* compiled (check) */
};

struct log_conf {
	struct expression *message;
	int level; /* enum route_log_level */
	const char *log_name, *marker, *log_language;
};

struct delay_conf {
	bool async_delayed, caller_runs;
};

struct do_try_conf {
	struct step_list catches;
	struct step *finally;
};

struct do_catch_conf {
	struct classes exception; /* n 0: all */
	struct expression *on_when;
};

/* to and toD; `endpoint` or `uri_template` is what the uri is, the endpoint is in step.endpoint too
 */
struct to_conf {
	struct endpoint *endpoint;
	struct expression *uri_template; /* toD, not constant */
	int pattern;                     /* 0: as it is, 1: InOnly, 2: InOut */
	const char *variable_send, *variable_receive;
	bool ignore_invalid; /* toD */
	const char *allowed_schemes;
	int64_t cache_size;  /* toD: accepted */
	bool optimised, auto_start;
};

/* convertBodyTo, convertHeaderTo, convertVariableTo */
struct convert_conf {
	const char *name, *to_name; /* not of the body */
	int type;                   /* enum value_class_id */
	const char *charset;
	bool mandatory;
};

/* marshal, unmarshal */
struct marshal_conf {
	const char *variable_send, *variable_receive;
	bool allow_null_body; /* unmarshal */
};

/* poll, pollEnrich. While it waits, the exchange has this property: for how many milliseconds. */
#define POLL_PROPERTY "CamelPollTimeoutLeft"
struct poll_conf {
	struct endpoint *endpoint; /* poll; pollEnrich has an expression */
	int64_t timeout_ms;        /* -1: for ever */
	const struct bean *strategy;
	const char *variable_receive, *allowed_schemes;
	bool on_exception, ignore_invalid;
	int64_t cache_size; /* accepted */
	bool optimised, auto_start;
};

struct throw_exception_conf {
	struct classes type; /* one */
	struct expression *message;
};

struct exchange_pattern_conf {
	int pattern; /* 0: InOnly, 1: InOut */
};

struct rollback_conf {
	const char *message;
	bool mark, mark_last;
};

struct split_conf {
	struct fan_out_conf fan_out;
	const char *delimiter;
	int64_t group, max_failed;
	double error_threshold;
	bool tolerates; /* one of the last two is given (check) */
};

/* aggregate */
struct aggregate_conf {
	struct expression *correlation, *predicate, *size_by, *timeout_by;
	const struct bean *strategy, *repository;
	int64_t size, timeout_ms, interval_ms, checker_ms, close_keys;
	bool closes_keys; /* close_keys is given (check) */
	bool from_batch, on_new_group, eager, ignore_invalid, parallel;
	bool discard_on_timeout, discard_on_failure, force_on_stop, complete_on_stop;
	bool optimistic, optimistic_sync; /* accepted: one process has the groups */
	struct step *retry_policy;        /* accepted */
	/* the check's */
	bool home_predicate, home_size; /* evaluated at home, before the message is taken */
	uint32_t all_hash, inclusive_hash; /* of headers */
};

/* of the retry policy of optimistic locking: accepted */
struct optimistic_lock_conf {
	int64_t retries, delay_ms, max_delay_ms;
	bool exponential, random;
};

/* Of the bean of a memory repository. */
struct aggregation_repository_conf {
	bool optimistic;          /* accepted */
	const struct step *user; /* the aggregate that has it (check) */
};

/* multicast; its branches are parsed apart, so that none runs into the next */
struct multicast_conf {
	struct fan_out_conf fan_out;
	struct step_list branches;
};

struct recipient_list_conf {
	struct fan_out_conf fan_out;
	const char *delimiter, *allowed_schemes;
	bool ignore_invalid;
	int64_t cache_size; /* accepted */
	struct step *send;  /* to the endpoint that the property names (check) */
};

/* routingSlip, dynamicRouter */
struct slip_conf {
	const char *delimiter, *allowed_schemes;
	bool ignore_invalid;
	int64_t cache_size; /* accepted */
	bool asks_again;    /* dynamicRouter (check) */
	struct block send;  /* to the endpoint that the property names (check) */
};

struct wire_tap_conf {
	struct expression *uri_template; /* until the check has made a step of it */
	bool copy, dynamic_uri, ignore_invalid;
	const char *allowed_schemes, *variable_send;
	int64_t cache_size; /* accepted */
	bool optimised, auto_start;
	struct step *send;
};

struct enrich_conf {
	const struct bean *strategy;
	bool on_exception, ignore_invalid;
	const char *allowed_schemes, *variable_send, *variable_receive;
	int64_t cache_size; /* accepted */
	bool optimised, auto_start, share_unit_of_work;
	struct step *send;
};

struct failover_conf {
	struct classes exception;
	bool round_robin, sticky, inherit;
	int64_t attempts;
};

struct weighted_conf {
	const char *ratio, *delimiter;
	bool round_robin;
	uint16_t *cycle; /* branches in their turns (check) */
	uint32_t cycle_n;
};

struct sticky_conf {
	struct expression *correlation;
};

/* One of the balancers is given. */
struct load_balance_conf {
	struct step *round_robin, *random, *failover, *weighted, *sticky, *topic;
	struct step_list branches;
	struct block *blocks; /* of a branch each (check) */
};

struct sample_conf {
	int64_t period_ms, frequency;
};

struct resilience_conf {
	struct breaker_conf breaker;
	int window_type; /* 0: COUNT_BASED, 1: TIME_BASED */
	int64_t timeout_ms;
	bool timeout_enabled, throw_when_open;
	struct classes record, ignore;
	bool bulkhead;
	int64_t bulkhead_calls, bulkhead_wait_ms;
	bool automatic, stack_trace, cancels; /* accepted */
	int label_enum;
};

struct fallback_conf {
	bool via_network;
};

struct circuit_breaker_conf {
	struct step *resilience, *fallback;
	bool inherit;
	uint32_t bulkhead_at; /* in the shared state (check) */
	struct throttle_layout bulkhead;
};

struct throttle_conf {
	int mode; /* 0: TotalRequests, 1: ConcurrentRequests */
	int64_t period_ms;
	struct expression *correlation;
	struct throttle_layout layout; /* of the shared state (check) */
	bool rejects;
	bool async_delayed, caller_runs; /* accepted */
};

enum completion_mode { COMPLETION_AFTER, COMPLETION_BEFORE };
struct on_completion_conf {
	int mode; /* enum completion_mode */
	bool complete_only, failure_only, use_original;
	bool parallel; /* accepted */
	struct expression *on_when;
};

struct claim_check_conf {
	int operation;
	struct expression *key;
	const char *filter;
	const struct bean *strategy;
	struct claim_rule *rules; /* of the filter (check) */
	size_t rules_n;
};

/* All accepted: there is no pool. */
struct threads_conf {
	int64_t pool_size, max_pool_size, keep_alive, max_queue_size;
	int time_unit, rejected_policy;
	bool core_time_out, caller_runs;
	const char *thread_name;
};

/* Of the bean MemoryIdempotentRepository. */
struct memory_repository_conf {
	int64_t cache_size;
};

struct idempotent_conf {
	const struct bean *repository;
	bool eager, completion_eager, skip_duplicate, remove_on_failure;
	struct state_node *keys; /* of the repository (check) */
};

struct loop_conf {
	bool copy, do_while, break_on_shutdown;
};

/*
 * Options of steps whose endpoint is known at run time only; none has a meaning here. The step's
 * file has AT(), its conf structure cache_size, optimised and auto_start.
 */
/* clang-format off */
#define DYNAMIC_ENDPOINT_OPTIONS \
	{ .name = "cacheSize", \
	    .type = OPTION_INT, \
	    .dflt = "1000", \
	    .flags = OPTION_LABEL, \
	    .min = -1, \
	    .max = INT32_MAX, \
	    .offset = AT(cache_size), \
	    .help = "without meaning here: a worker has one bounded cache of endpoints" }, \
	{ .name = "allowOptimisedComponents", \
	    .type = OPTION_BOOL, \
	    .dflt = "true", \
	    .flags = OPTION_LABEL, \
	    .offset = AT(optimised), \
	    .help = "without meaning here" }, \
	{ .name = "autoStartComponents", \
	    .type = OPTION_BOOL, \
	    .dflt = "true", \
	    .flags = OPTION_LABEL, \
	    .offset = AT(auto_start), \
	    .help = "without meaning here" }
/* clang-format on */

#endif
