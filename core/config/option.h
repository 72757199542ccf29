/*
 * Options by descriptor: one place that turns the text of a value into the member of a conf
 * structure. For settings, endpoints, languages and steps.
 */
#ifndef HINNY_CONFIG_OPTION_H
#define HINNY_CONFIG_OPTION_H

#include "core/base/arena.h"
#include "core/model/descriptor.h"

#include <stdbool.h>

/* A cleared conf structure whose `given` bits are kept in front of it (see option_given in
 * compile.h). */
void *option_new_conf(struct arena *a, size_t size);
void option_mark_given(void *conf, const struct option_desc *table, const struct option_desc *o);

/* Is it a type that one scalar says: STRING, BOOL, INT, DOUBLE, DURATION, SIZE, ENUM, CLASS,
 * STRINGS (comma-separated)? */
bool option_is_scalar(const struct option_desc *o);
/*
 * Sets the member from text. Texts are kept, not copied, unless they must be. HINNY_EINVAL: *err
 * says `expected a duration such as "5s", got "x"`.
 */
enum hinny_rc option_set_text(struct arena *a, const struct option_desc *o, void *conf,
    struct str text, struct hinny_error *err);
/* Its default, when it has one. A default that does not parse is a bug. */
void option_set_default(struct arena *a, const struct option_desc *o, void *conf);
/* The row of that name; "parallel-processing" finds parallelProcessing. NULL when there is none. */
const struct option_desc *option_find(const struct option_desc *table, struct str name);
/* "set-body" as "setBody". */
struct str option_camel_case(struct arena *a, struct str s);
/* The nearest name, for "did you mean"; NULL. `more` (NULL-ended, may be NULL) are further names.
 */
const char *option_nearest(
    struct arena *a, const struct option_desc *table, const char *const *more, struct str name);
/* `, did you mean "x"` or "". */
const char *option_did_you_mean(struct arena *a, const char *near);
/* "a whole number from 1 to 10", "true or false": what is expected. */
const char *option_expected(struct arena *a, const struct option_desc *o);

#endif
