/*
 * Runs the branches of a step as children of its exchange: items of a split, branches of a
 * multicast, recipients. One after another or, with parallelProcessing, several at a time (their
 * waits overlap; there are no threads), at most FAN_OUT_WINDOW; results are put together in order,
 * with streaming too in order of arrival. Branches that change nothing but their message overlap
 * without being told to where they ask other workers: nobody can see the difference.
 *
 * The step's exchange waits. A branch that failed does not keep the others from running, but with
 * stopOnException no further one is begun. With a timeout, branches that have not ended then go on
 * by themselves, and what they do is seen by nobody.
 */
#ifndef HINNY_EIP_FAN_OUT_H
#define HINNY_EIP_FAN_OUT_H

#include "core/eip/aggregation.h"
#include "core/eip/engine.h"

enum { FAN_OUT_WINDOW = 64, FAN_OUT_BURST = 1000 };

/* Options of split, multicast and recipientList. */
struct fan_out_conf {
	const struct bean *strategy;
	bool parallel, streaming, stop_on_exception, share_unit_of_work;
	bool synchronous, parallel_aggregate; /* accepted */
	bool in_order; /* one must have ended before the next begins (check) */
	int64_t timeout_ms;
};

struct fan_out;

/* What runs in a child. */
struct branch {
	const struct step *first;
	uint32_t n; /* steps; 0: the whole block */
};
/* Sets what is special in the message of branch i, and says what runs. */
typedef void fan_out_branch_fn(
    const struct fan_out *fo, struct exchange *child, uint32_t i, struct branch *out);
/* May be NULL. Branch i has failed with child->exception: true when the rest is not begun. */
typedef bool fan_out_failed_fn(const struct fan_out *fo, uint32_t i);
/* May be NULL. All is done, and *exception is what the step will fail with (NULL: nothing). */
typedef void fan_out_ended_fn(const struct fan_out *fo, struct exception **exception);

struct fan_out_ops {
	fan_out_branch_fn *branch;
	fan_out_failed_fn *failed;
	fan_out_ended_fn *ended;
};

struct fan_out_slot {
	struct fan_out *fo;
	struct exchange *child;
	uint32_t index;
	uint8_t state; /* enum slot_state of fan_out.c */
};

struct fan_out {
	struct exchange *ex;
	const struct step *st;
	const struct fan_out_conf *conf;
	const struct fan_out_ops *ops;
	void *source;   /* the step's own */
	uint32_t total; /* branches */
	/* private */
	uint32_t window, begun, taken, running, failures, burst;
	bool handles, pumping, halted, timed_out, detached, shared_handled, overlaps;
	struct exception *stopped; /* of stopOnException */
	struct exchange *last;     /* of stopOnException: a stop or a handler has ended it */
	struct aggregation ag;
	struct engine_timer *timer, *pause;
	struct fan_out_slot *slots; /* branch i is in slot i % window */
};

/* Runs `total` branches of the step; returns what the step returns. */
enum step_rc fan_out_run(struct exchange *ex, const struct step *st,
    const struct fan_out_conf *conf, enum aggregation_kind otherwise, const struct fan_out_ops *ops,
    void *source, uint32_t total);

/* For the checks: what the options contradict, and what is read and written. */
int fan_out_check(struct compile *c, struct step *st, const struct fan_out_conf *conf);

/* clang-format off */
#define FAN_OUT_OPTIONS(at) \
	{ .name = "aggregationStrategy", \
	    .type = OPTION_BEAN, \
	    .values = "AggregationStrategy", \
	    .offset = (at) + offsetof(struct fan_out_conf, strategy), \
	    .help = "what the results are put together by" }, \
	{ .name = "parallelProcessing", \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .offset = (at) + offsetof(struct fan_out_conf, parallel), \
	    .help = "several run at a time, so that their waits overlap" }, \
	{ .name = "streaming", \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .offset = (at) + offsetof(struct fan_out_conf, streaming), \
	    .help = "results are put together as they arrive" }, \
	{ .name = "stopOnException", \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .offset = (at) + offsetof(struct fan_out_conf, stop_on_exception), \
	    .help = "after a failure no further one is begun" }, \
	{ .name = "shareUnitOfWork", \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .offset = (at) + offsetof(struct fan_out_conf, share_unit_of_work), \
	    .help = "a failure that an onException has handled ends the whole exchange" }, \
	{ .name = "timeout", \
	    .type = OPTION_DURATION, \
	    .dflt = "0", \
	    .min = 0, \
	    .max = INT64_MAX, \
	    .offset = (at) + offsetof(struct fan_out_conf, timeout_ms), \
	    .help = "what has not ended then is left out; needs parallelProcessing" }, \
	{ .name = "synchronous", \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .flags = OPTION_LABEL, \
	    .offset = (at) + offsetof(struct fan_out_conf, synchronous), \
	    .help = "without meaning here: there are no threads" }, \
	{ .name = "parallelAggregate", \
	    .type = OPTION_BOOL, \
	    .dflt = "false", \
	    .flags = OPTION_LABEL, \
	    .offset = (at) + offsetof(struct fan_out_conf, parallel_aggregate), \
	    .help = "without meaning here: there are no threads" }
/* clang-format on */

#endif
