/* Cron expressions with Quartz's meaning: seconds first, "?" in one of the day fields, L, W, #. */
#ifndef HINNY_CRON_CRON_EXPR_H
#define HINNY_CRON_CRON_EXPR_H

#include "core/base/error.h"
#include "core/base/str.h"
#include "core/lang/timezone.h"

#include <stdbool.h>
#include <stdint.h>

enum { CRON_YEAR_FIRST = 1970, CRON_YEAR_LAST = 2099 };

struct cron_expr {
	uint64_t seconds, minutes, hours, months; /* bit i: value i; months from 1 */
	uint64_t days;                            /* of the month, from 1 */
	uint64_t weekdays;                        /* 1 Sunday … 7 Saturday */
	uint64_t years[3];                        /* bit i: CRON_YEAR_FIRST + i */
	bool by_weekday;  /* the weekday counts, not the day of the month */
	bool last_day;    /* L, LW */
	int last_offset;  /* L-3 */
	int near_day;     /* 15W; 0: none */
	bool near;        /* W or LW: the nearest weekday */
	bool last_weekday; /* 6L: the last one of the month; weekdays has it */
	int nth;          /* 6#3; 0: none */
	bool any_hour;    /* "*": what does not keep to hours runs through changes of the clock */
};

/* Six or seven fields with blanks (or "+") between them. HINNY_EINVAL: *err says which is wrong. */
enum hinny_rc cron_parse(struct str text, struct cron_expr *out, struct hinny_error *err);
/* The first time behind `after` (both in seconds since 1970) at which it is due in that zone; -1: it
 * never is. A time that the change to summer time leaves out comes as much later; one that comes
 * twice counts once, unless all hours do. */
int64_t cron_next(const struct cron_expr *e, const struct timezone_rules *tz, int64_t after);

#endif
