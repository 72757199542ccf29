/*
 * Byte slices and small string helpers. A slice does not own its bytes and is not NUL-terminated
 * unless said.
 */
#ifndef HINNY_BASE_STR_H
#define HINNY_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t n;
};

#define STR_LIT(s) ((struct str){ (s), sizeof(s) - 1 })
#define STR_FMT(s) (int)(s).n, (s).p /* for "%.*s" */

static inline struct str
str_of(const char *s)
{
	return (struct str){ s, s ? strlen(s) : 0 };
}

static inline bool
str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_caseeq(struct str a, struct str b); /* ASCII letters only */
bool str_starts(struct str s, const char *prefix);
/* s without its first n bytes, or empty. */
struct str str_skip(struct str s, size_t n);
bool str_ends(struct str s, const char *suffix);
bool str_casestarts(struct str s, const char *prefix);
struct str str_trim(struct str s); /* without blanks, tabs and line ends at both ends */
/* Position of the first `needle`, or SIZE_MAX. */
size_t str_find(struct str s, struct str needle);
size_t str_casefind(struct str s, struct str needle);
/*
 * Cuts the part before `sep` off *rest into *item; false when *rest was used up. "a,,b" gives "a",
 * "", "b".
 */
bool str_split(struct str *rest, char sep, struct str *item);
/*
 * Whole of s as a signed 64-bit integer: optional sign, digits. False when it is none or too large.
 */
bool str_to_int64(struct str s, int64_t *out);
/* Whole of s as a double (decimal notation, exponent allowed; no hex, inf, nan). */
bool str_to_double(struct str s, double *out);
uint32_t str_hash(struct str s);     /* FNV-1a with a fixed basis */
uint32_t str_casehash(struct str s); /* of the ASCII-lower-cased bytes */
/* Is `s` well-formed UTF-8? */
bool str_utf8_valid(struct str s);
/*
 * Nearest of `names` (NULL-ended) to `s` by edit distance, when near enough to be a slip; else
 * NULL. For "did you mean".
 */
const char *str_nearest(struct str s, const char *const *names);

#endif
