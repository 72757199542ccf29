/* The options of steps and languages, from nodes, by type. */
#include "core/config/compile_priv.h"

#include "core/base/assert.h"
#include "core/model/exception.h"

bool
node_is_true(const struct node *n)
{
	return n != NULL && n->kind == NODE_SCALAR &&
	    str_caseeq(str_trim(n->text), STR_LIT("true"));
}

/* What the types below need. */
struct setting {
	const struct option_desc *o;
	void *conf;
	const struct node *value;
	struct step *st;
	const struct node *parameters;
};

typedef int set_fn(struct compile *c, const struct setting *s);

static int
wrong_kind(struct compile *c, const struct setting *s)
{
	return compile_error_node(c, s->value, "expected %s, got %s",
	    option_expected(c->arena, s->o), node_kind_name(s->value));
}

static bool
has_simple(struct str text)
{
	return str_find(text, STR_LIT("${")) != SIZE_MAX ||
	    str_find(text, STR_LIT("$simple{")) != SIZE_MAX;
}

static bool
parameters_have_simple(const struct node *parameters)
{
	for (uint32_t i = 0; parameters && parameters->kind == NODE_MAP && i < parameters->n; i++) {
		const struct node *value = node_value(parameters, i);
		if (value->kind == NODE_SCALAR && has_simple(value->text))
			return true;
	}
	return false;
}

/* A text that may be Simple. */
static int
set_template(struct compile *c, const struct setting *s)
{
	struct expression *e =
	    compile_expression(c, has_simple(s->value->text) ? "simple" : "constant",
		s->value->text.p, false, node_at(c->file, s->value));

	OPTION_AT(s->conf, s->o, struct expression *) = e;
	return e != NULL ? 0 : -1;
}

static int
set_uri(struct compile *c, const struct setting *s)
{
	struct endpoint *ep;

	if (s->value->kind != NODE_SCALAR || node_is_null(s->value))
		return wrong_kind(c, s);
	if ((s->o->flags & OPTION_TEMPLATE) &&
	    (has_simple(s->value->text) || parameters_have_simple(s->parameters))) {
		if (secrets_check(c, s->value, s->parameters) != 0)
			return -1;
		const char *text = endpoint_append_parameters(c, s->value->text.p, s->parameters);
		struct expression *e = text
		    ? compile_expression(c, "simple", text, false, node_at(c->file, s->value))
		    : NULL;
		OPTION_AT(s->conf, s->o, struct expression *) = e;
		return e != NULL ? 0 : -1;
	}
	if (s->o->flags & OPTION_CONSUMER) {
		if (secrets_check(c, s->value, s->parameters) != 0)
			return -1;
		ep = endpoint_polled(c, s->value->text, s->parameters, node_at(c->file, s->value));
		OPTION_AT(s->conf, s->o, struct endpoint *) = ep;
		return ep != NULL ? 0 : -1;
	}
	ep = endpoint_parse(c, s->value, s->parameters, false);
	if (ep == NULL)
		return -1;
	if (has_simple(s->value->text) && !(ep->component->flags & COMPONENT_SIMPLE))
		compile_warning(c, node_at(c->file, s->value),
		    "\"${\" is sent to as it stands: write toD where the uri depends on the "
		    "message");
	if (!(s->o->flags & OPTION_TEMPLATE))
		OPTION_AT(s->conf, s->o, struct endpoint *) = ep;
	if (s->st != NULL)
		s->st->endpoint = ep;
	return 0;
}

static int
set_scalar(struct compile *c, const struct setting *s)
{
	struct hinny_error err;

	if (s->value->kind != NODE_SCALAR || node_is_null(s->value))
		return wrong_kind(c, s);
	if (s->o->flags & OPTION_TEMPLATE)
		return strcmp(s->o->name, "uri") == 0 ? set_uri(c, s) : set_template(c, s);
	if (option_set_text(c->arena, s->o, s->conf, s->value->text, &err) == HINNY_OK)
		return 0;
	return compile_error_node(c, s->value, "%s", err.text);
}

/* A list of scalars, or one with commas. */
static int
set_strings(struct compile *c, const struct setting *s)
{
	struct strings *list = &OPTION_AT(s->conf, s->o, struct strings);

	if (s->value->kind != NODE_LIST)
		return set_scalar(c, s);
	list->items = arena_alloc(c->arena, (s->value->n + 1) * sizeof(char *));
	list->n = 0;
	for (uint32_t i = 0; i < s->value->n; i++) {
		const struct node *item = &s->value->items[i];
		if (item->kind != NODE_SCALAR || node_is_null(item))
			return compile_error_node(
			    c, item, "expected text, got %s", node_kind_name(item));
		list->items[list->n++] = item->text.p;
	}
	return 0;
}

/* The map without id, description and note, which mean nothing here. */
static struct node
without_labels(struct compile *c, const struct node *map)
{
	static const char *const labels[] = { "id", "description", "note" };
	struct node out = node_copy(c->arena, map);

	for (size_t i = 0; i < ARRAY_LEN(labels) && out.kind == NODE_MAP; i++) {
		if (out.n > 1)
			node_remove(&out, labels[i]);
	}
	return out;
}

static int
set_expression(struct compile *c, const struct setting *s)
{
	struct node map = s->o->flags & OPTION_LABELLED ? without_labels(c, s->value) : *s->value;
	struct expression *e = expression_parse_map(c, &map, s->o->type == OPTION_PREDICATE);

	OPTION_AT(s->conf, s->o, struct expression *) = e;
	return e != NULL ? 0 : -1;
}

static int
set_steps(struct compile *c, const struct setting *s)
{
	struct block *b = ARENA_NEW(c->arena, struct block);

	steps_parse(c, s->value, STEPS_INNER, b);
	OPTION_AT(s->conf, s->o, struct block *) = b;
	return 0;
}

/* Steps that do not run into one another. */
static int
set_branches(struct compile *c, const struct setting *s)
{
	struct step_list *list = &OPTION_AT(s->conf, s->o, struct step_list);
	struct step *parent = c->parent;
	struct block b;

	c->parent = s->st;
	steps_parse(c, s->value, STEPS_BRANCHES, &b);
	c->parent = parent;
	list->items = arena_alloc(c->arena, (b.n + 1) * sizeof(struct step *));
	list->n = 0;
	for (struct step *st = b.first, *next; st != NULL; st = next) {
		next = st->next;
		st->next = NULL;
		list->items[list->n++] = st;
	}
	return 0;
}

static int
set_bean(struct compile *c, const struct setting *s)
{
	if (s->value->kind != NODE_SCALAR || node_is_null(s->value))
		return wrong_kind(c, s);
	const struct bean *bean = bean_find(c, s->value, s->o->values);
	OPTION_AT(s->conf, s->o, const struct bean *) = bean;
	return bean != NULL ? 0 : -1;
}

/* The class that was meant: by its whole name, else by the last part of it. */
static const char *
nearest_class(struct arena *a, struct str name)
{
	const char *const *full = exception_names();
	const char *near = str_nearest(name, full), *dot = memrchr(name.p, '.', name.n);
	size_t n = 0;

	if (near != NULL)
		return near;
	while (full[n] != NULL)
		n++;
	const char **last = arena_alloc(a, (n + 1) * sizeof(char *));
	for (size_t i = 0; i < n; i++) {
		const char *point = strrchr(full[i], '.');
		last[i] = point != NULL ? point + 1 : full[i];
	}
	last[n] = NULL;
	if (dot != NULL)
		name = (struct str){ dot + 1, (size_t)(name.p + name.n - dot - 1) };
	near = str_nearest(name, last);
	for (size_t i = 0; near != NULL && i < n; i++) {
		if (last[i] == near)
			return full[i];
	}
	return NULL;
}

int
option_class(struct compile *c, const struct node *n)
{
	struct str name = str_trim(n->text);
	int id = exception_find(name);

	if (id >= 0)
		return id;
	return compile_error_node(c, n, "unknown exception class \"%.*s\"%s", STR_FMT(name),
	    option_did_you_mean(c->arena, nearest_class(c->arena, name)));
}

static int
set_classes(struct compile *c, const struct setting *s)
{
	struct classes *list = &OPTION_AT(s->conf, s->o, struct classes);
	const struct node *items = s->value->kind == NODE_LIST ? s->value->items : s->value;
	uint32_t n = s->value->kind == NODE_LIST ? s->value->n : 1;
	int rc = 0;

	list->ids = arena_alloc(c->arena, (n + 1) * sizeof(int));
	list->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct node *item = &items[i];
		int id;
		if (item->kind != NODE_SCALAR || node_is_null(item))
			rc |= compile_error_node(
			    c, item, "expected an exception class, got %s", node_kind_name(item));
		else if (item->flags & NODE_BAD)
			rc = -1; /* reported */
		else if ((id = option_class(c, item)) < 0)
			rc = -1;
		else
			list->ids[list->n++] = id;
	}
	return rc;
}

/* A child node under its option's key or in a list of such. */
static struct step *
parse_child(struct compile *c, const struct setting *s, const struct node *value)
{
	const struct eip_desc *eip = eip_find(str_of(s->o->values));
	struct step *parent = c->parent;

	ASSERT(eip != NULL);
	c->parent = s->st;
	struct step *child = step_parse(c, eip, value, value);
	c->parent = parent;
	return child;
}

static int
set_nodes(struct compile *c, const struct setting *s)
{
	struct step_list *list = &OPTION_AT(s->conf, s->o, struct step_list);
	int rc = 0;

	if (s->value->kind != NODE_LIST)
		return compile_error_node(c, s->value, "expected a list of \"%s\", got %s",
		    s->o->values, node_kind_name(s->value));
	list->items = arena_alloc(c->arena, (s->value->n + 1) * sizeof(struct step *));
	list->n = 0;
	for (uint32_t i = 0; i < s->value->n; i++) {
		const struct node *item = &s->value->items[i];
		if (node_is_true(node_find(item, "disabled")))
			continue;
		PATH_INDEX(c, i);
		struct step *child = parse_child(c, s, item);
		PATH_END(c);
		if (child != NULL)
			list->items[list->n++] = child;
		else
			rc = -1;
	}
	return rc;
}

static int
set_node(struct compile *c, const struct setting *s)
{
	if (node_is_true(node_find(s->value, "disabled")))
		return 0;
	if (s->value->kind != NODE_MAP)
		return compile_error_node(
		    c, s->value, "expected a map, got %s", node_kind_name(s->value));
	struct step *child = parse_child(c, s, s->value);
	OPTION_AT(s->conf, s->o, struct step *) = child;
	return child != NULL ? 0 : -1;
}

static int
set_pair(struct compile *c, struct pairs *list, const struct node *key, const struct node *value)
{
	if (key == NULL || value == NULL || key->kind != NODE_SCALAR || value->kind != NODE_SCALAR)
		return compile_error_node(
		    c, key ? key : value, "expected text for \"key\" and for \"value\"");
	list->items[list->n++] = (struct pair){ key->text.p, value->text.p };
	return 0;
}

/* A list of {key, value}, or a map. */
static int
set_pairs(struct compile *c, const struct setting *s)
{
	struct pairs *list = &OPTION_AT(s->conf, s->o, struct pairs);
	int rc = 0;

	if (s->value->kind == NODE_SCALAR)
		return wrong_kind(c, s);
	list->items = arena_alloc(c->arena, (s->value->n + 1) * sizeof(struct pair));
	list->n = 0;
	for (uint32_t i = 0; i < s->value->n; i++) {
		if (s->value->kind == NODE_MAP) {
			rc |= set_pair(c, list, node_key(s->value, i), node_value(s->value, i));
			continue;
		}
		const struct node *item = &s->value->items[i], *key = node_find(item, "key"),
				  *value = node_find(item, "value");
		if (key == NULL || value == NULL || item->n != 2)
			rc |= compile_error_node(
			    c, item, "expected a map with \"key\" and \"value\"");
		else
			rc |= set_pair(c, list, key, value);
	}
	return rc;
}

static set_fn *const setters[] = {
	[OPTION_STRING] = set_scalar,
	[OPTION_BOOL] = set_scalar,
	[OPTION_INT] = set_scalar,
	[OPTION_DOUBLE] = set_scalar,
	[OPTION_DURATION] = set_scalar,
	[OPTION_SIZE] = set_scalar,
	[OPTION_ENUM] = set_scalar,
	[OPTION_CLASS] = set_scalar,
	[OPTION_EXPRESSION] = set_expression,
	[OPTION_PREDICATE] = set_expression,
	[OPTION_STEPS] = set_steps,
	[OPTION_URI] = set_uri,
	[OPTION_STRINGS] = set_strings,
	[OPTION_CLASSES] = set_classes,
	[OPTION_NODES] = set_nodes,
	[OPTION_NODE] = set_node,
	[OPTION_PAIRS] = set_pairs,
	[OPTION_BRANCHES] = set_branches,
	[OPTION_BEAN] = set_bean,
};

int
option_set_node(struct compile *c, const struct option_desc *o, void *conf,
    const struct node *value, struct step *st, const struct node *parameters)
{
	struct setting s = { o, conf, value, st, parameters };

	if (value->flags & NODE_BAD)
		return -1; /* reported when its placeholder was resolved */
	return setters[o->type](c, &s);
}
