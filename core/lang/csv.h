/* CSV, read and written as Apache Commons CSV does it: quotes, escapes, comments, blank lines. */
#ifndef HINNY_LANG_CSV_H
#define HINNY_LANG_CSV_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/model/value.h"

#include <stdbool.h>

enum csv_quote_mode {
	CSV_QUOTE_MINIMAL,
	CSV_QUOTE_ALL,
	CSV_QUOTE_ALL_NON_NULL,
	CSV_QUOTE_NON_NUMERIC,
	CSV_QUOTE_NONE,
};

enum { CSV_NONE = -1, CSV_CELLS_MAX = 8 * 1024 * 1024 };

struct csv_dialect {
	struct str delimiter;
	int quote, escape, comment; /* a byte, or CSV_NONE */
	struct str record_separator;
	struct str null_string; /* p NULL: none */
	enum csv_quote_mode quote_mode;
	bool ignore_empty_lines, ignore_surrounding_spaces, trim, trailing_delimiter;
};

/* Reads records one by one. Cells are slices of the text, or lie in the arena. */
struct csv_reader {
	const struct csv_dialect *dialect;
	struct arena *arena;
	const char *start, *p, *end;
	struct blob *blob; /* where the text lies, or NULL */
	size_t cells;
	size_t line; /* of p, from 1 */
	struct buf cell;
};

/* A byte order mark at the beginning is passed over. */
void csv_reader_init(struct csv_reader *r, const struct csv_dialect *dialect, struct arena *a,
    struct str text, struct blob *blob);
void csv_reader_fini(struct csv_reader *r);
/* The next record as a new LIST of text and nulls. *more false: there is none. HINNY_EINVAL,
 * HINNY_ELIMIT (CSV_CELLS_MAX in all): *err says why, with the line. */
enum hinny_rc csv_read(
    struct csv_reader *r, struct value *record, bool *more, struct hinny_error *err);

/* Appends one cell; `first` of its record. The text form of lists and maps is written as such. */
enum hinny_rc csv_write_cell(struct buf *b, struct arena *a, const struct csv_dialect *dialect,
    const struct value *v, bool first);
/* Ends a record. */
enum hinny_rc csv_write_end(struct buf *b, const struct csv_dialect *dialect);

#endif
