/* Simple: any text compiles or is refused with an error that has a place; what compiles evaluates
 * without a fault. The first byte says template or predicate. */
#include "tests/lib/lang_case.h"

#include "core/base/assert.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
set_message(struct lang_case *lc)
{
	struct arena *a = &lc->ex->arena;
	struct value list = value_new_list(a, 2), map = value_new_map(a, 1, false);
	value_list_add(a, list.u.list, value_str(STR_LIT("a")));
	value_list_add(a, list.u.list, value_int(2));
	value_map_set(a, map.u.map, STR_LIT("k"), list);
	lang_case_header(lc, "a", value_str(STR_LIT("17")));
	lang_case_header(lc, "b", list);
	lang_case_header(lc, "c", map);
	lang_case_header(lc, "d", value_double(3.5));
	lang_case_header(lc, "foo", value_str(STR_LIT("abc")));
	exchange_set_variable(lc->ex, STR_LIT("v"), value_str(STR_LIT("[0]")));
	lang_case_body(lc, "{\"a\":[1,2,{\"b\":\"c\"}]}");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lang_case lc;
	if (size == 0 || size > 4096)
		return 0;
	char *text = malloc(size);
	ASSERT(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	lang_case_init(&lc);
	set_message(&lc);
	const char *got = lang_case_run(&lc, "simple", text, data[0] & 1);
	ASSERT(got != lang_case_silent);
	lang_case_fini(&lc);
	free(text);
	return 0;
}
