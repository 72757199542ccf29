/* Templates: gathered, and made into documents (expand.h). */
#include "core/config/expand_priv.h"

#include "core/base/assert.h"
#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/config/option.h"

#include <stdlib.h>

void
expand_error(struct expansion *x, uint32_t document, struct position at, const char *fmt, ...)
{
	const char *origin = x->bundle->documents[document].origin;
	va_list ap;

	va_start(ap, fmt);
	const char *text = arena_vprintf(&x->bundle->arena, fmt, ap);
	va_end(ap);
	diagnostics_add(x->ds, at, false, "%s%s%s%s", text, origin ? " (" : "",
	    origin ? origin : "", origin ? ")" : "");
}

/* ---- templates ---- */

void
expand_add_template(struct expansion *x, struct template *t)
{
	for (size_t i = 0; i < x->templates_n && !t->wrong; i++) {
		const struct template *first = x->templates[i];
		if (strcmp(first->name, t->name) != 0)
			continue;
		diagnostics_add(x->ds, t->at, false, "%s \"%s\" is given twice: first at %s:%u",
		    t->kamelet ? "kamelet" : "routeTemplate", t->name, first->at.file,
		    first->at.line);
		t->wrong = true;
	}
	if (x->templates_n == x->templates_cap) {
		x->templates_cap = x->templates_cap ? 2 * x->templates_cap : 16;
		x->templates = mem_realloc(x->templates, x->templates_cap * sizeof(*x->templates));
	}
	x->templates[x->templates_n++] = t;
}

struct template *
expand_find(struct expansion *x, const char *name, const char *from)
{
	for (size_t i = 0; i < x->templates_n; i++) {
		if (strcmp(x->templates[i]->name, name) == 0)
			return x->templates[i];
	}
	if (!kamelet_is_name(str_of(name)))
		return NULL;
	const char *file = kamelet_find(x->bundle, &x->folders, name, from);
	struct template *t = file != NULL ? kamelet_read(x->bundle, file, x->ds) : NULL;
	if (t == NULL && file != NULL) { /* reported, once */
		t = ARENA_NEW(&x->bundle->arena, struct template);
		t->wrong = true;
		t->file = file;
	}
	if (t == NULL)
		return NULL;
	t->kamelet = true;
	if (strcmp(t->name, name) != 0 && !t->wrong) {
		diagnostics_add(x->ds, t->at, false,
		    "kamelet: expected the name of the file, \"%s\", for \"metadata.name\", got "
		    "\"%s\"",
		    name, t->name);
		t->wrong = true;
	}
	t->name = name;
	t->used = true; /* those that nobody uses are left alone */
	expand_add_template(x, t);
	return t;
}

void
expand_take_templates(struct expansion *x, uint32_t document)
{
	struct document *doc = &x->bundle->documents[document];

	for (uint32_t i = 0;
	     doc->root != NULL && doc->root->kind == NODE_LIST && i < doc->root->n;) {
		const struct node *item = &doc->root->items[i];
		if (item->kind != NODE_MAP || item->n != 1 ||
		    !str_eq(node_key(item, 0)->text, STR_LIT("routeTemplate"))) {
			i++;
			continue;
		}
		struct template *t =
		    template_of_node(&x->bundle->arena, doc->file, node_value(item, 0), x->ds);
		t->scope = document + 1;
		expand_add_template(x, t);
		node_cut(doc->root, i);
	}
}

void
expand_add_kamelet(struct expansion *x, const char *file, const struct node *root)
{
	expand_add_template(x, template_of_kamelet(&x->bundle->arena, file, root, x->ds));
}

/* ---- documents ---- */

static void
grow(struct expansion *x)
{
	size_t before = x->documents_cap;

	if (x->bundle->documents_n <= before)
		return;
	x->documents_cap = 2 * x->bundle->documents_n + 16;
	x->documents = mem_realloc(x->documents, x->documents_cap * sizeof(struct expanded));
	memset(x->documents + before, 0, (x->documents_cap - before) * sizeof(struct expanded));
}

uint32_t
expand_add_document(struct expansion *x, struct document doc, struct expanded info)
{
	uint32_t i = (uint32_t)x->bundle->documents_n;

	doc.file =
	    arena_strdup(&x->bundle->arena, doc.file); /* of its own: bundle_origin() goes by it */
	doc.probe = x->probing;
	*bundle_add_document(x->bundle) = doc;
	grow(x);
	x->documents[i] = info;
	return i;
}

/* ---- a route of a template ---- */

/* The values of all parameters that the use leaves out. False: one is missing (reported). */
static bool
complete(struct expansion *x, const struct template *t, struct use *use)
{
	struct bundle *b = x->bundle;
	const char *missing = NULL;

	for (size_t i = 0; i < t->parameters_n; i++) {
		const struct template_parameter *p = &t->parameters[i];
		const char *key = arena_printf(&b->arena, "camel.kamelet.%s.%s.%s", t->name,
		    use->route_id ? use->route_id : "", p->name);
		const struct property *global = properties_find(&b->lookup, str_of(key));
		if (properties_find(&use->values, str_of(p->name)) != NULL)
			continue;
		if (global == NULL)
			global = properties_find(&b->lookup,
			    str_of(
				arena_printf(&b->arena, "camel.kamelet.%s.%s", t->name, p->name)));
		const char *value = global != NULL ? global->value
		    : p->dflt != NULL              ? p->dflt
		    : x->probing ? arena_printf(&b->arena, "%c%s", PLACEHOLDER_UNKNOWN, p->name)
				 : NULL;
		if (value != NULL)
			properties_set(&use->values, str_of(p->name), str_of(value), false, false);
		else if (p->required)
			missing = missing == NULL
			    ? p->name
			    : arena_printf(&b->arena, "%s, %s", missing, p->name);
		if (value != NULL && value == p->dflt)
			properties_set_written(&use->values, str_of(p->name), str_of(p->dflt));
	}
	if (missing == NULL)
		return true;
	expand_error(x, use->document, use->at,
	    "%s \"%s\": the following mandatory parameters must be provided: %s (see %s:%u)",
	    t->kamelet ? "kamelet" : "route template", t->name, missing, t->file, t->at.line);
	return false;
}

/* Its beans, under names that no other route has; {{name}} stands for that. */
static void
add_beans(struct expansion *x, struct use *use, const struct node *beans, struct node *root)
{
	struct arena *a = &x->bundle->arena;

	if (beans == NULL || beans->n == 0)
		return;
	struct node list = node_copy(a, beans);
	for (uint32_t i = 0; i < list.n; i++) {
		struct node *name = node_find(&list.items[i], "name");
		if (name == NULL || name->kind != NODE_SCALAR)
			continue; /* said when the beans are read */
		const char *unique = arena_printf(a, "%s-%u", name->text.p, ++x->counter);
		properties_set(&use->values, name->text, str_of(unique), false, true);
		name->text = str_of(unique);
	}
	struct node item = node_new(a, NODE_MAP, beans, 1);
	node_put(&item, node_text(beans, "beans"), list);
	node_add(root, item);
}

static void
put_text(struct node *map, const struct node *like, const char *key, const char *value)
{
	node_remove(map, key);
	if (value != NULL)
		node_put(map, node_text(like, key), node_text(like, value));
}

/* {noErrorHandler: {}} */
static struct node
no_error_handler(struct arena *a, const struct node *like)
{
	struct node map = node_new(a, NODE_MAP, like, 1);

	node_put(&map, node_text(like, "noErrorHandler"), node_new(a, NODE_MAP, like, 0));
	return map;
}

/* - to: kamelet:sink, behind the steps of `from` */
static void
append_sink(struct arena *a, const struct node *from)
{
	struct node *steps = node_find(from, "steps");

	if (steps == NULL || steps->kind != NODE_LIST)
		return;
	struct node list = node_new(a, NODE_LIST, steps, steps->n + 1),
		    item = node_new(a, NODE_MAP, steps, 1);
	for (uint32_t i = 0; i < steps->n; i++)
		node_add(&list, steps->items[i]);
	node_put(&item, node_text(steps, "to"), node_text(steps, "kamelet:sink"));
	node_add(&list, item);
	*steps = list;
}

static struct node
route_of(struct expansion *x, const struct template *t, const struct use *use)
{
	struct arena *a = &x->bundle->arena;
	const struct node *from = t->from;
	struct node route = node_new(a, NODE_MAP, from, (t->route != NULL ? t->route->n : 0) + 7);

	for (uint32_t i = 0; t->route != NULL && i < t->route->n; i++)
		node_put(&route, *node_key(t->route, i), node_copy(a, node_value(t->route, i)));
	if (t->route == NULL)
		node_put(&route, node_text(from, "from"), node_copy(a, from));
	if (use->appends_sink)
		append_sink(a, node_find(&route, "from"));
	put_text(&route, from, "id", use->route_id);
	if (use->prefix != NULL)
		put_text(&route, from, "nodePrefixId", use->prefix);
	if (use->group != NULL)
		put_text(&route, from, "group", use->group);
	if (use->no_error_handler) {
		node_remove(&route, "errorHandler");
		node_put(&route, node_text(from, "errorHandler"), no_error_handler(a, from));
	}
	if (use->own_scope && node_find(&route, "routeConfigurationId") == NULL)
		node_put(&route, node_text(from, "routeConfigurationId"), node_text(from, ""));
	struct node item = node_new(a, NODE_MAP, from, 1);
	node_put(&item, node_text(from, "route"), route);
	return item;
}

static const char *
origin_of(struct expansion *x, const struct template *t, const struct use *use)
{
	struct arena *a = &x->bundle->arena;
	const char *outer = x->bundle->documents[use->document].origin;

	if (x->probing && outer == NULL)
		return NULL;
	const char *text = arena_printf(a, "of %s \"%s\", used at %s:%u:%u",
	    t->kamelet ? "kamelet" : "route template", t->name, use->at.file, use->at.line,
	    use->at.column);
	if (x->documents[use->document].depth > 3)
		outer = "…";
	return outer == NULL ? text : arena_printf(a, "%s, %s", text, outer);
}

static bool
check_limits(struct expansion *x, const struct template *t, const struct use *use)
{
	unsigned depth = x->documents[use->document].depth;

	if (x->failed)
		return false;
	x->nodes += node_count(t->route != NULL ? t->route : t->from);
	if (depth < EXPAND_DEPTH_MAX && x->nodes <= EXPAND_NODES_MAX)
		return true;
	x->failed = true;
	if (depth == EXPAND_DEPTH_MAX)
		expand_error(x, use->document, use->at,
		    "more than %d kamelets in one another: does \"%s\" use itself?",
		    EXPAND_DEPTH_MAX, t->name);
	else
		expand_error(x, use->document, use->at,
		    "the routes that templates make have more than %d nodes", EXPAND_NODES_MAX);
	return false;
}

bool
expand_make(struct expansion *x, struct template *t, struct use *use)
{
	struct arena *a = &x->bundle->arena;

	t->used = true;
	if (t->wrong || use->bad || !check_limits(x, t, use) || !complete(x, t, use))
		return false;
	struct node *root = ARENA_NEW(a, struct node);
	*root = node_new(a, NODE_LIST, t->from, 3);
	add_beans(x, use, t->beans, root);
	add_beans(x, use, use->beans, root);
	node_add(root, route_of(x, t, use));
	const struct document *user = &x->bundle->documents[use->document];
	uint32_t scope = t->scope != 0 ? t->scope : user->scope != 0 ? user->scope : use->document + 1;
	struct document doc = { .file = t->file, .root = root, .scope = scope, .made = true };
	doc.origin = origin_of(x, t, use);
	struct properties lookup = x->bundle->lookup;
	lookup.local = &use->values;
	lookup.origin = doc.origin;
	placeholder_resolve_tree(&lookup, t->file, root, x->ds);
	(void)expand_add_document(x, doc,
	    (struct expanded){ use->source, use->sink, x->documents[use->document].depth + 1 });
	return true;
}

/* ---- the course ---- */

struct expansion *
expand_begin(struct bundle *b, const struct bundle_options *opt, struct diagnostics *ds)
{
	struct expansion *x = MEM_NEW(struct expansion);

	x->bundle = b;
	x->opt = opt;
	x->ds = ds;
	hash_init(&x->shared, false);
	hash_init(&x->made, false);
	x->folders = kamelet_folders_of(b, opt, ds);
	return x;
}

/* A template that nobody uses: only to be checked. */
static void
probe(struct expansion *x, struct template *t)
{
	/* It stands in no document: one without a root takes the place. */
	uint32_t nowhere =
	    expand_add_document(x, (struct document){ .file = t->file }, (struct expanded){ 0 });
	struct use use = { .document = nowhere,
		.at = t->at,
		.route_id = arena_printf(&x->bundle->arena, "%s-%u", t->name, ++x->counter),
		.own_scope = t->kamelet };

	properties_init(&use.values, &x->bundle->arena, x->bundle->cwd);
	(void)expand_make(x, t, &use); /* what is wrong was reported */
	properties_fini(&use.values);
}

void
expand_end(struct expansion *x)
{
	uint32_t done = 0;

	grow(x);
	for (; done < x->bundle->documents_n && !x->failed; done++)
		expand_uses(x, done);
	x->probing = true;
	for (size_t i = 0, n = x->templates_n; i < n && !x->failed; i++) {
		if (!x->templates[i]->used && !x->templates[i]->wrong)
			probe(x, x->templates[i]);
		for (; done < x->bundle->documents_n && !x->failed; done++)
			expand_uses(x, done);
	}
	hash_fini(&x->shared);
	hash_fini(&x->made);
	free(x->documents);
	free(x->templates);
	free(x);
}
