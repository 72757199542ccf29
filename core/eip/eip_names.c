/* Names in the options of steps. */
#include "core/eip/eip_names.h"

#include "core/config/compile.h"

#include <string.h>

const char *
names_constant(const struct expression *e)
{
	return e && strcmp(e->language->name, "constant") == 0 && e->result_type == CLASS_NONE
	    ? e->text
	    : NULL;
}

bool
names_reads_header(const struct access *ac, const char *name)
{
	for (size_t i = 0; i < ac->headers.n; i++)
		if (str_caseeq(str_of(ac->headers.items[i]), str_of(name)))
			return true;
	return (ac->flags & ACCESS_HEADERS_ALL) != 0;
}

bool
names_reads_variable(const struct access *ac, const char *name)
{
	for (size_t i = 0; i < ac->variables.n; i++)
		if (strcmp(ac->variables.items[i], name) == 0)
			return true;
	return (ac->flags & ACCESS_VARIABLES_ALL) != 0;
}
