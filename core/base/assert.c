/* The end of a process that found a bug in itself. */
#include "core/base/assert.h"

#include "core/base/log.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void
assert_failed(const char *file, int line, const char *what)
{
	char where[256];

	(void)snprintf(where, sizeof where, "%s:%d", file, line); /* a cut path still tells */
	log_kv(LOG_LEVEL_ERROR, "assertion failed", "at", where, "condition", what, NULL);
	abort();
}
