/* jsonpath: any text compiles or is refused with an error; what compiles reads a document without a
 * fault. The first byte says expression or predicate. */
#include "tests/lib/lang_case.h"

#include "core/base/assert.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lang_case lc;
	if (size == 0 || size > 2048)
		return 0;
	char *text = malloc(size);
	ASSERT(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	lang_case_init(&lc);
	lang_case_header(&lc, "min", value_str(STR_LIT("10")));
	lang_case_body(&lc,
	    "{\"id\":7,\"name\":\"Jo\",\"n\":null,\"tags\":[\"a\",\"b\"],\"o\":{\"x\":1.5},"
	    "\"items\":[{\"p\":5},{\"p\":15}]}");
	const char *got = lang_case_run(&lc, "jsonpath", text, data[0] & 1);
	ASSERT(got != lang_case_silent);
	lang_case_fini(&lc);
	free(text);
	return 0;
}
