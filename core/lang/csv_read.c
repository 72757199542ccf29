/*
 * CSV, read. A cell without quotes and escapes is a slice of the text; others are put together in a
 * buffer and copied to the arena.
 */
#include "core/lang/csv.h"

enum cell_end { CELL_MORE, CELL_RECORD, CELL_TEXT };

void
csv_reader_init(struct csv_reader *r, const struct csv_dialect *dialect, struct arena *a,
    struct str text, struct blob *blob)
{
	*r = (struct csv_reader){
		.dialect = dialect,
		.arena = a,
		.start = text.p,
		.p = text.p,
		.end = text.p + text.n,
		.blob = blob,
		.line = 1,
	};
	buf_init(&r->cell, 0);
	if (str_starts(text, "\xef\xbb\xbf"))
		r->p += 3;
}

void
csv_reader_fini(struct csv_reader *r)
{
	buf_fini(&r->cell);
}

/* ---- characters ---- */

static bool
at_delimiter(const struct csv_reader *r)
{
	struct str d = r->dialect->delimiter;

	return (size_t)(r->end - r->p) >= d.n && *r->p == d.p[0] && memcmp(r->p, d.p, d.n) == 0;
}

static bool
at_line_end(const struct csv_reader *r)
{
	return r->p < r->end && (*r->p == '\n' || *r->p == '\r');
}

static void
skip_line_end(struct csv_reader *r)
{
	if (*r->p == '\r' && r->p + 1 < r->end && r->p[1] == '\n')
		r->p++;
	r->p++;
	r->line++;
}

static bool
at_char(const struct csv_reader *r, int c)
{
	return c != CSV_NONE && r->p < r->end && *r->p == (char)c;
}

/* A blank that may be passed over: not when it delimits. */
static bool
at_blank(const struct csv_reader *r)
{
	return r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\f' || *r->p == '\v') &&
	    !at_delimiter(r);
}

/* What ends a cell, passed over. */
static enum cell_end
skip_end(struct csv_reader *r)
{
	if (r->p == r->end)
		return CELL_TEXT;
	if (at_delimiter(r)) {
		r->p += r->dialect->delimiter.n;
		return CELL_MORE;
	}
	skip_line_end(r);
	return CELL_RECORD;
}

/* Behind the escape character: "n", "r" … are the characters that they name; of the others those
 * that have a meaning stand for themselves, and the rest keep the escape. */
static void
add_escaped(struct csv_reader *r)
{
	static const char from[] = "rntbf", to[] = "\r\n\t\b\f";
	const struct csv_dialect *d = r->dialect;
	const char *at;

	r->p++;
	if (r->p == r->end) {
		(void)buf_add_char(&r->cell, (char)d->escape); /* buffers without a bound do not fail */
		return;
	}
	char c = *r->p;
	if (c != '\0' && (at = strchr(from, c)) != NULL)
		c = to[at - from];
	else if (!at_char(r, d->quote) && !at_char(r, d->escape) && !at_char(r, d->comment) &&
	    !at_delimiter(r) && c != '\n' && c != '\r')
		(void)buf_add_char(&r->cell, (char)d->escape);
	r->line += *r->p == '\n';
	(void)buf_add_char(&r->cell, c);
	r->p++;
}

/* ---- cells ---- */

static struct str
slice_of(struct csv_reader *r, const char *from, bool built)
{
	if (!built)
		return (struct str){ from, (size_t)(r->p - from) };
	(void)buf_add(&r->cell, from, (size_t)(r->p - from));
	return (struct str){ r->cell.p, r->cell.n };
}

static enum cell_end
read_plain(struct csv_reader *r, struct str *out, bool *built)
{
	const char *from = r->p;

	while (r->p < r->end && !at_line_end(r) && !at_delimiter(r)) {
		if (!at_char(r, r->dialect->escape)) {
			r->p++;
			continue;
		}
		(void)buf_add(&r->cell, from, (size_t)(r->p - from));
		add_escaped(r);
		from = r->p;
		*built = true;
	}
	*out = slice_of(r, from, *built);
	if (r->dialect->ignore_surrounding_spaces) {
		while (out->n > 0 && strchr(" \t\f\v", out->p[out->n - 1]) != NULL)
			out->n--;
	}
	return skip_end(r);
}

static enum hinny_rc
read_quoted(struct csv_reader *r, struct str *out, bool *built, enum cell_end *how,
    struct hinny_error *err)
{
	const struct csv_dialect *d = r->dialect;
	size_t first = r->line;
	const char *from = ++r->p;

	for (;;) {
		if (r->p == r->end)
			return hinny_error_set(err, HINNY_EINVAL,
			    "(startline %zu) EOF reached before encapsulated token finished", first);
		if (at_char(r, d->escape) && d->escape != d->quote) {
			(void)buf_add(&r->cell, from, (size_t)(r->p - from));
			add_escaped(r);
			from = r->p;
			*built = true;
		} else if (!at_char(r, d->quote)) {
			r->line += *r->p++ == '\n';
		} else if (r->p + 1 < r->end && r->p[1] == (char)d->quote) {
			(void)buf_add(&r->cell, from, (size_t)(r->p + 1 - from));
			from = r->p += 2;
			*built = true;
		} else {
			break;
		}
	}
	*out = slice_of(r, from, *built);
	r->p++;
	while (at_blank(r))
		r->p++;
	if (r->p < r->end && !at_delimiter(r) && !at_line_end(r))
		return hinny_error_set(err, HINNY_EINVAL,
		    "Invalid character between encapsulated token and delimiter at line: %zu, "
		    "position: %zu",
		    r->line, (size_t)(r->p - r->start));
	*how = skip_end(r);
	return HINNY_OK;
}

static enum hinny_rc
read_cell(struct csv_reader *r, struct value *out, enum cell_end *how, struct hinny_error *err)
{
	const struct csv_dialect *d = r->dialect;
	bool built = false, quoted;
	enum hinny_rc rc = HINNY_OK;
	struct str s;

	buf_clear(&r->cell);
	while (d->ignore_surrounding_spaces && at_blank(r))
		r->p++;
	quoted = at_char(r, d->quote);
	if (quoted)
		rc = read_quoted(r, &s, &built, how, err);
	else
		*how = read_plain(r, &s, &built);
	if (rc != HINNY_OK)
		return rc;
	if (d->trim)
		s = str_trim(s);
	bool strict = d->quote_mode == CSV_QUOTE_ALL_NON_NULL || d->quote_mode == CSV_QUOTE_NON_NUMERIC;
	if (d->null_string.p != NULL && str_eq(s, d->null_string) && !(strict && quoted)) {
		*out = value_null();
	} else {
		*out = value_str(built ? arena_str(r->arena, s) : s);
		out->blob = built ? NULL : r->blob;
	}
	return HINNY_OK;
}

/* ---- records ---- */

/* Passes over empty lines and comments. */
static void
skip_between(struct csv_reader *r)
{
	for (;;) {
		if (r->dialect->ignore_empty_lines && at_line_end(r)) {
			skip_line_end(r);
		} else if (at_char(r, r->dialect->comment)) {
			while (r->p < r->end && !at_line_end(r))
				r->p++;
			if (r->p < r->end)
				skip_line_end(r);
		} else {
			return;
		}
	}
}

enum hinny_rc
csv_read(struct csv_reader *r, struct value *record, bool *more, struct hinny_error *err)
{
	size_t guess = record->type == VALUE_LIST ? record->u.list->n : 8;
	enum cell_end how = CELL_MORE;

	skip_between(r);
	*more = r->p < r->end;
	if (!*more)
		return HINNY_OK;
	*record = value_new_list(r->arena, guess);
	while (how == CELL_MORE) {
		struct value v;
		if (r->cells++ == CSV_CELLS_MAX)
			return hinny_error_set(err, HINNY_ELIMIT, "more than %d cells", CSV_CELLS_MAX);
		enum hinny_rc rc = read_cell(r, &v, &how, err);
		if (rc != HINNY_OK)
			return rc;
		bool last = how != CELL_MORE && value_has_text(&v) && v.u.s.n == 0;
		if (!(last && r->dialect->trailing_delimiter))
			value_list_add(r->arena, record->u.list, v);
	}
	return HINNY_OK;
}
