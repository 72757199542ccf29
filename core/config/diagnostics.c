/* Diagnostics: gathered while files are read and compiled, printed in order of file and line. */
#include "core/config/config.h"

#include "core/base/buf.h"
#include "core/base/mem.h"

#include <stdarg.h>
#include <stdlib.h>

/* A file that is wrong in thousands of places says so by its first ones. */
enum { DIAGNOSTICS_MAX = 1000 };

void
diagnostics_init(struct diagnostics *ds)
{
	*ds = (struct diagnostics){ 0 };
	arena_init(&ds->arena);
}

void
diagnostics_fini(struct diagnostics *ds)
{
	free(ds->items);
	arena_fini(&ds->arena);
	*ds = (struct diagnostics){ 0 };
}

void
diagnostics_add(struct diagnostics *ds, struct position at, bool warning, const char *fmt, ...)
{
	va_list ap;

	if (!warning)
		ds->errors++;
	if (ds->n == DIAGNOSTICS_MAX)
		return;
	if (ds->n == ds->cap) {
		ds->cap = ds->cap ? 2 * ds->cap : 16;
		ds->items = mem_realloc(ds->items, ds->cap * sizeof(struct diagnostic));
	}
	va_start(ap, fmt);
	const char *text = arena_vprintf(&ds->arena, fmt, ap);
	va_end(ap);
	if (at.file != NULL)
		at.file = arena_strdup(&ds->arena, at.file);
	ds->items[ds->n++] = (struct diagnostic){ .at = at, .warning = warning, .text = text };
}

static int
compare(const struct diagnostic *a, const struct diagnostic *b)
{
	int by_file = strcmp(a->at.file ? a->at.file : "", b->at.file ? b->at.file : "");

	if (by_file != 0)
		return by_file;
	if (a->at.line != b->at.line)
		return a->at.line < b->at.line ? -1 : 1;
	if (a->at.column != b->at.column)
		return a->at.column < b->at.column ? -1 : 1;
	return 0;
}

static int
compare_pointers(const void *a, const void *b)
{
	const struct diagnostic *x = *(const struct diagnostic *const *)a,
				*y = *(const struct diagnostic *const *)b;
	int order = compare(x, y);

	return order != 0 ? order : (x < y ? -1 : x > y); /* as they were found */
}

static void
print_one(struct buf *b, const struct diagnostic *d)
{
	if (d->at.file != NULL)
		(void)buf_printf(b, "%s:", d->at.file);
	if (d->at.line != 0)
		(void)buf_printf(b, "%u:%u:", d->at.line, d->at.column);
	if (b->n > 0 && b->p[b->n - 1] == ':')
		(void)buf_add_char(b, ' ');
	(void)buf_printf(b, "%s%s\n", d->warning ? "warning: " : "", d->text);
}

char *
diagnostics_text(struct diagnostics *ds, struct arena *a)
{
	const struct diagnostic **order = mem_alloc((ds->n + 1) * sizeof(*order));
	struct buf b;

	buf_init(&b, 0);
	for (size_t i = 0; i < ds->n; i++)
		order[i] = &ds->items[i];
	qsort(order, ds->n, sizeof(*order), compare_pointers);
	for (size_t i = 0; i < ds->n; i++) {
		if (i > 0 && compare(order[i - 1], order[i]) == 0 &&
		    strcmp(order[i - 1]->text, order[i]->text) == 0)
			continue; /* said already, of a part that is used twice */
		print_one(&b, order[i]);
	}
	char *text = arena_strndup(a, b.p ? b.p : "", b.n);
	buf_fini(&b);
	free(order);
	return text;
}

void
diagnostics_print(const struct diagnostics *ds, FILE *to)
{
	struct arena a;
	struct diagnostics copy = *ds; /* its order is made beside it */

	arena_init(&a);
	(void)fputs(diagnostics_text(&copy, &a), to); /* a closed stderr cannot be told anyone */
	arena_fini(&a);
}
