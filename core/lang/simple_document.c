/* Paths into documents: ${jsonpath(…)}, ${simpleJsonpath(…)}, ${xpath(…)}, ${jq(…)}. */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/lang/jq.h"
#include "core/lang/jsonpath.h"
#include "core/lang/text.h"
#include "core/lang/xpath.h"

/* "header:N,exp" -> where from, exp. A comma within the expression is its own. False: reported. */
static bool
split_source(struct simple_parser *p, struct str args, struct source *src, struct str *text)
{
	static const char *const scopes[] = {
		"header:", "variable:", "exchangeProperty:", "property:"
	};
	*src = (struct source){ .kind = SOURCE_BODY };
	*text = str_trim(args);
	for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
		const char *comma =
		    str_starts(*text, scopes[i]) ? memchr(text->p, ',', text->n) : NULL;
		if (comma == NULL)
			continue;
		const char *from = arena_strndup(p->arena, text->p, (size_t)(comma - text->p));
		*text =
		    str_trim((struct str){ comma + 1, (size_t)(text->p + text->n - comma) - 1 });
		if (source_parse(from, src))
			return true;
		return simple_error(p, args.p, "Valid syntax: (header:name,expression) was: %.*s",
			   STR_FMT(args)) != NULL;
	}
	struct str inner;
	if (simple_unquote(p, *text, &inner))
		*text = inner;
	return true;
}

/* The text between "(" and the last ")". */
static bool
document_args(struct simple_parser *p, struct str whole, struct str rest, struct source *src,
    struct str *text)
{
	if (rest.n == 0 || rest.p[rest.n - 1] != ')')
		return simple_error(p, whole.p, "Valid syntax: a ) is missing, was: %.*s",
			   STR_FMT(whole)) != NULL;
	return split_source(p, (struct str){ rest.p, rest.n - 1 }, src, text);
}

static struct simple_node *
build_jsonpath(struct simple_parser *p, struct str whole, struct str path, const struct source *src)
{
	static const enum simple_scope scopes[] = {
		[SOURCE_BODY] = 0,
		[SOURCE_HEADER] = SIMPLE_IN_HEADERS,
		[SOURCE_PROPERTY] = SIMPLE_IN_PROPERTIES,
		[SOURCE_VARIABLE] = SIMPLE_IN_VARIABLES,
	};
	struct hinny_error err;
	size_t at = 0;
	struct jsonpath_code *code = NULL;
	bool computed = simple_has_function(path);
	if (!computed && jsonpath_parse(p->arena, path, &code, &at, &err) != HINNY_OK)
		return simple_error(p, path.p + at, "%s", err.text);
	struct simple_node *node = simple_node_new(p, SIMPLE_JSONPATH, whole.p, computed);
	node->u.jsonpath.code = code;
	if (computed) {
		node->kids[0] = simple_parse_template(p, path, 0);
		if (node->kids[0] == NULL)
			return NULL;
	}
	if (src->kind == SOURCE_BODY) {
		(void)simple_body(p, whole.p);
		return node;
	}
	struct simple_key *key = &node->u.jsonpath.from;
	*key = (struct simple_key){
		.scope = scopes[src->kind], .full = src->name, .full_hash = str_casehash(src->name)
	};
	simple_record_key(p, key);
	return node;
}

struct simple_node *
simple_form_jsonpath(struct simple_parser *p, struct str whole, struct str rest)
{
	struct source src;
	struct str text;
	return document_args(p, whole, rest, &src, &text) ? build_jsonpath(p, whole, text, &src)
							  : NULL;
}

/* "a.b[0]" is the path $.a.b[0]; with "?." in it a path that is not there gives null. */
struct simple_node *
simple_form_simple_jsonpath(struct simple_parser *p, struct str whole, struct str rest)
{
	struct source src;
	struct str text;
	if (!document_args(p, whole, rest, &src, &text))
		return NULL;
	struct str plain = text_replace(p->arena, text, STR_LIT("?."), STR_LIT("."));
	struct str path = str_of(arena_printf(p->arena, "$.%.*s", STR_FMT(plain)));
	struct simple_node *node = build_jsonpath(p, whole, path, &src);
	if (node != NULL && plain.n != text.n)
		node->u.jsonpath.options = JSONPATH_SUPPRESS;
	return node;
}

/* An expression of its own, which its owner evaluates on the message itself; *src is where its document
 * is. NULL: reported. */
static struct expression *
build_part(struct simple_parser *p, struct str whole, struct str rest, const char *language,
    struct source *src)
{
	struct str text;
	if (!document_args(p, whole, rest, src, &text))
		return NULL;
	if (simple_has_function(text)) {
		simple_error(p, text.p, "an expression of %s with functions in it is not supported within Simple",
		    language);
		return NULL;
	}
	if (p->in_chain) {
		simple_error(p, whole.p,
		    "function %s cannot be used behind ~> or on items: it is evaluated by "
		    "another process, on the message itself",
		    language);
		return NULL;
	}
	struct expression *part = compile_expression(
	    p->c, language, arena_strndup(p->arena, text.p, text.n), false, p->e->at);
	if (part == NULL)
		p->failed = true; /* it has reported */
	return part;
}

static struct simple_node *
add_part(struct simple_parser *p, struct str whole, struct expression *part)
{
	struct expression **parts = arena_alloc(p->arena, (p->e->parts_n + 1) * sizeof *parts);
	if (p->e->parts_n > 0)
		memcpy(parts, p->e->parts, p->e->parts_n * sizeof *parts);
	parts[p->e->parts_n++] = part;
	p->e->parts = parts;
	access_merge(p->c, &p->e->reads, &part->reads);
	struct simple_node *node = simple_node_new(p, SIMPLE_PART, whole.p, 0);
	node->u.part = part;
	return node;
}

struct simple_node *
simple_form_xpath(struct simple_parser *p, struct str whole, struct str rest)
{
	struct source src;
	struct expression *part = build_part(p, whole, rest, "xpath", &src);
	if (part == NULL)
		return NULL;
	if (src.kind != SOURCE_BODY) {
		((struct xpath_conf *)part->conf)->source = src;
		part->reads.flags &= ~(unsigned)ACCESS_BODY;
		source_record(p->c, part, &src);
	}
	return add_part(p, whole, part);
}

struct simple_node *
simple_form_jq(struct simple_parser *p, struct str whole, struct str rest)
{
	struct source src;
	struct expression *part = build_part(p, whole, rest, "jq", &src);
	if (part == NULL)
		return NULL;
	if (src.kind != SOURCE_BODY)
		jq_set_source(p->c, part, &src);
	return add_part(p, whole, part);
}
