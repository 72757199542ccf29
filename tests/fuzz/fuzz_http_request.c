/*
 * Heads of requests. What is taken must be sound: every slice within the input, names tokens,
 * values without control characters, framing that leaves no choice. The end of the head is found at
 * the same place byte by byte.
 */
#include "transports/http/head.h"

#include "core/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_within(struct str s, const char *p, size_t n)
{
	ASSERT(s.n == 0 || (s.p >= p && s.p + s.n <= p + n));
}

static void
check_fields(const struct http_head *h, const char *p, size_t n)
{
	unsigned lengths = 0, codings = 0, hosts = 0;

	for (unsigned i = 0; i < h->fields_n; i++) {
		const struct http_field *f = &h->fields[i];
		check_within(f->name, p, n);
		check_within(f->value, p, n);
		ASSERT(http_is_token(f->name) && http_is_value(f->value));
		lengths += str_caseeq(f->name, STR_LIT("content-length"));
		codings += str_caseeq(f->name, STR_LIT("transfer-encoding"));
		hosts += str_caseeq(f->name, STR_LIT("host"));
		(void)http_head_is_hop(h, f);
	}
	ASSERT(lengths + codings <= 1);
	ASSERT(hosts == 1 || (hosts == 0 && h->minor == 0));
	ASSERT((h->framing == HTTP_CHUNKED) == (codings == 1));
	ASSERT(h->framing != HTTP_LENGTH || lengths == 1);
	ASSERT(h->framing != HTTP_UNTIL_EOF);
}

static enum http_scan
scan_by_bytes(const char *p, size_t n, size_t *at)
{
	enum http_scan rc = HTTP_SCAN_MORE;

	*at = 0;
	for (size_t i = 1; i <= n && rc == HTTP_SCAN_MORE; i++)
		rc = http_head_scan(p, i, at);
	return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct http_head h;
	const char *p = (const char *)data, *why = NULL;
	size_t at = 0, slow_at;

	enum http_scan rc = http_head_scan(p, size, &at);
	enum http_scan slow = scan_by_bytes(p, size, &slow_at);
	ASSERT(rc == slow && (rc != HTTP_SCAN_DONE || at == slow_at));
	if (rc != HTTP_SCAN_DONE)
		return 0;
	size_t n = at;
	int status = http_head_parse_request(&h, p, n, &why);
	if (status != 0) {
		ASSERT(why != NULL && status >= 400 && status <= 599);
		return 0;
	}
	check_within(h.target, p, n);
	check_within(h.query, p, n);
	check_fields(&h, p, n);
	return 0;
}
