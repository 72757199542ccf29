/* Within the folder: Java's syntax of regular expressions as that of PCRE2. */
#ifndef HINNY_LANG_REGEX_PRIV_H
#define HINNY_LANG_REGEX_PRIV_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>

/* Appends the translated pattern; *ucp: it asks for (?U). HINNY_EINVAL: what has no translation,
 * with its column. */
enum hinny_rc regex_translate(
    struct str java, struct buf *to, bool *ucp, struct hinny_error *err);

#endif
