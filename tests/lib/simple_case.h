/* The message that cases of Simple work on. */
#ifndef HINNY_TESTS_LIB_SIMPLE_CASE_H
#define HINNY_TESTS_LIB_SIMPLE_CASE_H

#include "tests/lib/lang_case.h"

/* A text of the exchange's arena. */
struct value simple_case_text(struct lang_case *lc, const char *text);
/* The message of the specification's vectors. */
void simple_case_message(struct lang_case *lc);

#endif
