/*
 * Dotted access of Simple on values: [0], [last-1], [key], .method(args), ?.x. It never reads a
 * map's key by .name: that calls a method, as in Java. No receiver (null) gives null; an index
 * beyond the end and a method that is not there are errors.
 */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"
#include "core/lang/document.h"
#include "core/lang/text.h"

#include <ctype.h>

enum { PATH_STEPS_MAX = 64, METHOD_ARGS_MAX = 3 };

enum key_kind { KEY_TEXT, KEY_INDEX, KEY_LAST };

struct access_step {
	bool is_method, parens, null_safe;
	struct str name; /* of the method; or the key */
	enum key_kind kind;
	int64_t index; /* KEY_INDEX; KEY_LAST: how far before the last */
	struct str args[METHOD_ARGS_MAX];
	size_t args_n;
};

struct simple_path {
	struct access_step *steps;
	size_t n;
};

/* ---- parsing ---- */

static struct str
unquote(struct str s)
{
	if (s.n >= 2 && (s.p[0] == '\'' || s.p[0] == '"') && s.p[s.n - 1] == s.p[0])
		return (struct str){ s.p + 1, s.n - 2 };
	return s;
}

/* The position of `close` from i on, outside of quotes that began the item; SIZE_MAX. */
static size_t
find_close(struct str s, size_t i, char close)
{
	char quote = 0;
	for (size_t begin = i; i < s.n; i++) {
		char c = s.p[i];
		if (quote != 0)
			quote = c == quote ? 0 : quote;
		else if ((c == '\'' || c == '"') &&
		    (i == begin || s.p[i - 1] == ',' || s.p[i - 1] == ' '))
			quote = c;
		else if (c == close)
			return i;
	}
	return SIZE_MAX;
}

static void
read_key(struct access_step *step)
{
	struct str key = step->name = unquote(step->name);
	if (str_eq(key, STR_LIT("last"))) {
		step->kind = KEY_LAST;
	} else if (str_starts(key, "last-") &&
	    str_to_int64((struct str){ key.p + 5, key.n - 5 }, &step->index) && step->index >= 0 &&
	    step->index <= INT32_MAX) {
		step->kind = KEY_LAST;
	} else if (str_to_int64(key, &step->index)) {
		step->kind = KEY_INDEX;
	}
}

static const char *
read_args(struct access_step *step, struct str args)
{
	step->parens = true;
	if (str_trim(args).n == 0)
		return NULL;
	for (size_t i = 0; i <= args.n;) {
		size_t comma = find_close(args, i, ',');
		size_t end = comma == SIZE_MAX ? args.n : comma;
		if (step->args_n == METHOD_ARGS_MAX)
			return "a method has too many arguments";
		step->args[step->args_n++] = unquote(str_trim((struct str){ args.p + i, end - i }));
		i = end + 1;
	}
	return NULL;
}

/* .name or .name(args) at i; *end is behind it. */
static const char *
read_method(struct str s, size_t i, struct access_step *step, size_t *end)
{
	size_t begin = i;
	while (i < s.n && strchr(".?[(", s.p[i]) == NULL)
		i++;
	step->is_method = true;
	step->name = (struct str){ s.p + begin, i - begin };
	if (step->name.n == 0 || !((step->name.p[0] | 32) >= 'a' && (step->name.p[0] | 32) <= 'z'))
		return "a method name is missing";
	*end = i;
	if (i >= s.n || s.p[i] != '(')
		return NULL;
	size_t close = find_close(s, i + 1, ')');
	if (close == SIZE_MAX)
		return "a ) is missing";
	*end = close + 1;
	return read_args(step, (struct str){ s.p + i + 1, close - i - 1 });
}

static const char *
read_step(struct str s, size_t i, struct access_step *step, size_t *end)
{
	if (s.p[i] == '?') {
		step->null_safe = true;
		i++;
	}
	if (i < s.n && s.p[i] == '.')
		return read_method(s, i + 1, step, end);
	if (i >= s.n || s.p[i] != '[')
		return "expected . or [";
	size_t close = find_close(s, i + 1, ']');
	if (close == SIZE_MAX)
		return "a ] is missing";
	step->name = (struct str){ s.p + i + 1, close - i - 1 };
	read_key(step);
	*end = close + 1;
	return NULL;
}

bool
simple_path_parse(struct arena *a, struct str text, struct simple_path **out, const char **why)
{
	struct access_step steps[PATH_STEPS_MAX];
	size_t n = 0;
	for (size_t i = 0; i < text.n;) {
		if (n == PATH_STEPS_MAX) {
			*why = "too many steps";
			return false;
		}
		memset(&steps[n], 0, sizeof steps[n]);
		*why = read_step(text, i, &steps[n++], &i);
		if (*why != NULL)
			return false;
	}
	struct simple_path *path = ARENA_NEW(a, struct simple_path);
	path->n = n;
	path->steps = arena_alloc(a, n * sizeof *path->steps);
	memcpy(path->steps, steps, n * sizeof *steps);
	*out = path;
	return true;
}

void
simple_key_split(struct arena *a, struct str text, struct simple_key *key)
{
	key->full = text;
	key->full_hash = str_casehash(text);
	key->path = NULL;
	for (size_t i = 1; i < text.n; i++) {
		if (strchr(".?[", text.p[i]) == NULL)
			continue;
		const char *why;
		if (simple_path_parse(
			a, (struct str){ text.p + i, text.n - i }, &key->path, &why)) {
			key->name = (struct str){ text.p, i };
			key->name_hash = str_casehash(key->name);
		}
		return;
	}
}

/* ---- methods ---- */

enum receiver { ON_TEXT, ON_LIST, ON_MAP, ON_ANY };

struct invocation {
	struct exchange *ex;
	struct value self;
	struct str text; /* ON_TEXT */
	const struct access_step *step;
};

typedef enum eval_rc method_fn(struct invocation *in, struct value *out);

static bool
arg_int(const struct invocation *in, size_t i, int64_t *out)
{
	return str_to_int64(in->step->args[i], out);
}

static enum eval_rc
out_int(struct value *out, int64_t i)
{
	*out = value_int(i);
	return EVAL_OK;
}

static enum eval_rc
out_bool(struct value *out, bool b)
{
	*out = value_bool(b);
	return EVAL_OK;
}

static enum eval_rc
out_text(struct value *out, struct str s)
{
	*out = value_str(s);
	return EVAL_OK;
}

static enum eval_rc
text_m_length(struct invocation *in, struct value *out)
{
	return out_int(out, (int64_t)text_length(in->text));
}

static enum eval_rc
text_m_trim(struct invocation *in, struct value *out)
{
	return out_text(out, text_trim(in->text));
}

static enum eval_rc
text_m_upper(struct invocation *in, struct value *out)
{
	return out_text(out, text_upper(&in->ex->arena, in->text));
}

static enum eval_rc
text_m_lower(struct invocation *in, struct value *out)
{
	return out_text(out, text_lower(&in->ex->arena, in->text));
}

static enum eval_rc
text_m_is_empty(struct invocation *in, struct value *out)
{
	return out_bool(out, in->text.n == 0);
}

static enum eval_rc
text_m_is_blank(struct invocation *in, struct value *out)
{
	return out_bool(out, str_trim(in->text).n == 0);
}

static enum eval_rc
text_m_contains(struct invocation *in, struct value *out)
{
	return out_bool(out, str_find(in->text, in->step->args[0]) != SIZE_MAX);
}

static enum eval_rc
text_m_equals(struct invocation *in, struct value *out)
{
	return out_bool(out, str_eq(in->text, in->step->args[0]));
}

static enum eval_rc
text_m_equals_nocase(struct invocation *in, struct value *out)
{
	struct arena *a = &in->ex->arena;
	return out_bool(out, str_eq(text_lower(a, in->text), text_lower(a, in->step->args[0])));
}

static enum eval_rc
text_m_starts(struct invocation *in, struct value *out)
{
	struct str prefix = in->step->args[0];
	return out_bool(
	    out, in->text.n >= prefix.n && str_eq((struct str){ in->text.p, prefix.n }, prefix));
}

static enum eval_rc
text_m_ends(struct invocation *in, struct value *out)
{
	struct str suffix = in->step->args[0];
	return out_bool(out,
	    in->text.n >= suffix.n &&
		str_eq((struct str){ in->text.p + in->text.n - suffix.n, suffix.n }, suffix));
}

static enum eval_rc
text_m_index_of(struct invocation *in, struct value *out)
{
	size_t at = str_find(in->text, in->step->args[0]);
	return out_int(
	    out, at == SIZE_MAX ? -1 : (int64_t)text_length((struct str){ in->text.p, at }));
}

static enum eval_rc
text_m_last_index_of(struct invocation *in, struct value *out)
{
	struct str what = in->step->args[0];
	for (size_t i = in->text.n + 1; i-- > 0;)
		if (in->text.n - i >= what.n &&
		    str_eq((struct str){ in->text.p + i, what.n }, what))
			return out_int(out, (int64_t)text_length((struct str){ in->text.p, i }));
	return out_int(out, -1);
}

static enum eval_rc
text_m_substring(struct invocation *in, struct value *out)
{
	int64_t from, to, length = (int64_t)text_length(in->text);
	if (!arg_int(in, 0, &from) || (in->step->args_n > 1 && !arg_int(in, 1, &to)))
		return simple_fail(
		    in->ex, EXCEPTION_METHOD_NOT_FOUND, "method substring needs whole numbers");
	if (in->step->args_n == 1)
		to = length;
	if (from < 0 || to > length || from > to)
		return simple_fail(in->ex, EXCEPTION_STRING_INDEX_OUT_OF_BOUNDS,
		    "begin %lld, end %lld, length %lld", (long long)from, (long long)to,
		    (long long)length);
	return out_text(out, text_slice(in->text, (size_t)from, (size_t)to));
}

static enum eval_rc
text_m_char_at(struct invocation *in, struct value *out)
{
	int64_t at, length = (int64_t)text_length(in->text);
	if (!arg_int(in, 0, &at) || at < 0 || at >= length)
		return simple_fail(in->ex, EXCEPTION_STRING_INDEX_OUT_OF_BOUNDS,
		    "index %.*s, length %lld", STR_FMT(in->step->args[0]), (long long)length);
	return out_text(out, text_slice(in->text, (size_t)at, (size_t)at + 1));
}

static enum eval_rc
text_m_replace(struct invocation *in, struct value *out)
{
	if (in->step->args[0].n == 0)
		return out_text(out, in->text);
	return out_text(
	    out, text_replace(&in->ex->arena, in->text, in->step->args[0], in->step->args[1]));
}

/* Compiles the method's first argument as a regular expression. */
static enum eval_rc
method_regex(struct invocation *in, struct regex **re)
{
	struct hinny_error err;
	if (regex_compile(&in->ex->arena, in->step->args[0], 0, re, &err) != HINNY_OK)
		return simple_fail(in->ex, EXCEPTION_PATTERN_SYNTAX, "%s", err.text);
	return EVAL_OK;
}

static enum eval_rc
text_m_matches(struct invocation *in, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	bool yes;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	if (regex_matches(re, in->text, &yes, &err) != HINNY_OK)
		return simple_fail(in->ex, EXCEPTION_RUNTIME, "%s", err.text);
	return out_bool(out, yes);
}

static enum eval_rc
replace_by_pattern(struct invocation *in, bool all, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	struct buf b;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	buf_init(&b, SIMPLE_TEXT_MAX);
	if (regex_replace(re, in->text, in->step->args[1], all, &b, &err) == HINNY_OK)
		rc = out_text(out, arena_str(&in->ex->arena, (struct str){ b.p, b.n }));
	else
		rc = simple_fail(in->ex, EXCEPTION_ILLEGAL_ARGUMENT, "%s", err.text);
	buf_fini(&b);
	return rc;
}

static enum eval_rc
text_m_replace_all(struct invocation *in, struct value *out)
{
	return replace_by_pattern(in, true, out);
}

static enum eval_rc
text_m_replace_first(struct invocation *in, struct value *out)
{
	return replace_by_pattern(in, false, out);
}

/* The position of the next character. */
static size_t
behind(struct str s, size_t i)
{
	size_t length = 1;
	if (i < s.n)
		(void)text_char(s, i, &length);
	return i + length;
}

/* Java's split: pieces between matches, trailing empty ones dropped, an empty first one only by a
 * match that is not empty. */
static enum eval_rc
text_m_split(struct invocation *in, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	struct value list = value_new_list(&in->ex->arena, 4);
	list.flags |= VALUE_ARRAY;
	size_t at = 0, keep = 0, from = 0, begin = 0, end = 0;
	for (;;) {
		bool found = false;
		if (from <= in->text.n &&
		    regex_find(re, in->text, from, &found, &begin, &end, &err) != HINNY_OK)
			return simple_fail(in->ex, EXCEPTION_RUNTIME, "%s", err.text);
		if (found && end == begin && (begin == 0 || begin >= in->text.n)) {
			from = behind(in->text, begin);
			continue;
		}
		struct str piece = { in->text.p + at, (found ? begin : in->text.n) - at };
		value_list_add(&in->ex->arena, list.u.list, value_str(piece));
		if (piece.n > 0)
			keep = list.u.list->n;
		if (!found)
			break;
		at = end;
		from = end > begin ? end : behind(in->text, end);
	}
	list.u.list->n = keep > 0 ? keep : list.u.list->n > 0 && in->text.n == 0 ? 1 : 0;
	*out = list;
	return EVAL_OK;
}

static enum eval_rc
any_m_to_string(struct invocation *in, struct value *out)
{
	return out_text(out, value_text(&in->ex->arena, &in->self));
}

static enum eval_rc
any_m_size(struct invocation *in, struct value *out)
{
	return out_int(out, (int64_t)value_size(&in->self));
}

static enum eval_rc
any_m_is_empty(struct invocation *in, struct value *out)
{
	return out_bool(out, value_size(&in->self) == 0);
}

static enum eval_rc
list_index(
    struct exchange *ex, const struct value *list, int64_t index, bool null_safe, struct value *out)
{
	size_t n = document_size(list);
	if (index >= 0 && (size_t)index < n && document_item(&ex->arena, list, (size_t)index, out))
		return EVAL_OK;
	*out = value_null();
	if (null_safe)
		return EVAL_OK;
	return simple_fail(ex, EXCEPTION_INDEX_OUT_OF_BOUNDS,
	    "Index: %lld, Size: %zu out of bounds", (long long)index, n);
}

static enum eval_rc
list_m_get(struct invocation *in, struct value *out)
{
	int64_t index;
	if (!arg_int(in, 0, &index))
		return simple_fail(in->ex, EXCEPTION_METHOD_NOT_FOUND,
		    "method get of a list needs a whole number");
	return list_index(in->ex, &in->self, index, false, out);
}

static enum eval_rc
list_m_contains(struct invocation *in, struct value *out)
{
	struct document_iter it;
	struct str key;
	struct value item, wanted = value_str(in->step->args[0]);
	document_iter_init(&it, &in->ex->arena, &in->self);
	while (document_iter_next(&it, &key, &item))
		if (value_equal(&in->ex->arena, &item, &wanted, false))
			return out_bool(out, true);
	return out_bool(out, false);
}

static enum eval_rc
map_m_get(struct invocation *in, struct value *out)
{
	if (!document_member(&in->ex->arena, &in->self, in->step->args[0], out))
		*out = in->step->args_n > 1 ? value_str(in->step->args[1]) : value_null();
	return EVAL_OK;
}

static enum eval_rc
map_m_contains_key(struct invocation *in, struct value *out)
{
	struct value found;
	return out_bool(out, document_member(&in->ex->arena, &in->self, in->step->args[0], &found));
}

static struct value
map_list(struct invocation *in, bool keys)
{
	struct value list = value_new_list(&in->ex->arena, document_size(&in->self));
	struct document_iter it;
	struct str key;
	struct value item;
	document_iter_init(&it, &in->ex->arena, &in->self);
	while (document_iter_next(&it, &key, &item))
		value_list_add(&in->ex->arena, list.u.list, keys ? value_str(key) : item);
	return list;
}

static enum eval_rc
map_m_keys(struct invocation *in, struct value *out)
{
	*out = map_list(in, true);
	return EVAL_OK;
}

static enum eval_rc
map_m_values(struct invocation *in, struct value *out)
{
	*out = map_list(in, false);
	return EVAL_OK;
}

/* Maps and lists that are changed in place are so for all who hold them, as in Java; parsed JSON
 * that no step has made a map of cannot be. */
static enum eval_rc
cannot_change(struct invocation *in)
{
	return simple_fail(in->ex, EXCEPTION_UNSUPPORTED_OPERATION,
	    "method %.*s: the value cannot be changed", STR_FMT(in->step->name));
}

static enum eval_rc
map_m_put(struct invocation *in, struct value *out)
{
	struct str key = in->step->args[0];
	if (in->self.type != VALUE_MAP)
		return cannot_change(in);
	if (!document_member(&in->ex->arena, &in->self, key, out))
		*out = value_null();
	value_map_set(&in->ex->arena, in->self.u.map, key, value_str(in->step->args[1]));
	in->ex->dirty |= DIRTY_BODY | DIRTY_HEADERS | DIRTY_PROPERTIES | DIRTY_VARIABLES;
	return EVAL_OK;
}

static enum eval_rc
map_m_remove(struct invocation *in, struct value *out)
{
	if (in->self.type != VALUE_MAP)
		return cannot_change(in);
	if (!document_member(&in->ex->arena, &in->self, in->step->args[0], out))
		*out = value_null();
	(void)value_map_remove(in->self.u.map, in->step->args[0]); /* it may not be there */
	in->ex->dirty |= DIRTY_BODY | DIRTY_HEADERS | DIRTY_PROPERTIES | DIRTY_VARIABLES;
	return EVAL_OK;
}

static enum eval_rc
list_m_add(struct invocation *in, struct value *out)
{
	if (in->self.type != VALUE_LIST)
		return cannot_change(in);
	value_list_add(&in->ex->arena, in->self.u.list, value_str(in->step->args[0]));
	in->ex->dirty |= DIRTY_BODY | DIRTY_HEADERS | DIRTY_PROPERTIES | DIRTY_VARIABLES;
	return out_bool(out, true);
}

/* parens: Java has several of that name, so it is found only when called with ( ). */
static const struct method {
	const char *name;
	enum receiver on;
	uint8_t min, max;
	bool parens;
	method_fn *fn;
} methods[] = {
	{ "charAt", ON_TEXT, 1, 1, true, text_m_char_at },
	{ "contains", ON_TEXT, 1, 1, true, text_m_contains },
	{ "endsWith", ON_TEXT, 1, 1, true, text_m_ends },
	{ "equals", ON_TEXT, 1, 1, true, text_m_equals },
	{ "equalsIgnoreCase", ON_TEXT, 1, 1, true, text_m_equals_nocase },
	{ "indexOf", ON_TEXT, 1, 1, true, text_m_index_of },
	{ "isBlank", ON_TEXT, 0, 0, false, text_m_is_blank },
	{ "isEmpty", ON_TEXT, 0, 0, false, text_m_is_empty },
	{ "empty", ON_TEXT, 0, 0, false, text_m_is_empty },
	{ "lastIndexOf", ON_TEXT, 1, 1, true, text_m_last_index_of },
	{ "length", ON_TEXT, 0, 0, false, text_m_length },
	{ "matches", ON_TEXT, 1, 1, true, text_m_matches },
	{ "replace", ON_TEXT, 2, 2, true, text_m_replace },
	{ "replaceAll", ON_TEXT, 2, 2, true, text_m_replace_all },
	{ "replaceFirst", ON_TEXT, 2, 2, true, text_m_replace_first },
	{ "split", ON_TEXT, 1, 1, true, text_m_split },
	{ "startsWith", ON_TEXT, 1, 1, true, text_m_starts },
	{ "strip", ON_TEXT, 0, 0, false, text_m_trim },
	{ "substring", ON_TEXT, 1, 2, true, text_m_substring },
	{ "toLowerCase", ON_TEXT, 0, 0, true, text_m_lower },
	{ "toUpperCase", ON_TEXT, 0, 0, true, text_m_upper },
	{ "trim", ON_TEXT, 0, 0, false, text_m_trim },
	{ "add", ON_LIST, 1, 1, true, list_m_add },
	{ "contains", ON_LIST, 1, 1, true, list_m_contains },
	{ "get", ON_LIST, 1, 1, true, list_m_get },
	{ "isEmpty", ON_LIST, 0, 0, false, any_m_is_empty },
	{ "empty", ON_LIST, 0, 0, false, any_m_is_empty },
	{ "length", ON_LIST, 0, 0, false, any_m_size },
	{ "size", ON_LIST, 0, 0, false, any_m_size },
	{ "containsKey", ON_MAP, 1, 1, true, map_m_contains_key },
	{ "get", ON_MAP, 1, 1, true, map_m_get },
	{ "getOrDefault", ON_MAP, 2, 2, true, map_m_get },
	{ "isEmpty", ON_MAP, 0, 0, false, any_m_is_empty },
	{ "empty", ON_MAP, 0, 0, false, any_m_is_empty },
	{ "keySet", ON_MAP, 0, 0, false, map_m_keys },
	{ "put", ON_MAP, 2, 2, true, map_m_put },
	{ "remove", ON_MAP, 1, 1, true, map_m_remove },
	{ "size", ON_MAP, 0, 0, false, any_m_size },
	{ "values", ON_MAP, 0, 0, false, map_m_values },
	{ "toString", ON_ANY, 0, 0, false, any_m_to_string },
};

/* ---- applying ---- */

static enum receiver
receiver_of(const struct value *v)
{
	enum document_kind kind = document_kind(v);
	if (kind != DOCUMENT_SCALAR)
		return kind == DOCUMENT_ARRAY ? ON_LIST : ON_MAP;
	return value_has_text(v) && v->type != VALUE_DECIMAL ? ON_TEXT : ON_ANY;
}

/*
 * A message or an exchange that a grouping strategy has put into a list: a map here, whose members
 * are read as in Java: ${body[0].body}, ${body[0].getMessage().getHeader('k')}.
 */
static bool
read_grouped(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out)
{
	struct str name = step->name;
	char *text = arena_strndup(&ex->arena, name.p, name.n);
	if (name.n > 3 && str_starts(name, "get")) {
		text += 3;
		name.n -= 3;
		text[0] = (char)tolower((unsigned char)text[0]);
	}
	name.p = text;
	bool header = str_eq(name, STR_LIT("header")), property = str_eq(name, STR_LIT("property"));
	if (str_eq(name, STR_LIT("allProperties")))
		name = STR_LIT("properties");
	if ((!header && !property) || step->args_n != 1)
		return document_member(&ex->arena, v, name, out);
	struct value all;
	if (!document_member(
		&ex->arena, v, header ? STR_LIT("headers") : STR_LIT("properties"), &all))
		return false;
	if (!document_member(&ex->arena, &all, step->args[0], out))
		*out = value_null();
	return true;
}

static enum eval_rc
call_method(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out)
{
	enum receiver on = receiver_of(v);
	if (v->type == VALUE_MAP && (v->flags & (VALUE_GROUPED | VALUE_ARRAY)) &&
	    read_grouped(step, ex, v, out))
		return EVAL_OK;
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		const struct method *m = &methods[i];
		if ((m->on != on && m->on != ON_ANY) || !str_eq(step->name, str_of(m->name)))
			continue;
		if (step->args_n < m->min || step->args_n > m->max || (m->parens && !step->parens))
			break;
		struct invocation in = { .ex = ex, .self = *v, .step = step };
		if (on == ON_TEXT)
			in.text = value_text(&ex->arena, v);
		return m->fn(&in, out);
	}
	const char *type = value_class(v);
	return simple_fail(ex, EXCEPTION_METHOD_NOT_FOUND,
	    "Method with name: %.*s not found on bean of type: %s", STR_FMT(step->name),
	    type != NULL ? type : "null");
}

static enum eval_rc
access_key(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out)
{
	enum document_kind kind = document_kind(v);
	if (kind == DOCUMENT_OBJECT) {
		if (!document_member(&ex->arena, v, step->name, out))
			*out = value_null();
		return EVAL_OK;
	}
	if (kind == DOCUMENT_ARRAY && step->kind != KEY_TEXT) {
		int64_t index = step->kind == KEY_LAST ? (int64_t)document_size(v) - 1 - step->index
						       : step->index;
		return list_index(ex, v, index, step->null_safe, out);
	}
	const char *type = value_class(v);
	return simple_fail(ex,
	    kind == DOCUMENT_ARRAY ? EXCEPTION_INDEX_OUT_OF_BOUNDS : EXCEPTION_BEAN_EXPRESSION,
	    "Key: %.*s not found in bean of type: %s", STR_FMT(step->name),
	    type != NULL ? type : "null");
}

enum eval_rc
simple_path_apply(
    const struct simple_path *path, struct exchange *ex, struct value v, struct value *out)
{
	for (size_t i = 0; i < path->n; i++) {
		v = document_plain(&ex->arena, v);
		if (value_is_null(&v))
			break;
		const struct access_step *step = &path->steps[i];
		struct value next;
		enum eval_rc rc = step->is_method ? call_method(step, ex, &v, &next)
						  : access_key(step, ex, &v, &next);
		if (rc != EVAL_OK)
			return rc;
		v = next;
	}
	*out = v;
	return EVAL_OK;
}
