/* The scan of stylesheets for what they include, and endpoint uris. */
#include "core/base/assert.h"
#include "core/config/copy_scan.h"
#include "core/config/endpoint_uri.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bounds {
	const char *p, *end;
};

static void
check_reference(void *arg, struct copy_reference ref)
{
	const struct bounds *b = arg;

	ASSERT(ref.line > 0);
	ASSERT(ref.href.n > 0 && ref.href.p >= b->p && ref.href.p + ref.href.n <= b->end);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct bounds bounds = { text.p, text.p + size };
	struct uri_options os = { 0 };
	struct hinny_error err;
	struct arena a;
	bool computed;

	copy_scan(text, check_reference, &bounds, &computed);
	arena_init(&a);
	struct uri_parts parts = uri_split(text);
	if (uri_parse_query(&a, parts.query, &os, &err) == HINNY_OK)
		(void)uri_normalise(&a, parts.scheme, parts.path, &os);
	(void)uri_encode_template(&a, text);
	arena_fini(&a);
	return 0;
}
