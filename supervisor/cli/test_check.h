/* Expectations of a test against what happened. */
#ifndef HINNY_SUPERVISOR_CLI_TEST_CHECK_H
#define HINNY_SUPERVISOR_CLI_TEST_CHECK_H

#include "supervisor/cli/test_run.h"

/* What is not as expected: one failure a line, "file:line: what". */
struct test_failures {
	char *text; /* NULL: none */
	size_t n;
	FILE *to;
};
void test_failures_init(struct test_failures *f);
void test_fail(struct test_failures *f, struct position at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The text is whole then; empty: nothing failed. */
const char *test_failures_text(struct test_failures *f);
void test_failures_fini(struct test_failures *f);

/* Of one answer. */
void test_check_answer(
    const struct test_send *s, const struct test_answer *a, struct test_failures *f);
/* Of the mocks (as the admin command gives them) and the log. */
void test_check_expects(
    const struct test_case *tc, json_t *mocks, struct str log, struct test_failures *f);

#endif
