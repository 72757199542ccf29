/* csv: lines as lists or maps of text, and back. The dialects and options are those of Apache
 * Commons CSV, on which Camel's format stands. */
#include "core/lang/csv.h"
#include "core/lang/document.h"
#include "core/lang/format.h"

#include "core/config/compile.h"

#include <stddef.h>

struct csv_conf {
	const char *delimiter, *quote, *escape, *comment, *record_separator, *null_string;
	struct strings header;
	int format, quote_mode;
	bool quote_disabled, escape_disabled, comment_disabled, separator_disabled, null_disabled;
	bool header_disabled, skip_header, allow_missing, capture_header;
	bool use_maps, use_ordered_maps, lazy;
	bool ignore_empty, ignore_spaces, trim, trailing;
	struct csv_dialect dialect; /* worked out by the check */
	bool auto_header;           /* the first record names the columns */
};
#define AT(m) offsetof(struct csv_conf, m)

/* clang-format off */
#define TEXT(option, member, text) \
	{ .name = option, .type = OPTION_STRING, .offset = AT(member), .help = text }
#define FLAG(option, member, text) \
	{ .name = option, .type = OPTION_BOOL, .dflt = "false", .offset = AT(member), .help = text }
/* clang-format on */

static const struct option_desc options[] = {
	{ .name = "format",
	    .type = OPTION_ENUM,
	    .values = "DEFAULT|EXCEL|INFORMIX_UNLOAD|INFORMIX_UNLOAD_CSV|MYSQL|RFC4180|TDF",
	    .dflt = "DEFAULT",
	    .offset = AT(format),
	    .help = "dialect, whose parts the other options change" },
	{ .name = "delimiter",
	    .type = OPTION_STRING,
	    .flags = OPTION_MAIN,
	    .offset = AT(delimiter),
	    .help = "between cells; a comma in DEFAULT" },
	TEXT("quote", quote, "character around cells; a double quote in DEFAULT"),
	FLAG("quoteDisabled", quote_disabled, "cells are never quoted"),
	{ .name = "quoteMode",
	    .type = OPTION_ENUM,
	    .values = "|MINIMAL|ALL|ALL_NON_NULL|NON_NUMERIC|NONE",
	    .offset = AT(quote_mode),
	    .help = "which cells are written in quotes" },
	TEXT("escape", escape, "escape character; none in DEFAULT"),
	FLAG("escapeDisabled", escape_disabled, "there is no escape character"),
	TEXT("commentMarker", comment, "character at the beginning of a comment line"),
	FLAG("commentMarkerDisabled", comment_disabled, "there are no comment lines"),
	TEXT("recordSeparator", record_separator, "what ends a written line; CR LF in DEFAULT"),
	FLAG("recordSeparatorDisabled", separator_disabled, "written lines are not ended"),
	TEXT("nullString", null_string, "text that stands for null"),
	FLAG("nullStringDisabled", null_disabled, "no text stands for null"),
	{ .name = "header",
	    .type = OPTION_STRINGS,
	    .offset = AT(header),
	    .help = "names of the columns" },
	FLAG("headerDisabled", header_disabled, "the columns have no names"),
	FLAG("skipHeaderRecord", skip_header,
	    "the first line is not read as data; the names of the columns are not written"),
	FLAG("allowMissingColumnNames", allow_missing, "names of columns may be empty"),
	FLAG("captureHeaderRecord", capture_header,
	    "unmarshal sets the header CamelCsvHeaderRecord to the list of the columns' names"),
	FLAG("useMaps", use_maps, "a map a line, by the names of the columns"),
	FLAG("useOrderedMaps", use_ordered_maps, "as useMaps: the order of the columns is kept"),
	{ .name = "ignoreEmptyLines",
	    .type = OPTION_BOOL,
	    .offset = AT(ignore_empty),
	    .help = "passes over them; true in DEFAULT, INFORMIX_* and TDF" },
	{ .name = "ignoreSurroundingSpaces",
	    .type = OPTION_BOOL,
	    .offset = AT(ignore_spaces),
	    .help = "blanks around cells are no part of them; true in TDF" },
	FLAG("trim", trim, "cells without the blanks at both ends"),
	FLAG("trailingDelimiter", trailing, "a delimiter ends each line"),
	{ .name = "lazyLoad",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .offset = AT(lazy),
	    .help = "without meaning here: all lines are read at once" },
	OPTIONS_END,
};

/* ---- load ---- */

#define CELL(literal) { (literal), sizeof(literal) - 1 }

static const struct csv_dialect dialects[] = {
	/* DEFAULT */
	{ .delimiter = CELL(","),
	    .quote = '"',
	    .escape = CSV_NONE,
	    .comment = CSV_NONE,
	    .record_separator = CELL("\r\n"),
	    .ignore_empty_lines = true },
	/* EXCEL */
	{ .delimiter = CELL(","),
	    .quote = '"',
	    .escape = CSV_NONE,
	    .comment = CSV_NONE,
	    .record_separator = CELL("\r\n") },
	/* INFORMIX_UNLOAD */
	{ .delimiter = CELL("|"),
	    .quote = '"',
	    .escape = '\\',
	    .comment = CSV_NONE,
	    .record_separator = CELL("\n"),
	    .ignore_empty_lines = true },
	/* INFORMIX_UNLOAD_CSV */
	{ .delimiter = CELL(","),
	    .quote = '"',
	    .escape = CSV_NONE,
	    .comment = CSV_NONE,
	    .record_separator = CELL("\n"),
	    .ignore_empty_lines = true },
	/* MYSQL */
	{ .delimiter = CELL("\t"),
	    .quote = CSV_NONE,
	    .escape = '\\',
	    .comment = CSV_NONE,
	    .record_separator = CELL("\n"),
	    .null_string = CELL("\\N"),
	    .quote_mode = CSV_QUOTE_ALL_NON_NULL },
	/* RFC4180 */
	{ .delimiter = CELL(","),
	    .quote = '"',
	    .escape = CSV_NONE,
	    .comment = CSV_NONE,
	    .record_separator = CELL("\r\n") },
	/* TDF */
	{ .delimiter = CELL("\t"),
	    .quote = '"',
	    .escape = CSV_NONE,
	    .comment = CSV_NONE,
	    .record_separator = CELL("\r\n"),
	    .ignore_empty_lines = true,
	    .ignore_surrounding_spaces = true },
};

/* One byte of an option into *out. */
static int
set_char(struct compile *c, struct format *f, const char *name, const char *text, bool disabled,
    int *out)
{
	if (disabled)
		*out = CSV_NONE;
	if (text == NULL || disabled)
		return 0;
	if (strlen(text) != 1 || (signed char)text[0] < 0 || strchr("\r\n", text[0]) != NULL)
		return compile_error(
		    c, f->at, "%s: expected one ASCII character, got \"%s\"", name, text);
	*out = (unsigned char)text[0];
	return 0;
}

static int
check_apart(struct compile *c, struct format *f, const struct csv_dialect *d)
{
	if (d->delimiter.n == 0 || strpbrk(d->delimiter.p, "\r\n") != NULL)
		return compile_error(
		    c, f->at, "delimiter: expected at least one character that ends no line");
	int first = (unsigned char)d->delimiter.p[0];
	if (first == d->quote || first == d->escape || first == d->comment)
		return compile_error(c, f->at,
		    "delimiter: \"%s\" is the quote, escape or comment character too",
		    d->delimiter.p);
	if (d->comment != CSV_NONE && (d->comment == d->quote || d->comment == d->escape))
		return compile_error(c, f->at,
		    "commentMarker: \"%c\" is the quote or escape character too", d->comment);
	if (d->quote_mode == CSV_QUOTE_NONE && d->escape == CSV_NONE)
		return compile_error(
		    c, f->at, "quoteMode: NONE needs an escape character: set \"escape\"");
	return 0;
}

static int
csv_check(struct compile *c, struct format *f)
{
	struct csv_conf *conf = f->conf;
	struct csv_dialect *d = &conf->dialect;

	*d = dialects[conf->format];
	if (conf->delimiter != NULL)
		d->delimiter = str_of(conf->delimiter);
	if (set_char(c, f, "quote", conf->quote, conf->quote_disabled, &d->quote) != 0 ||
	    set_char(c, f, "escape", conf->escape, conf->escape_disabled, &d->escape) != 0 ||
	    set_char(c, f, "commentMarker", conf->comment, conf->comment_disabled, &d->comment) != 0)
		return -1;
	if (conf->record_separator != NULL || conf->separator_disabled)
		d->record_separator =
		    conf->separator_disabled ? STR_LIT("") : str_of(conf->record_separator);
	if (conf->null_string != NULL || conf->null_disabled)
		d->null_string = conf->null_disabled ? (struct str){ NULL, 0 } : str_of(conf->null_string);
	if (conf->quote_mode > 0)
		d->quote_mode = (enum csv_quote_mode)(conf->quote_mode - 1);
	if (option_given(options, conf, "ignoreEmptyLines"))
		d->ignore_empty_lines = conf->ignore_empty;
	if (option_given(options, conf, "ignoreSurroundingSpaces"))
		d->ignore_surrounding_spaces = conf->ignore_spaces;
	d->trim = conf->trim;
	d->trailing_delimiter = conf->trailing;
	if (conf->header_disabled)
		conf->header = (struct strings){ .n = 0 };
	conf->use_maps |= conf->use_ordered_maps;
	/* Commons takes the names from the first line where they are needed and not given. */
	conf->auto_header = conf->header.n == 0 && (conf->use_maps || conf->skip_header);
	conf->allow_missing |= conf->format == 1; /* EXCEL */
	if (conf->capture_header)
		access_add_header(c, &f->writes, "CamelCsvHeaderRecord");
	return check_apart(c, f, d);
}

/* ---- reading ---- */

static struct value
given_header(struct exchange *ex, const struct csv_conf *conf)
{
	struct value names = value_new_list(&ex->arena, conf->header.n);

	for (size_t i = 0; i < conf->header.n; i++)
		value_list_add(&ex->arena, names.u.list, value_str(str_of(conf->header.items[i])));
	return names;
}

static enum hinny_rc
check_names(const struct csv_conf *conf, struct exchange *ex, const struct value *names,
    struct hinny_error *err)
{
	for (size_t i = 0; i < names->u.list->n && !conf->allow_missing; i++) {
		const struct value *v = &names->u.list->items[i];
		if (value_is_null(v) || str_trim(v->u.s).n == 0)
			return hinny_error_set(err, HINNY_EINVAL,
			    "A header name is missing in %.*s",
			    STR_FMT(value_text(&ex->arena, names)));
	}
	return HINNY_OK;
}

/* The names of the columns; the record in front of the data is read where there is one. */
static enum hinny_rc
read_header(const struct csv_conf *conf, struct exchange *ex, struct csv_reader *r,
    struct value *names, struct hinny_error *err)
{
	enum hinny_rc rc = HINNY_OK;
	bool more = false;

	*names = given_header(ex, conf);
	if (conf->auto_header || conf->skip_header) {
		struct value first = value_null();
		rc = csv_read(r, &first, &more, err);
		if (more && conf->auto_header)
			*names = first;
	}
	return rc == HINNY_OK ? check_names(conf, ex, names, err) : rc;
}

/* Cells beyond the names are dropped, names beyond the cells are not there. */
static struct value
to_map(struct arena *a, const struct value *names, const struct value *record)
{
	const struct value_list *keys = names->u.list, *cells = record->u.list;
	size_t n = keys->n < cells->n ? keys->n : cells->n;
	struct value map = value_new_map(a, n, false);

	for (size_t i = 0; i < n; i++) {
		if (value_has_text(&keys->items[i]))
			value_map_set(a, map.u.map, keys->items[i].u.s, cells->items[i]);
	}
	return map;
}

static enum hinny_rc
read_all(const struct csv_conf *conf, struct exchange *ex, struct csv_reader *r,
    struct format_result *out, struct hinny_error *err)
{
	struct value record = value_null(), names;
	enum hinny_rc rc = read_header(conf, ex, r, &names, err);
	bool more = rc == HINNY_OK;

	out->value = value_new_list(&ex->arena, 16);
	while (more) {
		rc = csv_read(r, &record, &more, err);
		if (rc != HINNY_OK)
			return rc;
		if (more)
			value_list_add(&ex->arena, out->value.u.list,
			    conf->use_maps ? to_map(&ex->arena, &names, &record) : record);
	}
	if (rc == HINNY_OK && conf->capture_header)
		format_header(out, "CamelCsvHeaderRecord", names);
	return rc;
}

static bool
csv_unmarshal(
    const struct format *f, struct exchange *ex, const struct value *in, struct format_result *out)
{
	const struct csv_conf *conf = f->conf;
	struct csv_reader r;
	struct hinny_error err;
	struct str text;

	if (!format_input(ex, in, &text))
		return false;
	csv_reader_init(&r, &conf->dialect, &ex->arena, text, in->blob);
	enum hinny_rc rc = read_all(conf, ex, &r, out, &err);
	csv_reader_fini(&r);
	if (rc != HINNY_OK)
		exchange_fail(ex, rc == HINNY_ELIMIT ? EXCEPTION_BODY_TOO_LARGE : EXCEPTION_IO,
		    "csv: %s", err.text);
	return rc == HINNY_OK;
}

/* ---- writing ---- */

struct csv_writer {
	const struct csv_conf *conf;
	struct exchange *ex;
	struct buf b;
	struct value columns; /* names: given, or the keys of the first map */
};

static void
take_columns(struct csv_writer *w, const struct value *map)
{
	struct document_iter it;
	struct value item;
	struct str key;

	w->columns = value_new_list(&w->ex->arena, document_size(map));
	document_iter_init(&it, &w->ex->arena, map);
	while (document_iter_next(&it, &key, &item))
		value_list_add(&w->ex->arena, w->columns.u.list, value_str(key));
}

static enum hinny_rc
write_map(struct csv_writer *w, const struct value *map)
{
	struct arena *a = &w->ex->arena;
	enum hinny_rc rc = HINNY_OK;

	if (w->columns.type != VALUE_LIST)
		take_columns(w, map);
	for (size_t i = 0; i < w->columns.u.list->n && rc == HINNY_OK; i++) {
		struct value v;
		if (!document_member(a, map, w->columns.u.list->items[i].u.s, &v))
			v = value_null();
		rc = csv_write_cell(&w->b, a, &w->conf->dialect, &v, i == 0);
	}
	return rc == HINNY_OK ? csv_write_end(&w->b, &w->conf->dialect) : rc;
}

static enum hinny_rc
write_list(struct csv_writer *w, const struct value *list)
{
	struct document_iter it;
	struct value v;
	struct str key;
	enum hinny_rc rc = HINNY_OK;

	document_iter_init(&it, &w->ex->arena, list);
	for (size_t i = 0; rc == HINNY_OK && document_iter_next(&it, &key, &v); i++)
		rc = csv_write_cell(&w->b, &w->ex->arena, &w->conf->dialect, &v, i == 0);
	return rc == HINNY_OK ? csv_write_end(&w->b, &w->conf->dialect) : rc;
}

/* HINNY_EINVAL: it is no list and no map. */
static enum hinny_rc
write_record(struct csv_writer *w, const struct value *v)
{
	switch (document_kind(v)) {
	case DOCUMENT_OBJECT:
		return write_map(w, v);
	case DOCUMENT_ARRAY:
		return write_list(w, v);
	default:
		return HINNY_EINVAL;
	}
}

/* A list is one of records, unless no item of it is a list or a map. */
static bool
is_one_record(struct csv_writer *w, const struct value *v)
{
	struct document_iter it;
	struct value item;
	struct str key;

	if (document_kind(v) != DOCUMENT_ARRAY)
		return true;
	document_iter_init(&it, &w->ex->arena, v);
	return document_iter_next(&it, &key, &item) && document_kind(&item) == DOCUMENT_SCALAR;
}

static enum hinny_rc
write_all(struct csv_writer *w, const struct value *v)
{
	struct document_iter it;
	struct value item;
	struct str key;
	enum hinny_rc rc = HINNY_OK;

	if (w->conf->header.n > 0) {
		w->columns = given_header(w->ex, w->conf);
		rc = w->conf->skip_header ? HINNY_OK : write_list(w, &w->columns);
	}
	if (rc != HINNY_OK || is_one_record(w, v))
		return rc == HINNY_OK ? write_record(w, v) : rc;
	document_iter_init(&it, &w->ex->arena, v);
	while (rc == HINNY_OK && document_iter_next(&it, &key, &item))
		rc = write_record(w, &item);
	return rc;
}

static bool
csv_marshal(
    const struct format *f, struct exchange *ex, const struct value *in, struct format_result *out)
{
	struct csv_writer w = { .conf = f->conf, .ex = ex };
	struct value v = value_plain(&ex->arena, in);

	buf_init(&w.b, FORMAT_OUTPUT_MAX);
	enum hinny_rc rc = write_all(&w, &v);
	if (rc == HINNY_OK) {
		out->value = format_output(ex, &w.b);
		return true;
	}
	buf_fini(&w.b);
	if (rc == HINNY_ELIMIT)
		exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE, "csv: the result is too large");
	else
		exchange_fail(ex, EXCEPTION_NO_TYPE_CONVERSION,
		    "csv: a list or map is needed, or a list of such, not %s",
		    value_is_null(in) ? "null" : value_class(in));
	return false;
}

const struct format_desc csv_format = {
	.name = "csv",
	.options = options,
	.conf_size = sizeof(struct csv_conf),
	.check = csv_check,
	.marshal = csv_marshal,
	.unmarshal = csv_unmarshal,
	.help = "lines of cells as lists or maps of text",
};
