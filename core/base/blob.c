/*
 * Reference-counted buffers: the bytes follow the header in one allocation, or are a mapping of a
 * file.
 */
#include "core/base/blob.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOB_HEAP, BLOB_MAPPED };

struct blob *
blob_new(size_t cap)
{
	ASSERT(cap <= SIZE_MAX - sizeof(struct blob));
	struct blob *b = mem_alloc(sizeof *b + cap);
	*b = (struct blob){ .refs = 1, .kind = BLOB_HEAP, .cap = cap, .data = (char *)(b + 1) };
	return b;
}

struct blob *
blob_copy(const void *p, size_t n)
{
	struct blob *b = blob_new(n);
	if (n > 0)
		memcpy(b->data, p, n);
	b->size = n;
	return b;
}

enum hinny_rc
blob_new_mapped(int fd, size_t n, struct blob **out, struct hinny_error *err)
{
	if (n == 0) { /* mmap refuses it */
		*out = blob_new(0);
		return HINNY_OK;
	}
	void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return hinny_error_errno(err, errno, "cannot map %zu bytes of a file", n);
	struct blob *b = mem_alloc(sizeof *b);
	*b = (struct blob){ .refs = 1, .kind = BLOB_MAPPED, .size = n, .cap = n, .data = p };
	*out = b;
	return HINNY_OK;
}

struct blob *
blob_get(struct blob *b)
{
	ASSERT(b->refs > 0 && b->refs < UINT32_MAX);
	b->refs++;
	return b;
}

void
blob_put(struct blob *b)
{
	if (b == NULL)
		return;
	ASSERT(b->refs > 0);
	if (--b->refs > 0)
		return;
	if (b->kind == BLOB_MAPPED)
		(void)munmap(b->data, b->cap); /* cannot fail for a mapping of our own */
	free(b);
}
