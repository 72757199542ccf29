/* See xslt_check.h. Two walks over the trees: the first gathers what is defined, the second looks
 * at what is used. */
#include "transformers/xslt/xslt_check.h"

#include "core/base/mem.h"
#include "core/base/str.h"
#include "transformers/xml/files.h"
#include "transformers/xml/functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/tree.h>
#include <libxslt/extensions.h>
#include <libxslt/imports.h>

#define FUNCTIONS_URI "http://exslt.org/functions"

struct name {
	const char *uri; /* NULL: none */
	struct str local;
};

struct names {
	struct name *items;
	size_t n, cap;
};

struct check {
	xsltStylesheetPtr style;
	struct names variables, templates, functions;
	bool asks; /* it calls function-available() or the like */
	struct hinny_error *err;
};

static const char *const known_elements[] = { "apply-imports", "apply-templates", "attribute",
	"attribute-set", "call-template", "choose", "comment", "copy", "copy-of", "decimal-format",
	"document", "element", "fallback", "for-each", "if", "import", "include", "key", "message",
	"namespace-alias", "number", "otherwise", "output", "param", "preserve-space",
	"processing-instruction", "sort", "strip-space", "stylesheet", "template", "text",
	"transform", "value-of", "variable", "when", "with-param", NULL };

static bool
is_among(struct str s, const char *const *words)
{
	for (; *words; words++) {
		if (str_eq(s, str_of(*words)))
			return true;
	}
	return false;
}

static bool
is_xslt(const xmlNode *e)
{
	return e->ns && xmlStrEqual(e->ns->href, XSLT_NAMESPACE);
}

static bool
is_named(const xmlNode *e, const char *local)
{
	return strcmp((const char *)e->name, local) == 0;
}

static enum hinny_rc
wrong(struct check *k, const xmlNode *e, const char *what, struct str name)
{
	return hinny_error_set(k->err, HINNY_EINVAL, "stylesheet \"%s\", line %ld: %s \"%.*s\"",
	    xml_files_shown(e->doc->URL ? (const char *)e->doc->URL : ""), xmlGetLineNo(e), what,
	    STR_FMT(name));
}

/* ---- names ---- */

static bool
is_name_char(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80;
}

static struct str
name_at(const char *p)
{
	const char *start = p;

	while (is_name_char((unsigned char)*p))
		p++;
	return (struct str){ start, (size_t)(p - start) };
}

/* The QName at *p, which is left behind it; n->local is empty for "p:*". */
static enum hinny_rc
take_name(struct check *k, xmlNode *e, const char **p, struct name *n)
{
	struct str prefix = name_at(*p);
	char text[64];

	*n = (struct name){ NULL, prefix };
	*p += prefix.n;
	if ((*p)[0] != ':' || (*p)[1] == ':' || prefix.n == 0 || prefix.n >= sizeof text)
		return HINNY_OK;
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(prefix)); /* fits */
	xmlNsPtr ns = xmlSearchNs(e->doc, e, BAD_CAST text);
	if (!ns)
		return wrong(k, e, "no namespace is declared for the prefix", prefix);
	*n = (struct name){ (const char *)ns->href, name_at(*p + 1) };
	*p += 1 + n->local.n;
	return HINNY_OK;
}

static bool
has(const struct names *list, const struct name *n)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct name *o = &list->items[i];
		if (str_eq(o->local, n->local) &&
		    (o->uri && n->uri ? strcmp(o->uri, n->uri) == 0 : o->uri == n->uri))
			return true;
	}
	return false;
}

/* The value of an attribute that is plain text; NULL when there is none. */
static const char *
attribute(const xmlNode *e, const char *name)
{
	xmlAttrPtr a = xmlHasNsProp(e, BAD_CAST name, NULL);

	return a && a->children && !a->children->next ? (const char *)a->children->content : NULL;
}

static enum hinny_rc
define(struct check *k, xmlNode *e, struct names *list)
{
	const char *text = attribute(e, "name");
	struct name n;

	if (!text)
		return HINNY_OK;
	text += strspn(text, " \t\r\n");
	enum hinny_rc rc = take_name(k, e, &text, &n);
	if (rc != HINNY_OK)
		return rc;
	if (list->n == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 16;
		list->items = mem_realloc(list->items, list->cap * sizeof *list->items);
	}
	list->items[list->n++] = n;
	return HINNY_OK;
}

static enum hinny_rc
gather(struct check *k, xmlNode *e)
{
	for (xmlAttrPtr a = e->properties; a; a = a->next) {
		const char *text = a->children ? (const char *)a->children->content : NULL;
		if (text && (strstr(text, "-available") || strstr(text, "system-property")))
			k->asks = true;
	}
	if (is_xslt(e) && (is_named(e, "variable") || is_named(e, "param")))
		return define(k, e, &k->variables);
	if (is_xslt(e) && is_named(e, "template"))
		return define(k, e, &k->templates);
	if (e->ns && xmlStrEqual(e->ns->href, BAD_CAST FUNCTIONS_URI) && is_named(e, "function"))
		return define(k, e, &k->functions);
	return HINNY_OK;
}

/* ---- expressions ---- */

/* Is the name at p an operator? Only behind an operand, which ends so. */
static bool
is_operator(const char *start, const char *p)
{
	static const char *const operators[] = { "and", "or", "div", "mod", NULL };
	struct str name = name_at(p);

	while (p > start && strchr(" \t\r\n", p[-1]))
		p--;
	return p > start && (is_name_char((unsigned char)p[-1]) || strchr(")]*'\"", p[-1])) &&
	    is_among(name, operators);
}

/* p: at the "(" of its call */
static bool
is_function(struct check *k, const struct name *n, const char *p)
{
	char local[128];

	if (!n->uri) {
		const struct xml_function *f = xml_function_find(n->local, true);
		return f ? xml_function_takes(f, p) : k->asks;
	}
	if (k->asks)
		return true;
	if (n->local.n >= sizeof local || has(&k->functions, n))
		return true;
	(void)snprintf(local, sizeof local, "%.*s", STR_FMT(n->local)); /* fits */
	return xsltExtModuleFunctionLookup(BAD_CAST local, BAD_CAST n->uri) != NULL;
}

static enum hinny_rc
check_word(struct check *k, xmlNode *e, const char *start, const char **p)
{
	struct name n;
	const char *at = *p;

	if (*at == '$') {
		*p += 1;
		*p += strspn(*p, " \t\r\n");
		enum hinny_rc rc = take_name(k, e, p, &n);
		return rc != HINNY_OK || n.local.n == 0 || has(&k->variables, &n)
		    ? rc
		    : wrong(k, e, "no variable or parameter is called", n.local);
	}
	if (is_operator(start, at)) {
		*p += name_at(at).n;
		return HINNY_OK;
	}
	enum hinny_rc rc = take_name(k, e, p, &n);
	if (rc != HINNY_OK)
		return rc;
	const char *next = *p + strspn(*p, " \t\r\n");
	return *next != '(' || n.local.n == 0 || is_function(k, &n, next)
	    ? HINNY_OK
	    : wrong(k, e, "there is no function with these arguments:", n.local);
}

/* The names in text up to `end`. */
static enum hinny_rc
check_expression(struct check *k, xmlNode *e, const char *text, const char *end)
{
	enum hinny_rc rc = HINNY_OK;

	for (const char *p = text; rc == HINNY_OK && p < end && *p;) {
		unsigned char c = (unsigned char)*p;
		if (c == '"' || c == '\'') {
			const char *close = strchr(p + 1, c);
			if (!close)
				break; /* the compiler has said so */
			p = close + 1;
		} else if (isdigit(c) || (c == '.' && isdigit((unsigned char)p[1]))) {
			p += strspn(p, "0123456789.");
		} else if (isalpha(c) || c == '_' || c == '$' || c >= 0x80) {
			rc = check_word(k, e, text, &p);
		} else if (c == '|' && xml_union_is_open(p)) {
			rc = wrong(k, e, "an operand is missing behind | in", str_of(text));
		} else {
			p++;
		}
	}
	return rc;
}

/* "a{expression}b{{c}}" */
static enum hinny_rc
check_template(struct check *k, xmlNode *e, const char *text)
{
	enum hinny_rc rc = HINNY_OK;

	while (rc == HINNY_OK && (text = strchr(text, '{')) != NULL) {
		const char *end = ++text;
		if (*text == '{') {
			text++;
			continue;
		}
		while (*end && *end != '}') {
			const char *close =
			    *end == '"' || *end == '\'' ? strchr(end + 1, *end) : end;
			end = close ? close + 1 : end + 1;
		}
		rc = check_expression(k, e, text, end);
		text = end;
	}
	return rc;
}

/* ---- elements ---- */

static bool
is_expression(const char *attribute_name)
{
	static const char *const names[] = { "select", "test", "match", "use", "count", "from",
		"value", NULL };

	return is_among(str_of(attribute_name), names);
}

static enum hinny_rc
check_attributes(struct check *k, xmlNode *e)
{
	enum hinny_rc rc = HINNY_OK;
	bool ours = is_xslt(e);

	if (!ours && e->ns && xsltCheckExtURI(k->style, e->ns->href))
		return HINNY_OK; /* the instruction's own business */
	for (xmlAttrPtr a = e->properties; a && rc == HINNY_OK; a = a->next) {
		const char *name = (const char *)a->name, *text = attribute(e, name);
		if (a->ns || !text)
			continue;
		if (ours && is_expression(name))
			rc = check_expression(k, e, text, text + strlen(text));
		else if (!ours || is_named(e, "element") || is_named(e, "attribute") ||
		    is_named(e, "processing-instruction") || is_named(e, "sort") ||
		    is_named(e, "number"))
			rc = check_template(k, e, text);
	}
	return rc;
}

static bool
has_fallback(const xmlNode *e)
{
	for (const xmlNode *c = e->children; c; c = c->next) {
		if (c->type == XML_ELEMENT_NODE && is_xslt(c) && is_named(c, "fallback"))
			return true;
	}
	return false;
}

/* *skip: what is in it is not looked at. */
static enum hinny_rc
check_element(struct check *k, xmlNode *e, bool *skip)
{
	struct name n;
	const char *text;

	*skip = false;
	if (is_xslt(e) && !is_among(str_of((const char *)e->name), known_elements)) {
		*skip = true;
		if (has_fallback(e) || k->asks || !e->parent ||
		    e->parent == xmlDocGetRootElement(e->doc))
			return HINNY_OK; /* XSLT 1.0, section 2.5 */
		return wrong(k, e, "only XSLT 1.0 is available, which has no instruction",
		    str_of((const char *)e->name));
	}
	if (is_xslt(e) && is_named(e, "call-template") && (text = attribute(e, "name")) != NULL) {
		text += strspn(text, " \t\r\n");
		enum hinny_rc rc = take_name(k, e, &text, &n);
		if (rc == HINNY_OK && !has(&k->templates, &n))
			rc = wrong(k, e, "no template is called", n.local);
		if (rc != HINNY_OK)
			return rc;
	}
	return check_attributes(k, e);
}

/* ---- walking ---- */

static xmlNode *
next_node(xmlNode *n, const xmlNode *root, bool skip)
{
	if (!skip && n->type == XML_ELEMENT_NODE && n->children)
		return n->children;
	while (n != root && !n->next)
		n = n->parent;
	return n == root ? NULL : n->next;
}

static enum hinny_rc
walk_document(struct check *k, xmlDocPtr doc, bool second)
{
	xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
	enum hinny_rc rc = HINNY_OK;
	bool skip;

	for (xmlNode *n = root; n && rc == HINNY_OK; n = next_node(n, root, skip)) {
		skip = false;
		if (n->type == XML_ELEMENT_NODE)
			rc = second ? check_element(k, n, &skip) : gather(k, n);
	}
	return rc;
}

static enum hinny_rc
walk_all(struct check *k, bool second)
{
	enum hinny_rc rc = HINNY_OK;

	for (xsltStylesheetPtr s = k->style; s && rc == HINNY_OK; s = xsltNextImport(s)) {
		rc = walk_document(k, s->doc, second);
		for (xsltDocumentPtr d = s->docList; d && rc == HINNY_OK; d = d->next)
			rc = walk_document(k, d->doc, second);
	}
	return rc;
}

enum hinny_rc
xslt_check(xsltStylesheetPtr style, struct hinny_error *err)
{
	struct check k = { .style = style, .err = err };
	enum hinny_rc rc = walk_all(&k, false);

	if (rc == HINNY_OK)
		rc = walk_all(&k, true);
	free(k.variables.items);
	free(k.templates.items);
	free(k.functions.items);
	return rc;
}
