/* The table of functions of Simple, and how they are found. */
#include "core/lang/simple_fn.h"

#include "core/base/assert.h"

static const struct simple_function functions[] = {
#define PREFIX 0
#define PARENS SIMPLE_PARENS
#define BARE SIMPLE_BARE
#define EITHER SIMPLE_EITHER
#define SIMPLE_FORM(name, syntax, help)
#define SIMPLE_FUNCTION(name, form, min, max, args, pure, reads, fn, help)                         \
	{ name, form, min, max, args, pure, reads, fn, help },
#define SIMPLE_REFUSED(name, why)
#include "core/lang/simple_functions.def"
#undef SIMPLE_FORM
#undef SIMPLE_FUNCTION
#undef SIMPLE_REFUSED
};

static const struct refused {
	const char *name, *why;
} refused[] = {
#define SIMPLE_FORM(name, syntax, help)
#define SIMPLE_FUNCTION(name, form, min, max, args, pure, reads, fn, help)
#define SIMPLE_REFUSED(name, why) { name, why },
#include "core/lang/simple_functions.def"
#undef SIMPLE_FORM
#undef SIMPLE_FUNCTION
#undef SIMPLE_REFUSED
};

static int
compare_name(struct str name, const char *row)
{
	size_t n = strlen(row), common = name.n < n ? name.n : n;
	int order = common > 0 ? memcmp(name.p, row, common) : 0;
	return order != 0 ? order : (name.n > n) - (name.n < n);
}

const struct simple_function *
simple_function_find(struct str name)
{
	size_t low = 0, high = ARRAY_LEN(functions);
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = compare_name(name, functions[middle].name);
		if (order == 0)
			return &functions[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const char *
simple_function_refused(struct str name)
{
	size_t n = 0;
	while (n < name.n && ((name.p[n] | 32) >= 'a') && ((name.p[n] | 32) <= 'z'))
		n++;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (str_eq((struct str){ name.p, n }, str_of(refused[i].name)))
			return refused[i].why;
	return NULL;
}

const struct simple_function *
simple_function_all(size_t *n)
{
	*n = ARRAY_LEN(functions);
	return functions;
}
