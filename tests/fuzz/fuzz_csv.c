/* CSV: any text in any dialect is read or refused; what was read is written, and read again the
 * same. Base64 of any bytes goes both ways. The first byte chooses the dialect. */
#include "core/base/assert.h"
#include "core/lang/base64.h"
#include "core/lang/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct csv_dialect
choose(unsigned bits)
{
	struct csv_dialect d = {
		.delimiter = bits & 1 ? STR_LIT("||") : STR_LIT(","),
		.quote = bits & 2 ? CSV_NONE : '"',
		.escape = bits & 4 ? '\\' : CSV_NONE,
		.comment = bits & 8 ? '#' : CSV_NONE,
		.record_separator = STR_LIT("\r\n"),
		.ignore_empty_lines = (bits & 16) != 0,
		.ignore_surrounding_spaces = (bits & 32) != 0,
		.trim = (bits & 64) != 0,
		.trailing_delimiter = (bits & 128) != 0,
	};
	return d;
}

/* True: all was read; written to b. */
static bool
read_and_write(
    const struct csv_dialect *from, const struct csv_dialect *to, struct str text, struct buf *b)
{
	struct value record = value_null();
	struct hinny_error err;
	struct csv_reader r;
	struct arena a;
	bool more = true;
	enum hinny_rc rc = HINNY_OK;

	arena_init(&a);
	csv_reader_init(&r, from, &a, text, NULL);
	while (rc == HINNY_OK && more) {
		rc = csv_read(&r, &record, &more, &err);
		if (rc != HINNY_OK || !more)
			break;
		for (size_t i = 0; i < record.u.list->n; i++)
			ASSERT(csv_write_cell(b, &a, to, &record.u.list->items[i], i == 0) == HINNY_OK);
		ASSERT(csv_write_end(b, to) == HINNY_OK);
	}
	csv_reader_fini(&r);
	arena_fini(&a);
	return rc == HINNY_OK;
}

static void
base64_both_ways(struct str s, bool url_safe)
{
	struct buf text, bytes;

	buf_init(&text, 0);
	buf_init(&bytes, 0);
	ASSERT(base64_decode(&bytes, s) == HINNY_OK);
	buf_clear(&bytes);
	ASSERT(base64_encode(&text, s, url_safe, 76, STR_LIT("\r\n")) == HINNY_OK);
	ASSERT(base64_decode(&bytes, (struct str){ text.p, text.n }) == HINNY_OK);
	ASSERT(str_eq((struct str){ bytes.p, bytes.n }, s));
	buf_fini(&text);
	buf_fini(&bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct csv_dialect from = choose(data[0]), usual = choose(16);
	struct str text = { (const char *)data + 1, size - 1 };
	struct buf once, twice;
	buf_init(&once, 0);
	buf_init(&twice, 0);
	if (read_and_write(&from, &usual, text, &once)) {
		/* A byte order mark that was data would be lost at the beginning, and records that
		 * lost their only cell to a trailing delimiter are empty lines. */
		struct str first = { once.p, once.n };
		bool same = read_and_write(&usual, &usual, first, &twice);
		ASSERT(same);
		ASSERT(str_starts(first, "\xef\xbb\xbf") || from.trailing_delimiter ||
		    str_eq(first, (struct str){ twice.p, twice.n }));
	}
	buf_fini(&once);
	buf_fini(&twice);
	base64_both_ways(text, data[0] & 1);
	return 0;
}
