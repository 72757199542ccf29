/*
 * Character sets that documents and stylesheets may use behind the jail: single-byte ones by tables
 * of ours, since iconv would load a module for each (0.2 ms and 40 KiB apiece); the few of more
 * bytes by iconv, opened before the jail closes and kept open. Everything else that a message
 * declares is an unsupported encoding there.
 */
#ifndef HINNY_TRANSFORMERS_XML_ENCODINGS_H
#define HINNY_TRANSFORMERS_XML_ENCODINGS_H

struct xml_encodings;

/* Once a process, before any document is parsed. */
struct xml_encodings *xml_encodings_open(void);
void xml_encodings_close(struct xml_encodings *es);

#endif
