/* Data formats: {<format>: {option: value}} under marshal and unmarshal. */
#include "core/config/compile_priv.h"

#include "core/base/assert.h"

struct format_common {
	const char *id;
};
static const struct option_desc common_options[] = {
	{ .name = "id",
	    .type = OPTION_STRING,
	    .flags = OPTION_LABEL,
	    .offset = offsetof(struct format_common, id) },
	OPTIONS_END,
};

/* "zip-file" is zipFile, as all options of a step may be written. */
static struct str
camel_case(struct compile *c, struct str key)
{
	return memchr(key.p, '-', key.n) != NULL ? option_camel_case(c->arena, key) : key;
}

bool
format_is_name(struct compile *c, struct str key)
{
	struct str name = camel_case(c, key);
	const char *other;

	return format_find(name) != NULL || refused_find(REFUSED_DATAFORMAT, name, &other);
}

static int
unknown_option(struct compile *c, const struct format_desc *desc, const struct node *key)
{
	static const char *const more[] = { "id", NULL };

	if (refused_option(REFUSED_DATAFORMAT, desc->name, camel_case(c, key->text)))
		return compile_error_node(c, key,
		    "option \"%s\" of data format %s is not implemented in this release",
		    key->text.p, desc->name);
	return compile_error_node(c, key, "unknown option \"%s\" of data format %s%s", key->text.p,
	    desc->name,
	    option_did_you_mean(
		c->arena, option_nearest(c->arena, desc->options, more, key->text)));
}

static int
set_option(struct compile *c, struct format *f, const struct option_desc *o,
    const struct node *key, const struct node *value)
{
	PATH_KEY(c, key->text.p);
	int rc = option_set_node(c, o, f->conf, value, NULL, NULL);
	PATH_END(c);
	option_mark_given(f->conf, f->desc->options, o);
	return rc;
}

static int
parse_options(struct compile *c, struct format *f, const struct node *map)
{
	struct format_common common = { NULL };
	int rc = 0;

	for (uint32_t i = 0; i < map->n; i++) {
		const struct node *key = node_key(map, i), *value = node_value(map, i);
		const struct option_desc *o = option_find(f->desc->options, key->text),
					 *shared = option_find(common_options, key->text);
		if (value->flags & NODE_ABSENT)
			continue;
		if (o != NULL)
			rc |= set_option(c, f, o, key, value);
		else if (shared != NULL)
			rc |= option_set_node(c, shared, &common, value, NULL, NULL);
		else
			rc |= unknown_option(c, f->desc, key);
	}
	return rc;
}

static int
parse_scalar(struct compile *c, struct format *f, const struct node *key, const struct node *value)
{
	if (node_is_null(value))
		return compile_error_node(c, value,
		    "%s needs a value, if only an empty map: write \"%s: {}\"", f->desc->name,
		    f->desc->name);
	for (const struct option_desc *o = f->desc->options; o->name != NULL; o++) {
		if (o->flags & OPTION_MAIN)
			return set_option(c, f, o, key, value);
	}
	return compile_error_node(
	    c, value, "expected a map of options of %s, got text", f->desc->name);
}

static void
report_name(struct compile *c, const struct node *key)
{
	const char *other;
	size_t n;

	if (refused_find(REFUSED_DATAFORMAT, camel_case(c, key->text), &other)) {
		compile_error_node(c, key,
		    "data format \"%s\" is not implemented in this release%s%s%s", key->text.p,
		    other ? "; the nearest is \"" : "", other ? other : "", other ? "\"" : "");
		return;
	}
	const struct format_desc *const *all = format_all(&n);
	const char **names = arena_alloc(c->arena, (n + 1) * sizeof(char *));
	for (size_t i = 0; i < n; i++)
		names[i] = all[i]->name;
	names[n] = NULL;
	compile_error_node(c, key, "unknown data format \"%s\"%s", key->text.p,
	    option_did_you_mean(c->arena, str_nearest(key->text, names)));
}

struct format *
format_parse(struct compile *c, const struct node *key, const struct node *value)
{
	const struct format_desc *desc = format_find(camel_case(c, key->text));
	int rc;

	if (desc == NULL) {
		report_name(c, key);
		return NULL;
	}
	struct format *f = ARENA_NEW(c->arena, struct format);
	f->desc = desc;
	f->at = node_at(c->file, key);
	f->conf = option_new_conf(c->arena, desc->conf_size);
	for (const struct option_desc *o = desc->options; o->name != NULL; o++)
		option_set_default(c->arena, o, f->conf);
	PATH_KEY(c, key->text.p);
	if (value->kind == NODE_MAP)
		rc = parse_options(c, f, value);
	else if (value->kind == NODE_SCALAR)
		rc = value->flags & NODE_BAD ? -1 : parse_scalar(c, f, key, value);
	else
		rc = compile_error_node(c, value, "expected a map, got a list");
	if (rc == 0 && desc->check != NULL)
		rc = desc->check(c, f);
	PATH_END(c);
	return rc == 0 ? f : NULL;
}
