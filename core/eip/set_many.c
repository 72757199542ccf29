/*
 * setHeaders, setVariables: their items one after another, each seeing what those before it have
 * set. Where items are evaluated by another worker and none reads what one before it sets, all are
 * asked for in one call.
 */
#include "core/config/compile.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine_priv.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct set_many_conf, m)

typedef bool reads_fn(const struct access *ac, const char *name);

/* Does item n read what an earlier one sets? */
static bool
depends(const struct step_list *items, size_t n, reads_fn *reads)
{
	const struct step *st = items->items[n];
	const struct set_conf *conf = st->conf;
	for (size_t i = 0; i < n; i++) {
		const struct set_conf *earlier = items->items[i]->conf;
		const char *name = names_constant(earlier->name);
		if (name == NULL || reads(&st->expr->reads, name) ||
		    reads(&conf->name->reads, name))
			return true;
	}
	return false;
}

static int
set_many_check(struct compile *c, struct step *st, reads_fn *reads)
{
	struct set_many_conf *conf = st->conf;
	conf->at_once = true;
	for (size_t i = 0; i < conf->items.n; i++) {
		const struct step *item = conf->items.items[i];
		const struct set_conf *one = item->conf;
		if (item->expr == NULL || one->name == NULL)
			return 0; /* reported */
		access_merge(c, &st->writes, &item->writes);
		if (depends(&conf->items, i, reads))
			conf->at_once = false;
		conf->asks = conf->asks ||
		    ((item->reads.flags | item->writes.flags | one->name->reads.flags) &
			ACCESS_STATE);
	}
	conf->at_once = conf->at_once && !conf->asks;
	return 0;
}

static int
set_headers_check(struct compile *c, struct step *st)
{
	return set_many_check(c, st, names_reads_header);
}

static int
set_variables_check(struct compile *c, struct step *st)
{
	return set_many_check(c, st, names_reads_variable);
}

/* Sets the items from *at on; STEP_NEED leaves *at at the one that needs a remote value. */
static enum step_rc
set_from(struct engine *en, struct exchange *ex, const struct set_many_conf *conf, uint32_t *at)
{
	for (; *at < conf->items.n; (*at)++) {
		const struct step *item = conf->items.items[*at];
		enum step_rc rc = item->eip->run(en, ex, item);
		if (rc != STEP_DONE)
			return rc;
		if (conf->asks)
			engine_state_end(ex->run); /* it does not run again */
	}
	return STEP_DONE;
}

/* Are all remote values there? Errors surface when the items are set. */
static bool
all_there(struct exchange *ex, const struct set_many_conf *conf)
{
	for (size_t i = 0; i < conf->items.n; i++) {
		const struct step *item = conf->items.items[i];
		const struct set_conf *one = item->conf;
		struct value v;
		struct str name;
		if (expression_eval(item->expr, ex, &v) == EVAL_NEED)
			return false;
		if (one->fixed.p == NULL &&
		    expression_text(one->name, ex, &name, NULL) == EVAL_NEED)
			return false;
		ex->exception = NULL;
	}
	return true;
}

static enum step_rc
set_many_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct set_many_conf *conf = st->conf;
	if ((st->remotes_n || conf->asks) && !conf->at_once)
		return engine_enter(ex, st, NULL, 0, NULL);
	if (st->remotes_n && !all_there(ex, conf))
		return STEP_NEED;
	uint32_t at = 0;
	return set_from(en, ex, conf, &at);
}

/* Comes only where run has entered an empty block: act->n counts the items. */
static enum step_rc
set_many_after(
    struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	return set_from(en, ex, st->conf, &act->n);
}

static const struct option_desc headers_options[] = {
	{ .name = "headers",
	    .type = OPTION_NODES,
	    .flags = OPTION_REQUIRED,
	    .values = "setHeader",
	    .offset = AT(items),
	    .help = "the headers: name and expression of each" },
	OPTIONS_END,
};

const struct eip_desc setHeaders_eip = {
	.name = "setHeaders",
	.flags = EIP_PLAIN,
	.options = headers_options,
	.conf_size = sizeof(struct set_many_conf),
	.check = set_headers_check,
	.run = set_many_run,
	.after = set_many_after,
	.help = "sets several headers, one after another",
};

static const struct option_desc variables_options[] = {
	{ .name = "variables",
	    .type = OPTION_NODES,
	    .flags = OPTION_REQUIRED,
	    .values = "setVariable",
	    .offset = AT(items),
	    .help = "the variables: name and expression of each" },
	OPTIONS_END,
};

const struct eip_desc setVariables_eip = {
	.name = "setVariables",
	.flags = EIP_PLAIN,
	.options = variables_options,
	.conf_size = sizeof(struct set_many_conf),
	.check = set_variables_check,
	.run = set_many_run,
	.after = set_many_after,
	.help = "sets several variables, one after another",
};
