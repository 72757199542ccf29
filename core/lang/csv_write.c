/* CSV, written. */
#include "core/lang/csv.h"

static bool
contains(struct str s, struct str what)
{
	return what.n > 0 && str_find(s, what) != SIZE_MAX;
}

static bool
has_char(struct str s, int c)
{
	return c != CSV_NONE && s.n > 0 && memchr(s.p, c, s.n) != NULL;
}

static bool
needs_quotes(const struct csv_dialect *d, struct str s, bool first)
{
	if (s.n == 0)
		return first; /* else a line of it alone would be empty */
	if ((unsigned char)s.p[0] <= '#' || (unsigned char)s.p[s.n - 1] <= ' ')
		return true;
	return has_char(s, '\n') || has_char(s, '\r') || has_char(s, d->quote) ||
	    has_char(s, d->escape) || contains(s, d->delimiter);
}

static enum hinny_rc
write_quoted(struct buf *b, const struct csv_dialect *d, struct str s)
{
	enum hinny_rc rc = buf_add_char(b, (char)d->quote);

	for (size_t i = 0; i < s.n && rc == HINNY_OK; i++) {
		bool escapes = d->escape != CSV_NONE && s.p[i] == (char)d->escape;
		if (s.p[i] == (char)d->quote || escapes)
			rc = buf_add_char(
			    b, d->escape != CSV_NONE ? (char)d->escape : (char)d->quote);
		if (rc == HINNY_OK)
			rc = buf_add_char(b, s.p[i]);
	}
	return rc == HINNY_OK ? buf_add_char(b, (char)d->quote) : rc;
}

static enum hinny_rc
write_escaped(struct buf *b, const struct csv_dialect *d, struct str s)
{
	enum hinny_rc rc = HINNY_OK;

	for (size_t i = 0; i < s.n && rc == HINNY_OK; i++) {
		char c = s.p[i];
		bool delimits = d->delimiter.n <= s.n - i &&
		    memcmp(s.p + i, d->delimiter.p, d->delimiter.n) == 0;
		if (c == '\n' || c == '\r' || delimits || c == (char)d->escape)
			rc = buf_add_char(b, (char)d->escape);
		if (rc == HINNY_OK)
			rc = buf_add_char(b, c == '\n' ? 'n' : c == '\r' ? 'r' : c);
	}
	return rc;
}

static enum hinny_rc
write_text(struct buf *b, const struct csv_dialect *d, struct str s, bool number, bool first)
{
	bool quote;

	if (d->quote_mode == CSV_QUOTE_NONE || d->quote == CSV_NONE)
		return d->escape != CSV_NONE ? write_escaped(b, d, s) : buf_add_str(b, s);
	switch (d->quote_mode) {
	case CSV_QUOTE_ALL:
	case CSV_QUOTE_ALL_NON_NULL:
		quote = true;
		break;
	case CSV_QUOTE_NON_NUMERIC:
		quote = !number;
		break;
	default:
		quote = needs_quotes(d, s, first);
	}
	return quote ? write_quoted(b, d, s) : buf_add_str(b, s);
}

static bool
is_number(const struct value *v)
{
	return v->type == VALUE_INT || v->type == VALUE_DOUBLE || v->type == VALUE_DECIMAL;
}

enum hinny_rc
csv_write_cell(struct buf *b, struct arena *a, const struct csv_dialect *d, const struct value *v,
    bool first)
{
	enum hinny_rc rc = first ? HINNY_OK : buf_add_str(b, d->delimiter);
	struct str s;

	if (rc != HINNY_OK)
		return rc;
	if (value_is_null(v)) {
		bool quoted = d->quote_mode == CSV_QUOTE_ALL && d->quote != CSV_NONE;
		if (d->null_string.p == NULL)
			return HINNY_OK;
		return quoted ? write_quoted(b, d, d->null_string) : buf_add_str(b, d->null_string);
	}
	s = value_text(a, v);
	return write_text(b, d, d->trim ? str_trim(s) : s, is_number(v), first);
}

enum hinny_rc
csv_write_end(struct buf *b, const struct csv_dialect *d)
{
	enum hinny_rc rc = d->trailing_delimiter ? buf_add_str(b, d->delimiter) : HINNY_OK;

	return rc == HINNY_OK ? buf_add_str(b, d->record_separator) : rc;
}
