/*
 * tokenize: the parts of a text. Parts stand between tokens (regular expressions, as in Camel also
 * without `regex`), between a token and an end token, or are the XML elements of a name, found by their tags without
 * a parser. A split takes them one by one (iterate); the value is a list of them all, whose parts
 * lie in the text that they are of.
 */
#include "core/lang/tokenize.h"

#include "core/base/assert.h"
#include "core/base/buf.h"
#include "core/config/compile.h"
#include "core/lang/text.h"

enum { GROUP_MAX = 1000000, NAMESPACES_MAX = 64, NAMESPACES_SIZE = 16384 };
/* Bounds of what is made of a text: a group, and a list of all parts. */
enum { GROUP_SIZE = 1 << 28, LIST_SIZE = 1 << 28 };

#define AT(m) offsetof(struct tokenize_conf, m)

static const struct option_desc tokenize_options[] = {
	{ .name = "token",
	    .type = OPTION_STRING,
	    .flags = OPTION_MAIN | OPTION_REQUIRED,
	    .help = "what stands between two parts, a regular expression; with endToken the text before a part, with xml the name of an element",
	    .offset = AT(token) },
	{ .name = "endToken",
	    .type = OPTION_STRING,
	    .help = "a part is what stands between token and endToken",
	    .offset = AT(end_token) },
	{ .name = "inheritNamespaceTagName",
	    .type = OPTION_STRING,
	    .help = "with xml: the element whose namespaces each part gets",
	    .offset = AT(inherit) },
	{ .name = "regex",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "means nothing: the token is a regular expression in any case",
	    .offset = AT(regex) },
	{ .name = "xml",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "the token is the name of an element, each of which is a part",
	    .offset = AT(xml) },
	{ .name = "includeTokens",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "with endToken: the tokens belong to the part",
	    .offset = AT(include_tokens) },
	{ .name = "group",
	    .type = OPTION_STRING,
	    .help = "as many parts are put together to one",
	    .offset = AT(group_text) },
	{ .name = "groupDelimiter",
	    .type = OPTION_STRING,
	    .help = "stands between the parts of a group; default: the token; with xml nothing in any case",
	    .offset = AT(group_delimiter) },
	{ .name = "skipFirst",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "leaves the first part out (not with xml)",
	    .offset = AT(skip_first) },
	{ .name = "source",
	    .type = OPTION_STRING,
	    .help = "what it works on: body, header:NAME, exchangeProperty:NAME or variable:NAME",
	    .offset = AT(source_text) },
	OPTIONS_END,
};

/* ---- parts ---- */

struct namespaces {
	struct str names[NAMESPACES_MAX], texts[NAMESPACES_MAX];
	size_t n, size; /* size: of all texts */
};

/* A text that is being taken apart: where it is. */
struct tokens {
	struct value_iterator it;
	const struct tokenize_conf *conf;
	struct str text;
	struct blob *blob; /* where the text lies, or NULL */
	size_t at;
	size_t begin, end; /* regex: the delimiter that ended the last part */
	bool begun;
	bool skip; /* the next part is left out */
	struct namespaces ns;
};

/* Bytes of the character at `at`. */
static size_t
char_length(struct str text, size_t at)
{
	size_t n;
	(void)text_char(text, at, &n);
	return n;
}

static struct str
rest_of(struct str text, size_t from)
{
	return (struct str){ text.p + from, text.n - from };
}

/* One delimiter at the very start is skipped. Inner empty parts are kept, a trailing one is not. */
static bool
next_plain(struct tokens *t, struct str *out)
{
	const struct str by = t->conf->by;
	if (!t->begun && t->text.n >= by.n && memcmp(t->text.p, by.p, by.n) == 0)
		t->at = by.n;
	t->begun = true;
	if (t->at >= t->text.n)
		return false;
	struct str rest = rest_of(t->text, t->at);
	size_t n = str_find(rest, by);
	*out = n == SIZE_MAX ? rest : (struct str){ rest.p, n };
	t->at = n == SIZE_MAX ? t->text.n : t->at + n + by.n;
	return true;
}

/* The next delimiter from `from` on is [t->begin, t->end); both SIZE_MAX: there is none. */
static bool
find_delimiter(struct tokens *t, size_t from)
{
	bool found = false;
	t->begin = t->end = SIZE_MAX;
	if (from > t->text.n)
		return true;
	if (regex_find(t->conf->re, t->text, from, &found, &t->begin, &t->end, &t->it.err) !=
	    HINNY_OK) {
		t->it.failed = true;
		return false;
	}
	if (!found)
		t->begin = t->end = SIZE_MAX;
	return true;
}

/* As java.util.Scanner: one delimiter at the point where it is is skipped, a part reaches to the
 * next one; one that matches nothing ends a part behind its first character. */
static bool
next_regex(struct tokens *t, struct str *out)
{
	if (!t->begun && !find_delimiter(t, 0))
		return false;
	t->begun = true;
	if (t->begin == t->at)
		t->at = t->end;
	if (t->at >= t->text.n)
		return false;
	if (t->begin < t->at || t->begin == t->end)
		if (!find_delimiter(t, t->at) ||
		    (t->end == t->at && !find_delimiter(t, t->at + char_length(t->text, t->at))))
			return false;
	size_t end = t->begin == SIZE_MAX ? t->text.n : t->begin;
	*out = (struct str){ t->text.p + t->at, end - t->at };
	t->at = end;
	return true;
}

/* The text is cut at the end token; of each piece that is what stands behind the token, and one
 * without it is the end. */
static bool
next_pair(struct tokens *t, struct arena *a, struct str *out, bool *own)
{
	const struct tokenize_conf *conf = t->conf;
	struct str piece = rest_of(t->text, t->at);
	size_t n = str_find(piece, conf->end_by);
	bool ended = n != SIZE_MAX;
	if (ended)
		piece.n = n;
	size_t begin = str_find(piece, conf->by);
	if (begin == SIZE_MAX)
		return false;
	t->at = ended ? t->at + n + conf->end_by.n : t->text.n;
	*out = rest_of(piece, begin + (conf->include_tokens ? 0 : conf->by.n));
	if (!conf->include_tokens)
		return true;
	if (ended) {
		out->n += conf->end_by.n;
	} else if (a != NULL) { /* it gets the token that it lacks */
		*out = str_of(arena_printf(a, "%.*s%.*s", STR_FMT(*out), STR_FMT(conf->end_by)));
		*own = true;
	}
	return true;
}

/* ---- elements ---- */

struct tag {
	size_t begin, end; /* of the whole tag */
	bool empty;        /* it closes itself */
};

static bool
ends_name(char c)
{
	return c == '>' || c == '/' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Has the tag at `at` (behind "<" or "</") this name, with a prefix or without? */
static bool
has_name(struct str text, size_t at, struct str name)
{
	size_t end = at;
	while (end < text.n && !ends_name(text.p[end]) && text.p[end] != '<')
		end++;
	struct str found = { text.p + at, end - at };
	if (end == text.n || found.n < name.n)
		return false;
	if (str_eq(found, name))
		return true;
	return memchr(name.p, ':', name.n) == NULL && found.n > name.n &&
	    found.p[found.n - name.n - 1] == ':' && str_eq(rest_of(found, found.n - name.n), name);
}

/* Behind the ">" that ends a tag; quoted values may hold one. SIZE_MAX: it has no end. */
static size_t
tag_end(struct str text, size_t at)
{
	char quote = '\0';
	for (; at < text.n; at++) {
		char c = text.p[at];
		if (quote)
			quote = c == quote ? '\0' : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '>')
			return at + 1;
	}
	return SIZE_MAX;
}

/* The next opening tag of that name. */
static bool
find_open(struct str text, size_t at, struct str name, struct tag *out)
{
	for (; at < text.n; at++) {
		const char *p = memchr(text.p + at, '<', text.n - at);
		if (p == NULL)
			return false;
		at = (size_t)(p - text.p);
		if (!has_name(text, at + 1, name))
			continue;
		out->begin = at;
		out->end = tag_end(text, at);
		if (out->end == SIZE_MAX)
			return false;
		out->empty = text.p[out->end - 2] == '/';
		return true;
	}
	return false;
}

/* Behind the next closing tag of that name, or SIZE_MAX. */
static size_t
find_close(struct str text, size_t at, struct str name)
{
	for (;;) {
		size_t n = str_find(rest_of(text, at), STR_LIT("</"));
		if (n == SIZE_MAX)
			return SIZE_MAX;
		at += n + 2;
		if (has_name(text, at, name))
			return tag_end(text, at);
	}
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The next attribute of a tag from `at` on: `name="value"` as it is written. */
static bool
next_attribute(struct str tag, size_t *at, struct str *name, struct str *whole)
{
	size_t i = *at;
	while (i < tag.n && is_blank(tag.p[i]))
		i++;
	size_t begin = i;
	while (i < tag.n && tag.p[i] != '=' && !is_blank(tag.p[i]) && tag.p[i] != '>')
		i++;
	*name = (struct str){ tag.p + begin, i - begin };
	while (i < tag.n && is_blank(tag.p[i]))
		i++;
	if (i >= tag.n || tag.p[i] != '=')
		return false;
	for (i++; i < tag.n && is_blank(tag.p[i]); i++)
		;
	if (i >= tag.n || (tag.p[i] != '"' && tag.p[i] != '\''))
		return false;
	const char *end = memchr(tag.p + i + 1, tag.p[i], tag.n - i - 1);
	if (end == NULL)
		return false;
	*at = (size_t)(end - tag.p) + 1;
	*whole = (struct str){ tag.p + begin, *at - begin };
	return true;
}

/* Where the attributes of a tag begin. */
static size_t
behind_name(struct str tag)
{
	size_t at = 1;
	while (at < tag.n && !ends_name(tag.p[at]))
		at++;
	return at;
}

/* The declarations of the first element of that name. False: they are too many. */
static bool
find_namespaces(struct str text, const char *element, struct namespaces *ns)
{
	struct tag tag;
	struct str name, whole;
	if (!find_open(text, 0, str_of(element), &tag))
		return true;
	struct str s = { text.p + tag.begin, tag.end - tag.begin };
	size_t at = behind_name(s);
	while (next_attribute(s, &at, &name, &whole)) {
		if (!str_eq(name, STR_LIT("xmlns")) && !str_starts(name, "xmlns:"))
			continue;
		ns->size += whole.n + 1;
		if (ns->n == NAMESPACES_MAX || ns->size > NAMESPACES_SIZE)
			return false;
		ns->names[ns->n] = name;
		ns->texts[ns->n++] = whole;
	}
	return true;
}

static bool
declares(struct str tag, struct str wanted)
{
	struct str name, whole;
	size_t at = behind_name(tag);
	while (next_attribute(tag, &at, &name, &whole))
		if (str_eq(name, wanted))
			return true;
	return false;
}

/* The element with the declarations that it lacks behind its attributes. */
static struct str
with_namespaces(struct arena *a, struct str element, struct str tag, const struct namespaces *ns)
{
	size_t at = tag.n - 1;
	if (at > 0 && tag.p[at - 1] == '/')
		at--;
	char *p = arena_alloc(a, element.n + ns->size + 1), *to = p;
	memcpy(to, element.p, at);
	to += at;
	for (size_t i = 0; i < ns->n; i++) {
		if (declares(tag, ns->names[i]))
			continue;
		*to++ = ' ';
		memcpy(to, ns->texts[i].p, ns->texts[i].n);
		to += ns->texts[i].n;
	}
	memcpy(to, element.p + at, element.n - at);
	to += element.n - at;
	return (struct str){ p, (size_t)(to - p) };
}

/* `own`: it lies in the arena. */
static bool
next_element(struct tokens *t, struct arena *a, struct str *out, bool *own)
{
	struct tag tag;
	if (!find_open(t->text, t->at, t->conf->by, &tag))
		return false;
	size_t end = tag.empty ? tag.end : find_close(t->text, tag.end, t->conf->by);
	if (end == SIZE_MAX)
		return false;
	t->at = end;
	*out = (struct str){ t->text.p + tag.begin, end - tag.begin };
	*own = t->ns.n > 0 && a != NULL;
	if (*own)
		*out =
		    with_namespaces(a, *out, (struct str){ out->p, tag.end - tag.begin }, &t->ns);
	return true;
}

/* ---- items ---- */

static bool
next_part(struct tokens *t, struct arena *a, struct str *out, bool *own)
{
	const struct tokenize_conf *conf = t->conf;
	*own = false;
	return conf->xml      ? next_element(t, a, out, own)
	    : conf->end_token ? next_pair(t, a, out, own)
	    : conf->re        ? next_regex(t, out)
			      : next_plain(t, out);
}

/* Several parts are one item. */
static bool
next_group(struct tokens *t, struct arena *a, struct value *out)
{
	const struct tokenize_conf *conf = t->conf;
	struct str between = conf->xml ? (struct str){ "", 0 }
	    : conf->group_delimiter    ? str_of(conf->group_delimiter)
				       : conf->by;
	enum hinny_rc rc = HINNY_OK;
	struct str part;
	struct buf b;
	int64_t n = 0;
	bool own;
	buf_init(&b, GROUP_SIZE);
	for (; rc == HINNY_OK && n < conf->group && next_part(t, a, &part, &own); n++) {
		if (a == NULL)
			continue;
		if (n > 0)
			rc = buf_add_str(&b, between);
		if (rc == HINNY_OK)
			rc = buf_add_str(&b, part);
	}
	if (a != NULL && n > 0 && rc == HINNY_OK)
		*out = value_str(arena_str(a, (struct str){ b.p ? b.p : "", b.n }));
	buf_fini(&b);
	if (rc != HINNY_OK) {
		t->it.failed = true;
		(void)hinny_error_set(&t->it.err, HINNY_ELIMIT, "a group is too large");
	}
	return n > 0 && rc == HINNY_OK && !t->it.failed;
}

static bool
next_item(struct value_iterator *it, struct arena *a, struct value *out)
{
	struct tokens *t = CONTAINER_OF(it, struct tokens, it);
	struct str part;
	bool own;
	if (it->failed)
		return false;
	if (t->skip && !next_part(t, NULL, &part, &own))
		return false;
	t->skip = false;
	if (t->conf->group > 0)
		return next_group(t, a, out);
	if (!next_part(t, a, &part, &own))
		return false;
	if (a != NULL) {
		*out = value_str(part);
		out->blob = own ? NULL : t->blob;
	}
	return true;
}

static struct value_iterator *
tokenize_iterate(const struct expression *e, struct exchange *ex)
{
	const struct tokenize_conf *conf = e->conf;
	struct tokens *t = arena_zalloc(&ex->arena, sizeof *t);
	const struct value *v = source_value(&conf->source, ex);
	t->it.next = next_item;
	t->conf = conf;
	t->skip = conf->skip_first && !conf->xml;
	if (v == NULL || value_is_null(v))
		return &t->it;
	t->text = value_text(&ex->arena, v);
	t->blob = value_has_text(v) && t->text.p == v->u.s.p ? v->blob : NULL;
	if (conf->inherit && !find_namespaces(t->text, conf->inherit, &t->ns)) {
		t->it.failed = true;
		(void)hinny_error_set(&t->it.err, HINNY_ELIMIT,
		    "more than %d namespaces or %d bytes of them", NAMESPACES_MAX, NAMESPACES_SIZE);
	}
	return &t->it;
}

/* ---- the language ---- */

static enum eval_rc
tokenize_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	struct value_iterator *it = tokenize_iterate(e, ex);
	struct value item;
	size_t before = ex->arena.used;
	*out = value_new_list(&ex->arena, 8);
	while (it->next(it, &ex->arena, &item)) {
		value_list_add(&ex->arena, out->u.list, item);
		if (ex->arena.used - before > LIST_SIZE) {
			it->failed = true;
			(void)hinny_error_set(
			    &it->err, HINNY_ELIMIT, "the parts are too many to keep them all");
			break;
		}
	}
	if (!it->failed)
		return EVAL_OK;
	exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "tokenize %s: %s", e->text, it->err.text);
	return EVAL_ERROR;
}

/* "<order>" as "order". */
static struct str
without_brackets(struct str s)
{
	bool both = s.n > 2 && s.p[0] == '<' && s.p[s.n - 1] == '>';
	return both ? (struct str){ s.p + 1, s.n - 2 } : s;
}

/* A leading \n that is written as two characters. */
static struct str
unescaped(struct compile *c, const char *text)
{
	if (text[0] != '\\' || text[1] != 'n')
		return str_of(text);
	return str_of(arena_printf(compile_arena(c), "\n%s", text + 2));
}

/* Is it more than a plain text? Camel reads every token as a regular expression. */
static bool
is_pattern(struct str token)
{
	for (size_t i = 0; i < token.n; i++)
		if (strchr("\\^$.|?*+()[]{}", token.p[i]) != NULL)
			return true;
	return false;
}

static int
check_group(struct compile *c, const struct expression *e, struct tokenize_conf *conf)
{
	if (conf->group_text == NULL)
		return 0;
	if (str_to_int64(str_trim(str_of(conf->group_text)), &conf->group) && conf->group >= 1 &&
	    conf->group <= GROUP_MAX)
		return 0;
	return compile_error(c, e->at,
	    "tokenize: group: expected a whole number from 1 to %d, got \"%s\"", GROUP_MAX,
	    conf->group_text);
}

static int
check_modes(struct compile *c, const struct expression *e, const struct tokenize_conf *conf)
{
	int rc = 0;
	if (conf->xml && (conf->regex || conf->end_token))
		rc = compile_error(c, e->at, "tokenize: xml cannot stand with regex or endToken");
	if (conf->regex && conf->end_token)
		rc = compile_error(c, e->at, "tokenize: regex cannot stand with endToken");
	if (conf->inherit && !conf->xml)
		rc = compile_error(
		    c, e->at, "tokenize: inheritNamespaceTagName needs \"xml: true\"");
	if (conf->include_tokens && !conf->end_token)
		rc = compile_error(c, e->at, "tokenize: includeTokens needs an endToken");
	if (conf->xml &&
	    (memchr(conf->by.p, '*', conf->by.n) || (conf->inherit && strchr(conf->inherit, '*'))))
		rc = compile_error(c, e->at,
		    "tokenize: \"*\" is not supported with xml: name the element, or use "
		    "xtokenize");
	return rc;
}

static int
tokenize_compile(struct compile *c, struct expression *e)
{
	struct tokenize_conf *conf = e->conf;
	struct hinny_error err;
	conf->token = e->text;
	if (conf->token[0] == '\0')
		return compile_error(c, e->at, "tokenize: a token is missing");
	conf->by = conf->regex ? str_of(conf->token) : unescaped(c, conf->token);
	if (conf->xml)
		conf->by = without_brackets(conf->by);
	if (conf->inherit) {
		struct str name = without_brackets(str_of(conf->inherit));
		conf->inherit = arena_strndup(compile_arena(c), name.p, name.n);
	}
	if (conf->end_token)
		conf->end_by = unescaped(c, conf->end_token);
	if (conf->end_token && conf->end_by.n == 0)
		return compile_error(c, e->at, "tokenize: the endToken is empty");
	int rc = check_group(c, e, conf) | check_modes(c, e, conf);
	if (!conf->xml && !conf->end_token && is_pattern(conf->by) &&
	    regex_compile(compile_arena(c), conf->by, 0, &conf->re, &err) != HINNY_OK)
		rc |= compile_error(c, e->at, "tokenize: %s", err.text);
	return source_compile(c, e, conf->source_text, &conf->source) | rc;
}

const struct language_desc tokenize_language = {
	.name = "tokenize",
	.options = tokenize_options,
	.conf_size = sizeof(struct tokenize_conf),
	.flags = LANGUAGE_NO_TRIM,
	.compile = tokenize_compile,
	.eval = tokenize_eval,
	.iterate = tokenize_iterate,
	.help = "the parts of a text, as a list",
};
