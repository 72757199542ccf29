/*
 * Prepares and evaluates XPath expressions. They are compiled once, before READY; all share one
 * XPath context, which between two evaluations holds nothing of a message. The document is parsed
 * once for all expressions of one call.
 */
#include "transformers/xpath/xpath_impl.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "transformers/xml/write.h"
#include "transformers/xpath/xpath_priv.h"
#include "workers/worker.h"

#include <math.h>

#include <libxml/xpathInternals.h>

static xmlNsPtr
make_ns(const char *prefix, const char *uri)
{
	xmlNsPtr ns = xmlNewNs(NULL, BAD_CAST uri, BAD_CAST prefix);

	ASSERT(ns != NULL);
	return ns;
}

/* The route's own come first: they win. */
static void
collect_namespaces(struct xpath_code *code, const struct pairs *given)
{
	code->namespaces = mem_alloc((given->n + 3) * sizeof(xmlNsPtr));
	for (size_t i = 0; i < given->n; i++)
		code->namespaces[code->namespaces_n++] =
		    make_ns(given->items[i].key, given->items[i].value);
	code->namespaces[code->namespaces_n++] = make_ns("in", xpath_ns_in);
	code->namespaces[code->namespaces_n++] = make_ns("out", xpath_ns_out);
	code->namespaces[code->namespaces_n++] = make_ns("function", xpath_ns_function);
}

/* xml_free() runs it. */
static void
code_free(void *arg)
{
	struct xpath_code *code = arg;

	xmlXPathFreeCompExpr(code->compiled);
	for (int i = 0; i < code->namespaces_n; i++)
		xmlFreeNs(code->namespaces[i]);
	free(code->namespaces);
	free(code);
}

static enum hinny_rc
xpath_prepare(void *owner, struct expression *e, struct hinny_error *err)
{
	struct worker *wk = owner;
	struct xml *x = worker_data(wk);
	struct xpath_code *code = MEM_NEW(struct xpath_code);
	struct hinny_error why;

	code->xml = x;
	code->program = worker_program(wk);
	code->want = xpath_want_of(e);
	collect_namespaces(code, xpath_namespaces_of(e));
	arena_on_reset(&x->files.arena, code_free, code);
	e->impl = code;
	xpath_functions_register(x);
	xml_errors_clear(&x->errors);
	code->compiled = xmlXPathCompile(BAD_CAST e->text);
	if (!code->compiled)
		return hinny_error_set(err, HINNY_EINVAL,
		    "invalid expression \"%s\": %s at character %d", e->text,
		    x->errors.first[0] ? x->errors.first : "syntax error", x->errors.column + 1);
	if (xpath_check_names(e->text, code->namespaces, code->namespaces_n, &why) != HINNY_OK)
		return hinny_error_set(
		    err, HINNY_EINVAL, "invalid expression \"%s\": %s", e->text, why.text);
	return HINNY_OK;
}

/* ---- results ---- */

static enum eval_rc
failed(struct xml *x, struct exchange *ex, const struct expression *e)
{
	if (!ex->exception)
		exchange_fail(ex, EXCEPTION_XPATH_EXPRESSION, "Invalid xpath: %s. Reason: %s",
		    e->text, x->errors.first[0] ? x->errors.first : "it failed on this message");
	return EVAL_ERROR;
}

static const char *
kind_of(xmlXPathObjectPtr o)
{
	return o->type == XPATH_BOOLEAN ? "#BOOLEAN"
	    : o->type == XPATH_NUMBER   ? "#NUMBER"
					: "#STRING";
}

/* One node as it is: null when there is none. */
static struct value
one_node(struct buf *b, xmlNodeSetPtr nodes)
{
	xmlNodeSet first = { .nodeNr = 1 };

	if (!nodes || nodes->nodeNr == 0)
		return value_null();
	first.nodeTab = nodes->nodeTab;
	return (struct value){ .type = xml_write_nodes(b, &first) == HINNY_OK ? VALUE_XML
									      : VALUE_TYPES };
}

static struct value
all_nodes(struct buf *b, xmlNodeSetPtr nodes)
{
	return (
	    struct value){ .type = xml_write_nodes(b, nodes) == HINNY_OK ? VALUE_XML : VALUE_TYPES,
		.flags = VALUE_NODESET,
		.aux = nodes ? (uint32_t)nodes->nodeNr : 0 };
}

/* Each node as an item. False: they are too large. */
static bool
list_nodes(struct xml *x, struct exchange *ex, xmlNodeSetPtr nodes, struct value *out)
{
	int n = nodes ? nodes->nodeNr : 0;
	uint64_t left = x->limits.max_output ? x->limits.max_output : UINT64_MAX;

	*out = value_new_list(&ex->arena, (size_t)n);
	for (int i = 0; i < n; i++) {
		xmlNodeSet one = { .nodeNr = 1, .nodeTab = nodes->nodeTab + i };
		buf_clear(&x->out);
		struct value v = one_node(&x->out, &one);
		if (v.type == VALUE_TYPES || x->out.n > left)
			return false;
		left -= x->out.n;
		v.u.s = arena_str(&ex->arena, (struct str){ x->out.p, x->out.n });
		value_list_add(&ex->arena, out->u.list, v);
	}
	return true;
}

static enum eval_rc
give_nodes(struct xml *x, struct exchange *ex, const struct expression *e, xmlXPathObjectPtr o,
    struct value *out)
{
	const struct xpath_code *code = e->impl;

	if (o->type != XPATH_NODESET && o->type != XPATH_XSLT_TREE) {
		exchange_fail(ex, EXCEPTION_INVALID_XPATH,
		    "Invalid xpath: %s. Reason: Can not convert %s to a NodeList!", e->text,
		    kind_of(o));
		return EVAL_ERROR;
	}
	if (o->nodesetval)
		xmlXPathNodeSetSort(o->nodesetval);
	buf_clear(&x->out);
	if (code->want == WANT_LIST) {
		if (list_nodes(x, ex, o->nodesetval, out))
			return EVAL_OK;
		out->type = VALUE_TYPES;
	} else if (code->want == WANT_NODE) {
		*out = one_node(&x->out, o->nodesetval);
	} else {
		*out = all_nodes(&x->out, o->nodesetval);
	}
	if (out->type == VALUE_TYPES) {
		exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE,
		    "xpath %s: the result is larger than xform.max_output", e->text);
		return EVAL_ERROR;
	}
	if (out->type == VALUE_XML)
		out->u.s = arena_str(&ex->arena, (struct str){ x->out.p, x->out.n });
	return EVAL_OK;
}

static enum eval_rc
give(struct xml *x, struct exchange *ex, const struct expression *e, xmlXPathObjectPtr o,
    struct value *out)
{
	const struct xpath_code *code = e->impl;
	double d;
	xmlChar *s;

	switch (code->want) {
	case WANT_TRUTH:
		*out = value_bool(xmlXPathCastToBoolean(o));
		return EVAL_OK;
	case WANT_NUMBER:
		d = xmlXPathCastToNumber(o);
		*out = isnan(d) && xpath_want_integer(e) ? value_null() : value_double(d);
		return EVAL_OK;
	case WANT_TEXT:
		s = xmlXPathCastToString(o);
		if (!s)
			return failed(x, ex, e);
		*out = value_str(arena_str(&ex->arena, str_of((const char *)s)));
		xmlFree(s);
		return EVAL_OK;
	default:
		return give_nodes(x, ex, e, o, out);
	}
}

/* ---- evaluation ---- */

/* The document of the source; an empty one when there is nothing. NULL: the exception is set. */
static xmlDocPtr
find_document(struct xml *x, struct exchange *ex, const struct expression *e)
{
	struct value *v = source_value(xpath_source_of(e), ex);

	return v && v->type != VALUE_NULL ? xml_document(x, ex, v, XML_DOCTYPE_REFUSE)
					  : xml_document_empty(x);
}

static void
context_enter(struct xml *x, struct exchange *ex, const struct expression *e, xmlDocPtr doc)
{
	const struct xpath_code *code = e->impl;
	xmlXPathContextPtr k = x->xpath;

	x->ex = ex;
	x->expression = e;
	k->doc = doc;
	k->node = (xmlNodePtr)doc;
	k->contextSize = k->proximityPosition = 1;
	k->namespaces = code->namespaces;
	k->nsNr = code->namespaces_n;
	xml_errors_clear(&x->errors);
}

static void
context_leave(struct xml *x)
{
	xmlXPathContextPtr k = x->xpath;

	k->doc = NULL;
	k->node = NULL;
	k->namespaces = NULL;
	k->nsNr = 0;
	xmlResetError(&k->lastError);
	x->ex = NULL;
	x->expression = NULL;
}

static enum eval_rc
xpath_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct xpath_code *code = e->impl;
	struct xml *x = code->xml;
	xmlDocPtr doc = find_document(x, ex, e);
	enum eval_rc rc;

	if (!doc)
		return EVAL_ERROR;
	context_enter(x, ex, e, doc);
	if (code->want == WANT_TRUTH) {
		int truth = xmlXPathCompiledEvalToBoolean(code->compiled, x->xpath);

		rc = truth == -1 ? failed(x, ex, e) : EVAL_OK;
		*out = value_bool(truth == 1);
	} else {
		xmlXPathObjectPtr o = xmlXPathCompiledEval(code->compiled, x->xpath);

		rc = o ? give(x, ex, e, o, out) : failed(x, ex, e);
		xmlXPathFreeObject(o);
	}
	context_leave(x);
	return rc;
}

const struct language_impl xpath_impl = {
	.name = "xpath",
	.prepare = xpath_prepare,
	.eval = xpath_eval,
};
