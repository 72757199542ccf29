/* What a data format (descriptor.h) gives to marshal and unmarshal. */
#ifndef HINNY_MODEL_FORMAT_H
#define HINNY_MODEL_FORMAT_H

#include "core/model/value.h"

enum { FORMAT_HEADERS_MAX = 2 };

/* What a format makes of a value, and the headers that come with it. */
struct format_result {
	struct value value;
	struct format_header {
		struct str name;
		struct value value;
	} headers[FORMAT_HEADERS_MAX];
	unsigned headers_n;
};

#endif
