/*
 * Documents of messages: parsed within the limits, under our rules on the DOCTYPE, which hang on
 * the parser's SAX callbacks.
 */
#include "transformers/xml/errors.h"
#include "transformers/xml/xml.h"

#include <limits.h>
#include <stdlib.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

struct xml_text
xml_text_of(struct exchange *ex, const struct value *v)
{
	bool raw = v->type == VALUE_BYTES || (v->flags & VALUE_INPUT);

	return (struct xml_text){ value_has_text(v) ? v->u.s : value_text(&ex->arena, v), !raw };
}

const char *
xml_chars(struct arena *a, struct str s)
{
	char *out, *p;

	if (str_utf8_valid(s))
		return arena_strndup(a, s.p, s.n);
	p = out = arena_alloc(a, 2 * s.n + 1);
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c >= 0x80)
			*p++ = (char)(0xc0 | c >> 6);
		*p++ = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
	}
	*p = '\0';
	return out;
}

static void
refuse(void *arg, const char *what)
{
	xmlParserCtxtPtr pc = arg;

	xml_errors_note_at(xml_errors_hooked(), pc->input ? pc->input->line : 0,
	    pc->input ? pc->input->col : 0, "%s", what);
	pc->wellFormed = 0;
	xmlStopParser(pc);
}

/* SAX: a DOCTYPE where none may be. */
static void
on_doctype(void *arg, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
	(void)name;
	(void)external;
	(void)system;
	refuse(arg, "DOCTYPE is disallowed");
}

/* SAX: declarations of an internal subset. */
static void
on_entity(void *arg, const xmlChar *name, int type, const xmlChar *public, const xmlChar *system,
    xmlChar *content)
{
	(void)name;
	(void)type;
	(void)public;
	(void)system;
	(void)content;
	refuse(arg, "the DOCTYPE declares an entity: entities are not expanded");
}

static void
on_attribute(void *arg, const xmlChar *element, const xmlChar *name, int type, int def,
    const xmlChar *value, xmlEnumerationPtr tree)
{
	(void)element;
	(void)name;
	(void)type;
	(void)def;
	(void)value;
	xmlFreeEnumeration(tree);
	refuse(arg, "the DOCTYPE declares attributes: an internal subset is not supported");
}

static void
on_element(void *arg, const xmlChar *name, int type, xmlElementContentPtr content)
{
	(void)name;
	(void)type;
	(void)content;
	refuse(arg, "the DOCTYPE declares elements: an internal subset is not supported");
}

static void
on_notation(void *arg, const xmlChar *name, const xmlChar *public, const xmlChar *system)
{
	(void)name;
	(void)public;
	(void)system;
	refuse(arg, "the DOCTYPE declares a notation: an internal subset is not supported");
}

static void
on_unparsed(void *arg, const xmlChar *name, const xmlChar *public, const xmlChar *system,
    const xmlChar *notation)
{
	(void)name;
	(void)public;
	(void)system;
	(void)notation;
	refuse(arg, "the DOCTYPE declares an entity: entities are not expanded");
}

/* SAX: a reference to an entity that is none of the five. */
static void
on_reference(void *arg, const xmlChar *name)
{
	(void)name;
	refuse(arg, "an entity that is not predefined: entities are not expanded");
}

static void
set_rules(xmlParserCtxtPtr pc, enum xml_doctype doctype)
{
	pc->sax->entityDecl = on_entity;
	pc->sax->attributeDecl = on_attribute;
	pc->sax->elementDecl = on_element;
	pc->sax->notationDecl = on_notation;
	pc->sax->unparsedEntityDecl = on_unparsed;
	pc->sax->reference = on_reference;
	if (doctype == XML_DOCTYPE_REFUSE) {
		pc->sax->internalSubset = on_doctype;
		pc->sax->comment = NULL;
	}
}

/* Documents up to this size are parsed from a buffer that stays. */
enum { TEXT_KEEP = 64 << 10, DECLARATION = 200 };

/* Is it UTF-8 without doubt, so that no decoder is needed? */
static bool
is_plain(struct xml_text text)
{
	struct str s = text.s, head;
	size_t at;

	if (text.decoded)
		return true;
	if (str_starts(s, "\xef\xbb\xbf")) {
		s.p += 3;
		s.n -= 3;
	}
	if (s.n < 4 || !strchr("< \t\r\n", s.p[0]) || s.p[0] == '\0' || s.p[1] == '\0')
		return false;
	if (!str_starts(s, "<?xml"))
		return true;
	head = (struct str){ s.p, s.n < DECLARATION ? s.n : DECLARATION };
	at = str_find(head, STR_LIT("?>"));
	if (at == SIZE_MAX)
		return false;
	head.n = at;
	return str_find(head, STR_LIT("encoding")) == SIZE_MAX ||
	    str_casefind(head, STR_LIT("\"utf-8\"")) != SIZE_MAX ||
	    str_casefind(head, STR_LIT("'utf-8'")) != SIZE_MAX;
}

static void
free_text(xmlChar *p)
{
	free(p);
}

/*
 * The parser on a copy of the text that ends in a NUL, without one of libxml2's input buffers
 * behind it: near the end of a document the parser asks such a buffer for more at every token,
 * which costs a tenth of the time of a small one.
 */
static xmlParserCtxtPtr
parse_plain(struct xml *x, struct str s)
{
	xmlParserCtxtPtr pc = xmlNewParserCtxt();
	xmlParserInputPtr input = pc ? xmlNewInputStream(pc) : NULL;
	char *copy;

	if (!input) {
		xmlFreeParserCtxt(pc);
		return NULL;
	}
	buf_clear(&x->in);
	if (s.n <= TEXT_KEEP) {
		(void)buf_reserve(&x->in, TEXT_KEEP + 1); /* has no bound */
		copy = x->in.p;
	} else {
		copy = malloc(s.n + 1);
		input->free = free_text;
	}
	if (!copy) {
		xmlFreeInputStream(input);
		xmlFreeParserCtxt(pc);
		return NULL;
	}
	memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	input->base = input->cur = (xmlChar *)copy;
	input->end = input->base + s.n;
	input->length = (int)s.n;
	(void)inputPush(pc, input); /* the first: there is room */
	return pc;
}

struct _xmlParserCtxt *
xml_parser_new(
    struct xml *x, struct xml_text text, enum xml_doctype doctype, struct hinny_error *err)
{
	int options = XML_PARSE_COMPACT | XML_PARSE_NONET;
	xmlParserCtxtPtr pc;

	if (text.decoded)
		options |= XML_PARSE_IGNORE_ENC;
	if (doctype == XML_DOCTYPE_IGNORE)
		options |=
		    XML_PARSE_NOCDATA; /* XSLT does not tell a CDATA section from other text */
	xml_errors_clear(&x->errors);
	if (text.s.n > x->limits.max_size || text.s.n > INT_MAX) {
		(void)hinny_error_set(err, HINNY_ELIMIT,
		    "a document of %zu bytes is larger than xform.max_size, %llu", text.s.n,
		    (unsigned long long)x->limits.max_size);
		return NULL;
	}
	if (text.s.n == 0) {
		(void)hinny_error_set(
		    err, HINNY_EINVAL, "Premature end of file: the document is empty");
		return NULL;
	}
	pc = is_plain(text) ? parse_plain(x, text.s)
			    : xmlCreateMemoryParserCtxt(text.s.p, (int)text.s.n);
	if (!pc) {
		(void)hinny_error_set(
		    err, HINNY_ELIMIT, "out of memory for a document of %zu bytes", text.s.n);
		return NULL;
	}
	(void)xmlCtxtUseOptions(pc, options); /* all of them are known */
	set_rules(pc, doctype);
	return pc;
}

enum hinny_rc
xml_parser_result(struct xml *x, struct _xmlParserCtxt *pc, struct hinny_error *err)
{
	const struct xml_errors *es = &x->errors;

	/* An entity that an unread DTD may declare is only a warning to libxml2; its text is
	 * missing all the same. */
	if (pc->wellFormed && es->n == 0 && (!pc->input || pc->input->cur >= pc->input->end))
		return HINNY_OK;
	if (es->n == 0)
		xml_errors_note_at(&x->errors, pc->input ? pc->input->line : 0,
		    pc->input ? pc->input->col : 0, "a NUL is not allowed in a document");
	if (strstr(es->first, "Excessive depth"))
		return hinny_error_set(err, HINNY_ELIMIT,
		    "line %d: the document is nested deeper than xform.max_depth, %lld", es->line,
		    (long long)x->limits.max_depth);
	if (strstr(es->first, "XML_PARSE_HUGE")) /* libxml2 names its option against such limits */
		return hinny_error_set(err, HINNY_ELIMIT,
		    "line %d: a text, name or attribute is too large for the parser", es->line);
	if (es->line > 0)
		return hinny_error_set(
		    err, HINNY_EINVAL, "line %d, column %d: %s", es->line, es->column, es->first);
	return hinny_error_set(
	    err, HINNY_EINVAL, "%s", es->first[0] ? es->first : "the document is not well-formed");
}

enum hinny_rc
xml_parse(struct xml *x, struct xml_text text, enum xml_doctype doctype, xmlDocPtr *doc,
    struct hinny_error *err)
{
	xmlParserCtxtPtr pc = xml_parser_new(x, text, doctype, err);
	enum hinny_rc rc;

	*doc = NULL;
	if (!pc)
		return err->rc;
	(void)xmlParseDocument(pc); /* the result says more */
	rc = xml_parser_result(x, pc, err);
	if (rc == HINNY_OK)
		*doc = pc->myDoc;
	else
		xmlFreeDoc(pc->myDoc);
	xmlFreeParserCtxt(pc);
	return rc;
}
