/* The chunked decoder: fed in one piece and byte by byte it finds the same payload, the same end,
 * the same fault; what it takes encodes to the same payload again. */
#include "transports/http/chunked.h"

#include "core/base/assert.h"
#include "core/base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum chunked_rc
decode(const char *p, size_t n, size_t step, struct buf *out, size_t *end)
{
	struct chunked c;
	enum chunked_rc rc = CHUNKED_MORE;
	size_t at = 0;

	chunked_init(&c);
	while (at < n && rc != CHUNKED_END) {
		size_t give = n - at < step ? n - at : step, used = 0;
		struct str bytes;
		rc = chunked_feed(&c, p + at, give, &used, &bytes);
		if (rc == CHUNKED_BAD)
			return rc;
		ASSERT(used <= give && (rc != CHUNKED_MORE || used == give));
		if (rc == CHUNKED_BYTES) {
			ASSERT(
			    bytes.n > 0 && bytes.p >= p + at && bytes.p + bytes.n <= p + at + give);
			(void)buf_add(out, bytes.p, bytes.n);
		}
		at += used;
	}
	*end = at;
	return rc;
}

static void
check_again(const struct buf *payload)
{
	struct buf text, again;
	char head[CHUNKED_HEAD_MAX];
	size_t end;

	buf_init(&text, 0);
	buf_init(&again, 0);
	if (payload->n > 0) {
		(void)buf_add(&text, head, chunked_head(head, payload->n));
		(void)buf_add(&text, payload->p, payload->n);
		(void)buf_add(&text, "\r\n", 2);
	}
	(void)buf_add(&text, "0\r\n\r\n", 5);
	ASSERT(decode(text.p, text.n, text.n, &again, &end) == CHUNKED_END && end == text.n);
	ASSERT(
	    again.n == payload->n && (again.n == 0 || memcmp(again.p, payload->p, again.n) == 0));
	buf_fini(&text);
	buf_fini(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole, slow;
	size_t end = 0, slow_end = 0;

	buf_init(&whole, 0);
	buf_init(&slow, 0);
	enum chunked_rc rc = decode((const char *)data, size, size, &whole, &end);
	enum chunked_rc slow_rc = decode((const char *)data, size, 1, &slow, &slow_end);
	ASSERT((rc == CHUNKED_BAD) == (slow_rc == CHUNKED_BAD));
	ASSERT((rc == CHUNKED_END) == (slow_rc == CHUNKED_END));
	if (rc != CHUNKED_BAD)
		ASSERT(end == slow_end && whole.n == slow.n &&
		    (whole.n == 0 || memcmp(whole.p, slow.p, whole.n) == 0));
	if (rc == CHUNKED_END)
		check_again(&whole);
	buf_fini(&whole);
	buf_fini(&slow);
	return 0;
}
