/*
 * Assertions that stay in release builds: a bug ends the process with file and line, and the
 * supervisor starts another.
 */
#ifndef HINNY_BASE_ASSERT_H
#define HINNY_BASE_ASSERT_H

#include <stddef.h>

_Noreturn void assert_failed(const char *file, int line, const char *what);

#define ASSERT(x) ((x) ? (void)0 : assert_failed(__FILE__, __LINE__, #x))
#define UNREACHABLE() assert_failed(__FILE__, __LINE__, "unreachable")
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* The structure that holds member `m` at address `p`. */
#define CONTAINER_OF(p, type, m) ((type *)((char *)(p)-offsetof(type, m)))

#endif
