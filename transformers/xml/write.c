/*
 * Serialiser: see write.h. It walks without recursion, since the depth of a result tree is the
 * stylesheet's to choose. Errors are sticky: the buffer's bound is noted and the rest is skipped.
 */
#include "transformers/xml/write.h"

#include "core/base/assert.h"

#include <stdbool.h>

#include <libxml/parserInternals.h>

struct writer {
	struct buf *b;
	enum hinny_rc rc;
};

static inline void
put(struct writer *w, const char *p, size_t n)
{
	if (w->b->cap - w->b->n >= n && (w->b->max == 0 || w->b->n + n <= w->b->max)) {
		memcpy(w->b->p + w->b->n, p, n);
		w->b->n += n;
	} else if (w->rc == HINNY_OK) {
		w->rc = buf_add(w->b, p, n);
	}
}

#define PUT(w, literal) put((w), "" literal, sizeof(literal) - 1)

static inline void
put_str(struct writer *w, const xmlChar *s)
{
	put(w, (const char *)s, strlen((const char *)s));
}

/* What stands for a byte; NULL: itself. Two sets: in text, in an attribute's value. */
static const struct {
	const char *text, *attribute;
} escapes[256] = {
	['&'] = { "&amp;", "&amp;" },
	['<'] = { "&lt;", "&lt;" },
	['>'] = { "&gt;", "&gt;" },
	['"'] = { NULL, "&quot;" },
	['\t'] = { NULL, "&#9;" },
	['\n'] = { NULL, "&#10;" },
	['\r'] = { "&#13;", "&#13;" },
};

static void
put_escaped(struct writer *w, const xmlChar *s, bool attribute)
{
	const unsigned char *from = s;

	for (; *s; s++) {
		const char *escape = attribute ? escapes[*s].attribute : escapes[*s].text;

		if (escape) {
			put(w, (const char *)from, (size_t)(s - from));
			put(w, escape, strlen(escape));
			from = s + 1;
		}
	}
	put(w, (const char *)from, (size_t)(s - from));
}

static void
put_name(struct writer *w, const xmlNs *ns, const xmlChar *name)
{
	if (ns && ns->prefix) {
		put_str(w, ns->prefix);
		PUT(w, ":");
	}
	put_str(w, name);
}

static void
put_ns(struct writer *w, const xmlNs *ns)
{
	PUT(w, " xmlns");
	if (ns->prefix) {
		PUT(w, ":");
		put_str(w, ns->prefix);
	}
	PUT(w, "=\"");
	if (ns->href)
		put_escaped(w, ns->href, true);
	PUT(w, "\"");
}

static void
put_attribute(struct writer *w, const xmlAttr *attr)
{
	PUT(w, " ");
	put_name(w, attr->ns, attr->name);
	PUT(w, "=\"");
	for (const xmlNode *n = attr->children; n; n = n->next)
		if (n->type == XML_TEXT_NODE && n->content)
			put_escaped(w, n->content, true);
	PUT(w, "\"");
}

/* "]]>" may not stand in a CDATA section: it is cut in two. */
static void
put_cdata(struct writer *w, const xmlChar *s)
{
	const char *from = (const char *)s, *end;

	PUT(w, "<![CDATA[");
	while ((end = strstr(from, "]]>")) != NULL) {
		put(w, from, (size_t)(end + 2 - from));
		PUT(w, "]]><![CDATA[");
		from = end + 2;
	}
	put(w, from, strlen(from));
	PUT(w, "]]>");
}

static void
put_dtd(struct writer *w, const xmlDtd *dtd)
{
	PUT(w, "<!DOCTYPE ");
	put_str(w, dtd->name);
	if (dtd->ExternalID) {
		PUT(w, " PUBLIC \"");
		put_str(w, dtd->ExternalID);
		PUT(w, "\"");
	} else if (dtd->SystemID) {
		PUT(w, " SYSTEM");
	}
	if (dtd->SystemID) {
		PUT(w, " \"");
		put_str(w, dtd->SystemID);
		PUT(w, "\"");
	}
	PUT(w, ">\n");
}

/* Writes what begins a node; true: its children follow, then close_node. */
static bool
open_node(struct writer *w, const xmlNode *n, const xmlNs *more)
{
	switch (n->type) {
	case XML_ELEMENT_NODE:
		PUT(w, "<");
		put_name(w, n->ns, n->name);
		for (const xmlNs *ns = n->nsDef; ns; ns = ns->next)
			put_ns(w, ns);
		for (const xmlNs *ns = more; ns; ns = ns->next)
			put_ns(w, ns);
		for (const xmlAttr *attr = n->properties; attr; attr = attr->next)
			put_attribute(w, attr);
		if (!n->children) {
			PUT(w, "/>");
			return false;
		}
		PUT(w, ">");
		return true;
	case XML_TEXT_NODE:
		if (n->content && n->name == xmlStringTextNoenc)
			put_str(w, n->content);
		else if (n->content)
			put_escaped(w, n->content, false);
		return false;
	case XML_CDATA_SECTION_NODE:
		put_cdata(w, n->content ? n->content : BAD_CAST "");
		return false;
	case XML_COMMENT_NODE:
		PUT(w, "<!--");
		if (n->content)
			put_str(w, n->content);
		PUT(w, "-->");
		return false;
	case XML_PI_NODE:
		PUT(w, "<?");
		put_str(w, n->name);
		if (n->content) {
			PUT(w, " ");
			put_str(w, n->content);
		}
		PUT(w, "?>");
		return false;
	case XML_DTD_NODE:
		put_dtd(w, (const xmlDtd *)n);
		return false;
	case XML_DOCUMENT_NODE:
	case XML_HTML_DOCUMENT_NODE:
	case XML_DOCUMENT_FRAG_NODE:
		return n->children != NULL;
	default: /* entity references do not occur: documents with entities are refused */
		return false;
	}
}

static void
close_node(struct writer *w, const xmlNode *n)
{
	if (n->type != XML_ELEMENT_NODE)
		return;
	PUT(w, "</");
	put_name(w, n->ns, n->name);
	PUT(w, ">");
}

static void
walk(struct writer *w, const xmlNode *top, const xmlNs *more)
{
	const xmlNode *n = top;

	for (;;) {
		if (open_node(w, n, n == top ? more : NULL)) {
			n = n->children;
			continue;
		}
		while (n != top && !n->next) {
			n = n->parent;
			close_node(w, n);
		}
		if (n == top)
			return;
		n = n->next;
	}
}

enum hinny_rc
xml_write_node(struct buf *b, const xmlNode *node)
{
	struct writer w = { b, HINNY_OK };

	walk(&w, node, NULL);
	return w.rc;
}

/* ---- namespaces from further up ---- */

enum { NS_MAX = 64 };

struct outer {
	xmlNs ns[NS_MAX]; /* copies, chained */
	unsigned n;
};

static bool
declared_within(const xmlNs *ns, const xmlNode *from, const xmlNode *top)
{
	for (const xmlNode *n = from;; n = n->parent) {
		for (const xmlNs *def = n->nsDef; def; def = def->next)
			if (def == ns)
				return true;
		if (n == top)
			return false;
	}
}

static void
need_ns(struct outer *o, const xmlNs *ns, const xmlNode *at, const xmlNode *top)
{
	if (!ns || (ns->prefix && strcmp((const char *)ns->prefix, "xml") == 0) ||
	    declared_within(ns, at, top))
		return;
	for (unsigned i = 0; i < o->n; i++)
		if (xmlStrEqual(o->ns[i].prefix, ns->prefix))
			return;
	if (o->n == NS_MAX)
		return;
	o->ns[o->n] = *ns;
	o->ns[o->n].next = NULL;
	if (o->n > 0)
		o->ns[o->n - 1].next = &o->ns[o->n];
	o->n++;
}

/* Next node in document order within top; NULL at the end. */
static const xmlNode *
next_node(const xmlNode *n, const xmlNode *top)
{
	if (n->type == XML_ELEMENT_NODE && n->children)
		return n->children;
	while (n != top && !n->next)
		n = n->parent;
	return n == top ? NULL : n->next;
}

enum hinny_rc
xml_write_alone(struct buf *b, xmlNode *node)
{
	struct writer w = { b, HINNY_OK };
	struct outer o;

	o.n = 0;
	if (node->type == XML_ELEMENT_NODE && node->parent &&
	    node->parent->type == XML_ELEMENT_NODE) {
		for (const xmlNode *n = node; n; n = next_node(n, node)) {
			if (n->type != XML_ELEMENT_NODE)
				continue;
			need_ns(&o, n->ns, n, node);
			for (const xmlAttr *attr = n->properties; attr; attr = attr->next)
				need_ns(&o, attr->ns, n, node);
		}
	}
	walk(&w, node, o.n > 0 ? o.ns : NULL);
	return w.rc;
}

/* ---- results of XPath ---- */

static void
put_result(struct writer *w, xmlNode *n)
{
	switch (n->type) {
	case XML_ELEMENT_NODE:
	case XML_DOCUMENT_NODE:
		if (w->rc == HINNY_OK)
			w->rc = xml_write_alone(w->b, n);
		break;
	case XML_ATTRIBUTE_NODE:
		for (const xmlNode *c = n->children; c; c = c->next)
			if (c->content)
				put_str(w, c->content);
		break;
	case XML_NAMESPACE_DECL:
		if (((const xmlNs *)n)->href)
			put_str(w, ((const xmlNs *)n)->href);
		break;
	default: /* text, comments, processing instructions */
		if (n->content)
			put_str(w, n->content);
	}
}

enum hinny_rc
xml_write_nodes(struct buf *b, const xmlNodeSet *nodes)
{
	struct writer w = { b, HINNY_OK };

	for (int i = 0; nodes && i < nodes->nodeNr && w.rc == HINNY_OK; i++)
		put_result(&w, nodes->nodeTab[i]);
	return w.rc;
}

enum hinny_rc
xml_write_text(struct buf *b, const char *s)
{
	struct writer w = { b, HINNY_OK };

	put_escaped(&w, (const xmlChar *)s, false);
	return w.rc;
}

enum hinny_rc
xml_write_attribute(struct buf *b, const char *s)
{
	struct writer w = { b, HINNY_OK };

	put_escaped(&w, (const xmlChar *)s, true);
	return w.rc;
}

enum hinny_rc
xml_write_plain(struct buf *b, const xmlNode *node)
{
	struct writer w = { b, HINNY_OK };
	const xmlNode *n = node;

	for (;;) {
		if ((n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE) && n->content)
			put_str(&w, n->content);
		if ((n->type == XML_ELEMENT_NODE || n->type == XML_DOCUMENT_NODE ||
			n->type == XML_HTML_DOCUMENT_NODE) &&
		    n->children) {
			n = n->children;
			continue;
		}
		while (n != node && !n->next)
			n = n->parent;
		if (n == node)
			return w.rc;
		n = n->next;
	}
}
