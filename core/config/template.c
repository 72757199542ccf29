/* What a routeTemplate or a Kamelet says, as one structure. The steps in it are left alone: they
 * are compiled when a route was made of them. */
#include "core/config/template.h"

#include "core/base/assert.h"
#include "core/config/config.h"
#include "core/config/option.h"

/* One that is being read. */
struct reading {
	struct arena *arena;
	struct diagnostics *ds;
	struct template *t;
};

static void __attribute__((format(printf, 3, 4)))
wrong(struct reading *r, const struct node *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *text = arena_vprintf(r->arena, fmt, ap);
	va_end(ap);
	diagnostics_add(r->ds, node_at(r->t->file, at), false, "%s: %s",
	    r->t->kamelet ? "kamelet" : "routeTemplate", text);
	r->t->wrong = true;
}

/* A scalar's text; NULL: there is none. */
static const char *
text_of(struct reading *r, const struct node *map, const char *key)
{
	const struct node *n = node_find(map, key);

	if (n == NULL || node_is_null(n))
		return NULL;
	if (n->kind == NODE_SCALAR)
		return n->text.p;
	wrong(r, n, "%s: expected text, got %s", key, node_kind_name(n));
	return NULL;
}

/* "a|b|c" names all keys that may stand in the map. */
static void
check_keys(struct reading *r, const struct node *map, const char *what, const char *const *known)
{
	for (uint32_t i = 0; i < map->n; i++) {
		const struct node *key = node_key(map, i);
		bool found = false;
		for (const char *const *k = known; *k != NULL; k++)
			found = found || str_eq(key->text, str_of(*k));
		if (!found)
			wrong(r, key, "unknown option \"%s\" of %s%s", key->text.p, what,
			    option_did_you_mean(r->arena, str_nearest(key->text, known)));
	}
}

static struct template_parameter *
add_parameter(struct reading *r, size_t room)
{
	struct template *t = r->t;

	if (t->parameters == NULL)
		t->parameters = arena_zalloc(r->arena, room * sizeof(struct template_parameter));
	return &t->parameters[t->parameters_n++];
}

/* ---- routeTemplate ---- */

static void
read_parameter(struct reading *r, const struct node *item, size_t room)
{
	static const char *const known[] = { "name", "defaultValue", "required", "description",
		NULL };

	if (item->kind != NODE_MAP) {
		wrong(r, item, "parameters: expected a map with \"name\", got %s",
		    node_kind_name(item));
		return;
	}
	check_keys(r, item, "a parameter", known);
	const char *name = text_of(r, item, "name"), *required = text_of(r, item, "required");
	if (name == NULL) {
		wrong(r, item, "parameters: a parameter needs a \"name\"");
		return;
	}
	if (template_parameter(r->t, str_of(name)) != NULL)
		wrong(r, item, "parameters: \"%s\" is given twice", name);
	if (required != NULL && !str_caseeq(str_of(required), STR_LIT("true")) &&
	    !str_caseeq(str_of(required), STR_LIT("false")))
		wrong(r, node_find(item, "required"),
		    "required: expected true or false, got \"%s\"", required);
	struct template_parameter *p = add_parameter(r, room);
	p->name = name;
	p->dflt = text_of(r, item, "defaultValue");
	p->required =
	    p->dflt == NULL && (required == NULL || str_caseeq(str_of(required), STR_LIT("true")));
}

static void
read_parameters(struct reading *r, const struct node *list)
{
	if (list == NULL || node_is_null(list))
		return;
	if (list->kind != NODE_LIST) {
		wrong(r, list, "parameters: expected a list, got %s", node_kind_name(list));
		return;
	}
	for (uint32_t i = 0; i < list->n; i++)
		read_parameter(r, &list->items[i], list->n);
}

/* `from`, or `route` with one, and beans. */
static void
read_body(struct reading *r, const struct node *map)
{
	struct template *t = r->t;
	const struct node *route = node_find(map, "route"), *from = node_find(map, "from");

	t->beans = node_find(map, "beans");
	if (route != NULL && from != NULL)
		wrong(r, map, "both \"route\" and \"from\" are given: expected one of them");
	else if (route != NULL && route->kind != NODE_MAP)
		wrong(
		    r, route, "route: expected a map with \"from\", got %s", node_kind_name(route));
	else if (route != NULL && (from = node_find(route, "from")) == NULL)
		wrong(r, route, "missing option \"from\" of route");
	else if (from == NULL)
		wrong(r, map, "missing option \"from\": expected it, or \"route\"");
	if (t->beans != NULL && t->beans->kind != NODE_LIST) {
		wrong(r, t->beans, "beans: expected a list, got %s", node_kind_name(t->beans));
		t->beans = NULL;
	}
	t->route = route;
	t->from = from;
}

static struct template *
new_template(struct arena *a, const char *file, const struct node *at, bool kamelet)
{
	struct template *t = ARENA_NEW(a, struct template);

	t->name = "";
	t->file = file;
	t->at = node_at(file, at);
	t->kamelet = kamelet;
	return t;
}

struct template *
template_of_node(
    struct arena *a, const char *file, const struct node *value, struct diagnostics *ds)
{
	static const char *const known[] = { "id", "description", "note", "parameters", "beans",
		"templateBean", "route", "from", NULL };
	struct template *t = new_template(a, file, value, false);
	struct reading r = { a, ds, t };
	const struct node *refused;

	if (value->kind != NODE_MAP) {
		wrong(&r, value, "expected a map with \"id\" and \"from\", got %s",
		    node_kind_name(value));
		return t;
	}
	check_keys(&r, value, "routeTemplate", known);
	if ((refused = node_find(value, "templateBean")) != NULL)
		wrong(&r, refused,
		    "option \"templateBean\" is not implemented in this release; the nearest is "
		    "\"beans\"");
	const char *name = text_of(&r, value, "id");
	if (name != NULL)
		t->name = name;
	else
		wrong(&r, value, "missing option \"id\"");
	read_parameters(&r, node_find(value, "parameters"));
	read_body(&r, value);
	return t;
}

/* ---- Kamelet ---- */

bool
template_is_kamelet(const struct node *root)
{
	const struct node *kind = node_find(root, "kind");

	return kind != NULL && kind->kind == NODE_SCALAR && str_eq(kind->text, STR_LIT("Kamelet"));
}

static void
read_property(struct reading *r, const struct node *key, const struct node *value, size_t room)
{
	struct template_parameter *p;

	if (value->kind != NODE_MAP) {
		wrong(r, value, "spec.definition.properties.%s: expected a map, got %s",
		    key->text.p, node_kind_name(value));
		return;
	}
	const struct node *dflt = node_find(value, "default");
	p = add_parameter(r, room);
	p->name = key->text.p;
	if (dflt != NULL && dflt->kind == NODE_SCALAR && !node_is_null(dflt))
		p->dflt = dflt->text.p;
	else if (dflt != NULL && dflt->kind != NODE_SCALAR)
		wrong(r, dflt, "spec.definition.properties.%s.default: expected text, got %s",
		    p->name, node_kind_name(dflt));
}

static void
read_required(struct reading *r, const struct node *list)
{
	if (list == NULL || node_is_null(list))
		return;
	if (list->kind != NODE_LIST) {
		wrong(r, list, "spec.definition.required: expected a list, got %s",
		    node_kind_name(list));
		return;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		const struct node *item = &list->items[i];
		const struct template_parameter *found =
		    item->kind == NODE_SCALAR ? template_parameter(r->t, item->text) : NULL;
		if (found != NULL)
			r->t->parameters[found - r->t->parameters].required = found->dflt == NULL;
		else
			wrong(r, item, "spec.definition.required: \"%s\" is none of its properties",
			    item->kind == NODE_SCALAR ? item->text.p : node_kind_name(item));
	}
}

static void
read_definition(struct reading *r, const struct node *definition)
{
	const struct node *properties = node_find(definition, "properties");

	if (properties != NULL && !node_is_null(properties) && properties->kind != NODE_MAP) {
		wrong(r, properties, "spec.definition.properties: expected a map, got %s",
		    node_kind_name(properties));
		return;
	}
	for (uint32_t i = 0; properties != NULL && i < properties->n; i++)
		read_property(r, node_key(properties, i), node_value(properties, i), properties->n);
	read_required(r, node_find(definition, "required"));
}

struct template *
template_of_kamelet(
    struct arena *a, const char *file, const struct node *root, struct diagnostics *ds)
{
	static const char *const known[] = { "id", "from", "route", "beans", NULL };
	struct template *t = new_template(a, file, root, true);
	struct reading r = { a, ds, t };
	const struct node *metadata = node_find(root, "metadata"), *spec = node_find(root, "spec");
	const char *name = text_of(&r, metadata, "name");

	if (name != NULL)
		t->name = name;
	else
		wrong(&r, root, "missing option \"metadata.name\"");
	const struct node *body = node_find(spec, "template"), *flow = node_find(spec, "flow");
	if (node_find(spec, "definition") != NULL)
		read_definition(&r, node_find(spec, "definition"));
	if (body == NULL)
		body = flow; /* as older ones have it */
	if (body == NULL || body->kind != NODE_MAP) {
		wrong(&r, body != NULL ? body : root, "expected a map \"spec.template\"");
		return t;
	}
	check_keys(&r, body, "spec.template", known);
	read_body(&r, body);
	return t;
}

/* ---- asked ---- */

const struct template_parameter *
template_parameter(const struct template *t, struct str name)
{
	for (size_t i = 0; i < t->parameters_n; i++) {
		if (str_eq(name, str_of(t->parameters[i].name)))
			return &t->parameters[i];
	}
	return NULL;
}

bool
template_takes_messages(const struct template *t)
{
	const struct node *uri =
	    t->from != NULL && t->from->kind == NODE_MAP ? node_find(t->from, "uri") : t->from;

	return uri != NULL && uri->kind == NODE_SCALAR &&
	    (str_eq(uri->text, STR_LIT("kamelet:source")) ||
		str_eq(uri->text, STR_LIT("kamelet://source")));
}
