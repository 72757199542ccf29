/*
 * throttle (TotalRequests): in any time of the period at most so many messages pass; the others
 * wait for their turn, or are rejected. The times of the last ones are shared by all workers of the
 * generation, so the limit is that of the route, not of a process.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/shared_state.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct throttle_conf, m)

enum { THROTTLE_MAX = 10000 };

/* When the last ones passed, or will: a ring of `max` times. */
struct throttle_state {
	struct shared_lock lock;
	uint32_t max, at;
	int64_t passes_ms[];
};

static int
throttle_check(struct compile *c, struct step *st)
{
	const struct throttle_conf *conf = st->conf;
	int64_t n = THROTTLE_MAX;
	(void)c;
	if (strcmp(st->expr->language->name, "constant") == 0 &&
	    (!str_to_int64(str_trim(str_of(st->expr->text)), &n) || n < 0 || n > THROTTLE_MAX))
		return compile_error(c, st->expr->at,
		    "throttle: expected a whole number from 0 to %d, got \"%s\"", THROTTLE_MAX,
		    st->expr->text);
	if (conf->mode != 0)
		return compile_error(c, st->at,
		    "option \"mode: ConcurrentRequests\" of throttle is not implemented in this "
		    "release");
	st->shared_size = (uint32_t)(offsetof(struct throttle_state, passes_ms) +
	    (size_t)(n ? n : 1) * sizeof(int64_t));
	return 0;
}

/* How long the message has to wait; -1: it is rejected. */
static int64_t
reserve(struct throttle_state *ts, const struct throttle_conf *conf, uint32_t max, int64_t now)
{
	shared_lock(&ts->lock);
	if (ts->max != max) { /* another limit: those before count no more */
		ts->max = max;
		ts->at = 0;
		for (uint32_t i = 0; i < max; i++)
			ts->passes_ms[i] = INT64_MIN / 2;
	}
	int64_t free_ms = ts->passes_ms[ts->at] + conf->period_ms;
	int64_t wait = free_ms > now ? free_ms - now : 0;
	if (wait > 0 && conf->rejects) {
		wait = -1;
	} else {
		ts->passes_ms[ts->at] = now + wait;
		ts->at = (ts->at + 1) % max;
	}
	shared_unlock(&ts->lock);
	return wait;
}

static enum step_rc
throttle_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct throttle_conf *conf = st->conf;
	struct hinny_error err;
	struct value v, n;
	switch (expression_eval(st->expr, ex, &v)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	if (value_convert(&ex->arena, &v, CLASS_LONG, &n, &err) != HINNY_OK || value_is_null(&n) ||
	    n.u.i < 0 || n.u.i > THROTTLE_MAX) {
		struct str text = value_text(&ex->arena, &v);
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE,
		    "the maximum of requests of a throttle must be a number from 0 to %d, got "
		    "\"%.*s\"",
		    THROTTLE_MAX, STR_FMT(text));
		return STEP_FAILED;
	}
	if (n.u.i == 0)
		return STEP_DONE; /* no limit */
	int64_t wait = reserve(engine_shared(en, st), conf, (uint32_t)n.u.i, en->ops->now_ms(en));
	if (wait == 0)
		return STEP_DONE;
	if (wait > 0) {
		en->ops->wait(en, ex, wait);
		return STEP_PENDING;
	}
	exchange_fail(ex, EXCEPTION_THROTTLER_REJECTED,
	    "Exceeded the max throttle rate of %lld within %lldms", (long long)n.u.i,
	    (long long)conf->period_ms);
	return STEP_FAILED;
}

static const struct option_desc options[] = {
	{ .name = "mode",
	    .type = OPTION_ENUM,
	    .values = "TotalRequests|ConcurrentRequests",
	    .dflt = "TotalRequests",
	    .offset = AT(mode),
	    .help =
		"what is limited: messages in a period; ConcurrentRequests is not implemented" },
	{ .name = "timePeriodMillis",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .min = 1,
	    .max = INT64_MAX / 4,
	    .offset = AT(period_ms),
	    .help = "the period" },
	{ .name = "rejectExecution",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(rejects),
	    .help = "an exception instead of waiting" },
	{ .name = "asyncDelayed",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(async_delayed),
	    .help = "without meaning here: no thread waits" },
	{ .name = "callerRunsWhenRejected",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_LABEL,
	    .offset = AT(caller_runs),
	    .help = "without meaning here: no wait is ever rejected" },
	OPTIONS_END,
};

const struct eip_desc throttle_eip = {
	.name = "throttle",
	.flags = EIP_EXPRESSION,
	.options = options,
	.conf_size = sizeof(struct throttle_conf),
	.check = throttle_check,
	.run = throttle_run,
	.help = "lets so many messages through in a period",
};
