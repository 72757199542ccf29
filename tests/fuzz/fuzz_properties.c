/* A properties file and the placeholders in its values. */
#include "core/config/placeholder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct properties ps;
	struct hinny_error err;
	struct arena a;
	struct str out;
	bool absent;

	arena_init(&a);
	properties_init(&ps, &a, "/nonexistent");
	(void)properties_parse(&ps, (struct str){ (const char *)data, size }, true, &err);
	for (size_t i = 0; i < ps.n && i < 16; i++)
		(void)placeholder_resolve(&ps, str_of(ps.items[i].value),
		    i % 2 ? PLACEHOLDER_URI : 0, &out, &absent, &err);
	properties_fini(&ps);
	arena_fini(&a);
	return 0;
}
