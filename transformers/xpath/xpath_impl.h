/* The runtime of the xpath language, in hinny-xform. The part that every process has is
 * core/lang/xpath.h. */
#ifndef HINNY_TRANSFORMERS_XPATH_IMPL_H
#define HINNY_TRANSFORMERS_XPATH_IMPL_H

#include "core/model/descriptor.h"

extern const struct language_impl xpath_impl;

#endif
