/*
 * The engine that is libxslt. A stylesheet is compiled once; each transformation has its own
 * context and dictionary, and leaves nothing behind in the sheet. Files come from the generation's
 * folder under the folder rule (files.h), nothing can be written, and no network is asked.
 */
#include "transformers/xslt/xslt_priv.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "transformers/xml/errors.h"
#include "transformers/xml/numbers.h"
#include "transformers/xslt/save.h"
#include "transformers/xslt/xslt_check.h"
#include "transformers/xslt/xslt_elements.h"
#include "transformers/xslt/xslt_poison.h"

#include <stdlib.h>

#include <libexslt/exslt.h>
#include <libxml/parser.h>
#include <libxml/xpathInternals.h>
#include <libxslt/documents.h>
#include <libxslt/functions.h>
#include <libxslt/imports.h>
#include <libxslt/security.h>
#include <libxslt/transform.h>
#include <libxslt/variables.h>
#include <libxslt/xslt.h>
#include <libxslt/xsltutils.h>

/* Documents of the generation, not of a message: internal entities are theirs to use. */
enum { OWN_DOCUMENT = XML_PARSE_NOENT | XML_PARSE_NOCDATA | XML_PARSE_NONET | XML_PARSE_COMPACT };

struct sheet {
	xsltStylesheetPtr style;
	const char *root;   /* what document() may open */
	bool documents;     /* it calls document() */
	bool elements;      /* it calls element-available() */
	struct str *params; /* names of global xsl:param */
	size_t params_n;
	struct xslt_output_rules rules;
	int dict_size;
};

/* libxslt's loader takes no argument of ours. */
static struct xml *the_xml;

static xmlDocPtr
load_document(const xmlChar *url, xmlDictPtr dict, int options, void *arg, xsltLoadType type)
{
	struct hinny_error err;
	struct str text;
	xmlParserCtxtPtr pc;
	xmlDocPtr doc;

	(void)options;
	(void)arg;
	(void)type;
	if (xml_files_read(&the_xml->files, (const char *)url, &text, &err) != HINNY_OK) {
		xml_errors_note(&the_xml->errors, "%s", err.text);
		return NULL;
	}
	pc = xmlNewParserCtxt();
	if (!pc)
		return NULL;
	if (dict) {
		xmlDictFree(pc->dict);
		pc->dict = dict;
		(void)xmlDictReference(dict);
	}
	doc = xmlCtxtReadMemory(pc, text.p, (int)text.n, (const char *)url, NULL, OWN_DOCUMENT);
	xmlFreeParserCtxt(pc);
	return doc;
}

static void
library_setup(struct xml *x)
{
	xsltSecurityPrefsPtr prefs;

	if (the_xml)
		return;
	the_xml = x;
	xsltInit();
	exsltRegisterAll();
	xslt_poison_register();
	xsltSetLoaderFunc(load_document);
	prefs = xsltNewSecurityPrefs(); /* freed with the process */
	ASSERT(prefs != NULL);
	(void)xsltSetSecurityPrefs(prefs, XSLT_SECPREF_WRITE_FILE, xsltSecurityForbid);
	(void)xsltSetSecurityPrefs(prefs, XSLT_SECPREF_CREATE_DIRECTORY, xsltSecurityForbid);
	(void)xsltSetSecurityPrefs(prefs, XSLT_SECPREF_READ_NETWORK, xsltSecurityForbid);
	(void)xsltSetSecurityPrefs(prefs, XSLT_SECPREF_WRITE_NETWORK, xsltSecurityForbid);
	xsltSetDefaultSecurityPrefs(prefs);
}

/* ---- compiling ---- */

/*
 * The first thing that is wrong, with file and line. libxslt prints "compilation error: file F line
 * N element E\nTEXT\n"; libxml2's errors are structured, and those of an XPath within the sheet
 * have no line of their own.
 */
static enum hinny_rc
compile_failed(struct xml *x, const char *url, struct hinny_error *err)
{
	const struct xml_errors *es = &x->errors;
	const char *text = buf_cstr(&x->errors.text), *first, *end;
	char file[256] = "", element[64] = "", said[400] = "";
	int line = 0;

	if (es->line > 0)
		return hinny_error_set(err, HINNY_EINVAL,
		    "stylesheet \"%s\", line %d, column %d: %s",
		    xml_files_shown(es->file[0] ? es->file : url), es->line, es->column, es->first);
	if (es->first[0] && (!text || !strstr(text, "could not compile")))
		return hinny_error_set(
		    err, HINNY_EINVAL, "stylesheet \"%s\": %s", xml_files_shown(url), es->first);
	first = text ? strstr(text, "file ") : NULL;
	if (first && sscanf(first, "file %255s line %d element %63s", file, &line, element) >= 2 &&
	    (first = strchr(first, '\n')) != NULL) {
		first++;
		if (str_starts(str_of(first), "xslt") && strstr(first, ": "))
			first = strstr(first, ": ") + 2; /* the name of a function of the library */
		end = strchr(first, '\n');
		(void)snprintf(said, sizeof said, "%.*s",
		    end ? (int)(end - first) : (int)strlen(first),
		    first); /* a longer text is cut */
	}
	if (!said[0])
		return hinny_error_set(err, HINNY_EINVAL, "stylesheet \"%s\": %.200s",
		    xml_files_shown(url), text && text[0] ? text : "it cannot be compiled");
	return hinny_error_set(err, HINNY_EINVAL, "stylesheet \"%s\", line %d: %s%s%s",
	    xml_files_shown(file), line, said, es->first[0] ? ": " : "", es->first);
}

/* libxslt only warns of what XSLT 1.0 calls an error. A sheet of a later version is
 * forwards-compatible: what is unknown in it is left out. */
static bool
is_fatal(const char *text)
{
	if (strstr(text, "invalid value"))
		return true;
	return strstr(text, "unknown xsl:") && !strstr(text, "only 1.1 features are supported");
}

static void
read_params(struct sheet *sh)
{
	size_t cap = 0;

	for (xsltStylesheetPtr s = sh->style; s; s = xsltNextImport(s)) {
		for (xsltStackElemPtr v = s->variables; v; v = v->next) {
			if (!v->comp || v->comp->type != XSLT_FUNC_PARAM || v->nameURI)
				continue;
			if (sh->params_n == cap) {
				cap = cap ? 2 * cap : 8;
				sh->params = mem_realloc(sh->params, cap * sizeof *sh->params);
			}
			sh->params[sh->params_n++] = str_of((const char *)v->name);
		}
	}
}

static void
sheet_free(void *arg)
{
	struct sheet *sh = arg;

	if (!sh)
		return;
	xslt_rules_fini(&sh->rules);
	xsltFreeStylesheet(sh->style);
	free(sh->params);
	free(sh);
}

static enum hinny_rc
sheet_compile(struct xml *x, const char *url, void **out, struct hinny_error *err)
{
	struct sheet *sh = MEM_NEW(struct sheet);
	const char *text;
	enum hinny_rc rc;

	library_setup(x);
	sh->root = xml_files_folder(&x->files, url);
	(void)xml_files_set_root(&x->files, sh->root);
	x->files.scanned_document = x->files.scanned_element_available = false;
	xml_errors_clear(&x->errors);
	sh->style = xsltParseStylesheetFile(BAD_CAST url);
	(void)xml_files_set_root(&x->files, NULL);
	text = buf_cstr(&x->errors.text);
	if (!sh->style || sh->style->errors > 0 || x->errors.n > 0 || (text && is_fatal(text))) {
		rc = compile_failed(x, url, err);
		sheet_free(sh);
		return rc;
	}
	rc = xslt_check(sh->style, err);
	if (rc != HINNY_OK) {
		sheet_free(sh);
		return rc;
	}
	if (text && text[0])
		log_warning("stylesheet \"%s\": %s", xml_files_shown(url), text);
	sh->documents = x->files.scanned_document;
	sh->elements = x->files.scanned_element_available;
	if (sh->documents)
		xml_files_keep(&x->files, sh->root);
	rc = xslt_rules_read(&sh->rules, sh->style, err);
	if (rc != HINNY_OK) {
		sheet_free(sh);
		return rc;
	}
	read_params(sh);
	sh->dict_size = xmlDictSize(sh->style->dict);
	*out = sh;
	return HINNY_OK;
}

/* ---- transforming ---- */

/* What Camel offers by a name: variables win over headers, these over exchange properties. Names
 * are exact. */
static struct value *
find_param(struct exchange *ex, struct str name)
{
	struct value *v = exchange_variable(ex, name);
	struct header *h;

	if (v)
		return v;
	h = headers_find(&ex->headers, name);
	return h && str_eq(h->name, name) ? &h->value : exchange_property(ex, name);
}

static void
set_param(xsltTransformContextPtr tc, struct exchange *ex, struct str name, const struct value *v)
{
	struct str text = value_text(&ex->arena, v);
	const char *s = xml_chars(&ex->arena, text);

	/* truths and numbers are none of quotes' business: the text that we make of them is an
	 * expression */
	if (v->type == VALUE_BOOL)
		(void)xsltEvalOneUserParam(
		    tc, BAD_CAST name.p, BAD_CAST(v->u.b ? "true()" : "false()"));
	else if (v->type == VALUE_INT && !(v->flags & VALUE_DATE) && text.n < 16)
		(void)xsltEvalOneUserParam(tc, BAD_CAST name.p, BAD_CAST s);
	else
		(void)xsltQuoteOneUserParam(
		    tc, BAD_CAST name.p, BAD_CAST s); /* a failure is in the context's state */
}

static xmlXPathFunction
find_function(void *xpath, const xmlChar *name, const xmlChar *uri)
{
	xmlXPathFunction function = xml_number_function(name, uri);

	return function ? function : xsltXPathFunctionLookup(xpath, name, uri);
}

/* What was printed, as one line. */
static void
say_why(struct xml *x, struct xslt_result *result)
{
	const char *text = buf_cstr(&x->errors.text);
	size_t n = 0;

	for (const char *p = text ? text : ""; *p && n + 3 < sizeof result->why; p++) {
		if (*p != '\n')
			result->why[n++] = *p;
		else if (p[1])
			n += (size_t)sprintf(result->why + n, ": ");
	}
	result->why[n] = '\0';
	if (x->errors.first[0] && n + 3 < sizeof result->why)
		(void)snprintf(result->why + n, sizeof result->why - n, "%s%s", n ? ": " : "",
		    x->errors.first); /* a longer text is cut */
}

static enum xslt_rc
finish(struct xml *x, const struct sheet *sh, xsltTransformContextPtr tc, xmlDocPtr tree,
    struct xslt_result *result)
{
	enum hinny_rc rc;

	if (tc->state == XSLT_STATE_STOPPED || tc->state == XSLT_STATE_ERROR || !tree ||
	    x->errors.n > 0) {
		say_why(x, result);
		/* it stops for an expression that fails too, which libxml2 has reported */
		return tc->state == XSLT_STATE_STOPPED && x->errors.n == 0 ? XSLT_STOPPED
									   : XSLT_FAILED;
	}
	if (x->errors.text.n > 0)
		log_debug("xsl:message: %s", buf_cstr(&x->errors.text));
	buf_clear(&x->out);
	rc = xslt_save(&sh->rules, tree, &x->out);
	result->utf8 = sh->rules.utf8;
	if (rc == HINNY_OK)
		return XSLT_DONE;
	(void)snprintf(result->why, sizeof result->why, "cannot serialise the result"); /* fits */
	return rc == HINNY_ELIMIT ? XSLT_TOO_LARGE : XSLT_FAILED;
}

static enum xslt_rc
sheet_transform(struct xml *x, void *arg, struct exchange *ex, const struct value *v,
    struct xslt_result *result)
{
	struct sheet *sh = arg;
	xmlDocPtr doc = v ? xml_document_take(x, ex, v, XML_DOCTYPE_IGNORE) : xmlNewDoc(NULL), tree;
	xsltTransformContextPtr tc;
	enum xslt_rc rc;

	xslt_elements_want(sh->elements);
	tc = doc ? xsltNewTransformContext(sh->style, doc) : NULL;
	if (!tc) {
		xmlFreeDoc(doc);
		if (!ex->exception)
			exchange_fail(
			    ex, EXCEPTION_BODY_TOO_LARGE, "out of memory for a transformation");
		return XSLT_EXCEPTION;
	}
	/* names in a message that document() opens are those of files beside the sheet */
	if (sh->documents && !doc->URL)
		doc->URL = xmlStrdup(BAD_CAST sh->root);
	xml_errors_clear(&x->errors);
	xmlXPathRegisterFuncLookup(tc->xpathCtxt, find_function, tc->xpathCtxt);
	xsltSetTransformErrorFunc(tc, &x->errors, xml_errors_print);
	for (size_t i = 0; i < sh->params_n; i++) {
		const struct value *p = find_param(ex, sh->params[i]);

		if (p && p->type != VALUE_NULL)
			set_param(tc, ex, sh->params[i], p);
	}
	(void)xml_files_set_root(&x->files, sh->root);
	tree = xsltApplyStylesheetUser(sh->style, doc, NULL, NULL, NULL, tc);
	(void)xml_files_set_root(&x->files, NULL);
	rc = finish(x, sh, tc, tree, result);
	xmlFreeDoc(tree);
	xsltFreeTransformContext(tc);
	xmlFreeDoc(doc);
	/* what a message brings must not stay in the sheet */
	ASSERT(!XML_DEBUG || xmlDictSize(sh->style->dict) == sh->dict_size);
	return rc;
}

const struct xslt_engine_ops xslt_libxslt = {
	.name = "libxslt",
	.compile = sheet_compile,
	.transform = sheet_transform,
	.free = sheet_free,
};
