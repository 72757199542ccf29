/* The course of a compilation, and what descriptors may ask of it (compile.h). */
#include "core/config/compile_priv.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/config/placeholder.h"
#include "core/model/headers.h"

#include <stdlib.h>

void
compile_grow(void **items, uint32_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return;
	*cap = *cap ? 2 * *cap : 32;
	*items = mem_realloc(*items, *cap * size);
}

/* ---- errors ---- */

static void
add_path(struct buf *b, const struct path *p)
{
	if (p == NULL)
		return;
	add_path(b, p->up);
	if (p->key == NULL)
		(void)buf_printf(b, "[%u]", p->index);
	else
		(void)buf_printf(b, "%s%s", b->n > 0 ? "." : "", p->key);
}

static void
report(struct compile *c, struct position at, bool warning, const char *fmt, va_list ap)
{
	struct buf path;

	if (!warning)
		c->errors++;
	if (c->ds == NULL) {
		char text[HINNY_ERROR_TEXT];
		if (warning || c->errors > 1)
			return;
		(void)vsnprintf(text, sizeof text, fmt, ap); /* a cut text still tells */
		(void)hinny_error_set(c->err, HINNY_EINVAL, "%s", text);
		return;
	}
	buf_init(&path, 4096);
	add_path(&path, c->path);
	const char *text = arena_vprintf(&c->ds->arena, fmt, ap);
	if (c->probing && (warning || strchr(text, PLACEHOLDER_UNKNOWN) != NULL)) {
		buf_fini(&path);
		return;
	}
	if (at.file == NULL)
		at = c->at;
	const char *origin = bundle_origin(c->bundle, at.file);
	diagnostics_add(c->ds, at, warning, "%.*s%s%s%s%s%s", (int)path.n, path.p ? path.p : "",
	    path.n > 0 ? ": " : "", text, origin ? " (" : "", origin ? origin : "",
	    origin ? ")" : "");
	buf_fini(&path);
}

int
compile_error(struct compile *c, struct position at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(c, at, false, fmt, ap);
	va_end(ap);
	return -1;
}

void
compile_warning(struct compile *c, struct position at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(c, at, true, fmt, ap);
	va_end(ap);
}

int
compile_error_node(struct compile *c, const struct node *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(c, node_at(c->file, n), false, fmt, ap);
	va_end(ap);
	return -1;
}

int
compile_error_in(struct compile *c, const struct expression *e, size_t offset, const char *fmt, ...)
{
	char text[HINNY_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap); /* a cut text still tells */
	va_end(ap);
	return compile_error(c, e->at, "%s at character %zu of \"%s\"", text, offset + 1, e->text);
}

struct position
compile_set_at(struct compile *c, const struct node *n)
{
	c->at = node_at(c->file, n);
	return c->at;
}

/* ---- for descriptors ---- */

void
compile_keep_original(struct compile *c)
{
	if (c->ds != NULL) /* not at run time, when it is too late */
		c->program->keeps_original = true;
}

struct arena *
compile_arena(struct compile *c)
{
	return c->arena;
}

const struct program *
compile_program(struct compile *c)
{
	return c->program;
}

const char *
compile_property(struct compile *c, const char *name)
{
	const struct pairs *ps = &c->program->properties;
	const char *environment = placeholder_environment(str_of(name));

	if (environment != NULL)
		return arena_strdup(c->arena, environment);
	for (size_t i = 0; i < ps->n; i++) {
		if (strcmp(ps->items[i].key, name) == 0)
			return ps->items[i].value;
	}
	return NULL;
}

struct endpoint *
compile_endpoint(struct compile *c, const char *uri, bool consumer, struct position at)
{
	return endpoint_parse_text(c, str_of(uri), NULL, consumer, at.file != NULL ? at : c->at);
}

struct endpoint *
compile_polled(struct compile *c, const char *uri, struct position at)
{
	return endpoint_polled(c, str_of(uri), NULL, at.file != NULL ? at : c->at);
}

static void
add_name(struct arena *a, struct strings *list, const char *name, bool nocase)
{
	for (size_t i = 0; i < list->n; i++) {
		if (nocase ? str_caseeq(str_of(list->items[i]), str_of(name))
			   : strcmp(list->items[i], name) == 0)
			return;
	}
	if ((list->n & (list->n - 1)) == 0) { /* 0, 1, 2, 4, 8 …: full */
		const char **items = arena_alloc(a, (list->n ? 2 * list->n : 1) * sizeof(char *));
		if (list->n > 0)
			memcpy(items, list->items, list->n * sizeof(char *));
		list->items = items;
	}
	list->items[list->n++] = name;
}

void
access_add_header(struct compile *c, struct access *ac, const char *name)
{
	add_name(c->arena, &ac->headers, name, true);
}

void
access_add_property(struct compile *c, struct access *ac, const char *name)
{
	add_name(c->arena, &ac->properties, name, false);
}

void
access_add_variable(struct compile *c, struct access *ac, const char *name)
{
	add_name(c->arena, &ac->variables, name, false);
}

void
access_merge(struct compile *c, struct access *to, const struct access *from)
{
	to->flags |= from->flags;
	for (size_t i = 0; i < from->headers.n; i++)
		access_add_header(c, to, from->headers.items[i]);
	for (size_t i = 0; i < from->properties.n; i++)
		access_add_property(c, to, from->properties.items[i]);
	for (size_t i = 0; i < from->variables.n; i++)
		access_add_variable(c, to, from->variables.items[i]);
}

/* ---- the course ---- */

static void
add_replaced(struct compile *c)
{
	const struct pairs *ps = &c->bundle->replaced;
	struct program *p = c->program;
	struct hinny_error err;

	p->replaced = arena_zalloc(c->arena, (ps->n + 1) * sizeof(struct replacement));
	for (size_t i = 0; i < ps->n; i++) {
		struct pattern *pattern;
		if (pattern_compile(c->arena, str_of(ps->items[i].key), true, &pattern, &err) !=
		    HINNY_OK) {
			compile_error(c, (struct position){ 0 }, "replace: %s", err.text);
			continue;
		}
		p->replaced[p->replaced_n++] =
		    (struct replacement){ pattern, ps->items[i].value };
	}
}

static void
compile_begin(struct compile *c, struct bundle *b, struct diagnostics *ds)
{
	struct program_full *full = MEM_NEW(struct program_full);

	full->bundle = b;
	arena_init(&full->program.arena);
	*c = (struct compile){
		.arena = &full->program.arena, .program = &full->program, .bundle = b, .ds = ds
	};
	hash_init(&c->endpoints, false);
	hash_init(&c->consumers, false);
	hash_init(&c->beans, false);
	if (b->settings == NULL)
		b->settings = settings_make(&b->arena, &b->values, ds);
	full->program.settings = b->settings;
	full->program.limits = (struct state_limits){
		.aggregate_groups = (uint64_t)b->settings->aggregate.max_groups,
		.aggregate_bytes = b->settings->aggregate.max_bytes,
	};
	full->program.properties = b->properties;
	add_replaced(c);
}

/* The files that are copied, for bundle_copy_files and hinny check. */
static void
list_files(struct compile *c)
{
	struct program *p = c->program;

	p->files =
	    arena_zalloc(c->arena, (c->bundle->files_n + 1) * sizeof(struct generation_file));
	for (size_t i = 0; i < c->bundle->files_n; i++) {
		const struct bundle_file *f = &c->bundle->files[i];
		bool again = f->copy == NULL;
		if (!c->bundle->loaded)
			bundle_add_source(c->bundle, f->path);
		for (uint32_t k = 0; !again && k < p->files_n; k++)
			again = strcmp(p->files[k].copy, f->copy) == 0;
		if (!again)
			p->files[p->files_n++] = (struct generation_file){ f->path, f->copy };
	}
}

static void
compile_end(struct compile *c)
{
	hash_fini(&c->endpoints);
	hash_fini(&c->consumers);
	hash_fini(&c->beans);
	free(c->file_handlers);
	free(c->route_handlers);
}

/* Routes of templates come behind the file whose handlers hold for them. */
static void
walk_all(struct compile *c)
{
	const struct bundle *b = c->bundle;

	for (uint32_t i = 0; i < b->documents_n; i++) {
		if (b->documents[i].scope != 0 || b->documents[i].probe)
			continue;
		walk_document(c, &b->documents[i]);
		for (uint32_t k = 0; k < b->documents_n; k++) {
			if (b->documents[k].scope == i + 1 && !b->documents[k].probe)
				walk_document(c, &b->documents[k]);
		}
	}
}

/* Templates that nobody uses, in a program that is thrown away. Beans and routeConfigurations are
 * those of all. */
static void
check_probes(struct compile *c)
{
	const struct bundle *b = c->bundle;
	struct program_full *full = NULL;
	struct compile probe = *c;

	for (uint32_t i = 0; i < b->documents_n && !b->loaded; i++) {
		if (!b->documents[i].probe)
			continue;
		if (full == NULL) {
			full = MEM_NEW(struct program_full);
			*full = (struct program_full){ .bundle = c->bundle };
			arena_init(&full->program.arena);
			full->program.settings = c->program->settings;
			full->program.properties = c->program->properties;
			probe.program = &full->program;
			probe.arena = &full->program.arena;
			probe.probing = true;
			probe.steps_cap = probe.routes_cap = probe.endpoints_cap = 0;
			probe.remotes_cap = 0;
			probe.file_handlers = probe.route_handlers = NULL;
			probe.file_handlers_n = probe.file_handlers_cap = 0;
			probe.route_handlers_n = probe.route_handlers_cap = 0;
			hash_init(&probe.endpoints, false);
			hash_init(&probe.consumers, false);
		}
		walk_document(&probe, &b->documents[i]);
	}
	if (full == NULL)
		return;
	hash_fini(&probe.endpoints);
	hash_fini(&probe.consumers);
	free(probe.file_handlers);
	free(probe.route_handlers);
	program_free(&full->program);
}

static struct program *
compile(struct bundle *b, struct diagnostics *ds, bool partial)
{
	struct compile c;

	compile_begin(&c, b, ds);
	for (size_t i = 0; i < b->documents_n && !b->decided; i++)
		preconditions_decide(&c, &b->documents[i]);
	b->decided = true;
	for (size_t i = 0; i < b->documents_n; i++)
		beans_collect(&c, &b->documents[i]);
	for (size_t i = 0; i < b->documents_n; i++)
		scope_collect(&c, &b->documents[i]);
	walk_all(&c);
	walk_finish(&c);
	check_probes(&c);
	bool whole = ds->errors == 0 && !b->flawed;
	if (partial)
		plan_owners(c.program);
	else if (whole)
		plan_program(&c);
	whole = whole && ds->errors == 0;
	if (partial || whole)
		list_files(&c);
	compile_end(&c);
	if (partial || whole)
		return c.program;
	program_free(c.program);
	return NULL;
}

struct program *
program_compile(struct bundle *b, struct diagnostics *ds)
{
	return compile(b, ds, false);
}

struct program *
program_compile_partial(struct bundle *b, struct diagnostics *ds)
{
	return compile(b, ds, true);
}

void
program_free(struct program *p)
{
	if (p == NULL)
		return;
	struct program_full *full = CONTAINER_OF(p, struct program_full, program);
	free(p->steps);
	free(p->routes);
	free(p->endpoints);
	free(p->remotes);
	free(p->states);
	arena_fini(&p->arena);
	free(full);
}

static struct endpoint *
make(struct arena *a, const struct program *p, struct str uri, bool consumer,
    struct hinny_error *err)
{
	/* The program itself is not changed: an endpoint that it has is found, a new one is not
	 * added. */
	struct program_full *full =
	    (struct program_full *)CONTAINER_OF(p, struct program_full, program);
	struct compile c = {
		.arena = a, .program = &full->program, .bundle = full->bundle, .err = err
	};

	(void)hinny_error_set(err, HINNY_EINVAL, "cannot make the endpoint");
	return endpoint_parse_text(
	    &c, arena_str(a, uri), NULL, consumer, (struct position){ .file = "a message" });
}

struct endpoint *
endpoint_make(struct arena *a, const struct program *p, struct str uri, struct hinny_error *err)
{
	return make(a, p, uri, false, err);
}

struct endpoint *
endpoint_make_consumer(
    struct arena *a, const struct program *p, struct str uri, struct hinny_error *err)
{
	return make(a, p, uri, true, err);
}
