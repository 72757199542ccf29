/* A saved bundle, maybe broken: decoded and compiled. */
#include "core/config/bundle_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bundle *b;
	struct hinny_error err;
	struct diagnostics ds;

	if (bundle_decode((struct str){ (const char *)data, size }, &b, &err) != HINNY_OK)
		return 0;
	diagnostics_init(&ds);
	program_free(program_compile(b, &ds));
	bundle_free(b);
	diagnostics_fini(&ds);
	return 0;
}
