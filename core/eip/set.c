/* setHeader, setProperty, setVariable: the value of the expression under a name, which may be a
 * Simple text. */
#include "core/config/compile.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"
#include "core/eip/variables.h"

#include <stddef.h>

#define AT(m) offsetof(struct set_conf, m)

typedef void set_fn(struct exchange *ex, struct str name, struct value v);
typedef enum eval_rc shared_fn(struct exchange *ex, struct str name, struct value v);

/* Fixes the name when it is constant. Sets *name to it, or to NULL. */
static void
fix_name(struct step *st, const char **name)
{
	struct set_conf *conf = st->conf;
	*name = names_constant(conf->name);
	if (*name)
		conf->fixed = str_of(*name);
}

static int
set_header_check(struct compile *c, struct step *st)
{
	const char *name;
	fix_name(st, &name);
	if (name)
		access_add_header(c, &st->writes, name);
	else
		st->writes.flags |= ACCESS_HEADERS_ALL;
	return 0;
}

static int
set_property_check(struct compile *c, struct step *st)
{
	const char *name;
	fix_name(st, &name);
	if (name)
		access_add_property(c, &st->writes, name);
	else
		st->writes.flags |= ACCESS_PROPERTIES_ALL;
	return 0;
}

static int
set_variable_check(struct compile *c, struct step *st)
{
	const char *name;
	fix_name(st, &name);
	if (name == NULL) {
		st->writes.flags |= ACCESS_VARIABLES_ALL | ACCESS_STATE;
		variables_use(c); /* it may be one of them */
		return 0;
	}
	if (!variables_is_shared(str_of(name)))
		access_add_variable(c, &st->writes, name);
	return names_use_variable(c, st, "name", name);
}

/* Evaluates value and name, then sets; what all exchanges share by `share`. */
static enum step_rc
set_run(struct exchange *ex, const struct step *st, set_fn *set, shared_fn *share)
{
	const struct set_conf *conf = st->conf;
	struct value v;
	enum eval_rc rc = expression_eval(st->expr, ex, &v);
	struct str name = conf->fixed;
	if (rc == EVAL_OK && name.p == NULL)
		rc = expression_text(conf->name, ex, &name, NULL);
	bool shared = rc == EVAL_OK && share && variables_is_shared(name);
	if (shared)
		rc = share(ex, name, v);
	if (rc != EVAL_OK)
		return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	if (!shared)
		set(ex, name, v);
	return STEP_DONE;
}

static enum step_rc
set_header_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	return set_run(ex, st, exchange_set_header, NULL);
}

static enum step_rc
set_property_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	return set_run(ex, st, exchange_set_property, NULL);
}

static enum step_rc
set_variable_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	return set_run(ex, st, exchange_set_variable, variables_set);
}

static const struct option_desc set_options[] = {
	{ .name = "name",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_TEMPLATE,
	    .offset = AT(name),
	    .help = "name to set; may be a Simple text" },
	OPTIONS_END,
};

const struct eip_desc setHeader_eip = {
	.name = "setHeader",
	.flags = EIP_EXPRESSION | EIP_PLAIN,
	.options = set_options,
	.conf_size = sizeof(struct set_conf),
	.check = set_header_check,
	.run = set_header_run,
	.help = "sets a header; a null value leaves it present and empty",
};

const struct eip_desc setProperty_eip = {
	.name = "setProperty",
	.flags = EIP_EXPRESSION | EIP_PLAIN,
	.options = set_options,
	.conf_size = sizeof(struct set_conf),
	.check = set_property_check,
	.run = set_property_run,
	.help = "sets an exchange property; a null value removes it",
};

const struct eip_desc setVariable_eip = {
	.name = "setVariable",
	.flags = EIP_EXPRESSION | EIP_PLAIN,
	.options = set_options,
	.conf_size = sizeof(struct set_conf),
	.check = set_variable_check,
	.run = set_variable_run,
	.help = "sets a variable of the exchange; a null value removes it",
};
