/*
 * Serialises result trees. The common case, XML in UTF-8 without indentation, is written by our own
 * writer straight into the buffer; indentation, HTML and other encodings go through libxml2. The
 * XML declaration is written here, as Camel's processor does: with the encoding, and without a line
 * end behind it.
 */
#include "transformers/xslt/save.h"

#include "core/base/str.h"
#include "transformers/xml/write.h"

#include <libxml/HTMLtree.h>
#include <libxml/encoding.h>
#include <libxml/xmlIO.h>
#include <libxslt/imports.h>
#include <libxslt/xsltutils.h>

static bool
is_utf8(const char *encoding)
{
	struct str s = str_of(encoding);

	return !encoding || str_caseeq(s, STR_LIT("UTF-8")) || str_caseeq(s, STR_LIT("UTF8")) ||
	    str_caseeq(s, STR_LIT("US-ASCII"));
}

static enum hinny_rc
read_method(
    struct xslt_output_rules *rules, const char *method, const char *uri, struct hinny_error *err)
{
	struct str s = str_of(method);

	if (!method)
		rules->method = XSLT_METHOD_UNSET;
	else if (str_eq(s, STR_LIT("xml")))
		rules->method = XSLT_METHOD_XML;
	else if (str_eq(s, STR_LIT("html")))
		rules->method = XSLT_METHOD_HTML;
	else if (str_eq(s, STR_LIT("text")))
		rules->method = XSLT_METHOD_TEXT;
	else
		return hinny_error_set(err, HINNY_EINVAL,
		    "xsl:output: unknown method \"%s\"%s%s, expected xml, html or text", method,
		    uri ? " of " : "", uri ? uri : "");
	return HINNY_OK;
}

enum hinny_rc
xslt_rules_read(struct xslt_output_rules *rules, xsltStylesheetPtr style, struct hinny_error *err)
{
	const xmlChar *method, *uri, *encoding, *version;
	int indent, omit;
	enum hinny_rc rc;

	XSLT_GET_IMPORT_PTR(method, style, method)
	XSLT_GET_IMPORT_PTR(uri, style, methodURI)
	XSLT_GET_IMPORT_PTR(encoding, style, encoding)
	XSLT_GET_IMPORT_PTR(version, style, version)
	XSLT_GET_IMPORT_INT(indent, style, indent)
	XSLT_GET_IMPORT_INT(omit, style, omitXmlDeclaration)
	XSLT_GET_IMPORT_INT(rules->standalone, style, standalone)
	rc = read_method(rules, (const char *)method, (const char *)uri, err);
	if (rc != HINNY_OK)
		return rc;
	rules->encoding = (const char *)encoding;
	rules->utf8 = is_utf8(rules->encoding);
	rules->version = version ? (const char *)version : "1.0";
	rules->indent = indent == 1;
	rules->indent_given = indent != -1;
	rules->omit_declaration = omit == 1;
	if (rules->utf8)
		return HINNY_OK;
	rules->keeps = xmlFindCharEncodingHandler(rules->encoding);
	if (!rules->keeps)
		return hinny_error_set(
		    err, HINNY_EINVAL, "xsl:output: unknown encoding \"%s\"", rules->encoding);
	return HINNY_OK;
}

void
xslt_rules_fini(struct xslt_output_rules *rules)
{
	if (rules->keeps)
		(void)xmlCharEncCloseFunc(rules->keeps); /* nothing to do about a failure */
	rules->keeps = NULL;
}

/* ---- by libxml2 ---- */

struct sink {
	struct buf *b;
	enum hinny_rc rc;
};

static int
sink_write(void *arg, const char *p, int n)
{
	struct sink *s = arg;

	if (s->rc == HINNY_OK)
		s->rc = buf_add(s->b, p, (size_t)n);
	return s->rc == HINNY_OK ? n : -1;
}

static void
dump_nodes(const struct xslt_output_rules *rules, xmlDocPtr result, xmlOutputBufferPtr out)
{
	for (xmlNodePtr n = result->children; n; n = n->next) {
		xmlNodeDumpOutput(
		    out, result, n, 0, rules->indent, rules->encoding ? rules->encoding : "UTF-8");
		if (n->type == XML_DTD_NODE ||
		    (rules->indent && n->type == XML_COMMENT_NODE && n->next))
			(void)xmlOutputBufferWriteString(
			    out, "\n"); /* errors are kept in the sink */
	}
	if (rules->indent)
		(void)xmlOutputBufferWriteString(out, "\n");
}

static void
dump_declaration(const struct xslt_output_rules *rules, struct buf *text)
{
	(void)buf_printf(text, "<?xml version=\"%s\" encoding=\"%s\"%s?>", rules->version,
	    rules->encoding ? rules->encoding : "UTF-8",
	    rules->standalone == 1       ? " standalone=\"yes\""
		: rules->standalone == 0 ? " standalone=\"no\""
					 : "");
}

static void
dump_html(const struct xslt_output_rules *rules, xmlDocPtr result, xmlOutputBufferPtr out)
{
	const char *encoding = rules->encoding ? rules->encoding : "UTF-8";

	(void)htmlSetMetaEncoding(
	    result, BAD_CAST encoding); /* without a head there is nothing to set */
	htmlDocContentDumpFormatOutput(
	    out, result, encoding, rules->indent || !rules->indent_given);
}

static enum hinny_rc
save_by_library(
    const struct xslt_output_rules *rules, xmlDocPtr result, enum xslt_method method, struct buf *b)
{
	struct sink sink = { b, HINNY_OK };
	xmlCharEncodingHandlerPtr encoder =
	    rules->utf8 ? NULL : xmlFindCharEncodingHandler(rules->encoding);
	xmlOutputBufferPtr out = xmlOutputBufferCreateIO(sink_write, NULL, &sink, encoder);
	struct buf text;

	if (!out || (!rules->utf8 && !encoder)) {
		(void)xmlOutputBufferClose(out);
		return HINNY_EIO;
	}
	buf_init(&text, b->max);
	if (method == XSLT_METHOD_HTML) {
		dump_html(rules, result, out);
	} else if (method == XSLT_METHOD_TEXT) {
		sink.rc = xml_write_plain(&text, (xmlNodePtr)result);
	} else {
		if (!rules->omit_declaration)
			dump_declaration(rules, &text);
	}
	/* what we made ourselves goes through the encoder too; an error is kept in the sink */
	if (text.n > 0)
		(void)xmlOutputBufferWrite(out, (int)text.n, text.p);
	if (method == XSLT_METHOD_XML)
		dump_nodes(rules, result, out);
	buf_fini(&text);
	(void)xmlOutputBufferClose(out);
	if (sink.rc == HINNY_OK && method == XSLT_METHOD_HTML && b->n > 0 && b->p[b->n - 1] == '\n')
		b->n--; /* the line end that the library puts behind a document */
	return sink.rc;
}

/* ---- by ourselves ---- */

static enum hinny_rc
save_plainly(const struct xslt_output_rules *rules, xmlDocPtr result, struct buf *b)
{
	enum hinny_rc rc = HINNY_OK;

	if (!rules->omit_declaration)
		dump_declaration(rules, b);
	for (const xmlNode *n = result->children; n && rc == HINNY_OK; n = n->next)
		rc = xml_write_node(b, n);
	return rc;
}

enum hinny_rc
xslt_save(const struct xslt_output_rules *rules, xmlDocPtr result, struct buf *b)
{
	enum xslt_method method = rules->method;

	if (method == XSLT_METHOD_UNSET)
		method =
		    result->type == XML_HTML_DOCUMENT_NODE ? XSLT_METHOD_HTML : XSLT_METHOD_XML;
	if (method == XSLT_METHOD_TEXT && rules->utf8)
		return xml_write_plain(b, (xmlNodePtr)result);
	if (method == XSLT_METHOD_XML && rules->utf8 && !rules->indent)
		return save_plainly(rules, result, b);
	return save_by_library(rules, result, method, b);
}
