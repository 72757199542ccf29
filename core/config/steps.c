/* Steps: a list of maps with one key each. What a step takes stands in its descriptor. */
#include "core/config/plan_priv.h"

#include "core/base/assert.h"

static const char *const common_names[] = { "id", "description", "note", "disabled", NULL };

static bool
is_one_of(struct str name, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (str_eq(name, str_of(*names)))
			return true;
	}
	return false;
}

/* ---- names ---- */

/* The EIP that takes `name` as a child: "choice" for "when". */
static const char *
parent_of(const char *name)
{
	size_t n;
	const struct eip_desc *const *all = eip_all(&n);

	for (size_t i = 0; i < n; i++) {
		if (all[i]->flags & EIP_NOT_A_STEP)
			continue;
		for (const struct option_desc *o = all[i]->options; o != NULL && o->name != NULL;
		     o++) {
			if ((o->type == OPTION_NODES || o->type == OPTION_NODE) &&
			    strcmp(o->values, name) == 0)
				return all[i]->name;
		}
	}
	return NULL;
}

static const char *
nearest_step(struct compile *c, struct str name)
{
	size_t n, count = 0;
	const struct eip_desc *const *all = eip_all(&n);
	const char **names = arena_alloc(c->arena, (n + 1) * sizeof(char *));

	for (size_t i = 0; i < n; i++) {
		if (!(all[i]->flags & (EIP_CHILD | EIP_NOT_A_STEP)))
			names[count++] = all[i]->name;
	}
	names[count] = NULL;
	return option_did_you_mean(c->arena, str_nearest(option_camel_case(c->arena, name), names));
}

/* ---- steps that this release does not have ---- */

/* A data format under marshal or unmarshal: its options are known too. */
static void
check_format(struct compile *c, const struct node *key, const struct node *value)
{
	for (uint32_t i = 0; value->kind == NODE_MAP && i < value->n; i++) {
		const struct node *option = node_key(value, i);
		if (!is_one_of(option->text, common_names) &&
		    !refused_option(REFUSED_DATAFORMAT, key->text.p, option->text))
			compile_error_node(c, option, "unknown option \"%s\" of data format %s",
			    option->text.p, key->text.p);
	}
}

/* Values that name something. */
static void
check_name(struct compile *c, const char *step, const struct node *key, const struct node *value)
{
	static const char *const beans[] = { "aggregationStrategy", "aggregationRepository",
		"idempotentRepository", "comparator", "ref", NULL };

	if (value->kind != NODE_SCALAR || node_is_null(value) || (value->flags & NODE_BAD))
		return;
	if (str_eq(key->text, STR_LIT("exceptionType")))
		(void)option_class(c, value); /* reports */
	else if (is_one_of(key->text, beans) && !bean_is_known(c, value->text) &&
	    !str_starts(value->text, "#class:"))
		compile_error_node(c, value,
		    "option \"%s\" of %s: there is no bean \"%s\"",
		    key->text.p, step, value->text.p);
}

/* What is in it can be wrong as well, and is to be said in the same go. */
static void
check_refused(struct compile *c, const struct node *key, const struct node *value)
{
	const char *other;
	struct block block;

	for (uint32_t i = 0; value->kind == NODE_MAP && i < value->n; i++) {
		const struct node *k = node_key(value, i), *v = node_value(value, i);
		PATH_KEY(c, k->text.p);
		if (str_eq(k->text, STR_LIT("steps")))
			steps_parse(c, v, STEPS_INNER, &block);
		else if (refused_find(REFUSED_DATAFORMAT, k->text, &other))
			check_format(c, k, v);
		check_name(c, key->text.p, k, v);
		PATH_END(c);
		if (is_one_of(k->text, common_names) || str_eq(k->text, STR_LIT("expression")) ||
		    str_eq(k->text, STR_LIT("parameters")) || str_eq(k->text, STR_LIT("uri")) ||
		    expression_is_language(c, k->text) ||
		    refused_find(REFUSED_DATAFORMAT, k->text, &other) ||
		    refused_find(REFUSED_STEP, k->text, &other) ||
		    refused_option(REFUSED_STEP, key->text.p, option_camel_case(c->arena, k->text)))
			continue;
		compile_error_node(c, k, "unknown option \"%s\" of %s", k->text.p, key->text.p);
	}
}

static void
report_step(struct compile *c, const struct node *key, const struct node *value)
{
	const char *other;

	if (!refused_find(REFUSED_STEP, key->text, &other)) {
		compile_error_node(
		    c, key, "unknown node \"%s\"%s", key->text.p, nearest_step(c, key->text));
		return;
	}
	compile_error_node(c, key, "step \"%s\" is not implemented in this release%s%s%s",
	    key->text.p, other ? "; the nearest is \"" : "", other ? other : "", other ? "\"" : "");
	check_refused(c, key, value);
}

/* ---- options ---- */

static int
unknown_option(struct compile *c, const struct eip_desc *eip, const struct node *key)
{
	struct str name = option_camel_case(c->arena, key->text);
	const char **more = arena_alloc(c->arena, 64 * sizeof(char *));
	const char *other;
	size_t n = 0, languages = 0;
	const struct language_desc *const *all = language_all(&languages);

	if (refused_option(REFUSED_STEP, eip->name, name))
		return compile_error_node(c, key,
		    "option \"%s\" of %s is not implemented in this release", key->text.p,
		    eip->name);
	if ((eip->flags & EIP_EXPRESSION) && refused_find(REFUSED_LANGUAGE, key->text, &other))
		return compile_error_node(c, key,
		    "language \"%s\" is not implemented in this release%s%s%s", key->text.p,
		    other ? "; the nearest is \"" : "", other ? other : "", other ? "\"" : "");
	for (const char *const *p = common_names; *p != NULL; p++)
		more[n++] = *p;
	for (size_t i = 0; (eip->flags & EIP_EXPRESSION) && i < languages && n < 60; i++)
		more[n++] = all[i]->name;
	if (eip->flags & EIP_EXPRESSION)
		more[n++] = "expression";
	if (eip->flags & EIP_STEPS)
		more[n++] = "steps";
	if (option_find(eip->options, STR_LIT("uri")) != NULL)
		more[n++] = "parameters";
	const struct format_desc *const *formats = format_all(&languages);
	for (size_t i = 0; (eip->flags & EIP_FORMAT) && i < languages && n < 60; i++)
		more[n++] = formats[i]->name;
	more[n] = NULL;
	return compile_error_node(c, key, "unknown option%s \"%s\" of %s%s",
	    eip->flags & EIP_EXPRESSION ? " or language" : "", key->text.p, eip->name,
	    option_did_you_mean(c->arena, option_nearest(c->arena, eip->options, more, name)));
}

/* Which language was the first, for the message about a second one. */
struct parsing {
	struct compile *c;
	struct step *st;
	const struct node *map;
	const struct node *language; /* its key, or NULL */
	const struct node *format;   /* of a data format, or NULL */
	int rc;
};

/* Does an option make the expression a predicate (doWhile)? */
static bool
asks_for_predicate(const struct parsing *ps)
{
	for (const struct option_desc *o = ps->st->eip->options; o != NULL && o->name != NULL;
	     o++) {
		if ((o->flags & OPTION_PREDICATES) && node_is_true(node_find(ps->map, o->name)))
			return true;
	}
	return false;
}

static void
parse_expression(
    struct compile *c, struct parsing *ps, const struct node *key, const struct node *value)
{
	bool predicate = (ps->st->eip->flags & EIP_PREDICATE) != 0 || asks_for_predicate(ps);

	if (ps->language != NULL) {
		ps->rc = compile_error_node(c, key,
		    "both \"%s\" and \"%s\" are given: %s takes one language", ps->language->text.p,
		    key->text.p, ps->st->eip->name);
		return;
	}
	ps->language = key;
	if (str_eq(key->text, STR_LIT("expression"))) {
		PATH_KEY(c, "expression");
		ps->st->expr = expression_parse_map(c, value, predicate);
		PATH_END(c);
	} else {
		ps->st->expr = expression_parse(c, key, value, predicate);
	}
	if (ps->st->expr == NULL)
		ps->rc = -1;
}

static void
parse_format(
    struct compile *c, struct parsing *ps, const struct node *key, const struct node *value)
{
	if (ps->format != NULL) {
		ps->rc = compile_error_node(c, key,
		    "both \"%s\" and \"%s\" are given: %s takes one data format",
		    ps->format->text.p, key->text.p, ps->st->eip->name);
		return;
	}
	ps->format = key;
	ps->st->format = format_parse(c, key, value);
	if (ps->st->format == NULL)
		ps->rc = -1;
}

static void
parse_common(
    struct compile *c, struct parsing *ps, const struct node *key, const struct node *value)
{
	if (value->kind != NODE_SCALAR) {
		ps->rc = compile_error_node(
		    c, value, "%s: expected text, got %s", key->text.p, node_kind_name(value));
		return;
	}
	if (str_eq(key->text, STR_LIT("id")) && !(value->flags & NODE_BAD))
		ps->st->id = value->text.p;
	else if (str_eq(key->text, STR_LIT("disabled")) &&
	    !str_caseeq(value->text, STR_LIT("false")) && !(value->flags & NODE_BAD))
		ps->rc = compile_error_node(
		    c, value, "disabled: expected true or false, got \"%s\"", value->text.p);
}

static void
parse_steps(struct compile *c, struct parsing *ps, const struct node *value)
{
	struct step *parent = c->parent;

	c->parent = ps->st;
	PATH_KEY(c, "steps");
	steps_parse(c, value, STEPS_INNER, &ps->st->block);
	PATH_END(c);
	c->parent = parent;
}

static void
parse_option(struct compile *c, struct parsing *ps, const struct option_desc *o,
    const struct node *key, const struct node *value)
{
	const struct node *parameters =
	    strcmp(o->name, "uri") == 0 ? node_find(ps->map, "parameters") : NULL;

	PATH_KEY(c, key->text.p);
	ps->rc |= option_set_node(c, o, ps->st->conf, value, ps->st, parameters);
	PATH_END(c);
	option_mark_given(ps->st->conf, ps->st->eip->options, o);
}

static void
parse_key(struct compile *c, struct parsing *ps, const struct node *key, const struct node *value)
{
	const struct eip_desc *eip = ps->st->eip;
	const struct option_desc *o = option_find(eip->options, key->text);

	if (o != NULL)
		parse_option(c, ps, o, key, value);
	else if (is_one_of(key->text, common_names))
		parse_common(c, ps, key, value);
	else if ((eip->flags & EIP_STEPS) && str_eq(key->text, STR_LIT("steps")))
		parse_steps(c, ps, value);
	else if (str_eq(key->text, STR_LIT("parameters")) &&
	    option_find(eip->options, STR_LIT("uri")) != NULL)
		return; /* with the uri */
	else if ((eip->flags & EIP_EXPRESSION) &&
	    (str_eq(key->text, STR_LIT("expression")) || expression_is_language(c, key->text)))
		parse_expression(c, ps, key, value);
	else if ((eip->flags & EIP_FORMAT) && format_is_name(c, key->text))
		parse_format(c, ps, key, value);
	else if (ps->language != NULL && language_find(option_camel_case(c->arena, key->text)) != NULL)
		parse_expression(c, ps, key, value);
	else
		ps->rc = unknown_option(c, eip, key);
}

/* The option that a scalar sets: `log: text`. */
static const struct option_desc *
main_option(const struct eip_desc *eip)
{
	for (const struct option_desc *o = eip->options; o != NULL && o->name != NULL; o++) {
		if (o->flags & OPTION_MAIN)
			return o;
	}
	return NULL;
}

static void
parse_scalar(struct compile *c, struct parsing *ps, const struct node *value)
{
	const struct eip_desc *eip = ps->st->eip;
	const struct option_desc *o = main_option(eip);

	if (node_is_null(value)) {
		ps->rc = compile_error_node(c, value,
		    "%s needs a value, if only an empty map: write \"%s: {}\"", eip->name,
		    eip->name);
	} else if (o != NULL) {
		ps->rc |= option_set_node(c, o, ps->st->conf, value, ps->st, NULL);
		option_mark_given(ps->st->conf, eip->options, o);
	} else {
		ps->rc = compile_error_node(c, value, "expected a map%s, got text",
		    eip->flags & EIP_EXPRESSION ? " with a language, such as {constant: text}"
						: "");
	}
}

/* ---- a step ---- */

struct step *
step_new(struct compile *c, const struct eip_desc *eip, struct position at)
{
	struct program *p = c->program;
	struct step *st = ARENA_NEW(c->arena, struct step);

	compile_grow((void **)&p->steps, p->steps_n, &c->steps_cap, sizeof(*p->steps));
	st->eip = eip;
	st->route = c->route;
	st->parent = c->parent;
	st->at = at;
	st->index = p->steps_n;
	st->conf = option_new_conf(c->arena, eip->conf_size);
	p->steps[p->steps_n++] = st;
	for (const struct option_desc *o = eip->options; o != NULL && o->name != NULL; o++) {
		if (!(o->flags & OPTION_TEMPLATE))
			option_set_default(c->arena, o, st->conf);
	}
	return st;
}

/* A default that is a template becomes an expression as a given one would. */
static int
default_template(struct compile *c, struct step *st, const struct option_desc *o)
{
	struct node value = { .kind = NODE_SCALAR,
		.flags = NODE_QUOTED,
		.line = st->at.line,
		.column = st->at.column,
		.text = str_of(o->dflt) };

	return option_set_node(c, o, st->conf, &value, st, NULL);
}

static void
check_missing(struct compile *c, struct parsing *ps)
{
	struct step *st = ps->st;
	const struct eip_desc *eip = st->eip;

	for (const struct option_desc *o = eip->options; o != NULL && o->name != NULL; o++) {
		if (option_given(eip->options, st->conf, o->name))
			continue;
		if (o->flags & OPTION_REQUIRED)
			ps->rc =
			    compile_error(c, st->at, "missing option \"%s\" of %s: expected %s",
				o->name, eip->name, option_expected(c->arena, o));
		else if ((o->flags & OPTION_TEMPLATE) && o->dflt != NULL)
			ps->rc |= default_template(c, st, o);
	}
	if ((eip->flags & EIP_EXPRESSION) && !(eip->flags & EIP_EXPRESSION_OPTIONAL) &&
	    ps->language == NULL && ps->rc == 0)
		ps->rc = compile_error(c, st->at,
		    "%s needs an expression: one language, such as {simple: \"${body}\"}",
		    eip->name);
	if ((eip->flags & EIP_FORMAT) && ps->format == NULL && ps->rc == 0)
		ps->rc = compile_error(
		    c, st->at, "%s needs a data format, such as {json: {}}", eip->name);
}

/* What its own expressions read, for the check. */
static void
merge_reads(void *arg, struct expression *e)
{
	struct parsing *ps = arg;

	access_merge(ps->c, &ps->st->reads, &e->reads);
}

/* One that is a missing {{?name}} is there all the same: its text is empty. */
static bool
is_expression(struct compile *c, const struct eip_desc *eip, const struct node *key)
{
	return (eip->flags & EIP_EXPRESSION) && option_find(eip->options, key->text) == NULL &&
	    expression_is_language(c, key->text);
}

struct step *
step_parse(
    struct compile *c, const struct eip_desc *eip, const struct node *key, const struct node *value)
{
	struct parsing ps = { .c = c, .st = step_new(c, eip, node_at(c->file, key)), .map = value };
	struct position before = c->at;
	size_t failures = c->failures;

	compile_set_at(c, key);
	if (value->kind == NODE_SCALAR) {
		parse_scalar(c, &ps, value);
	} else if (value->kind == NODE_LIST) {
		ps.rc = compile_error_node(c, value, "expected a map, got a list");
	} else {
		for (uint32_t i = 0; i < value->n; i++) {
			if (!(node_value(value, i)->flags & NODE_ABSENT) ||
			    is_expression(c, eip, node_key(value, i)))
				parse_key(c, &ps, node_key(value, i), node_value(value, i));
		}
	}
	if (value->kind == NODE_MAP)
		check_missing(c, &ps);
	compile_set_at(c, key);
	if (ps.rc == 0)
		plan_each_expression(ps.st, merge_reads, &ps);
	if (c->failures > failures && ps.st->block.first == NULL)
		ps.rc = -1; /* all that was in it is wrong: no word of its being empty */
	if (ps.rc == 0 && eip->check != NULL && eip->check(c, ps.st) != 0)
		ps.rc = -1;
	c->at = before;
	if (ps.rc != 0)
		c->failures++;
	return ps.rc == 0 ? ps.st : NULL;
}

struct step *
compile_send(struct compile *c, struct step *parent, struct endpoint *ep, const char *uri)
{
	const struct eip_desc *eip = eip_find(ep != NULL ? STR_LIT("to") : STR_LIT("toD"));
	struct node value = { .kind = NODE_SCALAR,
		.flags = NODE_QUOTED,
		.line = parent->at.line,
		.column = parent->at.column,
		.text = str_of(uri) };
	struct step *before = c->parent, *st;

	c->parent = parent;
	if (ep == NULL) {
		st = step_parse(c, eip, &value, &value);
	} else {
		st = step_new(c, eip, parent->at);
		st->endpoint = ep;
		OPTION_AT(st->conf, option_find(eip->options, STR_LIT("uri")), struct endpoint *) =
		    ep;
		if (eip->check(c, st) != 0)
			st = NULL;
	}
	if (st != NULL)
		st->hidden = true;
	c->parent = before;
	return st;
}

struct step *
compile_hidden(struct compile *c, struct step *st, const struct eip_desc *eip)
{
	struct step *hidden = step_new(c, eip, st->at);

	hidden->hidden = true;
	hidden->parent = st; /* whose id it has */
	return hidden;
}

/* ---- a list of steps ---- */

bool
steps_one_key(struct compile *c, const struct node *item, const char *what)
{
	struct buf names;

	if (item->kind == NODE_MAP && item->n == 1)
		return true;
	if (item->kind != NODE_MAP) {
		if (item->kind == NODE_SCALAR && !node_is_null(item))
			compile_error_node(c, item,
			    "%s is a map with one key, got \"%s\": write \"%s: {}\"", what,
			    item->text.p, item->text.p);
		else
			compile_error_node(c, item, "%s is a map with one key, got %s", what,
			    node_kind_name(item));
		return false;
	}
	buf_init(&names, 1000);
	for (uint32_t i = 0; i < item->n; i++)
		(void)buf_printf(&names, "%s%s", i > 0 ? ", " : "",
		    node_key(item, i)->text.p); /* a long list is cut */
	compile_error_node(c, item,
	    "%s is a map with one key, got %u: [%.*s]; is there an indent problem?", what, item->n,
	    (int)names.n, names.p ? names.p : "");
	buf_fini(&names);
	return false;
}

/* May this EIP stand here? */
static bool
check_place(struct compile *c, const struct eip_desc *eip, const struct node *key, bool head)
{
	if (eip->flags & (EIP_CHILD | EIP_NOT_A_STEP)) {
		const char *parent = parent_of(eip->name);
		compile_error_node(c, key, "\"%s\" is no step%s%s", eip->name,
		    parent ? ": it stands in " : "", parent ? parent : "");
		return false;
	}
	if ((eip->flags & EIP_ROOT) && !(eip->flags & EIP_ROUTE_HEAD)) {
		compile_error_node(c, key,
		    "\"%s\" is no step: it stands at the root of the file before its routes, in "
		    "a route or in a routeConfiguration",
		    eip->name);
		return false;
	}
	/* Camel takes an onException anywhere in the list of a route */
	if ((eip->flags & (EIP_ROOT | EIP_ROUTE_HEAD)) && !head &&
	    (eip->scope != SCOPE_EXCEPTION || c->parent != NULL)) {
		compile_error_node(c, key,
		    "\"%s\" must stand before the other steps of a route, or at the root of the "
		    "file before its routes",
		    eip->name);
		return false;
	}
	return true;
}

static void
add_handler(struct compile *c, struct step *st)
{
	uint32_t n = (uint32_t)c->route_handlers_n;

	compile_grow((void **)&c->route_handlers, n, &c->route_handlers_cap, sizeof(struct step *));
	c->route_handlers[c->route_handlers_n++] = st;
}

/* One item. *head: no other step has come before it. */
static struct step *
parse_item(struct compile *c, const struct node *item, bool *head)
{
	if (!steps_one_key(c, item, "a step")) {
		c->failures++;
		return NULL;
	}
	const struct node *key = node_key(item, 0), *value = node_value(item, 0);
	if (node_is_true(node_find(value, "disabled")))
		return NULL;
	const struct eip_desc *eip = eip_find(key->text);
	struct step *st = NULL;
	PATH_KEY(c, key->text.p);
	if (eip == NULL)
		report_step(c, key, value);
	else if (check_place(c, eip, key, *head))
		st = step_parse(c, eip, key, value);
	if (st == NULL)
		c->failures++;
	PATH_END(c);
	if (eip == NULL || !(eip->flags & EIP_ROUTE_HEAD)) {
		*head = false;
	} else if (st != NULL) {
		add_handler(c, st);
		return NULL;
	}
	return st;
}

/* The step, and the hidden ones that belong to it. */
static void
append(struct block *out, struct step **last, struct step *st, bool hidden)
{
	struct step *all[] = { hidden ? st->lead : NULL, st, hidden ? st->trail : NULL };

	if (hidden)
		st->lead = st->trail = NULL;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (all[i] == NULL)
			continue;
		if (*last == NULL)
			out->first = all[i];
		else
			(*last)->next = all[i];
		*last = all[i];
		out->n++;
	}
}

void
steps_parse(struct compile *c, const struct node *list, enum steps_place place, struct block *out)
{
	bool head = place == STEPS_ROUTE;
	struct step *last = NULL;

	*out = (struct block){ 0 };
	if (list->kind != NODE_LIST) {
		compile_error_node(
		    c, list, "expected a list of steps, got %s", node_kind_name(list));
		return;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		PATH_INDEX(c, i);
		struct step *st = parse_item(c, &list->items[i], &head);
		PATH_END(c);
		if (st != NULL)
			append(out, &last, st, place != STEPS_BRANCHES);
	}
}
