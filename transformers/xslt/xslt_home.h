/* The home's side of xslt: with output=file it writes the file, since hinny-xform can write
 * nothing. Links no library. */
#ifndef HINNY_TRANSFORMERS_XSLT_HOME_H
#define HINNY_TRANSFORMERS_XSLT_HOME_H

struct component_ops;

/* after_call alone. */
extern const struct component_ops xslt_home_ops;

#endif
