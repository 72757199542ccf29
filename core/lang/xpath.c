/*
 * xpath, the part that every process has. Without an XML library it looks at the words of an
 * expression only: prefixes that nobody declared, brackets and quotes that are not closed, and
 * which headers, properties and variables it reads. The owner's process compiles it before the
 * generation is READY.
 */
#include "core/lang/xpath.h"

#include "core/base/assert.h"
#include "core/config/compile.h"

static const struct option_desc xpath_options[] = {
	{ .name = "resultQName",
	    .type = OPTION_ENUM,
	    .values = "NODESET|NUMBER|STRING|BOOLEAN|NODE",
	    .dflt = "NODESET",
	    .flags = OPTION_GIVEN,
	    .help = "kind of result; without it resultType decides",
	    .offset = offsetof(struct xpath_conf, result) },
	{ .name = "namespace",
	    .type = OPTION_PAIRS,
	    .help = "prefixes of the expression: a list of key (prefix) and value (URI)",
	    .offset = offsetof(struct xpath_conf, namespaces) },
	{ .name = "source",
	    .type = OPTION_STRING,
	    .help = "what it works on: body, header:NAME, exchangeProperty:NAME or variable:NAME",
	    .offset = offsetof(struct xpath_conf, source_text) },
	{ .name = "preCompile",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_LABEL,
	    .help = "without meaning here: it is always compiled at load",
	    .offset = offsetof(struct xpath_conf, pre_compile) },
	{ .name = "threadSafety",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_LABEL,
	    .help = "without meaning here: there are no threads",
	    .offset = offsetof(struct xpath_conf, thread_safety) },
	{ .name = "saxon",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "true is not supported: XPath 1.0 only",
	    .offset = offsetof(struct xpath_conf, saxon) },
	{ .name = "logNamespaces",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "true is not supported",
	    .offset = offsetof(struct xpath_conf, log_namespaces) },
	{ .name = "documentType",
	    .type = OPTION_STRING,
	    .help = "not supported",
	    .offset = offsetof(struct xpath_conf, document_type) },
	{ .name = "objectModel",
	    .type = OPTION_STRING,
	    .help = "not supported",
	    .offset = offsetof(struct xpath_conf, object_model) },
	{ .name = "factoryRef",
	    .type = OPTION_STRING,
	    .help = "not supported",
	    .offset = offsetof(struct xpath_conf, factory_ref) },
	OPTIONS_END,
};

/* ---- words ---- */

struct scan {
	struct compile *c;
	struct expression *e;
	struct str text;
	size_t i;
	char open[64]; /* brackets that are open */
	size_t open_n;
};

static bool
is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    (unsigned char)c >= 0x80;
}

static bool
is_name_char(char c)
{
	return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static struct str
take_name(struct scan *s)
{
	size_t begin = s->i;
	while (s->i < s->text.n && is_name_char(s->text.p[s->i]))
		s->i++;
	return (struct str){ s->text.p + begin, s->i - begin };
}

static int
check_prefix(struct scan *s, struct str prefix)
{
	static const char *const known[] = { "xml", "in", "out", "function" };
	const struct xpath_conf *conf = s->e->conf;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(prefix, str_of(known[i])))
			return 0;
	for (size_t i = 0; i < conf->namespaces.n; i++)
		if (str_eq(prefix, str_of(conf->namespaces.items[i].key)))
			return 0;
	return compile_error_in(s->c, s->e, (size_t)(prefix.p - s->text.p),
	    "Prefix must resolve to a namespace: %.*s", STR_FMT(prefix));
}

/* The literal at s->i (behind blanks); false when there is none. */
static bool
peek_literal(const struct scan *s, struct str *out)
{
	size_t i = s->i;
	while (i < s->text.n && strchr(" \t\r\n(", s->text.p[i]) != NULL && s->text.p[i] != '\0')
		i++;
	if (i >= s->text.n || (s->text.p[i] != '\'' && s->text.p[i] != '"'))
		return false;
	const char *end = memchr(s->text.p + i + 1, s->text.p[i], s->text.n - i - 1);
	if (end == NULL)
		return false;
	*out = (struct str){ s->text.p + i + 1, (size_t)(end - s->text.p) - i - 1 };
	return true;
}

/* in:header('x') reads header x; with a computed name it may be any. */
static int
record_header(struct scan *s, bool literal, const char *text)
{
	if (literal)
		access_add_header(s->c, &s->e->reads, text);
	else
		s->e->reads.flags |= ACCESS_HEADERS_ALL;
	return 0;
}

static int
record_body(struct scan *s, bool literal, const char *text)
{
	(void)literal;
	(void)text;
	s->e->reads.flags |= ACCESS_BODY;
	return 0;
}

/* function:properties('x') is an exchange property, else a property placeholder. */
static int
record_property(struct scan *s, bool literal, const char *text)
{
	if (literal)
		access_add_property(s->c, &s->e->reads, text);
	else
		s->e->reads.flags |= ACCESS_PROPERTIES_ALL;
	return 0;
}

/* function:simple('…') is compiled as a part, which the runtime finds by its text. */
static int
record_simple(struct scan *s, bool literal, const char *text)
{
	struct expression *e = s->e;
	if (!literal)
		return compile_error_in(s->c, e, s->i, "function:simple needs its text in quotes");
	struct expression *part = compile_expression(s->c, "simple", text, false, e->at);
	if (part == NULL)
		return -1;
	struct expression **parts =
	    arena_alloc(compile_arena(s->c), (e->parts_n + 1) * sizeof *parts);
	if (e->parts_n > 0)
		memcpy(parts, e->parts, e->parts_n * sizeof *parts);
	parts[e->parts_n++] = part;
	e->parts = parts;
	access_merge(s->c, &e->reads, &part->reads);
	return part->parts_n == 0
	    ? 0
	    : compile_error_in(s->c, e, s->i, "function:simple cannot hold an xpath again");
}

static const struct {
	const char *prefix, *name;
	int (*record)(struct scan *s, bool literal, const char *text);
} functions[] = {
	{ "in", "body", record_body },
	{ "out", "body", record_body },
	{ "in", "header", record_header },
	{ "out", "header", record_header },
	{ "function", "properties", record_property },
	{ "function", "simple", record_simple },
};

static int
scan_qualified(struct scan *s, struct str prefix)
{
	s->i++;
	struct str name = take_name(s), literal;
	int rc = check_prefix(s, prefix);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(functions); i++) {
		if (!str_eq(prefix, str_of(functions[i].prefix)) ||
		    !str_eq(name, str_of(functions[i].name)))
			continue;
		bool given = peek_literal(s, &literal);
		return functions[i].record(s, given,
		    given ? arena_strndup(compile_arena(s->c), literal.p, literal.n) : NULL);
	}
	return rc;
}

static int
scan_name(struct scan *s)
{
	struct str name = take_name(s);
	size_t i = s->i;
	if (i + 1 < s->text.n && s->text.p[i] == ':' && s->text.p[i + 1] != ':')
		return scan_qualified(s, name);
	return 0;
}

/* $NAME is a header, else an exchange property, else a variable. */
static int
scan_variable(struct scan *s)
{
	s->i++;
	struct str name = take_name(s);
	if (name.n == 0)
		return compile_error_in(s->c, s->e, s->i, "a name must follow $");
	const char *text = arena_strndup(compile_arena(s->c), name.p, name.n);
	access_add_header(s->c, &s->e->reads, text);
	access_add_property(s->c, &s->e->reads, text);
	access_add_variable(s->c, &s->e->reads, text);
	return 0;
}

static int
scan_literal(struct scan *s)
{
	const char *end = memchr(s->text.p + s->i + 1, s->text.p[s->i], s->text.n - s->i - 1);
	if (end == NULL)
		return compile_error_in(s->c, s->e, s->i,
		    "misquoted literal: its closing %c is missing", s->text.p[s->i]);
	s->i = (size_t)(end - s->text.p) + 1;
	return 0;
}

static int
scan_bracket(struct scan *s, char c)
{
	size_t at = s->i++;
	if (c == '(' || c == '[') {
		if (s->open_n == sizeof s->open)
			return compile_error_in(s->c, s->e, at, "nested too deep");
		s->open[s->open_n++] = c == '(' ? ')' : ']';
		return 0;
	}
	if (s->open_n == 0 || s->open[s->open_n - 1] != c)
		return compile_error_in(s->c, s->e, at, "%c closes nothing", c);
	s->open_n--;
	return 0;
}

static int
scan_word(struct scan *s)
{
	char c = s->text.p[s->i];
	if (c == '\'' || c == '"')
		return scan_literal(s);
	if (c == '$')
		return scan_variable(s);
	if (is_name_start(c))
		return scan_name(s);
	if (c != '\0' && strchr("()[]", c) != NULL)
		return scan_bracket(s, c);
	if (is_name_char(c) && c != '-') { /* a number, or . and .. */
		(void)take_name(s);
		return 0;
	}
	s->i++;
	return 0;
}

static int
scan_text(struct compile *c, struct expression *e)
{
	struct scan s = { .c = c, .e = e, .text = str_of(e->text) };
	if (s.text.n == 0)
		return compile_error(c, e->at, "an expression is missing");
	while (s.i < s.text.n) {
		int rc = scan_word(&s);
		if (rc != 0)
			return rc;
	}
	if (s.open_n > 0)
		return compile_error_in(c, e, s.text.n,
		    "Expected %c, but found: (end of expression)", s.open[s.open_n - 1]);
	return 0;
}

/* ---- options ---- */

static int
check_options(struct compile *c, const struct expression *e)
{
	const struct xpath_conf *conf = e->conf;
	const struct {
		const char *name;
		bool wanted;
	} refused[] = {
		{ "saxon", conf->saxon },
		{ "logNamespaces", conf->log_namespaces },
		{ "documentType", conf->document_type != NULL },
		{ "objectModel", conf->object_model != NULL },
		{ "factoryRef", conf->factory_ref != NULL },
	};
	int rc = 0;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (refused[i].wanted)
			rc |= compile_error(c, e->at,
			    "option \"%s\" of language xpath is not supported", refused[i].name);
	return rc;
}

static int
xpath_compile(struct compile *c, struct expression *e)
{
	struct xpath_conf *conf = e->conf;
	int rc = check_options(c, e);
	conf->result_given = option_given(xpath_options, conf, "resultQName");
	rc |= source_compile(c, e, conf->source_text, &conf->source);
	return scan_text(c, e) | rc;
}

const struct language_desc xpath_language = {
	.name = "xpath",
	.options = xpath_options,
	.conf_size = sizeof(struct xpath_conf),
	.owner = "xform",
	.flags = LANGUAGE_NODES,
	.compile = xpath_compile,
	.help = "XPath 1.0 on XML text",
};
