/* The languages that name one thing: constant, header, exchangeProperty, variable. */
#ifndef HINNY_LANG_SMALL_H
#define HINNY_LANG_SMALL_H

#include "core/lang/expression.h"
#include "core/model/descriptor.h"

extern const struct language_desc constant_language;
extern const struct language_desc exchangeProperty_language;
extern const struct language_desc header_language;
extern const struct language_desc ref_language;
extern const struct language_desc variable_language;

#endif
