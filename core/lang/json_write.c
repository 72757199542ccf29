/* Values as JSON text. */
#include "core/lang/json_write.h"

#include "core/lang/document.h"

#include <math.h>

enum { JSON_TEXT_MAX = 256 * 1024 * 1024 };

struct writer {
	struct buf *b;
	struct arena *arena;
	bool pretty;
	unsigned depth;
};

static enum hinny_rc write_value(struct writer *w, const struct value *v);

static enum hinny_rc
new_line(struct writer *w)
{
	if (!w->pretty)
		return HINNY_OK;
	enum hinny_rc rc = buf_add_char(w->b, '\n');
	for (unsigned i = 0; rc == HINNY_OK && i < w->depth; i++)
		rc = buf_add_char(w->b, '\t');
	return rc;
}

static enum hinny_rc
write_members(struct writer *w, const struct value *v, bool object)
{
	struct document_iter it;
	struct str key;
	struct value item;
	enum hinny_rc rc = HINNY_OK;
	document_iter_init(&it, w->arena, v);
	for (size_t i = 0; rc == HINNY_OK && document_iter_next(&it, &key, &item); i++) {
		if (i > 0)
			rc = buf_add_char(w->b, ',');
		if (rc == HINNY_OK)
			rc = new_line(w);
		if (rc == HINNY_OK && object) {
			rc = json_print_string(w->b, key);
			if (rc == HINNY_OK)
				rc = buf_add_str(w->b, w->pretty ? STR_LIT(": ") : STR_LIT(":"));
		}
		if (rc == HINNY_OK)
			rc = write_value(w, &item);
	}
	return rc;
}

static enum hinny_rc
write_container(struct writer *w, const struct value *v)
{
	bool object = document_kind(v) == DOCUMENT_OBJECT;
	if (w->depth == VALUE_DEPTH_MAX)
		return HINNY_ELIMIT;
	enum hinny_rc rc = buf_add_char(w->b, object ? '{' : '[');
	w->depth++;
	if (rc == HINNY_OK)
		rc = write_members(w, v, object);
	w->depth--;
	if (rc == HINNY_OK && document_size(v) > 0)
		rc = new_line(w);
	return rc == HINNY_OK ? buf_add_char(w->b, object ? '}' : ']') : rc;
}

static enum hinny_rc
write_value(struct writer *w, const struct value *v)
{
	struct value plain = document_plain(w->arena, *v);
	if (document_kind(&plain) != DOCUMENT_SCALAR)
		return write_container(w, &plain);
	switch ((enum value_type)plain.type) {
	case VALUE_NULL:
		return buf_add_str(w->b, STR_LIT("null"));
	case VALUE_DOUBLE:
		if (!isfinite(plain.u.d))
			return buf_add_str(w->b, STR_LIT("null"));
		return value_print(w->b, &plain);
	case VALUE_INT:
		plain.flags &= (uint8_t)~VALUE_DATE; /* a date is its milliseconds */
		return value_print(w->b, &plain);
	case VALUE_BOOL:
	case VALUE_DECIMAL:
		return value_print(w->b, &plain);
	default:
		return json_print_string(w->b, value_text(w->arena, &plain));
	}
}

enum hinny_rc
json_write(struct buf *b, struct arena *a, const struct value *v, bool pretty)
{
	struct writer w = { .b = b, .arena = a, .pretty = pretty };
	return write_value(&w, v);
}

enum hinny_rc
json_write_text(struct arena *a, const struct value *v, bool pretty, struct str *out)
{
	struct buf b;
	buf_init(&b, JSON_TEXT_MAX);
	enum hinny_rc rc = json_write(&b, a, v, pretty);
	if (rc == HINNY_OK)
		*out = arena_str(a, (struct str){ b.p, b.n });
	buf_fini(&b);
	return rc;
}
