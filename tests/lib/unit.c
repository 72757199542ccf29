/* The list of a program's cases. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 4096 };

static struct CMUnitTest cases[CASES_MAX];
static size_t cases_n;

void
unit_add(const char *name, const char *label, CMUnitTestFunction fn, const void *state)
{
	size_t size = strlen(name) + (label != NULL ? strlen(label) : 0) + sizeof ": ";
	char *text = malloc(size);

	if (text == NULL || cases_n == CASES_MAX) {
		fprintf(stderr, "too many cases\n");
		exit(99);
	}
	(void)snprintf(
	    text, size, "%s%s%s", name, label ? ": " : "", label ? label : ""); /* fits */
	cases[cases_n++] = (struct CMUnitTest){
		.name = text,
		.test_func = fn,
		.initial_state = (void *)(uintptr_t)state, /* cmocka only hands it on */
	};
}

static void
free_names(void)
{
	for (size_t i = 0; i < cases_n; i++)
		free((void *)(uintptr_t)cases[i].name);
}

int
unit_run(const char *group)
{
	const char *filter = getenv("HINNY_UNIT_FILTER");

	if (filter != NULL)
		cmocka_set_test_filter(filter);
	int failed = _cmocka_run_group_tests(group, cases, cases_n, NULL, NULL);
	free_names();
	return failed == 0 ? 0 : 1;
}
