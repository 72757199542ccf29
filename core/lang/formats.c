/* The list of data formats, of formats.def, and what they share. */
#include "core/lang/format.h"

#include "core/base/assert.h"

#define FORMAT(name) extern const struct format_desc name##_format;
#include "core/lang/formats.def"
#undef FORMAT

static const struct format_desc *const formats[] = {
#define FORMAT(name) &name##_format,
#include "core/lang/formats.def"
#undef FORMAT
};

const struct format_desc *
format_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (str_eq(name, str_of(formats[i]->name)))
			return formats[i];
	return NULL;
}

const struct format_desc *const *
format_all(size_t *n)
{
	*n = ARRAY_LEN(formats);
	return formats;
}

/* Has it a converter to a stream: is it text, or a node of jq? */
static bool
is_stream(const struct value *v)
{
	return (value_has_text(v) && v->type != VALUE_DECIMAL) ||
	    (v->type == VALUE_JSON && (v->flags & VALUE_NODE));
}

bool
format_input(struct exchange *ex, const struct value *in, struct str *out)
{
	if (!is_stream(in)) {
		exchange_fail(ex, EXCEPTION_INVALID_PAYLOAD,
		    "No body available of type: java.io.InputStream%s%s",
		    value_is_null(in) ? "" : " but has type: ",
		    value_is_null(in) ? "" : value_class(in));
		return false;
	}
	*out = value_payload(&ex->arena, in);
	return true;
}

void
format_header(struct format_result *out, const char *name, struct value v)
{
	ASSERT(out->headers_n < FORMAT_HEADERS_MAX);
	out->headers[out->headers_n++] = (struct format_header){ str_of(name), v };
}

struct value
format_output(struct exchange *ex, struct buf *b)
{
	struct value v = value_bytes((struct str){ "", 0 });

	if (b->n > FORMAT_BLOB) {
		struct blob *blob = blob_copy(b->p, b->n);
		v.u.s = (struct str){ blob->data, blob->size };
		v.blob = arena_hold(&ex->arena, blob);
		blob_put(blob);
	} else if (b->n > 0) {
		v.u.s = arena_str(&ex->arena, (struct str){ b->p, b->n });
	}
	v.flags = VALUE_INPUT;
	buf_fini(b);
	return v;
}
