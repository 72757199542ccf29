/*
 * Reads the configuration: hinny.yaml, the properties file and the route files, each once. A file
 * that is wrong leaves a hole in the bundle, so that the errors of the others are found as well;
 * the compilation refuses such a bundle, since its errors are counted in the same struct
 * diagnostics.
 */
#include "core/config/bundle_priv.h"

#include "core/base/mem.h"
#include "core/config/expand.h"
#include "core/config/nest.h"
#include "core/config/read.h"
#include "core/config/template.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A list of names in the arena of the bundle, NULL-ended when taken. */
struct names {
	const char **items;
	size_t n, cap;
};

struct reading {
	struct bundle *bundle;
	const struct bundle_options *opt;
	struct diagnostics *ds;
	struct names routes;
	struct node *config; /* hinny.yaml */
};

static void
names_add(struct names *ns, const char *name)
{
	for (size_t i = 0; i < ns->n; i++) {
		if (strcmp(ns->items[i], name) == 0)
			return;
	}
	if (ns->n + 1 >= ns->cap) {
		ns->cap = ns->cap ? 2 * ns->cap : 16;
		ns->items = mem_realloc(ns->items, ns->cap * sizeof(char *));
	}
	ns->items[ns->n++] = name;
	ns->items[ns->n] = NULL;
}

/* The file's text; an unreadable one is reported. */
static bool
read_source(struct reading *r, const char *name, struct str *text)
{
	struct bundle *b = r->bundle;
	struct hinny_error err;

	bundle_add_source(b, read_path(&b->arena, b->cwd, name));
	if (read_file_shown(&b->arena, read_path(&b->arena, b->cwd, name), name, NODE_FILE_MAX,
		text, &err) == HINNY_OK)
		return true;
	diagnostics_add(r->ds, (struct position){ .file = name }, false, "%s", err.text);
	return false;
}

/* Of hinny test: it stands beside routes, and is none. */
static bool
is_test_file(const char *name)
{
	return str_ends(str_of(name), ".test.yaml") || str_ends(str_of(name), ".test.yml");
}

static bool
has_yaml_ending(const char *name)
{
	struct str s = str_of(name);

	return name[0] != '.' && (str_ends(s, ".yaml") || str_ends(s, ".yml")) &&
	    !is_test_file(name);
}

/* ---- properties ---- */

/* `properties` of hinny.yaml: nested or dotted. */
static void
add_property_tree(struct reading *r, const char *prefix, const struct node *map)
{
	struct bundle *b = r->bundle;

	for (uint32_t i = 0; i < map->n; i++) {
		const struct node *value = node_value(map, i);
		const char *key = arena_printf(&b->arena, "%s%s", prefix, node_key(map, i)->text.p);
		if (value->kind == NODE_MAP)
			add_property_tree(r, arena_printf(&b->arena, "%s.", key), value);
		else if (value->kind == NODE_SCALAR)
			properties_set(&b->lookup, str_of(key),
			    node_is_null(value) ? STR_LIT("") : value->text, false, false);
		else
			diagnostics_add(r->ds, node_at(r->opt->config_file, value), false,
			    "properties.%s: expected text, got a list", key);
	}
}

static void
add_properties_of_config(struct reading *r)
{
	const struct node *root = r->config;

	for (uint32_t i = 0; root != NULL && root->kind == NODE_MAP && i < root->n; i++) {
		const struct node *key = node_key(root, i), *value = node_value(root, i);
		if (str_eq(key->text, STR_LIT("properties")) && value->kind == NODE_MAP)
			add_property_tree(r, "", value);
		else if (str_eq(key->text, STR_LIT("properties")) && !node_is_null(value))
			diagnostics_add(r->ds, node_at(r->opt->config_file, value), false,
			    "properties: expected a map, got %s", node_kind_name(value));
		else if (str_starts(key->text, "properties.") && value->kind == NODE_SCALAR)
			properties_set(&r->bundle->lookup,
			    (struct str){ key->text.p + 11, key->text.n - 11 }, value->text, false,
			    false);
	}
}

/* One that need not be there is watched all the same. */
static void
add_properties_file(struct reading *r, const char *name, bool needed)
{
	struct bundle *b = r->bundle;
	const char *path = read_path(&b->arena, b->cwd, name);
	struct hinny_error err;
	struct str text;

	bundle_add_source(b, path);
	if ((!needed && access(path, F_OK) != 0) || !read_source(r, name, &text))
		return;
	/* What --property gave stays; of the file itself the last of equal keys counts. */
	struct properties own;
	properties_init(&own, &b->arena, b->cwd);
	if (properties_parse(&own, text, true, &err) != HINNY_OK)
		diagnostics_add(r->ds, (struct position){ .file = name }, false, "%s", err.text);
	for (size_t i = 0; i < own.n; i++)
		properties_set(
		    &b->lookup, str_of(own.items[i].key), str_of(own.items[i].value), false, false);
	properties_fini(&own);
}

/* application.properties in the folder of a route file. */
static void
add_properties_beside(struct reading *r, const char *route_file)
{
	struct arena *a = &r->bundle->arena;
	const char *path = read_path(a, r->bundle->cwd, route_file);
	struct stat st;
	bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

	if (!has_yaml_ending(route_file) && !folder)
		return;
	const char *name = arena_printf(
	    a, "%s/application.properties", folder ? route_file : read_folder(a, route_file));
	name = str_starts(str_of(name), "./") ? name + 2 : name;
	if (strcmp(name, r->opt->properties_file ? r->opt->properties_file : "") != 0)
		add_properties_file(r, name, false);
}

static bool
names_properties(const struct bundle_options *opt)
{
	return opt->properties_files != NULL && opt->properties_files[0] != NULL;
}

/* Those that are named, else those that lie there. */
static void
add_properties_files(struct reading *r)
{
	const struct bundle_options *opt = r->opt;

	for (const char *const *f = opt->properties_files; f != NULL && *f != NULL; f++)
		add_properties_file(r, *f, true);
	if (names_properties(opt))
		return;
	if (opt->properties_file != NULL)
		add_properties_file(r, opt->properties_file, false);
	for (const char *const *f = opt->route_files; f != NULL && *f != NULL; f++)
		add_properties_beside(r, *f);
}

static void
add_properties(struct reading *r)
{
	for (const char *const *p = r->opt->properties; p != NULL && *p != NULL; p++) {
		const char *equals = strchr(*p, '=');
		if (equals == NULL || equals == *p)
			diagnostics_add(r->ds, (struct position){ .file = "--property" }, false,
			    "expected key=value, got \"%s\"", *p);
		else
			properties_set(&r->bundle->lookup,
			    (struct str){ *p, (size_t)(equals - *p) }, str_of(equals + 1), true,
			    true);
	}
	add_properties_files(r);
	add_properties_of_config(r);
}

/* What ${properties:x} finds: resolved values; one that cannot be resolved is reported only where
 * it is used. */
static void
resolve_properties(struct reading *r)
{
	struct bundle *b = r->bundle;
	struct hinny_error err;
	bool absent;

	b->properties.items = arena_alloc(&b->arena, (b->lookup.n + 1) * sizeof(struct pair));
	for (size_t i = 0; i < b->lookup.n; i++) {
		const struct property *p = &b->lookup.items[i];
		const char *environment = placeholder_environment(str_of(p->key));
		struct str value = str_of(environment != NULL ? environment : p->value);
		if (placeholder_resolve(&b->lookup, value, 0, &value, &absent, &err) != HINNY_OK)
			value = str_of(p->value);
		b->properties.items[b->properties.n++] =
		    (struct pair){ p->key, arena_strndup(&b->arena, value.p, value.n) };
	}
}

/* ---- hinny.yaml ---- */

static void
read_config(struct reading *r)
{
	struct str text;

	if (r->opt->config_file != NULL && read_source(r, r->opt->config_file, &text))
		r->config = yaml_parse(&r->bundle->arena, r->opt->config_file, text, r->ds);
}

/* hinny run binds the loopback address; --port names its port. */
static void
add_run_defaults(struct reading *r)
{
	struct bundle *b = r->bundle;
	const struct bundle_options *opt = r->opt;
	const struct settings_value *given = settings_values_find(&b->values, "http.listen");
	const char *host = opt->run_mode ? "127.0.0.1" : "0.0.0.0";

	if (opt->port == 0 && (!opt->run_mode || given != NULL))
		return;
	const char *text =
	    arena_printf(&b->arena, "%s:%lld", host, opt->port ? (long long)opt->port : 8080LL);
	settings_values_add(&b->values,
	    (struct settings_value){ "http.listen", opt->port ? "--port" : "--set",
		{ .kind = NODE_SCALAR, .flags = NODE_QUOTED, .text = str_of(text) } });
}

static void
make_settings(struct reading *r)
{
	struct bundle *b = r->bundle;

	if (r->config != NULL) {
		placeholder_resolve_tree(&b->lookup, r->opt->config_file, r->config, r->ds);
		settings_gather(&b->values, &b->arena, r->opt->config_file, r->config, r->ds);
	}
	for (const char *const *s = r->opt->set; s != NULL && *s != NULL; s++) {
		const char *equals = strchr(*s, '=');
		if (strncmp(*s, "properties.", 11) != 0 || equals == NULL)
			settings_gather_set(&b->values, &b->arena, *s, r->ds);
	}
	add_run_defaults(r);
	b->settings = settings_make(&b->arena, &b->values, r->ds);
}

/* --set properties.x=y */
static void
add_properties_of_set(struct reading *r)
{
	for (const char *const *s = r->opt->set; s != NULL && *s != NULL; s++) {
		const char *equals = strchr(*s, '=');
		if (strncmp(*s, "properties.", 11) == 0 && equals > *s + 11)
			properties_set(&r->bundle->lookup,
			    (struct str){ *s + 11, (size_t)(equals - *s - 11) }, str_of(equals + 1),
			    false, true);
	}
}

/* ---- route files ---- */

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
add_folder(struct reading *r, const char *folder, const char *path)
{
	struct arena *a = &r->bundle->arena;
	struct names found = { 0 };
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (dir == NULL) {
		diagnostics_add(r->ds, (struct position){ .file = folder }, false,
		    "cannot read the folder: %s", strerror(errno));
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (has_yaml_ending(entry->d_name))
			names_add(&found, arena_printf(a, "%s/%s", folder, entry->d_name));
	}
	(void)closedir(dir); /* read only */
	if (found.n > 0)
		qsort(found.items, found.n, sizeof(char *), compare_names);
	for (size_t i = 0; i < found.n; i++)
		names_add(&r->routes, found.items[i]);
	if (found.n == 0)
		diagnostics_add(r->ds, (struct position){ .file = folder }, true,
		    "no *.yaml file in this folder");
	bundle_add_source(r->bundle, path);
	free(found.items);
}

/* A file or a folder. `name` is how it is called in messages. */
static void
add_path(struct reading *r, const char *name)
{
	struct bundle *b = r->bundle;
	const char *path = read_path(&b->arena, b->cwd, name);
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		add_folder(r, name, path);
	else
		names_add(&r->routes, name);
}

/* What glob found, from the working folder on. */
static const char *
shown_name(const struct bundle *b, const char *path)
{
	size_t n = strlen(b->cwd);

	return strncmp(path, b->cwd, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static void
add_pattern(struct reading *r, const char *base, const char *pattern, struct position at)
{
	struct bundle *b = r->bundle;
	struct arena *a = &b->arena;
	const char *name = read_path(a, base == b->cwd ? NULL : base, pattern);
	glob_t found;

	if (strpbrk(pattern, "*?[") == NULL) {
		add_path(r, name);
		return;
	}
	int rc = glob(read_path(a, b->cwd, name), 0, NULL, &found);
	if (rc == GLOB_NOMATCH)
		diagnostics_add(r->ds, at, true, "routes: no file matches \"%s\"", pattern);
	else if (rc != 0)
		diagnostics_add(r->ds, at, false, "routes: cannot search \"%s\"", pattern);
	const char *config = r->opt->config_file ? read_path(a, b->cwd, r->opt->config_file) : "";
	for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++) {
		if (strcmp(found.gl_pathv[i], config) != 0 && /* hinny.yaml holds no routes */
		    !is_test_file(found.gl_pathv[i]))
			add_path(r, arena_strdup(a, shown_name(b, found.gl_pathv[i])));
	}
	if (rc == 0)
		globfree(&found);
}

static void
find_route_files(struct reading *r)
{
	struct bundle *b = r->bundle;
	const struct settings_value *routes = settings_values_find(&b->values, "routes");
	const char *base = b->cwd;

	for (const char *const *f = r->opt->route_files; f != NULL && *f != NULL; f++)
		add_path(r, *f);
	if (routes != NULL && routes->node.line != 0) /* of the file, not of the command line */
		base = read_folder(&b->arena, r->opt->config_file);
	for (size_t i = 0; i < b->settings->routes.n; i++) {
		const struct node *at = routes == NULL ? NULL
		    : routes->node.kind == NODE_LIST   ? &routes->node.items[i]
						       : &routes->node;
		add_pattern(r, base, b->settings->routes.items[i],
		    at ? node_at(routes->file, at) : (struct position){ 0 });
	}
	if (r->routes.n == 0 && r->ds->errors == 0) /* else nobody knows what it would have named */
		diagnostics_add(r->ds, (struct position){ .file = r->opt->config_file }, true,
		    "no route file is named: there will be no routes");
}

static void
read_route_files(struct reading *r)
{
	struct bundle *b = r->bundle;
	struct expansion *x = expand_begin(b, r->opt, r->ds);
	struct str text;

	for (size_t i = 0; i < r->routes.n; i++) {
		const char *file = arena_strdup(&b->arena, r->routes.items[i]);
		struct node *root =
		    read_source(r, file, &text) ? yaml_parse(&b->arena, file, text, r->ds) : NULL;
		nest_steps(&b->arena, root);
		if (root != NULL && template_is_kamelet(root)) {
			expand_add_kamelet(x, file, root);
			continue;
		}
		struct document *doc = bundle_add_document(b);
		doc->file = file;
		doc->root = root;
		expand_take_templates(x, (uint32_t)b->documents_n - 1);
		placeholder_resolve_tree(&b->lookup, file, root, r->ds);
	}
	expand_end(x);
}

static void
edit(struct reading *r)
{
	struct bundle *b = r->bundle;
	struct bundle_edit ed = {
		.arena = &b->arena,
		.documents = b->documents,
		.documents_n = b->documents_n,
		.replaced = &b->replaced,
		.ds = r->ds,
	};

	r->opt->edit(r->opt->edit_arg, &ed);
	if (ed.added.root == NULL)
		return;
	placeholder_resolve_tree(&b->lookup, ed.added.file, ed.added.root, r->ds);
	*bundle_add_document(b) = ed.added;
}

struct bundle *
bundle_read(const struct bundle_options *opt, struct diagnostics *ds)
{
	struct reading r = { .bundle = bundle_new(), .opt = opt, .ds = ds };
	struct bundle *b = r.bundle;

	b->cwd = arena_strdup(&b->arena, opt->cwd != NULL ? opt->cwd : ".");
	b->lookup.cwd = b->cwd;
	read_config(&r);
	add_properties(&r);
	add_properties_of_set(&r);
	make_settings(&r);
	find_route_files(&r);
	for (size_t i = 0; i < r.routes.n && !names_properties(opt); i++)
		add_properties_beside(
		    &r, r.routes.items[i]); /* of `routes:`; the others are there */
	read_route_files(&r);
	if (opt->edit != NULL)
		edit(&r);
	resolve_properties(&r);
	free(r.routes.items);
	return b;
}
