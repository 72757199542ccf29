/*
 * Secrets of endpoints (OPTION_SECRET) stand in no route file: their values come by placeholders
 * from the environment, files or properties, and "${...}" is up to the message. A placeholder's
 * default stands in the file, and so does a template's parameter that is given as text. Uris that
 * expressions make (recipientList, routingSlip …) are looked for in the texts of expressions.
 */
#include "core/config/compile_priv.h"

#include "core/config/endpoint_uri.h"

#include <ctype.h>
#include <string.h>

/* The length of what comes from outside at the head of s, 0: it does not. */
static size_t
outside(struct str s)
{
	if (str_starts(s, PLACEHOLDER_OUTSIDE))
		return strlen(PLACEHOLDER_OUTSIDE);
	size_t end = str_starts(s, "${") ? str_find(s, STR_LIT("}")) : SIZE_MAX;
	return end == SIZE_MAX ? 0 : end + 1;
}

static bool
is_outside(struct str s)
{
	for (size_t n = 1; s.n > 0 && n > 0; s = str_skip(s, n))
		n = outside(s);
	return s.n == 0;
}

static struct str
skip_blanks(struct str s)
{
	while (s.n > 0 && memchr(" \t\r\n", *s.p, 4) != NULL)
		s = str_skip(s, 1);
	return s;
}

/* Each password=… in it: up to the quote that ends it, or a blank or semicolon. */
static bool
passwords_are_outside(struct str s)
{
	static const char word[] = "password";
	size_t at;

	while ((at = str_casefind(s, STR_LIT(word))) != SIZE_MAX) {
		s = skip_blanks(str_skip(s, at + strlen(word)));
		if (s.n == 0 || *s.p != '=')
			continue;
		s = skip_blanks(str_skip(s, 1));
		bool quoted = s.n > 0 && (*s.p == '"' || *s.p == '\'');
		char quote = quoted ? *s.p : ' ';
		s = str_skip(s, quoted);
		struct str value = { s.p, 0 };
		while (value.n < s.n && s.p[value.n] != quote &&
		    (quoted || memchr("\t\r\n;", s.p[value.n], 4) == NULL))
			value.n++;
		if (!is_outside(value))
			return false;
		s = str_skip(s, value.n);
	}
	return true;
}

/* name and value as they stand in the file. */
static int
check_one(struct compile *c, const struct component_desc *desc, struct str name, struct str value,
    const struct node *at)
{
	const struct option_desc *row = endpoint_secret(desc, name);

	if (row == NULL || is_outside(value) ||
	    ((row->flags & OPTION_SECRET_PART) && passwords_are_outside(value)))
		return 0;
	return compile_error_node(c, at,
	    "option \"%.*s\" of %s: a secret does not stand in a route file: expected %sa placeholder "
	    "without a default, such as {{env:NAME}} or {{name}}",
	    STR_FMT(name), desc->scheme, row->flags & OPTION_SECRET_PART ? "for its password " : "");
}

/* One of `parameters`. */
static int
check_parameter(
    struct compile *c, const struct component_desc *desc, const struct node *key, const struct node *value)
{
	const struct path *before = c->path;
	struct path parameters = { before != NULL ? before->up : NULL, "parameters", 0 };
	struct path name = { &parameters, key->text.p, 0 };
	bool raw;

	if (value->kind != NODE_SCALAR || (value->flags & (NODE_ABSENT | NODE_BAD)))
		return 0;
	c->path = &name;
	int rc = check_one(c, desc, key->text, uri_unwrap_raw(node_written(value), &raw), value);
	c->path = before;
	return rc;
}

int
secrets_check(struct compile *c, const struct node *uri, const struct node *parameters)
{
	const struct component_desc *desc = component_find(uri_split(uri->text).scheme);
	struct uri_options os = { 0 };
	struct hinny_error err;
	int rc = 0;

	if (c->ds == NULL || c->bundle == NULL || c->bundle->loaded || desc == NULL)
		return 0;
	/* what is wrong with the uri is said by who takes it */
	if (uri_parse_query(c->arena, uri_split(node_written(uri)).query, &os, &err) != HINNY_OK)
		os.n = 0;
	for (size_t i = 0; i < os.n; i++) {
		if (check_one(c, desc, os.items[i].name, os.items[i].value, uri) != 0)
			rc = -1;
	}
	for (uint32_t i = 0; parameters != NULL && parameters->kind == NODE_MAP && i < parameters->n; i++) {
		if (check_parameter(c, desc, node_key(parameters, i), node_value(parameters, i)) != 0)
			rc = -1;
	}
	return rc;
}

/* ---- uris in the texts of expressions ---- */

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || memchr(".+-_", c, 4) != NULL;
}

/* The component whose scheme ends before s.p[colon]; NULL: none does. */
static const struct component_desc *
scheme_before(struct str s, size_t colon)
{
	size_t at = colon;

	while (at > 0 && is_word(s.p[at - 1]))
		at--;
	return at < colon ? component_find((struct str){ s.p + at, colon - at }) : NULL;
}

/* Of an option's value at the head of s: up to what ends it in a list of uris or a quoted text. */
static struct str
value_at(struct str s, bool part)
{
	const char *ends = part ? "&" : "&,\"'`; \t\r\n";
	struct str rest = s;

	if (str_starts(s, "RAW(") && str_find(s, STR_LIT(")")) != SIZE_MAX)
		return (struct str){ s.p + 4, str_find(s, STR_LIT(")")) - 4 };
	while (rest.n > 0 && strchr(ends, *rest.p) == NULL) {
		size_t n = outside(rest);
		rest = str_skip(rest, n > 0 ? n : 1);
	}
	return (struct str){ s.p, s.n - rest.n };
}

int
secrets_check_text(struct compile *c, const struct node *text)
{
	const struct component_desc *desc = NULL;
	struct str s = node_written(text);
	int rc = 0;

	if (c->ds == NULL || c->bundle == NULL || c->bundle->loaded)
		return 0;
	for (size_t i = 0; i < s.n; i++) {
		const struct component_desc *begins = s.p[i] == ':' ? scheme_before(s, i) : NULL;
		if (begins != NULL)
			desc = begins;
		if (desc == NULL || (s.p[i] != '?' && s.p[i] != '&'))
			continue;
		struct str name = { s.p + i + 1, 0 }, rest = str_skip(s, i + 1);
		while (name.n < rest.n && is_word(rest.p[name.n]))
			name.n++;
		if (name.n == 0 || name.n == rest.n || rest.p[name.n] != '=')
			continue;
		const struct option_desc *row = endpoint_secret(desc, name);
		bool part = row != NULL && (row->flags & OPTION_SECRET_PART);
		if (row != NULL && check_one(c, desc, name, value_at(str_skip(rest, name.n + 1), part), text) != 0)
			rc = -1;
	}
	return rc;
}
