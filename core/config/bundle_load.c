/*
 * A saved bundle back as a bundle. All lengths and counts are checked: a broken one is an error,
 * never a crash, and never more memory than a small multiple of its size. Texts are used in place.
 */
#include "core/config/bundle_priv.h"

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/config/bundle_format.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
	NODE_BYTES_MIN = 14, /* kind, flags, line, column, count or length */
};

struct decoder {
	const char *p, *end;
	struct arena *arena;
	bool bad;
	bool flawed; /* it is whole, and the files that it was made of have errors */
};

static size_t
left(const struct decoder *d)
{
	return (size_t)(d->end - d->p);
}

static bool
fail(struct decoder *d)
{
	d->bad = true;
	d->p = d->end;
	return false;
}

static unsigned
get_u8(struct decoder *d)
{
	if (left(d) < 1)
		return (unsigned)fail(d);
	return (unsigned char)*d->p++;
}

static uint32_t
get_u32(struct decoder *d)
{
	if (left(d) < 4)
		return (uint32_t)fail(d);
	const unsigned char *p = (const unsigned char *)d->p;
	d->p += 4;
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static struct str
get_str(struct decoder *d)
{
	size_t n = get_u32(d);

	if (left(d) < n || left(d) - n < 1 || d->p[n] != '\0') {
		(void)fail(d);
		return (struct str){ "", 0 };
	}
	struct str s = { d->p, n };
	d->p += n + 1;
	return s;
}

/* A C string: without NUL inside. */
static const char *
get_text(struct decoder *d)
{
	if (get_u8(d) == 0)
		return NULL;
	struct str s = get_str(d);
	if (strlen(s.p) != s.n)
		(void)fail(d);
	return s.p;
}

/* One that must be there. */
static const char *
need_text(struct decoder *d)
{
	const char *s = get_text(d);

	if (s == NULL) {
		(void)fail(d);
		return "";
	}
	return s;
}

/* A count of things of at least `least` bytes each. */
static size_t
get_count(struct decoder *d, size_t least)
{
	size_t n = get_u32(d);

	if (n > left(d) / least) {
		(void)fail(d);
		return 0;
	}
	return n;
}

static void
get_node(struct decoder *d, struct node *n, unsigned depth)
{
	n->kind = (uint8_t)get_u8(d);
	n->flags = (uint8_t)get_u8(d);
	n->line = get_u32(d);
	n->column = get_u32(d);
	n->n = 0;
	n->items = NULL;
	n->text = (struct str){ "", 0 };
	if (n->kind > NODE_MAP || (n->flags & ~(NODE_QUOTED | NODE_ABSENT | NODE_BAD)) != 0 ||
	    depth > NODE_DEPTH_MAX) {
		(void)fail(d);
		n->kind = NODE_SCALAR;
	}
	d->flawed |= (n->flags & NODE_BAD) != 0;
	if (n->kind == NODE_SCALAR) {
		n->text = get_str(d);
		return;
	}
	size_t count = get_count(d, n->kind == NODE_MAP ? 2 * NODE_BYTES_MIN : NODE_BYTES_MIN);
	size_t children = n->kind == NODE_MAP ? 2 * count : count;
	n->n = (uint32_t)count;
	if (children > 0)
		n->items = arena_alloc(d->arena, children * sizeof(struct node));
	for (size_t i = 0; i < children; i++) {
		get_node(d, &n->items[i], depth + 1);
		if (n->kind == NODE_MAP && i % 2 == 0 && n->items[i].kind != NODE_SCALAR)
			(void)fail(d);
	}
}

static void
get_values(struct decoder *d, struct bundle *b)
{
	size_t n = get_count(d, NODE_BYTES_MIN);

	for (size_t i = 0; i < n && !d->bad; i++) {
		struct settings_value v = { .path = need_text(d) };
		v.file = need_text(d);
		get_node(d, &v.node, 0);
		if (v.node.kind == NODE_MAP)
			(void)fail(d);
		for (uint32_t j = 0; v.node.kind == NODE_LIST && j < v.node.n; j++) {
			if (v.node.items[j].kind != NODE_SCALAR)
				(void)fail(d);
		}
		if (!d->bad)
			settings_values_add(&b->values, v);
	}
}

static void
get_pairs(struct decoder *d, struct pairs *ps)
{
	size_t n = get_count(d, 2);

	ps->items = arena_alloc(d->arena, (n + 1) * sizeof(struct pair));
	for (size_t i = 0; i < n && !d->bad; i++) {
		const char *key = need_text(d);
		ps->items[ps->n++] = (struct pair){ key, need_text(d) };
	}
}

static void
get_files(struct decoder *d, struct bundle *b)
{
	size_t n = get_count(d, 5);

	for (size_t i = 0; i < n && !d->bad; i++) {
		struct bundle_file f = { .name = need_text(d) };
		f.from = need_text(d);
		f.path = need_text(d);
		f.copy = get_text(d);
		if (get_u8(d) != 0) {
			struct str text = get_str(d);
			f.text = text.p;
			f.text_n = text.n;
		}
		if (!d->bad)
			(void)bundle_file_add(b, f);
	}
}

static void
get_documents(struct decoder *d, struct bundle *b)
{
	size_t n = get_count(d, 7);

	for (size_t i = 0; i < n && !d->bad; i++) {
		struct document *doc = bundle_add_document(b);
		doc->file = need_text(d);
		doc->origin = get_text(d);
		doc->scope = get_u32(d);
		doc->made = get_u32(d) != 0;
		if (doc->scope > n)
			(void)fail(d);
		if (get_u8(d) == 0)
			continue;
		doc->root = arena_alloc(&b->arena, sizeof(struct node));
		get_node(d, doc->root, 0);
	}
}

static void
get_mark(struct decoder *d, const char *mark)
{
	size_t n = strlen(mark);

	if (left(d) < n || memcmp(d->p, mark, n) != 0)
		(void)fail(d);
	else
		d->p += n;
}

enum hinny_rc
bundle_decode(struct str data, struct bundle **out, struct hinny_error *err)
{
	struct bundle *b = bundle_new();
	struct decoder d = { .p = data.p, .end = data.p + data.n, .arena = &b->arena };

	get_mark(&d, BUNDLE_MAGIC);
	b->cwd = need_text(&d);
	b->loaded = b->decided = true;
	get_values(&d, b);
	get_pairs(&d, &b->properties);
	get_pairs(&d, &b->replaced);
	get_files(&d, b);
	get_documents(&d, b);
	get_mark(&d, BUNDLE_END);
	if (!d.bad && left(&d) == 0) {
		b->flawed = d.flawed;
		*out = b;
		return HINNY_OK;
	}
	bundle_free(b);
	return hinny_error_set(err, HINNY_EPROTO, "the bundle is broken, or of another build");
}

enum hinny_rc
bundle_load(int fd, struct bundle **out, struct hinny_error *err)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return hinny_error_errno(err, errno, "cannot read the bundle");
	if (st.st_size <= 0 || st.st_size > BUNDLE_MAX)
		return hinny_error_set(err, HINNY_EPROTO, "the bundle is broken: it has %lld bytes",
		    (long long)st.st_size);
	size_t n = (size_t)st.st_size;
	void *map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return hinny_error_errno(err, errno, "cannot map the bundle");
	enum hinny_rc rc = bundle_decode((struct str){ map, n }, out, err);
	if (rc != HINNY_OK) {
		(void)munmap(map, n); /* mapped just now */
		return rc;
	}
	(*out)->map = map;
	(*out)->map_n = n;
	return HINNY_OK;
}

void
bundle_free(struct bundle *b)
{
	if (b == NULL)
		return;
	settings_values_fini(&b->values);
	properties_fini(&b->lookup);
	free(b->files);
	free(b->sources);
	arena_fini(&b->arena);
	if (b->map != NULL)
		(void)munmap(b->map, b->map_n); /* it was mapped by bundle_load */
	free(b);
}
