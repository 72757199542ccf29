/*
 * Values as text, for tables of cases: a kind, a colon, the rest.
 *   n: null   b: Boolean   i: Integer   l: Long   t: Date (ms)   d: Double   f: Float   N: decimal
 *   s: String   c: cached stream   y: bytes   j: JSON (scalars too)   x: XML
 *   xN: node-set of N nodes   L: list of strings, split at "|"   A: array likewise
 *   M: map "k=v|k=v"
 */
#ifndef HINNY_TESTS_LIB_VALUE_CASE_H
#define HINNY_TESTS_LIB_VALUE_CASE_H

#include "core/model/value.h"

/* Lists and maps live in the arena; texts are those of spec. */
struct value value_case(struct arena *a, const char *spec);
/* The value with these flags. */
struct value value_case_flags(struct value v, unsigned flags, uint32_t aux);
/* A list of a text, a map, null and JSON. */
struct value value_case_list(struct arena *a);
/* n times "x" as text, bytes or XML. */
struct value value_case_long(struct arena *a, unsigned type, size_t n);

#endif
