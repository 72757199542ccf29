/* For the transformers' own folders: how the messages of libxml2 and libxslt get into struct
 * xml_errors (xml.h). */
#ifndef HINNY_TRANSFORMERS_XML_ERRORS_H
#define HINNY_TRANSFORMERS_XML_ERRORS_H

#include "transformers/xml/xml.h"

/* From now on all messages of both libraries go to es; NULL: nowhere. */
void xml_errors_hook(struct xml_errors *es);
/* Where they go now. */
struct xml_errors *xml_errors_hooked(void);
struct _xmlSchemaParserCtxt;
/* The messages of a schema's parser too. */
void xml_errors_hook_schema(struct xml_errors *es, struct _xmlSchemaParserCtxt *pc);
/* As xml_errors_note, with a position. */
void xml_errors_note_at(struct xml_errors *es, int line, int column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The type of libxslt's error functions: appends to es->text; arg is es. */
void xml_errors_print(void *arg, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
