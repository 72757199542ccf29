/*
 * json: text to maps, lists and scalars and back, as Jackson does it. Strings without escapes stay
 * slices of the text.
 */
#include "core/lang/base64.h"
#include "core/lang/document.h"
#include "core/lang/format.h"

#include "core/config/compile.h"

#include <math.h>
#include <stddef.h>

/* Positions in the option tables below. */
enum json_include { INCLUDE_ALWAYS, INCLUDE_NON_NULL, INCLUDE_NON_EMPTY };
enum json_shape { SHAPE_ANY, SHAPE_NODE, SHAPE_MAP, SHAPE_LIST };

struct json_conf {
	const char *unmarshal_type;
	int library, include;
	bool pretty_print, use_list, content_type_header, combine_surrogates;
	bool labels; /* options without meaning here */
	int shape;   /* enum json_shape: worked out by the check */
};
#define AT(m) offsetof(struct json_conf, m)

/* clang-format off */
#define LABEL(option, value, text) \
	{ .name = option, \
	    .type = OPTION_BOOL, \
	    .dflt = value, \
	    .flags = OPTION_LABEL, \
	    .offset = AT(labels), \
	    .help = text }
/* clang-format on */

static const struct option_desc options[] = {
	{ .name = "library",
	    .type = OPTION_ENUM,
	    .values = "Jackson|Fastjson|Gson|Jsonb",
	    .dflt = "Jackson",
	    .offset = AT(library),
	    .help = "there is one writer, which does as Jackson does" },
	{ .name = "prettyPrint",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(pretty_print),
	    .help = "one member a line, indented by two blanks" },
	{ .name = "unmarshalType",
	    .type = OPTION_STRING,
	    .offset = AT(unmarshal_type),
	    .help = "java.util.Map (or LinkedHashMap, HashMap), java.util.List (or ArrayList), "
		    "java.lang.Object: what the text must be" },
	{ .name = "useList",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(use_list),
	    .help = "the text must be an array" },
	{ .name = "include",
	    .type = OPTION_ENUM,
	    .values = "ALWAYS|NON_NULL|NON_EMPTY",
	    .dflt = "ALWAYS",
	    .offset = AT(include),
	    .help = "which members are written" },
	{ .name = "contentTypeHeader",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(content_type_header),
	    .help = "marshal sets the header Content-Type to application/json" },
	{ .name = "combineUnicodeSurrogates",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(combine_surrogates),
	    .help = "characters beyond U+FFFF as they are, not as two escapes" },
	LABEL("autoDiscoverObjectMapper", "false", "without meaning here: there are no beans"),
	LABEL("autoDiscoverSchemaResolver", "true", "without meaning here: there are no beans"),
	LABEL("useDefaultObjectMapper", "true", "without meaning here: there are no beans"),
	OPTIONS_END,
};

/* ---- load ---- */

static int
json_check(struct compile *c, struct format *f)
{
	static const struct {
		const char *name;
		enum json_shape shape;
	} types[] = {
		{ "java.util.Map", SHAPE_MAP },
		{ "java.util.HashMap", SHAPE_MAP },
		{ "java.util.LinkedHashMap", SHAPE_MAP },
		{ "java.util.TreeMap", SHAPE_MAP },
		{ "java.util.List", SHAPE_LIST },
		{ "java.util.ArrayList", SHAPE_LIST },
		{ "java.lang.Object", SHAPE_ANY },
		{ "com.fasterxml.jackson.databind.JsonNode", SHAPE_NODE },
	};
	struct json_conf *conf = f->conf;

	if (conf->content_type_header)
		access_add_header(c, &f->writes, "Content-Type");
	if (conf->use_list)
		conf->shape = SHAPE_LIST;
	if (conf->unmarshal_type == NULL)
		return 0;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		if (strcmp(types[i].name, conf->unmarshal_type) != 0)
			continue;
		if (!conf->use_list)
			conf->shape = types[i].shape;
		return 0;
	}
	return compile_error(c, f->at,
	    "unmarshalType: expected java.util.Map, java.util.List or java.lang.Object, got \"%s\": "
	    "there are no Java classes",
	    conf->unmarshal_type);
}

/* ---- reading ---- */

static bool
not_json(struct exchange *ex, enum exception_id id, const char *text)
{
	exchange_fail(ex, id, "json: %s", text);
	return false;
}

static bool
json_unmarshal(
    const struct format *f, struct exchange *ex, const struct value *in, struct format_result *out)
{
	const struct json_conf *conf = f->conf;
	const struct json_node *root;
	struct hinny_error err;
	struct str text;

	if (!format_input(ex, in, &text))
		return false;
	if (str_trim(text).n == 0)
		return not_json(ex, EXCEPTION_JSON_MAPPING, "no content to read: the text is empty");
	/* Text behind the first value is no fault. */
	if (exchange_json(ex, text, &root, &err) != HINNY_OK &&
	    json_parse_first(&ex->arena, text, &root, NULL, &err) != HINNY_OK)
		return not_json(ex, EXCEPTION_JSON_PARSE, err.text);
	if (conf->shape == SHAPE_LIST && root->type != JSON_IS_ARRAY && root->type != JSON_IS_NULL)
		return not_json(ex, EXCEPTION_JSON_MAPPING, "expected an array");
	if (conf->shape == SHAPE_MAP && root->type != JSON_IS_OBJECT && root->type != JSON_IS_NULL)
		return not_json(ex, EXCEPTION_JSON_MAPPING, "expected an object");
	struct value json = value_from_json(&ex->arena, root, in->blob);
	out->value = conf->shape == SHAPE_NODE ? json : value_plain(&ex->arena, &json);
	return true;
}

/* ---- writing ---- */

struct writer {
	struct buf *b;
	struct arena *arena;
	const struct json_conf *conf;
	unsigned depth;  /* of values */
	unsigned indent; /* of lines: objects alone begin lines */
};

static enum hinny_rc write_value(struct writer *w, const struct value *v);

static bool
is_left_out(const struct writer *w, const struct value *v)
{
	if (w->conf->include == INCLUDE_ALWAYS)
		return false;
	if (value_is_null(v))
		return true;
	if (w->conf->include == INCLUDE_NON_NULL)
		return false;
	return document_kind(v) != DOCUMENT_SCALAR ? document_size(v) == 0
						   : value_has_text(v) && v->u.s.n == 0;
}

static enum hinny_rc
write_line(struct writer *w)
{
	enum hinny_rc rc = buf_add_char(w->b, '\n');

	for (unsigned i = 0; rc == HINNY_OK && i < w->indent; i++)
		rc = buf_add_str(w->b, STR_LIT("  "));
	return rc;
}

static enum hinny_rc
write_key(struct writer *w, struct str key)
{
	enum hinny_rc rc = w->conf->pretty_print ? write_line(w) : HINNY_OK;

	if (rc == HINNY_OK)
		rc = json_print_string(w->b, key);
	if (rc != HINNY_OK)
		return rc;
	return buf_add_str(w->b, w->conf->pretty_print ? STR_LIT(" : ") : STR_LIT(":"));
}

static enum hinny_rc
write_members(struct writer *w, const struct value *v, bool object, size_t *written)
{
	struct document_iter it;
	struct value item;
	struct str key;
	enum hinny_rc rc = HINNY_OK;

	document_iter_init(&it, w->arena, v);
	while (rc == HINNY_OK && document_iter_next(&it, &key, &item)) {
		if (object && is_left_out(w, &item))
			continue;
		if ((*written)++ > 0)
			rc = buf_add_char(w->b, ',');
		if (rc == HINNY_OK && object)
			rc = write_key(w, key);
		else if (rc == HINNY_OK && w->conf->pretty_print)
			rc = buf_add_char(w->b, ' ');
		if (rc == HINNY_OK)
			rc = write_value(w, &item);
	}
	return rc;
}

static enum hinny_rc
write_container(struct writer *w, const struct value *v)
{
	bool object = document_kind(v) == DOCUMENT_OBJECT, pretty = w->conf->pretty_print;
	size_t written = 0;

	if (w->depth == VALUE_DEPTH_MAX)
		return HINNY_ELIMIT;
	enum hinny_rc rc = buf_add_char(w->b, object ? '{' : '[');
	w->depth++;
	w->indent += object;
	if (rc == HINNY_OK)
		rc = write_members(w, v, object, &written);
	w->depth--;
	w->indent -= object;
	if (rc == HINNY_OK && pretty)
		rc = object && written > 0 ? write_line(w) : buf_add_char(w->b, ' ');
	return rc == HINNY_OK ? buf_add_char(w->b, object ? '}' : ']') : rc;
}

/* Bytes that are no text of a message are written as Base64. */
static enum hinny_rc
write_bytes(struct writer *w, const struct value *v)
{
	enum hinny_rc rc = buf_add_char(w->b, '"');

	if (rc == HINNY_OK)
		rc = base64_encode(w->b, v->u.s, false, 0, STR_LIT(""));
	return rc == HINNY_OK ? buf_add_char(w->b, '"') : rc;
}

static enum hinny_rc
write_scalar(struct writer *w, struct value v)
{
	switch ((enum value_type)v.type) {
	case VALUE_NULL:
		return buf_add_str(w->b, STR_LIT("null"));
	case VALUE_DOUBLE:
		if (isfinite(v.u.d))
			return value_print(w->b, &v);
		return json_print_string(w->b, value_text(w->arena, &v));
	case VALUE_INT:
		v.flags &= (uint8_t)~VALUE_DATE; /* a date is its milliseconds */
		return value_print(w->b, &v);
	case VALUE_BOOL:
	case VALUE_DECIMAL:
		return value_print(w->b, &v);
	case VALUE_XML:
		return HINNY_EREFUSED;
	case VALUE_BYTES:
	case VALUE_STRING:
		if (v.flags & VALUE_INPUT) /* a stream: Jackson has no serializer for it */
			return HINNY_EREFUSED;
		return v.type == VALUE_BYTES ? write_bytes(w, &v)
					     : json_print_string(w->b, v.u.s);
	default:
		return json_print_string(w->b, value_text(w->arena, &v));
	}
}

static enum hinny_rc
write_value(struct writer *w, const struct value *v)
{
	struct value plain = document_plain(w->arena, *v);

	if (document_kind(&plain) == DOCUMENT_SCALAR)
		return write_scalar(w, plain);
	/* Objects that were read may have a key twice: the plain form has not. */
	if (plain.type == VALUE_JSON)
		plain = value_plain(w->arena, &plain);
	return write_container(w, &plain);
}

/* Characters of four bytes, which stand in strings alone, as two escapes. */
static enum hinny_rc
split_surrogates(struct buf *to, struct str s)
{
	static const char digits[] = "0123456789ABCDEF";
	enum hinny_rc rc = HINNY_OK;
	size_t from = 0;

	for (size_t i = 0; i + 3 < s.n && rc == HINNY_OK; i++) {
		const unsigned char *p = (const unsigned char *)s.p + i;
		if (p[0] < 0xf0)
			continue;
		uint32_t cp = (uint32_t)(p[0] & 7) << 18 | (uint32_t)(p[1] & 63) << 12 |
		    (uint32_t)(p[2] & 63) << 6 | (p[3] & 63);
		uint32_t units[2] = { 0xd800 + (((cp - 0x10000) >> 10) & 0x3ff),
			0xdc00 + (cp & 0x3ff) };
		rc = buf_add(to, s.p + from, i - from);
		for (size_t u = 0; u < 2 && rc == HINNY_OK; u++) {
			char escape[6] = { '\\', 'u', digits[units[u] >> 12],
				digits[units[u] >> 8 & 15], digits[units[u] >> 4 & 15],
				digits[units[u] & 15] };
			rc = buf_add(to, escape, sizeof escape);
		}
		i += 3;
		from = i + 1;
	}
	return rc == HINNY_OK ? buf_add(to, s.p + from, s.n - from) : rc;
}

static bool
has_four_byte_characters(const struct buf *b)
{
	for (size_t i = 0; i < b->n; i++)
		if ((unsigned char)b->p[i] >= 0xf0)
			return true;
	return false;
}

static enum hinny_rc
write_text(struct writer *w, const struct value *v)
{
	bool plain = !w->conf->pretty_print && w->conf->include == INCLUDE_ALWAYS;
	enum hinny_rc rc =
	    plain && v->type == VALUE_JSON ? json_print(w->b, v->u.json) : write_value(w, v);

	if (rc != HINNY_OK || w->conf->combine_surrogates || !has_four_byte_characters(w->b))
		return rc;
	struct buf escaped;
	buf_init(&escaped, FORMAT_OUTPUT_MAX);
	rc = split_surrogates(&escaped, (struct str){ w->b->p, w->b->n });
	buf_fini(w->b);
	*w->b = escaped;
	return rc;
}

static bool
json_marshal(
    const struct format *f, struct exchange *ex, const struct value *in, struct format_result *out)
{
	const struct json_conf *conf = f->conf;
	struct buf b;
	struct writer w = { .b = &b, .arena = &ex->arena, .conf = conf };

	buf_init(&b, FORMAT_OUTPUT_MAX);
	enum hinny_rc rc = write_text(&w, in);
	if (rc != HINNY_OK) {
		buf_fini(&b);
		return not_json(ex, EXCEPTION_JSON_MAPPING,
		    rc == HINNY_EREFUSED ? "no serializer found for a stream or a document: convert "
					   "or unmarshal it first"
					 : "the value is too large or too deep");
	}
	out->value = format_output(ex, &b);
	if (conf->content_type_header)
		format_header(out, "Content-Type", value_str(STR_LIT("application/json")));
	return true;
}

const struct format_desc json_format = {
	.name = "json",
	.options = options,
	.conf_size = sizeof(struct json_conf),
	.check = json_check,
	.marshal = json_marshal,
	.unmarshal = json_unmarshal,
	.help = "JSON text: objects as maps, arrays as lists",
};
