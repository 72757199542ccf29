/*
 * A bundle as bytes, and as a sealed memory file that every worker inherits. The layout is private
 * to one build (the worker's HELLO carries the build stamp, and the magic a version); all numbers
 * are little-endian:
 *
 *   magic, cwd, settings (path, file, node), properties (key, value), replaced endpoints (pattern,
 * uri), files, documents (file, node or nothing)
 *
 * A text is u32 length, bytes, NUL, so that it is used in place. A node is u8 kind, u8 flags, u32
 * line, u32 column, then a text or u32 count and its children.
 */
#include "core/config/bundle_priv.h"

#include "core/base/buf.h"
#include "core/config/bundle_format.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* What does not fit makes everything behind it fail, up to the last byte, where bundle_encode
 * looks. */
static void
put(struct buf *b, const void *p, size_t n)
{
	if (buf_add(b, p, n) != HINNY_OK)
		b->max = b->n;
}

static void
put_u8(struct buf *b, unsigned v)
{
	unsigned char p = (unsigned char)v;

	put(b, &p, 1);
}

static void
put_u32(struct buf *b, size_t v)
{
	unsigned char p[4] = { (unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
		(unsigned char)(v >> 24) };

	put(b, p, sizeof p);
}

static void
put_str(struct buf *b, struct str s)
{
	put_u32(b, s.n);
	put(b, s.p, s.n);
	put_u8(b, 0);
}

/* NULL is told apart from "". */
static void
put_text(struct buf *b, const char *s)
{
	put_u8(b, s != NULL);
	if (s != NULL)
		put_str(b, str_of(s));
}

static void
put_node(struct buf *b, const struct node *n)
{
	size_t children = n->kind == NODE_MAP ? 2 * (size_t)n->n : n->n;

	put_u8(b, n->kind);
	put_u8(b, n->flags);
	put_u32(b, n->line);
	put_u32(b, n->column);
	if (n->kind == NODE_SCALAR) {
		put_str(b, n->text);
		return;
	}
	put_u32(b, n->n);
	for (size_t i = 0; i < children; i++)
		put_node(b, &n->items[i]);
}

static void
put_file(struct buf *b, const struct bundle_file *f)
{
	put_text(b, f->name);
	put_text(b, f->from);
	put_text(b, f->path);
	put_text(b, f->copy);
	put_u8(b, f->text != NULL);
	if (f->text != NULL)
		put_str(b, (struct str){ f->text, f->text_n });
}

static void
put_pairs(struct buf *b, const struct pairs *ps)
{
	put_u32(b, ps->n);
	for (size_t i = 0; i < ps->n; i++) {
		put_text(b, ps->items[i].key);
		put_text(b, ps->items[i].value);
	}
}

/* Of one that was made to be checked nothing is left but its place. */
static void
put_document(struct buf *b, const struct document *doc)
{
	const struct node *root = doc->probe ? NULL : doc->root;

	put_text(b, doc->file);
	put_text(b, doc->origin);
	put_u32(b, doc->scope);
	put_u32(b, doc->made);
	put_u8(b, root != NULL);
	if (root != NULL)
		put_node(b, root);
}

enum hinny_rc
bundle_encode(const struct bundle *bundle, struct buf *b)
{
	put(b, BUNDLE_MAGIC, sizeof BUNDLE_MAGIC - 1);
	put_text(b, bundle->cwd);
	put_u32(b, bundle->values.n);
	for (size_t i = 0; i < bundle->values.n; i++) {
		put_text(b, bundle->values.items[i].path);
		put_text(b, bundle->values.items[i].file);
		put_node(b, &bundle->values.items[i].node);
	}
	put_pairs(b, &bundle->properties);
	put_pairs(b, &bundle->replaced);
	put_u32(b, bundle->files_n);
	for (size_t i = 0; i < bundle->files_n; i++)
		put_file(b, &bundle->files[i]);
	put_u32(b, bundle->documents_n);
	for (size_t i = 0; i < bundle->documents_n; i++)
		put_document(b, &bundle->documents[i]);
	return buf_add(b, BUNDLE_END, sizeof BUNDLE_END - 1);
}

static enum hinny_rc
write_all(int fd, struct str data, struct hinny_error *err)
{
	while (data.n > 0) {
		ssize_t n = write(fd, data.p, data.n);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return hinny_error_errno(err, errno, "cannot write the bundle");
		data = (struct str){ data.p + n, data.n - (size_t)n };
	}
	return HINNY_OK;
}

static enum hinny_rc
save_bytes(struct str data, int *out, struct hinny_error *err)
{
	int fd = memfd_create("hinny-bundle", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd == -1)
		return hinny_error_errno(err, errno, "cannot make the bundle's memory file");
	enum hinny_rc rc = write_all(fd, data, err);
	if (rc == HINNY_OK &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == -1)
		rc = hinny_error_errno(err, errno, "cannot seal the bundle's memory file");
	if (rc != HINNY_OK)
		(void)close(fd); /* nothing of it is kept */
	else
		*out = fd;
	return rc;
}

enum hinny_rc
bundle_save(const struct bundle *bundle, int *fd, struct hinny_error *err)
{
	struct buf b;

	buf_init(&b, BUNDLE_MAX);
	enum hinny_rc rc = bundle_encode(bundle, &b);
	if (rc != HINNY_OK)
		rc = hinny_error_set(
		    err, HINNY_ELIMIT, "the configuration is larger than %d bytes", BUNDLE_MAX);
	else
		rc = save_bytes((struct str){ b.p, b.n }, fd, err);
	buf_fini(&b);
	return rc;
}
