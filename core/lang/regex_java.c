/*
 * Java's regular expressions in the words of PCRE2. What both write alike is copied; what PCRE2
 * would read otherwise is translated or refused:
 *
 *   [a[bc]] [a-z&&[^m]]   unions and intersections: alternatives and lookaheads of plain classes
 *   \p{Alpha} \p{javaX}   POSIX classes, java.lang.Character's methods, \p{IsX}, \p{sc=X}
 *   \uXXXX \0n            characters by number
 *   (?U) (?u) (?d)        flags: Unicode classes for the whole pattern; nothing to do; refused
 */
#include "core/lang/regex_priv.h"

#include "core/base/assert.h"

enum { CLASS_DEPTH_MAX = 32 };

struct java {
	struct str text;
	size_t i;
	struct buf *to;
	bool ucp;
	unsigned depth;
	struct hinny_error *err;
};

static bool
wrong(struct java *j, size_t at, const char *what)
{
	(void)hinny_error_set(j->err, HINNY_EINVAL, "regular expression: %s (column %zu)", what,
	    at + 1);
	return false;
}

static char
peek(const struct java *j, size_t ahead)
{
	return j->i + ahead < j->text.n ? j->text.p[j->i + ahead] : '\0';
}

static void
put(struct java *j, const char *s)
{
	(void)buf_add_str(j->to, str_of(s)); /* no bound */
}

/* ---- properties ---- */

/* What stands between the brackets of a class. */
static const struct property {
	const char *java, *pcre;
} properties[] = {
	{ "ASCII", "[:ascii:]" },
	{ "Alnum", "[:alnum:]" },
	{ "Alpha", "[:alpha:]" },
	{ "Blank", "[:blank:]" },
	{ "Cntrl", "[:cntrl:]" },
	{ "Digit", "[:digit:]" },
	{ "Graph", "[:graph:]" },
	{ "L1", "\\x{00}-\\x{ff}" },
	{ "Lower", "[:lower:]" },
	{ "Print", "[:print:]" },
	{ "Punct", "[:punct:]" },
	{ "Space", "[:space:]" },
	{ "Upper", "[:upper:]" },
	{ "XDigit", "[:xdigit:]" },
	{ "javaAlphabetic", "\\p{L}\\p{Nl}" },
	{ "javaDigit", "\\p{Nd}" },
	{ "javaISOControl", "\\x{00}-\\x{1f}\\x{7f}-\\x{9f}" },
	{ "javaJavaIdentifierStart", "\\p{L}\\p{Nl}\\p{Sc}\\p{Pc}" },
	{ "javaLetter", "\\p{L}" },
	{ "javaLetterOrDigit", "\\p{L}\\p{Nd}" },
	{ "javaLowerCase", "\\p{Ll}\\x{aa}\\x{ba}" },
	{ "javaSpaceChar", "\\p{Z}" },
	{ "javaTitleCase", "\\p{Lt}" },
	{ "javaUpperCase", "\\p{Lu}" },
	{ "javaWhitespace", "\\x{09}-\\x{0d}\\x{1c}-\\x{20}\\x{1680}\\x{2000}-\\x{2006}"
			    "\\x{2008}-\\x{200a}\\x{2028}\\x{2029}\\x{205f}\\x{3000}" },
	{ "IsAlphabetic", "\\p{L}\\p{Nl}" },
	{ "IsControl", "\\p{Cc}" },
	{ "IsDigit", "\\p{Nd}" },
	{ "IsLetter", "\\p{L}" },
	{ "IsLowercase", "\\p{Ll}\\x{aa}\\x{ba}" },
	{ "IsPunctuation", "\\p{P}" },
	{ "IsTitlecase", "\\p{Lt}" },
	{ "IsUppercase", "\\p{Lu}" },
	{ "IsWhite_Space", "\\x{09}-\\x{0d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}"
			   "\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}" },
};

/* \p{X} at j->i (the backslash): as a class of its own, or (inside) as part of one. */
static bool
put_property(struct java *j, bool inside)
{
	size_t at = j->i;
	bool negated = peek(j, 1) == 'P';
	const char *end = peek(j, 2) == '{'
	    ? memchr(j->text.p + at + 3, '}', j->text.n - at - 3)
	    : NULL;
	if (end == NULL) { /* \pL */
		(void)buf_add(j->to, j->text.p + at, j->text.n - at < 3 ? j->text.n - at : 3);
		j->i += j->text.n - at < 3 ? j->text.n - at : 3;
		return true;
	}
	struct str name = { j->text.p + at + 3, (size_t)(end - j->text.p) - at - 3 };
	j->i = (size_t)(end - j->text.p) + 1;
	for (size_t i = 0; i < ARRAY_LEN(properties); i++) {
		if (!str_eq(name, str_of(properties[i].java)))
			continue;
		if (inside && negated)
			return wrong(j, at, "a negated class of Java cannot stand within another");
		(void)buf_printf(j->to, inside ? "%s%s" : "[%s%s]", negated ? "^" : "",
		    properties[i].pcre);
		return true;
	}
	if (str_starts(name, "java") || str_starts(name, "In") || str_starts(name, "block=") ||
	    str_starts(name, "blk="))
		return wrong(j, at, "this property of Java is not supported");
	size_t skip = str_starts(name, "Is") ? 2
	    : str_starts(name, "sc=")        ? 3
	    : str_starts(name, "gc=")        ? 3
	    : str_starts(name, "script=")    ? 7
	    : str_starts(name, "general_category=")
	    ? 17
	    : 0;
	(void)buf_printf(j->to, "\\%c{%.*s}", negated ? 'P' : 'p', (int)(name.n - skip),
	    name.p + skip);
	return true;
}

/* ---- escapes ---- */

static bool
read_hex(const struct java *j, size_t at, uint32_t *out)
{
	*out = 0;
	for (size_t i = at; i < at + 4; i++) {
		char c = i < j->text.n ? j->text.p[i] : '\0', low = (char)(c | 32);
		bool letter = low >= 'a' && low <= 'f';
		if (!letter && !(c >= '0' && c <= '9'))
			return false;
		*out = *out << 4 | (uint32_t)(letter ? low - 'a' + 10 : c - '0');
	}
	return true;
}

/* \uXXXX at j->i, perhaps with the second half of a pair. */
static bool
put_unicode(struct java *j)
{
	uint32_t c, low;
	if (!read_hex(j, j->i + 2, &c))
		return wrong(j, j->i, "\\u needs four hexadecimal digits");
	size_t n = 6;
	if (c >= 0xd800 && c < 0xdc00 && peek(j, 6) == '\\' && peek(j, 7) == 'u' &&
	    read_hex(j, j->i + 8, &low) && low >= 0xdc00 && low < 0xe000) {
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		n = 12;
	}
	if (c >= 0xd800 && c < 0xe000)
		return wrong(j, j->i, "half a surrogate pair");
	(void)buf_printf(j->to, "\\x{%x}", c);
	j->i += n;
	return true;
}

/* \0n, \0nn, \0mnn */
static bool
put_octal(struct java *j)
{
	size_t n = 2;
	unsigned value = 0;
	while (n < 5 && peek(j, n) >= '0' && peek(j, n) <= '7' &&
	    value * 8 + (unsigned)(peek(j, n) - '0') <= 0377)
		value = value * 8 + (unsigned)(peek(j, n++) - '0');
	if (n == 2)
		return wrong(j, j->i, "\\0 needs octal digits");
	(void)buf_printf(j->to, "\\x{%x}", value);
	j->i += n;
	return true;
}

/* \Q … \E: every character by itself. */
static void
put_quoted(struct java *j)
{
	for (j->i += 2; j->i < j->text.n; j->i++) {
		char c = j->text.p[j->i];
		if (c == '\\' && peek(j, 1) == 'E') {
			j->i += 2;
			return;
		}
		bool plain = (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') ||
		    ((c | 32) >= 'a' && (c | 32) <= 'z') || (unsigned char)c < 0x20;
		if (!plain)
			(void)buf_add_char(j->to, '\\');
		(void)buf_add_char(j->to, c);
	}
}

/* Something with a backslash at j->i. */
static bool
put_escape(struct java *j, bool inside)
{
	char c = peek(j, 1);
	switch (c) {
	case '\0':
		return wrong(j, j->i, "a backslash at the end");
	case 'p':
	case 'P':
		return put_property(j, inside);
	case 'u':
		return put_unicode(j);
	case '0':
		return put_octal(j);
	case 'Q':
		put_quoted(j);
		return true;
	case 'E': /* of no \Q */
		j->i += 2;
		return true;
	case 'N':
	case 'C':
	case 'K':
	case 'g':
		return wrong(j, j->i, "this escape is not supported");
	default:
		(void)buf_add(j->to, j->text.p + j->i, 2);
		j->i += 2;
		return true;
	}
}

/* ---- classes ---- */

static bool put_class(struct java *j);

/* One operand of &&: plain parts and nested classes, all alternatives. *n: how many there are. */
static bool
put_union(struct java *j, size_t first)
{
	struct buf plain, *outer = j->to;
	bool ok = true;
	size_t alternatives = 0;

	buf_init(&plain, 0);
	put(j, "(?:");
	while (ok && j->i < j->text.n && !(peek(j, 0) == ']' && j->i > first) &&
	    !(peek(j, 0) == '&' && peek(j, 1) == '&')) {
		if (peek(j, 0) == '[') {
			if (alternatives++ > 0)
				put(j, "|");
			ok = put_class(j);
			continue;
		}
		j->to = &plain;
		if (peek(j, 0) == '\\') {
			ok = put_escape(j, true);
		} else {
			if (peek(j, 0) == '^' || (peek(j, 0) == ']' && j->i == first))
				(void)buf_add_char(&plain, '\\');
			(void)buf_add_char(&plain, j->text.p[j->i++]);
		}
		j->to = outer;
	}
	if (ok && plain.n > 0)
		(void)buf_printf(
		    j->to, "%s[%.*s]", alternatives++ > 0 ? "|" : "", (int)plain.n, plain.p);
	if (ok && alternatives == 0)
		ok = wrong(j, j->i, "an empty part of a character class");
	put(j, ")");
	buf_fini(&plain);
	return ok;
}

/* Has the class that begins at `at` (its "[") others within it, or "&&"? */
static bool
is_compound(const struct java *j, size_t at)
{
	size_t i = at + 1 + (at + 1 < j->text.n && j->text.p[at + 1] == '^'), first = i;
	for (; i < j->text.n && !(j->text.p[i] == ']' && i > first); i++) {
		if (j->text.p[i] == '\\' && i + 1 < j->text.n && j->text.p[i + 1] == 'Q') {
			while (i < j->text.n &&
			    !(j->text.p[i] == '\\' && i + 1 < j->text.n && j->text.p[i + 1] == 'E'))
				i++;
			i++;
		} else if (j->text.p[i] == '\\') {
			i++;
		} else if (j->text.p[i] == '[' ||
		    (j->text.p[i] == '&' && i + 1 < j->text.n && j->text.p[i + 1] == '&')) {
			return true;
		}
	}
	return false;
}

/* A class without others in it: as PCRE2 has it. */
static bool
put_plain_class(struct java *j)
{
	put(j, "[");
	j->i++;
	if (peek(j, 0) == '^') {
		put(j, "^");
		j->i++;
	}
	for (size_t first = j->i; j->i < j->text.n;) {
		char c = peek(j, 0);
		if (c == '\\') {
			if (!put_escape(j, true))
				return false;
			continue;
		}
		if (j->i == first && strchr(":.=", c) != NULL)
			put(j, "\\"); /* no [:alpha:] of PCRE2 */
		(void)buf_add_char(j->to, c);
		j->i++;
		if (c == ']' && j->i > first + 1)
			return true;
	}
	return true; /* not closed: PCRE2 says so */
}

/* A class at j->i. A negation counts for all that is in it. */
static bool
put_class(struct java *j)
{
	size_t at = j->i;
	bool negated = peek(j, 1) == '^', more;

	if (!is_compound(j, at))
		return put_plain_class(j);
	if (++j->depth > CLASS_DEPTH_MAX)
		return wrong(j, at, "classes are nested too deep");
	j->i += 1 + negated;
	put(j, negated ? "(?:(?!" : "(?:");
	size_t first = j->i;
	do {
		put(j, "(?=");
		if (!put_union(j, first))
			return false;
		put(j, ")");
		more = peek(j, 0) == '&' && peek(j, 1) == '&';
		j->i += more ? 2 : 0;
		first = 0; /* a "]" right behind && ends the class */
	} while (more && peek(j, 0) != ']');
	if (peek(j, 0) != ']')
		return wrong(j, at, "a character class is not closed");
	j->i++;
	put(j, negated ? ")(?s:.))" : "(?s:.))");
	j->depth--;
	return true;
}

/* ---- groups ---- */

/* (?imsux-imsux) or (?i:…) at j->i: the flags alone. */
static bool
put_flags(struct java *j)
{
	size_t at = j->i;
	put(j, "(?");
	for (j->i += 2; j->i < j->text.n; j->i++) {
		char c = j->text.p[j->i];
		if (c == 'd')
			return wrong(j, at, "the flag (?d) is not supported");
		if (c == 'U' && at != 0)
			return wrong(j, at, "the flag (?U) is supported at the beginning only");
		if (c == 'U')
			j->ucp = true;
		else if (c != 'u') /* letters are compared as Unicode has it anyway */
			(void)buf_add_char(j->to, c);
		if (strchr("imsxuU-", c) == NULL) {
			j->i++;
			return true;
		}
	}
	return true;
}

static bool
put_group(struct java *j)
{
	char c = peek(j, 2);
	if (peek(j, 1) == '*')
		return wrong(j, j->i, "nothing to repeat before *");
	if (peek(j, 1) == '?' && c != '\0' && strchr("imsxduU-", c) != NULL)
		return put_flags(j);
	if (peek(j, 1) == '?' && strchr(":=!><", c) == NULL)
		return wrong(j, j->i, "this kind of group is not one of Java");
	(void)buf_add_char(j->to, '(');
	j->i++;
	return true;
}

enum hinny_rc
regex_translate(struct str java, struct buf *to, bool *ucp, struct hinny_error *err)
{
	struct java j = { .text = java, .to = to, .err = err };
	bool ok = true;

	while (ok && j.i < java.n) {
		char c = java.p[j.i];
		if (c == '\\')
			ok = put_escape(&j, false);
		else if (c == '[')
			ok = put_class(&j);
		else if (c == '(')
			ok = put_group(&j);
		else {
			(void)buf_add_char(to, c); /* no bound */
			j.i++;
		}
	}
	*ucp = j.ucp;
	return ok ? HINNY_OK : HINNY_EINVAL;
}
