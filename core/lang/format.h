/* What the data formats share. */
#ifndef HINNY_LANG_FORMAT_H
#define HINNY_LANG_FORMAT_H

#include "core/base/buf.h"
#include "core/model/exchange.h"
#include "core/model/format.h"
#include "core/model/program.h"

#include <stdbool.h>

enum {
	FORMAT_BLOB = 16 * 1024,              /* results beyond this are counted buffers */
	FORMAT_OUTPUT_MAX = 256 * 1024 * 1024 /* of one marshal */
};

void format_header(struct format_result *out, const char *name, struct value v);
/* The text or bytes to read; false with the exception set: null, a list or a map. */
bool format_input(struct exchange *ex, const struct value *in, struct str *out);
/* What was written, as a body that reads like a stream that was kept; ends the buffer. */
struct value format_output(struct exchange *ex, struct buf *b);

#endif
