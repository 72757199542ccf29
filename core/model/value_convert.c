/*
 * Conversions to the Java types that a route can name (spec/dataformats.md section 2). A table says
 * which function makes which class; each gives the value or says why not, in Camel's words: there
 * is no converter between these types, or there is one and the value does not fit.
 */
#include "core/model/value.h"

#include "core/base/assert.h"
#include "core/model/json.h"
#include "core/model/value_priv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct conversion {
	struct arena *a;
	enum value_class_id to;
	struct hinny_error *err;
};

static enum hinny_rc
no_converter(const struct conversion *cv, const struct value *v)
{
	return hinny_error_set(cv->err, HINNY_ENOENT,
	    "No type converter available to convert from type: %s to the required type: %s",
	    value_class(v), value_class_name(cv->to));
}

/* The converter exists and does not like the value. */
static enum hinny_rc
bad_value(const struct conversion *cv, const struct value *v, const char *why)
{
	struct str text = value_text(cv->a, v);
	int n = text.n > 200 ? 200 : (int)text.n;

	return hinny_error_set(cv->err, HINNY_EINVAL,
	    "Error during type conversion from type: %s to the required type: %s with value %.*s "
	    "due to %s: \"%.*s\"",
	    value_class(v), value_class_name(cv->to), n, text.p, why, n, text.p);
}

#define NOT_A_NUMBER "java.lang.NumberFormatException: For input string"
#define OUT_OF_RANGE "java.lang.ArithmeticException: out of range"
#define NOT_A_BOOLEAN                                                                              \
	"java.lang.IllegalArgumentException: Cannot convert type: java.lang.String to Boolean"

/* ---- text ---- */

/* Length of the well-formed sequence at p, 0 when there is none. */
static size_t
utf8_length(const char *p, size_t n)
{
	for (size_t len = 1; len <= 4 && len <= n; len++) {
		if (str_utf8_valid((struct str){ p, len }))
			return len;
	}
	return 0;
}

/* Malformed bytes become U+FFFD, one each. */
static struct str
mend_utf8(struct arena *a, struct str s)
{
	if (str_utf8_valid(s))
		return s;
	char *out = arena_alloc(a, s.n * 3);
	size_t len = 0;
	for (size_t i = 0; i < s.n;) {
		size_t n = utf8_length(s.p + i, s.n - i);
		memcpy(out + len, n > 0 ? s.p + i : "\xEF\xBF\xBD", n > 0 ? n : 3);
		len += n > 0 ? n : 3;
		i += n > 0 ? n : 1;
	}
	return (struct str){ out, len };
}

static enum hinny_rc
to_string(const struct conversion *cv, const struct value *v, struct value *out)
{
	struct str text = value_text(cv->a, v);

	if (v->type == VALUE_STRING || v->type == VALUE_BYTES)
		text = mend_utf8(cv->a, text);
	*out = value_str(text);
	if (value_has_text(v) && text.p == v->u.s.p)
		out->blob = v->blob;
	return HINNY_OK;
}

/* Bytes and streams: what has text; all else has no converter, but JSON nodes are written as JSON. */
static enum hinny_rc
to_bytes(const struct conversion *cv, const struct value *v, struct value *out)
{
	if (v->type == VALUE_JSON && (v->flags & VALUE_NODE)) {
		*out = value_str(value_payload(cv->a, v));
	} else if (value_has_text(v) && v->type != VALUE_DECIMAL) {
		*out = *v;
	} else {
		return no_converter(cv, v);
	}
	out->type = VALUE_BYTES;
	out->flags = cv->to == CLASS_BYTES ? 0 : VALUE_INPUT;
	out->aux = 0;
	if (cv->to == CLASS_READER || (cv->to == CLASS_INPUT_STREAM && v->type == VALUE_STRING))
		out->type = VALUE_STRING;
	return HINNY_OK;
}

static enum hinny_rc
to_character(const struct conversion *cv, const struct value *v, struct value *out)
{
	struct str s = value_text(cv->a, v);

	if (value_is_list(v) || value_is_map(v))
		return no_converter(cv, v);
	if (s.n == 0 || utf8_length(s.p, s.n) != s.n)
		return bad_value(cv, v, "java.lang.IllegalArgumentException: not one character");
	*out = value_str(s);
	return HINNY_OK;
}

/* ---- numbers ---- */

/* The text by which a value counts as a number; false: there is no converter, as from a stream. */
static bool
number_source(const struct conversion *cv, const struct value *v, struct str *out)
{
	if (v->type == VALUE_XML)
		*out = str_trim(value_xml_text(cv->a, v->u.s));
	else if (value_has_text(v) && !(v->type != VALUE_DECIMAL && (v->flags & VALUE_INPUT)))
		*out = v->u.s;
	else
		return false;
	return true;
}

static enum hinny_rc
whole_of_double(const struct conversion *cv, const struct value *v, double d, int64_t *out)
{
	if (isnan(d) || fabs(d) >= 0x1p63)
		return bad_value(cv, v, OUT_OF_RANGE);
	*out = (int64_t)d;
	return HINNY_OK;
}

static enum hinny_rc
whole_of(const struct conversion *cv, const struct value *v, int64_t *out)
{
	struct str s;
	double d;

	if (v->type == VALUE_INT) {
		*out = v->u.i;
		return HINNY_OK;
	}
	if (v->type == VALUE_DOUBLE)
		return whole_of_double(cv, v, v->u.d, out);
	if (!number_source(cv, v, &s))
		return no_converter(cv, v);
	if (str_to_int64(s, out))
		return HINNY_OK;
	if (v->type == VALUE_DECIMAL && !value_is_digits(s) && str_to_double(s, &d))
		return whole_of_double(cv, v, d, out);
	return bad_value(cv, v, v->type == VALUE_DECIMAL ? OUT_OF_RANGE : NOT_A_NUMBER);
}

static enum hinny_rc
to_whole(const struct conversion *cv, const struct value *v, struct value *out)
{
	static const struct {
		int64_t min, max;
	} ranges[] = {
		[CLASS_INTEGER] = { INT32_MIN, INT32_MAX },
		[CLASS_LONG] = { INT64_MIN, INT64_MAX },
		[CLASS_SHORT] = { INT16_MIN, INT16_MAX },
		[CLASS_BYTE] = { INT8_MIN, INT8_MAX },
	};
	int64_t i;

	if (v->type == VALUE_INT && (v->flags & VALUE_DATE) && cv->to != CLASS_LONG)
		return no_converter(cv, v);
	enum hinny_rc rc = whole_of(cv, v, &i);
	if (rc != HINNY_OK)
		return rc;
	if (i < ranges[cv->to].min || i > ranges[cv->to].max)
		return bad_value(cv, v,
		    value_has_text(v) && v->type != VALUE_DECIMAL ? NOT_A_NUMBER : OUT_OF_RANGE);
	*out = value_int(i);
	out->flags = cv->to == CLASS_LONG ? VALUE_LONG : 0;
	return HINNY_OK;
}

static bool
special_double(struct str s, double *out)
{
	if (str_eq(s, STR_LIT("NaN")))
		*out = NAN;
	else if (str_eq(s, STR_LIT("Infinity")))
		*out = HUGE_VAL;
	else if (str_eq(s, STR_LIT("-Infinity")))
		*out = -HUGE_VAL;
	else
		return false;
	return true;
}

static enum hinny_rc
to_floating(const struct conversion *cv, const struct value *v, struct value *out)
{
	struct str s;
	double d;

	if (v->type == VALUE_INT && !(v->flags & VALUE_DATE)) {
		d = (double)v->u.i;
	} else if (v->type == VALUE_DOUBLE) {
		d = v->u.d;
	} else if (number_source(cv, v, &s)) {
		s = str_trim(s);
		if (!str_to_double(s, &d) && !special_double(s, &d))
			return bad_value(
			    cv, v, v->type == VALUE_DECIMAL ? OUT_OF_RANGE : NOT_A_NUMBER);
	} else {
		return no_converter(cv, v);
	}
	*out = value_double(cv->to == CLASS_FLOAT ? (double)(float)d : d);
	out->flags = cv->to == CLASS_FLOAT ? VALUE_FLOAT : 0;
	return HINNY_OK;
}

static enum hinny_rc
to_big(const struct conversion *cv, const struct value *v, struct value *out)
{
	struct str s;
	double d;

	if (cv->to == CLASS_BIG_DECIMAL && value_has_text(v) && v->type != VALUE_DECIMAL)
		return no_converter(cv, v);
	if (v->type == VALUE_INT || v->type == VALUE_DOUBLE) {
		if (v->type == VALUE_DOUBLE && !isfinite(v->u.d))
			return bad_value(cv, v, NOT_A_NUMBER);
		struct value plain = *v;
		plain.flags = 0;
		if (v->type == VALUE_DOUBLE && cv->to == CLASS_BIG_INTEGER) {
			int64_t i;
			if (whole_of(cv, v, &i) != HINNY_OK)
				return HINNY_EINVAL; /* said by whole_of */
			plain = value_int(i);
		}
		s = value_text(cv->a, &plain);
	} else if (!number_source(cv, v, &s)) {
		return no_converter(cv, v);
	} else if (cv->to == CLASS_BIG_INTEGER ? !value_is_digits(s)
					       : !value_is_digits(s) && !str_to_double(s, &d)) {
		return bad_value(cv, v, NOT_A_NUMBER);
	}
	*out = (struct value){ .type = VALUE_DECIMAL, .u.s = s };
	if (value_has_text(v) && v->type != VALUE_XML)
		out->blob = v->blob;
	return HINNY_OK;
}

static enum hinny_rc
to_boolean(const struct conversion *cv, const struct value *v, struct value *out)
{
	struct str s;

	if (v->type == VALUE_BOOL) {
		*out = *v;
		return HINNY_OK;
	}
	if (v->type == VALUE_INT && strcmp(value_class(v), "java.lang.Integer") == 0) {
		*out = value_bool(v->u.i > 0);
		return HINNY_OK;
	}
	if (value_has_text(v) && v->type != VALUE_DECIMAL && (v->flags & VALUE_INPUT))
		return bad_value(cv, v, NOT_A_BOOLEAN);
	if (v->type == VALUE_DECIMAL || !number_source(cv, v, &s))
		return no_converter(cv, v);
	s = str_trim(s);
	bool yes = str_caseeq(s, STR_LIT("true"));
	if (!yes && !str_caseeq(s, STR_LIT("false")))
		return bad_value(cv, v, NOT_A_BOOLEAN);
	*out = value_bool(yes);
	return HINNY_OK;
}

static enum hinny_rc
to_date(const struct conversion *cv, const struct value *v, struct value *out)
{
	if (v->type != VALUE_INT || strcmp(value_class(v), "java.lang.Integer") == 0)
		return no_converter(cv, v);
	*out = value_int(v->u.i);
	out->flags = VALUE_DATE;
	return HINNY_OK;
}

/* ---- collections and documents ---- */

static enum hinny_rc
to_list(const struct conversion *cv, const struct value *v, struct value *out)
{
	if (!value_is_list(v))
		return no_converter(cv, v);
	*out = value_plain(cv->a, v);
	out->flags = 0;
	return HINNY_OK;
}

/* Of equal elements the first stays. Texts are looked up in a map; for others, which are few in a
 * set, a scan does. */
static enum hinny_rc
to_set(const struct conversion *cv, const struct value *v, struct value *out)
{
	if (!value_is_list(v))
		return no_converter(cv, v);
	struct value from = value_plain(cv->a, v), seen = value_new_map(cv->a, 0, false);
	*out = value_new_list(cv->a, from.u.list->n);
	for (size_t i = 0; i < from.u.list->n; i++) {
		const struct value *item = &from.u.list->items[i];
		const char *class = value_class(item);
		struct str text = value_text(cv->a, item);
		struct str key = str_of(arena_printf(cv->a, "%s ", class != NULL ? class : "null"));
		char *full = arena_alloc(cv->a, key.n + text.n + 1);
		memcpy(full, key.p, key.n);
		if (text.n > 0)
			memcpy(full + key.n, text.p, text.n);
		key = (struct str){ full, key.n + text.n };
		if (value_map_find(seen.u.map, key) != NULL)
			continue;
		value_map_set(cv->a, seen.u.map, key, value_null());
		value_list_add(cv->a, out->u.list, *item);
	}
	return HINNY_OK;
}

static enum hinny_rc
to_map(const struct conversion *cv, const struct value *v, struct value *out)
{
	if (!value_is_map(v))
		return no_converter(cv, v);
	*out = value_plain(cv->a, v);
	return HINNY_OK;
}

struct value
value_map_entries(struct arena *a, const struct value_map *m)
{
	struct value list = value_new_list(a, m->n);

	for (size_t i = 0; i < m->n; i++) {
		struct value entry = value_new_map(a, 2, false);
		value_map_set(a, entry.u.map, STR_LIT("key"), value_str(m->entries[i].key));
		value_map_set(a, entry.u.map, STR_LIT("value"), *m->entries[i].value);
		entry.flags |= VALUE_ENTRY;
		value_list_add(a, list.u.list, entry);
	}
	return list;
}

/* What a split would see: elements, map entries, or the one value. */
static enum hinny_rc
to_iterator(const struct conversion *cv, const struct value *v, struct value *out)
{
	struct value from = value_plain(cv->a, v);

	if (from.type == VALUE_LIST) {
		*out = from;
		return HINNY_OK;
	}
	if (from.type == VALUE_MAP) {
		*out = value_map_entries(cv->a, from.u.map);
		return HINNY_OK;
	}
	*out = value_new_list(cv->a, 1);
	value_list_add(cv->a, out->u.list, from);
	return HINNY_OK;
}

static enum hinny_rc
to_xml(const struct conversion *cv, const struct value *v, struct value *out)
{
	if (!value_has_text(v) || v->type == VALUE_DECIMAL)
		return no_converter(cv, v);
	*out = *v;
	out->type = VALUE_XML;
	if (v->type != VALUE_XML)
		out->flags = 0;
	return HINNY_OK;
}

static enum hinny_rc
to_itself(const struct conversion *cv, const struct value *v, struct value *out)
{
	(void)cv;
	*out = *v;
	return HINNY_OK;
}

typedef enum hinny_rc convert_fn(
    const struct conversion *cv, const struct value *v, struct value *out);

static convert_fn *const converters[] = {
	[CLASS_NONE] = to_itself,
	[CLASS_STRING] = to_string,
	[CLASS_INTEGER] = to_whole,
	[CLASS_LONG] = to_whole,
	[CLASS_SHORT] = to_whole,
	[CLASS_BYTE] = to_whole,
	[CLASS_DOUBLE] = to_floating,
	[CLASS_FLOAT] = to_floating,
	[CLASS_BOOLEAN] = to_boolean,
	[CLASS_BYTES] = to_bytes,
	[CLASS_BIG_INTEGER] = to_big,
	[CLASS_BIG_DECIMAL] = to_big,
	[CLASS_LIST] = to_list,
	[CLASS_MAP] = to_map,
	[CLASS_SET] = to_set,
	[CLASS_INPUT_STREAM] = to_bytes,
	[CLASS_READER] = to_bytes,
	[CLASS_DOCUMENT] = to_xml,
	[CLASS_NODE] = to_xml,
	[CLASS_NODE_LIST] = to_xml,
	[CLASS_DATE] = to_date,
	[CLASS_OBJECT] = to_itself,
	[CLASS_CHARACTER] = to_character,
	[CLASS_ITERATOR] = to_iterator,
};

enum hinny_rc
value_convert(struct arena *a, const struct value *v, enum value_class_id to, struct value *out,
    struct hinny_error *err)
{
	struct conversion cv = { .a = a, .to = to, .err = err };
	struct value from = value_scalar(a, v);

	ASSERT((size_t)to < ARRAY_LEN(converters) && v->type != VALUE_STREAM);
	if (from.type == VALUE_NULL) {
		*out = value_null();
		return HINNY_OK;
	}
	return converters[to](&cv, &from, out);
}

enum hinny_rc
value_convert_number(struct arena *a, const struct value *v, enum value_class_id to,
    struct value *out, struct hinny_error *err)
{
	struct value text = *v;

	if (v->type == VALUE_STRING || v->type == VALUE_BYTES) {
		text.flags &= (uint8_t)~VALUE_INPUT;
		text.u.s = str_trim(text.u.s);
	}
	return value_convert(a, &text, to, out, err);
}
