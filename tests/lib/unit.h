/*
 * Unit tests: cmocka with tables of labelled cases. A program registers its cases and runs them:
 *
 *   static void test_empty(void **state) { ... assert_int_equal(...); }
 *   static const struct row { const char *label; ... } rows[] = { { "no unit", ... }, ... };
 *   static void check_row(void **state) { const struct row *r = *state; ... }
 *
 *   int main(void)
 *   {
 *           UNIT_CASE(test_empty);
 *           UNIT_TABLE("duration", rows, check_row);
 *           return unit_run("units");
 *   }
 */
#ifndef HINNY_TESTS_LIB_UNIT_H
#define HINNY_TESTS_LIB_UNIT_H

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define UNIT_CASE(fn) unit_add(#fn, NULL, (fn), NULL)
/* One case a row; the rows have a member `label`. */
#define UNIT_TABLE(name, rows, fn)                                                                 \
	do {                                                                                       \
		for (size_t unit_i = 0; unit_i < sizeof(rows) / sizeof((rows)[0]); unit_i++)       \
			unit_add((name), (rows)[unit_i].label, (fn), &(rows)[unit_i]);             \
	} while (0)

/* A case named "name: label"; state is what fn finds in *state. */
void unit_add(const char *name, const char *label, CMUnitTestFunction fn, const void *state);
/* Runs all; with HINNY_UNIT_FILTER in the environment those whose name matches it (`*`, `?`). */
int unit_run(const char *group);

#endif
