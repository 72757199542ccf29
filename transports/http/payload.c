/* Bodies and numbers of a message as HTTP wants them. */
#include "transports/http/http_state.h"

static bool
is_form(struct str content_type)
{
	return str_casestarts(content_type, "application/x-www-form-urlencoded");
}

static void
put_pair(struct buf *out, struct arena *a, struct str key, const struct value *v)
{
	if (out->n > 0)
		(void)buf_add_char(out, '&');
	(void)uri_put_form(out, key); /* without bound: cannot fail */
	(void)buf_add_char(out, '=');
	(void)uri_put_form(out, value_text(a, v));
}

static struct str
encode_form(struct arena *a, const struct value_map *m)
{
	struct buf out;

	buf_init(&out, 0);
	for (size_t i = 0; i < m->n; i++) {
		const struct value *v = m->entries[i].value;
		if (v->type != VALUE_LIST) {
			put_pair(&out, a, m->entries[i].key, v);
			continue;
		}
		for (size_t j = 0; j < v->u.list->n; j++)
			put_pair(&out, a, m->entries[i].key, &v->u.list->items[j]);
	}
	struct str s = arena_str(a, (struct str){ out.p, out.n });
	buf_fini(&out);
	return s;
}

enum http_payload
http_payload_of(struct arena *a, const struct value *v, struct str content_type, struct str *bytes)
{
	switch (v->type) {
	case VALUE_NULL:
		*bytes = (struct str){ NULL, 0 };
		return HTTP_PAYLOAD_NONE;
	case VALUE_STREAM:
		return HTTP_PAYLOAD_STREAM;
	case VALUE_MAP:
		if (!is_form(content_type))
			return HTTP_PAYLOAD_NOT;
		*bytes = encode_form(a, v->u.map);
		return HTTP_PAYLOAD_BYTES;
	case VALUE_LIST:
		return HTTP_PAYLOAD_NOT;
	case VALUE_JSON:
		if (!(v->flags & VALUE_NODE))
			return HTTP_PAYLOAD_NOT;
		break;
	default:
		break;
	}
	*bytes = value_payload(a, v);
	return HTTP_PAYLOAD_BYTES;
}

bool
http_number_of(struct arena *a, const struct value *v, int64_t *out)
{
	if (v->type == VALUE_INT) {
		*out = v->u.i;
		return true;
	}
	return v->type == VALUE_STRING && str_to_int64(str_trim(value_text(a, v)), out);
}
