/*
 * Nodes as text: markup in UTF-8 without a declaration, straight into a buffer. What it does not do
 * (indentation, HTML, other encodings) libxml2 does.
 */
#ifndef HINNY_TRANSFORMERS_XML_WRITE_H
#define HINNY_TRANSFORMERS_XML_WRITE_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <libxml/tree.h>
#include <libxml/xpath.h>

/* The node with all that is in it; namespaces that are declared further up are not repeated.
 * HINNY_ELIMIT: the buffer is full. */
enum hinny_rc xml_write_node(struct buf *b, const xmlNode *node);
/* As xml_write_node, with a declaration of each namespace that is used below and declared above:
 * text that can stand alone. */
enum hinny_rc xml_write_alone(struct buf *b, xmlNode *node);
/* As Camel prints the nodes of an XPath: elements as markup, attributes and text as their text, one
 * behind the other. */
enum hinny_rc xml_write_nodes(struct buf *b, const xmlNodeSet *nodes);
/* Text with the characters escaped that markup needs; in an attribute also quotes and line ends. */
enum hinny_rc xml_write_text(struct buf *b, const char *s);
enum hinny_rc xml_write_attribute(struct buf *b, const char *s);
/* All text below the node, as method="text" wants it. */
enum hinny_rc xml_write_plain(struct buf *b, const xmlNode *node);

#endif
