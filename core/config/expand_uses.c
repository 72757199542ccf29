/*
 * The uses of templates in a document: `templatedRoute` at its root, and Kamelets wherever an
 * endpoint stands (from, to, wireTap …) or as the step `kamelet`. A Kamelet that is sent to becomes
 * a route that begins at kamelet:NAME/ID, and the step sends there; of one that is consumed from,
 * the route ends in sending to kamelet:NAME/ID, and the consumer begins there.
 */
#include "core/config/expand_priv.h"

#include "core/base/assert.h"
#include "core/config/compile_priv.h"
#include "core/config/endpoint_uri.h"
#include "core/config/option.h"

enum role { ROLE_PRODUCER, ROLE_CONSUMER, ROLE_STEP };

/* A document being walked. */
struct walk {
	struct expansion *x;
	uint32_t document;
	const struct node *route; /* the root item that is being walked */
};

static const char *
file_of(const struct walk *w)
{
	return w->x->bundle->documents[w->document].file;
}

static void __attribute__((format(printf, 3, 4)))
wrong(struct walk *w, const struct node *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *text = arena_vprintf(&w->x->bundle->arena, fmt, ap);
	va_end(ap);
	expand_error(w->x, w->document, node_at(file_of(w), at), "%s", text);
}

static struct use
use_at(struct walk *w, const struct node *at)
{
	struct use use = { .document = w->document, .at = node_at(file_of(w), at) };

	properties_init(&use.values, &w->x->bundle->arena, w->x->bundle->cwd);
	return use;
}

/* ---- templatedRoute ---- */

static const char *
text_of(struct walk *w, const struct node *map, const char *key)
{
	const struct node *n = node_find(map, key);

	if (n == NULL || (n->flags & (NODE_ABSENT | NODE_BAD)) || node_is_null(n))
		return NULL;
	if (n->kind == NODE_SCALAR)
		return n->text.p;
	wrong(w, n, "templatedRoute.%s: expected text, got %s", key, node_kind_name(n));
	return NULL;
}

static void
set_parameter(struct walk *w, const struct template *t, struct use *use, const struct node *item)
{
	const struct node *name = node_find(item, "name"), *value = node_find(item, "value");

	if (item->kind != NODE_MAP || item->n != 2 || name == NULL || value == NULL ||
	    name->kind != NODE_SCALAR || value->kind != NODE_SCALAR) {
		wrong(w, item,
		    "templatedRoute.parameters: expected a map with \"name\" and \"value\"");
		return;
	}
	use->bad = use->bad || ((name->flags | value->flags) & NODE_BAD) != 0;
	if ((value->flags & (NODE_ABSENT | NODE_BAD)) || node_is_null(value))
		return;
	if (properties_find(&use->values, name->text) != NULL)
		wrong(w, item, "templatedRoute.parameters: \"%s\" is given twice", name->text.p);
	if (template_parameter(t, name->text) == NULL)
		diagnostics_add(w->x->ds, node_at(file_of(w), name), true,
		    "route template \"%s\" has no parameter \"%s\"", t->name, name->text.p);
	properties_set(&use->values, name->text, value->text, false, false);
	properties_set_written(&use->values, name->text, node_written(value));
}

static void
check_templated(struct walk *w, const struct node *map)
{
	static const char *const known[] = { "routeTemplateRef", "routeId", "prefixId", "group",
		"parameters", "beans", NULL };

	for (uint32_t i = 0; i < map->n; i++) {
		const struct node *key = node_key(map, i);
		bool found = false;
		for (const char *const *k = known; *k != NULL; k++)
			found = found || str_eq(key->text, str_of(*k));
		if (!found)
			wrong(w, key, "templatedRoute: unknown option \"%s\"%s", key->text.p,
			    option_did_you_mean(
				&w->x->bundle->arena, str_nearest(key->text, known)));
	}
}

static const char *
nearest_template(struct walk *w, const char *name)
{
	struct arena *a = &w->x->bundle->arena;
	const char **names = arena_alloc(a, (w->x->templates_n + 1) * sizeof(char *));
	size_t n = 0;

	for (size_t i = 0; i < w->x->templates_n; i++) {
		if (!w->x->templates[i]->wrong)
			names[n++] = w->x->templates[i]->name;
	}
	names[n] = NULL;
	return str_nearest(str_of(name), names);
}

static void
make_templated(struct walk *w, const struct node *map, struct template *t, struct use *use)
{
	const struct node *list = node_find(map, "parameters");

	use->route_id = text_of(w, map, "routeId");
	use->prefix = text_of(w, map, "prefixId");
	use->group = text_of(w, map, "group");
	use->beans = node_find(map, "beans");
	if (use->beans != NULL && use->beans->kind != NODE_LIST) {
		wrong(w, use->beans, "templatedRoute.beans: expected a list, got %s",
		    node_kind_name(use->beans));
		use->beans = NULL;
	}
	if (list != NULL && !node_is_null(list) && list->kind != NODE_LIST)
		wrong(w, list,
		    "templatedRoute.parameters: expected a list of maps with \"name\" and "
		    "\"value\", "
		    "got %s",
		    node_kind_name(list));
	for (uint32_t i = 0; list != NULL && list->kind == NODE_LIST && i < list->n; i++)
		set_parameter(w, t, use, &list->items[i]);
	(void)expand_make(w->x, t, use); /* what is wrong was reported */
}

static void
expand_templated(struct walk *w, const struct node *key, const struct node *map)
{
	if (map->kind != NODE_MAP) {
		wrong(w, map, "templatedRoute: expected a map with \"routeTemplateRef\", got %s",
		    node_kind_name(map));
		return;
	}
	check_templated(w, map);
	const char *name = text_of(w, map, "routeTemplateRef");
	if (name == NULL) {
		if (node_find(map, "routeTemplateRef") == NULL)
			wrong(w, key, "templatedRoute: missing option \"routeTemplateRef\"");
		return;
	}
	struct template *t = expand_find(w->x, name, file_of(w));
	if (t == NULL) {
		wrong(w, node_find(map, "routeTemplateRef"),
		    "templatedRoute: there is no route template \"%s\"%s", name,
		    option_did_you_mean(&w->x->bundle->arena, nearest_template(w, name)));
		return;
	}
	struct use use = use_at(w, key);
	make_templated(w, map, t, &use);
	properties_fini(&use.values);
}

/* ---- Kamelets ---- */

/* A use of one, as an endpoint says it. */
struct kamelet_use {
	struct uri_parts parts;
	struct uri_options options;
	struct str name, id; /* of kamelet:NAME/ID */
	const char *location;
	bool no_error_handler;
	struct uri_options rest; /* options of the component */
	bool bad;                /* reported */
};

static bool
is_kamelet_uri(struct str uri)
{
	return str_starts(uri, "kamelet:") || str_eq(uri, STR_LIT("kamelet"));
}

static void
add_parameters(struct walk *w, struct kamelet_use *k, const struct node *parameters)
{
	if (parameters == NULL || node_is_null(parameters))
		return;
	if (parameters->kind != NODE_MAP) {
		wrong(w, parameters, "parameters: expected a map, got %s",
		    node_kind_name(parameters));
		k->bad = true;
		return;
	}
	for (uint32_t i = 0; i < parameters->n; i++) {
		const struct node *key = node_key(parameters, i),
				  *value = node_value(parameters, i);
		bool raw;
		if (value->flags & NODE_ABSENT)
			continue;
		if (value->flags & NODE_BAD) {
			k->bad = true; /* reported */
		} else if (value->kind != NODE_SCALAR) {
			wrong(w, value, "parameters.%s: expected text, got %s", key->text.p,
			    node_kind_name(value));
			k->bad = true;
		} else {
			struct uri_option *o = uri_options_add(&w->x->bundle->arena, &k->options);
			o->name = key->text;
			o->value = uri_unwrap_raw(value->text, &raw);
			o->node = value;
		}
	}
}

/* Takes an option out of those that become parameters. */
static const struct uri_option *
take(struct kamelet_use *k, const struct template *t, const char *name)
{
	if (t != NULL && template_parameter(t, str_of(name)) != NULL)
		return NULL; /* the template's own */
	for (size_t i = 0; i < k->options.n; i++) {
		struct uri_option *o = &k->options.items[i];
		if (!o->used && str_eq(o->name, str_of(name))) {
			o->used = true;
			return o;
		}
	}
	return NULL;
}

static void
split_path(struct walk *w, struct kamelet_use *k)
{
	struct str path = k->parts.path;
	size_t slash = str_find(path, STR_LIT("/"));

	k->name = slash == SIZE_MAX ? path : (struct str){ path.p, slash };
	k->id = slash == SIZE_MAX ? (struct str){ "", 0 } : str_skip(path, slash + 1);
	const struct uri_option *o;
	if (k->name.n == 0 && (o = take(k, NULL, "templateId")) != NULL)
		k->name = o->value;
	if (k->id.n == 0 && (o = take(k, NULL, "routeId")) != NULL)
		k->id = o->value;
	k->name = arena_str(&w->x->bundle->arena, k->name);
	k->id = arena_str(&w->x->bundle->arena, k->id);
}

/* The uri and its parameters. False: reported. */
static bool
read_use(struct walk *w, struct kamelet_use *k, const struct node *at, struct str uri,
    const struct node *parameters)
{
	struct hinny_error err;

	*k = (struct kamelet_use){ .parts = uri_split(uri) };
	if (uri_parse_query(&w->x->bundle->arena, k->parts.query, &k->options, &err) != HINNY_OK) {
		wrong(w, at, "%s", err.text);
		return false;
	}
	add_parameters(w, k, parameters);
	split_path(w, k);
	if (!kamelet_is_name(k->name)) {
		wrong(w, at,
		    "expected kamelet:NAME with letters, digits, \"-\" and \"_\", got \"%.*s\"",
		    STR_FMT(uri));
		return false;
	}
	return !k->bad;
}

/* Options of the endpoint that are none of the template. */
static void
take_endpoint_options(
    struct walk *w, struct kamelet_use *k, const struct template *t, const struct node *at)
{
	const struct component_desc *desc = component_find(STR_LIT("kamelet"));
	const struct uri_option *o;

	if ((o = take(k, t, "noErrorHandler")) != NULL) {
		k->no_error_handler = str_caseeq(o->value, STR_LIT("true"));
		if (!k->no_error_handler && !str_caseeq(o->value, STR_LIT("false")))
			wrong(w, o->node ? o->node : at,
			    "noErrorHandler: expected true or false, got \"%.*s\"",
			    STR_FMT(o->value));
	}
	for (size_t i = 0; i < k->options.n; i++) {
		const struct uri_option *each = &k->options.items[i];
		const char *name = arena_strndup(&w->x->bundle->arena, each->name.p, each->name.n);
		if (each->used ||
		    (option_find(desc->options, each->name) == NULL &&
			!refused_option(REFUSED_COMPONENT, "kamelet", each->name)) ||
		    (o = take(k, t, name)) == NULL)
			continue;
		*uri_options_add(&w->x->bundle->arena, &k->rest) = *o;
		k->rest.items[k->rest.n - 1].used = false;
	}
}

/* What of an option stands in route files. */
static struct str
written_of(struct walk *w, const struct uri_option *o, const struct node *at)
{
	struct uri_options os = { 0 };
	struct hinny_error err;
	bool raw;

	if (o->node != NULL)
		return uri_unwrap_raw(node_written(o->node), &raw);
	if (uri_parse_query(&w->x->bundle->arena, uri_split(node_written(at)).query, &os, &err) != HINNY_OK)
		return o->value;
	for (size_t i = 0; i < os.n; i++) {
		if (str_eq(os.items[i].name, o->name))
			return os.items[i].value;
	}
	return STR_LIT(PLACEHOLDER_OUTSIDE); /* the option itself came from outside */
}

static void
set_values(struct walk *w, struct kamelet_use *k, const struct template *t, struct use *use,
    const struct node *at)
{
	for (size_t i = 0; i < k->options.n; i++) {
		const struct uri_option *o = &k->options.items[i];
		if (o->used)
			continue;
		if (template_parameter(t, o->name) == NULL)
			diagnostics_add(w->x->ds, node_at(file_of(w), o->node ? o->node : at), true,
			    "kamelet \"%s\" has no parameter \"%.*s\"", t->name, STR_FMT(o->name));
		properties_set(&use->values, o->name, o->value, false, true);
		properties_set_written(&use->values, o->name, written_of(w, o, at));
	}
}

static struct template *
find_template(struct walk *w, struct kamelet_use *k, const struct node *at)
{
	struct expansion *x = w->x;
	const struct uri_option *location = take(k, NULL, "location");
	const char *file = NULL;

	if (location != NULL) {
		struct str s = location->value;
		s = str_skip(s, str_starts(s, "file:") ? 5 : str_starts(s, "classpath:") ? 10 : 0);
		file = arena_strndup(&x->bundle->arena, s.p, s.n);
		for (size_t i = 0; kamelet_is_file(file) && i < x->templates_n; i++) {
			if (strcmp(x->templates[i]->file, file) == 0)
				return x->templates[i];
		}
		if (kamelet_is_file(file)) {
			struct template *t = kamelet_read(x->bundle, file, x->ds);
			if (t != NULL)
				expand_add_template(x, t);
			return t;
		}
		x->folders.items[x->folders.n] = file; /* there is room for one more */
		x->folders.n++;
	}
	struct template *t = expand_find(x, k->name.p, file_of(w));
	if (t == NULL) {
		const char *near = nearest_template(w, k->name.p);
		if (near == NULL)
			near = kamelet_nearest(x->bundle, &x->folders, k->name.p, file_of(w));
		wrong(w, at, "there is no kamelet \"%s\": looked for \"%s.kamelet.yaml\" in %s%s",
		    k->name.p, k->name.p, kamelet_places(x->bundle, &x->folders, file_of(w)),
		    option_did_you_mean(&x->bundle->arena, near));
	}
	if (file != NULL)
		x->folders.n--;
	return t;
}

/* Does it send to kamelet:sink somewhere? */
static bool
names_sink(const struct node *n)
{
	if (n->kind == NODE_SCALAR)
		return str_starts(n->text, "kamelet:sink");
	for (uint32_t i = 0; i < (n->kind == NODE_MAP ? 2 : 1) * n->n; i++) {
		if (names_sink(&n->items[i]))
			return true;
	}
	return false;
}

/* Makes the route. What the endpoint is to be called; NULL: reported. */
static const char *
make_kamelet(struct walk *w, struct kamelet_use *k, struct template *t, const struct node *at,
    enum role role, const char *sink)
{
	struct arena *a = &w->x->bundle->arena;
	struct use use = use_at(w, at);

	if (role != ROLE_CONSUMER && !template_takes_messages(t) && !t->wrong) {
		wrong(w, at,
		    "kamelet \"%s\" is a source: it does not begin with kamelet:source (%s:%u), "
		    "and "
		    "cannot be sent to",
		    t->name, t->file, t->at.line);
		return NULL;
	}
	if (role == ROLE_CONSUMER && template_takes_messages(t) && !t->wrong) {
		wrong(w, at,
		    "kamelet \"%s\" begins with kamelet:source (%s:%u): it can be sent to, and not "
		    "be consumed from",
		    t->name, t->file, t->at.line);
		return NULL;
	}
	use.route_id = k->id.n > 0 ? k->id.p : arena_printf(a, "%s-%u", t->name, ++w->x->counter);
	use.prefix = arena_printf(a, "%s-", use.route_id);
	use.no_error_handler = k->no_error_handler;
	use.appends_sink = role == ROLE_STEP && sink != NULL && !names_sink(t->from);
	use.own_scope = true;
	const char *uri = arena_printf(a, "kamelet:%s/%s", t->name, use.route_id);
	use.source = role == ROLE_CONSUMER ? NULL : uri;
	use.sink = role == ROLE_CONSUMER ? uri : sink;
	set_values(w, k, t, &use, at);
	bool made = expand_make(w->x, t, &use);
	properties_fini(&use.values);
	return made ? uri : NULL;
}

/* ---- steps of the step `kamelet` ---- */

static void
strip_ids(struct node *n)
{
	node_remove(n, "id");
	for (uint32_t i = 0; n->kind != NODE_SCALAR && i < (n->kind == NODE_MAP ? 2 : 1) * n->n;
	     i++)
		strip_ids(&n->items[i]);
}

/* The error handling of the route around, so that it holds for the steps too. */
static void
copy_heads(struct walk *w, const struct node *from, struct node *steps)
{
	const struct node *list = node_find(from, "steps");

	for (uint32_t i = 0; list != NULL && list->kind == NODE_LIST && i < list->n; i++) {
		const struct node *item = &list->items[i];
		const struct eip_desc *eip = item->kind == NODE_MAP && item->n == 1
		    ? eip_find(node_key(item, 0)->text)
		    : NULL;
		if (eip == NULL || !(eip->flags & EIP_ROUTE_HEAD))
			return;
		if (eip->scope == SCOPE_COMPLETION)
			continue; /* of the exchange: once */
		struct node copy = node_copy(&w->x->bundle->arena, item);
		strip_ids(&copy);
		node_add(steps, copy);
	}
}

/* A route of the steps that run where the Kamelet sends to kamelet:sink. Its uri. */
static const char *
make_sink(struct walk *w, const char *name, const struct node *steps)
{
	struct arena *a = &w->x->bundle->arena;
	const struct document *doc = &w->x->bundle->documents[w->document];
	const struct node *around = w->route, *map = node_find(around, "route"),
			  *from = node_find(map != NULL ? map : around, "from");
	const struct node *heads = from != NULL ? node_find(from, "steps") : NULL;
	const char *id = arena_printf(a, "%s-steps-%u", name, ++w->x->counter);
	const char *uri = arena_printf(a, "kamelet:%s/%s", name, id);
	struct node list = node_new(a, NODE_LIST, steps, steps->n + (heads ? heads->n : 0));
	static const char *const kept[] = { "errorHandler", "routeConfigurationId",
		"nodePrefixId" };

	copy_heads(w, from, &list);
	for (uint32_t i = 0; i < steps->n; i++)
		node_add(&list, steps->items[i]);
	struct node inner = node_new(a, NODE_MAP, steps, 2),
		    route = node_new(a, NODE_MAP, steps, 5);
	node_put(&inner, node_text(steps, "uri"), node_text(steps, uri));
	node_put(&inner, node_text(steps, "steps"), list);
	node_put(&route, node_text(steps, "id"), node_text(steps, id));
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const struct node *value = node_find(map, kept[i]);
		if (value != NULL)
			node_put(&route, node_text(steps, kept[i]), node_copy(a, value));
	}
	node_put(&route, node_text(steps, "from"), inner);
	struct node item = node_new(a, NODE_MAP, steps, 1), *root = ARENA_NEW(a, struct node);
	node_put(&item, node_text(steps, "route"), route);
	*root = node_new(a, NODE_LIST, steps, 1);
	node_add(root, item);
	struct document made = { .file = doc->file, .root = root, .origin = doc->origin };
	made.scope = doc->scope != 0 ? doc->scope : w->document + 1;
	made.made = doc->made;
	(void)expand_add_document(w->x, made, w->x->documents[w->document]);
	(void)hash_put(&w->x->made, str_of(uri), (void *)(uintptr_t)uri);
	return uri;
}

/* ---- an endpoint ---- */

/* kamelet:source and kamelet:sink, the ends of the template that the document was made of. */
static const char *
expand_end_point(struct walk *w, const struct kamelet_use *k, const struct node *at)
{
	const struct expanded *info = &w->x->documents[w->document];
	bool source = str_eq(k->name, STR_LIT("source"));

	if (info->depth == 0)
		wrong(w, at, "kamelet:%s stands in templates alone", k->name.p);
	return source ? info->source : info->sink;
}

/* What the endpoint is to be called; NULL: as it is, or reported. */
static const char *
expand_uri(struct walk *w, const struct node *at, struct str uri, const struct node *parameters,
    enum role role, const struct node *steps)
{
	struct arena *a = &w->x->bundle->arena;
	struct kamelet_use k;

	if (!read_use(w, &k, at, uri, parameters))
		return NULL;
	if (str_eq(k.name, STR_LIT("source")) || str_eq(k.name, STR_LIT("sink")))
		return expand_end_point(w, &k, at);
	struct template *t = find_template(w, &k, at);
	if (t == NULL)
		return NULL;
	const char *key = arena_printf(a, "%s %s %s", t->file,
	    uri_normalise(a, k.parts.scheme,
		arena_str(a, str_of(arena_printf(a, "%s/%s", k.name.p, k.id.p))), &k.options),
	    w->x->probing ? "probe" : "");
	const char *made = role == ROLE_PRODUCER ? hash_find(&w->x->shared, str_of(key)) : NULL;
	take_endpoint_options(w, &k, t, at);
	if (made == NULL) {
		const char *sink = steps != NULL ? make_sink(w, t->name, steps) : NULL;
		made = make_kamelet(w, &k, t, at, role, sink);
		if (made != NULL && role == ROLE_PRODUCER)
			(void)hash_put(&w->x->shared, str_of(key), (void *)(uintptr_t)made);
	}
	if (made == NULL || k.rest.n == 0)
		return made;
	struct uri_parts parts = uri_split(str_of(made));
	return uri_join(a, parts.scheme, parts.path, &k.rest);
}

/* "${" in it, which only a message can tell? */
static bool
depends_on_message(const struct node *n)
{
	if (n->kind == NODE_SCALAR)
		return str_find(n->text, STR_LIT("${")) != SIZE_MAX;
	for (uint32_t i = 0; i < (n->kind == NODE_MAP ? 2 : 1) * n->n; i++) {
		if (depends_on_message(&n->items[i]))
			return true;
	}
	return false;
}

/* A map with a uri, or (map NULL) a scalar that is one; under `key`. */
static void
expand_endpoint(struct walk *w, struct node *uri, struct node *map, struct str key)
{
	enum role role = str_eq(key, STR_LIT("from")) ? ROLE_CONSUMER : ROLE_PRODUCER;
	const struct node *parameters = map != NULL ? node_find(map, "parameters") : NULL;

	if (uri->flags & NODE_BAD)
		return;
	if (str_eq(key, STR_LIT("toD")) &&
	    (depends_on_message(uri) || (parameters != NULL && depends_on_message(parameters)))) {
		wrong(w, uri,
		    "a kamelet and its parameters are chosen at load: \"${\" cannot stand in a toD "
		    "to one");
		uri->flags |= NODE_BAD;
		return;
	}
	const char *text = expand_uri(w, uri, uri->text, parameters, role, NULL);
	uri->written = (struct str){ 0 };
	if (text != NULL)
		uri->text = str_of(text);
	else if (!str_eq(uri->text, STR_LIT("kamelet:sink")) &&
	    !str_eq(uri->text, STR_LIT("kamelet:source")))
		uri->flags |= NODE_BAD; /* reported */
	if (map != NULL)
		node_remove(map, "parameters");
}

/* The step `kamelet`: a name, or a map with one. */
static void
expand_step(struct walk *w, struct node *value)
{
	struct node *name = value->kind == NODE_SCALAR ? value : node_find(value, "name");
	const struct node *steps = node_find(value, "steps");
	struct arena *a = &w->x->bundle->arena;

	if (name == NULL || name->kind != NODE_SCALAR || node_is_null(name) ||
	    (name->flags & NODE_BAD))
		return; /* said by the compiler */
	if (steps != NULL && steps->kind != NODE_LIST)
		return;
	const char *uri = arena_printf(a, "kamelet:%s", name->text.p);
	const char *made =
	    expand_uri(w, name, str_of(uri), node_find(value, "parameters"), ROLE_STEP, steps);
	if (made != NULL)
		name->text = str_of(made + strlen("kamelet:"));
	else
		name->flags |= NODE_BAD;
	node_remove(value, "parameters");
	node_remove(value, "steps");
}

/* ---- the walk ---- */

static bool
is_one_of(struct str key, const char *words)
{
	struct str rest = str_of(words), word;

	while (str_split(&rest, ' ', &word)) {
		if (str_eq(key, word))
			return true;
	}
	return false;
}

static void walk(struct walk *w, struct node *n, struct str key, bool names_endpoint);

/* A pair of a map. names_endpoint: an expression in it names what is sent to. */
static void
walk_pair(struct walk *w, const struct node *key, struct node *value, bool names_endpoint)
{
	static const char uris[] = "to from toD deadLetterUri wireTap";
	bool scalar = value->kind == NODE_SCALAR;

	if (str_eq(key->text, STR_LIT("kamelet")) && !node_is_true(node_find(value, "disabled")))
		expand_step(w, value);
	else if (scalar && is_kamelet_uri(value->text) &&
	    (is_one_of(key->text, uris) ||
		(names_endpoint && is_one_of(key->text, "constant simple expression") &&
		    str_find(value->text, STR_LIT("${")) == SIZE_MAX)))
		expand_endpoint(w, value, NULL, key->text);
	else if (!scalar)
		walk(w, value, key->text,
		    is_one_of(key->text, "enrich recipientList routingSlip dynamicRouter") ||
			(names_endpoint && is_one_of(key->text, "expression constant simple")));
}

static void
walk(struct walk *w, struct node *n, struct str key, bool names_endpoint)
{
	struct node *uri = node_find(n, "uri");

	if (n->kind == NODE_LIST) {
		for (uint32_t i = 0; i < n->n; i++)
			walk(w, &n->items[i], key, false);
		return;
	}
	if (n->kind != NODE_MAP || node_is_true(node_find(n, "disabled")))
		return;
	if (uri != NULL && uri->kind == NODE_SCALAR && is_kamelet_uri(uri->text) &&
	    hash_find(&w->x->made, uri->text) == NULL &&
	    !is_one_of(key, "interceptSendToEndpoint interceptFrom poll"))
		expand_endpoint(w, uri, n, key);
	for (uint32_t i = 0; i < n->n; i++)
		walk_pair(w, node_key(n, i), node_value(n, i), names_endpoint);
}

void
expand_uses(struct expansion *x, uint32_t document)
{
	struct node *root = x->bundle->documents[document].root;
	struct walk w = { x, document, NULL };

	if (root == NULL || root->kind != NODE_LIST)
		return;
	for (uint32_t i = 0; i < root->n;) {
		struct node *item = &root->items[i];
		if (item->kind == NODE_MAP && item->n == 1 &&
		    str_eq(node_key(item, 0)->text, STR_LIT("templatedRoute"))) {
			expand_templated(&w, node_key(item, 0), node_value(item, 0));
			node_cut(root, i);
			continue;
		}
		w.route = item;
		walk(&w, item, (struct str){ "", 0 }, false);
		i++;
	}
}
