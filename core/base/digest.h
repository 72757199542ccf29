/* Message digests (RFC 1321, FIPS 180-4, FIPS 202): for ${hash(…)} and keys, not for secrets. */
#ifndef HINNY_BASE_DIGEST_H
#define HINNY_BASE_DIGEST_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_MAX = 64 };

enum digest {
	DIGEST_MD5,
	DIGEST_SHA1,
	DIGEST_SHA224,
	DIGEST_SHA256,
	DIGEST_SHA384,
	DIGEST_SHA512,
	DIGEST_SHA3_224,
	DIGEST_SHA3_256,
	DIGEST_SHA3_384,
	DIGEST_SHA3_512
};

/* Java's names of them: "MD5", "SHA-1" (also "SHA", "SHA1"), "SHA-256", "SHA3-256" …, in any letter
 * case. False: none. */
bool digest_find(struct str name, enum digest *out);
/* Returns the length. */
size_t digest_compute(enum digest kind, struct str text, uint8_t out[DIGEST_MAX]);

#endif
