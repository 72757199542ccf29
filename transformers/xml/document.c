/*
 * The document that the exchange at work has: parsed once for all expressions of one call. It goes
 * with the exchange, or when another one is parsed.
 */
#include "transformers/xml/document.h"

/* What the exchange knows of the cache: NULL when that has gone first. */
struct xml_cache_ref {
	struct xml *x;
};

static xmlDocPtr
parse_value(struct xml *x, struct exchange *ex, const struct value *v, struct xml_text text,
    enum xml_doctype doctype)
{
	struct hinny_error err;
	xmlDocPtr doc;
	enum hinny_rc rc = xml_parse(x, text, doctype, &doc, &err);

	if (rc == HINNY_ELIMIT)
		exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE, "%s", err.text);
	else if (rc != HINNY_OK)
		exchange_fail(ex, EXCEPTION_TYPE_CONVERSION,
		    "Error during type conversion from type: %s to the required type: "
		    "org.w3c.dom.Document due to org.xml.sax.SAXParseException: %s",
		    value_class(v), err.text);
	return doc;
}

/* The exchange ends. */
static void
cache_drop(void *arg)
{
	struct xml *x = ((struct xml_cache_ref *)arg)->x;
	size_t n;

	if (!x || x->cache.ref != arg)
		return;
	n = x->cache.n;
	xmlFreeDoc(x->cache.doc);
	memset(&x->cache, 0, sizeof x->cache);
	xml_memory_trim(x, n);
}

static bool
cache_has(const struct xml_cache *cache, const struct exchange *ex, struct str s,
    enum xml_doctype doctype)
{
	return cache->doc && cache->ex == ex && cache->p == s.p && cache->n == s.n &&
	    cache->doctype == (int)doctype;
}

xmlDocPtr
xml_document(struct xml *x, struct exchange *ex, const struct value *v, enum xml_doctype doctype)
{
	struct xml_text text = xml_text_of(ex, v);
	struct xml_cache *cache = &x->cache;
	xmlDocPtr doc;

	if (cache_has(cache, ex, text.s, doctype))
		return cache->doc;
	doc = parse_value(x, ex, v, text, doctype);
	if (!doc)
		return NULL;
	xmlFreeDoc(cache->doc);
	if (cache->ex != ex) {
		cache->ref = ARENA_NEW(&ex->arena, struct xml_cache_ref);
		cache->ref->x = x;
		arena_on_reset(&ex->arena, cache_drop, cache->ref);
	}
	*cache = (struct xml_cache){ ex, text.s.p, text.s.n, (int)doctype, doc, cache->ref };
	return doc;
}

xmlDocPtr
xml_document_empty(struct xml *x)
{
	return x->empty;
}

xmlDocPtr
xml_document_take(
    struct xml *x, struct exchange *ex, const struct value *v, enum xml_doctype doctype)
{
	struct xml_text text = xml_text_of(ex, v);
	xmlDocPtr doc = x->cache.doc;

	if (!cache_has(&x->cache, ex, text.s, doctype))
		return parse_value(x, ex, v, text, doctype);
	x->cache.doc = NULL;
	return doc;
}

void
xml_cache_fini(struct xml_cache *cache)
{
	xmlFreeDoc(cache->doc);
	if (cache->ref)
		cache->ref->x = NULL;
	memset(cache, 0, sizeof *cache);
}
