/*
 * libxml2 in hinny-xform's process: see xml.h. libxml2 and libxslt report errors and open files
 * through hooks that are global to the process and take no argument, so the one struct xml of the
 * process is found by `the_xml`; nothing else uses that variable.
 */
#include "transformers/xml/xml.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "transformers/xml/document.h"
#include "transformers/xml/encodings.h"
#include "transformers/xml/errors.h"
#include "transformers/xml/memory.h"

#include <stdlib.h>
#include <time.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlIO.h>
#include <libxml/xpath.h>

static struct xml *the_xml;

/* ---- what libxml2 may open ---- */

/* The only way in for schemas, what they import, and external entities of stylesheets (those of
 * messages are refused before). */
static xmlParserInputPtr
load_entity(const char *url, const char *id, xmlParserCtxtPtr pc)
{
	struct hinny_error err;
	struct str text;
	xmlParserInputBufferPtr in;
	xmlParserInputPtr input;

	(void)id;
	if (!url || xml_files_read(&the_xml->files, url, &text, &err) != HINNY_OK) {
		xml_errors_note(&the_xml->errors, "%s",
		    url ? err.text : "an entity without a name may not be loaded");
		return NULL;
	}
	in = xmlParserInputBufferCreateMem(text.p, (int)text.n, XML_CHAR_ENCODING_NONE);
	input = in ? xmlNewIOInputStream(pc, in, XML_CHAR_ENCODING_NONE) : NULL;
	if (!input) {
		xmlFreeParserInputBuffer(in);
		return NULL;
	}
	input->filename = (char *)xmlStrdup(BAD_CAST url);
	return input;
}

/* Takes every name, and opens none: so that libxml2's own callbacks are never asked. */
static int
match_any(const char *name)
{
	(void)name;
	return 1;
}

static void *
open_none(const char *name)
{
	(void)name;
	return NULL;
}

static int
read_none(void *file, char *p, int n)
{
	(void)file;
	(void)p;
	(void)n;
	return -1;
}

static int
close_none(void *file)
{
	(void)file;
	return 0;
}

/* ---- life ---- */

struct xml *
xml_new(const struct xml_limits *limits, int dirfd)
{
	struct xml *x = MEM_NEW(struct xml);

	ASSERT(the_xml == NULL);
	the_xml = x;
	x->limits = *limits;
	xml_files_init(&x->files, dirfd);
	buf_init(&x->errors.text, 16 << 10);
	buf_init(&x->in, 0);
	buf_init(&x->out, limits->max_output);
	tzset(); /* EXSLT's dates read the zone file; later there is no way to */
	xml_memory_init();
	xmlInitParser();
	xmlXPathInit();
	xmlParserMaxDepth =
	    (unsigned)limits->max_depth - 1; /* it is passed when the next one opens */
	xmlCleanupInputCallbacks();
	xmlCleanupOutputCallbacks();
	if (xmlRegisterInputCallbacks(match_any, open_none, read_none, close_none) == -1)
		abort(); /* out of memory */
	xmlSetExternalEntityLoader(load_entity);
	xml_errors_hook(&x->errors);
	x->encodings = xml_encodings_open();
	x->xpath = xmlXPathNewContext(NULL);
	x->empty = xmlNewDoc(NULL);
	ASSERT(x->xpath != NULL && x->empty != NULL);
	return x;
}

void
xml_free(struct xml *x)
{
	if (!x)
		return;
	xml_cache_fini(&x->cache);
	xmlFreeDoc(x->empty);
	xml_files_fini(&x->files); /* with what was compiled: it is cleaned up there */
	xmlXPathFreeContext(x->xpath);
	xml_encodings_close(x->encodings);
	buf_fini(&x->in);
	buf_fini(&x->out);
	buf_fini(&x->errors.text);
	xml_errors_hook(NULL);
	free(x);
	the_xml = NULL;
}

/* ---- memory ---- */

enum { MEMORY_LARGE = 1 << 20 };

void
xml_memory_trim(struct xml *x, size_t n)
{
	if (n < MEMORY_LARGE)
		return;
	if (x->out.cap >= MEMORY_LARGE) {
		size_t max = x->out.max;

		buf_fini(&x->out);
		buf_init(&x->out, max);
	}
	if (x->on_large)
		x->on_large(x->on_large_arg);
}
