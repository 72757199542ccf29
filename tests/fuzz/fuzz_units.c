/* Durations and sizes: no text overflows into a negative number. */
#include "core/base/units.h"

#include "core/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { (const char *)data, size };
	char buf[64];
	uint64_t bytes;
	int64_t ms;

	if (units_parse_duration(s, &ms)) {
		ASSERT(ms >= 0 || data[0] == '-');
		(void)units_format_duration(ms, buf, sizeof buf);
	}
	if (units_parse_size(s, &bytes)) {
		ASSERT(bytes <= INT64_MAX);
		(void)units_format_size(bytes, buf, sizeof buf);
	}
	return 0;
}
