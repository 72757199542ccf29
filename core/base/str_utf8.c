/*
 * Well-formedness of UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above
 * U+10FFFF.
 */
#include "core/base/str.h"

/* Length of the sequence at p of at most n bytes, 0 when it is malformed. */
static size_t
sequence_length(const unsigned char *p, size_t n)
{
	static const struct {
		unsigned char first_low, first_high; /* range of the first byte */
		unsigned char second_low,
		    second_high; /* range of the second; all later ones are 80..BF */
		unsigned char length;
	} rows[] = {
		{ 0xC2, 0xDF, 0x80, 0xBF, 2 },
		{ 0xE0, 0xE0, 0xA0, 0xBF, 3 },
		{ 0xE1, 0xEC, 0x80, 0xBF, 3 },
		{ 0xED, 0xED, 0x80, 0x9F, 3 },
		{ 0xEE, 0xEF, 0x80, 0xBF, 3 },
		{ 0xF0, 0xF0, 0x90, 0xBF, 4 },
		{ 0xF1, 0xF3, 0x80, 0xBF, 4 },
		{ 0xF4, 0xF4, 0x80, 0x8F, 4 },
	};

	if (p[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (p[0] < rows[i].first_low || p[0] > rows[i].first_high)
			continue;
		if (n < rows[i].length || p[1] < rows[i].second_low || p[1] > rows[i].second_high)
			return 0;
		for (size_t k = 2; k < rows[i].length; k++) {
			if ((p[k] & 0xC0) != 0x80)
				return 0;
		}
		return rows[i].length;
	}
	return 0;
}

/* Nearly all text is ASCII: eight bytes at a time. */
static size_t
skip_ascii(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (n - i >= sizeof(uint64_t)) {
		uint64_t word;
		memcpy(&word, p + i, sizeof word);
		if (word & 0x8080808080808080u)
			break;
		i += sizeof word;
	}
	return i;
}

bool
str_utf8_valid(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0;

	while (i < s.n) {
		i += skip_ascii(p + i, s.n - i);
		if (i == s.n)
			break;
		size_t n = sequence_length(p + i, s.n - i);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}
