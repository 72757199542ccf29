/*
 * Counted, immutable-once-shared byte buffers: bodies and network reads. Routing copies no payload,
 * it takes references. Counts are not atomic: a blob belongs to one thread. A blob made by
 * blob_new_mapped is a spool file in memory.
 */
#ifndef HINNY_BASE_BLOB_H
#define HINNY_BASE_BLOB_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct blob {
	uint32_t refs;
	uint32_t kind; /* how it is freed; private */
	size_t size;   /* bytes in use */
	size_t cap;    /* bytes there are */
	char *data;
};

struct blob *blob_new(size_t cap); /* size 0, one reference; malloc'ed, never NULL */
struct blob *blob_copy(const void *p, size_t n);
/* Maps n bytes of the file read-only; the descriptor may be closed afterwards. */
enum hinny_rc blob_new_mapped(int fd, size_t n, struct blob **out, struct hinny_error *err);
struct blob *blob_get(struct blob *b);
void blob_put(struct blob *b); /* NULL is fine */

#endif
