/* The language jsonpath: options, Simple within paths, easy predicates (`id == 7` without a $),
 * what becomes of a result. */
#include "core/lang/jsonpath.h"

#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/lang/document.h"
#include "core/lang/json_write.h"
#include "core/lang/simple_priv.h"

/* What e->code is. */
struct jsonpath_program {
	struct jsonpath_code *code; /* NULL: the path is made for each message */
	struct simple_node *template;
};

static const struct option_desc jsonpath_options[] = {
	{ .name = "suppressExceptions",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "a path that is not there gives null, or an empty list",
	    .offset = offsetof(struct jsonpath_conf, suppress_exceptions) },
	{ .name = "allowSimple",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .help = "Simple functions within the path are evaluated first",
	    .offset = offsetof(struct jsonpath_conf, allow_simple) },
	{ .name = "allowEasyPredicate",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .help = "a predicate without $ is made a filter",
	    .offset = offsetof(struct jsonpath_conf, allow_easy_predicate) },
	{ .name = "writeAsString",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "objects and the items of lists become JSON text",
	    .offset = offsetof(struct jsonpath_conf, write_as_string) },
	{ .name = "unpackArray",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "a list of one item becomes that item",
	    .offset = offsetof(struct jsonpath_conf, unpack_array) },
	{ .name = "option",
	    .type = OPTION_STRINGS,
	    .help = "DEFAULT_PATH_LEAF_TO_NULL, ALWAYS_RETURN_LIST, SUPPRESS_EXCEPTIONS, "
		    "REQUIRE_PROPERTIES, AS_PATH_LIST",
	    .offset = offsetof(struct jsonpath_conf, option) },
	{ .name = "source",
	    .type = OPTION_STRING,
	    .help = "what it works on: body, header:NAME, exchangeProperty:NAME or variable:NAME",
	    .offset = offsetof(struct jsonpath_conf, source_text) },
	OPTIONS_END,
};

/* ---- options ---- */

static int
read_options(struct compile *c, const struct expression *e, struct jsonpath_conf *conf)
{
	static const struct {
		const char *name;
		unsigned option;
	} known[] = {
		{ "DEFAULT_PATH_LEAF_TO_NULL", JSONPATH_LEAF_TO_NULL },
		{ "ALWAYS_RETURN_LIST", JSONPATH_ALWAYS_LIST },
		{ "SUPPRESS_EXCEPTIONS", JSONPATH_SUPPRESS },
		{ "REQUIRE_PROPERTIES", JSONPATH_REQUIRE_PROPERTIES },
		{ "AS_PATH_LIST", JSONPATH_AS_PATHS },
	};
	int rc = 0;
	conf->options = conf->suppress_exceptions ? JSONPATH_SUPPRESS : 0;
	for (size_t i = 0; i < conf->option.n; i++) {
		struct str name = str_trim(str_of(conf->option.items[i]));
		size_t k = 0;
		while (k < ARRAY_LEN(known) && !str_eq(name, str_of(known[k].name)))
			k++;
		if (k < ARRAY_LEN(known))
			conf->options |= known[k].option;
		else
			rc |= compile_error(
			    c, e->at, "jsonpath: option %.*s is not known", STR_FMT(name));
	}
	return rc;
}

/* ---- easy predicates ---- */

/* The last dot of a path outside of brackets. */
static size_t
last_dot(struct str path)
{
	size_t found = SIZE_MAX;
	int brackets = 0;
	for (size_t i = 0; i < path.n; i++) {
		if (path.p[i] == '(' || path.p[i] == '[')
			brackets++;
		else if (path.p[i] == ')' || path.p[i] == ']')
			brackets--;
		else if (path.p[i] == '.' && brackets == 0)
			found = i;
	}
	return found;
}

/* "a.b.c > 5" -> "$.a.b[?(@.c > 5)]"; "c > 5" -> "$..*[?(@.c > 5)]"; "a" -> "$.a". */
static struct str
ease(struct arena *a, struct str text)
{
	text = str_trim(text);
	if (text.n == 0 || text.p[0] == '$')
		return text;
	const char *blank = memchr(text.p, ' ', text.n);
	if (blank == NULL)
		return str_of(arena_printf(a, "$.%.*s", STR_FMT(text)));
	struct str path = { text.p, (size_t)(blank - text.p) },
		   rest = { blank, (size_t)(text.p + text.n - blank) };
	size_t dot = last_dot(path);
	if (dot == SIZE_MAX)
		return str_of(arena_printf(a, "$..*[?(@.%.*s%.*s)]", STR_FMT(path), STR_FMT(rest)));
	return str_of(arena_printf(a, "$.%.*s[?(@.%.*s%.*s)]", (int)dot, path.p,
	    (int)(path.n - dot - 1), path.p + dot + 1, STR_FMT(rest)));
}

/* ---- compiling ---- */

static bool
is_easy(const struct expression *e)
{
	const struct jsonpath_conf *conf = e->conf;
	return e->predicate && conf->allow_easy_predicate;
}

static int
compile_path(struct compile *c, struct expression *e, struct jsonpath_program *program)
{
	struct str text = str_of(e->text), path = is_easy(e) ? ease(compile_arena(c), text) : text;
	struct hinny_error err;
	size_t at;
	if (jsonpath_parse(compile_arena(c), path, &program->code, &at, &err) == HINNY_OK)
		return 0;
	/* of a path that was made of the text there is no position in it */
	return compile_error_in(c, e, path.p == text.p ? at : 0, "%s", err.text);
}

static int
jsonpath_compile(struct compile *c, struct expression *e)
{
	struct jsonpath_conf *conf = e->conf;
	struct jsonpath_program *program = ARENA_NEW(compile_arena(c), struct jsonpath_program);
	struct str text = str_of(e->text);
	bool effects;
	e->code = program;
	int rc = read_options(c, e, conf);
	rc |= source_compile(c, e, conf->source_text, &conf->source);
	if (!conf->allow_simple || !simple_has_function(text))
		return compile_path(c, e, program) | rc;
	program->template = simple_compile_text(c, e, text, false, &effects);
	return program->template != NULL ? rc : -1;
}

/* ---- evaluation ---- */

static enum eval_rc
make_code(const struct expression *e, struct exchange *ex, struct jsonpath_code **code)
{
	const struct jsonpath_program *program = e->code;
	struct str text;
	struct hinny_error err;
	size_t at;
	bool null;
	*code = program->code;
	if (*code != NULL)
		return EVAL_OK;
	enum eval_rc rc = simple_eval_text(program->template, ex, &text, &null);
	if (rc != EVAL_OK)
		return rc;
	if (is_easy(e))
		text = ease(&ex->arena, text);
	if (jsonpath_parse(&ex->arena, text, code, &at, &err) == HINNY_OK)
		return EVAL_OK;
	exchange_fail(ex, EXCEPTION_INVALID_PATH, "jsonpath: %s at character %zu of \"%.*s\"",
	    err.text, at + 1, STR_FMT(text));
	return EVAL_ERROR;
}

static enum eval_rc
write_one(struct exchange *ex, struct value *v)
{
	struct str text;
	if (json_write_text(&ex->arena, v, false, &text) != HINNY_OK) {
		exchange_fail(
		    ex, EXCEPTION_JSON_PROCESSING, "jsonpath: the result is too large or too deep");
		return EVAL_ERROR;
	}
	*v = value_str(text);
	return EVAL_OK;
}

/* writeAsString: JSON text, of a list a list of JSON texts. */
static enum eval_rc
write_as_string(struct exchange *ex, struct value *v)
{
	enum document_kind kind = document_kind(v);
	if (kind != DOCUMENT_ARRAY)
		return write_one(ex, v);
	struct value list = value_new_list(&ex->arena, document_size(v)), item;
	struct document_iter it;
	struct str key;
	document_iter_init(&it, &ex->arena, v);
	while (document_iter_next(&it, &key, &item)) {
		enum eval_rc rc = write_one(ex, &item);
		if (rc != EVAL_OK)
			return rc;
		value_list_add(&ex->arena, list.u.list, item);
	}
	*v = list;
	return EVAL_OK;
}

static bool
is_collection(enum value_class_id id)
{
	return id == CLASS_LIST || id == CLASS_SET || id == CLASS_ITERATOR || id == CLASS_OBJECT;
}

/* A list that becomes text is without its nulls; what is no list becomes one. */
static void
fit_list(struct exchange *ex, enum value_class_id wanted, struct value *v)
{
	bool list = document_kind(v) == DOCUMENT_ARRAY;
	struct value to = value_new_list(&ex->arena, 1), item;
	struct document_iter it;
	struct str key;
	if (wanted == CLASS_LIST && !list) {
		value_list_add(&ex->arena, to.u.list, *v);
	} else if (wanted == CLASS_STRING && list) {
		document_iter_init(&it, &ex->arena, v);
		while (document_iter_next(&it, &key, &item))
			if (!value_is_null(&item))
				value_list_add(&ex->arena, to.u.list, item);
	} else {
		return;
	}
	*v = to;
}

static enum eval_rc
jsonpath_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct jsonpath_conf *conf = e->conf;
	struct jsonpath_code *code;
	enum eval_rc rc = make_code(e, ex, &code);
	if (rc == EVAL_OK)
		rc = jsonpath_read(code, ex, source_value(&conf->source, ex), conf->options, out);
	if (rc != EVAL_OK || e->predicate)
		return rc;
	bool unpack =
	    conf->unpack_array || (e->result_type != CLASS_NONE && !is_collection(e->result_type));
	if (unpack && document_kind(out) == DOCUMENT_ARRAY && document_size(out) == 1) {
		struct value list = *out;
		(void)document_item(&ex->arena, &list, 0, out);
	}
	if (conf->write_as_string)
		rc = write_as_string(ex, out);
	if (rc == EVAL_OK && e->result_type != CLASS_NONE)
		fit_list(ex, e->result_type, out);
	return rc;
}

const struct language_desc jsonpath_language = {
	.name = "jsonpath",
	.options = jsonpath_options,
	.conf_size = sizeof(struct jsonpath_conf),
	.compile = jsonpath_compile,
	.eval = jsonpath_eval,
	.help = "paths into JSON text, lists and maps",
};
