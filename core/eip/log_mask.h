/* logMask: what looks like a secret in a text that is logged. */
#ifndef HINNY_EIP_LOG_MASK_H
#define HINNY_EIP_LOG_MASK_H

#include "core/base/arena.h"
#include "core/base/str.h"

/*
 * The text with "xxxxx" for the values of passwords, tokens and the like, by the names that Camel
 * has for these (camel-util, SensitiveUtils): of elements and attributes when it begins with "<",
 * of members when it begins with "{" or "[", else of name=value. In the arena, or the text itself.
 */
struct str log_mask(struct arena *a, struct str text);

#endif
