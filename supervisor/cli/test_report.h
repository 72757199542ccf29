/* Results of tests: TAP (version 13) as they come, and a JUnit file of all. */
#ifndef HINNY_SUPERVISOR_CLI_TEST_REPORT_H
#define HINNY_SUPERVISOR_CLI_TEST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct test_result {
	const char *file, *name;
	unsigned line;
	int64_t took_ms;
	char *failure; /* NULL: passed */
};

struct test_report {
	struct test_result *items;
	size_t n, cap, failed;
};

void test_report_begin(struct test_report *rp, size_t tests);
/* file and name are borrowed until the end; `failure` is taken. Prints the line. */
void test_report_add(struct test_report *rp, const char *file, const char *name, unsigned line,
    int64_t took_ms, char *failure);
/* The summary. */
void test_report_end(const struct test_report *rp);
/* False: it cannot be written (errno). */
bool test_report_junit(const struct test_report *rp, const char *path);
void test_report_fini(struct test_report *rp);

#endif
