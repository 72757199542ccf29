/* See xslt_elements.h. */
#include "transformers/xslt/xslt_elements.h"

#include <dlfcn.h>

#include <libxslt/transform.h>

typedef void register_fn(xsltTransformContextPtr tc);

/* The function takes a context that is not yet told its stylesheet: what it shall do lies here. */
static bool wanted = true;

void
xslt_elements_want(bool want)
{
	wanted = want;
}

void
xsltRegisterAllElement(xsltTransformContextPtr tc)
{
	static register_fn *library;

	if (!wanted)
		return;
	if (!library)
		*(void **)&library = dlsym(RTLD_NEXT, "xsltRegisterAllElement");
	if (library)
		library(tc);
}
