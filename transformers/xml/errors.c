/* Gathers what libxml2 and libxslt have to say; neither ever writes to stderr. */
#include "transformers/xml/errors.h"

#include <stdarg.h>
#include <stdio.h>

#include <libxml/xmlerror.h>
#include <libxml/xmlschemas.h>
#include <libxslt/xsltutils.h>

void
xml_errors_clear(struct xml_errors *es)
{
	es->n = 0;
	es->line = es->column = 0;
	es->file[0] = es->first[0] = '\0';
	buf_clear(&es->text);
}

static void
note(struct xml_errors *es, int line, int column, const char *fmt, va_list ap)
{
	if (es->n++ > 0)
		return;
	es->line = line;
	es->column = column;
	(void)vsnprintf(es->first, sizeof es->first, fmt, ap); /* a longer text is cut */
	for (size_t n = strlen(es->first); n > 0 && es->first[n - 1] == '\n';)
		es->first[--n] = '\0';
}

void
xml_errors_note(struct xml_errors *es, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(es, 0, 0, fmt, ap);
	va_end(ap);
}

void
xml_errors_note_at(struct xml_errors *es, int line, int column, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(es, line, column, fmt, ap);
	va_end(ap);
}

void
xml_errors_print(void *arg, const char *fmt, ...)
{
	struct xml_errors *es = arg;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap); /* a longer text is cut */
	va_end(ap);
	(void)buf_add(&es->text, text, strlen(text)); /* what is beyond the bound is left out */
}

static void
on_error(void *arg, xmlErrorPtr e)
{
	struct xml_errors *es = arg;

	/* A warning, but for the entity that an unread DTD may declare: its text would be missing.
	 */
	if (e->level <= XML_ERR_WARNING && e->code != XML_WAR_UNDECLARED_ENTITY)
		return;
	if (es->n == 0 && e->file)
		(void)snprintf(es->file, sizeof es->file, "%s", e->file); /* a longer name is cut */
	/* int2 is the column; of an XPath there is a position in its text only, in int1 */
	xml_errors_note_at(es, e->line, e->domain == XML_FROM_XPATH ? e->int1 : e->int2, "%s",
	    e->message ? e->message : "unknown error");
}

/* Like the hooks of the libraries, it is the process's. */
static struct xml_errors *hooked;

void
xml_errors_hook(struct xml_errors *es)
{
	hooked = es;
	xmlSetStructuredErrorFunc(es, es ? on_error : NULL);
	xmlSetGenericErrorFunc(es, es ? xml_errors_print : NULL);
	xsltSetGenericErrorFunc(es, es ? xml_errors_print : NULL);
}

struct xml_errors *
xml_errors_hooked(void)
{
	return hooked;
}

void
xml_errors_hook_schema(struct xml_errors *es, struct _xmlSchemaParserCtxt *pc)
{
	xmlSchemaSetParserStructuredErrors(pc, on_error, es);
}
