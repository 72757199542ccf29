/* See functions.h. */
#include "transformers/xml/functions.h"

#include "core/base/assert.h"

#include <limits.h>
#include <string.h>

static const struct xml_function functions[] = {
#define FUNCTION(name, least, most, xslt) { name, least, most, xslt },
#include "transformers/xml/functions.def"
#undef FUNCTION
};

const struct xml_function *
xml_function_find(struct str name, bool xslt)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		if (str_eq(name, str_of(functions[i].name)) && (xslt || !functions[i].xslt))
			return &functions[i];
	}
	return NULL;
}

const char *
xml_function_nearest(struct str name)
{
	const char *names[ARRAY_LEN(functions) + 1];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		if (!functions[i].xslt)
			names[n++] = functions[i].name;
	}
	names[n] = NULL;
	return str_nearest(name, names);
}

/* -1: the closing bracket is missing. */
static int
count_arguments(const char *p)
{
	int commas = 0, depth = 0;
	bool any = false;

	for (; *p; p++) {
		if (*p == '"' || *p == '\'') {
			p = strchr(p + 1, *p);
			if (p == NULL)
				return -1;
			any = true;
		} else if (*p == '(' || *p == '[') {
			any |= depth++ > 0;
		} else if (*p == ')' || *p == ']') {
			if (--depth == 0)
				return any ? commas + 1 : 0;
		} else if (*p == ',' && depth == 1) {
			commas++;
		} else if (!strchr(" \t\r\n", *p)) {
			any = true;
		}
	}
	return -1;
}

bool
xml_function_takes(const struct xml_function *f, const char *p)
{
	int n = count_arguments(p);

	return n == -1 || (n >= f->least && n <= f->most);
}

bool
xml_union_is_open(const char *p)
{
	p++;
	p += strspn(p, " \t\r\n");
	return strchr("|)],}", *p) != NULL; /* or at the end */
}
