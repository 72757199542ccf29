/* JAAS texts: any text is read or refused with a reason. */
#include "core/base/assert.h"
#include "transports/kafka/kafka_jaas.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kafka_jaas jaas;
	const char *why = NULL;
	struct arena a;

	if (size > 4096)
		return 0;
	arena_init(&a);
	if (kafka_jaas_parse(&a, (struct str){ (const char *)data, size }, &jaas, &why))
		ASSERT(jaas.username != NULL && jaas.password != NULL);
	else
		ASSERT(why != NULL);
	arena_fini(&a);
	return 0;
}
