/*
 * sample: lets one message through in a period, or every n-th; routing of the others ends. All
 * workers of the generation count together.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/shared_state.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct sample_conf, m)

struct sample_state {
	uint64_t counter;
	int64_t next_ms; /* when a message passes again */
};

static int
sample_check(struct compile *c, struct step *st)
{
	(void)c;
	st->shared_size = sizeof(struct sample_state);
	return 0;
}

static bool
passes(struct engine *en, const struct sample_conf *conf, struct sample_state *state)
{
	if (conf->frequency > 0)
		return (shared_next(&state->counter) + 1) % (uint64_t)conf->frequency == 0;
	int64_t now = en->ops->now_ms(en);
	int64_t next = __atomic_load_n(&state->next_ms, __ATOMIC_RELAXED);
	return now >= next &&
	    __atomic_compare_exchange_n(&state->next_ms, &next, now + conf->period_ms, false,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static enum step_rc
sample_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	if (!passes(en, st->conf, engine_shared(en, st)))
		ex->stop = true;
	return STEP_DONE;
}

static const struct option_desc options[] = {
	{ .name = "samplePeriod",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .flags = OPTION_MAIN,
	    .min = 1,
	    .max = INT64_MAX,
	    .offset = AT(period_ms),
	    .help = "one message passes in so long" },
	{ .name = "messageFrequency",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = INT64_MAX,
	    .offset = AT(frequency),
	    .help = "every so many-th message passes, whatever the time" },
	OPTIONS_END,
};

const struct eip_desc sample_eip = {
	.name = "sample",
	.options = options,
	.conf_size = sizeof(struct sample_conf),
	.check = sample_check,
	.run = sample_run,
	.help = "lets some messages through and ends the routing of the others",
};
