/* convertBodyTo, convertHeaderTo, convertVariableTo: a value as another type; null stays null. */
#include "core/config/compile.h"
#include "core/eip/eip_names.h"
#include "core/eip/engine.h"
#include "core/eip/steps.h"
#include "core/eip/variables.h"

#include <stddef.h>

#define AT(m) offsetof(struct convert_conf, m)

/* Character sets whose conversion to UTF-8 needs no table. */
enum charset { CHARSET_UTF_8, CHARSET_LATIN_1, CHARSET_ASCII, CHARSET_NONE };

static enum charset
charset_find(const char *name)
{
	static const struct {
		const char *name;
		enum charset charset;
	} names[] = {
		{ "ISO-8859-1", CHARSET_LATIN_1 },
		{ "ISO_8859_1", CHARSET_LATIN_1 },
		{ "LATIN1", CHARSET_LATIN_1 },
		{ "US-ASCII", CHARSET_ASCII },
		{ "UTF-8", CHARSET_UTF_8 },
		{ "UTF8", CHARSET_UTF_8 },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_caseeq(str_of(names[i].name), str_of(name)))
			return names[i].charset;
	return CHARSET_NONE;
}

static int
check_charset(struct compile *c, struct step *st)
{
	const struct convert_conf *conf = st->conf;
	if (conf->charset && charset_find(conf->charset) == CHARSET_NONE)
		return compile_error(c, st->at,
		    "charset: expected UTF-8, ISO-8859-1 or US-ASCII, got \"%s\"", conf->charset);
	return 0;
}

static int
convert_body_check(struct compile *c, struct step *st)
{
	const struct convert_conf *conf = st->conf;
	st->reads.flags |= ACCESS_BODY;
	st->writes.flags |= ACCESS_BODY;
	access_add_property(c, conf->charset ? &st->writes : &st->reads, "CamelCharsetName");
	return check_charset(c, st);
}

static int
convert_header_check(struct compile *c, struct step *st)
{
	const struct convert_conf *conf = st->conf;
	access_add_header(c, &st->reads, conf->name);
	access_add_header(c, &st->writes, conf->to_name ? conf->to_name : conf->name);
	return check_charset(c, st);
}

static int
convert_variable_check(struct compile *c, struct step *st)
{
	const struct convert_conf *conf = st->conf;
	const char *to = conf->to_name ? conf->to_name : conf->name;
	if (!variables_is_shared(str_of(conf->name)))
		access_add_variable(c, &st->reads, conf->name);
	if (!variables_is_shared(str_of(to)))
		access_add_variable(c, &st->writes, to);
	if (names_use_variable(c, st, "name", conf->name) != 0 ||
	    names_use_variable(c, st, "toName", conf->to_name) != 0)
		return -1;
	return check_charset(c, st);
}

/* ISO-8859-1 or ASCII to UTF-8. */
static struct str
decode(struct arena *a, struct str in, enum charset charset)
{
	char *out = arena_alloc(a, in.n * 2 + 1);
	size_t n = 0;
	for (size_t i = 0; i < in.n; i++) {
		unsigned char ch = (unsigned char)in.p[i];
		if (ch >= 0x80 && charset == CHARSET_ASCII)
			ch = '?';
		if (ch >= 0x80) {
			out[n++] = (char)(0xc0 | ch >> 6);
			ch = 0x80 | (ch & 0x3f);
		}
		out[n++] = (char)ch;
	}
	return (struct str){ out, n };
}

/* UTF-8 to ISO-8859-1 or ASCII; "?" stands for what these do not have. */
static struct str
encode(struct arena *a, struct str in, enum charset charset)
{
	char *out = arena_alloc(a, in.n + 1);
	size_t n = 0;
	for (size_t i = 0; i < in.n; i++) {
		unsigned char ch = (unsigned char)in.p[i];
		if (ch < 0x80) {
			out[n++] = (char)ch;
			continue;
		}
		bool latin =
		    charset == CHARSET_LATIN_1 && (ch == 0xc2 || ch == 0xc3) && i + 1 < in.n;
		out[n++] = latin ? (char)((ch & 3) << 6 | (in.p[i + 1] & 0x3f)) : '?';
		while (i + 1 < in.n && ((unsigned char)in.p[i + 1] & 0xc0) == 0x80)
			i++;
	}
	return (struct str){ out, n };
}

/* The option's, else that of the message as it came in. */
static enum charset
charset_of(struct exchange *ex, const struct convert_conf *conf)
{
	if (conf->charset)
		return charset_find(conf->charset);
	const struct value *v = exchange_property(ex, STR_LIT("CamelCharsetName"));
	if (v == NULL || v->type != VALUE_STRING)
		return CHARSET_UTF_8;
	return charset_find(arena_strndup(&ex->arena, v->u.s.p, v->u.s.n));
}

static enum hinny_rc
convert(struct exchange *ex, const struct convert_conf *conf, const struct value *from,
    struct value *out, struct hinny_error *err)
{
	struct value v = *from;
	enum charset charset = charset_of(ex, conf);
	bool bytes = v.type == VALUE_BYTES || (v.type == VALUE_STRING && (v.flags & VALUE_INPUT));
	if (charset == CHARSET_NONE)
		charset = CHARSET_UTF_8; /* a client's charset that is not known: as it is */
	if (charset != CHARSET_UTF_8 && bytes && conf->type == CLASS_STRING)
		v = value_str(decode(&ex->arena, v.u.s, charset));
	enum hinny_rc rc = value_convert(&ex->arena, &v, (enum value_class_id)conf->type, out, err);
	if (rc == HINNY_OK && charset != CHARSET_UTF_8 && out->type == VALUE_BYTES && !bytes)
		*out = value_bytes(encode(&ex->arena, out->u.s, charset));
	return rc;
}

/* False with the exception set: it cannot be, and must. */
static bool
convert_or_fail(struct exchange *ex, const struct convert_conf *conf, const struct value *from,
    enum exception_id id, struct value *out)
{
	struct hinny_error err;
	if (convert(ex, conf, from, out, &err) == HINNY_OK)
		return true;
	*out = value_null();
	if (conf->mandatory)
		exchange_fail(ex, id, "%s", err.text);
	return !conf->mandatory;
}

static enum step_rc
convert_body_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct convert_conf *conf = st->conf;
	struct value v;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	if (value_is_null(&ex->body))
		return STEP_DONE;
	if (!convert_or_fail(ex, conf, &ex->body, EXCEPTION_INVALID_PAYLOAD, &v))
		return STEP_FAILED;
	exchange_set_body(ex, v);
	if (conf->charset)
		exchange_set_property(
		    ex, STR_LIT("CamelCharsetName"), value_str(str_of(conf->charset)));
	return STEP_DONE;
}

static enum step_rc
convert_named(struct exchange *ex, const struct convert_conf *conf, const struct value *from,
    void set(struct exchange *ex, struct str name, struct value v))
{
	struct value v;
	if (from == NULL || value_is_null(from))
		return STEP_DONE;
	if (!convert_or_fail(ex, conf, from, EXCEPTION_TYPE_CONVERSION, &v))
		return STEP_FAILED;
	set(ex, str_of(conf->to_name ? conf->to_name : conf->name), v);
	return STEP_DONE;
}

static enum step_rc
convert_header_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct convert_conf *conf = st->conf;
	return convert_named(
	    ex, conf, exchange_header(ex, str_of(conf->name)), exchange_set_header);
}

static enum step_rc
convert_variable_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct convert_conf *conf = st->conf;
	struct str name = str_of(conf->name), to = conf->to_name ? str_of(conf->to_name) : name;
	struct value v;
	enum eval_rc rc = EVAL_OK;
	if (!variables_is_shared(name) && !variables_is_shared(to))
		return convert_named(
		    ex, conf, exchange_variable(ex, name), exchange_set_variable);
	if (variables_is_shared(name))
		rc = variables_get(ex, name, &v);
	else
		v = exchange_variable(ex, name) ? *exchange_variable(ex, name) : value_null();
	if (rc != EVAL_OK || value_is_null(&v))
		return rc == EVAL_NEED ? STEP_NEED : rc == EVAL_OK ? STEP_DONE : STEP_FAILED;
	if (!convert_or_fail(ex, conf, &v, EXCEPTION_TYPE_CONVERSION, &v))
		return STEP_FAILED;
	if (!variables_is_shared(to))
		exchange_set_variable(ex, to, v);
	else
		rc = variables_set(ex, to, v);
	return rc == EVAL_NEED ? STEP_NEED : rc == EVAL_OK ? STEP_DONE : STEP_FAILED;
}

/* clang-format off */
#define MANDATORY \
	{ .name = "mandatory", \
	    .type = OPTION_BOOL, \
	    .dflt = "true", \
	    .offset = AT(mandatory), \
	    .help = "fail when it cannot be; else it becomes null" }, \
	{ .name = "charset", \
	    .type = OPTION_STRING, \
	    .offset = AT(charset), \
	    .help = "character set of the bytes: UTF-8, ISO-8859-1 or US-ASCII" }
#define TYPE_HELP "type to convert to: String, int, long, double, boolean, byte[] …"
/* clang-format on */

static const struct option_desc body_options[] = {
	{ .name = "type",
	    .type = OPTION_CLASS,
	    .flags = OPTION_REQUIRED | OPTION_MAIN,
	    .offset = AT(type),
	    .help = TYPE_HELP },
	MANDATORY,
	OPTIONS_END,
};

static const struct option_desc named_options[] = {
	{ .name = "name",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED,
	    .offset = AT(name),
	    .help = "what to convert" },
	{ .name = "type",
	    .type = OPTION_CLASS,
	    .flags = OPTION_REQUIRED,
	    .offset = AT(type),
	    .help = TYPE_HELP },
	{ .name = "toName",
	    .type = OPTION_STRING,
	    .offset = AT(to_name),
	    .help = "name that gets the result, in place of its own" },
	MANDATORY,
	OPTIONS_END,
};

const struct eip_desc convertBodyTo_eip = {
	.name = "convertBodyTo",
	.flags = EIP_PLAIN,
	.options = body_options,
	.conf_size = sizeof(struct convert_conf),
	.check = convert_body_check,
	.run = convert_body_run,
	.help = "converts the body to another type",
};

const struct eip_desc convertHeaderTo_eip = {
	.name = "convertHeaderTo",
	.flags = EIP_PLAIN,
	.options = named_options,
	.conf_size = sizeof(struct convert_conf),
	.check = convert_header_check,
	.run = convert_header_run,
	.help = "converts a header to another type",
};

const struct eip_desc convertVariableTo_eip = {
	.name = "convertVariableTo",
	.flags = EIP_PLAIN,
	.options = named_options,
	.conf_size = sizeof(struct convert_conf),
	.check = convert_variable_check,
	.run = convert_variable_run,
	.help = "converts a variable to another type",
};
