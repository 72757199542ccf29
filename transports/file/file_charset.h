/* Character sets of files, by the C library's iconv. */
#ifndef HINNY_FILE_FILE_CHARSET_H
#define HINNY_FILE_FILE_CHARSET_H

#include "core/base/arena.h"

#include <stdbool.h>

bool charset_is_known(const char *name);
/* From the set to UTF-8, and back; what cannot be said becomes U+FFFD ("?"). In the arena; bytes of
 * UTF-8 stay where they are. */
struct str charset_decode(struct arena *a, struct str bytes, const char *name);
struct str charset_encode(struct arena *a, struct str text, const char *name);

#endif
