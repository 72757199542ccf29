/*
 * loop: runs its steps a number of times, or while a predicate holds. Each round sees what the last
 * one left; with `copy`, the message as it was before.
 */
#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/kept.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct loop_conf, m)

/* activation.state; activation.n is the round. */
struct rounds {
	int64_t n; /* of a loop that counts */
	struct kept before;
};

static int
loop_check(struct compile *c, struct step *st)
{
	const struct loop_conf *conf = st->conf;
	access_add_property(c, &st->writes, "CamelLoopIndex");
	access_add_property(c, &st->writes, "CamelLoopSize");
	if (conf->copy) {
		st->reads.flags |= ACCESS_ALL;
		st->writes.flags |= ACCESS_ALL;
	}
	if (st->block.first == NULL)
		return compile_error(c, st->at, "steps: a loop needs at least one step");
	return 0;
}

/* The count of rounds. False with the exception set. */
static bool
count(struct exchange *ex, const struct value *v, int64_t *out)
{
	struct hinny_error err;
	struct value n;
	if (value_convert_number(&ex->arena, v, CLASS_INTEGER, &n, &err) != HINNY_OK) {
		exchange_fail(ex, EXCEPTION_TYPE_CONVERSION, "loop: %s", err.text);
		return false;
	}
	if (value_is_null(&n)) {
		exchange_fail(ex, EXCEPTION_NO_TYPE_CONVERSION, "loop: the count is null");
		return false;
	}
	*out = n.u.i;
	return true;
}

/* Begins round i, if there is one more. */
static enum step_rc
next_round(struct exchange *ex, const struct step *st, struct rounds *r, uint32_t i)
{
	const struct loop_conf *conf = st->conf;
	bool more = i < r->n;
	if (conf->do_while)
		switch (expression_test(st->expr, ex, &more)) {
		case EVAL_OK:
			break;
		case EVAL_ERROR:
			return STEP_FAILED;
		case EVAL_NEED:
			return STEP_NEED;
		}
	if (!more || (conf->break_on_shutdown && ex->engine->stopping))
		return STEP_DONE;
	if (conf->copy && i > 0)
		kept_restore(ex, &r->before);
	exchange_set_property(ex, STR_LIT("CamelLoopIndex"), value_int(i));
	return engine_enter(ex, st, &st->block, i, r);
}

static enum step_rc
loop_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct loop_conf *conf = st->conf;
	struct value v = value_null();
	enum eval_rc rc = conf->do_while ? EVAL_OK : expression_eval(st->expr, ex, &v);
	if (rc != EVAL_OK)
		return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	if (conf->copy && ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	struct rounds *r = arena_zalloc(&ex->arena, sizeof(*r));
	if (!conf->do_while) {
		if (!count(ex, &v, &r->n))
			return STEP_FAILED;
		exchange_set_property(ex, STR_LIT("CamelLoopSize"), value_int(r->n));
	}
	if (conf->copy)
		kept_take(ex, &r->before);
	return next_round(ex, st, r, 0);
}

static enum step_rc
loop_after(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)en;
	const struct loop_conf *conf = st->conf;
	if (conf->do_while && ex->body.type == VALUE_STREAM &&
	    (st->expr->reads.flags & ACCESS_BODY))
		return engine_need_body(ex);
	return next_round(ex, st, act->state, act->n + 1);
}

static const struct option_desc options[] = {
	{ .name = "copy",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(copy),
	    .help = "each round starts with the message as it was before the loop" },
	{ .name = "doWhile",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PREDICATES,
	    .offset = AT(do_while),
	    .help = "the expression is a predicate, tested before each round" },
	{ .name = "breakOnShutdown",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(break_on_shutdown),
	    .help = "no further round when the broker ends" },
	OPTIONS_END,
};

const struct eip_desc loop_eip = {
	.name = "loop",
	.flags = EIP_EXPRESSION | EIP_STEPS,
	.options = options,
	.conf_size = sizeof(struct loop_conf),
	.check = loop_check,
	.run = loop_run,
	.after = loop_after,
	.help = "runs its steps several times",
};
