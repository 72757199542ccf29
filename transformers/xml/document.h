/* For xml.c alone: the cache of documents at the end of the process. The functions for all are in
 * xml.h. */
#ifndef HINNY_TRANSFORMERS_XML_DOCUMENT_H
#define HINNY_TRANSFORMERS_XML_DOCUMENT_H

#include "transformers/xml/xml.h"

/* Frees what is kept; the exchange whose document it was may outlive us. */
void xml_cache_fini(struct xml_cache *cache);

#endif
