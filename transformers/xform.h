/* The worker kind that runs the XML transformers. */
#ifndef HINNY_TRANSFORMERS_XFORM_H
#define HINNY_TRANSFORMERS_XFORM_H

extern const struct worker_kind xform_kind;

#endif
