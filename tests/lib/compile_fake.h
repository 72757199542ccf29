/*
 * The functions of core/config/compile.h that languages use, without core/config: tests of
 * languages compile texts by themselves. A test program that is linked with compile_fake.c takes no
 * object of core/config that has these functions too.
 */
#ifndef HINNY_TESTS_LIB_COMPILE_FAKE_H
#define HINNY_TESTS_LIB_COMPILE_FAKE_H

#include "core/config/compile.h"

#include <stdbool.h>

struct compile {
	struct arena arena;
	char errors[4096]; /* one a line, "COLUMN: text" (column 0: of no place in a text) */
	size_t errors_n;
	struct program program;
};

void compile_fake_init(struct compile *c);
void compile_fake_fini(struct compile *c);
void compile_fake_property(struct compile *c, const char *key, const char *value);
/* An expression with its options at their defaults, not compiled yet. */
struct expression *compile_fake_new(
    struct compile *c, const char *language, const char *text, bool predicate);
/* Compiles it; false: c->errors says why. */
bool compile_fake_finish(struct compile *c, struct expression *e);

#endif
