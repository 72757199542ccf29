/* Values of the bus as values of libjq, and back. Numbers are doubles in jq 1.6: integers keep 53
 * bits. */
#include "transformers/jq/jq_priv.h"

#include "core/lang/json_write.h"

#include <math.h>
#include <stdlib.h>

/* Beyond it a double does not keep all digits of an integer. */
#define EXACT_MAX 9007199254740992.0

/* ---- to jq ---- */

static double
number_of(struct arena *a, const struct json_node *n)
{
	char text[64];

	if (n->length >= sizeof text)
		return strtod(arena_strndup(a, n->text, n->length), NULL);
	memcpy(text, n->text, n->length);
	text[n->length] = '\0';
	return strtod(text, NULL);
}

static jv
string_of(struct str s)
{
	return jv_string_sized(s.n > 0 ? s.p : "", (int)s.n);
}

/* As deep as json_parse lets it be. */
static jv
from_node(struct arena *a, const struct json_node *n)
{
	const struct json_node *item = json_first(n);
	jv out;

	switch ((enum json_type)n->type) {
	case JSON_IS_NULL:
		return jv_null();
	case JSON_IS_FALSE:
	case JSON_IS_TRUE:
		return jv_bool(n->type == JSON_IS_TRUE);
	case JSON_IS_INT:
	case JSON_IS_FRACTION:
		return jv_number(number_of(a, n));
	case JSON_IS_STRING:
		return string_of(json_text(a, n));
	case JSON_IS_ARRAY:
		out = jv_array_sized(n->children < 16 ? 16 : (int)n->children);
		for (uint32_t i = 0; i < n->children; i++, item = json_next(item))
			out = jv_array_append(out, from_node(a, item));
		return out;
	case JSON_IS_OBJECT:
		break;
	}
	out = jv_object();
	for (uint32_t i = 0; i < n->children; i++) {
		const struct json_node *value = json_next(item);
		out = jv_object_set(out, string_of(json_text(a, item)), from_node(a, value));
		item = json_next(value);
	}
	return out;
}

static bool
no_payload(struct exchange *ex, const struct value *v)
{
	exchange_fail(ex, EXCEPTION_INVALID_PAYLOAD,
	    "No body available of type: com.fasterxml.jackson.databind.JsonNode%s",
	    value_is_null(v) ? "" : " but has an empty text");
	return false;
}

static bool
read_text(struct exchange *ex, const struct value *v, struct str text, jv *out)
{
	const struct json_node *root;
	struct hinny_error err;

	if (str_trim(text).n == 0) {
		*out = jv_null();
		return true;
	}
	if (text.n > INT32_MAX / 2) {
		exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE, "jq: the text is too large");
		return false;
	}
	enum hinny_rc rc = exchange_json(ex, text, &root, &err);
	if (rc != HINNY_OK) /* what follows the first value does not count */
		rc = json_parse_first(&ex->arena, text, &root, NULL, &err);
	if (rc != HINNY_OK) {
		exchange_fail(ex, EXCEPTION_TYPE_CONVERSION,
		    "Error during type conversion from type: %s to the required type: "
		    "com.fasterxml.jackson.databind.JsonNode due to "
		    "com.fasterxml.jackson.core.JsonParseException: %s",
		    value_class(v), err.text);
		return false;
	}
	*out = from_node(&ex->arena, root);
	return true;
}

bool
jq_value_read(struct exchange *ex, const struct value *v, jv *out)
{
	struct str text;

	switch ((enum value_type)v->type) {
	case VALUE_NULL:
		return no_payload(ex, v);
	case VALUE_JSON:
		*out = from_node(&ex->arena, v->u.json);
		return true;
	case VALUE_STRING:
		if (v->flags & VALUE_NODE) {
			*out = string_of(v->u.s);
			return true;
		}
		return read_text(ex, v, v->u.s, out);
	case VALUE_LIST:
	case VALUE_MAP:
		if (json_write_text(&ex->arena, v, false, &text) == HINNY_OK)
			return read_text(ex, v, text, out);
		exchange_fail(ex, EXCEPTION_TYPE_CONVERSION, "jq: the value is too deep");
		return false;
	default:
		return read_text(ex, v, value_text(&ex->arena, v), out);
	}
}

jv
jq_value_text(struct exchange *ex, const struct value *v)
{
	return v == NULL || value_is_null(v) ? jv_null() : string_of(value_text(&ex->arena, v));
}

/* ---- from jq ---- */

static struct value
number_value(double d)
{
	if (d != floor(d) || fabs(d) >= EXACT_MAX)
		return value_double(d);
	struct value v = value_int((int64_t)d);
	if (v.u.i > INT32_MAX || v.u.i < INT32_MIN)
		v.flags = VALUE_LONG;
	return v;
}

/* An array or object, by its text. */
static bool
give_container(struct arena *a, jv j, uint64_t *left, struct value *out)
{
	jv dumped = jv_dump_string(j, 0);
	struct str text = { jv_string_value(dumped),
		(size_t)jv_string_length_bytes(jv_copy(dumped)) };
	const struct json_node *root;
	bool ok = text.n <= *left &&
	    json_parse(a, arena_str(a, text), &root, NULL) == HINNY_OK;

	if (ok) {
		*left -= text.n;
		*out = (struct value){ .type = VALUE_JSON, .flags = VALUE_NODE, .u.json = root };
	}
	jv_free(dumped);
	return ok;
}

bool
jq_value_give(struct arena *a, jv j, uint64_t *left, struct value *out)
{
	jv_kind kind = jv_get_kind(j);
	bool ok = *left > 0;

	*left -= ok;
	if (kind == JV_KIND_ARRAY || kind == JV_KIND_OBJECT)
		return give_container(a, j, left, out);
	if (kind == JV_KIND_TRUE || kind == JV_KIND_FALSE) {
		*out = value_bool(kind == JV_KIND_TRUE);
	} else if (kind == JV_KIND_NUMBER) {
		*out = number_value(jv_number_value(j));
	} else if (kind == JV_KIND_STRING) {
		struct str s = { jv_string_value(j), (size_t)jv_string_length_bytes(jv_copy(j)) };
		ok = ok && s.n <= *left;
		*left -= ok ? s.n : 0;
		*out = ok ? value_str(arena_str(a, s)) : value_null();
		out->flags = VALUE_NODE;
	} else {
		*out = value_null();
	}
	jv_free(j);
	return ok;
}
