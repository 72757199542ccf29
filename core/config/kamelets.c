/* The files of Kamelets: found, and read as templates. */
#include "core/config/kamelets.h"

#include "core/base/assert.h"
#include "core/base/buf.h"
#include "core/config/option.h"
#include "core/config/read.h"

#include <dirent.h>
#include <unistd.h>

enum { FOLDERS_MAX = 64 };

static const char suffix[] = ".kamelet.yaml";

bool
kamelet_is_file(const char *name)
{
	struct str s = str_of(name);

	return str_ends(s, suffix) || str_ends(s, ".kamelet.yml");
}

bool
kamelet_is_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && i > 0);
		if (!ok)
			return false;
	}
	return name.n > 0 && name.n < 256;
}

/* ---- folders ---- */

static void
add_folder(struct kamelet_folders *f, const char *folder)
{
	for (size_t i = 0; i < f->n; i++) {
		if (strcmp(f->items[i], folder) == 0)
			return;
	}
	f->items[f->n++] = folder;
}

/* Of those that hold for all files: what is beyond the limit is not searched. */
static void
add_bounded(struct kamelet_folders *f, const char *folder)
{
	if (f->n < FOLDERS_MAX)
		add_folder(f, folder);
}

/* "file:a,classpath:b": as Camel has its component's location. */
static void
add_locations(struct bundle *b, struct kamelet_folders *f, const char *value)
{
	struct str rest = str_of(value), item;

	while (str_split(&rest, ',', &item)) {
		item = str_trim(item);
		if (str_starts(item, "file:"))
			item = str_skip(item, strlen("file:"));
		else if (str_starts(item, "classpath:"))
			item = str_skip(item, strlen("classpath:"));
		while (item.n > 1 && item.p[item.n - 1] == '/')
			item.n--;
		if (item.n > 0)
			add_bounded(f, arena_strndup(&b->arena, item.p, item.n));
	}
}

static void
check_folder(struct bundle *b, const char *folder, struct position at, struct diagnostics *ds)
{
	const char *path = read_path(&b->arena, b->cwd, folder);
	DIR *dir = opendir(path);

	bundle_add_source(b, path);
	if (dir == NULL)
		diagnostics_add(ds, at, false, "kamelets: cannot read the folder \"%s\"", folder);
	else
		(void)closedir(dir); /* read only */
}

struct kamelet_folders
kamelet_folders_of(struct bundle *b, const struct bundle_options *opt, struct diagnostics *ds)
{
	struct kamelet_folders f = { arena_alloc(&b->arena, (FOLDERS_MAX + 1) * sizeof(char *)),
		0 };
	const struct settings_value *given = settings_values_find(&b->values, "kamelets");
	const struct property *location =
	    properties_find(&b->lookup, STR_LIT("camel.component.kamelet.location"));
	const char *base = given != NULL && given->node.line != 0
	    ? read_folder(&b->arena, opt->config_file)
	    : NULL;

	for (const char *const *p = opt->kamelets; p != NULL && *p != NULL; p++) {
		check_folder(b, *p, (struct position){ .file = "--kamelets" }, ds);
		add_bounded(&f, *p);
	}
	for (size_t i = 0; i < b->settings->kamelets.n; i++) {
		const char *folder = read_path(&b->arena, base, b->settings->kamelets.items[i]);
		check_folder(b, folder,
		    given != NULL ? node_at(given->file, &given->node) : (struct position){ 0 },
		    ds);
		add_bounded(&f, folder);
	}
	if (location != NULL)
		add_locations(b, &f, location->value);
	return f;
}

/* All of them, for one file that uses Kamelets. */
static struct kamelet_folders
folders_from(struct bundle *b, const struct kamelet_folders *all, const char *from)
{
	struct kamelet_folders f = { arena_alloc(&b->arena, (FOLDERS_MAX + 5) * sizeof(char *)),
		all->n };

	if (all->n > 0)
		memcpy(f.items, all->items, all->n * sizeof(char *));
	const char *beside = read_folder(&b->arena, from);
	add_folder(&f, beside);
	add_folder(&f, read_path(&b->arena, beside, "kamelets"));
	add_folder(&f, ".");
	add_folder(&f, "kamelets");
	return f;
}

/* How a file of the folder is called. */
static const char *
file_in(struct bundle *b, const char *folder, const char *name, const char *end)
{
	if (strcmp(folder, ".") == 0)
		return arena_printf(&b->arena, "%s%s", name, end);
	return arena_printf(&b->arena, "%s/%s%s",
	    str_starts(str_of(folder), "./") ? folder + 2 : folder, name, end);
}

const char *
kamelet_find(
    struct bundle *b, const struct kamelet_folders *folders, const char *name, const char *from)
{
	struct kamelet_folders f = folders_from(b, folders, from);

	for (size_t i = 0; i < f.n; i++) {
		const char *file = file_in(b, f.items[i], name, suffix);
		if (access(read_path(&b->arena, b->cwd, file), F_OK) == 0)
			return file;
	}
	return NULL;
}

const char *
kamelet_places(struct bundle *b, const struct kamelet_folders *folders, const char *from)
{
	struct kamelet_folders f = folders_from(b, folders, from);
	const char *text = "";

	for (size_t i = 0; i < f.n; i++)
		text = arena_printf(&b->arena, "%s%s\"%s\"", text,
		    i == 0             ? ""
			: i + 1 == f.n ? " and "
				       : ", ",
		    f.items[i]);
	return text;
}

const char *
kamelet_nearest(
    struct bundle *b, const struct kamelet_folders *folders, const char *name, const char *from)
{
	enum { NAMES_MAX = 1000 };
	struct kamelet_folders f = folders_from(b, folders, from);
	const char **names = arena_alloc(&b->arena, (NAMES_MAX + 1) * sizeof(char *));
	size_t n = 0;
	struct dirent *entry;

	for (size_t i = 0; i < f.n; i++) {
		DIR *dir = opendir(read_path(&b->arena, b->cwd, f.items[i]));
		while (dir != NULL && n < NAMES_MAX && (entry = readdir(dir)) != NULL) {
			size_t length = strlen(entry->d_name);
			if (length > sizeof suffix - 1 && str_ends(str_of(entry->d_name), suffix))
				names[n++] = arena_strndup(
				    &b->arena, entry->d_name, length - (sizeof suffix - 1));
		}
		if (dir != NULL)
			(void)closedir(dir); /* read only */
	}
	names[n] = NULL;
	return str_nearest(str_of(name), names);
}

/* ---- reading ---- */

struct template *
kamelet_read(struct bundle *b, const char *file, struct diagnostics *ds)
{
	const char *path = read_path(&b->arena, b->cwd, file);
	struct position at = { .file = file };
	struct hinny_error err;
	struct str text;

	bundle_add_source(b, path);
	if (read_file_shown(&b->arena, path, file, NODE_FILE_MAX, &text, &err) != HINNY_OK) {
		diagnostics_add(ds, at, false, "%s", err.text);
		return NULL;
	}
	const struct node *root = yaml_parse(&b->arena, file, text, ds);
	if (root == NULL)
		return NULL;
	if (!template_is_kamelet(root)) {
		diagnostics_add(ds, node_at(file, root), false,
		    "expected a Kamelet: a map with \"kind: Kamelet\", got %s",
		    node_kind_name(root));
		return NULL;
	}
	return template_of_kamelet(&b->arena, file, root, ds);
}
