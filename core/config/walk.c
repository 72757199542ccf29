/* Goes through the route files: roots, routes, and what only the whole of them shows. */
#include "core/config/compile_priv.h"

#include "core/base/mem.h"
#include "core/config/roots.h"

#include <stdlib.h>

/* ---- routes ---- */

static void
report_key(struct compile *c, const char *owner, const struct option_desc *options,
    const char *const *more, const struct node *key)
{
	if (refused_option(REFUSED_STEP, owner, key->text))
		compile_error_node(c, key, "option \"%s\" of %s is not implemented in this release",
		    key->text.p, owner);
	else
		compile_error_node(c, key, "unknown option \"%s\" of %s%s", key->text.p, owner,
		    option_did_you_mean(
			c->arena, option_nearest(c->arena, options, more, key->text)));
}

static void
set_option(struct compile *c, const struct option_desc *o, void *conf, const struct node *key,
    const struct node *value)
{
	PATH_KEY(c, key->text.p);
	(void)option_set_node(c, o, conf, value, NULL, NULL); /* an error is counted */
	PATH_END(c);
}

/* The steps of a from, the handlers before them apart. */
static void
parse_route_steps(
    struct compile *c, struct route *r, const struct node *from, const struct node *steps)
{
	size_t before = c->failures;

	c->route_handlers_n = 0;
	if (steps != NULL) {
		PATH_KEY(c, "steps");
		steps_parse(c, steps, STEPS_ROUTE, &r->block);
		PATH_END(c);
	}
	if (r->block.n == 0 && c->failures == before && (steps == NULL || steps->kind == NODE_LIST))
		compile_error_node(c, from,
		    "the route has no steps: expected some under \"from\", such as \"steps: [{to: "
		    "'log:a'}]\"");
}

/* The step that does variableReceive. */
static void
put_receive(struct compile *c, struct route *r, const char *variable, const struct node *from)
{
	const struct eip_desc *eip = eip_find(STR_LIT("fromReceive"));
	struct step *st = step_new(c, eip, node_at(c->file, from));

	OPTION_AT(st->conf, option_find(eip->options, STR_LIT("variable")), const char *) = variable;
	(void)eip->check(c, st); /* finds nothing wrong */
	st->next = r->block.first;
	r->block.first = st;
	r->block.n++;
}

static void
parse_from_map(struct compile *c, struct route *r, const struct node *from)
{
	static const char *const more[] = { "uri", "parameters", "steps", NULL };
	const struct node *uri = node_find(from, "uri");
	struct from_conf conf = { 0 };

	for (uint32_t i = 0; i < from->n; i++) {
		const struct node *key = node_key(from, i), *value = node_value(from, i);
		const struct option_desc *o = option_find(from_root.options, key->text);
		if (o != NULL)
			set_option(c, o, &conf, key, value);
		else if (!str_eq(key->text, STR_LIT("uri")) &&
		    !str_eq(key->text, STR_LIT("parameters")) &&
		    !str_eq(key->text, STR_LIT("steps")))
			report_key(c, "from", from_root.options, more, key);
	}
	if (uri == NULL) {
		compile_error_node(c, from, "missing option \"uri\" of from");
	} else {
		PATH_KEY(c, "uri");
		r->from = endpoint_parse(c, uri, node_find(from, "parameters"), true);
		PATH_END(c);
	}
	parse_route_steps(c, r, from, node_find(from, "steps"));
	if (conf.variable != NULL)
		put_receive(c, r, conf.variable, from);
}

static void
parse_from(struct compile *c, struct route *r, const struct node *from)
{
	PATH_KEY(c, "from");
	if (from->kind == NODE_MAP) {
		parse_from_map(c, r, from);
	} else if (from->kind == NODE_SCALAR && !node_is_null(from)) {
		r->from = endpoint_parse(c, from, NULL, true);
		parse_route_steps(c, r, from, NULL);
	} else {
		compile_error_node(c, from, "expected a map with \"uri\" and \"steps\", got %s",
		    node_kind_name(from));
	}
	PATH_END(c);
}

static struct route *
begin_route(struct compile *c, const struct node *key)
{
	struct program *p = c->program;
	struct route *r = ARENA_NEW(c->arena, struct route);

	compile_grow((void **)&p->routes, p->routes_n, &c->routes_cap, sizeof(*p->routes));
	r->at = node_at(c->file, key);
	r->index = p->routes_n;
	r->auto_startup = true;
	p->routes[p->routes_n++] = r;
	c->route = r;
	return r;
}

static void
end_route(struct compile *c, struct route *r)
{
	scope_apply(c, r);
	c->route = NULL;
}

static bool
is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (strcmp(name, *names) == 0)
			return true;
	}
	return false;
}

static void
parse_route_map(struct compile *c, struct route *r, const struct node *map)
{
	static const char *const more[] = { "from", NULL };
	struct route_conf *conf = ARENA_NEW(c->arena, struct route_conf);
	static const char *const only_false[] = { "trace", NULL };
	const struct node *from = node_find(map, "from");

	for (const struct option_desc *o = route_root.options; o->name != NULL; o++)
		option_set_default(c->arena, o, conf);
	for (uint32_t i = 0; i < map->n; i++) {
		const struct node *key = node_key(map, i), *value = node_value(map, i);
		const struct option_desc *o = option_find(route_root.options, key->text);
		if (str_eq(key->text, STR_LIT("from")) ||
		    str_eq(key->text, STR_LIT("errorHandler")) || (value->flags & NODE_ABSENT))
			continue;
		if (o != NULL && is_one_of(o->name, only_false) && node_is_true(value))
			compile_error_node(c, value,
			    "option \"%s: true\" of route is not implemented in this release",
			    o->name);
		else if (o != NULL)
			set_option(c, o, conf, key, value);
		else if (str_eq(key->text, STR_LIT("steps")))
			compile_error_node(c, key,
			    "unknown option \"steps\" of route: steps stand under \"from\", beside "
			    "its \"uri\"");
		else
			report_key(c, "route", route_root.options, more, key);
	}
	r->id = conf->id;
	r->description = conf->description;
	r->group = conf->group;
	r->auto_startup = conf->auto_startup;
	r->log_mask = conf->log_mask;
	r->conf = conf;
	r->prefix = conf->prefix;
	if (from != NULL)
		parse_from(c, r, from);
	else
		compile_error_node(c, map, "missing option \"from\" of route");
	c->route_configurations = conf->configurations;
	if (node_find(map, "errorHandler") != NULL)
		scope_parse_error_handler(c, node_find(map, "errorHandler"));
}

static void
parse_route(struct compile *c, const struct node *key, const struct node *value)
{
	if (value->kind != NODE_MAP) {
		compile_error_node(
		    c, value, "expected a map with \"from\", got %s", node_kind_name(value));
		return;
	}
	struct route *r = begin_route(c, key);
	c->route_handlers_n = 0;
	c->route_configurations = NULL;
	parse_route_map(c, r, value);
	end_route(c, r);
}

static void
parse_bare_from(struct compile *c, const struct node *key, const struct node *value)
{
	struct route *r = begin_route(c, key);

	c->path = c->path->up; /* "from", not "from.from" */
	c->route_handlers_n = 0;
	c->route_configurations = NULL;
	parse_from(c, r, value);
	end_route(c, r);
}

/* ---- roots ---- */

static void
parse_root_eip(struct compile *c, const struct eip_desc *eip, const struct node *key,
    const struct node *value, size_t routes_before)
{
	uint32_t n = (uint32_t)c->file_handlers_n;

	if (c->program->routes_n > routes_before) {
		compile_error_node(
		    c, key, "\"%s\" must be defined before the routes of the file", eip->name);
		return;
	}
	if (node_is_true(node_find(value, "disabled")))
		return;
	c->route = NULL;
	struct step *st = step_parse(c, eip, key, value);
	if (st == NULL)
		return;
	compile_grow((void **)&c->file_handlers, n, &c->file_handlers_cap, sizeof(struct step *));
	c->file_handlers[c->file_handlers_n++] = st;
}

static void
report_root(struct compile *c, const struct node *key)
{
	static const char *const roots[] = { "route", "from", "beans", "errorHandler", "intercept",
		"interceptFrom", "interceptSendToEndpoint", "onCompletion", "onException",
		"routeConfiguration", NULL };
	const char *other;

	if (refused_find(REFUSED_ROOT, key->text, &other)) {
		compile_error_node(c, key, "\"%s\" is not implemented in this release%s%s%s",
		    key->text.p, other ? "; the nearest is \"" : "", other ? other : "",
		    other ? "\"" : "");
		return;
	}
	if (eip_find(key->text) != NULL || refused_find(REFUSED_STEP, key->text, &other)) {
		compile_error_node(c, key,
		    "unknown node \"%s\" at the root of the file: it is a step, and stands under "
		    "\"steps\" of a route's \"from\"",
		    key->text.p);
		return;
	}
	compile_error_node(c, key,
	    "unknown node \"%s\" at the root of the file: expected \"route\", \"from\" or "
	    "\"onException\"%s",
	    key->text.p, option_did_you_mean(c->arena, str_nearest(key->text, roots)));
}

static void
walk_root(struct compile *c, const struct node *item, size_t routes_before)
{
	if (!steps_one_key(c, item, "an item of a route file"))
		return;
	const struct node *key = node_key(item, 0), *value = node_value(item, 0);
	const struct eip_desc *eip = eip_find(key->text);
	if (value->flags & NODE_ABSENT)
		return; /* its precondition does not hold */
	PATH_KEY(c, key->text.p);
	compile_set_at(c, key);
	if (str_eq(key->text, STR_LIT("route")))
		parse_route(c, key, value);
	else if (str_eq(key->text, STR_LIT("from")))
		parse_bare_from(c, key, value);
	else if (str_eq(key->text, STR_LIT("beans")) ||
	    str_eq(key->text, STR_LIT("routeConfiguration")))
		; /* read before (beans.c, scopes.c) */
	else if (eip != NULL && (eip->flags & EIP_ROOT))
		parse_root_eip(c, eip, key, value, routes_before);
	else
		report_root(c, key);
	PATH_END(c);
}

void
walk_document(struct compile *c, const struct document *doc)
{
	size_t routes_before = c->program->routes_n;

	if (doc->root == NULL)
		return; /* reported when it was read */
	c->file = doc->file;
	c->made = doc->made;
	if (doc->scope == 0)
		c->file_handlers_n = 0; /* else those of the document before it hold */
	if (doc->root->kind == NODE_LIST) {
		for (uint32_t i = 0; i < doc->root->n; i++)
			walk_root(c, &doc->root->items[i], routes_before);
	} else if (node_find(doc->root, "kind") != NULL && node_find(doc->root, "apiVersion") != NULL) {
		const struct node *kind = node_find(doc->root, "kind");
		compile_error_node(c, kind,
		    "resources of kind \"%s\" are not implemented in this release: expected a list of "
		    "routes, or a Kamelet",
		    kind->kind == NODE_SCALAR ? kind->text.p : "");
	} else if (doc->root->kind == NODE_MAP) {
		compile_error_node(c, doc->root,
		    "a route file is a list: write \"- %s:\" instead of \"%s:\"",
		    doc->root->n ? node_key(doc->root, 0)->text.p : "route",
		    doc->root->n ? node_key(doc->root, 0)->text.p : "route");
	} else {
		compile_error_node(c, doc->root,
		    "a route file is a list of \"route\", \"from\" and \"onException\", got %s",
		    node_kind_name(doc->root));
	}
	c->file = NULL;
	c->at = (struct position){ 0 };
}

/* ---- the whole ---- */

/* Given ids first, so that a generated one never takes theirs. */
static void
check_route_ids(struct compile *c, struct hash *ids)
{
	struct program *p = c->program;

	for (uint32_t i = 0; i < p->routes_n; i++) {
		struct route *r = p->routes[i], *first;
		if (r->id == NULL)
			continue;
		first = hash_find(ids, str_of(r->id));
		if (first != NULL)
			compile_error(c, r->at, "route id \"%s\" is given twice: first at %s:%u",
			    r->id, first->at.file, first->at.line);
		else
			(void)hash_put(ids, str_of(r->id), r);
	}
}

/* No two routes have the same one. */
static void
check_startup_orders(struct compile *c)
{
	struct program *p = c->program;
	struct hash orders;

	hash_init(&orders, false);
	for (uint32_t i = 0; i < p->routes_n; i++) {
		struct route *r = p->routes[i], *first;
		const struct route_conf *conf = r->conf;
		if (conf == NULL || conf->startup_order == 0)
			continue;
		const char *order =
		    arena_printf(c->arena, "%lld", (long long)conf->startup_order);
		first = hash_put(&orders, str_of(order), r);
		if (first != NULL)
			compile_error(c, r->at, "startupOrder %s is given twice: first at %s:%u",
			    order, first->at.file, first->at.line);
	}
	hash_fini(&orders);
}

static void
generate_route_ids(struct compile *c, struct hash *ids)
{
	struct program *p = c->program;
	unsigned counter = 0;

	for (uint32_t i = 0; i < p->routes_n; i++) {
		struct route *r = p->routes[i];
		while (r->id == NULL) {
			const char *id = arena_printf(c->arena, "route%u", ++counter);
			if (hash_find(ids, str_of(id)) == NULL)
				r->id = id;
		}
	}
}

/* With the nodePrefixId of its route. */
static const char *
prefixed(struct compile *c, const struct step *st, const char *id)
{
	const char *prefix = st->route != NULL ? st->route->prefix : NULL;

	return prefix == NULL ? id : arena_printf(c->arena, "%s%s", prefix, id);
}

static void
check_step_ids(struct compile *c, struct hash *ids)
{
	struct program *p = c->program;

	for (uint32_t i = 0; i < p->steps_n; i++) {
		struct step *st = p->steps[i], *first;
		if (st->id == NULL || st->hidden)
			continue;
		st->id = prefixed(c, st, st->id);
		first = hash_find(ids, str_of(st->id));
		if (first != NULL)
			compile_error(c, st->at,
			    "id \"%s\" is given twice: first at %s:%u; ids must be unique among "
			    "all routes",
			    st->id, first->at.file, first->at.line);
		else
			(void)hash_put(ids, str_of(st->id), st);
	}
}

/* "to1", "setBody2": counted by name. */
static void
generate_step_ids(struct compile *c, struct hash *ids)
{
	struct program *p = c->program;
	struct hash counters;

	hash_init(&counters, false);
	for (uint32_t i = 0; i < p->steps_n; i++) {
		struct step *st = p->steps[i];
		if (st->hidden) {
			st->id = st->parent->id; /* which came before */
			continue;
		}
		unsigned *counter = hash_find(&counters, str_of(st->eip->name));
		if (counter == NULL) {
			counter = ARENA_NEW(c->arena, unsigned);
			(void)hash_put(&counters, str_of(st->eip->name), counter);
		}
		while (st->id == NULL) {
			const char *id = prefixed(c, st,
			    arena_printf(c->arena, "%s%u", st->eip->name, ++*counter));
			if (hash_find(ids, str_of(id)) == NULL)
				st->id = id;
		}
	}
	hash_fini(&counters);
}

/* Have two comma-separated lists a word in common? */
static bool
have_common_word(struct str a, struct str b)
{
	struct str word, other;

	while (str_split(&a, ',', &word)) {
		struct str rest = b;
		while (str_split(&rest, ',', &other)) {
			if (str_caseeq(str_trim(word), str_trim(other)))
				return true;
		}
	}
	return false;
}

/* Two consumers of one base: do they take the same messages? */
static bool
is_same_consumer(const struct endpoint *a, const struct endpoint *b)
{
	for (const struct option_desc *o = a->component->options; o != NULL && o->name != NULL;
	     o++) {
		if (!(o->flags & OPTION_UNIQUE))
			continue;
		if (o->type == OPTION_BOOL && OPTION_AT(a->conf, o, bool) && OPTION_AT(b->conf, o, bool))
			return false;
		if (o->type != OPTION_STRING)
			continue;
		const char *x = OPTION_AT(a->conf, o, const char *),
			   *y = OPTION_AT(b->conf, o, const char *);
		if ((x == NULL) != (y == NULL) ||
		    (x != NULL && !have_common_word(str_of(x), str_of(y))))
			return false;
	}
	return true;
}

static void
check_consumers(struct compile *c)
{
	struct program *p = c->program;

	for (uint32_t i = 0; i < p->routes_n; i++) {
		struct route *r = p->routes[i];
		if (r->from == NULL)
			continue;
		struct str base = endpoint_base(r->from);
		struct route *first = hash_find(&c->consumers, base);
		if (first == NULL) {
			(void)hash_put(&c->consumers, base, r);
			continue;
		}
		for (uint32_t j = first->index;
		     (r->from->component->flags & COMPONENT_UNIQUE) && j < i; j++) {
			const struct route *other = p->routes[j];
			if (other->from == NULL || !str_eq(endpoint_base(other->from), base) ||
			    !is_same_consumer(other->from, r->from))
				continue;
			compile_error(c, r->from->at,
			    "multiple consumers for the same endpoint: \"%s\" is served by another "
			    "route already, at %s:%u",
			    r->from->key, other->from->at.file, other->from->at.line);
			break;
		}
	}
}

/* Producers of a component that runs a route in place (direct) get their route. */
static void
find_targets(struct compile *c)
{
	struct program *p = c->program;

	for (uint32_t i = 0; i < p->endpoints_n; i++) {
		struct endpoint *ep = p->endpoints[i];
		if (ep->consumer || ep->component->owner != NULL ||
		    !(ep->component->flags & COMPONENT_CONSUMER))
			continue;
		ep->target = hash_find(&c->consumers, endpoint_base(ep));
		if (ep->target == NULL && (ep->component->flags & COMPONENT_UNIQUE))
			compile_warning(c, ep->at,
			    "no route consumes \"%s\": sending to it will fail", ep->uri);
	}
}

void
walk_finish(struct compile *c)
{
	struct hash route_ids, step_ids;

	c->path = NULL;
	hash_init(&route_ids, false);
	hash_init(&step_ids, false);
	check_route_ids(c, &route_ids);
	check_startup_orders(c);
	generate_route_ids(c, &route_ids);
	check_step_ids(c, &step_ids);
	generate_step_ids(c, &step_ids);
	check_consumers(c);
	find_targets(c);
	hash_fini(&route_ids);
	hash_fini(&step_ids);
}
