/*
 * Regular expressions with Java's meaning, by PCRE2. What Java writes and PCRE2 would silently read
 * otherwise is translated (\p{Alpha}, unions and intersections of classes …) or refused
 * (regex_java.c). One difference is left: (?i) goes by Unicode, in Java without (?u) by ASCII. Steps and memory of a match are bounded: a pattern that explodes is an
 * error.
 */
#ifndef HINNY_LANG_REGEX_H
#define HINNY_LANG_REGEX_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>

struct regex;

enum regex_flag { REGEX_NOCASE = 1, REGEX_DOTALL = 2, REGEX_MULTILINE = 4 };

/* The object goes with the arena. HINNY_EINVAL: err says why and where. One thread at a time may
 * match. */
enum hinny_rc regex_compile(struct arena *a, struct str pattern, unsigned flags, struct regex **out,
    struct hinny_error *err);
/* Does it match the whole of `text` (Java's matches())? HINNY_ELIMIT when that needs too many
 * steps. */
enum hinny_rc regex_matches(
    const struct regex *re, struct str text, bool *yes, struct hinny_error *err);
/* The first match at or behind `from`: its bounds. *found false when there is none. */
enum hinny_rc regex_find(const struct regex *re, struct str text, size_t from, bool *found,
    size_t *begin, size_t *end, struct hinny_error *err);

/* Java's replaceAll (all) or replaceFirst: $1, ${name} and \x in `by`. Appends to `to`. HINNY_ELIMIT:
 * too many steps, or the buffer's bound; HINNY_EINVAL: a group that is not there. */
enum hinny_rc regex_replace(const struct regex *re, struct str text, struct str by, bool all,
    struct buf *to, struct hinny_error *err);

#endif
