/* The Simple language. */
#ifndef HINNY_LANG_SIMPLE_H
#define HINNY_LANG_SIMPLE_H

#include "core/lang/expression.h"
#include "core/model/descriptor.h"

struct simple_conf {
	bool trim_result;
	bool pretty;
	bool nested; /* refused when true */
};

extern const struct language_desc simple_language;

#endif
