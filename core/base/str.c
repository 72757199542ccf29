/*
 * Helpers for byte slices: comparison, search, numbers, hashes. UTF-8 and edit distance stand in
 * files of their own.
 */
#include "core/base/str.h"

#include <float.h>
#include <stdlib.h>

static unsigned char
lower(char c)
{
	unsigned char u = (unsigned char)c;
	return u >= 'A' && u <= 'Z' ? (unsigned char)(u + ('a' - 'A')) : u;
}

static bool
bytes_caseeq(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (lower(a[i]) != lower(b[i]))
			return false;
	}
	return true;
}

bool
str_caseeq(struct str a, struct str b)
{
	return a.n == b.n && bytes_caseeq(a.p, b.p, a.n);
}

bool
str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);
	return n <= s.n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

struct str
str_skip(struct str s, size_t n)
{
	if (n > s.n)
		n = s.n;
	return (struct str){ s.p + n, s.n - n };
}

bool
str_ends(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);
	return n <= s.n && (n == 0 || memcmp(s.p + (s.n - n), suffix, n) == 0);
}

bool
str_casestarts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);
	return n <= s.n && bytes_caseeq(s.p, prefix, n);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str
str_trim(struct str s)
{
	while (s.n > 0 && is_blank(s.p[0]))
		s = (struct str){ s.p + 1, s.n - 1 };
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

size_t
str_find(struct str s, struct str needle)
{
	if (needle.n == 0)
		return 0;
	if (needle.n > s.n)
		return SIZE_MAX;
	const char *at = memmem(s.p, s.n, needle.p, needle.n);
	return at != NULL ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t
str_casefind(struct str s, struct str needle)
{
	for (size_t i = 0; needle.n <= s.n && i <= s.n - needle.n; i++) {
		if (bytes_caseeq(s.p + i, needle.p, needle.n))
			return i;
	}
	return SIZE_MAX;
}

/*
 * A slice whose pointer is NULL has been used up; an empty one that is not gives one last empty
 * item.
 */
bool
str_split(struct str *rest, char sep, struct str *item)
{
	if (rest->p == NULL)
		return false;
	const char *at = rest->n > 0 ? memchr(rest->p, sep, rest->n) : NULL;
	if (at == NULL) {
		*item = *rest;
		*rest = (struct str){ NULL, 0 };
		return true;
	}
	size_t n = (size_t)(at - rest->p);
	*item = (struct str){ rest->p, n };
	*rest = (struct str){ at + 1, rest->n - n - 1 };
	return true;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
str_to_int64(struct str s, int64_t *out)
{
	bool negative = s.n > 0 && s.p[0] == '-';
	size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
	int64_t value = 0; /* kept negative: the negative range is the larger one */

	if (i == s.n)
		return false;
	for (; i < s.n; i++) {
		if (!is_digit(s.p[i]) || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_sub_overflow(value, s.p[i] - '0', &value))
			return false;
	}
	if (!negative && value == INT64_MIN)
		return false;
	*out = negative ? value : -value;
	return true;
}

static size_t
skip_digits(struct str s, size_t i)
{
	while (i < s.n && is_digit(s.p[i]))
		i++;
	return i;
}

static size_t
skip_sign(struct str s, size_t i)
{
	return i < s.n && (s.p[i] == '+' || s.p[i] == '-') ? i + 1 : i;
}

/* [sign] digits [. digits] [e [sign] digits], with a digit before or behind the point. */
static bool
is_decimal(struct str s)
{
	size_t start = skip_sign(s, 0);
	size_t i = skip_digits(s, start);
	size_t digits = i - start;

	if (i < s.n && s.p[i] == '.') {
		start = i + 1;
		i = skip_digits(s, start);
		digits += i - start;
	}
	if (digits == 0)
		return false;
	if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
		start = skip_sign(s, i + 1);
		i = skip_digits(s, start);
		if (i == start)
			return false;
	}
	return i == s.n;
}

bool
str_to_double(struct str s, double *out)
{
	char text[512];

	if (s.n >= sizeof text || !is_decimal(s))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	double value = strtod(text, NULL); /* no setlocale() anywhere: the point is a point */
	if (value > DBL_MAX || value < -DBL_MAX)
		return false;
	*out = value;
	return true;
}

static const uint32_t FNV_BASIS = 2166136261u, FNV_PRIME = 16777619u;

uint32_t
str_hash(struct str s)
{
	uint32_t h = FNV_BASIS;
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * FNV_PRIME;
	return h;
}

uint32_t
str_casehash(struct str s)
{
	uint32_t h = FNV_BASIS;
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ lower(s.p[i])) * FNV_PRIME;
	return h;
}
