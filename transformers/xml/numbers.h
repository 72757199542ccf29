/*
 * Numbers as text in XPath and XSLT. XPath 1.0 (section 4.2) has no exponents and as many digits as
 * tell a number from its neighbours; libxml2 writes 3e+09 for 3000000000 and keeps 15 digits.
 * Within the folder and its neighbours that hold an XPath context.
 */
#ifndef HINNY_TRANSFORMERS_XML_NUMBERS_H
#define HINNY_TRANSFORMERS_XML_NUMBERS_H

#include <libxml/xpath.h>

enum { XML_NUMBER_TEXT = 400 }; /* the longest is -5e-324 written out */

/* The text of a number, ended by a zero; returns its length. */
size_t xml_number_text(double d, char text[XML_NUMBER_TEXT]);
/* The functions whose arguments become text, in place of the library's; NULL for any other. To be
 * asked first by the function lookup of an XPath context. */
xmlXPathFunction xml_number_function(const xmlChar *name, const xmlChar *uri);

#endif
