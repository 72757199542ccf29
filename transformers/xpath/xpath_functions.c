/*
 * What an expression can ask of its exchange: $NAME, in:body(), in:header(), out:…,
 * function:properties(), function:simple(). Registered once at the context that all expressions
 * share; the exchange is the one of the evaluation that runs (xml.ex).
 */
#include "transformers/xpath/xpath_priv.h"

#include "core/eip/engine.h"
#include "core/lang/expression.h"
#include "transformers/xml/numbers.h"

#include <math.h>

#include <libxml/xpathInternals.h>

const char xpath_ns_in[] = "http://camel.apache.org/xml/in/";
const char xpath_ns_out[] = "http://camel.apache.org/xml/out/";
const char xpath_ns_function[] = "http://camel.apache.org/xml/function/";

/* Beyond it a double does not keep all digits of an integer. */
enum { EXACT_BITS = 53 };

xmlXPathObjectPtr
xpath_object(struct exchange *ex, const struct value *v)
{
	if (!v || v->type == VALUE_NULL)
		return xmlXPathNewCString("");
	if (v->type == VALUE_BOOL)
		return xmlXPathNewBoolean(v->u.b);
	if (v->type == VALUE_DOUBLE)
		return xmlXPathNewFloat(v->u.d);
	if (v->type == VALUE_INT && !(v->flags & VALUE_DATE) && llabs(v->u.i) < 1ll << EXACT_BITS)
		return xmlXPathNewFloat((double)v->u.i);
	return xmlXPathNewCString(xml_chars(&ex->arena, value_text(&ex->arena, v)));
}

/* $NAME: a header, else an exchange property, else a variable; unknown names are empty. */
static xmlXPathObjectPtr
find_variable(void *arg, const xmlChar *name, const xmlChar *uri)
{
	struct xml *x = arg;
	struct str s = str_of((const char *)name);
	struct value *v;

	if (uri)
		return NULL;
	v = exchange_header(x->ex, s);
	if (!v)
		v = exchange_property(x->ex, s);
	return xpath_object(x->ex, v ? v : exchange_variable(x->ex, s));
}

static struct xml *
runtime_of(xmlXPathParserContextPtr pc)
{
	return pc->context->userData;
}

/* The one argument as text in the exchange's arena; NULL when there is another number of them
 * (noted). */
static const char *
pop_text(xmlXPathParserContextPtr pc, int n)
{
	xmlChar *s;
	const char *copy;

	if (n != 1) {
		xmlXPathSetArityError(pc);
		return NULL;
	}
	s = xmlXPathPopString(pc);
	if (!s || xmlXPathCheckError(pc)) {
		xmlFree(s);
		return NULL;
	}
	copy = arena_strdup(&runtime_of(pc)->ex->arena, (const char *)s);
	xmlFree(s);
	return copy;
}

static void
call_body(xmlXPathParserContextPtr pc, int n)
{
	struct exchange *ex = runtime_of(pc)->ex;

	if (n != 0) {
		xmlXPathSetArityError(pc);
		return;
	}
	valuePush(pc, xpath_object(ex, &ex->body));
}

static void
call_header(xmlXPathParserContextPtr pc, int n)
{
	struct exchange *ex = runtime_of(pc)->ex;
	const char *name = pop_text(pc, n);

	if (name)
		valuePush(pc, xpath_object(ex, exchange_header(ex, str_of(name))));
}

static void
call_properties(xmlXPathParserContextPtr pc, int n)
{
	struct xml *x = runtime_of(pc);
	const struct xpath_code *code =
	    x->expression ? ((const struct expression *)x->expression)->impl : NULL;
	const char *name = pop_text(pc, n);

	if (!name)
		return;
	for (size_t i = 0; code && i < code->program->properties.n; i++) {
		const struct pair *pair = &code->program->properties.items[i];

		if (strcmp(pair->key, name) == 0) {
			valuePush(pc, xmlXPathNewCString(pair->value));
			return;
		}
	}
	exchange_fail(x->ex, EXCEPTION_ILLEGAL_ARGUMENT,
	    "Property with key [%s] not found in properties from text: {{%s}}", name, name);
	pc->error = XPATH_EXPR_ERROR;
}

/* The Simple text was compiled with the expression, as one of its parts: it must be a literal. */
static void
call_simple(xmlXPathParserContextPtr pc, int n)
{
	struct xml *x = runtime_of(pc);
	const struct expression *e = x->expression;
	const char *text = pop_text(pc, n);

	if (!text)
		return;
	for (uint32_t i = 0; i < e->parts_n; i++) {
		struct value v;

		if (strcmp(e->parts[i]->text, text) != 0)
			continue;
		if (expression_eval(e->parts[i], x->ex, &v) != EVAL_OK) {
			pc->error = XPATH_EXPR_ERROR;
			return;
		}
		valuePush(pc, xpath_object(x->ex, &v));
		return;
	}
	exchange_fail(x->ex, EXCEPTION_XPATH_EXPRESSION,
	    "function:simple takes a literal text, not \"%s\" that is made at run time", text);
	pc->error = XPATH_EXPR_ERROR;
}

static const struct {
	const char *uri, *name;
	xmlXPathFunction call;
} functions[] = {
	{ xpath_ns_in, "body", call_body },
	{ xpath_ns_in, "header", call_header },
	{ xpath_ns_out, "body", call_body },
	{ xpath_ns_out, "header", call_header },
	{ xpath_ns_function, "properties", call_properties },
	{ xpath_ns_function, "simple", call_simple },
};

static xmlXPathFunction
find_function(void *arg, const xmlChar *name, const xmlChar *uri)
{
	(void)arg;
	return xml_number_function(name, uri);
}

void
xpath_functions_register(struct xml *x)
{
	if (x->xpath->userData)
		return;
	x->xpath->userData = x;
	xmlXPathRegisterVariableLookup(x->xpath, find_variable, x);
	xmlXPathRegisterFuncLookup(x->xpath, find_function, NULL);
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (xmlXPathRegisterFuncNS(x->xpath, BAD_CAST functions[i].name,
			BAD_CAST functions[i].uri, functions[i].call) != 0)
			abort(); /* out of memory */
}
