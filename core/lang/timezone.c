/*
 * Time zones. glibc knows but the process's own, so files of the system's database (TZif, RFC 8536)
 * are read here. Beyond their last transition (2037 in Debian's) the offset stays as it is.
 */
#include "core/lang/timezone.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FILE_MAX_BYTES = 256 * 1024, HEADER_BYTES = 44, NAME_MAX_BYTES = 64 };

struct zone_type {
	int32_t offset;
	const char *abbreviation;
};

struct timezone_rules {
	bool local; /* the process's zone */
	size_t transitions_n, types_n;
	int64_t *transitions; /* ascending */
	uint8_t *type_of;
	struct zone_type *types; /* the first is that before all transitions */
};

static uint32_t
read32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t
read64(const unsigned char *p)
{
	return (int64_t)((uint64_t)read32(p) << 32 | read32(p + 4));
}

struct counts {
	uint32_t isut, isstd, leap, time, type, chars;
};

/* The counts of the header at p, and the bytes of the block behind it; false when they cannot be.
 */
static bool
read_counts(
    const unsigned char *p, size_t left, unsigned time_bytes, struct counts *c, size_t *block)
{
	if (left < HEADER_BYTES || memcmp(p, "TZif", 4) != 0)
		return false;
	*c = (struct counts){ read32(p + 20), read32(p + 24), read32(p + 28), read32(p + 32),
		read32(p + 36), read32(p + 40) };
	if (c->isut > 256 || c->isstd > 256 || c->leap > 4096 || c->time > 4096 || c->type == 0 ||
	    c->type > 256 || c->chars > 4096)
		return false;
	*block = (size_t)c->time * (time_bytes + 1) + (size_t)c->type * 6 + c->chars +
	    (size_t)c->leap * (time_bytes + 4) + c->isstd + c->isut;
	return left - HEADER_BYTES >= *block;
}

static bool
read_zone(struct arena *a, const unsigned char *p, size_t n, struct timezone_rules *tz)
{
	struct counts c;
	size_t block;
	if (!read_counts(p, n, 4, &c, &block) || p[4] < '2')
		return false;
	p += HEADER_BYTES + block; /* the second block has 64-bit times */
	n -= HEADER_BYTES + block;
	if (!read_counts(p, n, 8, &c, &block))
		return false;
	p += HEADER_BYTES;
	const unsigned char *types = p + c.time * 9, *names = types + c.type * 6;
	const char *abbreviations = arena_strndup(a, (const char *)names, c.chars);
	tz->transitions_n = c.time;
	tz->types_n = c.type;
	tz->transitions = arena_zalloc(a, c.time * sizeof *tz->transitions + 1);
	tz->type_of = arena_zalloc(a, c.time + 1);
	tz->types = arena_zalloc(a, c.type * sizeof *tz->types);
	for (uint32_t i = 0; i < c.time; i++) {
		tz->transitions[i] = read64(p + i * 8);
		tz->type_of[i] = p[c.time * 8 + i];
		if (tz->type_of[i] >= c.type)
			return false;
	}
	for (uint32_t i = 0; i < c.type; i++) {
		tz->types[i].offset = (int32_t)read32(types + i * 6);
		if (types[i * 6 + 5] >= c.chars || tz->types[i].offset < -100000 ||
		    tz->types[i].offset > 100000)
			return false;
		tz->types[i].abbreviation = abbreviations + types[i * 6 + 5];
	}
	return true;
}

static struct timezone_rules *
fixed_zone(struct arena *a, int32_t offset, const char *abbreviation)
{
	struct timezone_rules *tz = ARENA_NEW(a, struct timezone_rules);
	tz->types_n = 1;
	tz->types = ARENA_NEW(a, struct zone_type);
	tz->types[0] = (struct zone_type){ offset, abbreviation };
	return tz;
}

/* "+2", "-03:30", "+0530" behind GMT or UTC. */
static bool
read_offset(struct str s, int32_t *out)
{
	int64_t number = 0, minutes = 0;
	if (s.n < 2 || (s.p[0] != '+' && s.p[0] != '-'))
		return false;
	struct str digits = { s.p + 1, s.n - 1 };
	const char *colon = memchr(digits.p, ':', digits.n);
	size_t hours_n = colon != NULL ? (size_t)(colon - digits.p)
	    : digits.n > 2             ? digits.n - 2
				       : digits.n;
	struct str rest = { digits.p + hours_n + (colon != NULL),
		digits.n - hours_n - (colon != NULL) };
	if (!isdigit((unsigned char)digits.p[0]) ||
	    !str_to_int64((struct str){ digits.p, hours_n }, &number) || number > 18)
		return false;
	if ((colon != NULL || rest.n > 0) &&
	    (rest.n != 2 || !str_to_int64(rest, &minutes) || minutes < 0 || minutes > 59))
		return false;
	*out = (int32_t)((number * 60 + minutes) * 60) * (s.p[0] == '-' ? -1 : 1);
	return true;
}

static bool
is_plain_name(const char *name)
{
	size_t n = strlen(name);
	if (n == 0 || n > NAME_MAX_BYTES || name[0] == '/' || strstr(name, "..") != NULL)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && strchr("_-+/", name[i]) == NULL)
			return false;
	return true;
}

/* Short names of Java's that the system's database has not. */
static const struct {
	const char *name, *zone;
} java_names[] = {
	{ "ACT", "Australia/Darwin" },
	{ "AET", "Australia/Sydney" },
	{ "AGT", "America/Argentina/Buenos_Aires" },
	{ "ART", "Africa/Cairo" },
	{ "AST", "America/Anchorage" },
	{ "BET", "America/Sao_Paulo" },
	{ "BST", "Asia/Dhaka" },
	{ "CAT", "Africa/Harare" },
	{ "CNT", "America/St_Johns" },
	{ "CST", "America/Chicago" },
	{ "CTT", "Asia/Shanghai" },
	{ "EAT", "Africa/Addis_Ababa" },
	{ "ECT", "Europe/Paris" },
	{ "IST", "Asia/Kolkata" },
	{ "JST", "Asia/Tokyo" },
	{ "NST", "Pacific/Auckland" },
	{ "PLT", "Asia/Karachi" },
	{ "PRT", "America/Puerto_Rico" },
	{ "PST", "America/Los_Angeles" },
	{ "VST", "Asia/Ho_Chi_Minh" },
};

enum hinny_rc
timezone_load(
    struct arena *a, const char *name, struct timezone_rules **out, struct hinny_error *err)
{
	struct str s = str_of(name);
	int32_t offset;
	if (name == NULL) {
		tzset();
		*out = ARENA_NEW(a, struct timezone_rules);
		(*out)->local = true;
		return HINNY_OK;
	}
	if (str_eq(s, STR_LIT("UTC")) || str_eq(s, STR_LIT("GMT")) || str_eq(s, STR_LIT("Z"))) {
		*out = fixed_zone(a, 0, s.n == 3 ? arena_strdup(a, name) : "UTC");
		return HINNY_OK;
	}
	if ((str_starts(s, "GMT") || str_starts(s, "UTC")) &&
	    read_offset((struct str){ s.p + 3, s.n - 3 }, &offset)) {
		int minutes = (offset < 0 ? -offset : offset) / 60;
		*out = fixed_zone(a, offset,
		    arena_printf(a, "GMT%c%02d:%02d", offset < 0 ? '-' : '+', minutes / 60,
			minutes % 60));
		return HINNY_OK;
	}
	for (size_t i = 0; i < ARRAY_LEN(java_names); i++)
		if (str_eq(s, str_of(java_names[i].name)))
			name = java_names[i].zone;
	if (!is_plain_name(name))
		return hinny_error_set(err, HINNY_ENOENT, "unknown time zone %.64s", name);
	char path[sizeof "/usr/share/zoneinfo/" + NAME_MAX_BYTES];
	(void)snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return hinny_error_set(err, HINNY_ENOENT, "unknown time zone %.64s", name);
	unsigned char *bytes = mem_alloc(FILE_MAX_BYTES);
	size_t n = fread(bytes, 1, FILE_MAX_BYTES, f);
	(void)fclose(f);
	struct timezone_rules *tz = ARENA_NEW(a, struct timezone_rules);
	bool read = read_zone(a, bytes, n, tz);
	free(bytes);
	if (!read)
		return hinny_error_set(err, HINNY_EINVAL,
		    "time zone %.64s: the file of the system's database cannot be read", name);
	*out = tz;
	return HINNY_OK;
}

static int32_t
local_offset(int64_t at, const char **abbreviation)
{
	struct tm tm;
	time_t t = (time_t)at;
	if (localtime_r(&t, &tm) == NULL) {
		*abbreviation = "UTC";
		return 0;
	}
	*abbreviation = tm.tm_zone;
	return (int32_t)tm.tm_gmtoff;
}

int32_t
timezone_offset(const struct timezone_rules *tz, int64_t at, const char **abbreviation)
{
	if (tz->local)
		return local_offset(at, abbreviation);
	size_t low = 0, high = tz->transitions_n;
	while (low < high) { /* the first transition behind `at` */
		size_t middle = (low + high) / 2;
		if (tz->transitions[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	const struct zone_type *type = &tz->types[low > 0 ? tz->type_of[low - 1] : 0];
	*abbreviation = type->abbreviation;
	return type->offset;
}
