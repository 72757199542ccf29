/*
 * Where libxml2 and libxslt get their memory: mimalloc, which takes a third of a transformation's
 * time away, where it is installed. It is opened by name and serves the XML libraries alone: what
 * they took for a large document can be given back without looking at the rest of the process.
 */
#ifndef HINNY_TRANSFORMERS_XML_MEMORY_H
#define HINNY_TRANSFORMERS_XML_MEMORY_H

/* Before anything else of libxml2. Without mimalloc malloc serves. */
void xml_memory_init(void);
/* Gives back what a large document took and mimalloc keeps. */
void xml_memory_collect(void);

#endif
