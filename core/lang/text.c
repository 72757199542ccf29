/* Text as Java counts and changes it. */
#include "core/lang/text.h"

#include "core/base/assert.h"

uint32_t
text_char(struct str s, size_t i, size_t *length)
{
	static const uint8_t masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	unsigned char c = (unsigned char)s.p[i];
	size_t n = c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
	uint32_t cp = c & (n == 1 ? 0xff : masks[n]);
	for (size_t k = 1; k < n; k++) {
		if (i + k >= s.n || ((unsigned char)s.p[i + k] & 0xc0) != 0x80) {
			*length = 1;
			return c;
		}
		cp = (cp << 6) | ((unsigned char)s.p[i + k] & 0x3f);
	}
	*length = n;
	return cp;
}

static size_t
units(uint32_t cp)
{
	return cp > 0xffff ? 2 : 1;
}

size_t
text_length(struct str s)
{
	size_t count = 0, length;
	for (size_t i = 0; i < s.n; i += length)
		count += units(text_char(s, i, &length));
	return count;
}

size_t
text_offset(struct str s, size_t index)
{
	size_t count = 0, i = 0, length;
	while (i < s.n && count < index) {
		count += units(text_char(s, i, &length));
		i += length;
	}
	return i;
}

struct str
text_slice(struct str s, size_t from, size_t to)
{
	size_t begin = text_offset(s, from);
	if (to <= from)
		return (struct str){ s.p + begin, 0 };
	struct str rest = { s.p + begin, s.n - begin };
	rest.n = text_offset(rest, to - from);
	return rest;
}

/* Lower-case letters from..to, every step-th, and how far away their capitals are. */
static const struct letters {
	uint32_t from, to;
	uint8_t step;
	int32_t capital;
} letters[] = {
	{ 'a', 'z', 1, -32 },
	{ 0xe0, 0xf6, 1, -32 },
	{ 0xf8, 0xfe, 1, -32 },
	{ 0xff, 0xff, 1, 121 },
	{ 0x101, 0x12f, 2, -1 },
	{ 0x133, 0x137, 2, -1 },
	{ 0x13a, 0x148, 2, -1 },
	{ 0x14b, 0x177, 2, -1 },
	{ 0x17a, 0x17e, 2, -1 },
	{ 0x1ce, 0x1dc, 2, -1 },
	{ 0x1df, 0x1ef, 2, -1 },
	{ 0x1f9, 0x21f, 2, -1 },
	{ 0x223, 0x233, 2, -1 },
	{ 0x3ac, 0x3ac, 1, -38 },
	{ 0x3ad, 0x3af, 1, -37 },
	{ 0x3b1, 0x3c1, 1, -32 },
	{ 0x3c3, 0x3cb, 1, -32 },
	{ 0x3cc, 0x3cc, 1, -64 },
	{ 0x3cd, 0x3ce, 1, -63 },
	{ 0x430, 0x44f, 1, -32 },
	{ 0x450, 0x45f, 1, -80 },
	{ 0x461, 0x481, 2, -1 },
	{ 0x48b, 0x4bf, 2, -1 },
	{ 0x4c2, 0x4ce, 2, -1 },
	{ 0x4d1, 0x52f, 2, -1 },
	{ 0x561, 0x586, 1, -48 },
	{ 0x1e01, 0x1e95, 2, -1 },
	{ 0x1ea1, 0x1eff, 2, -1 },
	{ 0xff41, 0xff5a, 1, -32 },
};

static uint32_t
upper(uint32_t cp)
{
	if (cp == 0x131)
		return 'I';
	if (cp == 0x3c2)
		return 0x3a3;
	for (size_t i = 0; i < ARRAY_LEN(letters); i++) {
		const struct letters *l = &letters[i];
		if (cp >= l->from && cp <= l->to && (cp - l->from) % l->step == 0)
			return cp + (uint32_t)l->capital;
	}
	return cp;
}

static uint32_t
lower(uint32_t cp)
{
	for (size_t i = 0; i < ARRAY_LEN(letters); i++) {
		const struct letters *l = &letters[i];
		uint32_t small = cp - (uint32_t)l->capital;
		if (small >= l->from && small <= l->to && (small - l->from) % l->step == 0)
			return small;
	}
	return cp;
}

static size_t
put_char(char *out, uint32_t cp)
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xc0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | cp >> 12);
	out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
	out[2] = (char)(0x80 | (cp & 0x3f));
	return 3;
}

/* Letters of these tables never need more than three bytes, and a change of case at most doubles a
 * character's. */
static struct str
change_case(struct arena *a, struct str s, uint32_t (*change)(uint32_t))
{
	char *out = arena_alloc(a, s.n * 2 + 1);
	size_t n = 0, length;
	for (size_t i = 0; i < s.n; i += length) {
		uint32_t cp = text_char(s, i, &length),
			 other = length == 1 && cp > 0x7f ? cp : change(cp);
		if (cp == 0xdf && length == 2 && change == upper) {
			out[n++] = 'S';
			out[n++] = 'S';
		} else if (other == cp) {
			memcpy(out + n, s.p + i, length);
			n += length;
		} else {
			n += put_char(out + n, other);
		}
	}
	return (struct str){ out, n };
}

struct str
text_upper(struct arena *a, struct str s)
{
	return change_case(a, s, upper);
}

struct str
text_lower(struct arena *a, struct str s)
{
	return change_case(a, s, lower);
}

struct str
text_trim(struct str s)
{
	while (s.n > 0 && (unsigned char)s.p[0] <= ' ') {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && (unsigned char)s.p[s.n - 1] <= ' ')
		s.n--;
	return s;
}

struct str
text_replace(struct arena *a, struct str s, struct str from, struct str to)
{
	ASSERT(from.n > 0);
	size_t count = 0, at;
	struct str rest = s;
	while ((at = str_find(rest, from)) != SIZE_MAX) {
		count++;
		rest = (struct str){ rest.p + at + from.n, rest.n - at - from.n };
	}
	if (count == 0)
		return s;
	char *out = arena_alloc(a, s.n - count * from.n + count * to.n + 1), *p = out;
	rest = s;
	while ((at = str_find(rest, from)) != SIZE_MAX) {
		memcpy(p, rest.p, at);
		p += at;
		if (to.n > 0)
			memcpy(p, to.p, to.n);
		p += to.n;
		rest = (struct str){ rest.p + at + from.n, rest.n - at - from.n };
	}
	if (rest.n > 0)
		memcpy(p, rest.p, rest.n);
	return (struct str){ out, (size_t)(p - out) + rest.n };
}
