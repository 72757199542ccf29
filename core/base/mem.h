/*
 * Heap memory for small fixed requests: out of memory ends the process. What outside input sizes
 * goes through buf.h.
 */
#ifndef HINNY_BASE_MEM_H
#define HINNY_BASE_MEM_H

#include <stddef.h>

/* The caller frees each result with free(). */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size);
void *mem_realloc(void *p, size_t size);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
#define MEM_NEW(type) ((type *)mem_zalloc(sizeof(type)))

#endif
