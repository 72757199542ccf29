/* A route file: YAML to nodes to a program, without a disk. Whatever is wrong is said; nothing
 * crashes, and what is right can be saved and loaded. */
#include "core/base/assert.h"
#include "core/config/bundle_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a bundle says of itself must be what the decoder takes. */
static void
save_and_load(const struct bundle *b)
{
	struct bundle *again;
	struct hinny_error err;
	struct buf bytes;

	buf_init(&bytes, 0);
	ASSERT(bundle_encode(b, &bytes) == HINNY_OK);
	ASSERT(bundle_decode((struct str){ bytes.p, bytes.n }, &again, &err) == HINNY_OK);
	bundle_free(again);
	buf_fini(&bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bundle *b = bundle_new();
	struct diagnostics ds;
	struct document doc = { .file = "f" };

	diagnostics_init(&ds);
	b->cwd = "/nonexistent";
	b->loaded = true; /* no file is looked for */
	doc.root = yaml_parse(&b->arena, doc.file, (struct str){ (const char *)data, size }, &ds);
	b->documents = &doc;
	b->documents_n = 1;
	ASSERT(doc.root != NULL || ds.errors > 0);
	struct program *p = program_compile(b, &ds);
	ASSERT((p == NULL) == (ds.errors > 0));
	if (p != NULL)
		save_and_load(b);
	program_free(p);
	bundle_free(b);
	diagnostics_fini(&ds);
	return 0;
}
