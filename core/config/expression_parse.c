/* Expressions: {<language>: text} or {<language>: {expression: text, …}}, from nodes or from a
 * descriptor's text. */
#include "core/config/compile_priv.h"

#include "core/base/assert.h"

/* What every language takes beside its own options. */
struct common_conf {
	const char *text, *id, *result_type;
	bool trim;
};

static const struct option_desc common_options[] = { { .name = "expression",
							 .type = OPTION_STRING,
							 .offset =
							     offsetof(struct common_conf, text) },
	{ .name = "id",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = offsetof(struct common_conf, id) },
	{ .name = "resultType",
	    .type = OPTION_STRING,
	    .offset = offsetof(struct common_conf, result_type) },
	{ .name = "trim",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = offsetof(struct common_conf, trim) },
	OPTIONS_END };

/* "exchange-property" is exchangeProperty, as all options of a step may be written. */
static struct str
language_name(struct compile *c, struct str key)
{
	return memchr(key.p, '-', key.n) != NULL ? option_camel_case(c->arena, key) : key;
}

bool
expression_is_language(struct compile *c, struct str key)
{
	const char *other;
	struct str name = language_name(c, key);

	return language_find(name) != NULL || str_eq(name, STR_LIT("language")) ||
	    refused_find(REFUSED_LANGUAGE, name, &other);
}

/* Room in the program for a remote expression's value. */
static void
add_remote(struct compile *c, struct expression *e)
{
	struct program *p = c->program;

	e->owner = e->language->owner;
	if (e->owner == NULL || c->ds == NULL)
		return;
	compile_grow((void **)&p->remotes, p->remotes_n, &c->remotes_cap, sizeof(*p->remotes));
	e->slot = p->remotes_n;
	p->remotes[p->remotes_n++] = e;
}

static struct expression *
new_expression(
    struct compile *c, const struct language_desc *language, bool predicate, struct position at)
{
	struct expression *e = ARENA_NEW(c->arena, struct expression);

	e->language = language;
	e->predicate = predicate;
	e->at = at;
	e->text = "";
	e->conf = option_new_conf(c->arena, language->conf_size);
	for (const struct option_desc *o = language->options; o != NULL && o->name != NULL; o++)
		option_set_default(c->arena, o, e->conf);
	return e;
}

/* Everything is set: compiles. */
static struct expression *
finish(struct compile *c, struct expression *e)
{
	size_t before = c->errors;
	int rc = e->language->compile != NULL ? e->language->compile(c, e) : 0;

	if (rc != 0) {
		ASSERT(c->errors > before); /* a language reports what it refuses */
		return NULL;
	}
	add_remote(c, e);
	return e;
}

static const char *
trimmed(struct compile *c, struct str text)
{
	struct str s = str_trim(text);

	return s.n == text.n ? text.p : arena_strndup(c->arena, s.p, s.n);
}

/* "resource:file:x.txt" is the file's text. NULL when it cannot be read (reported). */
static const char *
load_text(struct compile *c, const char *text, struct position at)
{
	if (!str_starts(str_of(text), "resource:"))
		return text;
	return compile_file_text(c, text + strlen("resource:"), at);
}

static const struct option_desc *
main_option(const struct language_desc *language)
{
	for (const struct option_desc *o = language->options; o != NULL && o->name != NULL; o++) {
		if (o->flags & OPTION_MAIN)
			return o;
	}
	return NULL;
}

static int
unknown_option(struct compile *c, const struct language_desc *language, const struct node *key)
{
	static const char *const more[] = { "expression", "id", "resultType", "trim", NULL };

	if (refused_option(REFUSED_LANGUAGE, language->name, language_name(c, key->text)))
		return compile_error_node(c, key,
		    "option \"%s\" of language %s is not implemented in this release", key->text.p,
		    language->name);
	return compile_error_node(c, key, "unknown option \"%s\" of language %s%s", key->text.p,
	    language->name,
	    option_did_you_mean(
		c->arena, option_nearest(c->arena, language->options, more, key->text)));
}

/* The map form: options into e->conf and *common. Returns nonzero when something was wrong. */
static int
parse_options(struct compile *c, struct expression *e, const struct node *map,
    struct common_conf *common, const struct node **text)
{
	const struct language_desc *language = e->language;
	int rc = 0;

	for (uint32_t i = 0; i < map->n; i++) {
		const struct node *key = node_key(map, i), *value = node_value(map, i);
		const struct option_desc *o = option_find(language->options, key->text),
					 *shared = option_find(common_options, key->text);
		bool is_text = (shared != NULL &&
				   shared->offset == offsetof(struct common_conf, text)) ||
		    (o != NULL && (o->flags & OPTION_MAIN));
		if ((value->flags & NODE_ABSENT) && !is_text)
			continue;
		if (shared != NULL && shared->offset == offsetof(struct common_conf, text))
			*text = value;
		if (o == NULL && shared == NULL) {
			rc |= unknown_option(c, language, key);
			continue;
		}
		if (o != NULL && (o->flags & OPTION_MAIN))
			*text = value;
		PATH_KEY(c, key->text.p);
		rc |= option_set_node(c, o != NULL ? o : shared,
		    o != NULL ? e->conf : (void *)common, value, NULL, NULL);
		PATH_END(c);
		if (o != NULL)
			option_mark_given(e->conf, language->options, o);
	}
	for (const struct option_desc *o = language->options; o != NULL && o->name != NULL; o++) {
		if ((o->flags & OPTION_REQUIRED) && !(o->flags & OPTION_MAIN) &&
		    node_find(map, o->name) == NULL)
			rc |= compile_error_node(c, map,
			    "missing option \"%s\" of language %s: expected %s", o->name,
			    language->name, option_expected(c->arena, o));
	}
	return rc;
}

static int
set_result_type(struct compile *c, struct expression *e, const struct node *map, const char *name)
{
	if (name == NULL)
		return 0;
	e->result_type = value_class_find(str_of(name));
	if (e->result_type != CLASS_NONE)
		return 0;
	const struct node *at = node_find(map, "resultType");
	return compile_error_node(c, at ? at : map,
	    "resultType: expected a type such as \"String\" or \"java.lang.Integer\", got \"%s\"",
	    name);
}

/* The text of the expression: of `expression`, or of the language's main option. */
static int
set_text(struct compile *c, struct expression *e, const struct node *value, const struct node *text,
    bool trim)
{
	if (text == NULL)
		return compile_error_node(
		    c, value, "language %s needs an \"expression\"", e->language->name);
	if (text->kind != NODE_SCALAR || node_is_null(text))
		return compile_error_node(c, text, "expected text, got %s", node_kind_name(text));
	e->at = node_at(c->file, text);
	const char *s = load_text(c, text->text.p, e->at);
	if (s == NULL || secrets_check_text(c, text) != 0)
		return -1;
	e->text = trim && !(e->language->flags & LANGUAGE_NO_TRIM) ? trimmed(c, str_of(s)) : s;
	const struct option_desc *o = main_option(e->language);
	if (o != NULL && o->type == OPTION_STRING)
		OPTION_AT(e->conf, o, const char *) = e->text;
	return 0;
}

static struct expression *
parse_language(struct compile *c, const struct language_desc *language, const struct node *value,
    bool predicate)
{
	struct expression *e = new_expression(c, language, predicate, node_at(c->file, value));
	struct common_conf common = { .trim = true };
	const struct node *text = value->kind == NODE_SCALAR ? value : NULL;
	int rc = 0;

	if (value->kind == NODE_LIST ||
	    (value->kind == NODE_MAP && (language->flags & LANGUAGE_SCALAR_ONLY))) {
		compile_error_node(c, value, "expected text%s, got %s",
		    language->flags & LANGUAGE_SCALAR_ONLY ? "" : " or a map",
		    node_kind_name(value));
		return NULL;
	}
	if (value->kind == NODE_MAP)
		rc = parse_options(c, e, value, &common, &text);
	if (text != NULL && (text->flags & NODE_BAD))
		return NULL; /* reported */
	if (rc == 0)
		rc = set_text(c, e, value, text, common.trim);
	rc |= set_result_type(c, e, value, common.result_type);
	return rc == 0 ? finish(c, e) : NULL;
}

/* language: {language: simple, expression: …} */
static struct expression *
parse_generic(struct compile *c, const struct node *value, bool predicate)
{
	const struct node *name = node_find(value, "language"),
			  *text = node_find(value, "expression");

	if (name == NULL || text == NULL || name->kind != NODE_SCALAR) {
		compile_error_node(c, value, "expected a map with \"language\" and \"expression\"");
		return NULL;
	}
	if (value->n > 2) {
		for (uint32_t i = 0; i < value->n; i++) {
			struct str key = node_key(value, i)->text;
			if (!str_eq(key, STR_LIT("language")) &&
			    !str_eq(key, STR_LIT("expression")) &&
			    option_find(common_options, key) == NULL)
				compile_error_node(c, node_key(value, i),
				    "unknown option \"%s\" of \"language\": write it under the "
				    "language's own name",
				    key.p);
		}
	}
	return expression_parse(c, name, text, predicate);
}

struct expression *
expression_parse(
    struct compile *c, const struct node *key, const struct node *value, bool predicate)
{
	const struct language_desc *language = language_find(language_name(c, key->text));
	const char *other = NULL;
	struct expression *e = NULL;

	if (language == NULL && !str_eq(key->text, STR_LIT("language"))) {
		if (refused_find(REFUSED_LANGUAGE, key->text, &other)) {
			compile_error_node(c, key,
			    "language \"%s\" is not implemented in this release%s%s%s", key->text.p,
			    other ? "; the nearest is \"" : "", other ? other : "",
			    other ? "\"" : "");
			return NULL;
		}
		size_t n;
		const struct language_desc *const *all = language_all(&n);
		const char **names = arena_alloc(c->arena, (n + 1) * sizeof(char *));
		for (size_t i = 0; i < n; i++)
			names[i] = all[i]->name;
		names[n] = NULL;
		compile_error_node(c, key, "unknown language \"%s\"%s", key->text.p,
		    option_did_you_mean(c->arena, str_nearest(key->text, names)));
		return NULL;
	}
	struct position before = c->at;
	compile_set_at(c, value);
	PATH_KEY(c, key->text.p);
	e = language != NULL ? parse_language(c, language, value, predicate)
			     : parse_generic(c, value, predicate);
	PATH_END(c);
	c->at = before;
	return e;
}

struct expression *
expression_parse_map(struct compile *c, const struct node *map, bool predicate)
{
	const char *example =
	    predicate ? "{simple: \"${header.a} == 1\"}" : "{simple: \"${body}\"}";

	if (map->kind == NODE_SCALAR && (map->flags & NODE_BAD))
		return NULL; /* reported */
	if (map->kind != NODE_MAP) {
		compile_error_node(c, map, "expected a map with one language, such as %s, got %s",
		    example, node_kind_name(map));
		return NULL;
	}
	if (map->n == 1 && str_eq(node_key(map, 0)->text, STR_LIT("expression")))
		return expression_parse_map(c, node_value(map, 0), predicate);
	if (map->n != 1) {
		compile_error_node(c, map,
		    "expected a map with one language, such as %s, got %u keys", example, map->n);
		return NULL;
	}
	return expression_parse(c, node_key(map, 0), node_value(map, 0), predicate);
}

struct expression *
compile_expression(
    struct compile *c, const char *language, const char *text, bool predicate, struct position at)
{
	const struct language_desc *desc = language_find(str_of(language));

	if (desc == NULL) {
		(void)compile_error(c, at, "unknown language \"%s\"", language);
		return NULL;
	}
	struct expression *e = new_expression(c, desc, predicate, at.file != NULL ? at : c->at);
	const struct option_desc *o = main_option(desc);
	e->text = text;
	if (o != NULL && o->type == OPTION_STRING)
		OPTION_AT(e->conf, o, const char *) = text;
	return finish(c, e);
}
