/* Durations and sizes, each with its one table of units. */
#include "core/base/units.h"

#include "core/base/assert.h"

#include <stdio.h>

/* Takes the digits at the head of *s. */
static bool
take_number(struct str *s, int64_t *out)
{
	size_t n = 0;

	while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
		n++;
	if (!str_to_int64((struct str){ s->p, n }, out))
		return false;
	*s = (struct str){ s->p + n, s->n - n };
	return true;
}

/* Takes the letters at the head of *s. */
static struct str
take_word(struct str *s)
{
	size_t n = 0;

	while (n < s->n && ((s->p[n] | 0x20) >= 'a' && (s->p[n] | 0x20) <= 'z'))
		n++;
	struct str word = { s->p, n };
	*s = (struct str){ s->p + n, s->n - n };
	return word;
}

static bool
add_scaled(int64_t *sum, int64_t count, int64_t unit)
{
	int64_t part;

	return !__builtin_mul_overflow(count, unit, &part) &&
	    !__builtin_add_overflow(*sum, part, sum);
}

/* Largest first: the order in which they may follow one another. */
static const struct duration_unit {
	const char *name;
	int64_t ms;
} duration_units[] = {
	{ "d", 24 * 60 * 60 * 1000 },
	{ "h", 60 * 60 * 1000 },
	{ "m", 60 * 1000 },
	{ "s", 1000 },
	{ "ms", 1 },
};

/* The row of `name` at or behind `from`; ARRAY_LEN when there is none. */
static size_t
find_duration_unit(struct str name, size_t from)
{
	size_t i = from;

	while (i < ARRAY_LEN(duration_units) && !str_eq(name, str_of(duration_units[i].name)))
		i++;
	return i;
}

/* "1m30s" */
static bool
parse_unit_list(struct str s, int64_t *ms)
{
	int64_t sum = 0, count;
	size_t next = 0;

	do {
		if (!take_number(&s, &count))
			return false;
		size_t i = find_duration_unit(take_word(&s), next);
		if (i == ARRAY_LEN(duration_units) ||
		    !add_scaled(&sum, count, duration_units[i].ms))
			return false;
		next = i + 1;
	} while (s.n > 0);
	*ms = sum;
	return true;
}

/* ".250" of "0.250S": milliseconds, finer digits are dropped. */
static bool
take_fraction(struct str *s, int64_t *ms)
{
	int64_t scale = 100;
	size_t i = 1;

	*ms = 0;
	if (s->n == 0 || s->p[0] != '.')
		return true;
	for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++, scale /= 10)
		*ms += (s->p[i] - '0') * scale;
	if (i == 1)
		return false;
	*s = (struct str){ s->p + i, s->n - i };
	return true;
}

/* One "5S" of an ISO duration; *next is the least row that may stand here. */
static bool
take_iso_part(struct str *s, size_t *next, int64_t *sum)
{
	int64_t count, fraction;

	if (!take_number(s, &count))
		return false;
	bool had_point = s->n > 0 && s->p[0] == '.';
	if (!take_fraction(s, &fraction) || s->n == 0)
		return false;
	char letter = (char)(s->p[0] | 0x20);
	size_t i = find_duration_unit((struct str){ &letter, 1 }, *next);
	if (i == ARRAY_LEN(duration_units) || (had_point && letter != 's'))
		return false;
	*next = i + 1;
	*s = (struct str){ s->p + 1, s->n - 1 };
	return add_scaled(sum, count, duration_units[i].ms) && add_scaled(sum, fraction, 1);
}

/*
 * "P1DT2H30M5.5S", without years, months and weeks, whose length is no fixed one or which Camel
 * does not take.
 */
static bool
parse_iso(struct str s, int64_t *ms)
{
	int64_t sum = 0;
	size_t next = 0, hours = 1;

	s = (struct str){ s.p + 1, s.n - 1 };
	if (s.n > 0 && (s.p[0] | 0x20) != 't') {
		if (!take_iso_part(&s, &next, &sum) || next != hours)
			return false;
		if (s.n == 0) {
			*ms = sum;
			return true;
		}
	}
	if (s.n < 2 || (s.p[0] | 0x20) != 't')
		return false;
	s = (struct str){ s.p + 1, s.n - 1 };
	next = hours;
	while (s.n > 0) {
		if (!take_iso_part(&s, &next, &sum))
			return false;
	}
	*ms = sum;
	return true;
}

bool
units_parse_duration(struct str s, int64_t *ms)
{
	if (str_to_int64(s, ms))
		return true;
	if (s.n > 1 && (s.p[0] == 'P' || s.p[0] == 'p'))
		return parse_iso(s, ms);
	return parse_unit_list(s, ms);
}

static const struct size_unit {
	const char *name;
	int64_t bytes;
} size_units[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "k", 1 << 10 },
	{ "kb", 1 << 10 },
	{ "kib", 1 << 10 },
	{ "m", 1 << 20 },
	{ "mb", 1 << 20 },
	{ "mib", 1 << 20 },
	{ "g", 1 << 30 },
	{ "gb", 1 << 30 },
	{ "gib", 1 << 30 },
};

bool
units_parse_size(struct str s, uint64_t *bytes)
{
	int64_t count, sum = 0;

	if (!take_number(&s, &count))
		return false;
	struct str word = take_word(&s);
	if (s.n > 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(size_units); i++) {
		if (!str_caseeq(word, str_of(size_units[i].name)))
			continue;
		if (!add_scaled(&sum, count, size_units[i].bytes))
			return false;
		*bytes = (uint64_t)sum;
		return true;
	}
	return false;
}

/* "1.5 s"; a whole number has no point. */
static const char *
format_scaled(double value, const char *unit, char *buf, unsigned long size)
{
	char number[64];

	int n = snprintf(number, sizeof number, "%.1f", value);
	if (n > 2 && strcmp(number + n - 2, ".0") == 0)
		number[n - 2] = '\0';
	(void)snprintf(buf, size, "%s %s", number, unit); /* a cut text still tells */
	return buf;
}

const char *
units_format_duration(int64_t ms, char *buf, unsigned long size)
{
	static const char *const names[] = { "d", "h", "min", "s", "ms" };
	_Static_assert(ARRAY_LEN(names) == ARRAY_LEN(duration_units), "one name a unit");
	size_t i = 0;

	while (i < ARRAY_LEN(names) - 1 && ms < duration_units[i].ms)
		i++;
	return format_scaled((double)ms / (double)duration_units[i].ms, names[i], buf, size);
}

const char *
units_format_size(uint64_t bytes, char *buf, unsigned long size)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} rows[] = { { "GiB", 1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 }, { "B", 1 } };
	size_t i = 0;

	while (i < ARRAY_LEN(rows) - 1 && bytes < rows[i].bytes)
		i++;
	return format_scaled((double)bytes / (double)rows[i].bytes, rows[i].name, buf, size);
}
