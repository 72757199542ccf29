/* Tables, durations and sizes for people; JSON for programs. */
#include "supervisor/cli/cli.h"

#include "core/base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void
cli_print_json(const json_t *value)
{
	(void)json_dumpf(value, stdout, JSON_INDENT(2)); /* nobody to tell when that fails */
	(void)fputc('\n', stdout);
}

struct cli_table {
	size_t columns;
	char **cells; /* row by row, the titles first */
	size_t n, cap;
};

static void
add_cell(struct cli_table *t, char *cell)
{
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 64;
		t->cells = mem_realloc(t->cells, t->cap * sizeof *t->cells);
	}
	t->cells[t->n++] = cell;
}

struct cli_table *
cli_table_new(size_t columns, const char *const *titles)
{
	struct cli_table *t = MEM_NEW(struct cli_table);

	t->columns = columns;
	for (size_t i = 0; i < columns; i++)
		add_cell(t, mem_strdup(titles[i]));
	return t;
}

void
cli_table_add(struct cli_table *t, const char *fmt, ...)
{
	va_list ap;
	char *cell;

	va_start(ap, fmt);
	if (vasprintf(&cell, fmt, ap) == -1)
		abort();
	va_end(ap);
	add_cell(t, cell);
}

static bool
is_number(const char *s)
{
	return s[0] != '\0' && strspn(s, "0123456789.") == strlen(s);
}

/* All its cells are numbers or "-". */
static bool
is_numeric(const struct cli_table *t, size_t column)
{
	for (size_t i = t->columns + column; i < t->n; i += t->columns) {
		if (!is_number(t->cells[i]) && strcmp(t->cells[i], "-") != 0)
			return false;
	}
	return t->n > t->columns;
}

static int
width(const struct cli_table *t, size_t column)
{
	size_t w = 0;

	for (size_t i = column; i < t->n; i += t->columns) {
		size_t n = strlen(t->cells[i]);
		w = n > w ? n : w;
	}
	return (int)w;
}

void
cli_table_print(const struct cli_table *t, FILE *to)
{
	for (size_t row = 0; row < t->n; row += t->columns) {
		for (size_t c = 0; c < t->columns; c++) {
			bool last = c + 1 == t->columns, right = is_numeric(t, c);
			int w = last && !right ? 0 : width(t, c);
			(void)fprintf(to, "%*s%s", right ? w : -w, t->cells[row + c],
			    last ? "\n" : "  "); /* nobody to tell when that fails */
		}
	}
}

void
cli_table_free(struct cli_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

const char *
cli_duration(int64_t ms, char *buf, size_t size)
{
	int64_t s = ms / 1000;

	if (ms < 1000)
		(void)snprintf(buf, size, "%" PRId64 "ms", ms); /* callers give room */
	else if (s < 60)
		(void)snprintf(buf, size, "%" PRId64 ".%" PRId64 "s", s, ms % 1000 / 100);
	else if (s < 3600)
		(void)snprintf(buf, size, "%" PRId64 "m %" PRId64 "s", s / 60, s % 60);
	else if (s < 86400)
		(void)snprintf(buf, size, "%" PRId64 "h %" PRId64 "m", s / 3600, s % 3600 / 60);
	else
		(void)snprintf(buf, size, "%" PRId64 "d %" PRId64 "h", s / 86400, s % 86400 / 3600);
	return buf;
}

const char *
cli_bytes(int64_t bytes, char *buf, size_t size)
{
	if (bytes < 1 << 20)
		(void)snprintf(buf, size, "%" PRId64 " KiB", bytes >> 10); /* callers give room */
	else
		(void)snprintf(buf, size, "%.1f MiB", (double)bytes / (1 << 20));
	return buf;
}
