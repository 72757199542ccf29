/* The only parsers of durations and sizes. */
#ifndef HINNY_BASE_UNITS_H
#define HINNY_BASE_UNITS_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Plain number = milliseconds; "500ms", "5s", "1m30s", "1h", "2d", ISO-8601 "PT5S" (Camel:
 * duration).
 */
bool units_parse_duration(struct str s, int64_t *ms);
/* Plain number = bytes; k/K/KiB = 1024, m, g likewise ("64KiB", "10m"). */
bool units_parse_size(struct str s, uint64_t *bytes);
/* "1.5 s", "64 KiB": for people. Returns buf. */
const char *units_format_duration(int64_t ms, char *buf, unsigned long size);
const char *units_format_size(uint64_t bytes, char *buf, unsigned long size);

#endif
