/* Base64 (RFC 4648), the usual and the URL-safe alphabet. */
#ifndef HINNY_LANG_BASE64_H
#define HINNY_LANG_BASE64_H

#include "core/base/buf.h"

#include <stdbool.h>

/* Appends s, in lines of line_length characters (a multiple of four is taken; 0: one line without an
 * end), each ended by `separator`. url_safe: "-" and "_", and no padding. HINNY_ELIMIT at the bound
 * of the buffer. */
enum hinny_rc base64_encode(
    struct buf *b, struct str s, bool url_safe, size_t line_length, struct str separator);
/* Appends the bytes of both alphabets up to the first "="; anything else (blanks, line ends) is
 * passed over, and so are bits that make no byte. */
enum hinny_rc base64_decode(struct buf *b, struct str s);

#endif
