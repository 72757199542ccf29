/* Text as Java counts and changes it: positions in UTF-16 units, letter case beyond ASCII, trim().
 * Input that is not UTF-8 is taken byte by byte. */
#ifndef HINNY_LANG_TEXT_H
#define HINNY_LANG_TEXT_H

#include "core/base/arena.h"
#include "core/base/str.h"

#include <stddef.h>
#include <stdint.h>

size_t text_length(struct str s); /* UTF-16 units */
/* Byte position of the UTF-16 unit `index`; s.n when it lies behind the end. */
size_t text_offset(struct str s, size_t index);
/* The slice [from, to) in UTF-16 units; bounds beyond the end are the end. */
struct str text_slice(struct str s, size_t from, size_t to);
struct str text_upper(struct arena *a, struct str s);
struct str text_lower(struct arena *a, struct str s);
struct str text_trim(struct str s); /* what Java trims: all up to and with the blank */
/* The next character and its length in bytes (at least 1) at s.p[i], i < s.n. */
uint32_t text_char(struct str s, size_t i, size_t *length);
struct str text_replace(
    struct arena *a, struct str s, struct str from, struct str to); /* all; from not empty */

#endif
