/* Base64, both alphabets. */
#include "core/lang/base64.h"

#include <stdint.h>

static const char usual[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Three bytes or fewer as four characters or fewer. */
static size_t
encode_group(char out[4], const unsigned char *p, size_t n, bool url_safe)
{
	const char *letters = url_safe ? url : usual;
	uint32_t bits = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);

	out[0] = letters[bits >> 18];
	out[1] = letters[bits >> 12 & 63];
	out[2] = n > 1 ? letters[bits >> 6 & 63] : '=';
	out[3] = n > 2 ? letters[bits & 63] : '=';
	return n < 3 && url_safe ? n + 1 : 4;
}

enum hinny_rc
base64_encode(struct buf *b, struct str s, bool url_safe, size_t line_length, struct str separator)
{
	size_t line = line_length / 4 * 4, column = 0;
	enum hinny_rc rc = HINNY_OK;

	for (size_t i = 0; i < s.n && rc == HINNY_OK; i += 3) {
		char group[4];
		size_t n = encode_group(group, (const unsigned char *)s.p + i,
		    s.n - i < 3 ? s.n - i : 3, url_safe);
		rc = buf_add(b, group, n);
		column += 4;
		if (line > 0 && column == line && rc == HINNY_OK) {
			rc = buf_add_str(b, separator);
			column = 0;
		}
	}
	if (line > 0 && column > 0 && rc == HINNY_OK)
		rc = buf_add_str(b, separator);
	return rc;
}

static int
decode_char(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

enum hinny_rc
base64_decode(struct buf *b, struct str s)
{
	enum hinny_rc rc = buf_reserve(b, s.n / 4 * 3 + 3);
	uint32_t bits = 0;
	unsigned have = 0;

	for (size_t i = 0; i < s.n && s.p[i] != '=' && rc == HINNY_OK; i++) {
		int v = decode_char(s.p[i]);
		if (v < 0)
			continue;
		bits = bits << 6 | (uint32_t)v;
		have += 6;
		if (have >= 8) {
			have -= 8;
			rc = buf_add_char(b, (char)(bits >> have & 0xff));
		}
	}
	return rc;
}
