/* Numbers, UTF-8, searching, splitting and "did you mean" over any bytes. */
#include "core/base/str.h"

#include "core/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_split(struct str s)
{
	struct str rest = s, item;
	size_t total = 0, items = 0;

	while (str_split(&rest, ',', &item)) {
		ASSERT(str_find(item, STR_LIT(",")) == SIZE_MAX);
		total += item.n;
		items++;
	}
	ASSERT(total + items - 1 == s.n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "choice", "setBody", "setHeader", "to", NULL };
	struct str s = { (const char *)data, size };
	double number;
	int64_t whole;

	if (str_to_int64(s, &whole))
		ASSERT(str_to_double(s, &number));
	(void)str_to_double(s, &number);
	(void)str_utf8_valid(s);
	(void)str_nearest(s, names);
	ASSERT(str_find(s, s) == 0 && str_casefind(s, s) == 0);
	ASSERT(str_trim(s).n <= s.n);
	check_split(s);
	return 0;
}
