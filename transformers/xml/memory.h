/*
 * Where libxml2 and libxslt get their memory: mimalloc, which takes a third of a transformation's
 * time away, where it is installed. It is opened by name and serves the XML libraries alone, on the
 * one thread that uses them. Linked, it would serve nng's threads too, each with a heap of its own
 * that grows to megabytes and gives nothing back.
 */
#ifndef HINNY_TRANSFORMERS_XML_MEMORY_H
#define HINNY_TRANSFORMERS_XML_MEMORY_H

/* Before anything else of libxml2. Without mimalloc malloc serves. */
void xml_memory_init(void);
/* Gives back what a large document took and mimalloc keeps. */
void xml_memory_collect(void);

#endif
