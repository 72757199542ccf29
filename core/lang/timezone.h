/* Time zones: the process's own, UTC, fixed offsets (GMT+2, UTC-03:30), and those of the system's
 * database by name. */
#ifndef HINNY_LANG_TIMEZONE_H
#define HINNY_LANG_TIMEZONE_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct timezone_rules;

/* Reads the database file at once; nothing is read later. NULL name: the process's zone.
 * HINNY_ENOENT: there is no such zone. */
enum hinny_rc timezone_load(
    struct arena *a, const char *name, struct timezone_rules **out, struct hinny_error *err);
/* Seconds east of UTC at a time (seconds since 1970), and the zone's short name then. */
int32_t timezone_offset(const struct timezone_rules *tz, int64_t at, const char **abbreviation);

#endif
