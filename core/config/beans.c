/*
 * Beans: the entries of `beans` at the root of route files, and what options name as "#class:NAME",
 * "#bean:name", "#name" or "name". There is no Java here: a bean is of a class that this release
 * has built in, and everything else is refused by name.
 */
#include "core/config/compile_priv.h"

#include "core/base/assert.h"

/* Stands for those that were refused, so that nothing more is said where they are used. */
static struct bean refused_bean;

static struct bean *
new_bean(struct compile *c, const char *name, const struct bean_class *class)
{
	struct bean *bean = ARENA_NEW(c->arena, struct bean);

	bean->name = name;
	bean->class = class;
	bean->conf = option_new_conf(c->arena, class->conf_size);
	for (const struct option_desc *o = class->options; o != NULL && o->name != NULL; o++)
		option_set_default(c->arena, o, bean->conf);
	return bean;
}

static const char *
nearest_class(struct compile *c, struct str name, const char *role)
{
	size_t n, count = 0;
	const struct bean_class *const *all = bean_class_all(&n);
	const char **names = arena_alloc(c->arena, (n + 1) * sizeof(char *));

	for (size_t i = 0; i < n; i++) {
		if (role == NULL || strcmp(all[i]->role, role) == 0)
			names[count++] = all[i]->name;
	}
	names[count] = NULL;
	return option_did_you_mean(c->arena, str_nearest(name, names));
}

/* Why there is no such class here. */
static const char *
no_class(struct compile *c, struct str name, const char *role)
{
	const char *other;

	if (!refused_find(REFUSED_BEAN, name, &other))
		return arena_printf(c->arena, "is not built in, and there is no Java here%s",
		    nearest_class(c, name, role));
	return arena_printf(c->arena, "is not implemented in this release%s%s",
	    other != NULL ? "; the nearest is " : "", other != NULL ? other : "");
}

/* ---- entries ---- */

static void
set_properties(struct compile *c, struct bean *bean, const struct node *map)
{
	if (map->kind != NODE_MAP) {
		compile_error_node(c, map, "expected a map, got %s", node_kind_name(map));
		return;
	}
	for (uint32_t i = 0; i < map->n; i++) {
		const struct node *key = node_key(map, i), *value = node_value(map, i);
		const struct option_desc *o = option_find(bean->class->options, key->text);
		PATH_KEY(c, key->text.p);
		if (o == NULL)
			compile_error_node(c, key, "class %s has no property \"%s\" here%s",
			    bean->class->name, key->text.p,
			    option_did_you_mean(c->arena,
				option_nearest(c->arena, bean->class->options, NULL, key->text)));
		else
			(void)option_set_node(c, o, bean->conf, value, NULL, NULL);
		PATH_END(c);
	}
}

static struct str
text_of(const struct node *n)
{
	return n != NULL && n->kind == NODE_SCALAR && !node_is_null(n) ? n->text
								       : (struct str){ "", 0 };
}

static void
check_keys(struct compile *c, const struct node *entry)
{
	static const char *const known[] = { "name", "type", "properties", NULL };

	for (uint32_t i = 0; i < entry->n; i++) {
		const struct node *key = node_key(entry, i);
		bool found = false;
		for (const char *const *p = known; *p != NULL; p++)
			found = found || str_eq(key->text, str_of(*p));
		if (refused_option(REFUSED_STEP, "beans", key->text))
			compile_error_node(c, key,
			    "option \"%s\" of a bean needs Java, which is not here", key->text.p);
		else if (!found)
			compile_error_node(c, key, "unknown option \"%s\" of a bean%s", key->text.p,
			    option_did_you_mean(c->arena, str_nearest(key->text, known)));
	}
}

static void
parse_entry(struct compile *c, const struct node *entry)
{
	const struct node *properties;

	if (entry->kind != NODE_MAP) {
		compile_error_node(c, entry, "expected a map with \"name\" and \"type\", got %s",
		    node_kind_name(entry));
		return;
	}
	check_keys(c, entry);
	const struct node *type = node_find(entry, "type");
	struct str name = text_of(node_find(entry, "name")), class_name = text_of(type);
	if (str_starts(class_name, "#class:"))
		class_name = str_skip(class_name, strlen("#class:"));
	if (name.n == 0 || class_name.n == 0) {
		compile_error_node(c, entry, "a bean needs a \"name\" and a \"type\"");
		return;
	}
	const struct bean_class *class = bean_class_find(class_name);
	if (class == NULL) {
		(void)hash_put(&c->beans, name, &refused_bean);
		compile_error_node(c, type, "bean \"%s\": class \"%.*s\" %s", name.p,
		    STR_FMT(class_name), no_class(c, class_name, NULL));
		return;
	}
	struct bean *bean = new_bean(c, name.p, class);
	if ((properties = node_find(entry, "properties")) != NULL) {
		PATH_KEY(c, "properties");
		set_properties(c, bean, properties);
		PATH_END(c);
	}
	const struct bean *before = hash_put(&c->beans, name, bean);
	if (before != NULL && before != &refused_bean)
		compile_error_node(c, entry, "bean \"%s\" is given twice", name.p);
}

static void
parse_list(struct compile *c, const struct node *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		PATH_INDEX(c, i);
		parse_entry(c, &list->items[i]);
		PATH_END(c);
	}
}

static void
parse_entries(struct compile *c, const struct node *key, const struct node *list)
{
	PATH_KEY(c, key->text.p);
	compile_set_at(c, key);
	if (list->kind == NODE_LIST)
		parse_list(c, list);
	else
		compile_error_node(
		    c, list, "expected a list of beans, got %s", node_kind_name(list));
	PATH_END(c);
}

void
beans_collect(struct compile *c, const struct document *doc)
{
	if (doc->root == NULL || doc->root->kind != NODE_LIST)
		return;
	c->file = doc->file;
	for (uint32_t i = 0; i < doc->root->n; i++) {
		const struct node *item = &doc->root->items[i];
		if (item->kind == NODE_MAP && item->n == 1 &&
		    str_eq(node_key(item, 0)->text, STR_LIT("beans")))
			parse_entries(c, node_key(item, 0), node_value(item, 0));
	}
	c->file = NULL;
	c->at = (struct position){ 0 };
}

/* ---- references ---- */

static const struct bean *
class_bean(struct compile *c, const struct node *at, struct str name, const char *role)
{
	const struct bean_class *class = bean_class_find(name);
	const char *other;

	if (class == NULL && refused_find(REFUSED_BEAN, name, &other)) {
		compile_error_node(
		    c, at, "class \"%.*s\" %s", STR_FMT(name), no_class(c, name, role));
		return NULL;
	}
	if (class == NULL || strcmp(class->role, role) != 0) {
		compile_error_node(c, at, "class \"%.*s\" is no %s that is built in%s",
		    STR_FMT(name), role, nearest_class(c, name, role));
		return NULL;
	}
	return new_bean(c, NULL, class);
}

/* Without what stands in front of it. */
static struct str
bean_name(struct str text)
{
	struct str name = str_trim(text);
	size_t n = str_starts(name, "#bean:") ? 6 : str_starts(name, "#") ? 1 : 0;

	return (struct str){ name.p + n, name.n - n };
}

bool
bean_is_refused(struct compile *c, struct str text)
{
	return hash_find(&c->beans, bean_name(text)) == &refused_bean;
}

bool
bean_is_known(struct compile *c, struct str text)
{
	struct str name = str_trim(text);

	if (str_starts(name, "#class:"))
		return bean_class_find(str_trim((struct str){ name.p + 7, name.n - 7 })) != NULL;
	return hash_find(&c->beans, bean_name(text)) != NULL;
}

const struct bean *
bean_find(struct compile *c, const struct node *at, const char *role)
{
	struct str name = str_trim(at->text);

	if (str_starts(name, "#class:"))
		return class_bean(c, at, str_trim((struct str){ name.p + 7, name.n - 7 }), role);
	name = bean_name(name);
	const struct bean *bean = hash_find(&c->beans, name);
	if (bean == &refused_bean)
		return NULL; /* reported */
	if (bean == NULL) {
		compile_error_node(c, at,
		    "Cannot find %s in Registry with name: %.*s; there is no Java here, and "
		    "\"beans\" names those that are built in",
		    role, STR_FMT(name));
		return NULL;
	}
	if (strcmp(bean->class->role, role) != 0) {
		compile_error_node(c, at, "bean \"%.*s\" is a %s, and no %s", STR_FMT(name),
		    bean->class->role, role);
		return NULL;
	}
	return bean;
}
