/* See memory.h. */
#include "transformers/xml/memory.h"

#include "core/base/log.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include <libxml/xmlmemory.h>

/* Set by configure; empty: a sanitizer brings its own allocator. */
#ifndef HINNY_MIMALLOC
#define HINNY_MIMALLOC ""
#endif

static void (*collect)(bool force);

void
xml_memory_init(void)
{
	static const char name[] = HINNY_MIMALLOC;
	void *lib = name[0] != '\0' ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (lib == NULL) {
		if (name[0] != '\0')
			log_warning("XML is slower than it could be: %s", dlerror());
		return;
	}
	/* POSIX makes these conversions good. It stays open: its memory is in use to the end. */
	xmlFreeFunc release = (xmlFreeFunc)dlsym(lib, "mi_free");
	xmlMallocFunc take = (xmlMallocFunc)dlsym(lib, "mi_malloc");
	xmlReallocFunc resize = (xmlReallocFunc)dlsym(lib, "mi_realloc");
	xmlStrdupFunc copy = (xmlStrdupFunc)dlsym(lib, "mi_strdup");
	if (release != NULL && take != NULL && resize != NULL && copy != NULL &&
	    xmlMemSetup(release, take, resize, copy) == 0)
		collect = (void (*)(bool))dlsym(lib, "mi_collect");
}

void
xml_memory_collect(void)
{
	if (collect != NULL)
		collect(true);
}
