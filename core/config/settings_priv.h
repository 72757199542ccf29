/* The way of a setting from hinny.yaml and --set to struct settings. For bundle*.c, compile.c and
 * doc.c. */
#ifndef HINNY_CONFIG_SETTINGS_PRIV_H
#define HINNY_CONFIG_SETTINGS_PRIV_H

#include "core/config/node.h"
#include "core/config/settings.h"

/* One value, still as it was written. A bundle carries these. */
struct settings_value {
	const char *path; /* "http.listen", a key that is known */
	const char *file; /* "--set" for the command line's */
	struct node node; /* scalar, or a list of scalars */
};
struct settings_values {
	struct settings_value *items; /* in order: of one path, the last counts */
	size_t n, cap;
};

void settings_values_fini(struct settings_values *vs);
void settings_values_add(struct settings_values *vs, struct settings_value v);
/* The last one of that path, or NULL. */
const struct settings_value *settings_values_find(
    const struct settings_values *vs, const char *path);

/* Takes what a tree of hinny.yaml says; `properties` apart. Unknown keys and wrong kinds go to ds.
 * The tree and file must live on. */
void settings_gather(struct settings_values *vs, struct arena *a, const char *file,
    const struct node *root, struct diagnostics *ds);
/* "key=value" of --set. */
void settings_gather_set(
    struct settings_values *vs, struct arena *a, const char *assignment, struct diagnostics *ds);
/* The structure, with defaults; wrong values go to ds and leave the default. */
struct settings *settings_make(
    struct arena *a, const struct settings_values *vs, struct diagnostics *ds);
/* HINNY_EINVAL: err says what an address looks like. */
enum hinny_rc settings_parse_listen(
    struct arena *a, struct str text, struct listen_address *out, struct hinny_error *err);

/* The rows, ended by one without name: of struct settings, and of struct settings_worker. */
const struct option_desc *settings_rows(void);
const struct option_desc *settings_worker_rows(void);

#endif
