/*
 * jq, the part that every process has. Without libjq it looks at the words of a program only:
 * quotes and brackets that are not closed, what jq has and is not available here, and which
 * headers, properties and variables Camel's functions read. The owner's process compiles it before
 * the generation is READY.
 */
#include "core/lang/jq.h"

#include "core/base/assert.h"
#include "core/config/compile.h"

enum { JQ_DEPTH_MAX = 64 };

static const struct option_desc jq_options[] = {
	{ .name = "source",
	    .type = OPTION_STRING,
	    .help = "what it works on: body, header:NAME, exchangeProperty:NAME or variable:NAME",
	    .offset = offsetof(struct jq_conf, source_text) },
	OPTIONS_END,
};

struct scan {
	struct compile *c;
	struct expression *e;
	struct str text;
	size_t i;
	char open[JQ_DEPTH_MAX]; /* what is open: a bracket, '"' a string, 'i' what stands in \( ) */
	size_t open_at[JQ_DEPTH_MAX];
	size_t open_n;
};

static bool
is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_name_char(char c)
{
	return is_name_start(c) || (c >= '0' && c <= '9');
}

static bool
in_string(const struct scan *s)
{
	return s->open_n > 0 && s->open[s->open_n - 1] == '"';
}

static int
open_one(struct scan *s, char what)
{
	if (s->open_n == JQ_DEPTH_MAX)
		return compile_error_in(s->c, s->e, s->i, "nested too deep");
	s->open_at[s->open_n] = s->i;
	s->open[s->open_n++] = what;
	return 0;
}

static int
close_one(struct scan *s, char bracket)
{
	char open = s->open_n > 0 ? s->open[s->open_n - 1] : '\0';
	bool fits = (bracket == ')' && (open == '(' || open == 'i')) ||
	    (bracket == ']' && open == '[') || (bracket == '}' && open == '{');

	if (!fits)
		return compile_error_in(
		    s->c, s->e, s->i, "unexpected \"%c\": it closes nothing", bracket);
	s->open_n--;
	return 0;
}

/* ---- names ---- */

/* The literal that is the first argument of a call, at s->i (behind the name). */
static bool
literal_argument(const struct scan *s, struct str *out)
{
	size_t i = s->i;

	while (i < s->text.n && strchr(" \t\r\n", s->text.p[i]) != NULL)
		i++;
	if (i >= s->text.n || s->text.p[i] != '(')
		return false;
	for (i++; i < s->text.n && strchr(" \t\r\n", s->text.p[i]) != NULL;)
		i++;
	if (i >= s->text.n || s->text.p[i] != '"')
		return false;
	size_t begin = ++i;
	while (i < s->text.n && s->text.p[i] != '"' && s->text.p[i] != '\\')
		i++;
	*out = (struct str){ s->text.p + begin, i - begin };
	for (i++; i < s->text.n && strchr(" \t\r\n", s->text.p[i]) != NULL;)
		i++;
	return i < s->text.n && (s->text.p[i] == ')' || s->text.p[i] == ';');
}

enum called { CALLS_HEADER, CALLS_PROPERTY, CALLS_VARIABLE, CALLS_BODY, CALLS_CONSTANT };

static void
record_call(struct scan *s, enum called what)
{
	struct jq_code *code = s->e->code;
	struct access *reads = &s->e->reads;
	struct str name;
	const char *text = literal_argument(s, &name)
	    ? arena_strndup(compile_arena(s->c), name.p, name.n)
	    : NULL;

	code->message = true;
	if (what == CALLS_BODY) {
		code->body = true;
		reads->flags |= ACCESS_BODY;
	} else if (what == CALLS_CONSTANT) {
		return;
	} else if (text == NULL) {
		reads->flags |= what == CALLS_HEADER ? ACCESS_HEADERS_ALL
		    : what == CALLS_PROPERTY         ? ACCESS_PROPERTIES_ALL
						     : ACCESS_VARIABLES_ALL;
	} else if (what == CALLS_HEADER) {
		access_add_header(s->c, reads, text);
	} else if (what == CALLS_PROPERTY) {
		access_add_property(s->c, reads, text);
	} else {
		access_add_variable(s->c, reads, text);
	}
}

static const struct {
	const char *name;
	enum called what;
} functions[] = {
	{ "body", CALLS_BODY },
	{ "constant", CALLS_CONSTANT },
	{ "header", CALLS_HEADER },
	{ "property", CALLS_PROPERTY },
	{ "variable", CALLS_VARIABLE },
};

static const struct {
	const char *name, *why;
} refused[] = {
	{ "debug", "it would write messages to the log" },
	{ "get_search_list", "there are no modules" },
	{ "env", "use ${env.NAME} in a header before" },
	{ "halt", "use empty, or error(…)" },
	{ "halt_error", "use error(…)" },
	{ "import", "there are no modules" },
	{ "include", "there are no modules" },
	{ "input", "there is one message" },
	{ "input_filename", "there is one message" },
	{ "input_line_number", "there is one message" },
	{ "inputs", "there is one message" },
	{ "modulemeta", "there are no modules" },
	{ "stderr", "it would write messages to the log" },
};

/* Is the name from `begin` on a key of an object: {name: …}, {name}? */
static bool
is_key(const struct scan *s, size_t begin)
{
	size_t next = s->i;

	while (next < s->text.n && strchr(" \t\r\n", s->text.p[next]) != NULL)
		next++;
	if (next < s->text.n && s->text.p[next] == ':' &&
	    (next + 1 == s->text.n || s->text.p[next + 1] != ':'))
		return true;
	while (begin > 0 && strchr(" \t\r\n", s->text.p[begin - 1]) != NULL)
		begin--;
	return s->open_n > 0 && s->open[s->open_n - 1] == '{' && begin > 0 &&
	    (s->text.p[begin - 1] == '{' || s->text.p[begin - 1] == ',');
}

/* A name at s->i, which is no field and no variable. */
static int
take_name(struct scan *s)
{
	size_t begin = s->i;

	while (s->i < s->text.n && is_name_char(s->text.p[s->i]))
		s->i++;
	struct str name = { s->text.p + begin, s->i - begin };
	if (is_key(s, begin))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (str_eq(name, str_of(functions[i].name)))
			record_call(s, functions[i].what);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (str_eq(name, str_of(refused[i].name)))
			return compile_error_in(s->c, s->e, begin, "%s is not available: %s",
			    refused[i].name, refused[i].why);
	return 0;
}

static void
skip_name(struct scan *s)
{
	s->i++;
	while (s->i < s->text.n && (is_name_char(s->text.p[s->i]) || s->text.p[s->i] == ':'))
		s->i++;
}

/* ---- text ---- */

/* One character of a string. */
static int
scan_string(struct scan *s)
{
	char c = s->text.p[s->i];
	int rc = 0;

	if (c == '"')
		s->open_n--;
	if (c == '\\' && s->i + 1 < s->text.n) {
		s->i++;
		if (s->text.p[s->i] == '(')
			rc = open_one(s, 'i');
	}
	s->i++;
	return rc;
}

static int
scan_code(struct scan *s)
{
	char c = s->text.p[s->i];
	bool field = c == '.' && s->i + 1 < s->text.n && is_name_start(s->text.p[s->i + 1]);
	int rc = 0;

	if (is_name_start(c))
		return take_name(s);
	if (field || c == '$' || c == '@') {
		skip_name(s);
		return 0;
	}
	if (c == '#') {
		while (s->i < s->text.n && s->text.p[s->i] != '\n')
			s->i++;
		return 0;
	}
	if (c == '"' || c == '(' || c == '[' || c == '{')
		rc = open_one(s, c);
	else if (c == ')' || c == ']' || c == '}')
		rc = close_one(s, c);
	s->i++;
	return rc;
}

static int
scan_text(struct compile *c, struct expression *e)
{
	struct scan s = { .c = c, .e = e, .text = str_of(e->text) };
	int rc = 0;

	while (rc == 0 && s.i < s.text.n)
		rc = in_string(&s) ? scan_string(&s) : scan_code(&s);
	if (rc == 0 && s.open_n > 0)
		rc = compile_error_in(c, e, s.open_at[s.open_n - 1], "%s is not closed",
		    in_string(&s) ? "a quote" : "a bracket");
	return rc;
}

static int
jq_compile(struct compile *c, struct expression *e)
{
	struct jq_conf *conf = e->conf;

	e->code = ARENA_NEW(compile_arena(c), struct jq_code);
	if (e->text[0] == '\0')
		return compile_error(c, e->at, "a program is missing");
	int rc = source_compile(c, e, conf->source_text, &conf->source);
	return scan_text(c, e) | rc;
}

void
jq_set_source(struct compile *c, struct expression *e, const struct source *src)
{
	struct jq_conf *conf = e->conf;
	const struct jq_code *code = e->code;

	conf->source = *src;
	if (!code->body)
		e->reads.flags &= ~(unsigned)ACCESS_BODY;
	source_record(c, e, src);
}

const struct language_desc jq_language = {
	.name = "jq",
	.options = jq_options,
	.conf_size = sizeof(struct jq_conf),
	.owner = "jq",
	.compile = jq_compile,
	.help = "jq 1.6 on JSON, with Camel's functions header, property, variable, constant, body",
};
