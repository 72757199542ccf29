/*
 * split: runs its steps for each item of a value, as a child of the exchange. What the items leave
 * is put together by the aggregation strategy; without one the message goes on as it was.
 */
#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/eip/fan_out.h"
#include "core/eip/items.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct split_conf, m)

struct split {
	const struct split_conf *conf;
	struct items items;
	struct value_iterator *it; /* the items come from there, in place of `items` */
	uint32_t failures;
	bool aborted; /* more failures than are tolerated */
};

static const struct fan_out_ops split_ops;

/* The elements of a node-set are wanted one by one. */
static void
want_list(struct expression *e)
{
	if ((e->language->flags & LANGUAGE_NODES) && e->result_type == CLASS_NONE)
		e->result_type = CLASS_LIST;
}

static int
split_check(struct compile *c, struct step *st)
{
	struct split_conf *conf = st->conf;
	want_list(st->expr);
	conf->tolerates = option_given(st->eip->options, conf, "maxFailedRecords") ||
	    option_given(st->eip->options, conf, "errorThreshold");
	conf->fan_out.in_order = conf->tolerates;
	if (conf->tolerates && conf->fan_out.stop_on_exception)
		return compile_error(c, st->at,
		    "stopOnException cannot stand with maxFailedRecords or errorThreshold");
	return fan_out_check(c, st, &conf->fan_out);
}

/* ---- items ---- */

/* The next item, or a list of as many as are one. */
static struct value
next_items(struct split *sp, struct arena *a)
{
	struct value v = value_null(), list;
	if (sp->conf->group == 0) {
		(void)sp->it->next(sp->it, a, &v); /* it has been counted */
		return v;
	}
	list = value_new_list(a, 8);
	for (int64_t i = 0; i < sp->conf->group && sp->it->next(sp->it, a, &v); i++)
		value_list_add(a, list.u.list, v);
	return list;
}

/* Counts first, so that the last one knows that it is. */
static enum step_rc
split_by_iterator(struct exchange *ex, const struct step *st, struct split *sp)
{
	const struct split_conf *conf = sp->conf;
	const struct language_desc *language = st->expr->language;
	struct value_iterator *it = language->iterate(st->expr, ex);
	int64_t n = 0;
	while (n < UINT32_MAX && it->next(it, NULL, NULL))
		n++;
	if (it->failed || n == UINT32_MAX) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "%s %s: %s", language->name,
		    st->expr->text, it->failed ? it->err.text : "too many items");
		return STEP_FAILED;
	}
	if (conf->group > 0)
		n = (n + conf->group - 1) / conf->group;
	sp->it = language->iterate(st->expr, ex);
	return fan_out_run(
	    ex, st, &conf->fan_out, AGGREGATION_ORIGINAL, &split_ops, sp, (uint32_t)n);
}

static void
split_branch(const struct fan_out *fo, struct exchange *child, uint32_t i, struct branch *out)
{
	struct split *sp = fo->source;
	bool last = i + 1 == fo->total;
	struct value v =
	    sp->it ? next_items(sp, &child->arena) : items_at(&child->arena, &sp->items, i);
	child->body = child->detached ? value_share(&child->arena, &v) : v;
	exchange_set_property(child, STR_LIT("CamelSplitIndex"), value_int(i));
	exchange_set_property(child, STR_LIT("CamelSplitComplete"), value_bool(last));
	exchange_set_property(child, STR_LIT("CamelSplitSize"),
	    last || !sp->conf->fan_out.streaming ? value_int(fo->total) : value_null());
	out->first = fo->st->block.first;
}

/* ---- tolerated failures ---- */

static bool
split_failed(const struct fan_out *fo, uint32_t i)
{
	struct split *sp = fo->source;
	const struct split_conf *conf = sp->conf;
	sp->failures++;
	if (!conf->tolerates)
		return false;
	bool too_many = conf->max_failed > 0 && sp->failures > (uint64_t)conf->max_failed;
	bool too_often = conf->error_threshold > 0 &&
	    (double)sp->failures / (double)(i + 1) > conf->error_threshold;
	sp->aborted = sp->aborted || too_many || too_often;
	return sp->aborted;
}

static void
set_number(struct exchange *ex, struct value *map, const char *name, uint32_t n)
{
	value_map_set(&ex->arena, map->u.map, str_of(name), value_int(n));
}

static void
split_ended(const struct fan_out *fo, struct exception **exception)
{
	const struct split *sp = fo->source;
	struct exchange *ex = fo->ex;
	if (sp == NULL || !sp->conf->tolerates)
		return;
	struct value map = value_new_map(&ex->arena, 5, false);
	set_number(ex, &map, "total", fo->total);
	set_number(ex, &map, "processed", fo->begun);
	set_number(ex, &map, "success", fo->begun - sp->failures);
	set_number(ex, &map, "failures", sp->failures);
	value_map_set(&ex->arena, map.u.map, STR_LIT("aborted"), value_bool(sp->aborted));
	exchange_set_property(ex, STR_LIT("CamelSplitResult"), map);
	if (!sp->aborted)
		*exception = NULL;
}

/* ---- the step ---- */

static const struct fan_out_ops split_ops = {
	.branch = split_branch,
	.failed = split_failed,
	.ended = split_ended,
};

static enum step_rc
split_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct split_conf *conf = st->conf;
	struct value v;
	struct split *sp = arena_zalloc(&ex->arena, sizeof(*sp));
	sp->conf = conf;
	if (st->expr->language->iterate && st->expr->result_type == CLASS_NONE)
		return split_by_iterator(ex, st, sp);
	switch (expression_eval(st->expr, ex, &v)) {
	case EVAL_OK:
		break;
	case EVAL_ERROR:
		return STEP_FAILED;
	case EVAL_NEED:
		return STEP_NEED;
	}
	if (v.type == VALUE_STREAM)
		return engine_need_body(ex);
	items_of(&ex->arena, &v, conf->delimiter, (uint32_t)conf->group, &sp->items);
	return fan_out_run(
	    ex, st, &conf->fan_out, AGGREGATION_ORIGINAL, &split_ops, sp, sp->items.n);
}

static const struct option_desc options[] = {
	FAN_OUT_OPTIONS(AT(fan_out)),
	{ .name = "delimiter",
	    .type = OPTION_STRING,
	    .dflt = ",",
	    .offset = AT(delimiter),
	    .help = "stands between the items of a text; false: a text is one item" },
	{ .name = "group",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = 1000000,
	    .offset = AT(group),
	    .help = "so many items are one, a list; 0: each by itself" },
	{ .name = "maxFailedRecords",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = INT32_MAX,
	    .flags = OPTION_GIVEN,
	    .offset = AT(max_failed),
	    .help = "so many items may fail, and the exchange goes on with property "
		    "CamelSplitResult" },
	{ .name = "errorThreshold",
	    .type = OPTION_DOUBLE,
	    .dflt = "0",
	    .flags = OPTION_GIVEN,
	    .offset = AT(error_threshold),
	    .help = "such a part of the items, from 0 to 1, may fail" },
	OPTIONS_END,
};

const struct eip_desc split_eip = {
	.name = "split",
	.flags = EIP_EXPRESSION | EIP_STEPS,
	.options = options,
	.conf_size = sizeof(struct split_conf),
	.check = split_check,
	.run = split_run,
	.help = "runs its steps for each item of a value",
};
