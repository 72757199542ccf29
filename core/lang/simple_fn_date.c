/*
 * ${date:COMMAND:PATTERN} and ${date-with-timezone:COMMAND:ZONE:PATTERN}. Commands, offsets, zone
 * and pattern are read at load; patterns are those of Java's SimpleDateFormat in English. Dates are
 * proleptic Gregorian.
 */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/eip/variables.h"
#include "core/lang/document.h"
#include "core/lang/timezone.h"

enum date_source { DATE_NOW, DATE_CREATED, DATE_KEY, DATE_FILE };

struct simple_date {
	enum date_source source;
	struct simple_key key;
	int64_t offset_ms;
	bool millis;        /* the value is a number */
	struct str pattern; /* p NULL: the value is a date */
	struct timezone_rules *zone;
};

/* A moment in its zone. */
struct moment {
	int64_t ms, days; /* local; days since 1970 */
	int year, month, day, hour, minute, second, milli, weekday /* Sunday 0 */,
	    yearday /* from 1 */;
	int32_t offset;
	const char *zone;
};

static const char *const month_names[] = { "January", "February", "March", "April", "May", "June",
	"July", "August", "September", "October", "November", "December" };
static const char *const day_names[] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday",
	"Friday", "Saturday" };

/* ---- the calendar ---- */

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static bool
is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days since 1970 of the first of January. */
static int64_t
year_start(int64_t year)
{
	int64_t y = year - 1;
	return y * 365 + floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400) - 719162;
}

static void
split_day(struct moment *m)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t year = 1970 + floor_div(m->days * 400, 146097);
	while (year_start(year) > m->days)
		year--;
	while (year_start(year + 1) <= m->days)
		year++;
	m->year = (int)year;
	int day = (int)(m->days - year_start(year));
	m->yearday = day + 1;
	m->month = 0;
	for (;;) {
		int length = lengths[m->month] + (m->month == 1 && is_leap(year));
		if (day < length)
			break;
		day -= length;
		m->month++;
	}
	m->day = day + 1;
	m->weekday = (int)((m->days % 7 + 7 + 4) % 7);
}

static void
moment_make(struct moment *m, int64_t ms, const struct timezone_rules *zone)
{
	m->offset = timezone_offset(zone, floor_div(ms, 1000), &m->zone);
	m->ms = ms + (int64_t)m->offset * 1000;
	m->days = floor_div(m->ms, 86400000);
	int64_t rest = m->ms - m->days * 86400000;
	m->milli = (int)(rest % 1000);
	m->second = (int)(rest / 1000 % 60);
	m->minute = (int)(rest / 60000 % 60);
	m->hour = (int)(rest / 3600000);
	split_day(m);
}

/* ---- patterns ---- */

static enum hinny_rc
put_number(struct buf *b, int64_t n, size_t width)
{
	return buf_printf(b, "%0*lld", (int)width, (long long)n);
}

static enum hinny_rc
put_name(struct buf *b, const char *name, size_t width)
{
	return width >= 4 ? buf_add(b, name, strlen(name)) : buf_add(b, name, 3);
}

static enum hinny_rc
put_offset(struct buf *b, int32_t offset, size_t width, bool colon, bool zulu)
{
	if (zulu && offset == 0)
		return buf_add_char(b, 'Z');
	int minutes = (offset < 0 ? -offset : offset) / 60;
	enum hinny_rc rc = buf_printf(b, "%c%02d", offset < 0 ? '-' : '+', minutes / 60);
	return rc != HINNY_OK || width == 1 ? rc
					    : buf_printf(b, colon ? ":%02d" : "%02d", minutes % 60);
}

/* The name of the zone, from four letters on the long one where there is one. */
static enum hinny_rc
put_zone(struct buf *b, const struct moment *m, size_t width)
{
	static const struct {
		const char *name, *full;
	} names[] = {
		{ "BST", "British Summer Time" },
		{ "CDT", "Central Daylight Time" },
		{ "CEST", "Central European Summer Time" },
		{ "CET", "Central European Standard Time" },
		{ "CST", "Central Standard Time" },
		{ "EDT", "Eastern Daylight Time" },
		{ "EEST", "Eastern European Summer Time" },
		{ "EET", "Eastern European Standard Time" },
		{ "EST", "Eastern Standard Time" },
		{ "GMT", "Greenwich Mean Time" },
		{ "IST", "India Standard Time" },
		{ "JST", "Japan Standard Time" },
		{ "MDT", "Mountain Daylight Time" },
		{ "MSK", "Moscow Standard Time" },
		{ "MST", "Mountain Standard Time" },
		{ "PDT", "Pacific Daylight Time" },
		{ "PST", "Pacific Standard Time" },
		{ "UTC", "Coordinated Universal Time" },
		{ "WEST", "Western European Summer Time" },
		{ "WET", "Western European Standard Time" },
	};

	if (m->zone[0] == '+' || m->zone[0] == '-') {
		enum hinny_rc rc = buf_add_str(b, STR_LIT("GMT"));
		return rc == HINNY_OK ? put_offset(b, m->offset, 3, true, false) : rc;
	}
	for (size_t i = 0; width >= 4 && i < ARRAY_LEN(names); i++)
		if (strcmp(names[i].name, m->zone) == 0)
			return buf_add(b, names[i].full, strlen(names[i].full));
	return buf_add(b, m->zone, strlen(m->zone));
}

/* Week of the year by which 1 January is in week 1 and weeks begin on Sunday, as in Java's English
 * locale. */
static int
week_of_year(const struct moment *m)
{
	int first = (m->weekday - (m->yearday - 1) % 7 + 7) % 7; /* weekday of 1 January */
	int week = (m->yearday - 1 + first) / 7 + 1;
	int length = 365 + is_leap(m->year);
	int next_first = (first + length) % 7;
	return length - m->yearday + 1 <= next_first ? 1 : week;
}

/* One run of a pattern letter. False: no such letter. */
static bool
put_field(struct buf *b, const struct moment *m, char letter, size_t n, enum hinny_rc *rc)
{
	int year = m->year;

	switch (letter) {
	case 'G':
		*rc = buf_add_str(b, STR_LIT("AD"));
		return true;
	case 'Y': /* the year of the week */
		year += week_of_year(m) == 1 && m->yearday > 300;
		/* fallthrough */
	case 'y':
		*rc = n == 2 ? put_number(b, year % 100, 2) : put_number(b, year, n);
		return true;
	case 'M':
	case 'L':
		*rc =
		    n >= 3 ? put_name(b, month_names[m->month], n) : put_number(b, m->month + 1, n);
		return true;
	case 'E':
		*rc = put_name(b, day_names[m->weekday], n);
		return true;
	case 'a':
		*rc = buf_add_str(b, m->hour < 12 ? STR_LIT("AM") : STR_LIT("PM"));
		return true;
	case 'z':
		*rc = put_zone(b, m, n);
		return true;
	case 'Z':
		*rc = put_offset(b, m->offset, 2, false, false);
		return true;
	case 'X':
		*rc = put_offset(b, m->offset, n, n == 3, true);
		return true;
	default:
		break;
	}
	const struct {
		char letter;
		int value;
	} numbers[] = {
		{ 'd', m->day },
		{ 'D', m->yearday },
		{ 'F', (m->day - 1) / 7 + 1 },
		{ 'H', m->hour },
		{ 'k', m->hour == 0 ? 24 : m->hour },
		{ 'K', m->hour % 12 },
		{ 'h', m->hour % 12 == 0 ? 12 : m->hour % 12 },
		{ 'm', m->minute },
		{ 's', m->second },
		{ 'S', m->milli },
		{ 'w', week_of_year(m) },
		{ 'W', (m->day - 1 + (m->weekday - (m->day - 1) % 7 + 7) % 7) / 7 + 1 },
		{ 'u', m->weekday == 0 ? 7 : m->weekday },
	};
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		if (numbers[i].letter == letter) {
			*rc = put_number(b, numbers[i].value, n);
			return true;
		}
	}
	return false;
}

/* Quoted text at i, '' being a quote; returns the position behind it, SIZE_MAX when it has no end. */
static size_t
put_quoted(struct buf *b, struct str pattern, size_t i, enum hinny_rc *rc)
{
	if (i + 1 < pattern.n && pattern.p[i + 1] == '\'') {
		*rc = buf_add_char(b, '\'');
		return i + 2;
	}
	for (i++; i < pattern.n && *rc == HINNY_OK; i++) {
		if (pattern.p[i] != '\'') {
			*rc = buf_add_char(b, pattern.p[i]);
		} else if (i + 1 < pattern.n && pattern.p[i + 1] == '\'') {
			*rc = buf_add_char(b, pattern.p[i++]);
		} else {
			return i + 1;
		}
	}
	return *rc == HINNY_OK ? SIZE_MAX : i;
}

/* Appends the moment; HINNY_EINVAL at a letter that means nothing, which is *bad. */
static enum hinny_rc
format(struct buf *b, const struct moment *m, struct str pattern, char *bad)
{
	enum hinny_rc rc = HINNY_OK;
	for (size_t i = 0; i < pattern.n && rc == HINNY_OK;) {
		char c = pattern.p[i];
		size_t run = i;
		while (run < pattern.n && pattern.p[run] == c)
			run++;
		if (c == '\'') {
			i = put_quoted(b, pattern, i, &rc);
			if (i == SIZE_MAX) {
				*bad = c;
				return HINNY_EINVAL;
			}
		} else if ((c | 32) < 'a' || (c | 32) > 'z') {
			rc = buf_add_char(b, c);
			i++;
		} else if (put_field(b, m, c, run - i, &rc)) {
			i = run;
		} else {
			*bad = c;
			return HINNY_EINVAL;
		}
	}
	return rc;
}

/* ---- reading the function ---- */

/* Milliseconds of a unit at p; 0 when it is none. */
static int64_t
unit_ms(struct str s, size_t *length)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = { { "ms", 1 }, { "sec", 1000 }, { "s", 1000 }, { "min", 60000 }, { "m", 60000 },
		{ "hour", 3600000 }, { "h", 3600000 }, { "day", 86400000 }, { "d", 86400000 } };
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (str_starts(s, units[i].name)) {
			*length = strlen(units[i].name);
			return units[i].ms;
		}
	}
	*length = 0;
	return s.n == 0 ? 1 : 0; /* a number alone: milliseconds */
}

/* The whole of s as "+1h30m-10s". */
static bool
read_offsets(struct str s, int64_t *total)
{
	int64_t sum = 0, sign = 1;
	for (size_t i = 0; i < s.n;) {
		if (s.p[i] == '+' || s.p[i] == '-')
			sign = s.p[i++] == '-' ? -1 : 1;
		while (i < s.n && s.p[i] == ' ')
			i++;
		size_t begin = i, length = 0;
		while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
			i++;
		int64_t n;
		int64_t unit = unit_ms((struct str){ s.p + i, s.n - i }, &length);
		if (i == begin || i - begin > 12 || unit == 0 ||
		    !str_to_int64((struct str){ s.p + begin, i - begin }, &n) ||
		    __builtin_mul_overflow(n, sign * unit, &n) ||
		    __builtin_add_overflow(sum, n, &sum))
			return false;
		i += length;
	}
	*total = sum;
	return true;
}

/* Takes the offsets off the end of a command. A name may have signs in it, so the first that leads
 * to the end counts. */
static struct str
take_offsets(struct str command, int64_t *offset)
{
	*offset = 0;
	for (size_t i = 1; i < command.n; i++)
		if ((command.p[i] == '+' || command.p[i] == '-') &&
		    read_offsets((struct str){ command.p + i, command.n - i }, offset))
			return str_trim((struct str){ command.p, i });
	return command;
}

/* Does what is left look as if an offset was meant: a + and a digit? */
static bool
has_bad_offset(struct str command)
{
	const char *plus = memchr(command.p, '+', command.n);
	const char *end = command.p + command.n;
	while (plus != NULL && ++plus < end && *plus == ' ')
		;
	return plus != NULL && plus < end && *plus >= '0' && *plus <= '9';
}

static const struct {
	const char *prefix;
	enum simple_scope scope;
} key_commands[] = {
	{ "header.", SIMPLE_IN_HEADERS },
	{ "headers.", SIMPLE_IN_HEADERS },
	{ "in.header.", SIMPLE_IN_HEADERS },
	{ "variable.", SIMPLE_IN_VARIABLES },
	{ "exchangeProperty.", SIMPLE_IN_PROPERTIES },
};

static bool
read_key(struct simple_date *d, struct str command)
{
	for (size_t i = 0; i < ARRAY_LEN(key_commands); i++) {
		size_t n = strlen(key_commands[i].prefix);
		if (!str_starts(command, key_commands[i].prefix) || command.n == n)
			continue;
		d->source = DATE_KEY;
		struct str name = { command.p + n, command.n - n };
		if (key_commands[i].scope == SIMPLE_IN_VARIABLES && variables_is_shared(name))
			return false;
		d->key = (struct simple_key){ .scope = key_commands[i].scope,
			.full = name,
			.full_hash = str_casehash(name) };
		return true;
	}
	return false;
}

static bool
read_command(struct simple_parser *p, struct simple_date *d, struct str command)
{
	command = take_offsets(command, &d->offset_ms);
	if (has_bad_offset(command))
		return simple_error(p, command.p,
			   "the offset of a date: expected such as +1h30m, +2d, got %.*s",
			   STR_FMT(command)) != NULL;
	if (str_eq(command, STR_LIT("now")) || str_eq(command, STR_LIT("millis"))) {
		d->source = DATE_NOW;
		d->millis = command.p[0] == 'm';
	} else if (str_eq(command, STR_LIT("exchangeCreated"))) {
		d->source = DATE_CREATED;
	} else if (str_eq(command, STR_LIT("file"))) {
		d->source = DATE_FILE;
		simple_record(p, SIMPLE_IN_HEADERS, STR_LIT("CamelFileLastModified"));
	} else if (read_key(d, command)) {
		simple_record_key(p, &d->key);
	} else {
		return simple_error(p, command.p, "Command not supported for dateExpression: %.*s",
			   STR_FMT(command)) != NULL;
	}
	return true;
}

/* `shared`: the command before it reads as the beginning of such a variable's name. */
static bool
check_pattern(struct simple_parser *p, struct str pattern, bool shared)
{
	struct buf b;
	struct moment m;
	struct timezone_rules *utc;
	char bad = '?';
	(void)timezone_load(p->arena, "UTC", &utc, NULL);
	moment_make(&m, 0, utc);
	buf_init(&b, 4096);
	enum hinny_rc rc = format(&b, &m, pattern, &bad);
	buf_fini(&b);
	if (rc == HINNY_EINVAL && shared)
		return simple_error(p, pattern.p,
			   "a variable that all exchanges share has no date here: set one of the "
			   "exchange to it before") != NULL;
	if (rc == HINNY_EINVAL && bad == '\'')
		return simple_error(p, pattern.p, "Unterminated quote") != NULL;
	if (rc == HINNY_EINVAL)
		return simple_error(p, pattern.p, "Illegal pattern character '%c'", bad) != NULL;
	return rc == HINNY_OK ||
	    simple_error(p, pattern.p, "the pattern of a date is too long") != NULL;
}

/* Cuts the part before the next ":" off *rest. */
static struct str
next_part(struct str *rest)
{
	struct str part = { NULL, 0 };
	if (rest->p != NULL && !str_split(rest, ':', &part))
		*rest = (struct str){ NULL, 0 };
	return part;
}

struct simple_node *
simple_parse_date(struct simple_parser *p, struct str whole, struct str rest)
{
	bool zoned = str_starts(whole, "date-");
	struct hinny_error err;
	struct simple_date *d = ARENA_NEW(p->arena, struct simple_date);
	if (simple_has_function(rest))
		return simple_error(p, whole.p, "a date with functions in it is not supported");
	const char *end = rest.p + rest.n;
	struct str command = next_part(&rest), zone = { NULL, 0 };
	if (zoned)
		zone = next_part(&rest);
	if (zoned && (zone.p == NULL || rest.p == NULL || rest.p >= end))
		return simple_error(p, whole.p,
		    "Valid syntax: ${date-with-timezone:command:timezone:pattern} was: %.*s",
		    STR_FMT(whole));
	if (!read_command(p, d, command))
		return NULL;
	if (rest.p != NULL && rest.p < end)
		d->pattern = (struct str){ rest.p, (size_t)(end - rest.p) };
	bool shared = str_eq(command, STR_LIT("variable.global")) ||
	    str_eq(command, STR_LIT("variable.route"));
	if (d->pattern.p != NULL && !check_pattern(p, d->pattern, shared))
		return NULL;
	const char *name = zone.n > 0 ? arena_strndup(p->arena, zone.p, zone.n) : NULL;
	if (timezone_load(p->arena, name, &d->zone, &err) != HINNY_OK)
		return simple_error(p, zone.p, "%s", err.text);
	struct simple_node *node = simple_node_new(p, SIMPLE_DATE, whole.p, 0);
	node->u.date = d;
	return node;
}

/* ---- evaluation ---- */

static enum eval_rc
date_value(const struct simple_date *d, struct exchange *ex, int64_t *ms)
{
	struct value *found = NULL;
	if (d->source == DATE_NOW || d->source == DATE_CREATED) {
		*ms = d->source == DATE_NOW ? walltime_ms() : ex->created_ms;
		return EVAL_OK;
	}
	if (d->source == DATE_FILE)
		found = exchange_header(ex, STR_LIT("CamelFileLastModified"));
	else
		found = simple_lookup(ex, d->key.scope, d->key.full, d->key.full_hash);
	struct value v = found != NULL ? document_plain(&ex->arena, *found) : value_null();
	if (v.type != VALUE_INT || strcmp(value_class(&v), "java.lang.Integer") == 0)
		return simple_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "Cannot find Date/long object at command: %.*s",
		    STR_FMT(d->source == DATE_FILE ? STR_LIT("file") : d->key.full));
	*ms = v.u.i;
	return EVAL_OK;
}

enum eval_rc
simple_date_eval(const struct simple_date *d, struct exchange *ex, struct value *out)
{
	static const int64_t limit = INT64_C(253402300800000) * 10; /* years of five figures */
	int64_t ms = 0;
	enum eval_rc rc = date_value(d, ex, &ms);
	if (rc != EVAL_OK)
		return rc;
	if (__builtin_add_overflow(ms, d->offset_ms, &ms) || ms > limit || ms < -62135596800000)
		return simple_fail(ex, EXCEPTION_DATE_TIME, "the date is out of range");
	*out = value_int(ms);
	out->flags = VALUE_LONG;
	if (d->pattern.p == NULL) {
		out->flags |= d->millis ? 0 : VALUE_DATE;
		return EVAL_OK;
	}
	struct buf b;
	struct moment m;
	char bad;
	moment_make(&m, ms, d->zone);
	buf_init(&b, 65536);
	enum hinny_rc formatted = format(&b, &m, d->pattern, &bad);
	if (formatted == HINNY_OK)
		*out = value_str(arena_str(&ex->arena, (struct str){ b.p, b.n }));
	buf_fini(&b);
	return formatted == HINNY_OK
	    ? EVAL_OK
	    : simple_fail(ex, EXCEPTION_DATE_TIME, "the date cannot be printed");
}
