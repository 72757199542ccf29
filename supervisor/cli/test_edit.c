/*
 * What a test file changes in the routes, before they are compiled: steps by their id, endpoints
 * that are sent to by pattern, the from of routes. A mock is a route of its own, which keeps the
 * message and then runs the steps of its answer; without an error handler, so that its failures are
 * those of the step that called it.
 */
#include "supervisor/cli/test_file.h"

#include "core/model/program.h"

#include <string.h>

#define MOCK_ROUTE "direct:hinny.test.mock."
#define ROUTE_ROUTE "direct:hinny.test.route."
#define CONFIGURATION "hinny.test"

struct editing {
	struct test_file *tf;
	struct bundle_edit *edit;
	struct arena *arena;
};

/* ---- nodes ---- */

static struct node
text_node(struct editing *ed, const char *text, const struct position *at)
{
	return (struct node){ .kind = NODE_SCALAR,
		.flags = NODE_QUOTED,
		.line = at->line,
		.column = at->column,
		.text = str_of(arena_strdup(ed->arena, text)) };
}

/* A map with n pairs, or a list with n items, to be filled. */
static struct node
new_node(struct editing *ed, enum node_kind kind, uint32_t n, const struct position *at)
{
	size_t children = kind == NODE_MAP ? 2 * (size_t)n : n;

	return (struct node){ .kind = (uint8_t)kind,
		.line = at->line,
		.column = at->column,
		.n = n,
		.items = arena_zalloc(ed->arena, (children + 1) * sizeof(struct node)) };
}

static void
set_pair(struct editing *ed, struct node *map, uint32_t i, const char *key, struct node value,
    const struct position *at)
{
	map->items[2 * i] = text_node(ed, key, at);
	map->items[2 * i + 1] = value;
}

static void
set_text(struct editing *ed, struct node *map, uint32_t i, const char *key, const char *text,
    const struct position *at)
{
	set_pair(ed, map, i, key, text_node(ed, text, at), at);
}

/* {key: value} */
static struct node
single(struct editing *ed, const char *key, struct node value, const struct position *at)
{
	struct node map = new_node(ed, NODE_MAP, 1, at);

	set_pair(ed, &map, 0, key, value, at);
	return map;
}

/* ---- what stands for an endpoint or a step ---- */

static const char *
stand_in(struct editing *ed, const struct test_replace *rp)
{
	return rp->with != NULL ? rp->with : arena_printf(ed->arena, MOCK_ROUTE "%s", rp->mock);
}

/* Everything of the step but its id goes. */
static void
replace_step(struct editing *ed, struct node *item, struct test_replace *rp)
{
	struct position at = { rp->at.file, item->line, item->column };
	struct node to = new_node(ed, NODE_MAP, 2, &at);

	set_text(ed, &to, 0, "id", rp->step, &at);
	set_text(ed, &to, 1, "uri", stand_in(ed, rp), &at);
	*item = single(ed, "to", to, &at);
	rp->used = true;
}

static bool
has_id(const struct node *map, const char *id)
{
	const struct node *v = node_find(map, "id");

	return v != NULL && v->kind == NODE_SCALAR && str_eq(v->text, str_of(id));
}

/* All lists of steps, wherever they are: an item is a map with one key. */
static void
replace_steps(struct editing *ed, struct node *n)
{
	size_t children = n->kind == NODE_MAP ? 2 * (size_t)n->n : n->kind == NODE_LIST ? n->n : 0;

	for (size_t i = 0; i < children; i++) {
		struct node *child = &n->items[i];
		bool step = n->kind == NODE_LIST && child->kind == NODE_MAP && child->n == 1;
		struct test_replace *rp = step ? ed->tf->replaces : NULL;
		while (rp != NULL && (rp->step == NULL || !has_id(node_value(child, 0), rp->step)))
			rp = rp->next;
		if (rp != NULL)
			replace_step(ed, child, rp);
		else
			replace_steps(ed, child);
	}
}

/* ---- routes ---- */

/* The from of the route with this id; NULL when this item of a file is none. A from at the root may
 * have the id itself. */
static struct node *
from_of(struct node *item, const char *id)
{
	struct node *route = node_find(item, "route"), *from = node_find(item, "from");

	if (route != NULL && has_id(route, id))
		return node_find(route, "from");
	return from != NULL && has_id(from, id) ? from : NULL;
}

static struct node *
find_from(struct editing *ed, const char *id)
{
	for (size_t i = 0; i < ed->edit->documents_n; i++) {
		struct node *root = ed->edit->documents[i].root;
		for (uint32_t k = 0; root != NULL && root->kind == NODE_LIST && k < root->n; k++) {
			struct node *from = from_of(&root->items[k], id);
			if (from != NULL && from->kind == NODE_MAP)
				return from;
		}
	}
	return NULL;
}

/* The options of the old uri go with it. */
static void
set_from(struct editing *ed, struct node *from, const char *uri)
{
	struct node *at = node_find(from, "uri"), *parameters = node_find(from, "parameters");

	if (at != NULL)
		at->text = str_of(arena_strdup(ed->arena, uri));
	if (at != NULL)
		at->flags |= NODE_QUOTED;
	if (parameters != NULL)
		*parameters = (struct node){ .kind = NODE_MAP };
}

static void
replace_from(struct editing *ed, struct test_replace *rp)
{
	struct node *from = find_from(ed, rp->route);

	rp->used = from != NULL;
	if (from != NULL)
		set_from(ed, from, rp->from);
}

/* Where a message for a route goes: to its queue or direct name, else in place of its source. */
static void
find_endpoint(struct editing *ed, struct test_send *s)
{
	struct node *from = s->route != NULL ? find_from(ed, s->route) : NULL;
	const struct node *uri = from != NULL ? node_find(from, "uri") : NULL;

	if (s->route == NULL) {
		s->endpoint = s->to;
		return;
	}
	if (uri == NULL || uri->kind != NODE_SCALAR) {
		diagnostics_add(
		    ed->edit->ds, s->at, false, "send: there is no route \"%s\"", s->route);
		return;
	}
	if (!str_starts(uri->text, "direct:") && !str_starts(uri->text, "seda:"))
		set_from(ed, from, arena_printf(ed->arena, ROUTE_ROUTE "%s", s->route));
	struct str name = uri->text, base;
	(void)str_split(&name, '?', &base);
	s->endpoint = arena_strndup(&ed->tf->arena, base.p, base.n);
}

/* ---- mocks ---- */

/* {route: {routeConfigurationId: …, from: {uri: direct:…, steps: [{to: mock:NAME}, …]}}} */
static struct node
mock_route(struct editing *ed, const struct test_replace *rp)
{
	const struct position *at = &rp->at;
	uint32_t more = rp->steps != NULL ? rp->steps->n : 0;
	struct node steps = new_node(ed, NODE_LIST, more + 1, at);
	struct node from = new_node(ed, NODE_MAP, 2, at), route = new_node(ed, NODE_MAP, 3, at);

	steps.items[0] = single(
	    ed, "to", text_node(ed, arena_printf(ed->arena, "mock:%s", rp->mock), at), at);
	if (more > 0)
		memcpy(&steps.items[1], rp->steps->items, more * sizeof(struct node));
	set_text(ed, &from, 0, "uri", stand_in(ed, rp), at);
	set_pair(ed, &from, 1, "steps", steps, at);
	set_text(ed, &route, 0, "id", arena_printf(ed->arena, "mock %s", rp->mock), at);
	set_text(ed, &route, 1, "routeConfigurationId", CONFIGURATION, at);
	set_pair(ed, &route, 2, "from", from, at);
	return single(ed, "route", route, at);
}

/* Several may name one mock: the first that has steps says what it answers. */
static bool
is_route_of_mock(const struct test_file *tf, const struct test_replace *rp)
{
	const struct test_replace *chosen = NULL;

	if (rp->mock == NULL)
		return false;
	for (const struct test_replace *o = tf->replaces; o != NULL; o = o->next) {
		if (o->mock == NULL || strcmp(o->mock, rp->mock) != 0)
			continue;
		if (chosen == NULL || (chosen->steps == NULL && o->steps != NULL))
			chosen = o;
	}
	return chosen == rp;
}

/* The file of the mocks: no error handler, none of the configurations that are for all routes. */
static void
add_mocks(struct editing *ed)
{
	static const struct position at = { 0 };
	struct node handler = new_node(ed, NODE_MAP, 1, &at), name = new_node(ed, NODE_MAP, 1, &at);
	uint32_t n = 2;

	for (const struct test_replace *rp = ed->tf->replaces; rp != NULL; rp = rp->next)
		n += is_route_of_mock(ed->tf, rp);
	if (n == 2)
		return;
	struct node *root = arena_zalloc(ed->arena, sizeof(*root));
	*root = new_node(ed, NODE_LIST, n, &at);
	set_pair(ed, &handler, 0, "noErrorHandler", new_node(ed, NODE_MAP, 0, &at), &at);
	set_text(ed, &name, 0, "id", CONFIGURATION, &at);
	root->items[0] = single(ed, "errorHandler", handler, &at);
	root->items[1] = single(ed, "routeConfiguration", name, &at);
	n = 2;
	for (const struct test_replace *rp = ed->tf->replaces; rp != NULL; rp = rp->next) {
		if (is_route_of_mock(ed->tf, rp))
			root->items[n++] = mock_route(ed, rp);
	}
	ed->edit->added = (struct document){ .file = ed->tf->file, .root = root };
}

/* ---- all of it ---- */

static void
add_pair(struct editing *ed, const char *pattern, const char *uri)
{
	struct pairs *ps = ed->edit->replaced;
	struct pair *items = arena_alloc(ed->arena, (ps->n + 1) * sizeof(struct pair));

	if (ps->n > 0)
		memcpy(items, ps->items, ps->n * sizeof(struct pair));
	items[ps->n] = (struct pair){ arena_strdup(ed->arena, pattern), arena_strdup(ed->arena, uri) };
	*ps = (struct pairs){ items, ps->n + 1 };
}

void
test_edit(void *arg, struct bundle_edit *edit)
{
	struct test_file *tf = arg;
	struct editing ed = { tf, edit, edit->arena };

	for (struct test_replace *rp = tf->replaces; rp != NULL; rp = rp->next) {
		if (rp->uri != NULL)
			add_pair(&ed, rp->uri, stand_in(&ed, rp));
		else if (rp->route != NULL)
			replace_from(&ed, rp);
		else if (rp->mock != NULL)
			add_pair(&ed, "", stand_in(&ed, rp)); /* no endpoint: its route is a stand-in all the same */
	}
	for (size_t i = 0; i < edit->documents_n; i++) {
		if (edit->documents[i].root != NULL)
			replace_steps(&ed, edit->documents[i].root);
	}
	for (struct test_case *tc = tf->cases; tc != NULL; tc = tc->next) {
		for (struct test_send *s = tc->sends; s != NULL; s = s->next)
			find_endpoint(&ed, s);
	}
	for (struct test_replace *rp = tf->replaces; rp != NULL; rp = rp->next) {
		if (rp->uri == NULL && !rp->used)
			diagnostics_add(edit->ds, rp->at, false, "replace: there is no %s \"%s\"",
			    rp->step != NULL ? "step" : "route", rp->step != NULL ? rp->step : rp->route);
	}
	add_mocks(&ed);
}
