/*
 * What stands outside of routes and holds for them: onException, errorHandler, interceptors and
 * onCompletion at the root of a file (for the routes of that file), in a routeConfiguration (for
 * those that name it, and without an id for those that name none), at the head of a route.
 */
#include "core/config/compile_priv.h"

#include "core/config/roots.h"

struct configuration {
	struct configuration *older;
	const char *id;
	struct step **steps;
	size_t n, cap;
};

/* ---- routeConfiguration ---- */

static void
add_step(struct compile *c, struct configuration *k, struct step *st)
{
	if (st == NULL)
		return;
	if (k->n == k->cap) {
		size_t cap = k->cap ? 2 * k->cap : 4;
		struct step **steps = arena_alloc(c->arena, cap * sizeof(struct step *));
		if (k->n > 0)
			memcpy(steps, k->steps, k->n * sizeof(struct step *));
		k->steps = steps;
		k->cap = cap;
	}
	k->steps[k->n++] = st;
}

/* {onException: …} */
static void
parse_item(
    struct compile *c, struct configuration *k, const struct eip_desc *eip, const struct node *item)
{
	if (!steps_one_key(c, item, eip->name))
		return;
	const struct node *key = node_key(item, 0), *value = node_value(item, 0);
	if (!str_eq(key->text, str_of(eip->name)))
		compile_error_node(c, key, "expected \"%s\", got \"%s\"", eip->name, key->text.p);
	else if (!node_is_true(node_find(value, "disabled")))
		add_step(c, k, step_parse(c, eip, key, value));
}

static void
parse_list(
    struct compile *c, struct configuration *k, const struct eip_desc *eip, const struct node *list)
{
	if (list->kind != NODE_LIST) {
		compile_error_node(
		    c, list, "expected a list of {%s: …}, got %s", eip->name, node_kind_name(list));
		return;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		PATH_INDEX(c, i);
		parse_item(c, k, eip, &list->items[i]);
		PATH_END(c);
	}
}

static void
parse_key(struct compile *c, struct configuration *k, struct configuration_conf *conf,
    const struct node *key, const struct node *value)
{
	const struct option_desc *o = option_find(configuration_root.options, key->text);
	const struct eip_desc *eip = eip_find(key->text);

	if (o != NULL)
		(void)option_set_node(c, o, conf, value, NULL, NULL); /* an error is counted */
	else if (eip != NULL && eip->scope == SCOPE_ERROR_HANDLER)
		add_step(c, k, step_parse(c, eip, key, value));
	else if (eip != NULL && eip->scope != SCOPE_NONE)
		parse_list(c, k, eip, value);
	else if (refused_option(REFUSED_STEP, "routeConfiguration", key->text))
		compile_error_node(c, key,
		    "option \"%s\" of routeConfiguration is not implemented in this release",
		    key->text.p);
	else
		compile_error_node(
		    c, key, "unknown option \"%s\" of routeConfiguration", key->text.p);
}

static void
parse_configuration(struct compile *c, const struct node *key, const struct node *map)
{
	struct configuration *k = ARENA_NEW(c->arena, struct configuration);
	struct configuration_conf conf = { 0 };

	PATH_KEY(c, key->text.p);
	compile_set_at(c, key);
	if (map->kind != NODE_MAP)
		compile_error_node(c, map, "expected a map, got %s", node_kind_name(map));
	for (uint32_t i = 0; map->kind == NODE_MAP && i < map->n; i++) {
		struct path here = { c->path, node_key(map, i)->text.p, 0 };
		c->path = &here;
		parse_key(c, k, &conf, node_key(map, i), node_value(map, i));
		c->path = here.up;
	}
	k->id = conf.id;
	k->older = c->configurations;
	c->configurations = k;
	PATH_END(c);
}

void
scope_collect(struct compile *c, const struct document *doc)
{
	if (doc->root == NULL || doc->root->kind != NODE_LIST)
		return;
	c->file = doc->file;
	c->route = NULL;
	for (uint32_t i = 0; i < doc->root->n; i++) {
		const struct node *item = &doc->root->items[i];
		if (item->kind == NODE_MAP && item->n == 1 &&
		    !(node_value(item, 0)->flags & NODE_ABSENT) &&
		    str_eq(node_key(item, 0)->text, STR_LIT("routeConfiguration")))
			parse_configuration(c, node_key(item, 0), node_value(item, 0));
	}
	c->file = NULL;
	c->at = (struct position){ 0 };
}

void
scope_parse_error_handler(struct compile *c, const struct node *value)
{
	uint32_t n = (uint32_t)c->route_handlers_n;

	PATH_KEY(c, "errorHandler");
	struct step *st = step_parse(c, eip_find(STR_LIT("errorHandler")), value, value);
	PATH_END(c);
	if (st == NULL)
		return;
	compile_grow((void **)&c->route_handlers, n, &c->route_handlers_cap, sizeof(struct step *));
	c->route_handlers[c->route_handlers_n++] = st;
}

/* ---- what holds for a route ---- */

struct list {
	struct step **steps;
	size_t n;
};

/* Does the route name the configuration? "a, b*" does "a", "b" and "bc". */
static bool
names(const char *list, const char *id)
{
	struct str rest = str_of(list), item;

	while (str_split(&rest, ',', &item)) {
		item = str_trim(item);
		if (item.n > 0 && item.p[item.n - 1] == '*') {
			if (strncmp(id, item.p, item.n - 1) == 0)
				return true;
		} else if (str_eq(item, str_of(id))) {
			return true;
		}
	}
	return false;
}

static bool
holds(const struct configuration *k, const char *named)
{
	return named == NULL ? k->id == NULL : k->id != NULL && names(named, k->id);
}

/* Every id that a route names must be that of a configuration. */
static void
check_names(struct compile *c, const struct route *r)
{
	struct str rest = str_of(c->route_configurations), item;

	while (rest.n > 0 && str_split(&rest, ',', &item)) {
		const char *one = arena_strndup(c->arena, item.p, item.n);
		bool found = false;
		for (const struct configuration *k = c->configurations; k != NULL; k = k->older)
			found = found || (k->id != NULL && names(one, k->id));
		if (!found)
			compile_warning(c, r->at,
			    "routeConfigurationId: there is no routeConfiguration \"%.*s\"",
			    STR_FMT(str_trim(item)));
	}
}

/* The steps of one kind: the route's, the file's, those of the configurations in the order of the files.
 * Of a file a route of a template has nothing but the error handler. */
static const struct step **
pick(struct compile *c, const struct list *lists, size_t lists_n, enum scope_kind kind,
    uint32_t *n_out)
{
	size_t all = 0;

	for (size_t i = 0; i < lists_n; i++)
		all += lists[i].n;
	const struct step **steps = arena_alloc(c->arena, (all + 1) * sizeof(struct step *));
	*n_out = 0;
	for (size_t i = 0; i < lists_n; i++) {
		for (size_t k = 0; k < lists[i].n; k++) {
			if (lists[i].steps[k]->eip->scope == kind &&
			    (i != 1 || !c->made || kind == SCOPE_ERROR_HANDLER))
				steps[(*n_out)++] = lists[i].steps[k];
		}
	}
	return steps;
}

static void
set_error_handler(struct route *r, const struct step *st)
{
	for (const struct option_desc *o = st->eip->options; o->name != NULL; o++) {
		const struct step *child = OPTION_AT(st->conf, o, struct step *);
		if (o->type != OPTION_NODE || child == NULL)
			continue;
		r->no_error_handler = strcmp(o->name, "noErrorHandler") == 0;
		r->error_handler = r->no_error_handler ? NULL : child;
	}
}

/* What the onException of the route do not say of redelivery, its error handler does. */
static void
inherit_policies(struct compile *c, struct route *r)
{
	r->policies = arena_alloc(c->arena, (r->handlers_n + 1) * sizeof(r->policies[0]));
	for (uint32_t i = 0; i < r->handlers_n; i++)
		r->policies[i] = redelivery_inherit(c->arena, r->handlers[i], r->error_handler);
}

static size_t
find_in_order(struct compile *c, const char *named, struct list *out)
{
	size_t n = 0, count = 0;

	for (const struct configuration *k = c->configurations; k != NULL; k = k->older)
		n += holds(k, named);
	for (const struct configuration *k = c->configurations; k != NULL; k = k->older) {
		if (holds(k, named))
			out[n - ++count] = (struct list){ k->steps, k->n };
	}
	return n;
}

/* Those that hold for the route, in the order in which it names them; of one pattern in the order of
 * the files. Each once. */
static size_t
list_configurations(struct compile *c, struct list *out)
{
	struct str rest = str_of(c->route_configurations ? c->route_configurations : ""), item;
	size_t all = 0, n = 0;

	if (c->route_configurations == NULL)
		return find_in_order(c, NULL, out);
	for (const struct configuration *k = c->configurations; k != NULL; k = k->older)
		all++;
	struct list *some = arena_alloc(c->arena, (all + 1) * sizeof(struct list));
	while (str_split(&rest, ',', &item)) {
		size_t found = find_in_order(
		    c, arena_strndup(c->arena, item.p, item.n), some);
		for (size_t i = 0; i < found; i++) {
			size_t k = 0;
			while (k < n && out[k].steps != some[i].steps)
				k++;
			if (k == n)
				out[n++] = some[i];
		}
	}
	return n;
}

void
scope_apply(struct compile *c, struct route *r)
{
	size_t n = 2;
	uint32_t found;

	check_names(c, r);
	for (struct configuration *k = c->configurations; k != NULL; k = k->older)
		n++;
	struct list *lists = arena_zalloc(c->arena, n * sizeof(struct list));
	lists[0] = (struct list){ c->route_handlers, c->route_handlers_n };
	n = 2 + list_configurations(c, lists + 2);
	lists[1] = (struct list){ c->file_handlers, c->file_handlers_n };
	r->handlers = pick(c, lists, n, SCOPE_EXCEPTION, &r->handlers_n);
	r->interceptors = pick(c, lists, n, SCOPE_INTERCEPT_SEND, &r->interceptors_n);
	r->completions = pick(c, lists, 1, SCOPE_COMPLETION, &r->completions_n);
	if (r->completions_n == 0) /* a route's own take the place of all others */
		r->completions = pick(c, lists, n, SCOPE_COMPLETION, &r->completions_n);
	const struct step **steps = pick(c, lists, n, SCOPE_ERROR_HANDLER, &found);
	if (found > 0) /* the route's, else the last */
		set_error_handler(r, steps[0]->route == r ? steps[0] : steps[found - 1]);
	inherit_policies(c, r);
	uint32_t each_n, from_n;
	const struct step **each = pick(c, lists, n, SCOPE_INTERCEPT, &each_n);
	const struct step **from = pick(c, lists, n, SCOPE_INTERCEPT_FROM, &from_n);
	intercept_apply(c, r, each, each_n, from, from_n);
}
