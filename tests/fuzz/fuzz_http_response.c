/* Heads of answers: every slice within the input, no framing that could be read in two ways. The
 * first byte says whether the request was HEAD. */
#include "transports/http/head.h"

#include "core/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_head h;
	const char *why = "";
	unsigned framings = 0;

	if (size == 0)
		return 0;
	const char *p = (const char *)data + 1;
	size_t n = 0;
	if (http_head_scan(p, size - 1, &n) != HTTP_SCAN_DONE)
		return 0;
	if (http_head_parse_response(&h, p, n, data[0] == 'H', &why) != 0)
		return 0;
	ASSERT(h.status >= 100 && h.status <= 999);
	for (unsigned i = 0; i < h.fields_n; i++) {
		const struct http_field *f = &h.fields[i];
		ASSERT(f->name.p >= p && f->name.p + f->name.n <= p + n);
		ASSERT(f->value.n == 0 || (f->value.p >= p && f->value.p + f->value.n <= p + n));
		ASSERT(http_is_token(f->name) && http_is_value(f->value));
		framings += str_caseeq(f->name, STR_LIT("content-length")) ||
		    str_caseeq(f->name, STR_LIT("transfer-encoding"));
		(void)http_head_is_hop(&h, f);
	}
	ASSERT(framings <= 1);
	ASSERT(h.framing == HTTP_NO_BODY ||
	    (data[0] != 'H' && h.status >= 200 && h.status != 204 && h.status != 304));
	ASSERT(h.framing != HTTP_UNTIL_EOF || !h.keep_alive);
	return 0;
}
