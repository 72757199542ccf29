/* Character sets: see encodings.h. */
#include "transformers/xml/encodings.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <libxml/encoding.h>

/* By iconv. The first is what libxml2 asks for when a document begins with four-byte characters. */
static const char *const kept_open[] = { "ISO-10646-UCS-4", "UTF-32", "Shift_JIS", "EUC-JP", "GBK",
	"Big5" };

struct xml_encodings {
	xmlCharEncodingHandlerPtr handlers[ARRAY_LEN(kept_open)];
};

/* libxml2's contract: *out_n and *in_n say what there is room for and what there is to read, then
 * what was done. Returns the bytes written, or an error. */
static int
decode(const uint16_t *table, unsigned char *out, int *out_n, const unsigned char *in, int *in_n)
{
	int done = 0, at = 0, rc = 0;

	for (; at < *in_n && done + 3 <= *out_n; at++) {
		unsigned c = in[at] < 0x80 ? in[at] : table[in[at] - 0x80];

		if (c == 0 && in[at] != 0) {
			rc = -2;
			break;
		}
		if (c < 0x80) {
			out[done++] = (unsigned char)c;
		} else if (c < 0x800) {
			out[done++] = (unsigned char)(0xc0 | c >> 6);
			out[done++] = (unsigned char)(0x80 | (c & 0x3f));
		} else {
			out[done++] = (unsigned char)(0xe0 | c >> 12);
			out[done++] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
			out[done++] = (unsigned char)(0x80 | (c & 0x3f));
		}
	}
	*out_n = done;
	*in_n = at;
	return rc ? rc : done;
}

/* The byte of a character, -1 when the set has none. */
static int
byte_of(const uint16_t *table, unsigned c)
{
	for (int i = 0; i < 128; i++)
		if (table[i] == c)
			return i + 0x80;
	return -1;
}

/* The character at p of the n bytes there and its length; 0: it is cut off, -1: it is no UTF-8. */
static int
utf8_at(const unsigned char *p, int n, unsigned *c)
{
	int len = p[0] < 0xc0 ? -1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : -1;

	if (len == -1 || len > n)
		return len == -1 ? -1 : 0;
	*c = p[0] & (0xffu >> (len + 1));
	for (int i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	return len;
}

static int
encode(const uint16_t *table, unsigned char *out, int *out_n, const unsigned char *in, int *in_n)
{
	int done = 0, at = 0, rc = 0;

	if (!in) {
		*out_n = *in_n = 0;
		return 0;
	}
	while (at < *in_n && done < *out_n) {
		unsigned c = in[at];
		int len = c < 0x80 ? 1 : utf8_at(in + at, *in_n - at, &c);
		int byte = c < 0x80 ? (int)c : len > 0 ? byte_of(table, c) : -1;

		if (len == 0)
			break;
		if (byte == -1) {
			rc = -2; /* libxml2 writes a character reference for it */
			break;
		}
		out[done++] = (unsigned char)byte;
		at += len;
	}
	*out_n = done;
	*in_n = at;
	return rc ? rc : done;
}

#define SET(id, name, alias, ...)                                                                  \
	static const uint16_t table_##id[128] = { __VA_ARGS__ };                                   \
	static int decode_##id(unsigned char *out, int *out_n, const unsigned char *in, int *in_n) \
	{                                                                                          \
		return decode(table_##id, out, out_n, in, in_n);                                   \
	}                                                                                          \
	static int encode_##id(unsigned char *out, int *out_n, const unsigned char *in, int *in_n) \
	{                                                                                          \
		return encode(table_##id, out, out_n, in, in_n);                                   \
	}
#include "transformers/xml/encodings.def"
#undef SET

static const struct {
	const char *name, *alias;
	xmlCharEncodingInputFunc decode;
	xmlCharEncodingOutputFunc encode;
} sets[] = {
#define SET(id, name, alias, ...) { name, alias, decode_##id, encode_##id },
#include "transformers/xml/encodings.def"
#undef SET
};

struct xml_encodings *
xml_encodings_open(void)
{
	struct xml_encodings *es = MEM_NEW(struct xml_encodings);

	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		/* the library keeps it until xmlCleanupParser() */
		(void)xmlNewCharEncodingHandler(sets[i].name, sets[i].decode, sets[i].encode);
		if (sets[i].alias)
			(void)xmlAddEncodingAlias(
			    sets[i].name, sets[i].alias); /* fails when out of memory only */
	}
	(void)xmlAddEncodingAlias("GBK", "GB2312");
	for (size_t i = 0; i < ARRAY_LEN(kept_open); i++)
		es->handlers[i] = xmlFindCharEncodingHandler(
		    kept_open[i]); /* NULL: this system's iconv has none */
	return es;
}

void
xml_encodings_close(struct xml_encodings *es)
{
	if (!es)
		return;
	for (size_t i = 0; i < ARRAY_LEN(kept_open); i++)
		if (es->handlers[i])
			(void)xmlCharEncCloseFunc(
			    es->handlers[i]); /* nothing to do about a failure */
	free(es);
}
