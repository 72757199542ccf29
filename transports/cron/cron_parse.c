/* Cron expressions: text to sets of numbers. */
#include "transports/cron/cron_expr.h"

#include <string.h>

struct field {
	const char *name;
	int min, max;
	const char *words; /* three letters each, for min, min + 1 … */
};

static const struct field fields[] = {
	{ "seconds", 0, 59, NULL },
	{ "minutes", 0, 59, NULL },
	{ "hours", 0, 23, NULL },
	{ "day of the month", 1, 31, NULL },
	{ "month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC" },
	{ "day of the week", 1, 7, "SUNMONTUEWEDTHUFRISAT" },
	{ "year", CRON_YEAR_FIRST, CRON_YEAR_LAST, NULL },
};
enum { SECONDS, MINUTES, HOURS, DAY, MONTH, WEEKDAY, YEAR, FIELDS };

static enum hinny_rc
wrong(struct hinny_error *err, const struct field *f, struct str text)
{
	return hinny_error_set(err, HINNY_EINVAL, "%s: expected %d to %d, *, ranges and steps, got "
						  "\"%.*s\"",
	    f->name, f->min, f->max, STR_FMT(text));
}

/* A number or word at the head of *s, cut off. */
static bool
take_value(const struct field *f, struct str *s, int *out)
{
	size_t n = 0;
	int v = 0;

	while (n < s->n && n < 5 && s->p[n] >= '0' && s->p[n] <= '9')
		v = v * 10 + (s->p[n++] - '0');
	if (n == 0 && f->words != NULL && s->n >= 3) {
		for (int i = 0; i <= f->max - f->min; i++) {
			if (!str_caseeq((struct str){ s->p, 3 }, (struct str){ f->words + 3 * i, 3 }))
				continue;
			v = f->min + i;
			n = 3;
			break;
		}
	}
	if (n == 0 || v < f->min || v > f->max)
		return false;
	*s = (struct str){ s->p + n, s->n - n };
	*out = v;
	return true;
}

static bool
take_char(struct str *s, char c)
{
	if (s->n == 0 || s->p[0] != c)
		return false;
	*s = (struct str){ s->p + 1, s->n - 1 };
	return true;
}

/* From first to last, round the end when last is before first. */
static void
add_range(const struct field *f, uint64_t set[3], int first, int last, int step)
{
	int n = last >= first ? last - first : last - first + f->max - f->min + 1;

	for (int i = 0; i <= n; i += step) {
		int v = first + i;
		if (v > f->max)
			v -= f->max - f->min + 1;
		if (f->min == CRON_YEAR_FIRST)
			v -= CRON_YEAR_FIRST;
		set[v / 64] |= (uint64_t)1 << v % 64;
	}
}

static enum hinny_rc
parse_item(const struct field *f, struct str item, uint64_t set[3], struct hinny_error *err)
{
	struct str s = item;
	int first = f->min, last = f->max, step = 1;
	bool single = false;

	if (!take_char(&s, '*') && (s.n == 0 || s.p[0] != '/')) {
		if (!take_value(f, &s, &first))
			return wrong(err, f, item);
		last = first;
		single = true;
		if (take_char(&s, '-')) {
			if (!take_value(f, &s, &last))
				return wrong(err, f, item);
			single = false;
		}
	}
	if (take_char(&s, '/')) {
		struct field steps = { f->name, 1, f->max, NULL };
		if (!take_value(&steps, &s, &step))
			return wrong(err, f, item);
		if (single)
			last = f->max;
	}
	if (s.n > 0)
		return wrong(err, f, item);
	add_range(f, set, first, last, step);
	return HINNY_OK;
}

static enum hinny_rc
parse_list(const struct field *f, struct str text, uint64_t set[3], struct hinny_error *err)
{
	struct str rest = text, item;
	enum hinny_rc rc = text.n > 0 ? HINNY_OK : wrong(err, f, text);

	while (rc == HINNY_OK && str_split(&rest, ',', &item))
		rc = parse_item(f, item, set, err);
	return rc;
}

/* L, L-3, LW, 15W. False: it is none of them. */
static bool
parse_special_day(struct str s, struct cron_expr *e)
{
	const struct field *f = &fields[DAY];
	int n;

	if (take_char(&s, 'L')) {
		e->last_day = true;
		if (take_char(&s, '-') && take_value(f, &s, &n) && n <= 30)
			e->last_offset = n;
		e->near = take_char(&s, 'W');
		return s.n == 0;
	}
	if (!take_value(f, &s, &n) || !take_char(&s, 'W') || s.n > 0)
		return false;
	e->near = true;
	e->near_day = n;
	return true;
}

/* L, 6L, FRI#2. */
static bool
parse_special_weekday(struct str s, struct cron_expr *e)
{
	const struct field *f = &fields[WEEKDAY];
	int n;

	if (str_eq(s, STR_LIT("L"))) { /* Saturday */
		e->weekdays = (uint64_t)1 << 7;
		return true;
	}
	if (!take_value(f, &s, &n))
		return false;
	e->weekdays = (uint64_t)1 << n;
	if (take_char(&s, 'L')) {
		e->last_weekday = true;
		return s.n == 0;
	}
	if (!take_char(&s, '#') || s.n != 1 || s.p[0] < '1' || s.p[0] > '5')
		return false;
	e->nth = s.p[0] - '0';
	return true;
}

static enum hinny_rc
parse_days(const struct str *words, struct cron_expr *e, struct hinny_error *err)
{
	bool any_day = str_eq(words[DAY], STR_LIT("?")), any = str_eq(words[WEEKDAY], STR_LIT("?"));
	uint64_t set[3] = { 0 };
	enum hinny_rc rc;

	/* Two stars say the same as one and a question mark. */
	if (!any_day && !any && str_eq(words[DAY], STR_LIT("*")))
		any_day = true;
	else if (!any_day && !any && str_eq(words[WEEKDAY], STR_LIT("*")))
		any = true;
	if (any_day == any)
		return hinny_error_set(err, HINNY_EINVAL,
		    "one of day of the month and day of the week must be \"?\", and the other not");
	e->by_weekday = any_day;
	struct str text = words[any_day ? WEEKDAY : DAY];
	if (any_day ? parse_special_weekday(text, e) : parse_special_day(text, e))
		return HINNY_OK;
	*e = (struct cron_expr){ .by_weekday = any_day };
	rc = parse_list(&fields[any_day ? WEEKDAY : DAY], text, set, err);
	*(any_day ? &e->weekdays : &e->days) = set[0];
	return rc;
}

static bool
is_gap(char c)
{
	return c == ' ' || c == '\t' || c == '+';
}

static size_t
split_words(struct str text, struct str words[FIELDS + 1])
{
	size_t n = 0, i = 0;

	while (n <= FIELDS) {
		while (i < text.n && is_gap(text.p[i]))
			i++;
		if (i == text.n)
			break;
		size_t from = i;
		while (i < text.n && !is_gap(text.p[i]))
			i++;
		words[n++] = (struct str){ text.p + from, i - from };
	}
	return n;
}

enum hinny_rc
cron_parse(struct str text, struct cron_expr *out, struct hinny_error *err)
{
	struct str words[FIELDS + 1];
	size_t n = split_words(text, words);
	struct cron_expr e = { 0 };
	uint64_t sets[FIELDS][3] = { 0 };
	enum hinny_rc rc;

	if (n != 6 && n != 7)
		return hinny_error_set(err, HINNY_EINVAL,
		    "expected six or seven fields such as \"0 0/5 * * * ?\", got %zu%s", n,
		    n == 5 ? ": seconds come first" : "");
	if (n == 6)
		words[YEAR] = STR_LIT("*");
	if ((rc = parse_days(words, &e, err)) != HINNY_OK)
		return rc;
	for (int i = 0; i < FIELDS; i++) {
		if (i != DAY && i != WEEKDAY &&
		    (rc = parse_list(&fields[i], words[i], sets[i], err)) != HINNY_OK)
			return rc;
	}
	e.seconds = sets[SECONDS][0];
	e.minutes = sets[MINUTES][0];
	e.hours = sets[HOURS][0];
	e.months = sets[MONTH][0];
	memcpy(e.years, sets[YEAR], sizeof e.years);
	e.any_hour = e.hours == ((uint64_t)1 << 24) - 1;
	*out = e;
	return HINNY_OK;
}
