/* hinny.yaml: from trees and --set to values with known keys, and from these to struct settings. */
#include "core/config/settings_priv.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/config/config.h"
#include "core/config/option.h"

#include <stdlib.h>

#define COMMAND_LINE "--set"

static const struct option_desc rows[] = {
#define SETTING(path, kind, member, deflt, least, most, words, text)                               \
	{ .name = path,                                                                            \
		.type = OPTION_##kind,                                                             \
		.dflt = deflt,                                                                     \
		.values = words,                                                                   \
		.min = least,                                                                      \
		.max = most,                                                                       \
		.help = text,                                                                      \
		.offset = offsetof(struct settings, member) },
#include "core/config/settings.def"
#undef SETTING
	OPTIONS_END
};

static const struct option_desc worker_rows[] = {
#define SETTING(path, kind, member, deflt, least, most, words, text)                               \
	{ .name = path,                                                                            \
		.type = OPTION_##kind,                                                             \
		.dflt = deflt,                                                                     \
		.values = words,                                                                   \
		.min = least,                                                                      \
		.max = most,                                                                       \
		.help = text,                                                                      \
		.offset = offsetof(struct settings_worker, member) },
#include "core/config/settings_workers.def"
#undef SETTING
	OPTIONS_END
};

const struct option_desc *
settings_rows(void)
{
	return rows;
}

const struct option_desc *
settings_worker_rows(void)
{
	return worker_rows;
}

void
settings_values_fini(struct settings_values *vs)
{
	free(vs->items);
	*vs = (struct settings_values){ 0 };
}

void
settings_values_add(struct settings_values *vs, struct settings_value v)
{
	if (vs->n == vs->cap) {
		vs->cap = vs->cap ? 2 * vs->cap : 16;
		vs->items = mem_realloc(vs->items, vs->cap * sizeof(struct settings_value));
	}
	vs->items[vs->n++] = v;
}

const struct settings_value *
settings_values_find(const struct settings_values *vs, const char *path)
{
	for (size_t i = vs->n; i > 0; i--) {
		if (strcmp(vs->items[i - 1].path, path) == 0)
			return &vs->items[i - 1];
	}
	return NULL;
}

/* ---- which keys there are ---- */

/* "workers.http.user": the kind's index and what stands behind it; -1 when it is none. */
static int
split_worker(struct str path, struct str *rest)
{
	struct str word;

	if (!str_split(&path, '.', &word) || !str_eq(word, STR_LIT("workers")) ||
	    !str_split(&path, '.', &word))
		return -1;
	*rest = path;
	return kind_index(word);
}

/* The row of a path, and where its member lies. */
static const struct option_desc *
find_row(struct str path, int *kind)
{
	struct str rest;

	*kind = split_worker(path, &rest);
	return *kind >= 0 ? option_find(worker_rows, rest) : option_find(rows, path);
}

/* Is "http" the front of a path? */
static bool
is_group(struct str path)
{
	struct str rest;

	if (str_eq(path, STR_LIT("workers")) || (split_worker(path, &rest) >= 0 && rest.n == 0))
		return true;
	for (const struct option_desc *o = rows; o->name != NULL; o++) {
		if (strlen(o->name) > path.n && memcmp(o->name, path.p, path.n) == 0 &&
		    o->name[path.n] == '.')
			return true;
	}
	return false;
}

/* Adds what may stand behind `prefix` ("" or "http."), as one word and in full. */
static void
add_names(struct arena *a, const char **names, size_t *n, const struct option_desc *table,
    const char *prefix)
{
	size_t skip = strlen(prefix);

	for (const struct option_desc *o = table; o->name != NULL; o++) {
		if (strncmp(o->name, prefix, skip) != 0)
			continue;
		const char *rest = o->name + skip, *dot = strchr(rest, '.');
		names[(*n)++] = rest;
		if (dot != NULL)
			names[(*n)++] = arena_strndup(a, rest, (size_t)(dot - rest));
	}
}

static const char *
nearest(struct arena *a, const char *prefix, struct str key)
{
	enum { EXTRA = 32 };
	const char *names[2 * (ARRAY_LEN(rows) + ARRAY_LEN(worker_rows)) + EXTRA];
	size_t n = 0;

	if (prefix[0] == '\0') {
		names[n++] = "workers";
		names[n++] = "properties";
	}
	if (strcmp(prefix, "workers.") == 0) {
		for (int i = 0; i < kind_count() && n < EXTRA; i++)
			names[n++] = kind_at(i)->kind;
	} else if (strncmp(prefix, "workers.", 8) == 0) {
		add_names(a, names, &n, worker_rows, "");
	} else {
		add_names(a, names, &n, rows, prefix);
	}
	names[n] = NULL;
	return option_did_you_mean(a, str_nearest(key, names));
}

/* ---- gathering ---- */

struct gather {
	struct settings_values *values;
	struct arena *arena;
	struct diagnostics *ds;
	const char *file;
};

static void
report_unknown(struct gather *g, struct position at, const char *path)
{
	const char *last = path, *dot;

	/* The first part that is unknown is the one to name: "htp.listen" has a wrong "htp". */
	while ((dot = strchr(last, '.')) != NULL &&
	    is_group((struct str){ path, (size_t)(dot - path) }))
		last = dot + 1;
	const char *prefix = arena_strndup(g->arena, path, (size_t)(last - path));
	bool kind = strcmp(prefix, "workers.") == 0;
	size_t n = dot != NULL ? (size_t)(dot - last) : strlen(last);
	diagnostics_add(g->ds, at, false, "%s: unknown %s \"%.*s\"%s", path,
	    kind ? "worker kind" : "key", (int)n, last,
	    nearest(g->arena, prefix, (struct str){ last, n }));
}

/* Is `value` what the row may have? */
static bool
check_kind(
    struct gather *g, const char *path, const struct option_desc *row, const struct node *value)
{
	struct position at =
	    value->line ? node_at(g->file, value) : (struct position){ .file = g->file };

	if (value->kind == NODE_SCALAR)
		return true;
	if (value->kind == NODE_MAP || row->type != OPTION_STRINGS) {
		diagnostics_add(g->ds, at, false, "%s: expected %s, got %s", path,
		    row->type == OPTION_STRINGS ? "text or a list" : option_expected(g->arena, row),
		    node_kind_name(value));
		return false;
	}
	for (uint32_t i = 0; i < value->n; i++) {
		if (value->items[i].kind != NODE_SCALAR) {
			diagnostics_add(g->ds, node_at(g->file, &value->items[i]), false,
			    "%s[%u]: expected text, got %s", path, i,
			    node_kind_name(&value->items[i]));
			return false;
		}
	}
	return true;
}

/* In this file, nested or with dots. */
static bool
is_given(const struct gather *g, const char *path)
{
	const struct settings_value *v = settings_values_find(g->values, path);

	return v != NULL && v->file == g->file;
}

static void
gather_map(struct gather *g, const char *prefix, const struct node *map)
{
	for (uint32_t i = 0; i < map->n; i++) {
		const struct node *key = node_key(map, i), *value = node_value(map, i);
		const char *path = arena_printf(g->arena, "%s%s", prefix, key->text.p);
		int kind;
		const struct option_desc *row = find_row(str_of(path), &kind);

		if (strcmp(path, "properties") == 0 ||
		    (row == NULL && strncmp(path, "properties.", 11) == 0))
			continue;
		if (row != NULL) {
			if (is_given(g, path))
				diagnostics_add(g->ds, node_at(g->file, key), false,
				    "key \"%s\" is given twice", path);
			else if (!node_is_null(value) && !(value->flags & NODE_ABSENT) &&
			    check_kind(g, path, row, value))
				settings_values_add(
				    g->values, (struct settings_value){ path, g->file, *value });
		} else if (!is_group(str_of(path))) {
			report_unknown(g, node_at(g->file, key), path);
		} else if (value->kind == NODE_MAP) {
			gather_map(g, arena_printf(g->arena, "%s.", path), value);
		} else if (!node_is_null(value)) {
			diagnostics_add(g->ds, node_at(g->file, value), false,
			    "%s: expected a map, got %s", path, node_kind_name(value));
		}
	}
}

void
settings_gather(struct settings_values *vs, struct arena *a, const char *file,
    const struct node *root, struct diagnostics *ds)
{
	struct gather g = { vs, a, ds, file };

	if (root->kind == NODE_MAP)
		gather_map(&g, "", root);
	else if (!node_is_null(root))
		diagnostics_add(
		    ds, node_at(file, root), false, "expected a map, got %s", node_kind_name(root));
}

void
settings_gather_set(
    struct settings_values *vs, struct arena *a, const char *assignment, struct diagnostics *ds)
{
	struct gather g = { vs, a, ds, COMMAND_LINE };
	const char *equals = strchr(assignment, '=');
	struct position at = { .file = COMMAND_LINE };
	int kind;

	if (equals == NULL || equals == assignment) {
		diagnostics_add(ds, at, false, "expected key=value, got \"%s\"", assignment);
		return;
	}
	const char *path = arena_strndup(a, assignment, (size_t)(equals - assignment));
	if (find_row(str_of(path), &kind) == NULL) {
		if (is_group(str_of(path)) || strcmp(path, "properties") == 0)
			diagnostics_add(ds, at, false,
			    "%s: is a group of keys, not one that has a value", path);
		else
			report_unknown(&g, at, path);
		return;
	}
	struct node node = { .kind = NODE_SCALAR,
		.flags = NODE_QUOTED,
		.text = str_of(arena_strdup(a, equals + 1)) };
	settings_values_add(vs, (struct settings_value){ path, COMMAND_LINE, node });
}

/* ---- the structure ---- */

static enum hinny_rc
bad_listen(struct str text, struct hinny_error *err)
{
	return hinny_error_set(err, HINNY_EINVAL,
	    "expected an address such as \"0.0.0.0:8080\", \"[::1]:8080\", \"8080\", "
	    "\"unix:/run/x.sock\" or \"fd:NAME\", got \"%.*s\"",
	    STR_FMT(text));
}

static bool
cut(struct str *s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (!str_starts(*s, prefix))
		return false;
	*s = (struct str){ s->p + n, s->n - n };
	return true;
}

/* Cuts "host:" or "[host]:" off; what is left is the port. */
static bool
cut_host(struct arena *a, struct str *s, const char **host)
{
	const char *colon = memrchr(s->p, ':', s->n);
	struct str name = { s->p, colon ? (size_t)(colon - s->p) : 0 };

	*host = NULL;
	if (colon == NULL)
		return true;
	*s = (struct str){ colon + 1, s->n - name.n - 1 };
	if (name.n >= 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
		name = (struct str){ name.p + 1, name.n - 2 };
	else if (memchr(name.p, ':', name.n) != NULL) /* IPv6 wants brackets */
		return false;
	if (name.n == 0 && colon != name.p) /* "[]:80" */
		return false;
	for (size_t i = 0; i < name.n; i++) {
		if ((unsigned char)name.p[i] <= ' ' || strchr("[]/,", name.p[i]) != NULL)
			return false;
	}
	if (name.n > 0 && !str_eq(name, STR_LIT("*")))
		*host = arena_strndup(a, name.p, name.n);
	return true;
}

enum hinny_rc
settings_parse_listen(
    struct arena *a, struct str text, struct listen_address *out, struct hinny_error *err)
{
	enum { UNIX_PATH_MAX_BYTES = 107 };
	struct str rest = text;
	int64_t port;

	*out = (struct listen_address){ .text = arena_strndup(a, text.p, text.n) };
	if (cut(&rest, "unix:")) {
		if (rest.n == 0 || rest.n > UNIX_PATH_MAX_BYTES)
			return hinny_error_set(err, HINNY_EINVAL,
			    "expected the path of a unix socket of at most %d bytes, got \"%.*s\"",
			    UNIX_PATH_MAX_BYTES, STR_FMT(text));
		out->unix_path = arena_strndup(a, rest.p, rest.n);
		return HINNY_OK;
	}
	if (cut(&rest, "fd:")) {
		if (rest.n == 0)
			return bad_listen(text, err);
		out->fd_name = arena_strndup(a, rest.p, rest.n);
		return HINNY_OK;
	}
	if (!cut_host(a, &rest, &out->host) || !str_to_int64(rest, &port) || port < 1 ||
	    port > 65535 || rest.p[0] == '+')
		return bad_listen(text, err);
	out->port = (uint16_t)port;
	return HINNY_OK;
}

static struct position
value_at(const struct settings_value *v)
{
	return node_at(v->file, &v->node);
}

static void
set_list(struct arena *a, struct strings *out, const struct node *list)
{
	out->items = arena_alloc(a, (list->n + 1) * sizeof(char *));
	out->n = list->n;
	for (uint32_t i = 0; i < list->n; i++)
		out->items[i] = list->items[i].text.p;
}

static void
set_value(
    struct arena *a, struct settings *s, const struct settings_value *v, struct diagnostics *ds)
{
	struct hinny_error err;
	int kind;
	const struct option_desc *row = find_row(str_of(v->path), &kind);
	void *conf = kind >= 0 ? (void *)&s->workers[kind] : (void *)s;

	if (row == NULL || (v->node.flags & NODE_BAD))
		return; /* reported; in a loaded bundle it cannot be */
	if (v->node.kind == NODE_LIST)
		set_list(a, (struct strings *)((char *)conf + row->offset), &v->node);
	else if (option_set_text(a, row, conf, v->node.text, &err) != HINNY_OK)
		diagnostics_add(ds, value_at(v), false, "%s: %s", v->path, err.text);
}

static bool
is_listened_on(const struct settings *s, const char *text)
{
	for (size_t i = 0; i < s->http.listen_n; i++) {
		if (strcmp(s->http.listen[i].text, text) == 0)
			return true;
	}
	return false;
}

static void
set_listen(
    struct arena *a, struct settings *s, const struct settings_value *v, struct diagnostics *ds)
{
	struct hinny_error err;
	const struct strings *texts = &s->http.listen_text;

	s->http.listen = arena_zalloc(a, (texts->n + 1) * sizeof(struct listen_address));
	for (size_t i = 0; i < texts->n; i++) {
		struct listen_address *la = &s->http.listen[s->http.listen_n];
		struct position at = { 0 };
		if (v != NULL)
			at = v->node.kind == NODE_LIST ? node_at(v->file, &v->node.items[i])
						       : value_at(v);
		if (settings_parse_listen(a, str_of(texts->items[i]), la, &err) != HINNY_OK)
			diagnostics_add(ds, at, false, "http.listen: %s", err.text);
		else if (is_listened_on(s, la->text))
			diagnostics_add(
			    ds, at, false, "http.listen: \"%s\" is given twice", la->text);
		else
			s->http.listen_n++;
	}
	if (texts->n == 0 && v != NULL)
		diagnostics_add(
		    ds, value_at(v), false, "http.listen: expected at least one address");
}

#define SETTINGS_MEMORY_LEAST (200ull << 20)

static void
check_mode(const struct settings *s, const struct settings_value *v, struct diagnostics *ds)
{
	const char *mode = s->admin.mode;
	size_t n = strspn(mode, "01234567");

	if (v != NULL && (mode[n] != '\0' || n < 3 || n > 4))
		diagnostics_add(ds, value_at(v), false,
		    "admin.mode: expected three or four octal digits such as \"0660\", got \"%s\"",
		    mode);
}

/* The stacks of a worker's threads are counted too: with less it could not even start. */
static void
check_memory(const struct settings *s, const struct settings_values *vs, struct diagnostics *ds)
{
	for (int i = 0; i < kind_count(); i++) {
		char path[96];
		uint64_t memory = s->workers[i].memory;
		(void)snprintf(path, sizeof path, "workers.%s.memory", kind_at(i)->kind); /* kinds are short */
		const struct settings_value *v = settings_values_find(vs, path);
		if (v != NULL && memory != 0 && memory < SETTINGS_MEMORY_LEAST)
			diagnostics_add(ds, value_at(v), false,
			    "%s: expected 0 (no limit) or at least 200MiB, since the stacks of threads count", path);
	}
}

struct settings *
settings_make(struct arena *a, const struct settings_values *vs, struct diagnostics *ds)
{
	struct settings *s = option_new_conf(a, sizeof(struct settings));

	s->workers = arena_zalloc(a, (size_t)(kind_count() + 1) * sizeof(struct settings_worker));
	for (const struct option_desc *o = rows; o->name != NULL; o++)
		option_set_default(a, o, s);
	for (int i = 0; i < kind_count(); i++) {
		for (const struct option_desc *o = worker_rows; o->name != NULL; o++)
			option_set_default(a, o, &s->workers[i]);
	}
	for (size_t i = 0; i < vs->n; i++)
		set_value(a, s, &vs->items[i], ds);
	set_listen(a, s, settings_values_find(vs, "http.listen"), ds);
	check_mode(s, settings_values_find(vs, "admin.mode"), ds);
	check_memory(s, vs, ds);
	return s;
}
