/*
 * Placeholders. The text of one is resolved from the inside out: `{{gr{{x:ee}}t}}` looks up
 * `greet`. There is no escape for a literal `{{`, as in Camel.
 */
#include "core/config/placeholder.h"

#include "core/base/assert.h"
#include "core/base/buf.h"
#include "core/config/config.h"
#include "core/config/node.h"
#include "core/config/read.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	DEPTH_MAX = 20,     /* placeholders in placeholders and in values of properties */
	TEXT_MAX = 4 << 20, /* bytes that a text may become */
	FILE_MAX = 1 << 20, /* bytes of a {{file:}} */
	NAME_MAX_BYTES = 256,
};

/* What stands for a missing optional one until the text around it is known. YAML has no such
 * character. */
#define MISSING '\x01'

struct resolution {
	const struct properties *ps;
	struct hinny_error *err;
	unsigned depth;
	bool missing; /* MISSING stands in the text */
	bool written; /* not the value of what comes from outside, but PLACEHOLDER_OUTSIDE */
};

static enum hinny_rc resolve_into(struct resolution *r, struct str in, struct buf *out);

const char *
placeholder_environment(struct str key)
{
	char name[NAME_MAX_BYTES];

	if (key.n == 0 || key.n >= sizeof name)
		return NULL;
	for (size_t i = 0; i < key.n; i++) {
		char c = key.p[i];
		name[i] = c == '.' || c == '-' ? '_'
		    : c >= 'a' && c <= 'z'     ? (char)(c - 'a' + 'A')
					       : c;
	}
	name[key.n] = '\0';
	return getenv(name);
}

/* "env:my.key": the name as it is, else in upper case. */
static const char *
find_environment(struct arena *a, struct str name)
{
	const char *value = getenv(arena_strndup(a, name.p, name.n));

	return value != NULL ? value : placeholder_environment(name);
}

/* Java's system properties that have a meaning here, and what --property gave. */
static const char *
find_system(const struct properties *ps, struct str name)
{
	static const struct {
		const char *name, *environment, *value;
	} known[] = {
		{ "user.home", "HOME", NULL },
		{ "user.name", "USER", NULL },
		{ "java.io.tmpdir", "TMPDIR", "/tmp" },
		{ "os.name", NULL, "Linux" },
		{ "file.separator", NULL, "/" },
		{ "path.separator", NULL, ":" },
		{ "line.separator", NULL, "\n" },
	};
	const struct property *p = properties_find(ps, name);

	if (p != NULL && p->system)
		return p->value;
	if (str_eq(name, STR_LIT("user.dir")))
		return ps->cwd;
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (!str_eq(name, str_of(known[i].name)))
			continue;
		const char *value = known[i].environment ? getenv(known[i].environment) : NULL;
		return value != NULL ? value : known[i].value;
	}
	return NULL;
}

static const char *
find_property(const struct properties *ps, struct str key)
{
	const struct property *p = ps->local != NULL ? properties_find(ps->local, key) : NULL;
	const char *value = p != NULL ? p->value : placeholder_environment(key);

	if (value != NULL)
		return value;
	p = properties_find(ps, key);
	return p != NULL ? p->value : NULL;
}

/* Contents without the last line end. */
static enum hinny_rc
add_file(struct resolution *r, struct str name, struct buf *out)
{
	struct str text;
	const char *shown = arena_strndup(r->ps->arena, name.p, name.n);
	enum hinny_rc rc = read_file_shown(r->ps->arena, read_path(r->ps->arena, r->ps->cwd, shown),
	    shown, FILE_MAX, &text, r->err);

	if (rc != HINNY_OK)
		return rc;
	if (str_ends(text, "\n"))
		text.n--;
	if (str_ends(text, "\r"))
		text.n--;
	return buf_add_str(out, text);
}

/* What of a value that was found stands in route files: a parameter of a template may. */
static enum hinny_rc
add_written(struct resolution *r, struct str key, bool property, struct buf *out)
{
	const struct property *p =
	    property && r->ps->local != NULL ? properties_find(r->ps->local, key) : NULL;

	if (p == NULL || p->written == NULL)
		return buf_add_str(out, STR_LIT(PLACEHOLDER_OUTSIDE));
	return resolve_into(r, str_of(p->written), out);
}

/* Adds a value that was found; those of properties may have placeholders of their own. */
static enum hinny_rc
add_value(struct resolution *r, struct str value, bool again, struct buf *out)
{
	return again ? resolve_into(r, value, out) : buf_add_str(out, value);
}

static bool
cut_prefix(struct str *s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (!str_starts(*s, prefix))
		return false;
	*s = (struct str){ s->p + n, s->n - n };
	return true;
}

static bool
cut_suffix(struct str *s, const char *suffix)
{
	if (!str_ends(*s, suffix))
		return false;
	s->n -= strlen(suffix);
	return true;
}

/* One placeholder, whose own text has been resolved. */
static enum hinny_rc
add_placeholder(struct resolution *r, struct str text, struct buf *out)
{
	struct str rest = str_trim(text), key;
	if (r->written && rest.n == 0)
		return buf_add_str(out, STR_LIT(PLACEHOLDER_OUTSIDE)); /* it was one before */
	bool optional = cut_prefix(&rest, "?");
	bool env = cut_prefix(&rest, "env:"), sys = !env && cut_prefix(&rest, "sys:");

	if (!env && !sys && cut_prefix(&rest, "file:"))
		return r->written ? buf_add_str(out, STR_LIT(PLACEHOLDER_OUTSIDE)) : add_file(r, rest, out);
	size_t colon = str_find(rest, STR_LIT(":"));
	key = str_trim((struct str){ rest.p, colon == SIZE_MAX ? rest.n : colon });
	bool nested = !cut_suffix(&key, "?nested=false");
	(void)cut_suffix(&key, "?nested=true"); /* as it is anyway */
	const char *value = env ? find_environment(r->ps->arena, key)
	    : sys               ? find_system(r->ps, key)
				: find_property(r->ps, key);
	if (optional && value != NULL && value[0] == PLACEHOLDER_UNKNOWN)
		value = NULL;
	if (value != NULL && r->written)
		return add_written(r, key, !env && !sys, out);
	if (value != NULL)
		return add_value(r, str_of(value), !env && nested, out);
	if (colon != SIZE_MAX)
		return buf_add(out, rest.p + colon + 1, rest.n - colon - 1);
	if (optional) {
		r->missing = true;
		return buf_add_char(out, MISSING);
	}
	if (env)
		return hinny_error_set(
		    r->err, HINNY_ENOENT, "environment variable \"%.*s\" is not set", STR_FMT(key));
	return hinny_error_set(r->err, HINNY_ENOENT,
	    "property \"%.*s\" is not defined: expected it in the environment or a properties "
	    "file, or a default as in {{%.*s:text}}",
	    STR_FMT(key), STR_FMT(key));
}

/* The length of the placeholder at the head of s, "{{" and "}}" included; 0 when it is not closed.
 * A single pair of braces inside it is text. */
static size_t
placeholder_length(struct str s)
{
	unsigned depth = 0, single = 0;

	for (size_t i = 0; i < s.n; i++) {
		bool two = i + 1 < s.n && s.p[i + 1] == s.p[i];
		if (s.p[i] == '{' && two) {
			depth++;
			i++;
		} else if (s.p[i] == '{') {
			single++;
		} else if (s.p[i] == '}' && single > 0) {
			single--;
		} else if (s.p[i] == '}' && two) {
			i++;
			if (--depth == 0)
				return i + 1;
		}
	}
	return 0;
}

static enum hinny_rc
resolve_one(struct resolution *r, struct str body, struct buf *out)
{
	struct buf name;

	buf_init(&name, TEXT_MAX);
	bool written = r->written;
	r->written = false; /* its name is needed as it is */
	enum hinny_rc rc = resolve_into(r, body, &name);
	r->written = written;
	if (rc == HINNY_OK)
		rc = add_placeholder(r, (struct str){ name.p ? name.p : "", name.n }, out);
	buf_fini(&name);
	return rc;
}

static enum hinny_rc
resolve_into(struct resolution *r, struct str in, struct buf *out)
{
	enum hinny_rc rc = HINNY_OK;

	if (r->depth == DEPTH_MAX)
		return hinny_error_set(r->err, HINNY_ELIMIT,
		    "more than %d placeholders in one another: does a property refer to itself?",
		    DEPTH_MAX);
	r->depth++;
	while (rc == HINNY_OK && in.n > 0) {
		size_t open = str_find(in, STR_LIT("{{"));
		if (open == SIZE_MAX) {
			rc = buf_add_str(out, in);
			break;
		}
		size_t n = placeholder_length((struct str){ in.p + open, in.n - open });
		if (n == 0)
			rc = hinny_error_set(r->err, HINNY_EINVAL, "\"{{\" has no \"}}\"");
		else if (open > 0 && in.p[open - 1] == '\\')
			rc = hinny_error_set(
			    r->err, HINNY_EINVAL, "\"\\{{\": there is no escape for placeholders");
		else if ((rc = buf_add(out, in.p, open)) == HINNY_OK)
			rc = resolve_one(r, (struct str){ in.p + open + 2, n - 4 }, out);
		in = (struct str){ in.p + open + n, in.n - open - n };
	}
	r->depth--;
	return rc;
}

/* Takes the option around a MISSING at `at` out of a uri: "?a=1&b=\1&c=2". False when it stands for
 * no whole value. */
static bool
drop_option(char *p, size_t *n, size_t at)
{
	size_t start = at, end = at + 1;

	if (at == 0 || p[at - 1] != '=' || (end < *n && p[end] != '&'))
		return false;
	while (start > 0 && p[start] != '&' && p[start] != '?')
		start--;
	if (p[start] != '&' && p[start] != '?')
		return false;
	if (end < *n) { /* the separator behind goes, the one before stays */
		start++;
		end++;
	}
	memmove(p + start, p + end, *n - end);
	*n -= end - start;
	return true;
}

static void
drop_missing(char *p, size_t *n, unsigned flags)
{
	for (size_t i = 0; i < *n;) {
		if (p[i] != MISSING) {
			i++;
		} else if ((flags & PLACEHOLDER_URI) && drop_option(p, n, i)) {
			i = 0;
		} else {
			memmove(p + i, p + i + 1, *n - i - 1);
			--*n;
		}
	}
}

static enum hinny_rc
resolve(const struct properties *ps, struct str in, unsigned flags, bool written, struct str *out,
    bool *absent, struct hinny_error *err)
{
	struct resolution r = { .ps = ps, .err = err, .written = written };
	struct buf b;

	*out = in;
	*absent = false;
	if (str_find(in, STR_LIT("{{")) == SIZE_MAX)
		return HINNY_OK;
	buf_init(&b, TEXT_MAX);
	err->text[0] = '\0';
	enum hinny_rc rc = resolve_into(&r, in, &b);
	if (rc == HINNY_ELIMIT && err->text[0] == '\0')
		(void)hinny_error_set(err, rc, "the text becomes longer than %d bytes", TEXT_MAX);
	if (rc == HINNY_OK) {
		*absent = r.missing && b.n == 1;
		if (r.missing)
			drop_missing(b.p, &b.n, flags);
		*out = (struct str){ arena_strndup(ps->arena, b.p ? b.p : "", b.n), b.n };
	}
	buf_fini(&b);
	return rc;
}

enum hinny_rc
placeholder_resolve(const struct properties *ps, struct str in, unsigned flags, struct str *out,
    bool *absent, struct hinny_error *err)
{
	return resolve(ps, in, flags, false, out, absent, err);
}

static bool
is_uri_key(struct str key)
{
	return str_eq(key, STR_LIT("uri")) || str_eq(key, STR_LIT("to")) ||
	    str_eq(key, STR_LIT("toD")) || str_eq(key, STR_LIT("from"));
}

/* Where a node stands: a key of a map or the index of a list, and what that stands in. */
struct place {
	const struct place *outer;
	struct str key;
	uint32_t index; /* of a list, when key.p is NULL */
};

/* "from.steps[0].setBody.simple": as the compiler says it, without the index in the file's list. */
static void
add_path(struct buf *out, const struct place *at)
{
	if (at->outer != NULL)
		add_path(out, at->outer);
	if (at->key.p != NULL)
		(void)buf_printf(out, "%s%.*s", out->n > 0 ? "." : "", STR_FMT(at->key));
	else if (at->outer != NULL)
		(void)buf_printf(out, "[%u]", at->index);
}

struct resolving {
	const struct properties *ps;
	const char *file;
	struct diagnostics *ds;
};

static void
report(const struct resolving *w, const struct node *n, const struct place *at, const char *text)
{
	struct buf path;

	buf_init(&path, HINNY_ERROR_TEXT); /* a longer one is cut */
	add_path(&path, at);
	const char *shown = buf_cstr(&path);
	diagnostics_add(w->ds, node_at(w->file, n), false, "%s: %s%s%s%s",
	    shown && shown[0] ? shown : "value", text, w->ps->origin ? " (" : "",
	    w->ps->origin ? w->ps->origin : "", w->ps->origin ? ")" : "");
	buf_fini(&path);
}

static void
resolve_scalar(const struct resolving *w, struct node *n, unsigned flags, const struct place *at)
{
	struct str in = n->text;
	struct hinny_error err;
	bool absent;

	if (placeholder_resolve(w->ps, in, flags, &n->text, &absent, &err) != HINNY_OK) {
		report(w, n, at, err.text);
		n->flags |= NODE_BAD;
	} else if (absent) {
		n->flags |= NODE_ABSENT;
	} else if (n->text.p != in.p) { /* it had some, and what went well goes well again */
		(void)resolve(w->ps, in, flags, true, &n->written, &absent, &err);
	}
}

/* key: the nearest one around the node. */
static void
resolve_node(const struct resolving *w, struct node *n, struct str key, const struct place *at)
{
	if (n->kind == NODE_SCALAR) {
		resolve_scalar(w, n, is_uri_key(key) ? PLACEHOLDER_URI : 0, at);
		return;
	}
	for (uint32_t i = 0; i < n->n; i++) {
		struct place inner = { .outer = at, .index = i };
		if (n->kind == NODE_MAP) {
			inner.key = node_key(n, i)->text;
			resolve_node(w, node_value(n, i), inner.key, &inner);
		} else {
			resolve_node(w, &n->items[i], key, &inner);
		}
	}
}

void
placeholder_resolve_tree(
    const struct properties *ps, const char *file, struct node *root, struct diagnostics *ds)
{
	const struct resolving w = { ps, file, ds };

	if (root == NULL)
		return;
	if (root->kind != NODE_LIST) {
		resolve_node(&w, root, STR_LIT("value"), &(struct place){ .outer = NULL });
		return;
	}
	for (uint32_t i = 0; i < root->n; i++)
		resolve_node(
		    &w, &root->items[i], STR_LIT("value"), &(struct place){ .outer = NULL });
}
