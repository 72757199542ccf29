/*
 * "did you mean": edit distance with insertion, deletion, replacement and the swap of two
 * neighbours. Case counts for nothing.
 */
#include "core/base/str.h"

#include <ctype.h>

enum { WORD_MAX = 64, SLIPS_MAX = 3 };

static bool
same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Three rows of the usual table: this one, the one before, and the one before that for swaps. */
static unsigned
distance(struct str a, struct str b)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *older = rows[0], *old = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b.n; j++)
		old[j] = (unsigned)j;
	for (size_t i = 1; i <= a.n; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b.n; j++) {
			unsigned replace = old[j - 1] + (same(a.p[i - 1], b.p[j - 1]) ? 0 : 1);
			row[j] = least(replace, least(old[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a.p[i - 1], b.p[j - 2]) &&
			    same(a.p[i - 2], b.p[j - 1]))
				row[j] = least(row[j], older[j - 2] + 1);
		}
		unsigned *spare = older;
		older = old;
		old = row;
		row = spare;
	}
	return old[b.n];
}

const char *
str_nearest(struct str s, const char *const *names)
{
	unsigned slips = s.n < 5 ? 1 : least((unsigned)(s.n + 1) / 3, SLIPS_MAX);
	unsigned best = slips + 1;
	const char *found = NULL;

	if (s.n == 0 || s.n > WORD_MAX)
		return NULL;
	for (; *names != NULL; names++) {
		struct str name = str_of(*names);
		if (name.n > WORD_MAX)
			continue;
		unsigned d = distance(s, name);
		if (d < best && d < s.n && d < name.n) {
			best = d;
			found = *names;
		}
	}
	return found;
}
