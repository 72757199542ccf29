/* A route file, or a Kamelet: YAML to nodes, templates to routes, to a program; in a folder that is
 * not there. Whatever is wrong is said; nothing crashes, and what is right can be saved and loaded.
 */
#include "core/base/assert.h"
#include "core/config/bundle_priv.h"
#include "core/config/expand.h"
#include "core/config/template.h"

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

static void
expand(struct bundle *b, struct node *root, struct diagnostics *ds)
{
	static const struct bundle_options opt = { 0 };

	b->settings = settings_make(&b->arena, &b->values, ds);
	struct expansion *x = expand_begin(b, &opt, ds);
	if (root != NULL && template_is_kamelet(root)) {
		expand_add_kamelet(x, "f", root);
	} else {
		*bundle_add_document(b) = (struct document){ .file = "f", .root = root };
		expand_take_templates(x, 0);
		placeholder_resolve_tree(&b->lookup, "f", root, ds);
	}
	expand_end(x);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bundle *b = bundle_new();
	struct diagnostics ds;

	diagnostics_init(&ds);
	b->cwd = b->lookup.cwd = "/nonexistent";
	struct node *root =
	    yaml_parse(&b->arena, "f", (struct str){ (const char *)data, size }, &ds);
	ASSERT(root != NULL || ds.errors > 0);
	expand(b, root, &ds);
	struct program *p = program_compile(b, &ds);
	ASSERT((p == NULL) == (ds.errors > 0));
	if (p != NULL)
		save_and_load(b);
	else
		program_free(program_compile_partial(b, &ds)); /* as hinny check does */
	program_free(p);
	bundle_free(b);
	diagnostics_fini(&ds);
	return 0;
}
