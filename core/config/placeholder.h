/*
 * Properties and the placeholders that stand for them: {{name}}, {{name:default}}, {{?name}},
 * {{env:NAME}}, {{sys:NAME}}, {{file:PATH}}. They are resolved once, when a bundle is read, in the
 * values of route files and of hinny.yaml. Looked up in this order: the environment ({{my.key}}
 * finds MY_KEY), --property, the properties file, `properties` of hinny.yaml. A property's own
 * value may have placeholders.
 */
#ifndef HINNY_CONFIG_PLACEHOLDER_H
#define HINNY_CONFIG_PLACEHOLDER_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/str.h"

#include <stdbool.h>

struct node;
struct document;
struct diagnostics;

/* Stands in front of the name of a parameter that has no value, since its template is only checked:
 * what is said of such a text is said of nobody's. {{?name}} has then none. */
#define PLACEHOLDER_UNKNOWN '\x02'

struct property {
	const char *key, *value; /* as written */
	const char *written;     /* of a template's parameter: what of it stands in route files; NULL: nothing */
	bool system;             /* of --property: {{sys:NAME}} finds it too */
};

struct properties {
	struct arena *arena;
	struct property *items; /* in the order of definition */
	size_t n, cap;
	struct hash by_key; /* key -> its position + 1 */
	const char *cwd;    /* {{file:PATH}} starts here */
	const struct properties *local; /* parameters of a template: found before everything else */
	const char *origin;             /* where these are used: said with what is wrong */
};

/* Everything is kept in the arena, which must live as long. fini frees the index alone. */
void properties_init(struct properties *ps, struct arena *a, const char *cwd);
void properties_fini(struct properties *ps);
/* Copies key and value. A key that is there already gets the new value when `replace`, else it
 * stays. */
void properties_set(
    struct properties *ps, struct str key, struct str value, bool system, bool replace);
const struct property *properties_find(const struct properties *ps, struct str key);
/* The syntax of Java's .properties files: comments, =, :, blanks, continued lines, \uHHHH. The last
 * of equal keys wins. */
enum hinny_rc properties_parse(
    struct properties *ps, struct str text, bool replace, struct hinny_error *err);

enum placeholder_flag {
	PLACEHOLDER_URI = 1, /* an option of a uri whose value is a missing {{?name}} is left out */
};

/*
 * The text with all placeholders replaced, NUL-terminated, in ps->arena (or `in` itself when it has
 * none). *absent: nothing but a {{?name}} that is not there. HINNY_ENOENT: a property or variable
 * is missing; HINNY_EINVAL: wrong syntax; HINNY_ELIMIT: too deep or too long; HINNY_EIO: an
 * unreadable {{file:}}.
 */
enum hinny_rc placeholder_resolve(const struct properties *ps, struct str in, unsigned flags,
    struct str *out, bool *absent, struct hinny_error *err);
/* What stands for a placeholder whose value comes from outside of the route files, in node.written
 * and property.written. */
#define PLACEHOLDER_OUTSIDE "{{}}"
/* Notes what of a template's parameter, which is there, stands in route files. */
void properties_set_written(struct properties *ps, struct str key, struct str written);
/* All values (not keys) of a tree, in place; what cannot be resolved is reported and marked
 * NODE_BAD. A text that had placeholders gets its `written`. */
void placeholder_resolve_tree(
    const struct properties *ps, const char *file, struct node *root, struct diagnostics *ds);
/* Value of an environment variable for a key: MY_KEY for "my.key"; NULL when there is none. */
const char *placeholder_environment(struct str key);

#endif
