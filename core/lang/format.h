/* Data formats: what marshal and unmarshal (core/eip) ask of them, and what they share. */
#ifndef HINNY_LANG_FORMAT_H
#define HINNY_LANG_FORMAT_H

#include "core/base/buf.h"
#include "core/model/exchange.h"
#include "core/model/program.h"

#include <stdbool.h>

enum {
	FORMAT_HEADERS_MAX = 2,
	FORMAT_BLOB = 16 * 1024,              /* results beyond this are counted buffers */
	FORMAT_OUTPUT_MAX = 256 * 1024 * 1024 /* of one marshal */
};

/* What a format makes of a value, and the headers that come with it. */
struct format_result {
	struct value value;
	struct format_header {
		struct str name;
		struct value value;
	} headers[FORMAT_HEADERS_MAX];
	unsigned headers_n;
};

void format_header(struct format_result *out, const char *name, struct value v);
/* The text or bytes to read; false with the exception set: null, a list or a map. */
bool format_input(struct exchange *ex, const struct value *in, struct str *out);
/* What was written, as a body that reads like a stream that was kept; ends the buffer. */
struct value format_output(struct exchange *ex, struct buf *b);

#endif
