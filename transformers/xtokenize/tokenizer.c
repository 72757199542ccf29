/* The tokenizer on libxml2's SAX stream: see tokenizer.h. It keeps a stack of the elements that are
 * open, by their places in the text. */
#include "transformers/xtokenize/tokenizer.h"

#include "core/base/mem.h"
#include "transformers/xml/write.h"

#include <stdlib.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

struct level {
	const xmlChar *name, *uri; /* of the parser's dictionary */
	const xmlChar *qname;      /* with the prefix, as written */
	size_t start;              /* of "<" */
	size_t attributes_end;     /* behind the last attribute */
	size_t ns_at, ns_n;        /* its declarations in tokenizer.ns: prefix, URI */
};

struct tokenizer {
	struct xml *xml;
	xmlParserCtxtPtr parser;
	struct str text;
	const struct xtokenize_path *path;
	enum xtokenize_mode mode;
	tokenizer_item_fn *item;
	void *arg;
	struct level *levels;
	size_t n, cap;
	const xmlChar **ns; /* pairs */
	size_t ns_n, ns_cap;
	uint64_t group;   /* so many elements are one item */
	uint64_t grouped; /* that many are in `out` */
	size_t wrapped;   /* ancestors of the group */
	size_t matched; /* number of the level of the item that is being read, plus one; 0: none */
	struct buf out;
	enum hinny_rc rc; /* HINNY_EAGAIN: not UTF-8, HINNY_ECLOSED: no more wanted */
};

static size_t
position(const struct tokenizer *t)
{
	const xmlParserInput *in = t->parser->input;

	return in->consumed + (size_t)(in->cur - in->base);
}

static void
stop(struct tokenizer *t, enum hinny_rc rc)
{
	t->rc = rc;
	xmlStopParser(t->parser);
}

/* ---- the path ---- */

static bool
step_fits(const struct xtokenize_step *s, const struct level *l)
{
	if (!str_eq(s->name, STR_LIT("*")) && !str_eq(s->name, str_of((const char *)l->name)))
		return false;
	if (!s->uri)
		return s->prefix.n == 0 && (l->uri == NULL || str_eq(s->name, STR_LIT("*")));
	return l->uri && strcmp(s->uri, (const char *)l->uri) == 0;
}

/* Do the steps up to s end at level d (both counted from one)? */
static bool
path_fits(const struct tokenizer *t, size_t s, size_t d)
{
	const struct xtokenize_step *step = &t->path->steps[s - 1];

	if (d == 0 || !step_fits(step, &t->levels[d - 1]))
		return false;
	if (s == 1)
		return step->anywhere || d == 1;
	if (!step->anywhere)
		return path_fits(t, s - 1, d - 1);
	for (size_t up = d - 1; up > 0; up--)
		if (path_fits(t, s - 1, up))
			return true;
	return false;
}

/* ---- items ---- */

static void
add(struct tokenizer *t, size_t from, size_t to)
{
	if (t->rc == HINNY_OK)
		t->rc = buf_add(&t->out, t->text.p + from, to - from);
}

static void
add_text(struct tokenizer *t, const char *s)
{
	if (t->rc == HINNY_OK)
		t->rc = buf_add(&t->out, s, strlen(s));
}

static bool
same_prefix(const xmlChar *a, const xmlChar *b)
{
	return a == b || (a && b && xmlStrEqual(a, b));
}

/* Is the prefix of declaration i declared anew by a later one? The declarations from `end` on do
 * not count. */
static bool
overridden(const struct tokenizer *t, size_t i, size_t end)
{
	for (size_t k = i + 1; k < end; k++)
		if (same_prefix(t->ns[2 * i], t->ns[2 * k]))
			return true;
	return false;
}

/* Declarations that the element inherits. */
static void
add_inherited(struct tokenizer *t, const struct level *l)
{
	for (size_t i = 0; i < l->ns_at; i++) {
		const char *prefix = (const char *)t->ns[2 * i],
			   *uri = (const char *)t->ns[2 * i + 1];

		if (!uri || !uri[0] || overridden(t, i, l->ns_at + l->ns_n))
			continue;
		add_text(t, prefix ? " xmlns:" : " xmlns");
		add_text(t, prefix ? prefix : "");
		add_text(t, "=\"");
		if (t->rc == HINNY_OK)
			t->rc = xml_write_attribute(&t->out, uri);
		add_text(t, "\"");
	}
}

static size_t
skip_tag_end(const struct tokenizer *t, size_t at)
{
	const char *p = memchr(t->text.p + at, '>', t->text.n - at);

	return p ? (size_t)(p - t->text.p) + 1 : t->text.n;
}

/* The content of the element: between its tags. */
static void
add_content(struct tokenizer *t, const struct level *l, size_t end)
{
	size_t from = skip_tag_end(t, l->attributes_end), to = end;

	if (from >= end)
		return; /* <a/> */
	while (to > from && t->text.p[to - 1] != '<')
		to--;
	add(t, from, to - 1);
}

/* The ancestors of a wrapped group: their start tags, and their ends. */
static void
add_ancestors(struct tokenizer *t)
{
	for (size_t i = 0; i < t->wrapped; i++)
		add(t, t->levels[i].start, skip_tag_end(t, t->levels[i].attributes_end));
}

static void
add_ancestor_ends(struct tokenizer *t)
{
	for (size_t i = t->wrapped; i > 0; i--) {
		add_text(t, "</");
		add_text(t, (const char *)t->levels[i - 1].qname);
		add_text(t, ">");
	}
}

/* What is gathered becomes an item. */
static void
give_group(struct tokenizer *t)
{
	if (t->grouped == 0)
		return;
	if (t->mode == XTOKENIZE_WRAP)
		add_ancestor_ends(t);
	if (t->rc != HINNY_OK)
		stop(t, t->rc);
	else if (!t->item(t->arg, (struct str){ t->out.p, t->out.n }))
		stop(t, HINNY_ECLOSED);
	buf_clear(&t->out);
	t->grouped = 0;
}

static void
add_item(struct tokenizer *t, size_t end)
{
	const struct level *l = &t->levels[t->matched - 1];

	if (t->mode == XTOKENIZE_INJECT) {
		add(t, l->start, l->attributes_end);
		add_inherited(t, l);
		add(t, l->attributes_end, end);
	} else if (t->mode == XTOKENIZE_WRAP) {
		t->wrapped = t->matched - 1;
		if (t->grouped == 0)
			add_ancestors(t);
		add(t, l->start, end);
	} else if (t->mode == XTOKENIZE_UNWRAP) {
		add_content(t, l, end);
	}
	t->matched = 0;
	if (t->rc != HINNY_OK)
		stop(t, t->rc);
	else if (++t->grouped >= t->group)
		give_group(t);
}

/* ---- SAX ---- */

static void
push_namespaces(struct tokenizer *t, struct level *l, int n, const xmlChar **namespaces)
{
	l->ns_at = t->ns_n;
	l->ns_n = (size_t)n;
	if (t->ns_n + (size_t)n > t->ns_cap) {
		t->ns_cap = 2 * (t->ns_n + (size_t)n);
		t->ns = mem_realloc(t->ns, 2 * t->ns_cap * sizeof *t->ns);
	}
	if (n > 0)
		memcpy(t->ns + 2 * t->ns_n, namespaces, 2 * (size_t)n * sizeof *t->ns);
	t->ns_n += (size_t)n;
}

/* The parser stands behind the last attribute. */
static void
on_start(void *arg, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int ns_n,
    const xmlChar **namespaces, int attributes_n, int defaulted, const xmlChar **attributes)
{
	struct tokenizer *t = ((xmlParserCtxtPtr)arg)->_private;
	struct level *l;
	size_t at = position(t);

	(void)attributes_n;
	(void)defaulted;
	(void)attributes;
	if (t->parser->input->buf && t->parser->input->buf->encoder) {
		stop(t, HINNY_EAGAIN);
		return;
	}
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 32;
		t->levels = mem_realloc(t->levels, t->cap * sizeof *t->levels);
	}
	l = &t->levels[t->n++];
	*l = (struct level){ .name = name,
		.uri = uri,
		.qname = prefix ? xmlDictQLookup(t->parser->dict, prefix, name) : name };
	push_namespaces(t, l, ns_n, namespaces);
	if (at > t->text.n) {
		stop(t, HINNY_EPROTO);
		return;
	}
	while (at > 0 && strchr(" \t\r\n", t->text.p[at - 1]))
		at--;
	l->attributes_end = at;
	while (at > 0 && t->text.p[at - 1] != '<')
		at--;
	l->start = at > 0 ? at - 1 : 0;
	if (t->matched == 0 && path_fits(t, t->path->n, t->n))
		t->matched = t->n;
}

static void
on_end(void *arg, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	struct tokenizer *t = ((xmlParserCtxtPtr)arg)->_private;

	(void)name;
	(void)prefix;
	(void)uri;
	if (t->n == 0)
		return;
	if (t->matched == t->n)
		add_item(t, position(t) < t->text.n ? position(t) : t->text.n);
	/* what is wrapped has one parent, and ends with it */
	if (t->mode == XTOKENIZE_WRAP && t->n <= t->wrapped)
		give_group(t);
	t->ns_n = t->levels[t->n - 1].ns_at;
	t->n--;
}

static void
on_text(void *arg, const xmlChar *s, int n)
{
	struct tokenizer *t = ((xmlParserCtxtPtr)arg)->_private;

	if (t->matched > 0 && t->mode == XTOKENIZE_TEXT && t->rc == HINNY_OK)
		t->rc = buf_add(&t->out, s, (size_t)n);
}

static enum hinny_rc
parse(struct tokenizer *t, struct xml_text text, struct hinny_error *err)
{
	enum hinny_rc rc;

	t->text = text.s;
	t->parser = xml_parser_new(t->xml, text, XML_DOCTYPE_REFUSE, err);
	if (!t->parser)
		return err->rc;
	t->parser->sax->startElementNs = on_start;
	t->parser->sax->endElementNs = on_end;
	t->parser->sax->characters = t->parser->sax->ignorableWhitespace = on_text;
	t->parser->sax->cdataBlock = on_text;
	t->parser->sax->comment = NULL;
	t->parser->sax->processingInstruction = NULL;
	t->parser->_private =
	    t; /* the callbacks' argument stays the parser: our rules on the DOCTYPE want it */
	(void)xmlParseDocument(t->parser); /* the result says more */
	if (t->rc == HINNY_OK && t->parser->wellFormed)
		give_group(t);
	rc = t->rc != HINNY_OK ? t->rc : xml_parser_result(t->xml, t->parser, err);
	xmlFreeDoc(t->parser->myDoc);
	xmlFreeParserCtxt(t->parser);
	free(t->levels);
	free(t->ns);
	buf_fini(&t->out);
	return rc;
}

/* A document in another encoding: as UTF-8, without its declaration. */
static enum hinny_rc
transcode(struct xml *x, struct xml_text text, struct buf *out, struct hinny_error *err)
{
	xmlDocPtr doc;
	enum hinny_rc rc = xml_parse(x, text, XML_DOCTYPE_REFUSE, &doc, err);

	if (rc != HINNY_OK)
		return rc;
	rc = xml_write_node(out, (xmlNodePtr)doc);
	xmlFreeDoc(doc);
	return rc == HINNY_OK ? rc : hinny_error_set(err, rc, "the document is too large");
}

enum hinny_rc
tokenizer_run(struct xml *x, struct xml_text text, const struct xtokenize_path *path,
    const struct xtokenize_conf *conf, tokenizer_item_fn *item, void *arg, struct hinny_error *err)
{
	struct tokenizer t = { .xml = x,
		.path = path,
		.mode = (enum xtokenize_mode)conf->mode,
		.group = conf->group > 0 ? (uint64_t)conf->group : 1,
		.item = item,
		.arg = arg,
		.out.max = x->limits.max_output };
	struct tokenizer again = t;
	struct buf utf8;
	enum hinny_rc rc = parse(&t, text, err);

	if (rc == HINNY_EAGAIN) {
		buf_init(&utf8, 2 * x->limits.max_size);
		rc = transcode(x, text, &utf8, err);
		if (rc == HINNY_OK)
			rc = parse(&again, (struct xml_text){ { utf8.p, utf8.n }, true }, err);
		buf_fini(&utf8);
	}
	if (rc == HINNY_ECLOSED)
		return HINNY_OK;
	if (rc == HINNY_ELIMIT)
		return hinny_error_set(err, rc, "an item is larger than xform.max_output");
	return rc;
}
