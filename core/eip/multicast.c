/* multicast: each of its steps is a branch that gets a copy of the message. */
#include "core/config/compile.h"
#include "core/eip/fan_out.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct multicast_conf, m)

static int
multicast_check(struct compile *c, struct step *st)
{
	const struct multicast_conf *conf = st->conf;
	return fan_out_check(c, st, &conf->fan_out);
}

static void
multicast_branch(const struct fan_out *fo, struct exchange *child, uint32_t i, struct branch *out)
{
	const struct multicast_conf *conf = fo->st->conf;
	exchange_set_property(child, STR_LIT("CamelMulticastIndex"), value_int(i));
	exchange_set_property(
	    child, STR_LIT("CamelMulticastComplete"), value_bool(i + 1 == fo->total));
	*out = (struct branch){ conf->branches.items[i], 1 };
}

static const struct fan_out_ops multicast_ops = { .branch = multicast_branch };

static enum step_rc
multicast_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct multicast_conf *conf = st->conf;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	return fan_out_run(ex, st, &conf->fan_out, AGGREGATION_LATEST, &multicast_ops, NULL,
	    (uint32_t)conf->branches.n);
}

static const struct option_desc options[] = {
	FAN_OUT_OPTIONS(AT(fan_out)),
	{ .name = "steps",
	    .type = OPTION_BRANCHES,
	    .offset = AT(branches),
	    .help = "the branches" },
	OPTIONS_END,
};

const struct eip_desc multicast_eip = {
	.name = "multicast",
	.options = options,
	.conf_size = sizeof(struct multicast_conf),
	.check = multicast_check,
	.run = multicast_run,
	.help = "sends the message through several branches",
};
