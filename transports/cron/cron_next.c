/* When a cron expression is due next. */
#include "transports/cron/cron_expr.h"

enum { DAY_SECONDS = 86400 };

/* ---- the calendar (proleptic Gregorian) ---- */

struct date {
	int year, month, day; /* month and day from 1 */
};

static struct date
date_of(int64_t days)
{
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	struct date d = { .day = (int)(doy - (153 * mp + 2) / 5 + 1),
		.month = (int)(mp < 10 ? mp + 3 : mp - 9) };

	d.year = (int)(yoe + era * 400 + (d.month <= 2));
	return d;
}

static int
days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && leap ? 29 : days[month - 1];
}

/* 1 Sunday … 7 Saturday; the first of January 1970 was a Thursday. */
static int
weekday_of(int64_t days)
{
	return (int)(((days + 4) % 7 + 7) % 7) + 1;
}

/* ---- days ---- */

static bool
has(uint64_t set, int i)
{
	return (set >> i & 1) != 0;
}

/* The nearest weekday (Monday to Friday) to a day, in its month. */
static int
nearest_weekday(int day, int weekday_of_day, int last)
{
	if (weekday_of_day == 7)
		return day == 1 ? day + 2 : day - 1;
	if (weekday_of_day == 1)
		return day == last ? day - 2 : day + 1;
	return day;
}

static bool
day_matches(const struct cron_expr *e, int64_t days, struct date d)
{
	int last = days_in_month(d.year, d.month), weekday = weekday_of(days);

	if (e->by_weekday) {
		if (!has(e->weekdays, weekday))
			return false;
		if (e->last_weekday)
			return d.day + 7 > last;
		return e->nth == 0 || (d.day - 1) / 7 + 1 == e->nth;
	}
	if (!e->last_day && !e->near)
		return has(e->days, d.day);
	int want = e->last_day ? last - e->last_offset : e->near_day;
	if (want < 1 || want > last)
		return false;
	if (e->near)
		want = nearest_weekday(want, weekday_of(days + want - d.day), last);
	return d.day == want;
}

/* ---- times ---- */

/* The first of the set at or behind i; -1. */
static int
at_or_behind(uint64_t set, int i)
{
	uint64_t rest = i < 64 ? set >> i : 0;

	return rest == 0 ? -1 : i + __builtin_ctzll(rest);
}

/* The first time of day at or behind `second`, in seconds; -1. */
static int
time_of_day(const struct cron_expr *e, int second)
{
	int h = at_or_behind(e->hours, second / 3600);
	bool now = h == second / 3600;
	int m = now ? second / 60 % 60 : 0, s = now ? second % 60 : 0;

	while (h >= 0) {
		int minute = at_or_behind(e->minutes, m);
		if (minute >= 0 && minute != m)
			s = 0;
		int found = minute >= 0 ? at_or_behind(e->seconds, s) : -1;
		if (found >= 0)
			return h * 3600 + minute * 60 + found;
		s = 0;
		if (minute >= 0) {
			m = minute + 1;
			continue;
		}
		m = 0;
		h = at_or_behind(e->hours, h + 1);
	}
	return -1;
}

/* The first local time at or behind `local`; -1. */
static int64_t
next_local(const struct cron_expr *e, int64_t local)
{
	int64_t days = local / DAY_SECONDS;
	int second = (int)(local % DAY_SECONDS);

	if (local < 0)
		return next_local(e, 0);
	for (;; days++, second = 0) {
		struct date d = date_of(days);
		if (d.year > CRON_YEAR_LAST)
			return -1;
		int year = d.year - CRON_YEAR_FIRST;
		if (!has(e->years[year / 64], year % 64) || !has(e->months, d.month)) {
			days += days_in_month(d.year, d.month) - d.day; /* to the next month */
			continue;
		}
		int found = day_matches(e, days, d) ? time_of_day(e, second) : -1;
		if (found >= 0)
			return days * DAY_SECONDS + found;
	}
}

static int32_t
offset_at(const struct timezone_rules *tz, int64_t at)
{
	const char *abbreviation;

	return timezone_offset(tz, at, &abbreviation);
}

/* The first moment in (from, to] with another offset than `from` has; `to` has one. */
static int64_t
find_change(const struct timezone_rules *tz, int64_t from, int64_t to)
{
	int32_t offset = offset_at(tz, from);

	while (to - from > 1) {
		int64_t middle = from + (to - from) / 2;
		if (offset_at(tz, middle) == offset)
			from = middle;
		else
			to = middle;
	}
	return to;
}

int64_t
cron_next(const struct cron_expr *e, const struct timezone_rules *tz, int64_t after)
{
	int64_t t = after + 1;

	for (int changes = 0; changes < 1000; changes++) {
		int32_t before = offset_at(tz, t);
		int64_t local = next_local(e, t + before);
		if (local < 0)
			return -1;
		int64_t at = local - before;
		if (offset_at(tz, at) == before)
			return at;
		int64_t change = find_change(tz, t, at);
		int32_t behind = offset_at(tz, change);
		if (behind < before) { /* an hour comes twice */
			t = e->any_hour ? change : change + before - behind;
			continue;
		}
		if (local < change + behind && !e->any_hour)
			return at; /* in the hour that is left out */
		t = change;
	}
	return -1;
}
