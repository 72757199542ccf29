/*
 * Spares each transformation what libxslt does for element-available() alone: it enters its 24
 * instructions into a table of every transformation context, a tenth of the time of a small
 * document. We define the library's xsltRegisterAllElement(), which takes the place of its own, and
 * call that when a stylesheet asks for it. Where the library binds its calls within itself,
 * ours is never called, and all is as before.
 */
#ifndef HINNY_TRANSFORMERS_XSLT_ELEMENTS_H
#define HINNY_TRANSFORMERS_XSLT_ELEMENTS_H

#include <stdbool.h>

/* Do the transformations from now on need the table? */
void xslt_elements_want(bool want);

#endif
