/* XML text with line breaks, by its tags alone: nothing is resolved or checked beyond them. */
#ifndef HINNY_LANG_XML_PRETTY_H
#define HINNY_LANG_XML_PRETTY_H

#include "core/base/buf.h"

/*
 * Appends the text with each tag and text on a line of its own, indented by two blanks a level;
 * an element without content gets an end tag. HINNY_EINVAL when tags do not match,
 * HINNY_ELIMIT at the buffer's bound or too deep.
 */
enum hinny_rc xml_pretty(struct buf *b, struct str text);

#endif
