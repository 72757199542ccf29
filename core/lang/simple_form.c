/*
 * What stands between ${ and }. A table of forms (prefixes such as "header", "date:", "bodyAs(") is
 * tried in order; what none takes is a function of simple_functions.def, or unknown.
 */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/eip/variables.h"
#include "core/lang/text.h"

struct form {
	const char *prefix;
	const char *next; /* the prefix is one only before one of these characters, or at the end;
	                     NULL: always */
	struct simple_node *(*build)(struct simple_parser *p, struct str whole, struct str rest);
};

static struct simple_node *
unknown(struct simple_parser *p, struct str f)
{
	struct str name = f;
	const char *open = f.n > 0 ? memchr(f.p, '(', f.n) : NULL;
	if (open != NULL && open > f.p)
		name.n = (size_t)(open - f.p);
	const char *why = simple_function_refused(name);
	if (why != NULL)
		return simple_error(
		    p, f.p, "function %.*s is not available (%s)", STR_FMT(name), why);
	return simple_error(p, f.p, "Unknown function: %.*s", STR_FMT(f));
}

/* Is the first argument the name of a variable that all exchanges share, or may it become one? */
static bool
may_share(struct str args)
{
	struct str name = str_trim(args);
	if (name.n > 0 && (name.p[0] == '\'' || name.p[0] == '"'))
		name = (struct str){ name.p + 1, name.n - 1 };
	return variables_is_shared(name) || (name.n > 0 && name.p[0] == '$');
}

static struct simple_node *
build_call(struct simple_parser *p, struct str f)
{
	const char *open = memchr(f.p, '(', f.n);
	struct str name = { f.p, open != NULL ? (size_t)(open - f.p) : f.n };
	const struct simple_function *fn = simple_function_find(name);
	if (fn == NULL || (open == NULL && !(fn->form & SIMPLE_BARE)) ||
	    (open != NULL && !(fn->form & SIMPLE_PARENS)))
		return unknown(p, f);
	struct str args = { f.p + f.n, 0 };
	if (open != NULL) {
		while (f.n > 0 && f.p[f.n - 1] == ' ')
			f.n--;
		if (f.p[f.n - 1] != ')')
			return simple_error(
			    p, f.p, "Valid syntax: ${%s(…)} was: %.*s", fn->name, STR_FMT(f));
		args = (struct str){ open + 1, (size_t)(f.p + f.n - open) - 2 };
	}
	struct simple_node *node = simple_node_new(p, SIMPLE_CALL, f.p, 0);
	node->u.fn = fn;
	p->e->reads.flags |= fn->reads & ACCESS_ALL;
	if (fn->reads & SIMPLE_READS_ORIGINAL)
		compile_keep_original(p->c);
	if (!fn->pure)
		p->effects = true;
	if (strcmp(fn->name, "setVariable") == 0 && may_share(args)) {
		p->e->reads.flags |= ACCESS_STATE;
		variables_use(p->c);
	}
	if (!simple_parse_args(p, args, fn, node))
		return NULL;
	if (strcmp(fn->name, "map") == 0 && node->n % 2 != 0)
		return simple_error(p, f.p,
		    "Map function must have an even number of values, was: %u values", node->n);
	return node;
}

/* ---- dotted access ---- */

/* `.size`, `[0]`, `?.x` behind a value. */
static struct simple_node *
build_path(struct simple_parser *p, struct simple_node *value, struct str path)
{
	if (path.n == 0 || value == NULL)
		return value;
	if (simple_has_function(path)) {
		struct simple_node *node = simple_node_new(p, SIMPLE_PATH_DYNAMIC, path.p, 2);
		node->kids[0] = value;
		node->kids[1] = simple_parse_template(p, path, 0);
		return node->kids[1] != NULL ? node : NULL;
	}
	struct simple_node *node = simple_node_new(p, SIMPLE_PATH, path.p, 1);
	const char *why;
	node->kids[0] = value;
	if (!simple_path_parse(p->arena, path, &node->u.path, &why))
		return simple_error(p, path.p, "%s: %.*s", why, STR_FMT(path));
	return node;
}

static struct simple_node *
form_body(struct simple_parser *p, struct str whole, struct str rest)
{
	if (rest.n > 0 && strchr(".?[", rest.p[0]) == NULL)
		return simple_error(
		    p, whole.p, "Valid syntax: ${body.OGNL} was: %.*s", STR_FMT(whole));
	return build_path(p, simple_body(p, whole.p), rest);
}

/* "[name]path" or ".name path": the key as text, whatever is behind the first bracket. */
static struct str
key_text(struct arena *a, struct str rest)
{
	if (rest.n > 0 && rest.p[0] == '?')
		rest = (struct str){ rest.p + 1, rest.n - 1 };
	if (rest.n > 0 && (rest.p[0] == '.' || rest.p[0] == ':'))
		return (struct str){ rest.p + 1, rest.n - 1 };
	if (rest.n < 2 || rest.p[0] != '[')
		return rest;
	const char *close = memchr(rest.p, ']', rest.n);
	if (close == NULL)
		return rest;
	struct str key = { rest.p + 1, (size_t)(close - rest.p) - 1 };
	if (key.n >= 2 && (key.p[0] == '\'' || key.p[0] == '"') && key.p[key.n - 1] == key.p[0])
		key = (struct str){ key.p + 1, key.n - 2 };
	struct str tail = { close + 1, (size_t)(rest.p + rest.n - close) - 1 };
	if (tail.n == 0)
		return key;
	return str_of(arena_printf(a, "%.*s%.*s", STR_FMT(key), STR_FMT(tail)));
}

static struct simple_node *
keyed_dynamic(struct simple_parser *p, enum simple_scope scope, struct str rest)
{
	struct simple_node *node = simple_node_new(p, SIMPLE_KEYED_DYNAMIC, rest.p, 1);
	node->u.key.scope = scope;
	node->kids[0] = simple_parse_template(p, key_text(p->arena, rest), 0);
	simple_record(p, scope, (struct str){ NULL, 0 });
	if (scope == SIMPLE_IN_VARIABLES) { /* it may be one that all share */
		p->e->reads.flags |= ACCESS_STATE;
		variables_use(p->c);
	}
	return node->kids[0] != NULL ? node : NULL;
}

/* header, exchangeProperty, variable with a name behind . : or in [ ]. */
static struct simple_node *
build_keyed(struct simple_parser *p, enum simple_scope scope, struct str whole, struct str rest)
{
	static const uint8_t plain[] = {
		[SIMPLE_IN_HEADERS] = SIMPLE_HEADER,
		[SIMPLE_IN_PROPERTIES] = SIMPLE_PROPERTY,
		[SIMPLE_IN_VARIABLES] = SIMPLE_VARIABLE,
	};
	if (rest.n > 0 && rest.p[0] == '[' && simple_has_function(rest) &&
	    rest.p[rest.n - 1] == ']')
		rest = (struct str){ rest.p + 1, rest.n - 2 };
	if (simple_has_function(rest))
		return keyed_dynamic(p, scope, rest);
	struct str key = key_text(p->arena, rest);
	if (key.n == 0 || (key.p == rest.p && rest.n > 0))
		return simple_error(
		    p, whole.p, "Valid syntax: ${header.name[key]} was: %.*s", STR_FMT(whole));
	struct simple_node *node = simple_node_new(p, SIMPLE_KEYED, whole.p, 0);
	node->u.key.scope = scope;
	simple_key_split(p->arena, key, &node->u.key);
	if (scope == SIMPLE_IN_VARIABLES && variables_is_shared(key) &&
	    !variables_is_whole(key))
		return simple_error(p, whole.p,
		    "expected global:NAME or route:ROUTEID:NAME, got \"%.*s\"", STR_FMT(key));
	if (node->u.key.path == NULL)
		node->type = plain[scope];
	simple_record_key(p, &node->u.key);
	return node;
}

static struct simple_node *
form_header(struct simple_parser *p, struct str whole, struct str rest)
{
	return build_keyed(p, SIMPLE_IN_HEADERS, whole, rest);
}

static struct simple_node *
form_property(struct simple_parser *p, struct str whole, struct str rest)
{
	return build_keyed(p, SIMPLE_IN_PROPERTIES, whole, rest);
}

static struct simple_node *
form_variable(struct simple_parser *p, struct str whole, struct str rest)
{
	return build_keyed(p, SIMPLE_IN_VARIABLES, whole, rest);
}

/* ---- conversions ---- */

static struct simple_node *
build_convert(
    struct simple_parser *p, struct simple_node *value, enum value_class_id to, bool mandatory)
{
	if (value == NULL)
		return NULL;
	struct simple_node *node = simple_node_new(p, SIMPLE_CONVERT, p->base + value->at, 1);
	node->kids[0] = value;
	node->u.convert.to = to;
	node->u.convert.mandatory = mandatory;
	return node;
}

/* "T)path" -> T and path. False: reported. */
static bool
split_close(
    struct simple_parser *p, struct str whole, struct str rest, struct str *args, struct str *path)
{
	const char *close = rest.n > 0 ? memchr(rest.p, ')', rest.n) : NULL;
	if (close == NULL)
		return simple_error(p, whole.p, "Valid syntax: a ) is missing, was: %.*s",
			   STR_FMT(whole)) != NULL;
	*args = (struct str){ rest.p, (size_t)(close - rest.p) };
	*path = (struct str){ close + 1, (size_t)(rest.p + rest.n - close) - 1 };
	return true;
}

static struct simple_node *
form_body_as(struct simple_parser *p, struct str whole, struct str rest)
{
	struct str type, path;
	enum value_class_id to;
	if (!split_close(p, whole, rest, &type, &path) || !simple_read_class(p, str_trim(type), &to))
		return NULL;
	return build_path(p, build_convert(p, simple_body(p, whole.p), to, false), path);
}

static struct simple_node *
form_mandatory_body_as(struct simple_parser *p, struct str whole, struct str rest)
{
	struct str type, path;
	enum value_class_id to;
	if (!split_close(p, whole, rest, &type, &path) || !simple_read_class(p, str_trim(type), &to))
		return NULL;
	return build_path(p, build_convert(p, simple_body(p, whole.p), to, true), path);
}

static struct simple_node *
build_keyed_as(struct simple_parser *p, enum simple_scope scope, struct str whole, struct str rest)
{
	struct str args, path, items[2] = { 0 };
	if (!split_close(p, whole, rest, &args, &path))
		return NULL;
	struct str left = args;
	if (!simple_next_arg(p, &left, &items[0]) || !simple_next_arg(p, &left, &items[1]) ||
	    left.p != NULL || path.n > 0)
		return simple_error(
		    p, whole.p, "Valid syntax: (name, type) was: %.*s", STR_FMT(whole));
	struct str name = str_trim(items[0]), inner;
	enum value_class_id to;
	if (simple_unquote(p, name, &inner))
		name = inner;
	if (!simple_read_class(p, str_trim(items[1]), &to))
		return NULL;
	struct simple_node *value = simple_node_new(p, SIMPLE_KEYED, whole.p, 0);
	value->u.key.scope = scope;
	simple_key_split(p->arena, name, &value->u.key);
	simple_record_key(p, &value->u.key);
	return build_path(p, build_convert(p, value, to, false), path);
}

static struct simple_node *
form_header_as(struct simple_parser *p, struct str whole, struct str rest)
{
	return build_keyed_as(p, SIMPLE_IN_HEADERS, whole, rest);
}

static struct simple_node *
form_variable_as(struct simple_parser *p, struct str whole, struct str rest)
{
	return build_keyed_as(p, SIMPLE_IN_VARIABLES, whole, rest);
}

/* ${int:F} … */
static struct simple_node *
form_int(struct simple_parser *p, struct str whole, struct str rest)
{
	(void)whole;
	return build_convert(p, simple_parse_function(p, rest), CLASS_INTEGER, false);
}

static struct simple_node *
form_long(struct simple_parser *p, struct str whole, struct str rest)
{
	(void)whole;
	return build_convert(p, simple_parse_function(p, rest), CLASS_LONG, false);
}

static struct simple_node *
form_boolean(struct simple_parser *p, struct str whole, struct str rest)
{
	(void)whole;
	return build_convert(p, simple_parse_function(p, rest), CLASS_BOOLEAN, false);
}

static struct simple_node *
form_string(struct simple_parser *p, struct str whole, struct str rest)
{
	(void)whole;
	return build_convert(p, simple_parse_function(p, rest), CLASS_STRING, false);
}

/* ---- prefixed functions: the rest is one argument ---- */

/* "env.X", "env:X" -> the function "env" with the argument X. */
static struct simple_node *
form_prefixed(struct simple_parser *p, struct str whole, struct str rest)
{
	struct str name = { whole.p, (size_t)(rest.p - whole.p) };
	while (name.n > 0 && (name.p[name.n - 1] == ':' || name.p[name.n - 1] == '.'))
		name.n--;
	struct str key = rest;
	if (key.n > 0 && (key.p[0] == ':' || key.p[0] == '.') && rest.p == whole.p + name.n)
		key = (struct str){ key.p + 1, key.n - 1 };
	const struct simple_function *fn =
	    simple_function_find(str_of(arena_printf(p->arena, "%.*s:", STR_FMT(name))));
	ASSERT(fn != NULL);
	struct simple_node *node = simple_node_new(p, SIMPLE_CALL, whole.p, 1);
	node->u.fn = fn;
	p->e->reads.flags |= fn->reads;
	if (key.n == 0)
		return simple_error(
		    p, whole.p, "Valid syntax: ${%sNAME} was: %.*s", fn->name, STR_FMT(whole));
	node->program = compile_program(p->c);
	node->kids[0] = simple_parse_template(p, key, 0);
	return node->kids[0] != NULL ? node : NULL;
}

/* A property with a constant name is looked up now. One that is missing fails when it is asked for,
 * as in Camel. */
static struct simple_node *
form_properties(struct simple_parser *p, struct str whole, struct str rest)
{
	if (simple_has_function(rest) || rest.n == 0)
		return form_prefixed(p, whole, rest);
	const char *colon = memchr(rest.p, ':', rest.n);
	struct str key = { rest.p, colon != NULL ? (size_t)(colon - rest.p) : rest.n };
	const char *found = compile_property(p->c, arena_strndup(p->arena, key.p, key.n));
	if (found != NULL)
		return simple_const(p, whole.p, value_str(str_of(found)));
	return form_prefixed(p, whole, rest);
}

/* The text of a file, which is read at load. */
static struct simple_node *
form_load(struct simple_parser *p, struct str whole, struct str rest)
{
	struct str name, inner;
	if (rest.n == 0 || rest.p[rest.n - 1] != ')')
		return simple_error(p, whole.p, "Valid syntax: ${load(file)} was: %.*s", STR_FMT(whole));
	name = str_trim((struct str){ rest.p, rest.n - 1 });
	if (simple_unquote(p, name, &inner))
		name = inner;
	if (name.n == 0 || simple_has_function(name))
		return simple_error(p, whole.p,
		    "function load takes the name of a file, which is read when the route is loaded");
	const char *text = compile_file_text(
	    p->c, arena_strndup(p->arena, name.p, name.n), p->e->at);
	if (text == NULL) {
		p->failed = true; /* it has reported */
		return NULL;
	}
	return simple_const(p, whole.p, value_str(str_of(text)));
}

static struct simple_node *
form_properties_exist(struct simple_parser *p, struct str whole, struct str rest)
{
	bool negate = rest.n > 0 && rest.p[0] == '!';
	struct str key = { rest.p + negate, rest.n - negate };
	if (simple_has_function(key) || key.n == 0)
		return form_prefixed(p, whole, rest);
	bool exists = compile_property(p->c, arena_strndup(p->arena, key.p, key.n)) != NULL;
	return simple_const(p, whole.p, value_bool(exists != negate));
}

/* The parts of a file's name are known, unless the message says which it wants. */
static struct simple_node *
form_file(struct simple_parser *p, struct str whole, struct str rest)
{
	if (!simple_has_function(rest) && !simple_file_part(rest))
		return simple_error(
		    p, whole.p, "Unknown file language syntax: %.*s", STR_FMT(whole));
	return form_prefixed(p, whole, rest);
}

/* ---- the ternary ---- */

static struct simple_node *
parse_branch(struct simple_parser *p, struct str s)
{
	struct str inner;
	int64_t i;
	double d;
	s = str_trim(s);
	if (simple_unquote(p, s, &inner))
		return simple_parse_template(p, inner, SIMPLE_ESCAPES);
	if (simple_function_start(s, 0) != 0)
		return simple_parse_template(p, s, SIMPLE_OPERATORS);
	if (str_eq(s, STR_LIT("null")))
		return simple_const(p, s.p, value_null());
	if (str_eq(s, STR_LIT("true")) || str_eq(s, STR_LIT("false")))
		return simple_const(p, s.p, value_bool(s.p[0] == 't'));
	if (str_to_int64(s, &i))
		return simple_const(p, s.p, value_int(i));
	if (str_to_double(s, &d))
		return simple_const(p, s.p, value_double(d));
	return simple_parse_function(p, s);
}

/* `condition ? this : that` within one ${ }. *found false when f is none. */
static struct simple_node *
build_ternary(struct simple_parser *p, struct str f, bool *found)
{
	size_t question = simple_find_outside(p, f, 0, " ? ");
	/* the blank behind the question may be that before the colon: an empty branch */
	size_t colon =
	    question != SIZE_MAX ? simple_find_outside(p, f, question + 2, " : ") : SIZE_MAX;
	*found = colon != SIZE_MAX;
	if (!*found)
		return NULL;
	if (colon == question + 2)
		return simple_error(p, f.p + colon, "a branch of the ternary is missing");
	struct str cond = { f.p, question };
	size_t end;
	struct simple_node *node = simple_node_new(p, SIMPLE_TERNARY, f.p, 3);
	node->kids[0] = simple_parse_comparison(p, cond, true, &end);
	if (node->kids[0] == NULL)
		return NULL;
	if (end < cond.n && str_trim((struct str){ cond.p + end, cond.n - end }).n > 0)
		return simple_error(p, cond.p + end,
		    "Unexpected token %c: a ternary has one comparison",
		    str_trim((struct str){ cond.p + end, cond.n - end }).p[0]);
	node->kids[1] = parse_branch(p, (struct str){ f.p + question + 3, colon - question - 3 });
	node->kids[2] = node->kids[1] != NULL
	    ? parse_branch(p, (struct str){ f.p + colon + 3, f.n - colon - 3 })
	    : NULL;
	return node->kids[2] != NULL ? node : NULL;
}

/* ---- all forms ---- */

static const struct form forms[] = {
	{ "bodyAs(", NULL, form_body_as },
	{ "mandatoryBodyAs(", NULL, form_mandatory_body_as },
	{ "headerAs(", NULL, form_header_as },
	{ "variableAs(", NULL, form_variable_as },
	{ "headers", ".:?[", form_header },
	{ "header", ".:?[", form_header },
	{ "exchangeProperty", ".:?[", form_property },
	{ "variables", ".:?[", form_variable },
	{ "variable", ".:?[", form_variable },
	{ "jsonpath(", NULL, simple_form_jsonpath },
	{ "simpleJsonpath(", NULL, simple_form_simple_jsonpath },
	{ "xpath(", NULL, simple_form_xpath },
	{ "jq(", NULL, simple_form_jq },
	{ "load(", NULL, form_load },
	{ "int:", NULL, form_int },
	{ "long:", NULL, form_long },
	{ "boolean:", NULL, form_boolean },
	{ "string:", NULL, form_string },
	{ "date:", NULL, simple_parse_date },
	{ "date-with-timezone:", NULL, simple_parse_date },
	{ "env", ".:", form_prefixed },
	{ "sysenv", ".:", form_prefixed },
	{ "sys", ".", form_prefixed },
	{ "properties:", NULL, form_properties },
	{ "propertiesExist:", NULL, form_properties_exist },
	{ "file:", NULL, form_file },
};

static struct simple_node *
build_form(struct simple_parser *p, struct str f, bool *found)
{
	*found = true;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const struct form *form = &forms[i];
		if (!str_starts(f, form->prefix))
			continue;
		size_t n = strlen(form->prefix);
		if (form->next != NULL && (f.n == n || strchr(form->next, f.p[n]) == NULL))
			continue;
		return form->build(p, f, (struct str){ f.p + n, f.n - n });
	}
	*found = false;
	return NULL;
}

/* "body" is everything that begins so and is no other function: ${bodyy} gets the hint that Camel
 * gives. */
static bool
is_body(struct str f)
{
	return str_starts(f, "body") &&
	    (f.n == 4 || strchr(".?[", f.p[4]) != NULL ||
		(memchr(f.p, '(', f.n) == NULL && simple_function_find(f) == NULL));
}

/* The property holds the exception that was caught: what is asked of it is asked of ${exception}. */
static struct str
caught_exception(struct simple_parser *p, struct str f)
{
	static const char property[] = "exchangeProperty.CamelExceptionCaught.";
	if (!str_starts(f, property))
		return f;
	size_t n = sizeof property - 1;
	const char *name =
	    arena_printf(p->arena, "exception.%.*s", (int)(f.n - n), f.p + n);
	return simple_function_find(str_of(name)) != NULL ? str_of(name) : f;
}

static struct simple_node *
parse_function(struct simple_parser *p, struct str f)
{
	bool found;
	f = caught_exception(p, f);
	struct simple_node *node = build_ternary(p, f, &found);
	if (found)
		return node;
	if (str_starts(f, "in.body") || str_starts(f, "in.header"))
		f = (struct str){ f.p + 3, f.n - 3 };
	if (is_body(f))
		return form_body(p, f, (struct str){ f.p + 4, f.n - 4 });
	/* such as headers.size, headers.size() and exception.message */
	const struct simple_function *fn = simple_function_find(f);
	if (fn == NULL && f.n > 2 && memcmp(f.p + f.n - 2, "()", 2) == 0 &&
	    memchr(f.p, '.', f.n) != NULL)
		fn = simple_function_find((struct str){ f.p, f.n - 2 });
	if (fn == NULL) {
		node = simple_declared_call(p, f, &found);
		if (!found)
			node = build_form(p, f, &found);
		if (found)
			return node;
	}
	return build_call(p, f);
}

struct simple_node *
simple_parse_function(struct simple_parser *p, struct str f)
{
	if (f.n == 0)
		return simple_error(p, f.p, "Unknown function: (empty)");
	if (p->depth >= SIMPLE_DEPTH_MAX)
		return simple_error(p, f.p, "nested too deep");
	p->depth++;
	struct simple_node *node = parse_function(p, f);
	p->depth--;
	return node;
}
