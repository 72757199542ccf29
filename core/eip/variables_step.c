/*
 * Shared variables in variableSend and variableReceive: the step works on a variable of the exchange
 * with the same name, wherever it runs. A hidden step in front of it brings the value there, and
 * one behind it takes what was received to the owner.
 */
#include "core/eip/eip_names.h"

#include "core/config/compile.h"
#include "core/eip/engine.h"
#include "core/eip/variables.h"

struct shared_conf {
	const char *load, *drop, *store;
};

/* ---- running ---- */

/* The value, and those of the headers that came with it: header:global:x.NAME becomes
 * global:header:x.NAME. */
static struct value
gather(struct exchange *ex, struct str name)
{
	struct arena *a = &ex->arena;
	const struct value *v = exchange_variable(ex, name);
	struct str prefix = str_of(arena_printf(a, "header:%.*s.", STR_FMT(name)));
	struct value pairs = value_new_list(a, 2);
	struct str rest = name, scope;
	(void)str_split(&rest, ':', &scope);
	value_list_add(a, pairs.u.list, value_str(name));
	value_list_add(a, pairs.u.list, v ? *v : value_null());
	for (size_t i = 0; i < ex->variables.n; i++) {
		const struct value_entry *e = &ex->variables.entries[i];
		if (e->key.n <= prefix.n || memcmp(e->key.p, prefix.p, prefix.n) != 0)
			continue;
		const char *as = arena_printf(a, "%.*s:header:%.*s.%.*s", STR_FMT(scope),
		    STR_FMT(rest), (int)(e->key.n - prefix.n), e->key.p + prefix.n);
		value_list_add(a, pairs.u.list, value_str(str_of(as)));
		value_list_add(a, pairs.u.list, *e->value);
	}
	return pairs;
}

static void
forget(struct exchange *ex, struct str name)
{
	struct str prefix = str_of(arena_printf(&ex->arena, "header:%.*s.", STR_FMT(name)));
	exchange_set_variable(ex, name, value_null());
	for (size_t i = ex->variables.n; i-- > 0;) {
		struct str key = ex->variables.entries[i].key;
		if (key.n > prefix.n && memcmp(key.p, prefix.p, prefix.n) == 0)
			exchange_set_variable(ex, key, value_null());
	}
}

static enum step_rc
shared_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	const struct shared_conf *conf = st->conf;
	struct value v = value_null(), none;
	enum eval_rc rc = EVAL_OK;
	(void)en;
	if (conf->load) {
		rc = variables_get(ex, str_of(conf->load), &v);
	} else if (conf->store) {
		v = gather(ex, str_of(conf->store));
		rc = variables_ask(ex, VARIABLES_SET, &v, &none);
	}
	if (rc != EVAL_OK)
		return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	if (conf->load)
		exchange_set_variable(ex, str_of(conf->load), v);
	if (conf->store)
		forget(ex, str_of(conf->store));
	if (conf->drop)
		exchange_set_variable(ex, str_of(conf->drop), value_null());
	return STEP_DONE;
}

static const struct option_desc no_options[] = { OPTIONS_END };

static const struct eip_desc shared_eip = {
	.name = "sharedVariable",
	.options = no_options,
	.conf_size = sizeof(struct shared_conf),
	.run = shared_run,
	.help = "brings shared variables to a step and back",
};

/* ---- at load ---- */

static struct shared_conf *
hidden(struct compile *c, struct step *st, struct step **at)
{
	if (*at == NULL)
		*at = compile_hidden(c, st, &shared_eip);
	(*at)->reads.flags |= ACCESS_VARIABLES_ALL | ACCESS_STATE;
	(*at)->writes.flags |= ACCESS_VARIABLES_ALL | ACCESS_STATE;
	return (*at)->conf;
}

int
names_send_variable(struct compile *c, struct step *st, const char *name)
{
	if (name == NULL || !variables_is_shared(str_of(name)))
		return 0;
	if (variables_check(c, st->at, "variableSend", str_of(name)) != 0)
		return -1;
	variables_use(c);
	hidden(c, st, &st->lead)->load = name;
	hidden(c, st, &st->trail)->drop = name;
	return 0;
}

int
names_receive_variable(struct compile *c, struct step *st, const char *name)
{
	if (name == NULL || !variables_is_shared(str_of(name)))
		return 0;
	if (variables_check(c, st->at, "variableReceive", str_of(name)) != 0)
		return -1;
	variables_use(c);
	hidden(c, st, &st->trail)->store = name;
	return 0;
}

int
names_use_variable(struct compile *c, struct step *st, const char *option, const char *name)
{
	if (name == NULL || !variables_is_shared(str_of(name)))
		return 0;
	st->reads.flags |= ACCESS_STATE;
	st->writes.flags |= ACCESS_STATE;
	variables_use(c);
	return variables_check(c, st->at, option, str_of(name));
}
