/* A compilation of single expressions, for tests of languages. */
#include "tests/lib/compile_fake.h"

#include <stdio.h>
#include <stdlib.h>

void
compile_fake_init(struct compile *c)
{
	memset(c, 0, sizeof *c);
	arena_init(&c->arena);
}

void
compile_fake_fini(struct compile *c)
{
	arena_fini(&c->arena);
}

void
compile_fake_property(struct compile *c, const char *key, const char *value)
{
	struct pairs *ps = &c->program.properties;
	struct pair *items = arena_alloc(&c->arena, (ps->n + 1) * sizeof *items);
	if (ps->n > 0)
		memcpy(items, ps->items, ps->n * sizeof *items);
	items[ps->n++] = (struct pair){ key, value };
	ps->items = items;
}

/* ---- options ---- */

static void
set_default(struct expression *e, const struct option_desc *o)
{
	char *at = (char *)e->conf + o->offset;
	if (o->dflt == NULL)
		return;
	if (o->type == OPTION_BOOL)
		*(bool *)at = strcmp(o->dflt, "true") == 0;
	else if (o->type == OPTION_INT)
		*(int64_t *)at = atoll(o->dflt);
}

struct expression *
compile_fake_new(struct compile *c, const char *language, const char *text, bool predicate)
{
	const struct language_desc *desc = language_find(str_of(language));
	if (desc == NULL)
		return NULL;
	struct expression *e = ARENA_NEW(&c->arena, struct expression);
	e->language = desc;
	e->text = text;
	e->predicate = predicate;
	e->conf = arena_zalloc(&c->arena, desc->conf_size + 1);
	for (const struct option_desc *o = desc->options; o != NULL && o->name != NULL; o++)
		set_default(e, o);
	return e;
}

bool
compile_fake_finish(struct compile *c, struct expression *e)
{
	if (e->language->compile != NULL && e->language->compile(c, e) != 0)
		return false;
	e->owner = e->language->owner;
	if (e->owner != NULL)
		e->slot = c->program.remotes_n++;
	return true;
}

/* ---- compile.h ---- */

struct arena *
compile_arena(struct compile *c)
{
	return &c->arena;
}

static void
add_error(struct compile *c, size_t column, const char *fmt, va_list ap)
{
	size_t left = sizeof c->errors - c->errors_n;
	int n = snprintf(c->errors + c->errors_n, left, "%zu: ", column);
	if (n > 0 && (size_t)n < left)
		(void)vsnprintf(c->errors + c->errors_n + n, left - (size_t)n, fmt, ap);
	c->errors_n = strlen(c->errors);
	if (c->errors_n + 1 < sizeof c->errors) {
		c->errors[c->errors_n++] = '\n';
		c->errors[c->errors_n] = '\0';
	}
}

int
compile_error(struct compile *c, struct position at, const char *fmt, ...)
{
	va_list ap;
	(void)at;
	va_start(ap, fmt);
	add_error(c, 0, fmt, ap);
	va_end(ap);
	return -1;
}

int
compile_error_in(struct compile *c, const struct expression *e, size_t offset, const char *fmt, ...)
{
	va_list ap;
	if (offset > strlen(e->text))
		abort(); /* a position beyond the text is a fault of the language */
	va_start(ap, fmt);
	add_error(c, offset + 1, fmt, ap);
	va_end(ap);
	return -1;
}

struct expression *
compile_expression(
    struct compile *c, const char *language, const char *text, bool predicate, struct position at)
{
	struct expression *e = compile_fake_new(c, language, text, predicate);
	if (e == NULL) {
		(void)compile_error(c, at, "unknown language %s", language);
		return NULL;
	}
	return compile_fake_finish(c, e) ? e : NULL;
}

void
compile_keep_original(struct compile *c)
{
	c->program.keeps_original = true;
}

struct state_node *
compile_state_shared(struct compile *c, const char *name, const struct state_desc *desc)
{
	(void)c;
	(void)name;
	(void)desc;
	return NULL; /* as at run time where no route has asked for it */
}

const char *
compile_file_text(struct compile *c, const char *name, struct position at)
{
	if (strcmp(name, "file:known.txt") == 0)
		return "its text";
	(void)compile_error(c, at, "cannot read %s", name);
	return NULL;
}

const struct program *
compile_program(struct compile *c)
{
	return &c->program;
}

const char *
compile_property(struct compile *c, const char *name)
{
	for (size_t i = 0; i < c->program.properties.n; i++)
		if (strcmp(c->program.properties.items[i].key, name) == 0)
			return c->program.properties.items[i].value;
	return NULL;
}

bool
option_given(const struct option_desc *options, const void *conf, const char *name)
{
	(void)options;
	(void)conf;
	(void)name;
	return false;
}

static void
add_name(struct arena *a, struct strings *list, const char *name)
{
	const char **items = arena_alloc(a, (list->n + 1) * sizeof *items);
	if (list->n > 0)
		memcpy(items, list->items, list->n * sizeof *items);
	items[list->n++] = arena_strdup(a, name);
	list->items = items;
}

void
access_add_header(struct compile *c, struct access *ac, const char *name)
{
	add_name(&c->arena, &ac->headers, name);
}

void
access_add_property(struct compile *c, struct access *ac, const char *name)
{
	add_name(&c->arena, &ac->properties, name);
}

void
access_add_variable(struct compile *c, struct access *ac, const char *name)
{
	add_name(&c->arena, &ac->variables, name);
}

void
access_merge(struct compile *c, struct access *to, const struct access *from)
{
	to->flags |= from->flags;
	for (size_t i = 0; i < from->headers.n; i++)
		add_name(&c->arena, &to->headers, from->headers.items[i]);
	for (size_t i = 0; i < from->properties.n; i++)
		add_name(&c->arena, &to->properties, from->properties.items[i]);
	for (size_t i = 0; i < from->variables.n; i++)
		add_name(&c->arena, &to->variables, from->variables.items[i]);
}
