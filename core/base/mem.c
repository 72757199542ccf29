/* Heap allocation that does not return without memory. */
#include "core/base/mem.h"

#include "core/base/log.h"

#include <stdlib.h>
#include <string.h>

static void *
checked(void *p, size_t size)
{
	if (p == NULL)
		fatal("out of memory: %zu bytes wanted", size);
	return p;
}

void *
mem_alloc(size_t size)
{
	return checked(malloc(size ? size : 1), size);
}

void *
mem_zalloc(size_t size)
{
	return checked(calloc(1, size ? size : 1), size);
}

void *
mem_realloc(void *p, size_t size)
{
	return checked(realloc(p, size ? size : 1), size);
}

char *
mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

char *
mem_strndup(const char *s, size_t n)
{
	char *p = mem_alloc(n + 1);
	if (n > 0)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}
