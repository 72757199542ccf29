/* step: groups steps under a name: property CamelStepId. */
#include "core/config/compile.h"
#include "core/eip/engine.h"

#define PROPERTY "CamelStepId"

static int
step_check(struct compile *c, struct step *st)
{
	access_add_property(c, &st->reads, PROPERTY);
	access_add_property(c, &st->writes, PROPERTY);
	return 0;
}

static void
put_back(struct exchange *ex, const struct activation *act)
{
	const struct value *outer = act->state;
	exchange_set_property(ex, STR_LIT(PROPERTY), outer ? *outer : value_null());
}

static enum step_rc
step_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct value *v = exchange_property(ex, STR_LIT(PROPERTY));
	struct value *outer = NULL;
	if (v) {
		outer = arena_alloc(&ex->arena, sizeof(*outer));
		*outer = *v;
	}
	exchange_set_property(ex, STR_LIT(PROPERTY), value_str(str_of(st->id)));
	return engine_enter(ex, st, &st->block, 0, outer);
}

static enum step_rc
step_after(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)en;
	(void)st;
	put_back(ex, act);
	return STEP_DONE;
}

static enum step_rc
step_caught(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)en;
	(void)st;
	put_back(ex, act);
	return STEP_FAILED;
}

static const struct option_desc no_options[] = { OPTIONS_END };

const struct eip_desc step_eip = {
	.name = "step",
	.flags = EIP_STEPS,
	.options = no_options,
	.check = step_check,
	.run = step_run,
	.after = step_after,
	.caught = step_caught,
	.help = "groups steps under a name",
};
