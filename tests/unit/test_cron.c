/* Cron expressions: what is read and refused, and when they are due. */
#include "core/base/arena.h"
#include "tests/lib/unit.h"
#include "transports/cron/cron_expr.h"

#include <string.h>
#include <time.h>

static const struct row {
	const char *label, *expr, *zone, *after, *next; /* local times of UTC; next NULL: never, "-": refused */
} rows[] = {
	{ "every five seconds", "0/5 * * * * ?", "UTC", "2024-05-01 10:00:03", "2024-05-01 10:00:05" },
	{ "behind, not at", "0/5 * * * * ?", "UTC", "2024-05-01 10:00:05", "2024-05-01 10:00:10" },
	{ "plus for blanks", "0/1+*+*+*+*+?", "UTC", "2024-05-01 10:00:00", "2024-05-01 10:00:01" },
	{ "noon", "0 0 12 * * ?", "UTC", "2024-05-01 12:00:00", "2024-05-02 12:00:00" },
	{ "list and range", "0 15,45 8-10 * * ?", "UTC", "2024-05-01 10:46:00", "2024-05-02 08:15:00" },
	{ "range round the end", "0 0 22-2 * * ?", "UTC", "2024-05-01 02:30:00", "2024-05-01 22:00:00" },
	{ "weekdays", "0 0 9 ? * MON-FRI", "UTC", "2024-05-03 10:00:00", "2024-05-06 09:00:00" },
	{ "numbers of weekdays", "0 0 9 ? * 2", "UTC", "2024-05-01 00:00:00", "2024-05-06 09:00:00" },
	{ "last day", "0 0 0 L * ?", "UTC", "2024-02-01 00:00:00", "2024-02-29 00:00:00" },
	{ "three before the last", "0 0 0 L-3 * ?", "UTC", "2023-02-01 00:00:00", "2023-02-25 00:00:00" },
	{ "last weekday", "0 0 0 LW * ?", "UTC", "2024-06-01 00:00:00", "2024-06-28 00:00:00" },
	{ "near the 15th, a Saturday", "0 0 0 15W * ?", "UTC", "2024-06-01 00:00:00",
	    "2024-06-14 00:00:00" },
	{ "near the 1st, a Saturday", "0 0 0 1W 6 ?", "UTC", "2024-05-31 00:00:00",
	    "2024-06-03 00:00:00" },
	{ "last Friday", "0 0 0 ? * 6L", "UTC", "2024-05-01 00:00:00", "2024-05-31 00:00:00" },
	{ "second Friday", "0 0 0 ? * FRI#2", "UTC", "2024-05-01 00:00:00", "2024-05-10 00:00:00" },
	{ "fifth Monday", "0 0 0 ? * 2#5", "UTC", "2024-05-01 00:00:00", "2024-07-29 00:00:00" },
	{ "leap day", "0 0 0 29 2 ?", "UTC", "2024-03-01 00:00:00", "2028-02-29 00:00:00" },
	{ "month by name", "0 0 0 1 jan ?", "UTC", "2024-05-01 00:00:00", "2025-01-01 00:00:00" },
	{ "year", "0 0 0 1 1 ? 2030", "UTC", "2024-05-01 00:00:00", "2030-01-01 00:00:00" },
	{ "a year that was", "0 0 0 1 1 ? 2020", "UTC", "2024-05-01 00:00:00", NULL },
	{ "no such day", "0 0 0 30 2 ?", "UTC", "2024-05-01 00:00:00", NULL },
	{ "two stars", "0 0 0 * * *", "UTC", "2024-05-01 00:00:00", "2024-05-02 00:00:00" },
	{ "zone", "0 0 8 * * ?", "Europe/Paris", "2024-05-01 07:00:00", "2024-05-02 06:00:00" },
	/* 2024-03-31 02:00 in Paris is 03:00; 2024-10-27 03:00 is 02:00 */
	{ "left out", "0 30 2 * * ?", "Europe/Paris", "2024-03-30 12:00:00", "2024-03-31 01:30:00" },
	{ "behind what was left out", "0 30 2 * * ?", "Europe/Paris", "2024-03-31 01:30:00",
	    "2024-04-01 00:30:00" },
	{ "hours left out", "0 0 * * * ?", "Europe/Paris", "2024-03-31 00:00:00",
	    "2024-03-31 01:00:00" },
	{ "comes twice, first", "0 30 2 * * ?", "Europe/Paris", "2024-10-26 12:00:00",
	    "2024-10-27 00:30:00" },
	{ "comes twice, not again", "0 30 2 * * ?", "Europe/Paris", "2024-10-27 00:30:00",
	    "2024-10-28 01:30:00" },
	{ "hours twice", "0 30 * * * ?", "Europe/Paris", "2024-10-27 00:30:00", "2024-10-27 01:30:00" },
	{ "five fields", "* * * * ?", "UTC", NULL, "-" },
	{ "eight fields", "* * * * * ? * *", "UTC", NULL, "-" },
	{ "both days", "0 0 0 1 * MON", "UTC", NULL, "-" },
	{ "two question marks", "0 0 0 ? * ?", "UTC", NULL, "-" },
	{ "sixty", "60 * * * * ?", "UTC", NULL, "-" },
	{ "step of nothing", "0/0 * * * * ?", "UTC", NULL, "-" },
	{ "word", "x * * * * ?", "UTC", NULL, "-" },
	{ "sixth Friday", "0 0 0 ? * 6#6", "UTC", NULL, "-" },
	{ "rest", "0 0 0 1x * ?", "UTC", NULL, "-" },
	{ "empty item", "0 0 0 1, * ?", "UTC", NULL, "-" },
	{ "empty", "", "UTC", NULL, "-" },
};

static int64_t
seconds_of(const char *text)
{
	struct tm tm = { 0 };

	assert_non_null(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
	return timegm(&tm);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct timezone_rules *tz;
	struct hinny_error err;
	struct cron_expr e;
	struct arena a;
	char text[32];

	arena_init(&a);
	assert_int_equal(timezone_load(&a, r->zone, &tz, &err), HINNY_OK);
	enum hinny_rc rc = cron_parse(str_of(r->expr), &e, &err);
	if (r->after == NULL) {
		assert_int_equal(rc, HINNY_EINVAL);
	} else {
		assert_int_equal(rc, HINNY_OK);
		time_t next = cron_next(&e, tz, seconds_of(r->after));
		struct tm tm;
		if (next < 0)
			assert_null(r->next);
		else if (strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", gmtime_r(&next, &tm)) > 0)
			assert_string_equal(text, r->next);
	}
	arena_fini(&a);
}

int
main(void)
{
	UNIT_TABLE("cron", rows, check_row);
	return unit_run("cron");
}
