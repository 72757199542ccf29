/* removeHeader, removeHeaders, removeProperty, removeProperties, removeVariable. */
#include "core/config/compile.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"
#include "core/eip/variables.h"

#include <stddef.h>
#include <string.h>

#define AT(m) offsetof(struct remove_conf, m)
#define AT_MANY(m) offsetof(struct remove_many_conf, m)

static int
remove_header_check(struct compile *c, struct step *st)
{
	const struct remove_conf *conf = st->conf;
	access_add_header(c, &st->writes, conf->name);
	return 0;
}

static int
remove_property_check(struct compile *c, struct step *st)
{
	const struct remove_conf *conf = st->conf;
	access_add_property(c, &st->writes, conf->name);
	return 0;
}

static int
remove_variable_check(struct compile *c, struct step *st)
{
	const struct remove_conf *conf = st->conf;
	if (strcmp(conf->name, "*") == 0)
		st->writes.flags |= ACCESS_VARIABLES_ALL;
	else if (!variables_is_shared(str_of(conf->name)))
		access_add_variable(c, &st->writes, conf->name);
	return names_use_variable(c, st, "name", conf->name);
}

static enum step_rc
remove_header_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct remove_conf *conf = st->conf;
	(void)exchange_remove_header(ex, str_of(conf->name)); /* absent is fine */
	return STEP_DONE;
}

static enum step_rc
remove_property_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct remove_conf *conf = st->conf;
	exchange_set_property(ex, str_of(conf->name), value_null());
	return STEP_DONE;
}

static enum step_rc
remove_variable_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct remove_conf *conf = st->conf;
	struct value name = value_str(str_of(conf->name)), none;
	if (variables_is_shared(name.u.s)) {
		enum eval_rc rc = variables_ask(ex, VARIABLES_REMOVE, &name, &none);
		return rc == EVAL_OK ? STEP_DONE : rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	}
	if (!str_eq(name.u.s, STR_LIT("*")))
		exchange_set_variable(ex, name.u.s, value_null());
	else
		while (ex->variables.n > 0)
			exchange_set_variable(ex, ex->variables.entries[0].key, value_null());
	return STEP_DONE;
}

/* ---- by pattern ---- */

static int
compile_patterns(struct compile *c, struct step *st, bool nocase)
{
	struct remove_many_conf *conf = st->conf;
	struct hinny_error err;
	if (pattern_compile(compile_arena(c), str_of(conf->pattern), nocase, &conf->remove, &err) !=
	    HINNY_OK)
		return compile_error(c, st->at, "pattern: %s", err.text);
	if (conf->exclude_pattern &&
	    pattern_compile(compile_arena(c), str_of(conf->exclude_pattern), nocase, &conf->keep,
		&err) != HINNY_OK)
		return compile_error(c, st->at, "excludePattern: %s", err.text);
	return 0;
}

static int
remove_headers_check(struct compile *c, struct step *st)
{
	st->writes.flags |= ACCESS_HEADERS_ALL;
	return compile_patterns(c, st, true);
}

static int
remove_properties_check(struct compile *c, struct step *st)
{
	st->writes.flags |= ACCESS_PROPERTIES_ALL;
	return compile_patterns(c, st, true);
}

static enum step_rc
remove_headers_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct remove_many_conf *conf = st->conf;
	const struct pattern *const keep[] = { conf->keep };
	if (headers_remove_matching(&ex->headers, conf->remove, keep, conf->keep ? 1 : 0) > 0)
		ex->dirty |= DIRTY_HEADERS;
	return STEP_DONE;
}

static enum step_rc
remove_properties_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct remove_many_conf *conf = st->conf;
	for (size_t i = ex->properties.n; i-- > 0;) {
		struct str name = ex->properties.entries[i].key;
		if (pattern_match(conf->remove, name) &&
		    !(conf->keep && pattern_match(conf->keep, name)))
			exchange_set_property(ex, name, value_null());
	}
	return STEP_DONE;
}

static const struct option_desc one_options[] = {
	{ .name = "name",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_MAIN,
	    .offset = AT(name),
	    .help = "name to remove" },
	OPTIONS_END,
};

static const struct option_desc many_options[] = {
	{ .name = "pattern",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_MAIN,
	    .offset = AT_MANY(pattern),
	    .help = "names to remove: exact, with a \"*\" at the end, or a regular expression" },
	{ .name = "excludePattern",
	    .type = OPTION_STRING,
	    .offset = AT_MANY(exclude_pattern),
	    .help = "names to keep, written likewise" },
	OPTIONS_END,
};

const struct eip_desc removeHeader_eip = {
	.name = "removeHeader",
	.flags = EIP_PLAIN,
	.options = one_options,
	.conf_size = sizeof(struct remove_conf),
	.check = remove_header_check,
	.run = remove_header_run,
	.help = "removes a header",
};

const struct eip_desc removeHeaders_eip = {
	.name = "removeHeaders",
	.flags = EIP_PLAIN,
	.options = many_options,
	.conf_size = sizeof(struct remove_many_conf),
	.check = remove_headers_check,
	.run = remove_headers_run,
	.help = "removes the headers whose names match a pattern",
};

const struct eip_desc removeProperty_eip = {
	.name = "removeProperty",
	.flags = EIP_PLAIN,
	.options = one_options,
	.conf_size = sizeof(struct remove_conf),
	.check = remove_property_check,
	.run = remove_property_run,
	.help = "removes an exchange property",
};

const struct eip_desc removeProperties_eip = {
	.name = "removeProperties",
	.flags = EIP_PLAIN,
	.options = many_options,
	.conf_size = sizeof(struct remove_many_conf),
	.check = remove_properties_check,
	.run = remove_properties_run,
	.help = "removes the exchange properties whose names match a pattern",
};

const struct eip_desc removeVariable_eip = {
	.name = "removeVariable",
	.flags = EIP_PLAIN,
	.options = one_options,
	.conf_size = sizeof(struct remove_conf),
	.check = remove_variable_check,
	.run = remove_variable_run,
	.help = "removes a variable",
};
