/* Cron expressions: any text is read or refused; what was read is due behind the time asked for, at
 * a time that it names when the clock is not changed. */
#include "core/base/arena.h"
#include "core/base/assert.h"
#include "transports/cron/cron_expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct timezone_rules *tz;
	struct hinny_error err;
	struct cron_expr e;
	struct arena a;

	if (size > 200)
		return 0;
	if (cron_parse((struct str){ (const char *)data, size }, &e, &err) != HINNY_OK) {
		ASSERT(err.rc == HINNY_EINVAL && err.text[0] != '\0');
		return 0;
	}
	arena_init(&a);
	ASSERT(timezone_load(&a, "UTC", &tz, &err) == HINNY_OK);
	int64_t at = 1700000000;
	for (int i = 0; i < 3 && at >= 0; i++) {
		int64_t next = cron_next(&e, tz, at);
		ASSERT(next == -1 || next > at);
		if (next >= 0) {
			ASSERT((e.seconds >> next % 60 & 1) != 0);
			ASSERT((e.minutes >> next / 60 % 60 & 1) != 0);
			ASSERT((e.hours >> next / 3600 % 24 & 1) != 0);
		}
		at = next;
	}
	arena_fini(&a);
	return 0;
}
