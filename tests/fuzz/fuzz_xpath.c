/* Any text as an XPath expression: it is refused, or evaluates on a small document to a value or an
 * exception. */
#include "core/lang/xpath.h"
#include "transformers/xpath/xpath_impl.h"

#include "tests/unit/xform_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 4096 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xpath_conf conf = { .result = XPATH_NODESET };
	struct expression e = { .conf = &conf };
	struct exchange *ex;
	struct value v;

	if (size > LONGEST)
		return 0;
	if (!fixture.xml) {
		fixture_open();
		(void)atexit(fixture_close);
	}
	ex = fixture_exchange(
	    "<order id='7' xmlns:x='urn:x'><item>Brake</item><x:item>Seat</x:item></order>");
	exchange_set_header(ex, STR_LIT("a"), value_int(1));
	e.text = arena_strndup(&fixture.xml->files.arena, (const char *)data, size);
	e.predicate = size % 3 == 0;
	e.result_type = size % 3 == 1 ? CLASS_STRING : CLASS_NONE;
	if (xpath_impl.prepare(&fixture, &e, NULL) == HINNY_OK)
		(void)xpath_impl.eval(&e, ex, &v);
	fixture_exchange_end();
	arena_reset(&fixture.xml->files.arena); /* what was compiled; no file was read */
	return 0;
}
