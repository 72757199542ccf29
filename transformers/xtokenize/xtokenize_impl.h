/* The runtime of the xtokenize language, in hinny-xform. The part that every process has is
 * core/lang/xtokenize.h. */
#ifndef HINNY_TRANSFORMERS_XTOKENIZE_IMPL_H
#define HINNY_TRANSFORMERS_XTOKENIZE_IMPL_H

#include "core/model/descriptor.h"

extern const struct language_impl xtokenize_impl;

#endif
