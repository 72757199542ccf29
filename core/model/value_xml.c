/* The text that a piece of markup holds, for conversions of XML values to numbers and Booleans. The
 * markup was made by a serialiser; what it is not is copied as text. */
#include "core/model/value_priv.h"

#include <string.h>

struct scan {
	const char *p, *end;
	char *out;
};

static bool
at(const struct scan *sc, const char *word)
{
	size_t n = strlen(word);
	return (size_t)(sc->end - sc->p) >= n && memcmp(sc->p, word, n) == 0;
}

/* Behind the next `word`, or the end. */
static const char *
behind(const struct scan *sc, const char *word)
{
	struct str rest = { sc->p, (size_t)(sc->end - sc->p) };
	size_t found = str_find(rest, str_of(word));
	return found == SIZE_MAX ? sc->end : sc->p + found + strlen(word);
}

/* A tag ends at ">" outside the quotes of its attributes. */
static void
skip_tag(struct scan *sc)
{
	char quote = '\0';

	for (; sc->p < sc->end; sc->p++) {
		if (quote != '\0') {
			if (*sc->p == quote)
				quote = '\0';
		} else if (*sc->p == '"' || *sc->p == '\'') {
			quote = *sc->p;
		} else if (*sc->p == '>') {
			sc->p++;
			return;
		}
	}
}

static void
take_cdata(struct scan *sc)
{
	sc->p += strlen("<![CDATA[");
	struct str rest = { sc->p, (size_t)(sc->end - sc->p) };
	size_t n = str_find(rest, STR_LIT("]]>"));

	if (n == SIZE_MAX)
		n = rest.n;
	if (n > 0)
		memcpy(sc->out, sc->p, n);
	sc->out += n;
	sc->p += n;
	if (sc->p < sc->end)
		sc->p += strlen("]]>");
}

static void
put_utf8(struct scan *sc, uint32_t c)
{
	if (c < 0x80) {
		*sc->out++ = (char)c;
	} else if (c < 0x800) {
		*sc->out++ = (char)(0xC0 | c >> 6);
		*sc->out++ = (char)(0x80 | (c & 0x3F));
	} else if (c < 0x10000) {
		*sc->out++ = (char)(0xE0 | c >> 12);
		*sc->out++ = (char)(0x80 | (c >> 6 & 0x3F));
		*sc->out++ = (char)(0x80 | (c & 0x3F));
	} else {
		*sc->out++ = (char)(0xF0 | c >> 18);
		*sc->out++ = (char)(0x80 | (c >> 12 & 0x3F));
		*sc->out++ = (char)(0x80 | (c >> 6 & 0x3F));
		*sc->out++ = (char)(0x80 | (c & 0x3F));
	}
}

static int
digit_of(char c, uint32_t base)
{
	int d = c >= '0' && c <= '9' ? c - '0'
	    : c >= 'a' && c <= 'f'   ? c - 'a' + 10
	    : c >= 'A' && c <= 'F'   ? c - 'A' + 10
				     : 99;
	return d < (int)base ? d : -1;
}

/* "&#169;" or "&#xA9;"; a reference takes at least as many bytes as its character. */
static bool
take_number(struct scan *sc)
{
	const char *p = sc->p + 2;
	uint32_t base = p < sc->end && *p == 'x' ? 16 : 10, c = 0;
	const char *first = base == 16 ? ++p : p;

	for (; p < sc->end && digit_of(*p, base) >= 0; p++) {
		c = c * base + (uint32_t)digit_of(*p, base);
		if (c > 0x10FFFF)
			return false;
	}
	if (p == first || p == sc->end || *p != ';' || (c >= 0xD800 && c < 0xE000))
		return false;
	put_utf8(sc, c);
	sc->p = p + 1;
	return true;
}

static void
take_reference(struct scan *sc)
{
	static const struct {
		const char *word;
		char c;
	} named[] = { { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' },
		{ "&apos;", '\'' } };

	for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
		if (at(sc, named[i].word)) {
			*sc->out++ = named[i].c;
			sc->p += strlen(named[i].word);
			return;
		}
	}
	if (!at(sc, "&#") || !take_number(sc))
		*sc->out++ = *sc->p++;
}

struct str
value_xml_text(struct arena *a, struct str markup)
{
	if (markup.n == 0 ||
	    (memchr(markup.p, '<', markup.n) == NULL && memchr(markup.p, '&', markup.n) == NULL))
		return markup;
	char *out = arena_alloc(a, markup.n);
	struct scan sc = { markup.p, markup.p + markup.n, out };

	while (sc.p < sc.end) {
		if (at(&sc, "<![CDATA["))
			take_cdata(&sc);
		else if (at(&sc, "<!--"))
			sc.p = behind(&sc, "-->");
		else if (at(&sc, "<?"))
			sc.p = behind(&sc, "?>");
		else if (*sc.p == '<')
			skip_tag(&sc);
		else if (*sc.p == '&')
			take_reference(&sc);
		else
			*sc.out++ = *sc.p++;
	}
	return (struct str){ out, (size_t)(sc.out - out) };
}
