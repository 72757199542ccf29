/* A lexical scan of stylesheets and schemas. */
#include "core/config/copy_scan.h"

#define XSL "http://www.w3.org/1999/XSL/Transform"
#define XS "http://www.w3.org/2001/XMLSchema"

enum { PREFIXES_MAX = 16 };

struct scan {
	struct str text;
	size_t at;
	unsigned line;
	copy_reference_fn *fn;
	void *arg;
	bool *computed;
	/* prefixes bound to the two namespaces anywhere in the file */
	struct prefix {
		struct str name;
		bool xsl;
	} prefixes[PREFIXES_MAX];
	size_t prefixes_n;
	bool sheet; /* the stylesheet namespace is there: document() means something */
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
is_name(char c)
{
	return !is_blank(c) && c != '\0' && strchr("<>=/'\"()[],", c) == NULL;
}

static struct str
rest_of(const struct scan *s)
{
	return (struct str){ s->text.p + s->at, s->text.n - s->at };
}

static void
advance(struct scan *s, size_t n)
{
	for (; n > 0 && s->at < s->text.n; n--) {
		if (s->text.p[s->at++] == '\n')
			s->line++;
	}
}

/* Behind the next `end`, or at the end of the text. */
static void
skip_to(struct scan *s, const char *end)
{
	size_t n = str_find(rest_of(s), str_of(end));

	advance(s, n == SIZE_MAX ? s->text.n : n + strlen(end));
}

static void
skip_blanks(struct scan *s)
{
	while (s->at < s->text.n && is_blank(s->text.p[s->at]))
		advance(s, 1);
}

static struct str
take_name(struct scan *s)
{
	size_t start = s->at;

	while (s->at < s->text.n && is_name(s->text.p[s->at]))
		s->at++;
	return (struct str){ s->text.p + start, s->at - start };
}

/* A quoted value; *out.p is NULL when there is none. `line` is that of its start. */
static bool
take_value(struct scan *s, struct str *out, unsigned *line)
{
	skip_blanks(s);
	if (s->at == s->text.n || s->text.p[s->at] != '=')
		return false;
	advance(s, 1);
	skip_blanks(s);
	if (s->at == s->text.n || (s->text.p[s->at] != '"' && s->text.p[s->at] != '\''))
		return false;
	char quote = s->text.p[s->at];
	advance(s, 1);
	*line = s->line;
	const char *end = memchr(s->text.p + s->at, quote, s->text.n - s->at);
	size_t n = end != NULL ? (size_t)(end - s->text.p) - s->at : s->text.n - s->at;
	*out = (struct str){ s->text.p + s->at, n };
	advance(s, n + 1);
	return true;
}

/* document( in an XPath: a literal argument is reported, another one noted. */
static void
scan_xpath(struct scan *s, struct str xpath, unsigned line)
{
	for (;;) {
		size_t n = str_find(xpath, STR_LIT("document"));
		if (n == SIZE_MAX)
			return;
		bool word = n > 0 && is_name(xpath.p[n - 1]) && xpath.p[n - 1] != ':';
		struct str rest = { xpath.p + n + 8, xpath.n - n - 8 };
		xpath = rest;
		while (rest.n > 0 && is_blank(rest.p[0]))
			rest = (struct str){ rest.p + 1, rest.n - 1 };
		if (word || rest.n == 0 || rest.p[0] != '(')
			continue;
		rest = str_trim((struct str){ rest.p + 1, rest.n - 1 });
		const char *end = rest.n > 1 && (rest.p[0] == '\'' || rest.p[0] == '"')
		    ? memchr(rest.p + 1, rest.p[0], rest.n - 1)
		    : NULL;
		if (end == NULL) {
			*s->computed = true;
			continue;
		}
		struct str href = { rest.p + 1, (size_t)(end - rest.p) - 1 };
		struct str behind = str_trim((struct str){ end + 1, rest.n - href.n - 2 });
		if (behind.n == 0 || (behind.p[0] != ')' && behind.p[0] != ','))
			*s->computed = true; /* 'a' + something */
		else if (href.n > 0)
			s->fn(s->arg, (struct copy_reference){ href, line });
	}
}

static void
bind_prefix(struct scan *s, struct str attribute, struct str uri)
{
	bool xsl = str_eq(uri, STR_LIT(XSL));

	if ((!xsl && !str_eq(uri, STR_LIT(XS))) || !str_starts(attribute, "xmlns"))
		return;
	s->sheet = s->sheet || xsl;
	if (s->prefixes_n == PREFIXES_MAX)
		return;
	struct str name = { attribute.p + 5, attribute.n - 5 };
	if (name.n > 0 && name.p[0] == ':')
		name = (struct str){ name.p + 1, name.n - 1 };
	s->prefixes[s->prefixes_n++] = (struct prefix){ name, xsl };
}

/* "xsl:include": which attribute of it names a file; NULL: none. */
static const char *
naming_attribute(const struct scan *s, struct str element)
{
	size_t colon = str_find(element, STR_LIT(":"));
	struct str prefix = { element.p, colon == SIZE_MAX ? 0 : colon };
	struct str local = colon == SIZE_MAX
	    ? element
	    : (struct str){ element.p + colon + 1, element.n - colon - 1 };
	bool names = str_eq(local, STR_LIT("include")) || str_eq(local, STR_LIT("import"));

	for (size_t i = 0; i < s->prefixes_n; i++) {
		if (!str_eq(prefix, s->prefixes[i].name))
			continue;
		if (s->prefixes[i].xsl)
			return names ? "href" : NULL;
		return names || str_eq(local, STR_LIT("redefine")) ? "schemaLocation" : NULL;
	}
	return NULL;
}

/* Behind "<": one start tag. */
static void
scan_tag(struct scan *s)
{
	struct str element = take_name(s), name, value;
	unsigned line;

	for (;;) {
		skip_blanks(s);
		if (s->at == s->text.n || s->text.p[s->at] == '>' || s->text.p[s->at] == '<')
			return;
		name = take_name(s);
		if (name.n == 0) {
			advance(s, 1);
			continue;
		}
		if (!take_value(s, &value, &line))
			continue;
		bind_prefix(s, name, value);
		const char *naming = naming_attribute(s, element);
		if (naming != NULL && str_eq(name, str_of(naming)) && value.n > 0)
			s->fn(s->arg, (struct copy_reference){ value, line });
		else if (s->sheet)
			scan_xpath(s, value, line);
	}
}

void
copy_scan(struct str text, copy_reference_fn *fn, void *arg, bool *computed)
{
	struct scan s = { .text = text, .line = 1, .fn = fn, .arg = arg, .computed = computed };

	*computed = false;
	while (s.at < s.text.n) {
		skip_to(&s, "<");
		if (str_starts(rest_of(&s), "!--"))
			skip_to(&s, "-->");
		else if (str_starts(rest_of(&s), "![CDATA["))
			skip_to(&s, "]]>");
		else if (str_starts(rest_of(&s), "?"))
			skip_to(&s, "?>");
		else
			scan_tag(&s);
	}
}
