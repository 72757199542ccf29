/* base64: bytes as text in lines of 76 characters, and back. */
#include "core/lang/base64.h"
#include "core/lang/format.h"

#include "core/config/compile.h"

#include <stddef.h>

struct base64_conf {
	int64_t line_length;
	const char *line_separator;
	bool url_safe;
};
#define AT(m) offsetof(struct base64_conf, m)

static const struct option_desc options[] = {
	{ .name = "lineLength",
	    .type = OPTION_INT,
	    .dflt = "76",
	    .min = 0,
	    .max = INT32_MAX,
	    .offset = AT(line_length),
	    .help = "characters of a line, a multiple of four; 0: one line without an end" },
	{ .name = "lineSeparator",
	    .type = OPTION_STRING,
	    .dflt = "\r\n",
	    .offset = AT(line_separator),
	    .help = "what ends a line" },
	{ .name = "urlSafe",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(url_safe),
	    .help = "- and _ in place of + and /, and no padding" },
	OPTIONS_END,
};

static int
base64_check(struct compile *c, struct format *f)
{
	const struct base64_conf *conf = f->conf;

	for (const char *p = conf->line_separator; *p != '\0'; p++) {
		if ((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
		    (*p >= '0' && *p <= '9') || strchr("+/-_=", *p) != NULL)
			return compile_error(c, f->at,
			    "lineSeparator: expected characters that are not of Base64, got \"%s\"",
			    conf->line_separator);
	}
	return 0;
}

static bool
too_large(struct exchange *ex, struct buf *b)
{
	buf_fini(b);
	exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE, "base64: the result is too large");
	return false;
}

static bool
base64_marshal(
    const struct format *f, struct exchange *ex, const struct value *in, struct format_result *out)
{
	const struct base64_conf *conf = f->conf;
	struct str text;
	struct buf b;

	if (!format_input(ex, in, &text))
		return false;
	buf_init(&b, FORMAT_OUTPUT_MAX);
	if (base64_encode(&b, text, conf->url_safe, (size_t)conf->line_length,
		str_of(conf->line_separator)) != HINNY_OK)
		return too_large(ex, &b);
	out->value = format_output(ex, &b);
	return true;
}

static bool
base64_unmarshal(
    const struct format *f, struct exchange *ex, const struct value *in, struct format_result *out)
{
	struct str text;
	struct buf b;
	(void)f;

	if (!format_input(ex, in, &text))
		return false;
	buf_init(&b, FORMAT_OUTPUT_MAX);
	if (base64_decode(&b, text) != HINNY_OK)
		return too_large(ex, &b);
	out->value = format_output(ex, &b);
	out->value.flags = 0; /* bytes, and no stream */
	return true;
}

const struct format_desc base64_format = {
	.name = "base64",
	.options = options,
	.conf_size = sizeof(struct base64_conf),
	.check = base64_check,
	.marshal = base64_marshal,
	.unmarshal = base64_unmarshal,
	.help = "bytes as Base64 text",
};
